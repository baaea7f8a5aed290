package summary

import (
	"cmp"
	"maps"
	"slices"

	"hdrkit/hdrlog/merge"
)

// Modes are the ways to compute a period.
var Modes = []string{"covered", "sum", "intervals"}

// Period returns the period of all rows in milliseconds.
//
//   - covered: the time in which at least one input ran, from its first interval of any tag, chosen
//     or not, to its last one. Logs of machines that ran side by side do not count several times;
//   - sum: the sum of the longest spans of any tag in each input, as in HdrLogProcessing;
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

// spans returns when the intervals of each row in each input began and ended.
func (r *Result) spans() (all []merge.InputSpan) {
	for _, row := range r.sums {
		all = append(all, row.Spans.All...)
	}
	return all
}

// Ran returns when at least one input that has a row ran, from its first interval of any tag to the
// last one: times that are apart from one another, in order.
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

// SetPeriods sets the period of all summaries. In the mode covered, that of a row is the time in
// which its inputs ran. This is the rule of rates over time, see [merge.Rates]. In the other modes
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

// SetReferencePeriods sets the period of tags in the mode covered to what HdrLogProcessing takes it
// for: the same for all tags, and as if an input ran for the longest span of any tag in it. Nothing
// but output that equals that of HdrLogProcessing should use it.
func (r *Result) SetReferencePeriods(mode string) {
	if mode != "covered" || r.by != nil {
		return
	}
	period := merge.Covered(slices.Collect(maps.Values(longest(r.spans()))))
	for _, s := range r.Summaries {
		s.Period = period
	}
}

// MostInputs returns the number of inputs that add up: the largest one of any tag.
func (r *Result) MostInputs() (most int) {
	for _, s := range r.sums {
		most = max(most, len(s.Spans.All))
	}
	return min(most, r.inputs)
}

// longest returns the longest span of each input, the earlier one of two that are as long.
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
