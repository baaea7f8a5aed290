package report

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/internal/base/people"
	"hdrkit/output"
)

// oneSideFirst reports whether several runs have dates, and all of one side began before those of
// the other side.
func (c *Change) oneSideFirst() bool {
	if len(c.Before) < 2 || len(c.After) < 2 {
		return false
	}
	byStart := func(a, b *output.Summary) int { return cmp.Compare(a.Start, b.Start) }
	firstBefore, lastBefore := slices.MinFunc(c.Before, byStart), slices.MaxFunc(c.Before, byStart)
	firstAfter, lastAfter := slices.MinFunc(c.After, byStart), slices.MaxFunc(c.After, byStart)
	if !people.Dated(firstBefore.Start) || !people.Dated(firstAfter.Start) {
		return false
	}
	return lastBefore.Start < firstAfter.Start || lastAfter.Start < firstBefore.Start
}

// turnsOf returns the place of each run in the order of time, if the sides took turns, and each run
// began after the one before it had ended. Otherwise it returns nil.
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

// timesDrift is how many times the range of the runs of a side a change must have, so that nobody
// takes a drift for it.
const timesDrift = 3

// exceedsDrift reports whether a change is far larger than what the runs of a side differ by.
func (c *tested) exceedsDrift() bool {
	widest := 0.0
	for _, runs := range [][]*output.Summary{c.Change.Before, c.Change.After} {
		lowest, highest := math.Inf(1), 0.0
		for _, s := range runs {
			value := RunFigureOf(s, c.Figure).Value
			lowest = min(lowest, value)
			highest = max(highest, value)
		}
		widest = max(widest, math.Log(highest/lowest))
	}
	return math.Abs(math.Log(c.Ratio)) > timesDrift*widest
}
