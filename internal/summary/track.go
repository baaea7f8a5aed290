package summary

import (
	"cmp"
	"iter"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/detect"
)

// A Track has the number of values and the maximum of each interval of a tag of a log. The maxima
// of all tracks have the same unit.
type Track struct {
	Input     string
	Tag       []byte
	Intervals []detect.Interval
}

// Tracks returns the tracks of all tags of all logs, in the order of inputs, then of tags. Scale
// returns how the values of a tag of an input are printed. Tracks returns nothing if the log is so
// long that intervals were merged to windows.
func (hs *Histories) Tracks(scale func(input string, tag []byte) hdrlog.Scale) (all []Track) {
	ordered, err := hs.inOrder()
	if err != nil || hs.coarse > 0 {
		return nil
	}
	hs.inUnit(scale)
	for _, h := range ordered {
		t := Track{Input: h.input, Tag: h.tag, Intervals: make([]detect.Interval, 0, len(h.pieces))}
		for _, p := range h.pieces {
			t.Intervals = append(t.Intervals, detect.Interval{Start: p.Start, End: p.End, Count: p.count, Max: p.compared()})
		}
		all = append(all, t)
	}
	return all
}

// Parts cuts the time from start on into parts of length size. It yields the index and the
// intervals of each part that is not empty.
func (t *Track) Parts(start, size int64) iter.Seq2[int, []detect.Interval] {
	return func(yield func(int, []detect.Interval) bool) {
		part := func(n int) int { return int((t.Intervals[n].Start - start) / size) }
		for from := 0; from < len(t.Intervals); {
			to := from
			for to < len(t.Intervals) && part(to) == part(from) {
				to++
			}
			if !yield(part(from), t.Intervals[from:to]) {
				return
			}
			from = to
		}
	}
}

// Together returns the intervals of tracks in the order of time.
func Together(tracks []Track) (all []detect.Interval) {
	for _, t := range tracks {
		all = append(all, t.Intervals...)
	}
	if len(tracks) > 1 {
		slices.SortStableFunc(all, func(a, b detect.Interval) int { return cmp.Compare(a.Start, b.Start) })
	}
	return all
}
