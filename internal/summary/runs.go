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
	"hdrkit/tags"
)

const (
	// windowDigits are the significant digits of windows. A window then takes a tenth of the memory
	// of one of three digits, and limits move by less than a tenth of the width of their interval
	// (TestCoarseWindows in confidence).
	windowDigits = 1
	// mostWindows is the largest number of windows of a run: ten minutes of seconds. More take time
	// and memory, and tell no more: of the intervals of an hour, as many are right with windows of
	// 8 s as with those of 1 s (bench/confidence.md).
	mostWindows = 600
	// shiftPercentile is the percentile whose level may shift.
	shiftPercentile = 99
	// believedBytes is about what intervals of confidence of a row take, and its comparison with
	// others.
	believedBytes = 4 << 10
)

// Runs keep what each tag recorded in each window of absolute time, in memory that does not grow
// with the log. The zero value is ready.
type Runs struct {
	// Size is the size of windows in milliseconds. 0 means that of the longest interval. Much
	// longer intervals, many windows and little memory make windows longer.
	Size int64
	// Optional says that nobody asked for intervals: if there is too little memory, there are none.
	Optional bool
	// Unpaired says that runs are compared as if they had not run at the same time.
	Unpaired bool
	// Percentiles, if set, returns further percentiles of a row that get an interval.
	Percentiles func(*output.Summary) []float64

	most     int64 // windows, mostWindows if it is 0
	doubling *flow.Doubling
}

// flow returns the flow of the windows.
func (r *Runs) flow(memory *ledger.Ledger) *flow.Doubling {
	r.doubling = &flow.Doubling{
		Size:     r.Size,
		Most:     cmp.Or(r.most, mostWindows),
		Room:     memory.AtMost(math.MaxInt, 2),
		Digits:   windowDigits,
		RowBytes: believedBytes,
	}
	r.doubling.Account = memory.Open("tags, with their windows,", "choose some with -incT, or add them up with -it")
	return r.doubling
}

// A window is the counts of a tag in a window, as a [confidence.Window]. Its values are multiples
// of ratio.
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
		return 0 // cannot be: the intervals of all windows add up
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

// Believe gives each summary the intervals of its figures, at a level of confidence. Afterwards the
// runs have no windows.
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
		n, _ := slices.BinarySearchFunc(r.Summaries, m.Tag, func(s *output.Summary, tag []byte) int { return tags.Compare(s.Tag, tag) })
		if len(windows[n]) == 0 {
			first[n], counts[n] = m.Window.Start, new(histogram.Histogram)
		}
		empty := int((m.Window.Start-first[n])/size) - len(windows[n])
		for range empty { // between intervals that are longer than usual
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
		if r.by.Phases() { // between its phases a row is not there, rather than empty
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

// setRates sets what the windows of a summary recorded. What lies before and behind them, of
// intervals whose middles are in them, counts for the first and the last one.
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

// shiftOf returns where the level of a row shifts for good, nil if it does not.
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
	found := detect.Find(levels, 1, func(c detect.Change) bool { return c.Kind == detect.Step })
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

// confidenceOf returns the confidence in the figures of a run.
func confidenceOf(
	run *confidence.Run, percentiles []float64, level float64, window int64,
) *output.Confidence {
	c := &output.Confidence{
		Level:       level,
		Window:      window,
		Percentiles: make(map[float64]confidence.Estimate),
	}
	for n, e := range run.Percentiles(percentiles, level) { // first, so that it looks at the windows once
		c.Percentiles[percentiles[n]] = e
	}
	c.Rate = run.Rate(level)
	return c
}
