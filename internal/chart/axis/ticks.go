package axis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A Tick is a short line at a value of an axis, with a label. Minor ticks have no label.
type Tick struct {
	Value float64
	Label string
}

// roundStep returns the smallest step of 1, 2 or 5 times a power of ten that divides a span into at
// most maxSteps steps.
func roundStep(span float64, maxSteps int) float64 {
	return roundUp(span / float64(max(maxSteps, 1)))
}

// multiples returns the multiples of step from low to high.
func multiples(low, high, step float64) (all []float64) {
	const slop = 1e-6
	for i := math.Ceil(low/step - slop); i <= high/step+slop; i++ {
		all = append(all, i*step)
	}
	return all
}

// Linear returns the ticks of a linear axis, about maxTicks at most, and the end of the axis. The
// axis begins at low. It ends at high if exact is set, and otherwise at the first tick from high
// on.
func (s Scale) Linear(low, high float64, exact bool, maxTicks int) (ticks []Tick, end float64) {
	from, to := low/s.Divide, high/s.Divide
	if to <= from {
		to = from + 1
	}
	step := roundStep(to-from, maxTicks)
	if !exact {
		to = math.Ceil(to/step-1e-9) * step
	}
	label := axisFormat(step, to)
	if s.Unit == "" && step >= exponentBelow {
		label = shortFormat(to)
	}
	for _, v := range multiples(from, to, step) {
		text := "0"
		if v != 0 {
			text = label(v)
		}
		ticks = append(ticks, Tick{v * s.Divide, text})
	}
	return ticks, to * s.Divide
}

