package hdrlog

import (
	"cmp"
	"math"
)

// A Scale says how values are printed. The zero value prints them as they are.
type Scale struct {
	// Ratio is the unit ratio, the positive number that values are divided by. Zero means 1.
	Ratio float64
	// Unit names the unit of printed values. It is empty if the unit is unknown.
	Unit string
	// In is the unit of the values, unknown if nothing states it.
	In Unit
	// Chosen is set if the user chooses the unit of printed values.
	Chosen bool
	// Assumed is set if nothing states the unit of the values, which are taken to be nanoseconds.
	Assumed bool

	times float64 // see [Scale.Times]
}

// Divisor returns what values are divided by.
func (s Scale) Divisor() float64 { return cmp.Or(s.Ratio, 1) / s.Factor() }

// Of returns a value in printed units.
func (s Scale) Of(v float64) float64 {
	if whole := s.Whole(); whole > 1 { // 1 s is 1,000,000,000 ns, not 999,999,999.9999999
		return v * whole
	}
	return v / s.Divisor()
}

// Per returns what to divide values by, to have them in a unit of time, or in printed units if the
// unit is unknown.
func (s Scale) Per(u Unit) float64 {
	if u == 0 {
		return s.Divisor()
	}
	return s.In.Per(u) / s.Factor()
}

// Times returns the scale of values in a larger unit, of which each is so many of those of s. 0
// stands for 1. All are printed in the same unit.
func (s Scale) Times(factor float64) Scale {
	s.times = factor
	return s
}

// Factor returns how many of the smaller units one of the values is in, see [Scale.Times].
func (s Scale) Factor() float64 { return cmp.Or(s.times, 1) }

// Raw reports whether values are printed in the unit of some of them, which is not larger than that
// of the others.
func (s Scale) Raw() bool { return cmp.Or(s.Ratio, 1) == 1 && s.Factor() >= 1 }

// Whole returns the whole number that values are multiplied by, 0 if they are divided: a ratio such
// as 1e-9, which no float64 holds, is a multiplication by one.
func (s Scale) Whole() float64 {
	ratio := s.Divisor()
	if !(ratio < 1) {
		return 0
	}
	if whole := math.Round(1 / ratio); 1/whole == ratio {
		return whole
	}
	return 0
}
