package output

import (
	"fmt"

	"hdrkit/hdrlog/histogram"
	"hdrkit/tags"
)

// IntervalLine returns what describes an interval in one line: its tag, its start and end in
// seconds since the epoch, and its figures. The start and end that it takes are in milliseconds.
// The histogram of the interval is not needed any more.
func IntervalLine(h *histogram.Histogram) func(tag []byte, start, end int64, scale Scale) string {
	s, double, digits := StatsOf(h, []float64{50, 99, 99.9}, false, Stats{}), h.Double(), h.Layout().Digits
	return func(tag []byte, start, end int64, scale Scale) string {
		value := func(v Value) string {
			switch {
			case double:
				return shortest(scale.of(v.float))
			case scale.ratio() == 1:
				return scale.text(v)
			}
			return fixed(scale.of(v.float), digits)
		}
		return fmt.Sprintf("%s (%s to %s) count=%d min=%s max=%s mean=%s 50%%=%s 99%%=%s 99.9%%=%s",
			tags.Text(tag), fixed(float64(start)/1000, 3), fixed(float64(end)/1000, 3), s.Count,
			value(s.Min), value(s.Max), fixed(scale.of(s.Mean), 2),
			value(s.Percentiles[0].Value), value(s.Percentiles[1].Value), value(s.Percentiles[2].Value))
	}
}
