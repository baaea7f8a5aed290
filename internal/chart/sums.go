package chart

import (
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
	"hdrkit/output"
)

// ticksPerHalf is the number of points of a percentile curve each time that the distance to 100%
// halves. At 25, a curve of five nines that is a thousand pixels wide has a point every three
// pixels.
const ticksPerHalf = 25

// CurveOf returns the percentile curve of h, with values divided by ratio.
func CurveOf(h *histogram.Histogram, ratio float64) Curve {
	curve := Curve{Count: h.TotalCount()}
	for step := range h.Percentiles(ticksPerHalf) {
		curve.Steps = append(curve.Steps, Step{step.Percentile, unit.Divide(h.Float(step.Value), ratio)})
	}
	curve.Steps = slices.Clone(curve.Steps) // free unused capacity
	return curve
}

// SummaryOf returns the row of the table for a series. The counts h are the sum of its intervals,
// values are divided by ratio, and period is the time that was measured in milliseconds.
func SummaryOf(label string, h *histogram.Histogram, ratio float64, intervals, period int64, limits []Limit) Summary {
	stats := output.StatsOf(h, TablePercentiles, output.Stats{})
	value := func(v float64) float64 { return unit.Divide(v, ratio) }
	s := Summary{
		Label:       label,
		Intervals:   intervals,
		Count:       stats.Count,
		Min:         value(stats.Min.Float()),
		Mean:        value(stats.Mean),
		Max:         value(stats.Max.Float()),
		Percentiles: []float64{},
	}
	if period > 0 {
		s.PerSecond = float64(s.Count) / (float64(period) / 1000)
	}
	for _, p := range stats.Percentiles {
		s.Percentiles = append(s.Percentiles, value(p.Value.Float()))
	}
	for _, l := range limits {
		v := s.Max
		if l.Percentile > 0 {
			v = value(h.Float(h.ValueAtPercentile(l.Percentile)))
		}
		s.Limited = append(s.Limited, v)
	}
	return s
}