// Log returns the ticks and the ends of a logarithmic axis for values from lowest to highest, both
// above 0. Each label has a unit of its own, unless the unit is fixed: then the title has the unit.
// The axis begins and ends at round numbers, or at lowest and highest if exact is set. Most is
// about the largest number of labels, or half of that if labels are at 1, 2 and 5 times powers of
// ten.
func Log(unit string, lowest, highest float64, exact bool, most int) (ticks []Tick, from, to float64) {
	if highest <= lowest*1.0001 {
		lowest, highest = lowest/2, highest*2
	}
	from, to = lowest, highest
	if !exact {
		from, to = roundDown(lowest), roundUp(highest)
	}
	low, high := int(math.Floor(math.Log10(from)+1e-9)), int(math.Ceil(math.Log10(to)-1e-9))
	decades := math.Log10(to / from)
	every, first := max(1, int(math.Ceil(decades/float64(most)))), 0
	lowestPower, highestPower := math.Ceil(math.Log10(from)-1e-9), math.Floor(math.Log10(to)+1e-9)
	if math.Ceil(lowestPower/float64(every))*float64(every)+float64(every) > highestPower {
		first = int(lowestPower) // otherwise fewer than two powers have labels
	}
	formatFixed := axisFormat(from, to)
	for e := low; e <= high; e++ {
		for digit := 1; digit <= 9; digit++ {
			v := float64(digit) * Power10(e)
			if v < from*(1-1e-9) || v > to*(1+1e-9) {
				continue
			}
			tick := Tick{Value: v}
			labelled := digit == 1 && mod(e-first, every) == 0
			if every == 1 && most > 2 && decades/math.Log10(2) <= float64(2*most) {
				labelled = labelled || digit == 2 || digit == 5
			}
			if labelled {
				tick.Label = Handy(unit, v)
				if FixedName(unit) != "" {
					tick.Label = formatFixed(v)
				}
			} else if decades > 2*float64(most) || decades > 8 && digit > 1 {
				continue
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks, from, to
}

// secondSteps are the distances between ticks of a time axis, in seconds, up to a week.
var secondSteps = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
	60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, day, 2 * day, 7 * day}

const day = 24 * 3600

// Window returns a round length of windows in seconds. At most maxWindows windows of this length
// fill a span of seconds.
func Window(span float64, maxWindows int) float64 {
	for _, s := range secondSteps {
		if span <= s*float64(maxWindows)*(1+1e-9) {
			return s
		}
	}
	return math.Max(roundStep(span/day, maxWindows), 1) * day
}

// timeStep returns the distance in seconds of ticks between two times, for at most maxTicks ticks.
// If fewer than two ticks lie before the last tenth of the axis, it returns the next shorter
// distance: a label in the last tenth may have no room.
func timeStep(from, to float64, maxTicks int) float64 {
	step := Window(to-from, maxTicks)
	n := slices.Index(secondSteps, step)
	if n > 0 && len(multiples(from, to-(to-from)/10, step)) < 2 {
		return secondSteps[n-1]
	}
	return step
}

// Relative returns the ticks of an axis of seconds since the start, about maxTicks at most, and
// the title of the axis.
func Relative(from, to float64, maxTicks int) (ticks []Tick, title string) {
	step := timeStep(from, to, maxTicks)
	title, label := "", Number
	furthest := math.Max(math.Abs(from), math.Abs(to))
	switch {
	case furthest <= 180:
		title = "time since start (s)"
	case step >= day:
		title, label = "time since start (days)", func(v float64) string { return Number(v / day) }
	case step < 60 && furthest >= 3600:
		title, label = "time since start (h:min:s)", func(v float64) string { return sexagesimal(v, step, true, true) }
	case furthest < 3600:
		title, label = "time since start (min:s)", func(v float64) string { return sexagesimal(v, step, false, true) }
	default:
		title, label = "time since start (h:min)", func(v float64) string { return sexagesimal(v, step, true, false) }
	}
	for _, v := range multiples(from, to, step) {
		ticks = append(ticks, Tick{v, label(v)})
	}
	return ticks, title
}

// sexagesimal prints seconds as hours, minutes and seconds, with milliseconds if step is below a
// second.
func sexagesimal(v, step float64, hours, seconds bool) string {
	ms := int64(math.Round(math.Abs(v) * 1000))
	s := ms / 1000
	text := ""
	if v < 0 && ms > 0 {
		text = "-"
	}
	if hours {
		text += fmt.Sprintf("%d:%02d", s/3600, s/60%60)
	} else {
		text += fmt.Sprint(s / 60)
	}
	if seconds {
		text += fmt.Sprintf(":%02d", s%60)
	}
	if step < 1 {
		text += fmt.Sprintf(".%03d", ms%1000)
	}
	return text
}

// Since prints a time in seconds since the start, in the format of an axis of [Relative] whose
// times go up to furthest.
func Since(seconds, furthest float64) string {
	if furthest <= 180 {
		return Number(math.Round(seconds*1000)/1000) + " s"
	}
	return sexagesimal(math.Round(seconds), 1, furthest >= 3600, true)
}

// Clock returns the ticks of an axis of clock times in a zone, about maxTicks at most, and the
// title of the axis. The times from and to are seconds from origin, which is in seconds since the
// epoch. If since is set, the time since the start stands below each tick, and the title has the
// date if there is only one. Otherwise the date stands below the first tick of each day.
func Clock(from, to, origin float64, zone *time.Location, since bool, maxTicks int) (ticks []Tick, title string) {
	title = "time (" + zone.String() + ")"
	step := timeStep(from+origin, to+origin, maxTicks)
	date := ""
	if since = since && step < day; since {
		first, last := clock(from+origin, zone).Format(time.DateOnly), clock(to+origin, zone).Format(time.DateOnly)
		if first == last {
			title = "time on " + first + " (" + zone.String() + ")"
			date = first
		}
		title += ", since start (h:min:s)"
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
	offset := offsetAt(from+origin, zone)
	for _, local := range multiples(from+origin+offset, to+origin+offset, step) {
		v := local - offsetAt(local-offset, zone)
		if n := len(ticks); n > 0 && v-origin <= ticks[n-1].Value {
			continue // the zone has no such hour on this day
		}
		t := clock(v, zone)
		label := t.Format(layout)
		if since && step < 1 {
			label += "\n" + sexagesimal(v-origin, step, true, true)
		} else if since {
			label += "\n" + sexagesimal(math.Round(v-origin), step, true, true)
		}
		if step < day && t.Format(time.DateOnly) != date {
			date = t.Format(time.DateOnly)
			label += "\n" + date
		}
		ticks = append(ticks, Tick{v - origin, label})
	}
	return ticks, title
}

// clock converts seconds since the epoch to a time in a zone, rounded to milliseconds.
func clock(seconds float64, zone *time.Location) time.Time {
	return time.UnixMilli(int64(math.Round(seconds * 1000))).In(zone)
}

// offsetAt returns how many seconds a zone is ahead of UTC at a time.
func offsetAt(seconds float64, zone *time.Location) float64 {
	_, offset := clock(seconds, zone).Zone()
	return float64(offset)
}

// Nines returns the place of a percentile on an axis of nines: 1 for 90, 2 for 99, 3 for 99.9.
func Nines(percentile float64) float64 { return -math.Log10(1 - percentile/100) }

// NinesTicks returns the ticks of an axis of nines that ends at last. Labels are at least gap nines
// apart. If only one of 0% and 50% has room for a label, 50% gets the label.
func NinesTicks(last, gap float64) (ticks []Tick) {
	labelled := math.Inf(-1)
	for n := 0; float64(n) <= last+1e-9; n++ {
		tick := Tick{Value: float64(n)}
		// A label grows by a digit with each nine.
		if float64(n)-labelled >= gap*math.Max(1, float64(n+4)/8) {
			tick.Label, labelled = ninesLabel(n), float64(n)
		}
		ticks = append(ticks, tick)
		if n == 0 {
			half := Tick{Value: Nines(50)}
			if gap < 1-Nines(50) {
				half.Label, labelled = "50%", Nines(50)
			}
			if gap >= Nines(50) && half.Label != "" {
				ticks[0].Label = ""
			}
			ticks = append(ticks, half)
		}
		for _, part := range []float64{0.5, 0.8} { // 95% and 98%, 99.5% and 99.8%, ...
			if v := float64(n) - math.Log10(1-part); n > 0 && v < last {
				ticks = append(ticks, Tick{Value: v})
			}
		}
	}
	return ticks
}

// ninesLabel returns the label for n nines, such as 99.9% for 3.
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

// Offsets returns the offsets of a zone between two times in seconds since the epoch. Each element
// is a time, and the number of seconds by which the zone is ahead of UTC from this time on. The
// first time is from.
func Offsets(from, to float64, zone *time.Location) (all [][2]int64) {
	for at := clock(from, zone); ; {
		_, offset := at.Zone()
		all = append(all, [2]int64{at.Unix(), int64(offset)})
		_, end := at.ZoneBounds()
		if end.IsZero() || float64(end.Unix()) > to {
			return all
		}
		at = end
	}
}
