package summary

import (
	"cmp"
	"slices"
)

// A Gap is a time without values between intervals that have some.
type Gap struct {
	// Start and End are milliseconds since the epoch.
	Start, End int64
	// Tags and Inputs have it, each once, in their order.
	Tags   [][]byte
	Inputs []string
}

// Rules of what is a gap.
const (
	gapIntervals = 5  // a gap is longer than so many intervals
	gapTimes     = 3  // and so many times as long as the longest other gap of its tag
	gapLeast     = 20 // intervals with values, from which on a gap is more than chance
)

// Gaps returns the times without values, the longest first: where intervals are empty or missing
// between others. Gaps of tags and logs that have more than half of their time in common are one.
// It finds nothing if the log is so long that windows took the place of intervals.
func (hs *Histories) Gaps() (all []Gap) {
	parts, err := hs.inOrder()
	if err != nil || hs.coarse > 0 {
		return nil
	}
	for _, h := range parts {
		start, end, ok := h.gap()
		if !ok {
			continue
		}
		n := slices.IndexFunc(all, func(g Gap) bool {
			return 2*(min(g.End, end)-max(g.Start, start)) > max(g.End, end)-min(g.Start, start)
		})
		if n < 0 {
			n = len(all)
			all = append(all, Gap{Start: start, End: end})
		}
		g := &all[n]
		// What all have in common has no values.
		g.Start = max(g.Start, start)
		g.End = min(g.End, end)
		if !slices.ContainsFunc(g.Tags, func(tag []byte) bool { return string(tag) == string(h.tag) && (tag == nil) == (h.tag == nil) }) {
			g.Tags = append(g.Tags, h.tag)
		}
		if !slices.Contains(g.Inputs, h.input) {
			g.Inputs = append(g.Inputs, h.input)
		}
	}
	slices.SortStableFunc(all, func(a, b Gap) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	return all
}

// gap returns the longest time without values of a history whose pieces are in order, if that is
// much longer than the others.
func (h *history) gap() (start, end int64, ok bool) {
	var lengths []int64
	longest, second := int64(0), int64(0)
	last := int64(0) // the end of the last interval with values
	for _, p := range h.pieces {
		if p.count == 0 {
			continue
		}
		if length := p.Start - last; len(lengths) > 0 && length > 0 {
			switch {
			case length > longest:
				longest, second = length, longest
				start, end = last, p.Start
			case length > second:
				second = length
			}
		}
		last = max(last, p.End)
		lengths = append(lengths, p.End-p.Start)
	}
	if len(lengths) < gapLeast {
		return 0, 0, false
	}
	slices.Sort(lengths)
	usual := lengths[len(lengths)/2]
	return start, end, longest > gapIntervals*usual && longest > gapTimes*second
}
