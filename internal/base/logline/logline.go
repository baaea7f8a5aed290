// Package logline has the functions for lines of logs that package hdrlog shares with packages that
// write lines themselves, or copy lines of other logs.
package logline

import (
	"bytes"
	"math"
	"strconv"

	"hdrkit/hdrlog/histogram"
)

// Millis converts seconds that a log or a person wrote to milliseconds. It rounds: truncating gives
// the millisecond before if the binary fraction lies below the decimal number. A result out of
// range becomes the nearest int64.
func Millis(seconds float64) int64 { return truncated(math.Round(seconds * 1000)) }

// Truncate converts seconds to milliseconds as the reference does, which truncates.
func Truncate(seconds float64) int64 { return truncated(seconds * 1000) }

// BaseMillis converts a base time in seconds to milliseconds, rounded down. It adds 0.01 ms first,
// for binary fractions that lie below the decimal number.
func BaseMillis(base float64) int64 { return truncated(math.Floor(base*1000 + 0.01)) }

// truncated drops the fraction of ms. A number out of range becomes the nearest int64, as in Java.
func truncated(ms float64) int64 {
	switch {
	case ms >= math.MaxInt64:
		return math.MaxInt64
	case ms <= math.MinInt64:
		return math.MinInt64
	}
	return int64(ms)
}

// AppendTimes appends START,LENGTH of an interval from start to end, in milliseconds since the
// epoch. START counts from base, in seconds. A reader that truncates, as the reference does, gets
// exactly start and end. The reference reads 2.133 as 2132 ms, since the binary fraction lies below
// 2.133: to such a number AppendTimes adds a microsecond.
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

// appendMillis appends ms as seconds. It adds or subtracts up to 100 microseconds, until right
// accepts the number that a reader gets. It also returns this number.
func appendMillis(text []byte, ms int64, right func(seconds float64) bool) ([]byte, float64) {
	begin := len(text)
	var seconds float64
	for _, shift := range []int64{0, 1, -1, 10, -10, 100, -100, 0} {
		micros := ms*1000 + shift
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

// AppendMax appends MAX, or 0.000 if MAX is not finite: it is only a hint.
func AppendMax(text []byte, highest float64) []byte {
	if !Finite(highest) {
		highest = 0
	}
	return strconv.AppendFloat(text, highest, 'f', 3, 64)
}

// maxRatio is the number by which the reference divides the highest value to get MAX: values in
// nanoseconds become milliseconds.
const maxRatio = 1e6

// AppendMaxOf appends MAX of an interval with the values of h.
func AppendMaxOf(text []byte, h *histogram.Histogram) []byte {
	return AppendMax(text, h.Float(h.Max())/maxRatio)
}

// Finite reports whether MAX is finite. The reference does not read the words that writers have for
// infinity and for no number (+Inf, nan).
func Finite(highest float64) bool { return !math.IsInf(highest, 0) && !math.IsNaN(highest) }

const (
	// Version begins the comment that has the version of the log format.
	Version = "#[Histogram log format version"
	// Mark begins the comment by which a [hdrlog.Reader] recognizes the log of a [hdrlog.Writer].
	Mark = "#[Written by hdrkit"
	// Stress is the comment of cassandra-stress, without #.
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

// CutPrefixFold returns the text after prefix in a line, and ignores case. ok is false if the line
// does not begin with prefix.
func CutPrefixFold(line []byte, prefix string) (rest []byte, ok bool) {
	if len(line) < len(prefix) || !bytes.EqualFold(line[:len(prefix)], []byte(prefix)) {
		return nil, false
	}
	return line[len(prefix):], true
}

// RevokesUnit reports whether a comment shows that the comment before, of the same log, does not
// imply the unit. Scylla-bench writes the comment of cassandra-stress for values in microseconds,
// too. Its spelling of BaseTime identifies scylla-bench.
func RevokesUnit(comment, before []byte) bool {
	return bytes.HasPrefix(comment, []byte("#[Basetime:")) && bytes.HasPrefix(before, []byte("#"+Stress))
}

// AppendTag appends a tag as a log can hold it and the reference can read it: spaces, commas and
// line breaks become underscores, and a tag of more than most bytes is cut.
func AppendTag(to, tag []byte, most int) []byte {
	begin := len(to)
	to = append(to, tag[:min(len(tag), most)]...)
	for n, c := range to[begin:] {
		if c == ' ' || c == ',' || c == '\r' || c == '\n' {
			to[begin+n] = '_'
		}
	}
	return to
}
