package collect

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/output"
)

// A window is a [chart.Window] of a series to which intervals are still added. Its Sum is in the
// unit of the log.
type window struct {
	chart.Window
	counts *merge.Sum
	// roundoff is the rounding error of Sum. Sum plus roundoff is exact, so that the order of
	// additions makes no difference.
	roundoff float64
}

// merge adds another window to w, all but its counts.
func (w *window) merge(other *window) error {
	if w.Count > math.MaxInt64-other.Count {
		return histogram.ErrOverflow
	}
	w.Start = min(w.Start, other.Start)
	w.Begin = min(w.Begin, other.Begin)
	w.End = max(w.End, other.End)
	if other.Max > w.Max {
		w.Max, w.Source = other.Max, other.Source
	}
	w.addToSum(other.Sum, other.roundoff)
	switch {
	case w.Count == 0:
		w.Min = other.Min
	case other.Count > 0:
		w.Min = math.Min(w.Min, other.Min)
	}
	w.Intervals, w.Count = w.Intervals+other.Intervals, w.Count+other.Count
	return nil
}

// addToSum adds b and its rounding error to the sum. The rounding error of a + b is itself a
// float64 (Knuth, TwoSum).
func (w *window) addToSum(b, roundoff float64) {
	a := w.Sum
	w.Sum = a + b
	rounded := w.Sum - a
	w.roundoff += roundoff + (a - (w.Sum - rounded)) + (b - rounded)
}

// addStats adds the minimum and the sum of counts. The sum of counts is a multiple of the unit of
// their layout.
func (w *window) addStats(s *output.Stats, layout histogram.Layout, ratio float64) {
	if s.Count > 0 {
		w.Min = min(w.Min, unit.Divide(s.Min.Float(), ratio))
	}
	one := cmp.Or(layout.Ratio, 1)
	w.addToSum(math.Round(s.Mean*float64(s.Count)/one)*one, 0)
}

// addWindow adds a window with its counts to a series. If width is not 0, it merges the window with
// the last one when both start in the same window of that width.
func (s *series) addWindow(w *window, counts *merge.Sum, width int64) error {
	if n := len(s.windows) - 1; width > 0 && n >= 0 {
		last := &s.windows[n]
		if chart.WindowAt(last.Start, width) == chart.WindowAt(w.Start, width) {
			return cmp.Or(last.counts.Merge(counts), last.merge(w))
		}
	}
	added := *w
	added.counts = new(merge.Sum)
	err := cmp.Or(added.counts.Merge(counts), added.counts.Compact())
	s.windows = append(s.windows, added)
	return err
}

// widen sorts the windows of a series by time. It merges windows that start before a time into
// windows of a width. It merges later windows only if they start at the same time.
func (s *series) widen(width, before int64) error {
	slices.SortStableFunc(s.windows, func(a, b window) int { return cmp.Compare(a.Start, b.Start) })
	byStart := func(w window, before int64) int { return cmp.Compare(w.Start, before) }
	n, _ := slices.BinarySearchFunc(s.windows, before, byStart)
	old, err := widened(s.windows[:n], width, 0)
	recent, err2 := widened(s.windows[n:], 1, 0)
	s.windows = append(old, recent...)
	return cmp.Or(err, err2)
}

// widened merges windows into windows of a width in milliseconds, in the same memory. The windows
// are in order of time, and their times count from origin. It does not change the counts of the
// given windows, which others may use.
func widened(all []window, width, origin int64) (merged []window, err error) {
	merged = all[:0]
	memory := all
	defer func() { clear(memory[len(merged):]) }() // frees their counts
	at := func(w *window) int64 { return chart.WindowAt(w.Start+origin, width) }
	for len(all) > 0 {
		n := 1
		for n < len(all) && at(&all[n]) == at(&all[0]) {
			n++
		}
		w := all[0]
		if w.counts != nil {
			if n > 1 {
				w.counts = new(merge.Sum)
				w.counts.Compact() // a histogram does not pay for a few windows
				for _, other := range all[:n] {
					err = cmp.Or(err, w.counts.Merge(other.counts))
				}
			}
			err = cmp.Or(err, w.counts.Compact())
		}
		for _, other := range all[1:n] {
			err = cmp.Or(err, w.merge(&other))
		}
		if err != nil {
			return nil, err
		}
		merged, all = append(merged, w), all[n:]
	}
	return merged, nil
}

// widenChartWindows is the function in [chart.Precision] that widens windows of a picture.
func widenChartWindows(all []chart.Window, width, origin int64) ([]chart.Window, error) {
	windows := make([]window, 0, len(all))
	for _, w := range all {
		counts, _ := w.Counts.(*merge.Sum)
		windows = append(windows, window{Window: w, counts: counts})
	}
	windows, err := widened(windows, width, origin)
	return chartWindows(windows, 0, 1), err
}

// chartWindows returns windows for a picture: times count from origin, and sums are divided by
// ratio.
func chartWindows(all []window, origin int64, ratio float64) (windows []chart.Window) {
	for n := range all {
		w := all[n].Window
		w.Start -= origin
		w.Begin -= origin
		w.End -= origin
		w.Sum = unit.Divide(w.Sum+all[n].roundoff, ratio)
		w.Counts = all[n].counts
		windows = append(windows, w)
	}
	return windows
}

// refine converts the counts of all windows to the finest of their layouts, and returns that
// layout.
func refine(all []window) (histogram.Layout, error) {
	finest, err := histogram.New(all[0].counts.Layout())
	if err != nil {
		return histogram.Layout{}, err
	}
	for _, w := range all {
		if err := finest.Refine(w.counts.Layout()); err != nil {
			return finest.Layout(), err
		}
	}
	for i := range all {
		if all[i].counts.Layout() == finest.Layout() {
			continue
		}
		sum := new(merge.Sum)
		h, err := all[i].counts.Histogram(new(histogram.Histogram))
		if err != nil {
			return finest.Layout(), err
		}
		h = h.Clone()
		if err := errors.Join(h.Refine(finest.Layout()), sum.AddHistogram(0, 0, h)); err != nil {
			return finest.Layout(), err
		}
		all[i].counts = sum
	}
	return finest.Layout(), nil
}
