package flow

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// rowFigures are figures of rows.
var rowFigures = []output.Figure{{Name: output.Mean}, {Percentile: 50}, {Percentile: 99}}

// line is an interval of a log.
type line struct {
	tag        string
	start, end int64
	values     []int64
	broken     bool
}

// randomLog returns a log whose lines are out of order, and what is in it.
func randomLog(r *rand.Rand, disorder int) (all []line, text []byte) {
	length := int64(500 * (1 + r.IntN(4)))
	at := r.Int64N(20_000)
	bits := []int{2, 30}[r.IntN(2)] // logs of few values have the same maxima
	for range 300 {
		i := line{
			tag:    []string{"", "a", "b", "empty"}[r.IntN(4)],
			start:  at,
			end:    at + length,
			broken: r.IntN(20) == 0,
		}
		for range r.IntN(6) {
			i.values = append(i.values, 1+r.Int64N(1<<(1+r.IntN(bits))))
		}
		all = append(all, i)
		at += length * int64(r.IntN(2))
		if r.IntN(40) == 0 {
			at += r.Int64N(60_000)
		}
	}
	for n := range all { // some lines come later
		if disorder > 0 && r.IntN(10) == 0 {
			m := min(n+r.IntN(disorder), len(all)-1)
			all[n], all[m] = all[m], all[n]
		}
	}
	var b bytes.Buffer
	w := hdrlog.NewWriter(&b)
	for _, i := range all {
		var tag []byte
		switch i.tag {
		case "":
		case "empty":
			tag = []byte{}
		default:
			tag = []byte(i.tag)
		}
		if i.broken { // and far ahead
			w.WriteEncoded(tag, fmt.Appendf(nil, "%.3f,%.3f,0,broken", float64(i.start)/1000+60, float64(i.end-i.start)/1000))
			continue
		}
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		for _, v := range i.values {
			h.Record(v)
		}
		w.Interval(tag, float64(i.start)/1000, float64(i.end-i.start)/1000, h)
	}
	w.Flush()
	return slices.DeleteFunc(all, func(i line) bool { return i.broken }), b.Bytes()
}

// A dripping reader returns little at a time, as a pipe does.
type dripping struct{ io.Reader }

func (d *dripping) Read(p []byte) (int, error) { return d.Reader.Read(p[:min(len(p), 1500)]) }

// emitted runs plans over logs and returns what they emit as text, by plan.
func emitted(t *testing.T, logs [][]byte, workers int, memory int64, drip bool, flows ...Flow) (all [][]string) {
	t.Helper()
	s := &scan.Scan{Workers: workers, Memory: ledger.New(memory), Report: func(*hdrlog.SyntaxError, bool) error { return nil }}
	for n, log := range logs {
		s.Inputs = append(s.Inputs, scan.Input{Name: fmt.Sprint("log", n), Open: func() (io.ReadCloser, error) {
			if drip {
				return io.NopCloser(&dripping{bytes.NewReader(log)}), nil
			}
			return io.NopCloser(bytes.NewReader(log)), nil
		}})
	}
	all = make([][]string, len(flows))
	var ends []func()
	var own []Flow
	for n := range flows {
		add := func(r *Total, window merge.Span, late bool, rate merge.WindowCount, more string) error {
			h, err := r.Sum.Histogram(new(histogram.Histogram))
			if err != nil {
				return err
			}
			text := fmt.Sprintf("%s %v %t %d-%d %d %v late %t lengths %d, rate %+v:", r.Row, window, r.Row == nil, r.Sum.Start, r.Sum.End, r.Sum.Intervals(), slices.Collect(h.Recorded()), late, r.Lengths, rate)
			all[n] = append(all[n], text+more)
			return nil
		}
		switch f := flows[n].(type) {
		case *Rows:
			own = append(own, &Rows{ByInputAndTag: f.ByInputAndTag, Emit: func(r *Row) error { return add(&r.Total, merge.Span{}, false, merge.WindowCount{}, "") }})
		case *Intervals:
			p := *f
			p.Emit = func(r *Result) error {
				return add(&r.Total, merge.Span{}, false, merge.WindowCount{}, r.Visit.Place.String()+fmt.Sprint(r.Stats))
			}
			own = append(own, &p)
		case *Windows:
			p := *f
			p.Emit = func(w *Window) error {
				more := ""
				if w.Late {
					more = w.Visit.Place.String()
				}
				if p.Sources {
					more += fmt.Sprint(" of input ", w.Input)
				}
				if p.Figures != nil {
					more += fmt.Sprint(w.Stats)
				}
				return add(&w.Total, w.Window, w.Late, w.Rate, more)
			}
			own = append(own, &p)
		case *Doubling:
			p := *f
			p.Account = s.Memory.Open("windows", "")
			own = append(own, &p)
			ends = append(ends, func() {
				for _, m := range p.Windows {
					h, err := m.Histogram(new(histogram.Histogram))
					if err != nil {
						t.Fatal(err)
					}
					all[n] = append(all[n], fmt.Sprintf("%s %v %d-%d %v", m.Tag, m.Window, m.Start, m.End, slices.Collect(h.Recorded())))
				}
			})
		}
	}
	batches := 0
	s.BatchDone = func() error { batches++; return nil }
	if err := Run(s, own...); err != nil {
		t.Fatal(err)
	}
	for _, end := range ends {
		end()
	}
	if drip && batches < 10*len(logs) {
		t.Errorf("%d batches only", batches)
	}
	return all
}

