package hdrlog

import (
	"cmp"
	"math"
)

// A Scale says how values are printed. The zero value prints them unchanged.
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

	factor float64 // see [Scale.Times]
}

// Divisor returns the number by which values are divided to print them.
func (s Scale) Divisor() float64 { return cmp.Or(s.Ratio, 1) / s.Factor() }

// Of returns a value in the unit of printed values.
func (s Scale) Of(v float64) float64 {
	if whole := s.Whole(); whole > 1 { // 1 s is 1,000,000,000 ns, not 999,999,999.9999999
		return v * whole
	}
	return v / s.Divisor()
}

// Per returns the number by which values are divided to convert them to the unit u, or to the unit
// of printed values if u is unknown.
func (s Scale) Per(u Unit) float64 {
	if u == 0 {
		return s.Divisor()
	}
	return s.In.Per(u) / s.Factor()
}

// Times returns the scale of values in a unit that is factor times as large as that of s; 0 stands
// for 1. Both scales print in the same unit.
func (s Scale) Times(factor float64) Scale {
	s.factor = factor
	return s
}

// Factor returns the factor that [Scale.Times] has set, or 1.
func (s Scale) Factor() float64 { return cmp.Or(s.factor, 1) }

// Raw reports whether printed values need no division: they are in the unit of the log, or in a
// smaller one.
func (s Scale) Raw() bool { return cmp.Or(s.Ratio, 1) == 1 && s.Factor() >= 1 }

// Whole returns the whole number by which values are multiplied to print them, or 0 if they are
// divided. No float64 holds a ratio such as 1e-9, but a multiplication by 1e9 is exact.
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
