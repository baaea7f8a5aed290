// Package axis has the rules for numbers, units and ticks of charts. The page of package page has
// the same rules in JavaScript; testdata/golden.json holds both to the same results. They are not
// those of package output: beside an axis there is less room than in a table, numbers are round,
// and a unit may change with the values.
package axis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hdrkit/internal/base/people"
)

// A Scale is the unit in which values are shown. Units of time turn into one another where that
// makes shorter numbers.
type Scale struct {
	Unit   string
	Divide float64 // a value in the unit of the picture, divided by this, is in Unit
}

var timeUnits = []struct {
	name    string
	seconds float64
}{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}

// timeUnit returns the length of a unit in seconds, or 0 if it is not a unit of time.
func timeUnit(unit string) float64 {
	for _, u := range timeUnits {
		if u.name == unit {
			return u.seconds
		}
	}
	return 0
}

// Spelled returns a unit as it is printed.
func Spelled(unit string) string {
	if unit == "us" || unit == "μs" { // the latter has a Greek mu
		return "µs"
	}
	return unit
}

// Fixed returns a unit that stays as it is, also where another unit of time suits better: its name
// behind an equals sign.
func Fixed(unit string) string {
	if unit = Spelled(unit); timeUnit(unit) == 0 {
		return unit
	}
	return "=" + unit
}

// FixedName returns the name of a unit that stays as it is, and nothing for others.
func FixedName(unit string) string {
	name, fixed := strings.CutPrefix(unit, "=")
	if !fixed {
		return ""
	}
	return name
}

// ScaleFor returns the scale for values of a unit up to highest.
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

// Titled returns name with the unit.
func (s Scale) Titled(name string) string {
	if s.Unit == "" {
		return name
	}
	return name + " (" + s.Unit + ")"
}

// manyDigits is the size from which numbers are printed with an exponent.
const manyDigits = 1e7

// fewDigits is the size below which they are.
const fewDigits = 1e-6

// Number prints a round number with as many digits as it needs, at most seven.
func Number(v float64) string { return digits(v, 7, manyDigits) }

// spelling returns how an axis prints its numbers, all in one way: with an exponent if the smallest
// one, a step, or the largest one needs it.
func spelling(smallest, largest float64) func(v float64) string {
	if smallest < fewDigits*(1-1e-9) || largest >= manyDigits {
		return scientific
	}
	return Number
}

// Value prints a value with its unit, to four significant digits. Digits before the point stay.
func Value(unit string, v float64) string {
	s := ScaleFor(unit, v)
	if s.Unit == "" {
		return digits(v, 4, 1e15)
	}
	return digits(v/s.Divide, 4, 1e15) + " " + s.Unit
}

func digits(v float64, most int, long float64) string {
	size := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case size >= long || size < fewDigits:
		return scientific(v)
	}
	decimals := max(0, most-1-int(math.Floor(math.Log10(math.Abs(v)))))
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

// thousands are the letters that stand for powers of a thousand.
var thousands = []struct {
	size float64
	name string
}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

// shorts returns how an axis prints numbers up to the largest in few characters: all with the same
// letter, or without one below 10,000.
func shorts(largest float64) func(v float64) string {
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

// Handy prints a round value with its unit. If that is a unit of time, and not fixed,
// Handy chooses the handiest.
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

// Length prints a length of time in milliseconds in the largest unit that needs no fraction. From
// ten minutes on it prints whole seconds, behind the minutes.
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

// Power10 returns 10 to the power of e exactly, which math.Pow need not do.
func Power10(e int) float64 {
	v, _ := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
	return v
}

// roundDown and roundUp return the next number that is 1, 2 or 5 times a power of ten.
func roundDown(v float64) float64 {
	e := int(math.Floor(math.Log10(v) + 1e-12))
	for _, m := range []float64{5, 2} {
		if v >= m*Power10(e)*(1-1e-9) {
			return m * Power10(e)
		}
	}
	return Power10(e)
}

func roundUp(v float64) float64 {
	e := int(math.Floor(math.Log10(v) + 1e-12))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*Power10(e)*(1+1e-9) {
			return m * Power10(e)
		}
	}
	return Power10(e + 1)
}

func mod(a, b int) int { return ((a % b) + b) % b }
