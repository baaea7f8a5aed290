package summary

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/people"
	"hdrkit/internal/detect"
	"hdrkit/internal/flow"
	"hdrkit/output"
)

const (
	// windowDigits is the number of significant digits of windows. With 1, a window takes a tenth
	// of the memory that it takes with 3, and the ends of intervals of confidence move by less than
	// a tenth of their width (TestCoarseWindows in confidence).
	windowDigits = 1
	// maxWindows is the largest number of windows of a run: ten minutes of seconds. More windows
	// take time and memory, and show no more: of an hour, as many intervals of confidence are right
	// with windows of 8 s as with windows of 1 s (bench/confidence.md).
	maxWindows = 600
	// shiftPercentile is the percentile whose level may shift.
	shiftPercentile = 99
	// believedBytes is the approximate memory for the intervals of confidence of a row and for its
	// comparison with other rows.
	believedBytes = 4 << 10
)

// Runs have the counts of each tag in windows of time, which the intervals of confidence are
// computed from. Their memory does not grow with the log. The zero value is ready.
type Runs struct {
	// Size is the length of windows in milliseconds, 0 for the length of the longest interval.
	// Windows become longer if some intervals are much longer, if windows are many, or if memory is
	// short.
	Size int64
	// Optional says that nobody asked for intervals of confidence. If memory is too small, there
	// are none.
	Optional bool
	// Unpaired says that runs are compared as if they had not run at the same time.
	Unpaired bool
	// Percentiles, if set, returns further percentiles of a row that get an interval.
	Percentiles func(*output.Summary) []float64

	most     int64 // largest number of windows, 0 for maxWindows
	doubling *flow.Doubling
}

// flow returns the flow that fills the windows.
func (r *Runs) flow(memory *ledger.Ledger) *flow.Doubling {
	r.doubling = &flow.Doubling{
		Size:       r.Size,
		MaxWindows: cmp.Or(r.most, maxWindows),
		Budget:     memory.AtMost(math.MaxInt, 2),
		Digits:     windowDigits,
		RowBytes:   believedBytes,
	}
	r.doubling.Account = memory.Open("tags, with their windows,", "choose some with -incT, or add them up with -it")
	return r.doubling
}

// A window has the counts of a row in a window of time. It implements [confidence.Window]. Its
// values are multiples of ratio.
type window struct {
	merged  *merge.Merged
	scratch *histogram.Histogram
	ratio   float64
}

// Seconds implements [confidence.Window].
func (w *window) Seconds() float64 { return float64(w.merged.Recorded.Millis) / 1000 }

// Values implements [confidence.Rated].
func (w *window) Values(count float64) float64 { return w.merged.Recorded.Values(count) }

// Count implements [confidence.Window].
func (w *window) Count(upTo, counts []int64) (total int64) {
	if w.merged.Intervals() == 0 {
		clear(counts)
		return 0
	}
	h, err := w.merged.Histogram(w.scratch)
	if err != nil {
		return 0 // cannot fail: the intervals of all windows add up
	}
	factor := h.Ratio() / w.ratio
	if factor != 1 {
		upTo = slices.Clone(upTo)
		for n := range upTo {
			upTo[n] = int64(float64(upTo[n]) / factor)
		}
	}
	return confidence.HistogramWindow{Histogram: h}.Count(upTo, counts)
}

