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

// A window is a window of a picture in the making, whose Sum is in the unit of the log.
type window struct {
	chart.Window
	counts *merge.Sum
	// rest is the rounding error of Sum. Sum plus rest is exact, so the order of additions makes no
	// difference.
	rest float64
}

// include adds other to w, all but the counts.
func (w *window) include(other *window) error {
	if w.Count > math.MaxInt64-other.Count {
		return histogram.ErrOverflow
	}
	w.Start = min(w.Start, other.Start)
	w.Begin = min(w.Begin, other.Begin)
	w.End = max(w.End, other.End)
	if other.Max > w.Max {
		w.Max, w.Source = other.Max, other.Source
	}
	w.add(other.Sum, other.rest)
	switch {
	case w.Count == 0:
		w.Min = other.Min
	case other.Count > 0:
		w.Min = math.Min(w.Min, other.Min)
	}
	w.Intervals, w.Count = w.Intervals+other.Intervals, w.Count+other.Count
	return nil
}

// add adds b to the sum. The rounding error of a + b is itself a float64 (Knuth).
func (w *window) add(b, rest float64) {
	a := w.Sum
	w.Sum = a + b
	part := w.Sum - a
	w.rest += rest + (a - (w.Sum - part)) + (b - part)
}

// know takes in the minimum and the sum of counts that were added. The sum is a multiple of the
// unit of their layout.
func (w *window) know(s *output.Stats, layout histogram.Layout, ratio float64) {
	if s.Count > 0 {
		w.Min = min(w.Min, unit.Divide(s.Min.Float(), ratio))
	}
	one := cmp.Or(layout.Ratio, 1)
	w.add(math.Round(s.Mean*float64(s.Count)/one)*one, 0)
}

// keep adds w with its counts to the windows of a series. If width is not 0, and the last window
// lies in the same window of that width, keep merges both.
func (g *gathered) keep(w *window, counts *merge.Sum, width int64) error {
	if n := len(g.windows) - 1; width > 0 && n >= 0 {
		last := &g.windows[n]
		if chart.WindowAt(last.Start, width) == chart.WindowAt(w.Start, width) {
			return cmp.Or(last.counts.Merge(counts), last.include(w))
		}
	}
	kept := *w
	kept.counts = new(merge.Sum)
	err := cmp.Or(kept.counts.Merge(counts), kept.counts.Compact())
	g.windows = append(g.windows, kept)
	return err
}

// widen merges the windows of a series that start before a time into windows of a width. Of later
// ones, it merges only those that start at the same time. Afterwards all are in the order of time.
func (g *gathered) widen(width, before int64) error {
	slices.SortStableFunc(g.windows, func(a, b window) int { return cmp.Compare(a.Start, b.Start) })
	byStart := func(w window, before int64) int { return cmp.Compare(w.Start, before) }
	n, _ := slices.BinarySearchFunc(g.windows, before, byStart)
	old, err := widened(g.windows[:n], width, 0)
	recent, err2 := widened(g.windows[n:], 1, 0)
	g.windows = append(old, recent...)
	return cmp.Or(err, err2)
}

// widened merges windows, which are in order of time and count from origin, into those of a width,
// in the same memory. Their counts stay as they are.
func widened(all []window, width, origin int64) (merged []window, err error) {
	merged = all[:0]
	rest := all
	defer func() { clear(rest[len(merged):]) }() // which have counts
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
				w.counts.Compact() // from few windows: a histogram does not pay
				for _, other := range all[:n] {
					err = cmp.Or(err, w.counts.Merge(other.counts))
				}
			}
			err = cmp.Or(err, w.counts.Compact())
		}
		for _, other := range all[1:n] {
			err = cmp.Or(err, w.include(&other))
		}
		if err != nil {
			return nil, err
		}
		merged, all = append(merged, w), all[n:]
	}
	return merged, nil
}

// widenPicture is [chart.Picture.Widen]: it merges windows of a picture as widened does.
func widenPicture(all []chart.Window, width, origin int64) ([]chart.Window, error) {
	made := make([]window, 0, len(all))
	for _, w := range all {
		counts, _ := w.Counts.(*merge.Sum)
		made = append(made, window{Window: w, counts: counts})
	}
	made, err := widened(made, width, origin)
	return finished(made, 0, 1), err
}

// finished returns windows of a picture, whose times count from origin, with sums divided by ratio.
func finished(all []window, origin int64, ratio float64) (done []chart.Window) {
	for n := range all {
		w := all[n].Window
		w.Start -= origin
		w.Begin -= origin
		w.End -= origin
		w.Sum = unit.Divide(w.Sum+all[n].rest, ratio)
		w.Counts = all[n].counts
		done = append(done, w)
	}
	return done
}

// refine brings all windows to the finest of their layouts, which it returns.
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
