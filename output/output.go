// Package output writes summaries and time series of histograms for programs, in the formats of
// hdrsum: percentiles, the percentile distribution known as hgrm, CSV, JSON, InfluxDB line protocol
// and OpenMetrics.
//
// The package does not read logs. A caller passes a [Summary] for each tag, or a [Row] for each
// point of a time series. Values are in the unit of the log. A [hdrlog.Scale] converts them when
// they are printed.
//
// [ReadDocument] reads the JSON of hdrsum and hdrdiff, a [Document]. It can have a [Finding], a
// [Moment], a [Share] and a [Breach], which hdrsum computes. Tables and sentences for people are
// not part of the library.
package output

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/people"
	"hdrkit/tags"
)

// A Summary is the sum of all intervals of a tag.
type Summary struct {
	// Tag is the tag of the intervals. It is nil for untagged intervals, and for the sum of all
	// tags. If Input is not empty, Tag is a name made of the input and the tag.
	Tag []byte
	// Input is the name of the log or run, if each has summaries of its own. InputTag is then the
	// tag in this log, or nil for the sum of all its tags.
	Input    string
	InputTag []byte
	// Histogram has the counts. If it is nil, Load returns them. If both are nil, there are none.
	Histogram *histogram.Histogram
	// Load returns counts that are valid until Load of another summary is called, so many summaries
	// can share the memory of one histogram.
	Load func() *histogram.Histogram
	// Intervals is the number of intervals.
	Intervals int64
	// Start is the start of the first interval and End the end of the last one, in milliseconds
	// since the epoch.
	Start, End int64
	// Period is the time in milliseconds that throughput is computed from.
	Period int64
	// Moved is the number to add to the total count for the rate of a window: see
	// [merge.WindowCount.Moved].
	Moved float64
	// AllTags is set if the summary is the sum of all tags.
	AllTags bool
	// Scale says how to print values. Summaries can have different scales.
	Scale hdrlog.Scale
	// Maxima has the maximum over time. Tables for people draw it.
	Maxima Maxima
	// Confidence has the intervals of the figures. It is nil if the caller computes none.
	Confidence *Confidence
}

// Maxima are the maximum values of consecutive spans of time. The zero value has none.
type Maxima struct {
	// Start is the start of the first span, in milliseconds since the epoch, and Step the length of
	// each span.
	Start, Step int64
	// Length is the approximate length of an interval, in milliseconds.
	Length int64
	// Peak is the start of the interval with the highest value, in milliseconds since the epoch.
	Peak int64
	// Values are in the unit of the log, NaN for a span in which nothing was recorded.
	Values []float64
}

// CommonScale returns the scale for values in the smallest unit of several summaries, or the zero
// scale without summaries. All scales of summaries that are printed together have the same printed
// unit.
func CommonScale(summaries []*Summary) hdrlog.Scale {
	if len(summaries) == 0 {
		return hdrlog.Scale{}
	}
	return summaries[0].Scale.Times(1)
}

// Counts returns the histogram, which must not be changed. It is valid until Counts of another
// summary is called.
func (s *Summary) Counts() *histogram.Histogram {
	switch {
	case s.Histogram != nil:
		return s.Histogram
	case s.Load != nil:
		return s.Load()
	}
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1}) // nothing was recorded
	return h
}

// Name returns the text of the tag, or "all tags".
func (s *Summary) Name() string {
	if s.AllTags {
		return "all tags"
	}
	return tags.Text(s.Tag)
}

// OwnTag returns the tag in its log, without the name of the log.
func (s *Summary) OwnTag() []byte {
	if s.Input != "" {
		return s.InputTag
	}
	return s.Tag
}

// Throughput returns values per second. As in the reference, it is infinite or NaN if the period is
// zero.
func (s *Summary) Throughput() float64 {
	return (float64(s.Counts().TotalCount()) + s.Moved) * 1000 / float64(s.Period)
}

// divisorOf returns the divisor that converts values of a scale to the unit of time with a name, or
// to printed units if the name is empty.
func divisorOf(s hdrlog.Scale, name string) float64 {
	u, _ := hdrlog.ParseUnit(name)
	return s.Per(u)
}

// A Value is a value of a histogram in the unit of the log. It holds integers exactly, also above
// 2^53. It can be empty: then its float is NaN.
type Value struct {
	float   float64
	integer int64
	whole   bool // integer is the exact value
}

// ValueOf converts v, a value in units of h such as [histogram.Histogram.Max].
func ValueOf(h *histogram.Histogram, v int64) Value {
	return Value{float: h.Float(v), integer: v, whole: !h.Double()}
}

// Float returns the value as a float64.
func (v Value) Float() float64 { return v.float }

// text returns the value in printed units. A whole number has all its digits, any other number the
// fewest digits that identify it.
func (v Value) text(s hdrlog.Scale) string { return string(v.append(nil, s)) }