// Believe computes the intervals of confidence of the figures of each summary, at a level in
// percent. It drops the windows of the runs.
func (r *Result) Believe(runs *Runs, percentiles []float64, level float64, workers int) error {
	if len(runs.doubling.Windows) == 0 {
		if runs.Optional && errors.As(runs.doubling.Err, new(*ledger.LimitError)) {
			return nil
		}
		return runs.doubling.Err
	}
	defer func() { runs.doubling.Windows = nil }()
	size := runs.doubling.Windows[0].Window.End - runs.doubling.Windows[0].Window.Start
	windows, first := make([][]confidence.Window, len(r.Summaries)), make([]int64, len(r.Summaries))
	counts := make([]*histogram.Histogram, len(r.Summaries))
	for _, m := range runs.doubling.Windows {
		n, _ := search(r.Summaries, m.Tag)
		if len(windows[n]) == 0 {
			first[n], counts[n] = m.Window.Start, new(histogram.Histogram)
		}
		empty := int((m.Window.Start-first[n])/size) - len(windows[n])
		for range empty { // no interval was recorded in these windows
			at := first[n] + int64(len(windows[n]))*size
			none := &merge.Merged{Tag: m.Tag, Window: merge.Span{Start: at, End: at + size}}
			windows[n] = append(windows[n], &window{merged: none, scratch: counts[n], ratio: 1})
		}
		windows[n] = append(windows[n], &window{merged: m, scratch: counts[n], ratio: 1})
	}
	for n, s := range r.Summaries {
		setRates(windows[n], s, runs.doubling.Rates)
	}
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, max(workers, 1))
	for n, s := range r.Summaries {
		sum := s.Counts()
		for _, w := range windows[n] {
			w.(*window).ratio = sum.Ratio()
		}
		if s.Start == s.End { // values without times
			windows[n] = nil
		}
		ofRow := windows[n]
		if r.by.Phases() { // windows between the phases of a row are no part of the row
			ofRow = slices.DeleteFunc(slices.Clone(ofRow), func(w confidence.Window) bool { return w.Seconds() == 0 })
		}
		run := confidence.NewRun(sum, ofRow)
		run.SetDigits(windowDigits)
		if !runs.Unpaired && people.Dated(first[n]) && !r.by.Phases() {
			run.SetTime(first[n], size)
		}
		wanted := percentiles
		if runs.Percentiles != nil {
			wanted = slices.Concat(percentiles, runs.Percentiles(s))
		}
		free <- struct{}{}
		group.Go(func() {
			s.Confidence = confidenceOf(run, wanted, level, size)
			s.Confidence.Shift = shiftOf(windows[n], first[n], size)
			<-free
		})
	}
	return nil
}

// setRates sets what each window of a summary recorded, and for how long. Intervals whose middle is
// in the first or last window may begin before it or end behind it. All of such an interval counts
// in that window.
func setRates(windows []confidence.Window, s *output.Summary, rates *merge.Rates) {
	if len(windows) == 0 {
		return
	}
	first, last := windows[0].(*window).merged, windows[len(windows)-1].(*window).merged
	before := rates.Take(s.Tag, merge.Span{Start: min(s.Start, first.Window.Start), End: first.Window.Start})
	for _, w := range windows {
		m := w.(*window).merged
		m.Recorded = rates.Take(s.Tag, m.Window)
	}
	first.Recorded.Add(before)
	last.Recorded.Add(rates.Take(s.Tag, merge.Span{Start: last.Window.End, End: max(s.End, last.Window.End)}))
}

// shiftOf returns where the level of a row shifts and stays, nil if the level does not shift.
func shiftOf(windows []confidence.Window, start, size int64) *output.Shift {
	var merged []*merge.Merged
	for _, w := range windows {
		if m := w.(*window).merged; m.Intervals() > 0 {
			merged = append(merged, m)
		}
	}
	t := newTimeline(start, size, len(windows))
	if len(merged) == 0 || t.fill(merged) != nil {
		return nil
	}
	levels, at := t.Levels(shiftPercentile)
	found := detect.FindChange(levels, 1, func(c detect.Change) bool { return c.Kind == detect.Step })
	if found.Kind == detect.Constant {
		return nil
	}
	from := at[found.Spans[0].From]
	return &output.Shift{
		Percentile: shiftPercentile,
		Start:      t.At(from),
		Before:     t.Values(0, from, shiftPercentile)[0],
		After:      t.Values(from, t.Windows(), shiftPercentile)[0],
	}
}

// confidenceOf returns the intervals of confidence of the figures of a run. Window is the length of
// its windows in milliseconds.
func confidenceOf(
	run *confidence.Run, percentiles []float64, level float64, window int64,
) *output.Confidence {
	c := &output.Confidence{
		Level:       level,
		Window:      window,
		Percentiles: make(map[float64]confidence.Estimate),
	}
	// Percentiles come before the rate, so that the windows are read once.
	for n, e := range run.Percentiles(percentiles, level) {
		c.Percentiles[percentiles[n]] = e
	}
	c.Rate = run.Rate(level)
	return c
}
