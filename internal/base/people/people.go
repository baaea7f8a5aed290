// Package people formats numbers and durations for people, in tables and sentences. Charts have
// rules of their own, see package axis.
package people

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Digits formats v with a number of significant digits and thousands separators. Whole numbers have
// no decimals.
func Digits(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'e', digits-1, 64)
	rounded, _ := strconv.ParseFloat(text, 64)
	_, exponentText, _ := strings.Cut(text, "e")
	exponent, _ := strconv.Atoi(exponentText)
	switch {
	case v == 0:
		return "0"
	case exponent >= 15 || exponent < -6:
		return strconv.FormatFloat(v, 'g', digits, 64)
	case exponent >= digits-1 || v == math.Trunc(v):
		return Grouped(strconv.FormatFloat(rounded, 'f', 0, 64))
	}
	if exponent < -4 { // such a small number has no zeros at its end
		return Shortest(rounded)
	}
	return strconv.FormatFloat(rounded, 'f', digits-1-exponent, 64)
}

// Significant is [Digits] for sentences: it leaves out zeros at the end.
func Significant(v float64, digits int) string {
	text := Digits(v, digits)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Rounded returns v rounded to a number of significant digits.
func Rounded(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return r
}

// Whole returns a whole number with thousands separators.
func Whole(n int64) string { return Grouped(strconv.FormatInt(n, 10)) }

// Counted returns a number with thousands separators and the name of things, in the plural unless n
// is 1.
func Counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Whole(n) + " " + thing
}

// PercentileHint returns a question for an error message if the decimal point of a percentile is
// missing: "; did you mean p99.9?" for p999. For any other text it returns an empty string.
func PercentileHint(text string) string {
	digits := strings.TrimPrefix(text, "p")
	if len(digits) < 3 || digits[0] != '9' || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return fmt.Sprintf("; did you mean p%s.%s?", digits[:2], digits[2:])
}

// Grouped puts commas between the thousands of a number that has no exponent.
func Grouped(number string) string {
	whole, fraction, hasFraction := strings.Cut(number, ".")
	for n := len(whole) - 3; n > 0 && whole[n-1] != '-'; n -= 3 {
		whole = whole[:n] + "," + whole[n:]
	}
	if hasFraction {
		return whole + "." + fraction
	}
	return whole
}

// Length formats a duration in milliseconds for sentences, with at most three digits of seconds:
// 350 ms, 1.25 s, 30 s, 2m5s.
func Length(ms int64) string {
	step := int64(1)
	switch {
	case ms >= 60_000:
		step = 1000
	case ms >= 10_000:
		step = 100
	case ms >= 1000:
		step = 10
	}
	ms = (ms + step/2) / step * step
	text := Duration(ms)
	unit := strings.TrimLeft(text, "0123456789.")
	if unit == "ms" || unit == "s" {
		return strings.TrimSuffix(text, unit) + " " + unit
	}
	return text
}

// Duration formats a duration in milliseconds for tables: 350ms, 9.998s, 2m5s, 3h7m, 2d4h.
func Duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + "ms"
	case ms < 10_000:
		return Shortest(float64(ms)/1000) + "s"
	case ms < 100_000:
		return Shortest(math.Round(float64(ms)/100)/10) + "s"
	case ms < 3600_000:
		d = d.Round(time.Second)
		return withoutZero(int64(d/time.Minute), "m", int64(d%time.Minute/time.Second), "s")
	case ms < 48*3600_000:
		d = d.Round(time.Minute)
		return withoutZero(int64(d/time.Hour), "h", int64(d%time.Hour/time.Minute), "m")
	}
	hours := (ms + 1800_000) / 3600_000
	return withoutZero(hours/24, "d", hours%24, "h")
}

func withoutZero(large int64, largeUnit string, small int64, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, largeUnit)
	}
	return fmt.Sprintf("%d%s%d%s", large, largeUnit, small, smallUnit)
}

