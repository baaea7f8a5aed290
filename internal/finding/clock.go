package finding

import (
	"fmt"
	"math"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/people"
	"hdrkit/output"
)

// disjoint finds logs that do not overlap at all. The clock of one of them may be wrong.
func (a *analysis) disjoint() []output.Finding {
	names, spans := a.apart.names, a.apart.spans
	if names == nil {
		return a.offClock()
	}
	last := len(spans) - 1
	between := spans[1].Start - spans[0].End
	logs, pair := "The "+people.Counted(int64(len(names)), "log"), "the first two"
	if last == 1 {
		logs, pair = a.say.label(names[0])+" and "+a.say.label(names[1]), "them"
	}
	f := output.Finding{
		Weight:  output.Notes,
		Start:   &spans[0].Start,
		End:     &spans[last].End,
		Figures: map[string]output.Number{"betweenMs": output.Number(between)},
	}
	if !people.Dated(spans[0].Start) && people.Dated(spans[last].Start) {
		f.Weight = output.Warns
		f.Sentence = fmt.Sprintf("%s has no dates: its times count from 0, and those of the other logs do not.",
			a.say.label(names[0]))
		return []output.Finding{f}
	}
	f.Sentence = fmt.Sprintf("%s do not overlap: %s lies between %s. If they ran together, a clock is off.",
		logs, people.Length(between), pair)
	return []output.Finding{f}
}

// clockStep is a quarter of an hour in milliseconds. Time zones differ by multiples of it, so
// clocks that are wrong often do, too.
const clockStep = 15 * 60 * 1000

// offClock finds a log whose clock is wrong by a number of quarters of an hour. The log does not
// overlap the other logs, but would run together with all of them if its times moved.
func (a *analysis) offClock() []output.Finding {
	spans := a.spans()
	if len(spans) < MinLogs {
		return nil
	}
	for input, s := range spans {
		off := clockOff(input, spans)
		if off == 0 {
			continue
		}
		behind := "ahead"
		if off < 0 {
			behind = "behind"
		}
		start, end := s.Start, s.End
		return []output.Finding{{
			Weight:  output.Warns,
			Input:   input,
			Start:   &start,
			End:     &end,
			Figures: map[string]output.Number{"offMs": output.Number(off)},
			Sentence: fmt.Sprintf("The clock of %s looks to be %s %s: it does not overlap the other %d, which ran together.",
				a.say.label(input), people.Length(max(off, -off)), behind, len(spans)-1),
		}}
	}
	return nil
}

// clockOff returns by how many milliseconds the clock of a log is ahead, a multiple of a quarter of
// an hour. It returns 0 if the log overlaps another one, or if it would not run together with all
// other logs. Spans say when each log ran.
func clockOff(input string, spans map[string]merge.Span) (off int64) {
	s := spans[input]
	for other, o := range spans {
		if other == input {
			continue
		}
		if off == 0 {
			off = int64(math.Round(float64(s.Start-o.Start)/clockStep)) * clockStep
		}
		moved := merge.Span{Start: s.Start - off, End: s.End - off}
		if off == 0 || overlaps(s, o, 0) || !overlaps(moved, o, minCommon) {
			return 0
		}
	}
	return off
}

// minCommon is the least overlap of two logs that ran together, as a part of the longer log.
const minCommon = 0.8

// overlaps reports whether the overlap of two spans is more than a part of the longer span.
func overlaps(a, b merge.Span, part float64) bool {
	both := min(a.End, b.End) - max(a.Start, b.Start)
	return float64(both) > part*float64(max(a.End-a.Start, b.End-b.Start))
}

// spans returns when each log ran.
func (a *analysis) spans() map[string]merge.Span {
	spans := make(map[string]merge.Span)
	for _, t := range a.tracks {
		for _, i := range t.Intervals {
			s, known := spans[t.Input]
			if !known {
				s = merge.Span{Start: i.Start, End: i.End}
			}
			spans[t.Input] = merge.Span{Start: min(s.Start, i.Start), End: max(s.End, i.End)}
		}
	}
	return spans
}
