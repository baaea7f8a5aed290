package output

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// coloured returns a text for a terminal in a colour, which is an SGR code. An empty code changes
// nothing.
func coloured(text, code string) string {
	if code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// textWidth returns the number of columns that a terminal needs for a text.
func textWidth(text string) int {
	columns := 0
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cutMiddle shortens a text to at most limit columns. An ellipsis stands for its middle.
func cutMiddle(text string, limit int) string {
	if textWidth(text) <= limit {
		return text
	}
	runes := []rune(text)
	from := 0
	to := len(runes)
	columns := 1
	for front := true; from < to; front = !front {
		r := runes[from]
		if !front {
			r = runes[to-1]
		}
		if columns += runeWidth(r); columns > limit {
			break
		}
		if front {
			from++
		} else {
			to--
		}
	}
	return string(runes[:from]) + "…" + string(runes[to:])
}

// significant formats v with so many significant digits and thousands separators. Whole numbers
// have no decimals.
func significant(v float64, digits int) string {
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
		return thousands(strconv.FormatFloat(rounded, 'f', 0, 64))
	}
	if exponent < -4 { // no zeros after digits that are so small
		return shortest(rounded)
	}
	return strconv.FormatFloat(rounded, 'f', digits-1-exponent, 64)
}

// Significant returns a number as sentences have it: with so many significant digits and thousands
// separators, without zeros at its end.
func Significant(v float64, digits int) string {
	text := significant(v, digits)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Whole returns a whole number with thousands separators.
func Whole(n int64) string { return thousands(strconv.FormatInt(n, 10)) }

// Length returns a length of time in milliseconds as sentences have it, with at most three digits
// of seconds: 350 ms, 1.25 s, 30 s, 2m5s.
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
	text := shortDuration(ms)
	unit := strings.TrimLeft(text, "0123456789.")
	if unit == "ms" || unit == "s" {
		return strings.TrimSuffix(text, unit) + " " + unit
	}
	return text
}

// decimalsOf returns how many decimals a change by a ratio has in percent: as many as asked for,
// but more if a fall that leaves something would be one by 100%.
func decimalsOf(ratio float64, decimals int) int {
	for more := decimals; ratio > 0 && ratio < 1 && more < 10; more++ {
		if !strings.HasPrefix(strconv.FormatFloat(100*(1-ratio), 'f', more, 64), "100") {
			return more
		}
	}
	return decimals // also for what leaves less than anything that was measured
}

// thousands puts commas between groups of three digits of a whole number.
func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for n, c := range digits {
		if n > 0 && (len(digits)-n)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// shortDuration formats milliseconds for people: 350ms, 9.998s, 2m5s, 3h7m, 2d4h.
func shortDuration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + "ms"
	case ms < 10_000:
		return shortest(float64(ms)/1000) + "s"
	case ms < 100_000:
		return shortest(math.Round(float64(ms)/100)/10) + "s"
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
