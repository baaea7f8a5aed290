package hdrlog

import (
	"bytes"
	"math"

	"hdrkit/internal/base/logline"
)

// AppendFields appends START,LENGTH,MAX, of an interval, up to its payload, for programs that copy
// intervals to another log. It copies the text of the log, unless the numbers are milliseconds or
// ends, or the reference does not read them. Then it writes them as seconds and a length.
func (i *Interval) AppendFields(text []byte) []byte {
	if i.isStandard() {
		return append(text, i.head...)
	}
	start, length := standardTimes(i)
	text = append(text, formatSeconds(start)...)
	text = append(text, ',')
	text = append(text, formatSeconds(length)...)
	text = append(text, ',')
	return append(logline.AppendMax(text, i.MaxHint), ',')
}

// StandardTag returns a tag of a Reader as a log can hold it, for programs that write tags of other
// logs. The reference ends a tag at a space, so spaces become %20.
func StandardTag(tag []byte) []byte {
	if bytes.IndexByte(tag, ' ') < 0 {
		return tag
	}
	return bytes.ReplaceAll(tag, []byte(" "), []byte("%20"))
}

// isStandard reports whether head is right in any log, and the reference reads it.
func (i *Interval) isStandard() bool {
	return i.head != nil && logline.Finite(i.MaxHint)
}

// standardTimes returns the start and the length in seconds, rounded to the microsecond, since the
// last digits of a difference of large numbers mean nothing. If rounding changed the millisecond,
// it returns them exactly.
func standardTimes(i *Interval) (start, length float64) {
	micros := func(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
	rounded := Interval{Start: micros(i.Start), Length: micros(i.Length), Base: i.Base}
	if rounded.StartMillis() != i.StartMillis() || rounded.EndMillis() != i.EndMillis() {
		return i.Start, i.Length
	}
	return rounded.Start, rounded.Length
}