// TestRun proves that what plans emit does not depend on the number of workers, on how logs are cut
// into batches, and on other plans, and that it has all values.
func TestRun(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(20)) {
		r := rand.New(rand.NewPCG(seed, 1))
		var logs [][]byte
		var lines [][]line
		for range 1 + r.IntN(3) {
			all, text := randomLog(r, []int{0, 3, 30}[r.IntN(3)])
			logs, lines = append(logs, text), append(lines, all)
		}
		size := int64(1000 * (1 + r.IntN(20)))
		plans := []Flow{&Windows{Size: size, Figures: rowFigures}, &Rows{}, &Windows{Size: 7000, Sources: true}, &Intervals{Counts: true, Figures: []output.Figure{{Name: output.Mean}}}, &Windows{Size: 5000, AtEnd: true}}
		doubling := []Flow{&Doubling{MaxWindows: 10, Digits: 1}, &Doubling{Size: 3000, MaxWindows: 40, Digits: 3}}
		plans = append(plans, doubling...)
		want := emitted(t, logs, 1, 1<<30, false, plans...)
		for n, p := range plans[:5] { // each alone
			if got := emitted(t, logs, 2, 1<<30, false, p)[0]; n != 3 && !reflect.DeepEqual(got, want[n]) {
				t.Fatalf("seed %d, plan %d: alone:\n%s\nwant\n%s", seed, n, strings.Join(got, "\n"), strings.Join(want[n], "\n"))
			}
		}
		for _, c := range []struct {
			workers int
			memory  int64
			drip    bool
		}{{2, 1 << 30, false}, {5, 8 << 20, false}, {3, 1 << 30, true}, {1, 8 << 20, true}} {
			got := emitted(t, logs, c.workers, c.memory, c.drip, plans...)
			for n := range plans {
				if !reflect.DeepEqual(got[n], want[n]) {
					t.Fatalf("seed %d, plan %d, %+v:\n%s\nwant\n%s", seed, n, c, strings.Join(got[n], "\n"), strings.Join(want[n], "\n"))
				}
			}
		}
		// Windows are the same if rows are those of each tag of each input.
		for _, memory := range []int64{1 << 30, 8 << 20} {
			got := emitted(t, logs, 2, memory, true, append([]Flow{&Rows{ByInputAndTag: true}}, doubling...)...)
			if !reflect.DeepEqual(got[1:], want[5:]) {
				t.Fatalf("seed %d, memory %d: of rows apart:\n%s\nwant\n%s", seed, memory, got[1:], want[5:])
			}
		}
		// The order of inputs makes no difference, either.
		slices.Reverse(logs)
		got := emitted(t, logs, 2, 1<<30, false, plans[:2]...)
		place := func(all []string) []string { // which names no place
			all = slices.Clone(all)
			for n := range all {
				all[n], _, _ = strings.Cut(all[n], "late")
			}
			slices.Sort(all)
			return all
		}
		for n := range got {
			if !reflect.DeepEqual(place(got[n]), place(want[n])) {
				t.Fatalf("seed %d, plan %d: other results of inputs in another order:\n%s\nwant\n%s", seed, n, strings.Join(got[n], "\n"), strings.Join(want[n], "\n"))
			}
		}
		// What is late in one log is what comes after the log has passed its window.
		if len(lines) > 1 {
			continue
		}
		late, passed := 0, int64(-1<<60)
		for _, i := range lines[0] {
			if passed = max(passed, 2*i.start-i.end); merge.WindowOf(i.start, i.end, size).End <= passed {
				late++
			}
		}
		if got := strings.Count(strings.Join(want[0], ""), "late true"); got != late {
			t.Errorf("seed %d: %d late intervals, want %d", seed, got, late)
		}
	}
}

