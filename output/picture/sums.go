package picture

import (
	"hdrkit/hdrlog/histogram"
	"hdrkit/output/picture/page"
)

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

// SummaryOf returns the row of a page's table for h, the sum of intervals, with values divided by
// ratio. Period is the time that was measured, in milliseconds.
func SummaryOf(label string, h *histogram.Histogram, ratio float64, intervals, period int64) page.Summary {
	value := func(v int64) float64 { return h.Float(v) / ratio }
	s := page.Summary{
		Label: label, Intervals: intervals, Count: h.TotalCount(),
		Min: value(h.Min()), Mean: h.Mean() / ratio, Max: value(h.Max()), Percentiles: []float64{},
	}
	if period > 0 {
		s.PerSecond = float64(s.Count) / (float64(period) / 1000)
	}
	for _, level := range page.Levels {
		s.Percentiles = append(s.Percentiles, value(h.ValueAtPercentile(level)))
	}
	return s
}
