package summary

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// raw is the values of an interval.
type raw struct {
	start, end int64
	values     []int64
}

// randomLog returns the intervals of a log, some of them longer, with gaps between them, and its
// text.
func randomLog(t *testing.T, r *rand.Rand) (all []raw, text []byte) {
	t.Helper()
	var b bytes.Buffer
	w := hdrlog.NewWriter(&b)
	w.Version()
	w.StartTime(1000)
	var encoder histogram.Encoder
	for at := int64(1_000_000 + 125*r.IntN(3)); len(all) < 200; {
		i := raw{start: at, end: at + 1000}
		if r.IntN(20) == 0 {
			i.end += 125 * int64(r.IntN(8)) // exact in binary
		}
		h, err := histogram.New(histogram.Layout{Digits: 1 + r.IntN(3), Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range r.IntN(5) {
			v := 1 + r.Int64N(15) // a slot of its own with any number of digits
			i.values = append(i.values, v)
			if err := h.Record(v, 1); err != nil {
				t.Fatal(err)
			}
		}
		payload, err := encoder.AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		w.Flush()
		fmt.Fprintf(&b, "%.3f,%.3f,0.000,%s\n", float64(i.start)/1000, float64(i.end-i.start)/1000, payload)
		all = append(all, i)
		at = i.end + 125*int64(r.IntN(2)*r.IntN(24))
	}
	return all, b.Bytes()
}

// TestRuns compares windows with the raw values in them.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n, c := range []struct {
		logs    int
		size    int64
		coarser int
	}{{1, 0, 0}, {1, 0, 1}, {3, 0, 0}, {3, 0, 3}, {2, 5000, 0}, {2, 10, 2}} {
		var all []raw
		s := &scan.Scan{Workers: 3, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
		longest := int64(0)
		for range c.logs {
			intervals, text := randomLog(t, r)
			all = append(all, intervals...)
			for _, i := range intervals {
				longest = max(longest, i.end-i.start)
			}
			s.Inputs = append(s.Inputs, scan.Input{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }})
		}
		runs := &Runs{Size: c.size}
		if _, err := Collect[struct{}](s, Options{Runs: runs}, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		size := max(c.size, longest)
		for range c.coarser {
			runs.coarsen()
			if runs.coarse != size {
				t.Fatalf("case %d: windows of %d, want %d", n, runs.coarse, size)
			}
			size *= 2
			runs.coarse *= 2 // as if that were not enough
		}
		if runs.size() != size {
			t.Fatalf("case %d: windows of %d, want %d", n, runs.size(), size)
		}
		windows, _, err := runs.windows("", 1)
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[int64][]int64)
		first, last := int64(1<<62), int64(0)
		for _, i := range all {
			at := merge.WindowOf(i.start, i.end, size).Start / size
			want[at] = append(want[at], i.values...)
			first, last = min(first, at), max(last, at)
		}
		if len(windows) != int(last-first+1) {
			t.Fatalf("case %d: %d windows, want %d", n, len(windows), last-first+1)
		}
		upTo := []int64{3, 7, 15}
		for i, w := range windows {
			values := want[first+int64(i)]
			var got, counts [3]int64
			var total int64
			var sum, wantSum float64
			if w != nil {
				total, sum = w.Count(upTo, got[:])
				if w.Seconds() <= 0 || w.Seconds() > 2*float64(size)/1000 {
					t.Errorf("case %d: window %d has %v s", n, i, w.Seconds())
				}
			}
			for _, v := range values {
				wantSum += float64(v)
				for k, limit := range upTo {
					if v <= limit {
						counts[k]++
					}
				}
			}
			if total != int64(len(values)) || got != counts || sum != wantSum {
				t.Errorf("case %d: window %d has %d values, %v, sum %v; want %d, %v, %v", n, i, total, got, sum, len(values), counts, wantSum)
			}
		}
	}
}

// TestRunsOfManyTags checks that there is an error, not a lot of memory.
func TestRunsOfManyTags(t *testing.T) {
	var runs Runs
	counts := make([]byte, 1<<20)
	for tag := range 100 {
		i := hdrlog.Interval{}
		runs.add(fmt.Sprint(tag), scan.Visit{Interval: &i}, counts)
	}
	if runs.err != ErrManyTags || runs.tags != nil {
		t.Errorf("the error is %v", runs.err)
	}
}

// TestCombine compares the sum of results with one of all logs.
func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	s := &scan.Scan{Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	var results []*Result
	for range 3 {
		_, text := randomLog(t, r)
		s.Inputs = append(s.Inputs, scan.Input{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }})
		one := *s
		one.Inputs = s.Inputs[len(s.Inputs)-1:]
		result, err := Collect[struct{}](&one, Options{}, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, result)
	}
	want, err := Collect[struct{}](s, Options{}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Combine(results)
	if err != nil {
		t.Fatal(err)
	}
	a, b := got.Summaries[0], want.Summaries[0]
	if len(got.Summaries) != 1 || a.Intervals != b.Intervals || a.Start != b.Start || a.End != b.End ||
		!slices.Equal(slices.Collect(a.Counts().Recorded()), slices.Collect(b.Counts().Recorded())) {
		t.Errorf("combined: %+v, want %+v", a, b)
	}
	for _, mode := range Modes {
		if got.Period(mode) != want.Period(mode) {
			t.Errorf("period %s: %d, want %d", mode, got.Period(mode), want.Period(mode))
		}
	}
}