// TestKeep proves that a window that is kept keeps its figures, whatever windows come after it.
func TestKeep(t *testing.T) {
	t.Parallel()
	_, text := randomLog(rand.New(rand.NewPCG(1, 1)), 0)
	var kept []*Window
	var want []output.Stats
	windows := &Windows{
		Size:    2000,
		Figures: rowFigures,
		Emit: func(w *Window) error {
			w.Keep()
			kept = append(kept, w)
			stats := w.Stats
			stats.Percentiles = slices.Clone(stats.Percentiles)
			want = append(want, stats)
			return nil
		},
	}
	s := &scan.Scan{
		Inputs:  []scan.Input{inMemory("log", text)},
		Memory:  ledger.New(1 << 30),
		Workers: 2,
		Report:  func(*hdrlog.SyntaxError, bool) error { return nil },
	}
	if err := Run(s, windows); err != nil {
		t.Fatal(err)
	}
	if len(kept) < 10 {
		t.Fatalf("%d windows", len(kept))
	}
	for n, w := range kept {
		if !reflect.DeepEqual(w.Stats, want[n]) {
			t.Errorf("window %d has %v, and had %v", n, w.Stats, want[n])
		}
	}
}

// TestManyWorkers proves that a log that two workers can add up is not too large for forty, and
// that each tag counts once if it is too large for all.
func TestManyWorkers(t *testing.T) {
	t.Parallel()
	const tags = 60
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	for n := range 40 * tags {
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		h.Record(int64(1 + n))
		h.Record(1 << 40)
		w.Interval(fmt.Append(nil, "tag", n%tags), float64(n/tags), 1, h)
	}
	w.Flush()
	run := func(workers int, memory int64) error {
		s := &scan.Scan{Workers: workers, Memory: ledger.New(memory), Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
		s.Inputs = []scan.Input{{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log.Bytes())), nil }}}
		all := &Rows{Account: s.Memory.Open("tags", "choose some"), Emit: func(*Row) error { return nil }}
		return Run(s, all, &Doubling{
			MaxWindows: 1000,
			Digits:     1,
			Account:    s.Memory.Open("windows", "choose some"),
			RowBytes:   4 << 10,
		})
	}
	for _, workers := range []int{2, 40} {
		if err := run(workers, 40<<20); err != nil {
			t.Errorf("%d workers: %v", workers, err)
		}
		refused := 0
		for memory := int64(4 << 20); memory >= 400<<10; memory -= 400 << 10 { // how little is refused depends on which worker is fast
			err := fmt.Sprint(run(workers, memory))
			if found := regexp.MustCompile(`: (\d+) tags take `).FindStringSubmatch(err); found != nil {
				refused++
				if n, _ := strconv.Atoi(found[1]); n > tags {
					t.Errorf("%d workers: %s", workers, err)
				}
			}
		}
		if refused == 0 {
			t.Errorf("%d workers: nothing is refused", workers)
		}
	}
}
