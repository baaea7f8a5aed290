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
		if s.Counts() == nil {
			return ErrNoHistogram
		}
		fmt.Fprintf(t, "%s\t%d\t%d\n", s.Name(), s.Intervals, s.Counts().TotalCount())
	}
	return t.Flush()
}

// IntervalFigures are the figures of an interval that a line shows.
type IntervalFigures struct {
	stats  Stats
	double bool
	digits int
}

// FiguresOf returns the figures of the histogram of an interval.
func FiguresOf(h *histogram.Histogram) IntervalFigures {
	return IntervalFigures{StatsOf(h, []float64{50, 99, 99.9}, false, Stats{}), h.Double(), h.Layout().Digits}
}

// Line describes an interval in one line: its tag, its start and end in seconds since the epoch,
// and its figures. Start and end are in milliseconds.
func (f *IntervalFigures) Line(tag []byte, start, end int64, scale Scale) string {
	value := func(v Value) string {
		switch {
		case f.double:
			return shortest(scale.of(v.float))
		case scale.ratio() == 1:
			return scale.text(v)
		}
		return fixed(scale.of(v.float), f.digits)
	}
	s := &f.stats
	return fmt.Sprintf("%s (%s to %s) count=%d min=%s max=%s mean=%s 50%%=%s 99%%=%s 99.9%%=%s",
		tags.Text(tag), fixed(float64(start)/1000, 3), fixed(float64(end)/1000, 3), s.Count,
		value(s.Min), value(s.Max), fixed(scale.of(s.Mean), 2),
		value(s.Percentiles[0].Value), value(s.Percentiles[1].Value), value(s.Percentiles[2].Value))
}
