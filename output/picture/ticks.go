package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
)

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that parts span into at most so many.
func roundStep(span float64, most int) float64 {
	rough := span / float64(max(most, 1))
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if rough <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// multiples returns the multiples of step from low to high.
func multiples(low, high, step float64) (all []float64) {
	const slop = 1e-6
	for i := math.Ceil(low/step - slop); i <= high/step+slop; i++ {
		all = append(all, i*step)
	}
	return all
}

// A scale says which unit values are shown in. Time units go over into one another where numbers would be long.
type scale struct {
	unit   string
	divide float64
}

var timeUnits = []struct {
	name    string
	seconds float64
}{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}

// timeUnit returns how many seconds unit is, 0 if it is no unit of time.
func timeUnit(unit string) float64 {
	for _, u := range timeUnits {
		if u.name == unit {
			return u.seconds
		}
	}
	return 0
}

// spelled returns unit as it is printed.
func spelled(unit string) string {
	if unit == "us" || unit == "μs" { // the latter is a Greek mu
		return "µs"
	}
	return unit
}

// scaleFor returns the unit to show values of unit up to highest in.
func scaleFor(unit string, highest float64) scale {
	unit = spelled(unit)
	seconds := timeUnit(unit)
	if seconds == 0 || highest >= 0.1 && highest < 10000 || highest <= 0 {
		return scale{unit, 1}
	}
	best := scale{unit, 1}
	for _, u := range timeUnits {
		if highest*seconds/u.seconds >= 1 || u.name == "ns" {
			best = scale{u.name, u.seconds / seconds}
		}
	}
	return best
}

// number prints v, which is round, without more digits than it takes.
func number(v float64) string {
	switch size := math.Abs(v); {
	case v == 0:
		return "0"
	case size >= manyDigits || size < 1e-6:
		return scientific(v)
	}
	text := strconv.FormatFloat(v, 'f', max(0, 6-int(math.Floor(math.Log10(math.Abs(v))))), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return grouped(text)
}

// manyDigits is from where on numbers are printed with an exponent.
const manyDigits = 1e7

func scientific(v float64) string {
	if v == 0 {
		return "0"
	}
	text := strconv.FormatFloat(v, 'g', 4, 64)
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(text)
}

// grouped puts commas between the thousands of a number.
func grouped(text string) string {
	whole, fraction, _ := strings.Cut(text, ".")
	if fraction != "" {
		fraction = "." + fraction
	}
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + fraction
}

// short prints v in few characters, with k, M, G or T for thousands and up.
func short(v float64) string {
	for _, s := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= s.size && math.Abs(v) < 1e15 {
			return number(v/s.size) + s.name
		}
	}
	return number(v)
}

// label prints a value of the scale's own unit at a tick.
func (s scale) label(v float64) string {
	if s.unit == "" {
		return short(v)
	}
	return number(v)
}

// titled returns name with the unit.
func (s scale) titled(name string) string {
	if s.unit == "" {
		return name
	}
	return name + " (" + s.unit + ")"
}

// A marks is a plot.Ticker of fixed ticks.
type marks []plot.Tick

func (m marks) Ticks(low, high float64) []plot.Tick { return m }

// linearAxis returns ticks from 0 to past highest, and where the axis ends.
func (s scale) linearAxis(highest float64, most int) (ticks marks, end float64) {
	shown := highest / s.divide
	if shown <= 0 {
		shown = 1
	}
	step := roundStep(shown, most)
	top := math.Ceil(shown/step-1e-9) * step
	label := s.label
	if s.unit != "" && top >= manyDigits {
		label = scientific
	}
	for _, v := range multiples(0, top, step) {
		ticks = append(ticks, plot.Tick{Value: v * s.divide, Label: label(v)})
	}
	return ticks, top * s.divide
}

// logAxis returns the ticks of a logarithmic axis for values from lowest to highest, both above 0, and where it
// begins and ends. Each tick has its own unit.
func logAxis(unit string, lowest, highest float64, most int) (ticks marks, from, to float64) {
	if highest <= lowest*1.0001 {
		lowest, highest = lowest/2, highest*2
	}
	from, to = roundDown(lowest), roundUp(highest)
	low, high := int(math.Floor(math.Log10(from)+1e-9)), int(math.Ceil(math.Log10(to)-1e-9))
	decades := math.Log10(to / from)
	every := max(1, int(math.Ceil(decades/float64(most))))
	for e := low; e <= high; e++ {
		for digit := 1; digit <= 9; digit++ {
			v := float64(digit) * power10(e)
			if v < from*(1-1e-9) || v > to*(1+1e-9) {
				continue
			}
			tick := plot.Tick{Value: v}
			labelled := digit == 1 && mod(e, every) == 0
			if every == 1 && decades*3 <= float64(most) {
				labelled = labelled || digit == 2 || digit == 5
			}
			if labelled {
				tick.Label = logLabel(unit, v)
			} else if decades > 2*float64(most) || decades > 8 && digit > 1 {
				continue
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks, from, to
}

func mod(a, b int) int { return ((a % b) + b) % b }

// power10 is exact where math.Pow need not be.
func power10(e int) float64 {
	v, _ := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
	return v
}

// roundDown and roundUp return the next 1, 2 or 5 times a power of ten.
func roundDown(v float64) float64 {
	e := int(math.Floor(math.Log10(v) + 1e-12))
	for _, m := range []float64{5, 2} {
		if v >= m*power10(e)*(1-1e-9) {
			return m * power10(e)
		}
	}
	return power10(e)
}

func roundUp(v float64) float64 {
	e := int(math.Floor(math.Log10(v) + 1e-12))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*power10(e)*(1+1e-9) {
			return m * power10(e)
		}
	}
	return power10(e + 1)
}

// logLabel prints a value with its unit, the handiest where it is one of time.
func logLabel(unit string, v float64) string {
	unit = spelled(unit)
	if seconds := timeUnit(unit); seconds > 0 {
		best := timeUnits[0]
		for _, u := range timeUnits {
			if v*seconds >= u.seconds*(1-1e-9) {
				best = u
			}
		}
		return number(v*seconds/best.seconds) + " " + best.name
	}
	return short(v)
}

// secondSteps are the sensible distances of ticks on a time axis, in seconds, up to a week.
var secondSteps = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
	60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, day, 2 * day, 7 * day}

const day = 24 * 3600

// timeStep returns the smallest sensible distance of at most so many ticks, 0 if they are more than a week apart.
func timeStep(span float64, most int) float64 {
	for _, s := range secondSteps {
		if span <= s*float64(most) {
			return s
		}
	}
	return 0
}

// relativeTicks returns the ticks of an axis of seconds since the start, and what the axis is called.
func relativeTicks(from, to float64, most int) (ticks marks, title string) {
	span := to - from
	step := timeStep(span, most)
	if step == 0 {
		step = math.Max(roundStep(span/day, most), 1) * day
	}
	var label func(float64) string
	switch furthest := math.Max(math.Abs(from), math.Abs(to)); {
	case furthest <= 180 || step < 1:
		title, label = "time since start (s)", number
	case step >= day:
		title, label = "time since start (days)", func(v float64) string { return number(v / day) }
	case step < 60 && furthest < 3600 || step < 3600 && furthest < 3600:
		title, label = "time since start (min:s)", func(v float64) string {
			s := int(math.Round(v))
			return fmt.Sprintf("%d:%02d", s/60, s%60)
		}
	case step < 60:
		title, label = "time since start (h:min:s)", func(v float64) string {
			s := int(math.Round(v))
			return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
		}
	default:
		title, label = "time since start (h:min)", func(v float64) string {
			s := int(math.Round(v))
			return fmt.Sprintf("%d:%02d", s/3600, s/60%60)
		}
	}
	for _, v := range multiples(from, to, step) {
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
	}
	return ticks, title
}

// clockTicks returns the ticks of an axis of clock times; origin is time 0 in seconds since the epoch. The date stands
// below the first tick and wherever a day begins.
func clockTicks(from, to, origin float64, most int) (ticks marks, title string) {
	step := timeStep(to-from, most)
	if step == 0 {
		return calendarTicks(from, to, origin, most), "time (UTC)"
	}
	layout := "15:04"
	switch {
	case step >= day:
		layout = "2006-01-02"
	case step < 1:
		layout = "15:04:05.000"
	case step < 60:
		layout = "15:04:05"
	}
	date := ""
	for _, v := range multiples(from+origin, to+origin, step) {
		t := clock(v)
		label := t.Format(layout)
		if step < day && t.Format(time.DateOnly) != date {
			date = t.Format(time.DateOnly)
			label += "\n" + date
		}
		ticks = append(ticks, plot.Tick{Value: v - origin, Label: label})
	}
	return ticks, "time (UTC)"
}

// clock returns the time so many seconds after the epoch, to the millisecond.
func clock(seconds float64) time.Time { return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC() }

// calendarTicks returns ticks at the beginning of months or years.
func calendarTicks(from, to, origin float64, most int) (ticks marks) {
	first, last := clock(from+origin), clock(to+origin)
	months := (to - from) / (30 * day)
	step, layout := 0, "2006-01"
	for _, s := range []int{1, 2, 3, 6, 12, 24, 60, 120} {
		if step = s; months <= float64(s*most) {
			break
		}
	}
	if step >= 12 {
		layout = "2006"
		step = max(step, 12*int(roundStep(months/12, most)))
	}
	year := first.Year()
	if step >= 12 {
		year -= mod(year, step/12)
	}
	for t := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC); !t.After(last); t = t.AddDate(0, step, 0) {
		if !t.Before(first) {
			ticks = append(ticks, plot.Tick{Value: float64(t.Unix()) - origin, Label: t.Format(layout)})
		}
	}
	return ticks
}

// nines returns where percentile stands on an axis of nines: 90 at 1, 99 at 2, 99.9 at 3.
func nines(percentile float64) float64 { return -math.Log10(1 - percentile/100) }

// ninesTicks returns the ticks of an axis of nines that ends at last. Labels closer than gap, in nines, are left out.
func ninesTicks(last, gap float64) (ticks marks) {
	labelled := math.Inf(-1)
	for n := 0; float64(n) <= last+1e-9; n++ {
		tick := plot.Tick{Value: float64(n)}
		// A label grows by a digit with each nine.
		if float64(n)-labelled >= gap*math.Max(1, float64(n+4)/8) {
			tick.Label, labelled = ninesLabel(n), float64(n)
		}
		ticks = append(ticks, tick)
		if n == 0 && gap < nines(50) {
			ticks = append(ticks, plot.Tick{Value: nines(50), Label: "50%"})
		}
		for _, part := range []float64{0.5, 0.8} { // 95% and 98%, 99.5% and 99.8%, ...
			if v := float64(n) - math.Log10(1-part); n > 0 && v < last {
				ticks = append(ticks, plot.Tick{Value: v})
			}
		}
	}
	return ticks
}

// ninesLabel returns the percentile of n nines.
func ninesLabel(n int) string {
	switch n {
	case 0:
		return "0%"
	case 1:
		return "90%"
	case 2:
		return "99%"
	}
	return "99." + strings.Repeat("9", n-2) + "%"
}
