package summary

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/heap"
	"hdrkit/internal/detect"
	"hdrkit/output"
)

// A moment is a time at which the maxima of a tag were high.
type moment struct {
	output.Moment
	peak *piece    // the piece with the maximum
	in   *sequence // the sequence that has the piece
}

// A sequence has the pieces of a tag in inputs whose times do not overlap, such as the parts of a
// rotated log. Times are in milliseconds.
type sequence struct {
	pieces  []*piece
	typical float64 // lower quartile of the maxima, in the unit in which logs are compared
	bound   float64 // by chance, a maximum exceeds this bound in one of a hundred logs
	end     int64   // the end of the last piece, since the epoch
	longest int64   // the length of the longest piece
}

// bad is the least ratio of a maximum to the typical one for a log to be called bad at the same
// time.
const bad = 2

// Worst returns the highest separate moments, at most a number, the highest first. The first moment
// has the maximum of all intervals. Scale returns how the values of a tag of an input are printed.
//
// A moment is the highest interval that belongs to no moment yet, with its neighbours as long as
// these are above the geometric mean of its maximum and the typical maximum. The typical maximum is
// the lower quartile of the maxima in one log. Inputs whose times do not overlap are one log. If
// moments of several logs have most of their time in common, only the highest one is returned. It
// says how many other logs and tags were bad at the same time.
func (hs *Histories) Worst(most int, scale func(input string, tag []byte) hdrlog.Scale) ([]output.Moment, error) {
	ordered, err := hs.inOrder()
	if err != nil {
		return nil, err
	}
	hs.inUnit(scale)
	var all []*sequence
	for _, ofTag := range byTag(ordered) {
		all = append(all, hs.sequences(ofTag)...)
	}
	for _, s := range all {
		s.setTypical()
	}
	found := hs.highest(all, most, scale)
	var moments []output.Moment
	for n := range found {
		found[n].findOthers(all, hs.length)
		found[n].Bound = found[n].in.bound / found[n].Scale.Factor()
		moments = append(moments, found[n].Moment)
	}
	return moments, nil
}

// highest returns the highest moments of all sequences, at most a number. Since moments of several
// sequences at the same time become one, it asks each sequence for this number of moments. It asks
// for twice as many if a moment that a sequence has not returned can be higher than the last one.
func (hs *Histories) highest(all []*sequence, most int, scale func(input string, tag []byte) hdrlog.Scale) []moment {
	for each := most; ; each *= 2 {
		var found []moment
		left := 0.0 // no moment that a sequence has not returned is higher
		for _, s := range all {
			moments, more := s.moments(each, hs.length)
			for n := range moments {
				m := &moments[n]
				m.Input = m.peak.history.input
				m.Tag = m.peak.history.tag
				m.Peak = m.peak.peak
				m.Max = output.Number(m.peak.highest)
				m.Scale = scale(m.Input, m.Tag)
			}
			if more {
				left = max(left, moments[len(moments)-1].compared())
			}
			found = append(found, moments...)
		}
		slices.SortStableFunc(found, func(a, b moment) int {
			return cmp.Or(cmp.Compare(b.compared(), a.compared()), cmp.Compare(a.Start, b.Start))
		})
		found = separate(found, most)
		if left == 0 || len(found) == most && found[most-1].compared() >= left {
			return found
		}
	}
}

// compared returns the maximum in the unit in which tags are compared.
func (m *moment) compared() float64 { return float64(m.Max) * m.Scale.Factor() }

// sequences returns the sequences of a tag, given the histories of the tag. A history continues the
// sequence that ended last before it begins. The two may overlap by half an interval.
func (hs *Histories) sequences(ofTag []*history) (all []*sequence) {
	byStart := func(a, b *history) int { return cmp.Compare(a.pieces[0].Start, b.pieces[0].Start) }
	for _, h := range slices.SortedStableFunc(slices.Values(ofTag), byStart) {
		var before *sequence
		for _, s := range all {
			if s.end <= h.pieces[0].Start+hs.length/2 && (before == nil || s.end > before.end) {
				before = s
			}
		}
		if before == nil {
			before = &sequence{end: math.MinInt64}
			all = append(all, before)
		}
		before.pieces = append(before.pieces, h.pieces...)
		for _, piece := range h.pieces {
			before.end = max(before.end, piece.End)
			before.longest = max(before.longest, piece.End-piece.Start)
		}
	}
	return all
}

// setTypical sets the typical maximum of a sequence and the bound of its maxima.
func (s *sequence) setTypical() {
	maxima := make([]float64, 0, len(s.pieces))
	for _, p := range s.pieces {
		if p.highest > 0 {
			maxima = append(maxima, p.compared())
		}
	}
	if len(maxima) == 0 {
		return
	}
	slices.Sort(maxima)
	s.typical = maxima[len(maxima)/4]
	s.bound = detect.Bound(maxima)
}

