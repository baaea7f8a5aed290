package summary

import (
	"cmp"
	"slices"

	"hdrkit/hdrlog/merge"
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
	gapTimes     = 3  // and so many times as long as the longest time without values that is none
	gapMost      = 3  // a tag has at most so many: more are how it is used
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
		for _, gap := range h.gaps() {
			all = addGap(all, h, gap)
		}
	}
	slices.SortStableFunc(all, func(a, b Gap) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	return all
}

// addGap adds a gap of a history to those that others have.
func addGap(all []Gap, h *history, gap merge.Span) []Gap {
	n := slices.IndexFunc(all, func(g Gap) bool {
		common := min(g.End, gap.End) - max(g.Start, gap.Start)
		return 2*common > max(g.End, gap.End)-min(g.Start, gap.Start)
	})
	if n < 0 {
		n = len(all)
		all = append(all, Gap{Start: gap.Start, End: gap.End})
	}
	g := &all[n]
	// What all have in common has no values.
	g.Start = max(g.Start, gap.Start)
	g.End = min(g.End, gap.End)
	if !slices.ContainsFunc(g.Tags, func(tag []byte) bool { return string(tag) == string(h.tag) && (tag == nil) == (h.tag == nil) }) {
		g.Tags = append(g.Tags, h.tag)
	}
	if !slices.Contains(g.Inputs, h.input) {
		g.Inputs = append(g.Inputs, h.input)
	}
	return all
}

// gaps returns the longest times without values of a history whose pieces are in order, if these
// are much longer than the others.
func (h *history) gaps() []merge.Span {
	var without []merge.Span
	var lengths []int64
	last := int64(0) // the end of the last interval with values
	for _, p := range h.pieces {
		if p.count == 0 {
			continue
		}
		if len(lengths) > 0 && p.Start > last {
			without = append(without, merge.Span{Start: last, End: p.Start})
		}
		last = max(last, p.End)
		lengths = append(lengths, p.End-p.Start)
	}
	if len(lengths) < gapLeast {
		return nil
	}
	slices.Sort(lengths)
	usual := lengths[len(lengths)/2]
	length := func(s merge.Span) int64 { return s.End - s.Start }
	slices.SortStableFunc(without, func(a, b merge.Span) int { return cmp.Compare(length(b), length(a)) })
	for n := min(gapMost, len(without)); n > 0; n-- {
		longest := int64(0) // of those that are no gaps
		if n < len(without) {
			longest = length(without[n])
		}
		if least := length(without[n-1]); least > gapIntervals*usual && least > gapTimes*longest {
			return without[:n]
		}
	}
	return nil
}
