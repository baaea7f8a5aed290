package summary

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/flow"
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
			if err := h.Record(v); err != nil {
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
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for n, c := range []struct {
		logs   int
		size   int64
		longer int // unused
		most   int64
	}{{1, 0, 0, 0}, {1, 2000, 0, 0}, {1, 2000, 0, 0}, {3, 2000, 0, 0}, {3, 2000, 0, 0}, {2, 5000, 0, 0}, {3, 0, 0, 0}, {1, 2000, 0, 9}, {3, 2000, 0, 40}} {
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
		runs := &Runs{Size: c.size, most: c.most}
		if _, err := Collect(s, Options{Runs: runs}); err != nil {
			t.Fatal(err)
		}
		size := runs.doubling.Windows[0].Window.End - runs.doubling.Windows[0].Window.Start
		if c.most > 0 {
			first, last := all[0].start, int64(0)
			for _, i := range all {
				first, last = min(first, i.start), max(last, i.end)
			}
			if windows := (last - first) / size; windows > c.most || 2*windows+1 < c.most {
				t.Fatalf("case %d: %d windows, at most %d", n, windows, c.most)
			}
		} else if c.size > 0 && size != c.size || c.size == 0 && (size > longest*5/4 || size < longest*4/5) {
			t.Fatalf("case %d: windows of %d for %d, and intervals of up to %d", n, size, c.size, longest)
		}
		type sum struct {
			total    int64
			sum      float64
			up3, up7 int64
		}
		got, want := make(map[int64]sum), make(map[int64]sum)
		for _, i := range all {
			at := merge.WindowOf(i.start, i.end, size).Start
			if c.size == 0 {
				at = 0 // windows were others before there was the longest interval
			}
			w := want[at]
			for _, v := range i.values {
				w.total, w.sum = w.total+1, w.sum+float64(v)
				if v <= 3 {
					w.up3++
				}
				if v <= 7 {
					w.up7++
				}
			}
			want[at] = w
		}
		for _, m := range runs.doubling.Windows {
			w, counts := &window{merged: m, scratch: new(histogram.Histogram), ratio: 1}, make([]int64, 2)
			m.Recorded = runs.doubling.Rates.Take(m.Tag, m.Window)
			if w.Seconds() <= 0 || w.Seconds() > 2*float64(size)/1000 {
				t.Errorf("case %d: window %d has %v s", n, m.Window.Start, w.Seconds())
			}
			total := w.Count([]int64{3, 7}, counts)
			h, err := w.merged.Histogram(w.scratch)
			if err != nil {
				t.Fatal(err)
			}
			values := math.Round(h.Mean() * float64(total))
			at := m.Window.Start
			if c.size == 0 {
				at = 0
			}
			g := got[at]
			got[at] = sum{g.total + total, g.sum + values, g.up3 + counts[0], g.up7 + counts[1]}
		}
		if !maps.Equal(got, want) {
			t.Errorf("case %d: %v, want %v", n, got, want)
		}
	}
}

// TestGather proves that workers that add up what a window has coarsen it to the same counts, also
// if intervals have different layouts.
func TestGather(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	const intervals, most = 3000, 50
	var text bytes.Buffer
	w := hdrlog.NewWriter(&text)
	var encoder histogram.Encoder
	var coarse [intervals]merge.Sum
	for at := range int64(intervals) {
		layout := histogram.Layout{Digits: r.IntN(4), Lowest: 1 + 99*r.Int64N(2)}
		if at%2 == 1 {
			layout = histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1 / float64(int64(1)<<r.IntN(10))}
		}
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			h.Record(r.Int64N(1 << r.IntN(20)))
		}
		payload, err := encoder.AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		w.WriteEncoded([]byte{byte('a' + at%2)}, fmt.Appendf(nil, "%d,1.000,0.000,%s", at, payload))
		if err := coarse[at].AddCoarse(at*1000, at*1000+1000, h, windowDigits); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	for _, workers := range []int{1, 4} {
		s := &scan.Scan{Workers: workers, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
		s.Inputs = []scan.Input{{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }}}
		runs := &Runs{most: most}
		result, err := Collect(s, Options{Runs: runs})
		if err != nil || runs.doubling.Err != nil || len(result.Summaries) != 2 {
			t.Fatal(err, runs.doubling.Err)
		}
		want := merge.NewWindows(64_000)
		for at := range coarse {
			if err := want.Merge([]byte{byte('a' + at%2)}, 0, &coarse[at]); err != nil {
				t.Fatal(err)
			}
		}
		next, stop := iter.Pull(want.All())
		for _, got := range runs.doubling.Windows {
			m, ok := next()
			if !ok || got.Window != m.Window || got.Start != m.Start || got.End != m.End || !slices.Equal(recorded(t, &got.Sum), recorded(t, &m.Sum)) {
				t.Fatalf("%d workers: the window of %s at %d differs", workers, got.Tag, got.Start)
			}
		}
		if _, more := next(); more {
			t.Errorf("%d workers: a window is missing", workers)
		}
		stop()
	}
}

func recorded(t *testing.T, m *merge.Sum) []histogram.Bucket {
	h, err := m.Histogram(new(histogram.Histogram))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(h.Recorded())
}

