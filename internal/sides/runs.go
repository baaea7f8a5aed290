package sides

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/people"
	"hdrkit/output"
)

// OneSideFirst reports whether all runs of one side began before all runs of the other side. It is
// false if a side has only one run, or if runs have no dates.
func (c *PairChange) OneSideFirst() bool {
	if len(c.RunsBefore) < 2 || len(c.RunsAfter) < 2 {
		return false
	}
	byStart := func(a, b *output.Summary) int { return cmp.Compare(a.Start, b.Start) }
	firstBefore, lastBefore := slices.MinFunc(c.RunsBefore, byStart), slices.MaxFunc(c.RunsBefore, byStart)
	firstAfter, lastAfter := slices.MinFunc(c.RunsAfter, byStart), slices.MaxFunc(c.RunsAfter, byStart)
	if !people.Dated(firstBefore.Start) || !people.Dated(firstAfter.Start) {
		return false
	}
	return lastBefore.Start < firstAfter.Start || lastAfter.Start < firstBefore.Start
}

// turnsOf returns the place of each run in the order of time, if the two sides took turns, and each
// run began after the end of the run before. Otherwise it returns nil.
func turnsOf(before, after []*output.Summary) map[*output.Summary]int {
	all := slices.Concat(before, after)
	slices.SortStableFunc(all, func(a, b *output.Summary) int { return cmp.Compare(a.Start, b.Start) })
	turns := make(map[*output.Summary]int)
	for n, s := range all {
		turns[s] = n + 1
		if !people.Dated(s.Start) {
			return nil
		}
		if n == 0 {
			continue
		}
		last := all[n-1]
		if s.Start < last.End || slices.Contains(before, s) == slices.Contains(before, last) {
			return nil
		}
	}
	return turns
}

// RunFigureOf returns a figure of a summary, in the unit of its values. The figure is NaN if
// nothing was recorded, or if it is infinite.
func RunFigureOf(s *output.Summary, f output.Figure) confidence.RunFigure {
	h := s.Counts()
	stats := output.FiguresOf(h, []output.Figure{f}, output.Stats{})
	r := confidence.RunFigure{Value: f.Of(&stats, float64(s.Period)/1000).Float()}
	if h.TotalCount() == 0 && !f.Unitless() || math.IsInf(r.Value, 0) {
		r.Value = math.NaN()
	}
	if percentile, ranked := f.Rank(); ranked {
		r.Slot = slotOf(h, percentile)
	}
	return r
}

// slotOf returns the width of the slot of the value at a percentile, as a fraction of that value.
func slotOf(h *histogram.Histogram, percentile float64) float64 {
	if h.TotalCount() == 0 {
		return 0
	}
	value := h.ValueAtPercentile(percentile)
	at := h.Layout().IndexOf(value)
	return float64(h.Layout().HighestAt(at)-h.Layout().LowestAt(at)+1) / float64(max(value, 1))
}
