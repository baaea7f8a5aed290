package hdrlog

import (
	"bytes"
	"math"

	"hdrkit/internal/base/logline"
)

// AppendFields appends START,LENGTH,MAX, of an interval, up to its payload, as they make sense in
// any log and to the reference, for programs that write intervals of other logs. It copies them
// from the log unless they are milliseconds, ends, or numbers that the reference does not read.
func (i *Interval) AppendFields(text []byte) []byte {
	if i.standard() {
		return append(text, i.head...)
	}
	start, length := standardTimes(i)
	text = append(text, formatSeconds(start)...)
	text = append(text, ',')
	text = append(text, formatSeconds(length)...)
	text = append(text, ',')
	return append(logline.AppendMax(text, i.MaxHint), ',')
}

// StandardTag returns a tag that a Reader returned as a log can hold it, for programs that write
// tags of other logs. The reference ends a tag at a space, so spaces become %20.
func StandardTag(tag []byte) []byte {
	if bytes.IndexByte(tag, ' ') < 0 {
		return tag
	}
	return bytes.ReplaceAll(tag, []byte(" "), []byte("%20"))
}

// standard reports whether head makes sense in any log as it stands.
func (i *Interval) standard() bool {
	return i.head != nil && logline.Finite(i.MaxHint)
}

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