// TestRunsMemory proves that windows become longer if there are many or little memory, and that
// there is an error if that does not do.
func TestRunsMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector, which runs with -short, makes it slow")
	}
	h, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for v := range int64(40) {
		h.RecordN(v<<v, v)
	}
	payload, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit         int64
		seconds, tags int
		fails         bool
		size          int64
	}{
		{64 << 20, maxWindows, 1, false, 1},
		{64 << 20, maxWindows + 1, 1, false, 2},
		{64 << 20, 5 * maxWindows, 1, false, 8},
		{10 << 20, maxWindows, 28, false, 2},
		{1 << 20, 200, 100, true, 0},
	} {
		var text bytes.Buffer
		w := hdrlog.NewWriter(&text)
		for at := range c.seconds {
			for tag := range c.tags {
				w.WriteEncoded([]byte{byte('a' + tag>>4), byte('a' + tag&15)}, fmt.Appendf(nil, "%d,1.000,0.000,%s", at, payload))
			}
		}
		w.Flush()
		s := &scan.Scan{Workers: 1, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
		s.Inputs = []scan.Input{{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }}}
		var runs Runs
		if err := flow.Run(s, new(flow.Rows), runs.flow(ledger.New(c.limit))); err != nil {
			t.Fatal(err)
		}
		var limit *ledger.LimitError
		if errors.As(runs.doubling.Err, &limit) != c.fails || c.fails != (len(runs.doubling.Windows) == 0) {
			t.Fatalf("%+v: %v", c, runs.doubling.Err)
		}
		if c.fails {
			continue
		}
		if got := runs.doubling.Windows[0].Window.End - runs.doubling.Windows[0].Window.Start; got != c.size*1000 {
			t.Errorf("%+v: windows of %d ms", c, got)
		}
	}
}

// TestShift compares a shift that is found with the raw values on both sides.
func TestShift(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	var encoder histogram.Encoder
	var sides [2][]int64
	const windows, middle, begin = 400, 250, 100_000
	for at := range windows {
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		for range 100 {
			v := int64(1e6 * math.Exp(0.4*r.NormFloat64()))
			if at >= middle {
				v = v * 8 / 5
			}
			h.Record(v)
			sides[at/middle] = append(sides[at/middle], v)
		}
		payload, err := encoder.AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		w.WriteEncoded([]byte("a"), fmt.Appendf(nil, "%d,1.000,0.000,%s", begin/1000+at, payload))
	}
	w.Flush()
	s := &scan.Scan{Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	s.Inputs = []scan.Input{{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(&log), nil }}}
	o := Options{Runs: new(Runs)}
	result, err := Collect(s, o)
	if err == nil {
		err = result.Believe(o.Runs, []float64{50}, 95, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	shift := result.Summaries[0].Confidence.Shift
	if shift == nil || math.Abs(float64(shift.Start-begin-middle*1000)) > 5000 {
		t.Fatalf("the shift is %+v", shift)
	}
	for side, got := range []float64{shift.Before, shift.After} {
		slices.Sort(sides[side])
		if want := float64(sides[side][len(sides[side])*99/100]); math.Abs(got/want-1) > 0.04 {
			t.Errorf("p99 of side %d is about %v, want %v", side, got, want)
		}
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
		result, err := Collect(&one, Options{})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, result)
	}
	want, err := Collect(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := combine(results, nil)
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

// TestCompact: runs that stay while others are read take, and are charged, what their counts need.
// Without that, the histograms of a hundred runs of two values take 12 MB, and those of thousands
// meet -memory although little of them is used.
func TestCompact(t *testing.T) {
	layout := histogram.Layout{Digits: 3, Lowest: 1}
	log := logOf(t, []histogram.Layout{layout, layout}, []int64{10, 20_000_000})
	memory := ledger.New(8 << 20)
	var results []*Result
	for range 100 {
		s := newScan(t, 1)
		s.Memory = memory
		s.Inputs = []scan.Input{scan.Stdin(strings.NewReader(log))}
		result, err := Collect(s, Options{})
		if err != nil {
			t.Fatalf("after %d runs: %v", len(results), err)
		}
		want := describe(result)
		if err := result.Compact(memory); err != nil {
			t.Fatal(err)
		}
		if got := describe(result); got != want {
			t.Fatalf("compact: %s\nwant %s", got, want)
		}
		results = append(results, result)
	}
	all, err := combine(results, memory)
	if err != nil {
		t.Fatal(err)
	}
	if s := all.Summaries[0]; s.Intervals != 200 || s.Counts().TotalCount() != 200 {
		t.Errorf("%d intervals with %d values", s.Intervals, s.Counts().TotalCount())
	}
}

// TestLongIntervals: figures have intervals of confidence, too, if each window has one interval of
// the log.
func TestLongIntervals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	for at := range 300 {
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		for range 200 {
			h.Record(int64(1e6 * math.Exp(0.4*r.NormFloat64())))
		}
		if err := w.Interval([]byte("a"), float64(10*at), 10, h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	s := &scan.Scan{Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	s.Inputs = []scan.Input{{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(&log), nil }}}
	o := Options{Runs: new(Runs)}
	result, err := Collect(s, o)
	if err == nil {
		err = result.Believe(o.Runs, []float64{50}, 95, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	e := result.Summaries[0].Confidence.Percentiles[50]
	if !(e.Low > 0.97*e.Value && e.Low < e.Value && e.High > e.Value && e.High < 1.03*e.Value) {
		t.Errorf("%+v", e)
	}
}
