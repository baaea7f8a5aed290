package merge

import (
	"cmp"
	"slices"
)

// Covered knows for how long the intervals of a window were recorded, to divide their values by. It
// does not need to know which log an interval is of. So it makes no difference whether a log is cut
// into several files. The order of additions makes none either. The zero value has no intervals.
type Covered struct {
	Intervals int64
	Lengths   int64  // the sum of the lengths of the intervals, in milliseconds
	Edges     []Edge // where intervals start and end; sorted up to settled
	settled   int
}

// An Edge is a time, in milliseconds since the epoch, at which Step more intervals start than end.
type Edge struct{ At, Step int64 }

// unsettled is how many edges are sorted at the end only.
const unsettled = 64

// Add adds an interval.
func (c *Covered) Add(start, end int64) {
	end = max(start, end)
	c.Intervals++
	c.Lengths += end - start
	if last := len(c.Edges) - 1; last >= 0 && c.Edges[last] == (Edge{start, -1}) { // the next one of a log
		c.Edges[last].At, c.settled = end, min(c.settled, last)
		return
	}
	c.Edges = append(c.Edges, Edge{start, 1}, Edge{end, -1})
	if len(c.Edges) > 2*c.settled+unsettled {
		c.settle()
	}
}

// Merge adds the intervals of other.
func (c *Covered) Merge(other *Covered) {
	c.Intervals, c.Lengths = c.Intervals+other.Intervals, c.Lengths+other.Lengths
	if c.Edges = append(c.Edges, other.Edges...); len(c.Edges) > 2*c.settled+unsettled {
		c.settle()
	}
}

// settle sorts the edges, and makes one of those at the same time.
func (c *Covered) settle() {
	if c.settled == len(c.Edges) {
		return
	}
	slices.SortFunc(c.Edges, func(a, b Edge) int { return cmp.Compare(a.At, b.At) })
	kept := c.Edges[:0]
	for _, e := range c.Edges {
		if last := len(kept) - 1; last >= 0 && kept[last].At == e.At {
			kept[last].Step += e.Step
		} else {
			if last >= 0 && kept[last].Step == 0 {
				kept = kept[:last]
			}
			kept = append(kept, e)
		}
	}
	c.Edges, c.settled = kept, len(kept)
}

// shortest is the part of the mean interval for which intervals overlap at least if they are of
// logs side by side. Intervals of one log overlap a little if its timer is late or early.
const shortest = 10

// Millis returns the covered time in milliseconds, the longer of
//
//   - the lengths of the intervals, divided by the greatest number of them that run at the same
//     time,
//   - span, from the first start to the last end, but at most size, that of the window.
//
// A single log has gaps in the second, and intervals that do not fit the window in the first.
func (c *Covered) Millis(span, size int64) int64 {
	most := c.sideBySide()
	return max((c.Lengths+most-1)/most, min(span, size))
}

// sideBySide returns the greatest number of intervals that run at the same time, at least 1.
func (c *Covered) sideBySide() (most int64) {
	c.settle()
	least, level := c.Lengths/max(shortest*c.Intervals, 1), int64(0)
	var running []Edge // Step intervals that began to run at At
	for _, e := range c.Edges {
		if level += e.Step; e.Step > 0 {
			running = append(running, e)
		}
		for ended := -e.Step; ended > 0 && len(running) > 0; {
			last := &running[len(running)-1]
			if e.At-last.At > least {
				most = max(most, level+ended)
			}
			n := min(ended, last.Step)
			ended -= n
			if last.Step -= n; last.Step == 0 {
				running = running[:len(running)-1]
			}
		}
	}
	return max(most, 1)
}

// Size returns about how many bytes c takes.
func (c *Covered) Size() int { return 16 * cap(c.Edges) }

// Reset empties c and keeps its memory.
func (c *Covered) Reset() { *c = Covered{Edges: c.Edges[:0]} }
