package hdrlog

import (
	"bytes"
	"math"
	"strconv"
)

// AppendStandard appends START,LENGTH,MAX, of an interval, up to its payload, as they make sense in
// any log and to the reference. It copies them from the log unless they are milliseconds, ends, or
// numbers that the reference does not read.
func AppendStandard(text []byte, i *Interval) []byte {
	if i.standard() {
		return append(text, i.Fields[:len(i.Fields)-len(i.Payload)]...)
	}
	start, length := standardTimes(i)
	text = append(text, Seconds(start)...)
	text = append(text, ',')
	text = append(text, Seconds(length)...)
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
		head := bytes.TrimRight(i.Fields[:len(i.Fields)-len(i.Payload)], ", ")
		return append(text, head[bytes.LastIndexAny(head, ", ")+1:]...)
	case !i.finiteMax():
		return append(text, "0.000"...) // it is only a hint
	}
	return strconv.AppendFloat(text, i.MaxHint, 'f', 3, 64)
}

// standard reports whether Fields makes sense in any log as it stands.
func (i *Interval) standard() bool {
	return len(i.Fields) > 0 && !i.mended && i.finiteMax()
}

// finiteMax reports whether MAX is finite. The reference does not read the spellings that writers
// have for infinity and for no number (+Inf, nan).
func (i *Interval) finiteMax() bool { return !math.IsInf(i.MaxHint, 0) && !math.IsNaN(i.MaxHint) }

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
