package chart

import (
	"math"

	"hdrkit/internal/base/unit"
	"hdrkit/output"
)

// A Measure is the value that a line shows of an interval.
type Measure struct {
	Name string
	output.Figure
}

// AtPercentile measures the value at a percentile, 0 to 100; at 100 it is the maximum.
func AtPercentile(percentile float64) Measure {
	f := output.AtPercentile(percentile)
	return Measure{f.String(), f}
}

// RateName is the name of lines of rates.
const RateName = "values/s"

// PerSecond measures the number of values per second.
func PerSecond() Measure { return Measure{RateName, output.Figure{Name: output.Throughput}} }

// Of returns the value, not a number if there is none.
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
