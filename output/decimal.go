package output

import (
	"math"
	"strconv"
)

// fixed formats v with that many decimals as Java's Formatter does: it rounds a short decimal that stands for v half up,
// where Go rounds the exact value of v half to even. 0.125 is 0.13 here, 1.005 is 1.01.
func fixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		if v < 0 {
			return "-Infinity"
		}
		return "Infinity"
	}
	digits := roundHalfUp(javaDigits(math.Abs(v)), decimals)
	if math.Signbit(v) {
		digits = append([]byte{'-'}, digits...)
	}
	return string(digits)
}

// javaDigits returns the digits that Java (before 19, as the reference was run) has for v, without an exponent: those of the
// shortest decimal that stands for v, but more of them where v is a whole number from 2^53 to 2^63. There it drops only
// as many digits as the binary digits that v lacks could ever tell.
func javaDigits(v float64) []byte {
	if v < 1<<53 || v >= 1<<63 {
		return strconv.AppendFloat(nil, v, 'f', -1, 64)
	}
	_, exponent := math.Frexp(v) // v < 2^exponent
	n := int64(v)
	if lacking := exponent - 55; lacking > 1 {
		// Java has a table; up to this size it is that of the decimal digits of 2^lacking, less one.
		unit := int64(math.Pow10(len(strconv.Itoa(1<<lacking)) - 1))
		n = (n + unit/2) / unit * unit
	}
	return strconv.AppendInt(nil, n, 10)
}

// roundHalfUp rounds a positive decimal number, or fills it up with zeros, to that many decimals.
func roundHalfUp(number []byte, decimals int) []byte {
	point := len(number)
	for i, c := range number {
		if c == '.' {
			point = i
			break
		}
	}
	if point == len(number) {
		number = append(number, '.')
	}
	end := point + 1 + decimals
	for len(number) < end {
		number = append(number, '0')
	}
	up := len(number) > end && number[end] >= '5'
	number = number[:end]
	if decimals == 0 {
		number = number[:point]
	}
	if up {
		return increment(number)
	}
	return number
}

// increment adds one to the last digit of a decimal number.
func increment(number []byte) []byte {
	for i := len(number) - 1; i >= 0; i-- {
		switch number[i] {
		case '.':
		case '9':
			number[i] = '0'
		default:
			number[i]++
			return number
		}
	}
	return append([]byte{'1'}, number...)
}

// whole truncates v as Java's cast to long does.
func whole(v float64) int64 {
	switch {
	case math.IsNaN(v):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

// shortest formats v as the shortest decimal that stands for it, without an exponent.
func shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
