package flow

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// TestRanInAnyTag: the windows of a tag have the same rates whether other tags are chosen or not.
// An input runs from its first interval of any tag to its last one.
func TestRanInAnyTag(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(20)) {
		random := rand.New(rand.NewPCG(seed, 44))
		size := 500 + random.Int64N(9000)
		var logs [][]byte
		for range 1 + random.IntN(3) {
			var b bytes.Buffer
			w := hdrlog.NewWriter(&b)
			begin := 1000 + float64(random.IntN(40))/8
			first := random.IntN(10)
			last := 20 + random.IntN(10)
			for second := range 30 {
				for n, tag := range []string{"other", "own"} {
					if n == 0 || second >= first && second <= last {
						h, _ := histogram.New(histogram.Layout{Digits: 2, Lowest: 1})
						h.RecordN(100, int64(1+random.IntN(9)))
						w.Interval([]byte(tag), begin+float64(second), 1, h)
					}
				}
			}
			w.Flush()
			logs = append(logs, b.Bytes())
		}
		rates := func(f Flow, filter *tags.Filter) (all []string) {
			s := &scan.Scan{
				Workers:   2,
				Memory:    ledger.New(1 << 30),
				Selection: scan.Selection{Tags: filter},
				Report:    func(err *hdrlog.SyntaxError, _ bool) error { return err },
			}
			for n, log := range logs {
				s.Inputs = append(s.Inputs, scan.Input{Name: fmt.Sprint(n), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil }})
			}
			var doubled Doubling
			account := s.Memory.Open("windows", "")
			emit := func(r *Window) error {
				if string(r.Row) == "own" {
					all = append(all, fmt.Sprint(r.Window, r.Rate))
				}
				return nil
			}
			switch p := f.(type) {
			case *Windows:
				own := *p
				own.Account = account
				own.Emit = emit
				f = &own
			case *Doubling:
				doubled = *p
				doubled.Account = account
				f = &doubled
			}
			if err := Run(s, new(Rows), f); err != nil {
				t.Fatal(err)
			}
			for _, m := range doubled.Windows {
				rate := doubled.Rates.Take(m.Tag, m.Window)
				if string(m.Tag) == "own" {
					all = append(all, fmt.Sprint(m.Window, rate))
				}
			}
			return all
		}
		for name, plan := range map[string]Flow{"by time": &Windows{Size: size}, "room": &Windows{Size: size, AtEnd: true}, "relative": &Windows{Size: size, AtEnd: true, Relative: true}, "most": &Doubling{Size: 1000, MaxWindows: 50, Digits: 2}} {
			filter, err := tags.NewFilter([]string{"own"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want, got := rates(plan, nil), rates(plan, filter); len(want) == 0 || !slices.Equal(want, got) {
				t.Errorf("seed %d, %s: windows of the tag alone\n%s\nwant\n%s", seed, name, got, want)
			}
		}
	}
}

// TestRatesCharged: what rates remember of intervals until windows only double is charged.
func TestRatesCharged(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := hdrlog.NewWriter(&b)
	h, _ := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	h.Record(1)
	w.Interval(nil, 1000, 0.1, h)
	w.Flush()
	_, counts, _ := strings.Cut(strings.TrimSpace(b.String()), "1000.000,0.100,")
	for n := range 20_000 { // in one window each 1,000
		w.WriteEncoded(nil, fmt.Appendf(nil, "%.3f,0.100,%s", 1000+float64(n%10)/10, counts))
	}
	w.Flush()
	memory := ledger.New(1 << 20)
	s := &scan.Scan{Workers: 1, Memory: memory, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	s.Inputs = []scan.Input{{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }}}
	plan := Doubling{Size: 1000, MaxWindows: 1000, Digits: 1, Account: memory.Open("windows", "")}
	if err := Run(s, new(Rows), &plan); err != nil {
		t.Fatal(err)
	}
	if plan.Err == nil {
		t.Error("20,000 intervals of 48 bytes fit into seven eighths of a MiB")
	}
}
