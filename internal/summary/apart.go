package summary

import (
	"cmp"
	"slices"

	"hdrkit/hdrlog/merge"
)

// apartIntervals is the least time between separate logs, in intervals. The parts of a rotated log
// have no such time between them.
const apartIntervals = 10

// Apart returns the names of inputs and when each of them ran, in the order of their starts, if no
// two inputs overlap and much time lies between them. Otherwise it returns nil.
func (hs *Histories) Apart() (names []string, spans []merge.Span) {
	ordered, err := hs.inOrder()
	if err != nil {
		return nil, nil
	}
	type run struct {
		name string
		merge.Span
	}
	var runs []run
	for _, h := range ordered {
		if len(h.pieces) == 0 {
			continue
		}
		ran := run{h.input, merge.Span{Start: h.pieces[0].Start, End: h.pieces[0].End}}
		for _, p := range h.pieces {
			ran.End = max(ran.End, p.End)
		}
		if last := len(runs) - 1; last >= 0 && runs[last].name == ran.name {
			runs[last].Start = min(runs[last].Start, ran.Start)
			runs[last].End = max(runs[last].End, ran.End)
			continue
		}
		runs = append(runs, ran)
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.Start, b.Start) })
	for n, r := range runs {
		if n > 0 && r.Start-runs[n-1].End <= apartIntervals*hs.length {
			return nil, nil
		}
		names = append(names, r.name)
		spans = append(spans, r.Span)
	}
	if len(names) < 2 {
		return nil, nil
	}
	return names, spans
}