// append appends the result of text.
func (v Value) append(to []byte, s hdrlog.Scale) []byte {
	ratio := s.Divisor()
	if v.whole {
		if whole := s.Whole(); whole > 1 && whole < 1<<31 && v.integer < 1<<31 {
			return strconv.AppendInt(to, v.integer*int64(whole), 10)
		}
		if ratio >= 1 && ratio < 1<<53 && ratio == math.Trunc(ratio) {
			if by := int64(ratio); v.integer%by == 0 {
				return strconv.AppendInt(to, v.integer/by, 10)
			} else if v.integer >= 0 && v.integer < 1e15 && isPowerOfTen(by) {
				return appendDecimal(to, v.integer, by)
			}
		}
	}
	return people.AppendShortest(to, s.Of(v.float))
}

// none is the empty value.
var none = Value{float: math.NaN()}

// Percentiles writes a line NAME=VALUE for each figure: counts, the values at percentiles, and
// shares. If the scale does not convert values, the lines equal those of HdrLogProcessing byte for
// byte, and values are whole numbers. If it does, values have as many decimals as in [HGRM], while
// HdrLogProcessing truncates values below one unit to 0. Values of double histograms have all their
// decimals.
func Percentiles(w io.Writer, s *Summary, percentiles []float64, shares []Figure) error {
	h := s.Counts()
	raw := s.Scale.Raw()
	prefix := ""
	if s.Tag != nil {
		prefix = tags.Text(s.Tag) + "."
	}
	value := func(v int64) string {
		scaled := s.Scale.Of(h.Float(v))
		switch {
		case h.Double():
			return people.Shortest(scaled)
		case raw:
			return strconv.FormatInt(whole(scaled), 10)
		}
		return fixed(scaled, h.Layout().Digits)
	}
	moment := func(v float64) string {
		switch {
		case h.Double():
			return people.Shortest(s.Scale.Of(v))
		case raw:
			return fixed(s.Scale.Of(v), 2)
		}
		return fixed(s.Scale.Of(v), max(2, h.Layout().Digits))
	}
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%s%s=%s\n", prefix, name, value) }
	line("TotalCount", strconv.FormatInt(h.TotalCount(), 10))
	line("Period(ms)", strconv.FormatInt(s.Period, 10))
	line("Throughput(ops/sec)", fixed(s.Throughput(), 2))
	line("Min", value(h.Min()))
	line("Mean", moment(h.Mean()))
	line("StdDev", moment(h.StdDev()))
	for n, v := range h.AppendValuesAtPercentiles(nil, percentiles) {
		line(percentileLabel(percentiles[n])+"ptile", value(v))
	}
	line("Max", value(h.Max()))
	for _, f := range shares {
		name := f.String()
		name = strings.ToUpper(name[:1]) + name[1:]
		if f.Name == Over {
			name += "(%)"
		}
		line(name, people.Shortest(f.Share(h, s.Scale)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// percentileLabel returns a percentile with three decimals, or with more if they are needed.
func percentileLabel(p float64) string {
	text := people.Shortest(p)
	if _, decimals, _ := strings.Cut(text, "."); len(decimals) > 3 {
		return text
	}
	return fixed(p, 3)
}

// HGRM writes a percentile distribution, byte for byte as the reference's
// outputPercentileDistribution does. Ticks is the number of lines for each half of the remaining
// distance to 100%, at least 1.
func HGRM(w io.Writer, s *Summary, ticks int) error {
	h := s.Counts()
	if ticks < 1 {
		return fmt.Errorf("%d ticks: a percentile distribution needs at least 1", ticks)
	}
	digits := h.Layout().Digits
	ratio := s.Scale.Divisor()
	// Divide as the reference does, although Scale.Of is more exact.
	value := func(v float64) string { return fmt.Sprintf("%12s", fixed(v/ratio, digits)) }

	var b strings.Builder
	fmt.Fprintf(&b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	for step := range h.Percentiles(ticks) {
		level := step.Percentile / 100
		fmt.Fprintf(&b, "%s %s %10d", value(h.Float(step.Value)), fixed(level, 12), step.TotalCount)
		if step.Percentile != 100 {
			fmt.Fprintf(&b, " %14s", fixed(1/(1-level), 2))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "#[Mean    = %s, StdDeviation   = %s]\n", value(h.Mean()), value(h.StdDev()))
	fmt.Fprintf(&b, "#[Max     = %s, Total count    = %12d]\n", value(h.Float(h.Max())), h.TotalCount())
	// The reference allocates slots up to twice the lowest value before it records any value.
	layout := h.Layout()
	fmt.Fprintf(&b, "#[Buckets = %12d, SubBuckets     = %12d]\n",
		2*layout.SlotsFor(max(h.Max(), 2*layout.Lowest))/layout.SubBuckets()-1, layout.SubBuckets())
	_, err := io.WriteString(w, b.String())
	return err
}

// FloatValue returns a value that is not an exact integer.
func FloatValue(v float64) Value { return Value{float: v} }
