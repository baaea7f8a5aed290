package hdrlog

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// A Kind says what a [Record] is.
type Kind uint8

const (
	// IntervalRecord: a histogram and its time; see [Record.Interval].
	IntervalRecord Kind = iota
	// Comment: a line that begins with # and tells no time.
	Comment
	// StartTime and BaseTime: a comment that tells a time, in [Record.Seconds].
	StartTime
	BaseTime
	// Legend: the line that names the columns.
	Legend
	// Malformed: a line that could not be read; [Record.Err] says why.
	Malformed
	// Notice: no line of its own, but [Record.Err] says what was peculiar about the one before and how it was read.
	Notice
)

// A Record is a line of a log, or something to be said of one.
type Record struct {
	Kind Kind
	// Line is the number of the line, from 1.
	Line int
	// Text is the whole line without its end.
	Text []byte
	// Interval is set where Kind is IntervalRecord.
	Interval Interval
	// Seconds is the time since the epoch where Kind is StartTime or BaseTime.
	Seconds float64
	// Err is set where Kind is Malformed or Notice.
	Err error
}

// An Interval is a histogram and the time that it was recorded in. Its slices are views of the line.
type Interval struct {
	// Tag names what was recorded; nil if the interval is untagged.
	Tag []byte
	// Fields is the line without its tag, as it stands: START,LENGTH,MAX,PAYLOAD.
	Fields []byte
	// Payload is the encoded histogram, base64. A [histogram.Decoder] decodes it.
	Payload []byte
	// Start and Length are seconds: START as it stands in the log, which may count from a base, and how long the
	// interval lasted, which is not negative: an interval that ends before it starts has no length.
	Start, Length float64
	// MaxHint is MAX as it stands in the log, in a unit that only the writer knows. The histogram knows better.
	MaxHint float64
	// Mended is set where Start and Length are not what Fields says literally, because the log's numbers are
	// milliseconds, or ends of intervals, or have decimal commas: then Fields makes no sense in another log.
	Mended bool
	// goMax is set where MAX is a number to Go and to no other.
	goMax bool
	// LogStart and Base are the start time of the log and what Start counts from, both in seconds since the epoch.
	LogStart, Base float64
}

// Standard reports whether Fields makes sense in any log as it stands, and to the reference, but for the payload.
func (i *Interval) Standard() bool {
	return !i.Mended && !i.goMax && i.finiteMax()
}

// finiteMax reports whether MAX is a number. The reference does not read +Inf and nan, which writers have for it.
func (i *Interval) finiteMax() bool { return !math.IsInf(i.MaxHint, 0) && !math.IsNaN(i.MaxHint) }

// StandardMax returns MAX for another log, where Fields does not serve.
func (i *Interval) StandardMax() string {
	if !i.finiteMax() {
		return "0.000" // it is but a hint
	}
	return strconv.FormatFloat(i.MaxHint, 'f', 3, 64)
}

// Absolute returns the start of the interval in seconds since the epoch.
func (i *Interval) Absolute() float64 { return i.Start + i.Base }

// Relative returns the start of the interval in seconds since the start of the log: what ranges are tested on.
func (i *Interval) Relative() float64 { return i.Absolute() - i.LogStart }

// StartMillis returns the start of the interval in milliseconds since the epoch, truncated as in the reference.
func (i *Interval) StartMillis() int64 { return millis(i.Absolute()) }

// EndMillis returns the end of the interval in milliseconds since the epoch, truncated as in the reference.
func (i *Interval) EndMillis() int64 { return millis(i.Absolute() + i.Length) }

// millis converts seconds, holding what an int64 cannot at its bounds, as Java does.
func millis(seconds float64) int64 {
	ms := seconds * 1000
	switch {
	case ms >= math.MaxInt64:
		return math.MaxInt64
	case ms <= math.MinInt64:
		return math.MinInt64
	}
	return int64(ms)
}

// A SyntaxError says where and why a line could not be read.
type SyntaxError struct {
	File  string
	Line  int
	Field string // tag, start, length, max, payload, line, StartTime or BaseTime
	Err   error  // the cause: one of the errors below, ErrTag, or one of package histogram, wrapped with the text that was found
}

// Causes of a [SyntaxError], beside those of package histogram.
var (
	// ErrMissing: the line ends before the field.
	ErrMissing = errors.New("field is missing")
	// ErrLine: the line begins as a legend does, but names no column.
	ErrLine = errors.New("neither an interval nor a legend")
	// ErrNumber: the field is not a decimal number.
	ErrNumber = errors.New("not a number")
	// ErrTime: the interval would start or end more than some 35,000 years from the epoch, or lasts as long.
	ErrTime = errors.New("time is too far from the epoch to be told to the millisecond")
	// ErrLineTooLong: the line is longer than the reader's limit.
	ErrLineTooLong = errors.New("line is too long")
	// ErrExtra: text follows the payload. It may be another line that lost its beginning.
	ErrExtra = errors.New("text follows the interval")
	// ErrNoRecord: Reader.Record was called where there is no record.
	ErrNoRecord = errors.New("no record was read")
	// ErrCutShort: a compressed file ends in the middle.
	ErrCutShort = errors.New("compressed file is cut short or damaged")
)

// Causes of the [SyntaxError] of a [Notice].
var (
	// ErrSecondEnd: the log proves that it holds ends instead of lengths. [Reader.SetSecond] can
	// decide otherwise.
	ErrSecondEnd = errors.New("the second number is read as the interval's end")
	// ErrSecondDoubt: the legend promises ends, but nothing proves them. [Reader.SetSecond] decides.
	ErrSecondDoubt = errors.New("the second number may be the interval's end, as the legend says; it is read as the length, as the reference does")
	// ErrMilliseconds: the times would be after the year 5138 in seconds.
	ErrMilliseconds = errors.New("times are read as milliseconds")
	// ErrDecimalCommas: the numbers have decimal commas.
	ErrDecimalCommas = errors.New("numbers are read with decimal commas")
	// ErrBackwards: the length is negative.
	ErrBackwards = errors.New("the interval ends before it starts; it is read as one of no length")
	// ErrTimesChange: a comment changed the start or base time after intervals were read.
	ErrTimesChange = errors.New("the time changes")
	// ErrTimesKept: the log continues another one without times of its own, see [Reader.Continue].
	ErrTimesKept = errors.New("the log has no start time and no base time; those of the log before it are kept")
)

var errNoInput = errors.New("hdrlog: the reader has no input; use NewReader or Open")

// Error returns FILE:LINE: FIELD: cause.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Field, e.Err)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }
