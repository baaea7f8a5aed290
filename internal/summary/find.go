package summary

import (
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/output"
	"hdrkit/tags"
)

// Find returns the summary of a tag, nil if there is none. Summaries must be in the order of tags.
func Find(summaries []*output.Summary, tag []byte) *output.Summary {
	if n, ok := search(summaries, tag); ok {
		return summaries[n]
	}
	return nil
}

// search returns the index of the summary of a tag, and whether there is one.
func search(summaries []*output.Summary, tag []byte) (n int, ok bool) {
	byTag := func(s *output.Summary, tag []byte) int { return tags.Compare(s.Tag, tag) }
	return slices.BinarySearchFunc(summaries, tag, byTag)
}

// Scales returns a function that returns the scale of the row of a tag of an input. Rows must not
// be phases.
func Scales(summaries []*output.Summary, by *tags.By) func(input string, tag []byte) hdrlog.Scale {
	return func(input string, tag []byte) hdrlog.Scale {
		if s := Find(summaries, by.Row(input, tag)); s != nil {
			return s.Scale
		}
		return hdrlog.Scale{}
	}
}