// Shortest formats v without an exponent, with the fewest digits that identify it. Whole numbers
// from 2^53 have all their digits: 9223372036854774784, not 9223372036854775000.
func Shortest(v float64) string { return string(AppendShortest(nil, v)) }

// AppendShortest appends the text of [Shortest].
func AppendShortest(to []byte, v float64) []byte {
	if math.Abs(v) >= 1<<53 {
		return strconv.AppendFloat(to, v, 'f', 0, 64)
	}
	return strconv.AppendFloat(to, v, 'f', -1, 64)
}

// RFC3339 formats a time in milliseconds since the epoch, in a zone. A nil zone is UTC.
func RFC3339(ms int64, zone *time.Location) string { return string(AppendRFC3339(nil, ms, zone)) }

// AppendRFC3339 appends the text of [RFC3339].
func AppendRFC3339(to []byte, ms int64, zone *time.Location) []byte {
	at := time.UnixMilli(ms).In(cmp.Or(zone, time.UTC))
	return at.AppendFormat(to, "2006-01-02T15:04:05.000Z07:00")
}

// Dated reports whether a time in milliseconds since the epoch is a date. Times in the first year
// count from the start of a run instead.
func Dated(ms int64) bool { return ms >= 365*24*3600*1000 }

// TimeIn formats a time in a run that lasts from start to end, all in milliseconds since the epoch.
// The result is the time of day, with the date if the run has several dates. If the start is no
// date, it is the time after the start.
func TimeIn(at, start, end int64, zone *time.Location) string {
	zone = cmp.Or(zone, time.UTC)
	inZone := func(ms int64) time.Time { return time.UnixMilli(ms).In(zone) }
	switch {
	case !Dated(start) && Dated(at): // at is from another log, which has dates
		return inZone(at).Format(time.DateTime) + " " + zone.String()
	case !Dated(start) && at == start:
		return "the start"
	case !Dated(start):
		return Length(at-start) + " after the start"
	case inZone(start).Format(time.DateOnly) != inZone(end).Format(time.DateOnly):
		return inZone(at).Format(time.DateTime) + " " + zone.String()
	}
	return inZone(at).Format(time.TimeOnly) + " " + zone.String()
}

// Increase formats the increase of a ratio above 1 as percent, rounded up: 1.2 is 20%.
func Increase(ratio float64) string {
	digits := 0
	if ratio < 1.05 {
		digits = 1
	}
	scale := math.Pow10(digits)
	return strconv.FormatFloat(math.Ceil(100*(ratio-1)*scale)/scale, 'f', digits, 64) + "%"
}

// ChangeDecimals returns the number of decimals of a change in percent, given the ratio of after to
// before: the usual number, but more if a fall to a value above 0 would read as 100%.
func ChangeDecimals(ratio float64, usual int) int {
	for more := usual; ratio > 0 && ratio < 1 && more < 10; more++ {
		if !strings.HasPrefix(strconv.FormatFloat(100*(1-ratio), 'f', more, 64), "100") {
			return more
		}
	}
	return usual // also if the rest is smaller than any measured value
}

// RoseOrFell returns the verb for a change, rose or fell. ratio is the figure after the change
// divided by the figure before.
func RoseOrFell(ratio float64) string {
	if ratio < 1 {
		return "fell"
	}
	return "rose"
}

// Spaced returns a unit with a space before it, unless the unit needs no space.
func Spaced(unit string) string {
	if unit == "" || strings.HasPrefix(unit, "%") || strings.HasPrefix(unit, "/") {
		return unit
	}
	return " " + unit
}

// BelowOne returns the question whether a percentile between 0 and 1, such as 0.99, was meant as a
// fraction of 1.
func BelowOne(name string, percentile float64) string {
	return fmt.Sprintf("%s is below 1: did you mean %s?", name, Shortest(math.Round(percentile*1e12)/1e10))
}