// moments returns up to most moments of a sequence, the highest first, and whether there are more.
// Pieces with a gap of more than length milliseconds between them are no part of one moment.
func (s *sequence) moments(most int, length int64) (all []moment, more bool) {
	var indices []int // of pieces with values
	for n, w := range s.pieces {
		if w.compared() > 0 {
			indices = append(indices, n)
		}
	}
	// A heap avoids sorting all pieces, since mostly few moments are wanted.
	left := heap.Of(indices, func(a, b int) bool {
		if x, y := s.pieces[a].compared(), s.pieces[b].compared(); x != y {
			return x > y
		}
		return a < b
	})
	taken := make([]bool, len(s.pieces))
	for left.Len() > 0 {
		at := left.Pop()
		if taken[at] {
			continue
		}
		if len(all) == most {
			return all, true
		}
		from, to := s.reach(taken, at, -1, length), s.reach(taken, at, 1, length)
		for n := from; n <= to; n++ {
			taken[n] = true
		}
		all = append(all, s.momentOf(from, at, to))
	}
	return all, false
}

// momentOf returns the moment that consists of the pieces from index from to index to, given the
// index of the highest piece.
func (s *sequence) momentOf(from, highest, to int) moment {
	peak := s.pieces[highest]
	m := moment{
		Moment: output.Moment{
			Start: s.pieces[from].Start,
			End:   peak.End,
			Times: output.Number(peak.compared() / s.typical),
		},
		peak: peak,
		in:   s,
	}
	for _, p := range s.pieces[from : to+1] {
		m.End = max(m.End, p.End)
	}
	return m
}

// reach returns the index of the last piece of a moment in one direction, given the index of the
// highest piece. Step is the direction, -1 or 1. Taken marks the pieces of other moments, nil if
// there are none.
func (s *sequence) reach(taken []bool, at, step int, length int64) int {
	highest := s.pieces[at].compared()
	limit := math.Sqrt(highest * min(s.typical, highest))
	last := at
	for n := at + step; n >= 0 && n < len(s.pieces) && (taken == nil || !taken[n]); n += step {
		before, after := s.pieces[min(n, n-step)], s.pieces[max(n, n-step)]
		if after.Start-before.End > length || s.pieces[n].compared() <= limit {
			break
		}
		last = n
	}
	return last
}

// separate returns the first moments of a sorted list, at most a number. It leaves out moments at
// the same time as a moment of another sequence that it has returned.
func separate(sorted []moment, most int) (all []moment) {
	for _, m := range sorted {
		if len(all) == most {
			break
		}
		known := func(o moment) bool { return o.in != m.in && sameTime(m.span(), o.span()) }
		if !slices.ContainsFunc(all, known) {
			all = append(all, m)
		}
	}
	return all
}

// span returns when the moment starts and ends.
func (m *moment) span() merge.Span { return merge.Span{Start: m.Start, End: m.End} }

// sameTime reports whether two spans have most of their time in common.
func sameTime(a, b merge.Span) bool {
	both := min(a.End, b.End) - max(a.Start, b.Start)
	return 2*both > max(a.End, b.End)-min(a.Start, b.Start)
}

// findOthers counts the other sequences that were bad at the same time. It looks at all their
// pieces, since the moments that were asked for are only the highest ones.
func (m *moment) findOthers(all []*sequence, length int64) {
	inputs := make(map[string]bool)
	for _, s := range all {
		if s == m.in {
			continue
		}
		at := s.highestDuring(&m.Moment)
		if at < 0 || !(s.pieces[at].compared() > bad*s.typical) {
			continue
		}
		other := s.momentContaining(at, length)
		if !sameTime(m.span(), other.span()) {
			continue
		}
		m.Others++
		if input := other.peak.history.input; input == m.Input {
			m.OtherTags++
		} else {
			inputs[input] = true
		}
	}
	m.OtherInputs = len(inputs)
}

// highestDuring returns the index of the highest piece that overlaps a moment, -1 if there is none.
func (s *sequence) highestDuring(m *output.Moment) int {
	order := func(p *piece, start int64) int { return cmp.Compare(p.Start, start) }
	first, _ := slices.BinarySearchFunc(s.pieces, m.Start-s.longest, order)
	highest := -1
	for n := first; n < len(s.pieces) && s.pieces[n].Start < m.End; n++ {
		if s.pieces[n].End <= m.Start {
			continue
		}
		if highest < 0 || s.pieces[n].compared() > s.pieces[highest].compared() {
			highest = n
		}
	}
	return highest
}

// momentContaining returns the moment that contains the piece with an index. Its peak is the
// highest piece that can be reached from there.
func (s *sequence) momentContaining(at int, length int64) moment {
	for {
		from, to := s.reach(nil, at, -1, length), s.reach(nil, at, 1, length)
		highest := at
		for n := from; n <= to; n++ {
			if s.pieces[n].compared() > s.pieces[highest].compared() {
				highest = n
			}
		}
		if highest == at {
			return s.momentOf(from, at, to)
		}
		at = highest
	}
}
