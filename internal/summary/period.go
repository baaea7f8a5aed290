package summary

import (
	"cmp"
	"maps"
	"slices"

	"hdrkit/hdrlog/merge"
)

// Modes are the names of the ways to compute a period, see [Result.Period].
var Modes = []string{"covered", "sum", "intervals"}

// Period returns the period of all rows in milliseconds.
//
//   - covered: the time in which at least one input ran. An input runs from its first interval to
//     its last one, of any tag, chosen or not. Machines that ran at the same time count once;
//   - sum: the longest span of a tag in each input, added up over inputs, as in HdrLogProcessing;
//   - intervals: the sum of the lengths of all intervals.
func (r *Result) Period(mode string) int64 {
	switch mode {
	case "intervals":
		return r.Lengths
	case "covered":
		var covered int64
		for _, span := range r.Ran() {
			covered += span.End - span.Start
		}
		return covered
	}
	var period int64
	for _, s := range longest(r.spans()) {
		period += s.End - s.Start
	}
	return period
}

// spans returns the time from the first to the last interval of each row in each input.
func (r *Result) spans() (all []merge.InputSpan) {
	for _, row := range r.sums {
		all = append(all, row.Spans.All...)
	}
	return all
}

// Ran returns the times in which at least one input that has a row ran, in order. They do not
// overlap. An input runs from its first interval to its last one, of any tag.
func (r *Result) Ran() (all []merge.Span) {
	inputs := make(map[int]merge.Span)
	for _, s := range r.spans() {
		inputs[s.Input] = r.ran[s.Input]
	}
	byStart := func(a, b merge.Span) int { return cmp.Compare(a.Start, b.Start) }
	for _, w := range slices.SortedFunc(maps.Values(inputs), byStart) {
		if n := len(all) - 1; n >= 0 && w.Start <= all[n].End {
			all[n].End = max(all[n].End, w.End)
		} else {
			all = append(all, w)
		}
	}
	return all
}

// SetPeriods sets the period of all summaries. In the mode covered, the period of a row is the time
// in which the inputs of the row ran, as for rates over time, see [merge.Rates]. In the other modes
// all rows have the same period.
func (r *Result) SetPeriods(mode string) {
	if mode != "covered" {
		period := r.Period(mode)
		for _, s := range r.Summaries {
			s.Period = period
		}
		return
	}
	var ran []merge.Span
	for n, s := range r.Summaries {
		ran = ran[:0]
		for _, span := range r.sums[n].Spans.All {
			ran = append(ran, r.ran[span.Input])
		}
		s.Period = merge.Covered(ran)
	}
}

// SetReferencePeriods sets the period in the mode covered as HdrLogProcessing computes it: one
// period for all tags, as if an input ran for the longest span of a tag in it. It is for output
// that must equal the output of HdrLogProcessing.
func (r *Result) SetReferencePeriods(mode string) {
	if mode != "covered" || r.by != nil {
		return
	}
	period := merge.Covered(slices.Collect(maps.Values(longest(r.spans()))))
	for _, s := range r.Summaries {
		s.Period = period
	}
}

// MaxInputs returns the largest number of inputs that one row adds up.
func (r *Result) MaxInputs() (most int) {
	for _, s := range r.sums {
		most = max(most, len(s.Spans.All))
	}
	return min(most, len(r.read))
}

// longest returns the longest span of each input, by the number of the input. Of equally long spans
// it returns the first one.
func longest(spans []merge.InputSpan) map[int]merge.Span {
	byInput := make(map[int]merge.Span)
	for _, s := range spans {
		longest, ok := byInput[s.Input]
		length, longestLength := s.End-s.Start, longest.End-longest.Start
		if !ok || length > longestLength || length == longestLength && s.Start < longest.Start {
			byInput[s.Input] = s.Span
		}
	}
	return byInput
}
