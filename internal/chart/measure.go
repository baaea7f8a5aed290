package chart

import (
	"math"

	"hdrkit/internal/base/unit"
	"hdrkit/output"
)

// A Measure is the figure of intervals that a line shows, such as p99 or the rate.
type Measure struct {
	Name string
	output.Figure
}

// AtPercentile returns the measure of the value at a percentile from 0 to 100. At 100 it is the
// maximum.
func AtPercentile(percentile float64) Measure {
	f := output.AtPercentile(percentile)
	return Measure{f.String(), f}
}

// RateName is the name of lines of rates.
const RateName = "values/s"

// PerSecond returns the measure of the number of values per second.
func PerSecond() Measure { return Measure{RateName, output.Figure{Name: output.Throughput}} }

// Of returns the value of the measure, divided by ratio, for an interval of some seconds. It is NaN
// if the interval has no values, or no length for a rate.
func (m *Measure) Of(s *output.Stats, seconds, ratio float64) float64 {
	v := m.Figure.Of(s, seconds).Float()
	switch {
	case !m.Unitless():
		return unit.Divide(v, ratio)
	case seconds > 0:
		return v
	}
	return math.NaN()
}

// FiguresOf returns the figures that measures need.
func FiguresOf(measures []Measure) (all []output.Figure) {
	for _, m := range measures {
		all = append(all, m.Figure)
	}
	return all
}
