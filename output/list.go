package output

import (
	"fmt"
	"io"
	"text/tabwriter"

	"hdrkit/hdrlog/histogram"
	"hdrkit/tags"
)

// ListTags writes the tags of summaries with their numbers of intervals and values.
func ListTags(w io.Writer, summaries []*Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "TAG\tINTERVALS\tVALUES\n")
	for _, s := range summaries {
		if s.Histogram == nil {
			return ErrNoHistogram
		}
		fmt.Fprintf(t, "%s\t%d\t%d\n", tags.Text(s.Tag), s.Intervals, s.Histogram.TotalCount())
	}
	return t.Flush()
}

// Line describes an interval in one line: its tag, its start and end in seconds since the epoch, and its histogram h. Start
// and end are in milliseconds.
func Line(tag []byte, start, end int64, h *histogram.Histogram, scale Scale) string {
	value := func(v int64) string {
		switch {
		case h.Double():
			return shortest(scale.value(h, v))
		case scale.ratio() == 1:
			return fixed(scale.value(h, v), 0)
		}
		return fixed(scale.value(h, v), h.Layout().Digits)
	}
	return fmt.Sprintf("%s (%s to %s) count=%d min=%s max=%s mean=%s 50%%=%s 99%%=%s 99.9%%=%s",
		tags.Text(tag), fixed(float64(start)/1000, 3), fixed(float64(end)/1000, 3), h.TotalCount(),
		value(h.Min()), value(h.Max()), fixed(scale.of(h.Mean()), 2),
		value(h.ValueAtPercentile(50)), value(h.ValueAtPercentile(99)), value(h.ValueAtPercentile(99.9)))
}
