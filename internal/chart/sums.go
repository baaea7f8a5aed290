package chart

import (
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
)

// ticksPerHalf is the number of points of a curve each time that the distance to 100% halves. At 25
// a curve of five nines, a thousand pixels wide, has a point every three pixels.
const ticksPerHalf = 25

// CurveOf returns the percentile curve of h, with values divided by ratio.
func CurveOf(h *histogram.Histogram, ratio float64) Curve {
	curve := Curve{Count: h.TotalCount()}
	for step := range h.Percentiles(ticksPerHalf) {
		curve.Steps = append(curve.Steps, Step{step.Percentile, unit.Divide(h.Float(step.Value), ratio)})
	}
	curve.Steps = slices.Clone(curve.Steps) // in no more memory than they need
	return curve
}

// SummaryOf returns the row of a page's table for h, the sum of intervals, with values divided by
// ratio. Period is the time that was measured, in milliseconds.
func SummaryOf(label string, h *histogram.Histogram, ratio float64, intervals, period int64, limits []Limit) Summary {
	value := func(v int64) float64 { return unit.Divide(h.Float(v), ratio) }
	s := Summary{
		Label: label, Intervals: intervals, Count: h.TotalCount(),
		Min: value(h.Min()), Mean: unit.Divide(h.Mean(), ratio), Max: value(h.Max()), Percentiles: []float64{},
	}
	if period > 0 {
		s.PerSecond = float64(s.Count) / (float64(period) / 1000)
	}
	for _, v := range h.AppendValuesAtPercentiles(nil, Levels) {
		s.Percentiles = append(s.Percentiles, value(v))
	}
	for _, l := range limits {
		v := h.Max()
		if l.Percentile > 0 {
			v = h.ValueAtPercentile(l.Percentile)
		}
		s.Limited = append(s.Limited, value(v))
	}
	return s
}
