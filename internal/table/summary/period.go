package summary

import (
	"bytes"
	"maps"
	"slices"

	"hdrkit/hdrlog/merge"
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
		return merge.Covered(slices.Collect(maps.Values(r.longest())))
	}
	var period int64
	for _, s := range r.longest() {
		period += s.End - s.Start
	}
	return period
}

// SetPeriods sets the period of all summaries. Rows of inputs have the period of these inputs in
// the mode covered. Other rows have that of all, as in HdrLogProcessing.
func (r *Result) SetPeriods(mode string) {
	period, ran := r.Period(mode), r.longest()
	byTag := make(map[string][]merge.Window)
	for _, s := range r.Spans {
		key := string(merge.AppendKey(nil, s.Tag))
		byTag[key] = append(byTag[key], ran[s.Input])
	}
	for _, s := range r.Summaries {
		if s.Period = period; mode == "covered" && r.by.Inputs() {
			s.Period = merge.Covered(byTag[string(merge.AppendKey(nil, s.Tag))])
		}
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
func (r *Result) longest() map[int]merge.Window {
	byInput := make(map[int]merge.Window)
	for _, s := range r.Spans {
		longest, ok := byInput[s.Input]
		length, longestLength := s.End-s.Start, longest.End-longest.Start
		if !ok || length > longestLength || length == longestLength && s.Start < longest.Start {
			byInput[s.Input] = merge.Window{Start: s.Start, End: s.End}
		}
	}
	return byInput
}
