// Package output writes summaries of histograms in the formats that hdrsum has: percentiles, the percentile distribution
// known as hgrm, CSV and JSON. It knows nothing of logs: it is given a [Summary] and a writer.
//
// Values are printed divided by a unit ratio; nothing is scaled before that.
package output

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"hdrkit/hdrlog/histogram"
	"hdrkit/tags"
)

// A Summary is what all intervals of a tag add up to.
type Summary struct {
	// Tag is nil for untagged intervals, and for the sum of all.
	Tag       []byte
	Histogram *histogram.Histogram
	// Intervals is how many were added up.
	Intervals int64
	// Start and End are when the first began and the last ended, in milliseconds since the epoch.
	Start, End int64
}

// Options are how to print a summary.
type Options struct {
	// Ratio is what values are divided by.
	Ratio float64
	// Period is how long was measured, in milliseconds, for the throughput.
	Period int64
	// Percentiles are the ones that the percentiles and JSON formats print.
	Percentiles []float64
	// Ticks is the number of steps in each half of the remaining distance to 100% that HGRM prints.
	Ticks int
	// BinSize is the size of the bins of CSV, and of the first one of CSVE, in printed units.
	BinSize float64

	// Moving is set where rows have moving windows, of which MovingPercentile is shown.
	Moving           bool
	MovingPercentile float64
	// Metric is what Influx and OpenMetrics call the measurement.
	Metric string
	// Precision is the unit of time of Influx, one of [Precisions].
	Precision string
	// Buckets has OpenMetrics write a histogram instead of a summary.
	Buckets bool
}

// throughput returns values a second: what Java makes of a period of zero is infinite, or not a number.
func (o *Options) throughput(h *histogram.Histogram) float64 {
	return float64(h.TotalCount()) * 1000 / float64(o.Period)
}

// scaled returns a value of h in printed units.
func (o *Options) scaled(h *histogram.Histogram, value int64) float64 {
	return h.Float(value) / o.Ratio
}

// Percentiles writes a line for each figure, as HdrLogProcessing does. At a ratio of 1 values are whole, byte for byte as
// there; otherwise they have the decimals that HGRM gives them, since what is truncated to 0 tells nobody anything. The
// values of double histograms are printed whole, with all the decimals they have.
func Percentiles(w io.Writer, s *Summary, o *Options) error {
	h := s.Histogram
	prefix := ""
	if s.Tag != nil {
		prefix = tags.Text(s.Tag) + "."
	}
	value := func(v int64) string {
		scaled := o.scaled(h, v)
		switch {
		case h.Double():
			return shortest(scaled)
		case o.Ratio == 1:
			return strconv.FormatInt(whole(scaled), 10)
		}
		return fixed(scaled, h.Layout().Digits)
	}
	moment := func(v float64) string {
		switch {
		case h.Double():
			return shortest(v / o.Ratio)
		case o.Ratio == 1:
			return fixed(v, 2)
		}
		return fixed(v/o.Ratio, max(2, h.Layout().Digits))
	}
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%s%s=%s\n", prefix, name, value) }
	line("TotalCount", strconv.FormatInt(h.TotalCount(), 10))
	line("Period(ms)", strconv.FormatInt(o.Period, 10))
	line("Throughput(ops/sec)", fixed(o.throughput(h), 2))
	line("Min", value(h.Min()))
	line("Mean", moment(h.Mean()))
	line("StdDev", moment(h.StdDev()))
	for _, p := range o.Percentiles {
		line(percentileLabel(p)+"ptile", value(h.ValueAtPercentile(p)))
	}
	line("Max", value(h.Max()))
	_, err := io.WriteString(w, b.String())
	return err
}

// percentileLabel spells a percentile with three decimals, or more where it has more.
func percentileLabel(p float64) string {
	text := shortest(p)
	if _, decimals, _ := strings.Cut(text, "."); len(decimals) > 3 {
		return text
	}
	return fixed(p, 3)
}

// HGRM writes the percentile distribution that the reference's outputPercentileDistribution does, byte for byte.
func HGRM(w io.Writer, s *Summary, o *Options) error {
	h := s.Histogram
	digits := h.Layout().Digits
	value := func(v float64) string { return fmt.Sprintf("%12s", fixed(v, digits)) }

	var b strings.Builder
	fmt.Fprintf(&b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	for step := range h.Percentiles(o.Ticks) {
		level := step.Percentile / 100
		fmt.Fprintf(&b, "%s %s %10d", value(o.scaled(h, step.Value)), fixed(level, 12), step.TotalCount)
		if step.Percentile != 100 {
			fmt.Fprintf(&b, " %14s", fixed(1/(1-level), 2))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "#[Mean    = %s, StdDeviation   = %s]\n", value(h.Mean()/o.Ratio), value(h.StdDev()/o.Ratio))
	fmt.Fprintf(&b, "#[Max     = %s, Total count    = %12d]\n", value(o.scaled(h, h.Max())), h.TotalCount())
	fmt.Fprintf(&b, "#[Buckets = %12d, SubBuckets     = %12d]\n",
		max(h.Layout().BucketsFor(h.Max()), h.Layout().BucketsFor(2)), h.Layout().SubBuckets())
	_, err := io.WriteString(w, b.String())
	return err
}
