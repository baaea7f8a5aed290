package picture

import "hdrkit/hdrlog/histogram"

// ticksPerHalf is how finely curves are sampled: 25 points each time that the distance to 100% halves, one every three
// pixels of a curve of five nines across a thousand.
const ticksPerHalf = 25

// CurveOf returns the percentile curve of h, with values divided by ratio.
func CurveOf(label string, h *histogram.Histogram, ratio float64) Curve {
	curve := Curve{Label: label, Count: h.TotalCount()}
	for step := range h.Percentiles(ticksPerHalf) {
		curve.Steps = append(curve.Steps, Step{step.Percentile, h.Float(step.Value) / ratio})
	}
	return curve
}

// A Summary is a row of the table in an HTML file.
type Summary struct {
	Label     string
	Intervals int64
	Count     int64
	// Seconds is the time between the start of the first interval and the end of the last.
	Seconds                    float64
	Min, Mean, StdDev, Max     float64
	P50, P90, P99, P999, P9999 float64
}

// SummaryOf returns the summary of h, the sum of so many intervals, with values divided by ratio.
func SummaryOf(label string, h *histogram.Histogram, ratio float64, intervals int64, seconds float64) Summary {
	value := func(v int64) float64 { return h.Float(v) / ratio }
	at := func(percentile float64) float64 { return value(h.ValueAtPercentile(percentile)) }
	return Summary{
		Label: label, Intervals: intervals, Count: h.TotalCount(), Seconds: seconds,
		// Mean and StdDev are in what values stand for already.
		Min: value(h.Min()), Mean: h.Mean() / ratio, StdDev: h.StdDev() / ratio, Max: value(h.Max()),
		P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), P9999: at(99.99),
	}
}
