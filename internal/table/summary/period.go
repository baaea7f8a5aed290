package summary

import (
	"cmp"
	"maps"
	"slices"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/flow"
)

// Modes are the ways to compute a period.
var Modes = []string{"covered", "sum", "intervals"}

// Period returns the period of all tags in milliseconds. An input ran for the longest span of any
// tag in it, as in HdrLogProcessing. The period of several inputs is,
//
//   - covered: the time in which at least one input ran. Logs of machines that ran side by side do
//     not count several times;
//   - sum: the sum of all these spans, as in HdrLogProcessing;
//   - intervals: the sum of the lengths of all intervals.
func (r *Result) Period(mode string) int64 {
	if mode == "intervals" {
		return r.Lengths
	}
	if mode == "covered" {
		return Covered(r.spans())
	}
	var period int64
	for _, s := range longest(r.spans()) {
		period += s.End - s.Start
	}
	return period
}

// Covered returns the period of rows with some spans in the mode covered, in milliseconds.
func Covered(spans []flow.Span) int64 {
	return merge.Covered(slices.Collect(maps.Values(longest(spans))))
}

// spans returns when the intervals of each row in each input began and ended.
func (r *Result) spans() (all []flow.Span) {
	for _, row := range r.sums {
		all = append(all, row.Spans...)
	}
	return all
}

// Ran returns when at least one input ran, from its first interval of any tag to the last one:
// times that are apart from one another, in order.
func (r *Result) Ran() (all []merge.Span) {
	var rates merge.Rates
	inputs := make(map[int]merge.Span)
	for _, s := range r.spans() {
		rates.Ran(s.Input, s.Start, s.End)
		inputs[s.Input], _ = rates.Input(s.Input)
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

// SetPeriods sets the period of all summaries. In the mode covered, rows that -by makes have the
// period of their inputs. Rows of tags have that of all inputs, as in HdrLogProcessing.
func (r *Result) SetPeriods(mode string) {
	period, ran := r.Period(mode), longest(r.spans())
	for n, s := range r.Summaries {
		s.Period = period
		if mode == "covered" && r.by != nil {
			var ofRow []merge.Span
			for _, span := range r.sums[n].Spans {
				ofRow = append(ofRow, ran[span.Input])
			}
			s.Period = merge.Covered(ofRow)
		}
	}
}

// MostInputs returns the number of inputs that add up: the largest one of any tag.
func (r *Result) MostInputs() (most int) {
	for _, s := range r.sums {
		most = max(most, len(s.Spans))
	}
	return most
}

// longest returns the longest span of each input, the earlier one of two that are as long.
func longest(spans []flow.Span) map[int]merge.Span {
	byInput := make(map[int]merge.Span)
	for _, s := range spans {
		longest, ok := byInput[s.Input]
		length, longestLength := s.End-s.Start, longest.End-longest.Start
		if !ok || length > longestLength || length == longestLength && s.Start < longest.Start {
			byInput[s.Input] = merge.Span{Start: s.Start, End: s.End}
		}
	}
	return byInput
}
