package summary

import (
	"cmp"
	"slices"

	"hdrkit/hdrlog/merge"
	"hdrkit/tags"
)

// A Gap is a time without values between intervals that have some.
type Gap struct {
	// Start and End are milliseconds since the epoch.
	Start, End int64
	// Tags and Inputs have no values during the gap. Each is listed once, in order.
	Tags   [][]byte
	Inputs []string
}

// Rules for gaps.
const (
	gapIntervals = 5  // a gap is longer than this number of intervals
	gapTimes     = 3  // and this many times as long as the longest pause that is no gap
	gapMost      = 3  // a tag with more gaps is one that is seldom used, and has none
	gapLeast     = 20 // least number of intervals with values of a tag that has gaps
)

// Gaps returns the times at which intervals are empty or missing between others, the longest first.
// It joins gaps of several tags and logs that have more than half of their time in common. It finds
// nothing if the log is so long that intervals were merged to windows.
func (hs *Histories) Gaps() (all []Gap) {
	ordered, err := hs.inOrder()
	if err != nil || hs.coarse > 0 {
		return nil
	}
	for _, h := range ordered {
		for _, gap := range h.gaps() {
			all = addGap(all, h, gap)
		}
	}
	slices.SortStableFunc(all, func(a, b Gap) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	return all
}

// addGap adds a gap of a history to all gaps. It joins gaps of several histories at the same time.
func addGap(all []Gap, h *history, gap merge.Span) []Gap {
	n := slices.IndexFunc(all, func(g Gap) bool { return sameTime(merge.Span{Start: g.Start, End: g.End}, gap) })
	if n < 0 {
		n = len(all)
		all = append(all, Gap{Start: gap.Start, End: gap.End})
	}
	g := &all[n]
	// All of these tags and inputs have no values in the time that their gaps have in common.
	g.Start = max(g.Start, gap.Start)
	g.End = min(g.End, gap.End)
	if !slices.ContainsFunc(g.Tags, func(tag []byte) bool { return tags.Compare(tag, h.tag) == 0 }) {
		g.Tags = append(g.Tags, h.tag)
	}
	if !slices.Contains(g.Inputs, h.input) {
		g.Inputs = append(g.Inputs, h.input)
	}
	return all
}

// gaps returns the longest pauses of a history, if they are much longer than its other pauses. The
// pieces of the history must be in the order of time.
func (h *history) gaps() []merge.Span {
	var pauses []merge.Span
	var lengths []int64
	last := int64(0) // the end of the last interval with values
	for _, p := range h.pieces {
		if p.count == 0 {
			continue
		}
		if len(lengths) > 0 && p.Start > last {
			pauses = append(pauses, merge.Span{Start: last, End: p.Start})
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
	slices.SortStableFunc(pauses, func(a, b merge.Span) int { return cmp.Compare(length(b), length(a)) })
	for n := min(gapMost, len(pauses)); n > 0; n-- {
		longest := int64(0) // length of the longest pause that is no gap
		if n < len(pauses) {
			longest = length(pauses[n])
		}
		if least := length(pauses[n-1]); least > gapIntervals*usual && least > gapTimes*longest {
			return pauses[:n]
		}
	}
	return nil
}
