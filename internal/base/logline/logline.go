// Package logline has what package hdrlog shares with packages that write lines of logs themselves,
// or copy those of other logs.
package logline

import (
	"bytes"
	"math"
	"strconv"

	"hdrkit/hdrlog/histogram"
)

// Millis converts seconds that a log or a person wrote to milliseconds. It rounds: truncating gives
// the millisecond before if the binary fraction lies below the number. It returns the nearest int64
// if there is none.
func Millis(seconds float64) int64 { return whole(math.Round(seconds * 1000)) }

// Truncate converts seconds to milliseconds as the reference does, which truncates.
func Truncate(seconds float64) int64 { return whole(seconds * 1000) }

// BaseMillis returns a base time in whole milliseconds.
func BaseMillis(base float64) int64 { return whole(math.Floor(base*1000 + 0.01)) }

// whole drops the fraction of ms. It returns the nearest int64 if there is none, as Java does.
func whole(ms float64) int64 {
	switch {
	case ms >= math.MaxInt64:
		return math.MaxInt64
	case ms <= math.MinInt64:
		return math.MinInt64
	}
	return int64(ms)
}

// AppendTimes appends START,LENGTH, from which a reader that truncates as the reference does gets
// exactly start and end, in milliseconds since the epoch, if START counts from base, in seconds.
// The reference truncates fractions that binary does not have: it reads 2.133 as 2132 ms. Such a
// number gets a microsecond more.
func AppendTimes(text []byte, base float64, start, end int64) []byte {
	text, from := appendMillis(text, start-BaseMillis(base), func(seconds float64) bool {
		return Truncate(seconds+base) == start
	})
	text = append(text, ',')
	text, _ = appendMillis(text, end-start, func(seconds float64) bool {
		return Truncate(from+base+seconds) == end
	})
	return text
}

// appendMillis appends milliseconds as seconds, with as much more or less than three decimals as it
// takes to be read right.
func appendMillis(text []byte, ms int64, right func(seconds float64) bool) ([]byte, float64) {
	begin := len(text)
	var seconds float64
	for _, more := range []int64{0, 1, -1, 10, -10, 100, -100, 0} {
		micros := ms*1000 + more
		text = text[:begin]
		if micros < 0 {
			text = append(text, '-')
			micros = -micros
		}
		text = strconv.AppendInt(text, micros/1e6, 10)
		text = append(text, '.')
		for digit := int64(100_000); digit > 0 && (digit >= 1000 || micros%(10*digit) > 0); digit /= 10 {
			text = append(text, byte('0'+micros/digit%10))
		}
		if seconds, _ = strconv.ParseFloat(string(text[begin:]), 64); right(seconds) {
			break
		}
	}
	return text, seconds
}

// AppendMax appends MAX, or 0.000 if it is not finite: it is only a hint.
func AppendMax(text []byte, highest float64) []byte {
	if !Finite(highest) {
		highest = 0
	}
	return strconv.AppendFloat(text, highest, 'f', 3, 64)
}

// maxRatio is the number by which MAX is below the highest value, as the reference writes it:
// values in nanoseconds show in milliseconds there.
const maxRatio = 1e6

// AppendMaxOf appends MAX of the values of an interval.
func AppendMaxOf(text []byte, h *histogram.Histogram) []byte {
	return AppendMax(text, h.Float(h.Max())/maxRatio)
}

// Finite reports whether MAX is finite. The reference does not read the spellings that writers have
// for infinity and for no number (+Inf, nan).
func Finite(highest float64) bool { return !math.IsInf(highest, 0) && !math.IsNaN(highest) }

const (
	// Version begins the comment that has the version of the log format.
	Version = "#[Histogram log format version"
	// Mark begins the comment by which a [hdrlog.Reader] recognizes the log of a [hdrlog.Writer].
	Mark = "#[Written by hdrkit"
	// Stress is the comment of cassandra-stress.
	Stress = "Logging op latencies for Cassandra Stress"
)

// IsVersion reports whether a line is one of the comments that [hdrlog.Writer.Version] writes.
func IsVersion(line []byte) bool { return bytes.HasPrefix(line, []byte(Version)) || IsMark(line) }

// IsMark reports whether a line begins with [Mark].
func IsMark(line []byte) bool { return bytes.HasPrefix(line, []byte(Mark)) }

// IsBaseTime reports whether a comment has the time from which starts count.
func IsBaseTime(comment []byte) bool {
	_, ok := CutPrefixFold(comment, "#[BaseTime:")
	return ok
}

// CutPrefixFold returns what follows prefix in a line, whatever the case of its letters is.
func CutPrefixFold(line []byte, prefix string) (rest []byte, ok bool) {
	if len(line) < len(prefix) || !bytes.EqualFold(line[:len(prefix)], []byte(prefix)) {
		return nil, false
	}
	return line[len(prefix):], true
}

// RevokesUnit reports whether a comment shows that another comment of the same log, which comes
// before it, does not say the unit: scylla-bench writes that of cassandra-stress for values in
// microseconds too, and is known from its spelling of BaseTime.
func RevokesUnit(comment, before []byte) bool {
	return bytes.HasPrefix(comment, []byte("#[Basetime:")) && bytes.HasPrefix(before, []byte("#"+Stress))
}
