package output

import (
	"fmt"
	"io"
	"text/tabwriter"

	"hdrkit/hdrlog/histogram"
	"hdrkit/tags"
)

// Tags lists the tags of summaries with how many intervals and values each has.
func Tags(w io.Writer, summaries []*Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "TAG\tINTERVALS\tVALUES\n")
	for _, s := range summaries {
		fmt.Fprintf(t, "%s\t%d\t%d\n", tags.Text(s.Tag), s.Intervals, s.Histogram.TotalCount())
	}
	return t.Flush()
}

// Interval describes an interval in a line: its tag, when it began and ended in milliseconds since the epoch, and what its
// histogram holds.
func Interval(tag []byte, start, end int64, h *histogram.Histogram, o *Options) string {
	value := func(v int64) string {
		if h.Double() {
			return shortest(o.scaled(h, v))
		}
		if o.Ratio == 1 {
			return fixed(o.scaled(h, v), 0)
		}
		return fixed(o.scaled(h, v), h.Layout().Digits)
	}
	return fmt.Sprintf("%s (%s to %s) count=%d min=%s max=%s mean=%s 50%%=%s 99%%=%s 99.9%%=%s",
		tags.Text(tag), fixed(float64(start)/1000, 3), fixed(float64(end)/1000, 3), h.TotalCount(),
		value(h.Min()), value(h.Max()), fixed(h.Mean()/o.Ratio, 2),
		value(h.ValueAtPercentile(50)), value(h.ValueAtPercentile(99)), value(h.ValueAtPercentile(99.9)))
}
