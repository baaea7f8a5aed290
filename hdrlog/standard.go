package hdrlog

import (
	"bytes"
	"math"
	"strconv"

	"hdrkit/hdrlog/histogram"
)

// AppendStandard appends START,LENGTH,MAX, of an interval, up to its payload, as they make sense in
// any log and to the reference. It copies them from the log unless they are milliseconds, ends, or
// numbers that the reference does not read.
func AppendStandard(text []byte, i *Interval) []byte {
	if i.standard() {
		return append(text, i.head...)
	}
	start, length := standardTimes(i)
	text = append(text, formatSeconds(start)...)
	text = append(text, ',')
	text = append(text, formatSeconds(length)...)
	text = append(text, ',')
	return append(AppendMax(text, i), ',')
}

// StandardTag returns a tag that a Reader returned as a log can hold it, for programs that write
// tags of other logs. The reference ends a tag at a space, so spaces become %20.
func StandardTag(tag []byte) []byte {
	if bytes.IndexByte(tag, ' ') < 0 {
		return tag
	}
	return bytes.ReplaceAll(tag, []byte(" "), []byte("%20"))
}

// AppendMax appends MAX of an interval, as it stands in the log if the reference reads that. An
// interval that no reader returned has its MaxHint. It is for packages that keep a payload and
// change its times.
func AppendMax(text []byte, i *Interval) []byte {
	switch {
	case i.standard():
		head := bytes.TrimRight(i.head, ", ")
		return append(text, head[bytes.LastIndexAny(head, ", ")+1:]...)
	}
	return appendHint(text, i.MaxHint)
}

// AppendMaxOf appends MAX of an interval with the counts of h: the highest value, divided by
// [MaxRatio].
func AppendMaxOf(text []byte, h *histogram.Histogram) []byte {
	return appendHint(text, h.Float(h.Max())/MaxRatio)
}

// appendHint appends MAX, or 0.000 if it is not finite: it is only a hint.
func appendHint(text []byte, highest float64) []byte {
	if !finite(highest) {
		highest = 0
	}
	return strconv.AppendFloat(text, highest, 'f', 3, 64)
}

// standard reports whether head makes sense in any log as it stands.
func (i *Interval) standard() bool {
	return i.head != nil && finite(i.MaxHint)
}

// finite reports whether MAX is finite. The reference does not read the spellings that writers have
// for infinity and for no number (+Inf, nan).
func finite(highest float64) bool { return !math.IsInf(highest, 0) && !math.IsNaN(highest) }

// standardTimes returns the start and the length to the microsecond, since a difference of large
// numbers has digits that mean nothing. It returns them exactly if rounding gave another
// millisecond.
func standardTimes(i *Interval) (start, length float64) {
	micros := func(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
	short := Interval{Start: micros(i.Start), Length: micros(i.Length), Base: i.Base}
	if short.StartMillis() != i.StartMillis() || short.EndMillis() != i.EndMillis() {
		return i.Start, i.Length
	}
	return short.Start, short.Length
}

// AppendTimes appends START,LENGTH, from which a reader that truncates as the reference does gets
// exactly start and end, in milliseconds since the epoch, if START counts from base, in seconds.
// The reference truncates fractions that binary does not have: it reads 2.133 as 2132 ms. Such a
// number gets a microsecond more.
func AppendTimes(text []byte, base float64, start, end int64) []byte {
	counted := Interval{Base: base}
	text, counted.Start = appendMillis(text, start-baseMillis(base), func(seconds float64) bool {
		counted.Start = seconds
		return counted.StartMillis() == start
	})
	text = append(text, ',')
	text, _ = appendMillis(text, end-start, func(seconds float64) bool {
		counted.Length = seconds
		return counted.EndMillis() == end
	})
	return text
}

// baseMillis returns a base time in whole milliseconds.
func baseMillis(base float64) int64 { return whole(math.Floor(base*1000 + 0.01)) }

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
