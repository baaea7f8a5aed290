// Package axis has the rules for numbers, units and ticks of charts. The script of a page has the
// same rules in JavaScript, and testdata/golden.json has cases for both. Package output has other
// rules, since tables have more room than axes, more digits, and a fixed unit.
package axis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hdrkit/internal/base/people"
)

// A Scale is the unit of printed values. For units of time, [ScaleFor] chooses the unit that makes
// numbers short.
type Scale struct {
	Unit   string
	Divide float64 // converts values: the value in the unit of the picture, divided by this, is in Unit
}

var timeUnits = []struct {
	name    string
	seconds float64
}{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}

// timeUnit returns the length of a unit of time in seconds, and 0 for other units.
func timeUnit(unit string) float64 {
	for _, u := range timeUnits {
		if u.name == unit {
			return u.seconds
		}
	}
	return 0
}

// Spelled returns the printed spelling of a unit: µs for microseconds, however they are spelled.
func Spelled(unit string) string {
	if unit == "us" || unit == "μs" { // a Greek mu instead of the micro sign
		return "µs"
	}
	return unit
}

// Fixed marks a unit of time as fixed, by an equals sign before its name: axes and texts then use
// no other unit of time.
func Fixed(unit string) string {
	if unit = Spelled(unit); timeUnit(unit) == 0 {
		return unit
	}
	return "=" + unit
}

// FixedName returns the name of a unit that [Fixed] has marked, and nothing for other units.
func FixedName(unit string) string {
	name, fixed := strings.CutPrefix(unit, "=")
	if !fixed {
		return ""
	}
	return name
}

// ScaleFor returns the scale for printing values in a unit. Highest is the largest of these values.
func ScaleFor(unit string, highest float64) Scale {
	unit, fixed := strings.CutPrefix(Spelled(unit), "=")
	seconds := timeUnit(unit)
	if fixed || seconds == 0 || highest >= 0.1 && highest < 10000 || highest <= 0 {
		return Scale{unit, 1}
	}
	best := Scale{unit, 1}
	for _, u := range timeUnits {
		if highest*seconds/u.seconds >= 1 || u.name == "ns" {
			best = Scale{u.name, u.seconds / seconds}
		}
	}
	return best
}

// Titled returns the name of an axis with the unit, such as "value (ms)".
func (s Scale) Titled(name string) string {
	if s.Unit == "" {
		return name
	}
	return name + " (" + s.Unit + ")"
}

// Numbers from exponentFrom on, and numbers below exponentBelow, are printed with an exponent.
const (
	exponentFrom  = 1e7
	exponentBelow = 1e-6
)

// Number prints a round number with as many digits as it needs, at most seven.
func Number(v float64) string { return digits(v, 7, exponentFrom) }

// axisFormat returns the function that prints all numbers of an axis: with an exponent if the
// smallest number or the largest one needs an exponent.
func axisFormat(smallest, largest float64) func(v float64) string {
	if smallest < exponentBelow*(1-1e-9) || largest >= exponentFrom {
		return scientific
	}
	return Number
}

// Value prints a value with its unit, to four significant digits. It keeps all digits before the
// decimal point.
func Value(unit string, v float64) string {
	s := ScaleFor(unit, v)
	if s.Unit == "" {
		return digits(v, 4, 1e15)
	}
	return digits(v/s.Divide, 4, 1e15) + " " + s.Unit
}

// digits prints a number, rounded to a number of significant digits. It keeps all digits before the
// decimal point. Numbers from exponentFrom on have an exponent.
func digits(v float64, significant int, exponentFrom float64) string {
	size := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case size >= exponentFrom || size < exponentBelow:
		return scientific(v)
	}
	decimals := max(0, significant-1-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return people.Grouped(text)
}

func scientific(v float64) string {
	text := strconv.FormatFloat(v, 'e', 3, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	n, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(n)
}

// thousands are the letters for powers of a thousand.
var thousands = []struct {
	size float64
	name string
}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

// shortFormat returns the function that prints all numbers of an axis without a unit in few
// characters: with the letter for the largest number, or without a letter if that is below 10,000.
func shortFormat(largest float64) func(v float64) string {
	for _, s := range thousands {
		if largest >= max(s.size, 10_000) && largest < 1e15 {
			return func(v float64) string { return Number(v/s.size) + s.name }
		}
	}
	return Number
}

// Short prints a number in few characters, with k, M, G or T for thousands and up.
func Short(v float64) string {
	for _, s := range thousands {
		if math.Abs(v) >= s.size && math.Abs(v) < 1e15 {
			return Number(v/s.size) + s.name
		}
	}
	return Number(v)
}

// Handy prints a round value with its unit. For a unit of time that is not fixed, it chooses the
// largest unit in which the value is at least 1.
func Handy(unit string, v float64) string {
	unit, fixed := strings.CutPrefix(Spelled(unit), "=")
	seconds := timeUnit(unit)
	switch {
	case fixed:
		return Number(v) + " " + unit
	case seconds == 0:
		return Short(v)
	}
	best := timeUnits[0]
	for _, u := range timeUnits {
		if v*seconds >= u.seconds*(1-1e-9) {
			best = u
		}
	}
	return Number(v*seconds/best.seconds) + " " + best.name
}

// Length prints a duration in milliseconds in the largest unit that needs no fraction. From ten
// minutes on it prints minutes and whole seconds.
func Length(ms int64) string {
	if ms >= 600_000 {
		ms = (ms + 500) / 1000 * 1000
	}
	for _, u := range []struct {
		ms   int64
		name string
	}{{24 * 3600_000, "d"}, {3600_000, "h"}, {60_000, "min"}} {
		if ms >= u.ms && ms%u.ms == 0 {
			return Number(float64(ms/u.ms)) + " " + u.name
		}
	}
	switch {
	case ms >= 600_000:
		return fmt.Sprintf("%s min %d s", Number(float64(ms/60_000)), ms/1000%60)
	case ms >= 1000:
		return Number(float64(ms)/1000) + " s"
	}
	return Number(float64(ms)) + " ms"
}

// Power10 returns 10 to the power of e, correctly rounded. The result of math.Pow may be less
// precise.
func Power10(e int) float64 {
	v, _ := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
	return v
}

// roundDown returns the largest number up to v that is 1, 2 or 5 times a power of ten.
func roundDown(v float64) float64 {
	e := int(math.Floor(math.Log10(v) + 1e-12))
	for _, m := range []float64{5, 2} {
		if v >= m*Power10(e)*(1-1e-9) {
			return m * Power10(e)
		}
	}
	return Power10(e)
}

// roundUp returns the smallest number from v on that is 1, 2 or 5 times a power of ten.
func roundUp(v float64) float64 {
	e := int(math.Floor(math.Log10(v) + 1e-12))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*Power10(e)*(1+1e-9) {
			return m * Power10(e)
		}
	}
	return Power10(e + 1)
}

// mod returns the remainder of a / b, from 0 to b-1, also for negative a.
func mod(a, b int) int { return ((a % b) + b) % b }
