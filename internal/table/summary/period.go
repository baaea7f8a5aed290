package summary

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// A Span is when the intervals of a tag in an input began and ended, in milliseconds since the
// epoch.
type Span struct {
	Input      int
	Tag        []byte
	Start, End int64
}

// Modes are the ways to compute a period.
var Modes = []string{"covered", "sum", "intervals"}

// Period returns the period in milliseconds. The span of an input is the longest span of any tag in
// it, as in HdrLogProcessing. The period of several inputs is,
//
//   - covered: the time that the span of at least one input covers. Logs of machines that ran side
//     by side do not count several times;
//   - sum: the sum of all spans, as in HdrLogProcessing;
//   - intervals: the sum of the lengths of all intervals.
func (r *Result) Period(mode string) int64 {
	if mode == "intervals" {
		return r.Lengths
	}
	spans := r.longest()
	if mode == "covered" {
		spans = union(spans)
	}
	var period int64
	for _, s := range spans {
		period += s.End - s.Start
	}
	return period
}

// SetPeriods sets the period of all summaries.
func (r *Result) SetPeriods(mode string) {
	period := r.Period(mode)
	for _, s := range r.Summaries {
		s.Period = period
	}
}

// MostInputs returns the number of inputs that add up: the largest one of any tag.
func (r *Result) MostInputs() (most int) {
	for n, from := 0, 0; n < len(r.Spans); n++ { // those of a tag follow each other
		if !bytes.Equal(r.Spans[n].Tag, r.Spans[from].Tag) || (r.Spans[n].Tag == nil) != (r.Spans[from].Tag == nil) {
			from = n
		}
		most = max(most, n-from+1)
	}
	return most
}

// longest returns the longest span of each input, the earlier one of two that are as long.
func (r *Result) longest() []Span {
	byInput := make(map[int]Span)
	for _, s := range r.Spans {
		longest, ok := byInput[s.Input]
		length, longestLength := s.End-s.Start, longest.End-longest.Start
		if !ok || length > longestLength || length == longestLength && s.Start < longest.Start {
			byInput[s.Input] = s
		}
	}
	return slices.Collect(maps.Values(byInput))
}

// union joins spans that overlap or touch.
func union(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	var joined []Span
	for _, s := range spans {
		if n := len(joined); n > 0 && s.Start <= joined[n-1].End {
			joined[n-1].End = max(joined[n-1].End, s.End)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}
