package hdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/plaintext"
)

// A Kind is the kind of a [Record].
type Kind uint8

const (
	// IntervalRecord is a histogram and its time; see [Record.Interval].
	IntervalRecord Kind = iota
	// Comment is a line that begins with # and carries no time.
	Comment
	// StartTime and BaseTime are comments that carry a time, in [Record.Seconds].
	StartTime
	BaseTime
	// Legend is the line that names the columns.
	Legend
	// Malformed is a line, or the rest of one, that could not be read. [Record.Err] has the reason.
	Malformed
	// Notice is not a line. [Record.Err] says how the reader took the line before differently from
	// the reference.
	Notice
)

var kinds = [...]string{"interval", "comment", "start time", "base time", "legend", "malformed line", "notice"}

// String returns the kind in words, as "interval" or "malformed line".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Record is a line of a log, or a notice about one. A line to which another one was glued is
// several records.
type Record struct {
	Kind Kind
	// Line is the number of the line, from 1.
	Line int
	// Text is the whole line without its end, and without other text before its fields (see
	// [ErrPrefix]). It is nil for a notice and for a line that is too long.
	Text []byte
	// Interval is set if Kind is IntervalRecord.
	Interval Interval
	// Seconds is the time since the epoch if Kind is StartTime or BaseTime.
	Seconds float64
	// Err is a [*SyntaxError] if Kind is Malformed or Notice, and otherwise nil.
	Err error

	unended bool // the line has no newline
}

// CutOff reports whether the line may be cut off, as a crash leaves it: the log ends in it, or
// another line begins in it.
func (r *Record) CutOff() bool {
	_, behind, found := bytes.Cut(r.Text, []byte(payloadBegin))
	return r.unended || found && (bytes.Contains(behind, []byte("#[")) || bytes.Contains(behind, []byte(payloadBegin)))
}

// Malformed returns err, for which the interval of the record cannot be used, with the name of the
// log and the line. The field is the payload, unless err is a [*SyntaxError] and names one. It says
// [ErrCutOff], too, if the line may be cut off.
func (r *Record) Malformed(log string, err error) *SyntaxError {
	e := SyntaxError{Field: "payload", Err: err}
	if named, ok := err.(*SyntaxError); ok {
		e = *named
	}
	e.File = log
	e.Line = r.Line
	if r.CutOff() {
		e.Err = fmt.Errorf("%w: %w", ErrCutOff, e.Err)
	}
	return &e
}

// Clone returns a copy of the record that stays valid.
func (r *Record) Clone() *Record {
	clone := *r
	clone.Text = bytes.Clone(r.Text)
	clone.Interval.Tag = bytes.Clone(r.Interval.Tag)
	clone.Interval.head = bytes.Clone(r.Interval.head)
	clone.Interval.Payload = bytes.Clone(r.Interval.Payload)
	return &clone
}

// Time returns the time of a record whose Kind is StartTime or BaseTime, to the microsecond.
func (r *Record) Time() time.Time { return timeOf(r.Seconds) }

// An Interval is a histogram and the time in which it was recorded. Its slices are views of the
// line.
type Interval struct {
	// Tag is the name of what was recorded. It is nil if the interval is untagged.
	Tag []byte
	// Payload is the encoded histogram, in base64. Package histogram decodes it.
	Payload []byte
	// Start is START in seconds, counted from Base. Length is how long the interval lasted, in
	// seconds. It is not negative: an interval that ends before it starts has no length.
	Start, Length float64
	// MaxHint is MAX as it stands in the log, in a unit that only the writer knows. The histogram
	// has the exact maximum.
	MaxHint float64
	// LogStart is the start time of the log, Base the time from which Start counts. Both are
	// seconds since the epoch.
	LogStart, Base float64

	// head is START,LENGTH,MAX, as it stands in the log, up to the payload. It is empty if no
	// reader returned the interval, or if Start and Length are not its numbers, since those are
	// milliseconds, ends of intervals, or a negative length, or have decimal commas.
	head []byte
}

// Histogram decodes the payload of the interval. It allocates all that it needs. A
// [histogram.Decoder] that is used again and again is faster, and can add intervals to a sum.
func (i *Interval) Histogram() (*histogram.Histogram, error) {
	h := new(histogram.Histogram)
	if err := new(histogram.Decoder).Decode(h, i.Payload); err != nil {
		return nil, err
	}
	return h, nil
}

// Absolute returns the start of the interval in seconds since the epoch.
func (i *Interval) Absolute() float64 { return i.Start + i.Base }

// Relative returns the start of the interval in seconds since the start of the log. Ranges of time
// are tested on it.
func (i *Interval) Relative() float64 { return i.Absolute() - i.LogStart }

// StartMillis returns the start of the interval in milliseconds since the epoch. It truncates, as
// the reference does.
func (i *Interval) StartMillis() int64 { return logline.Truncate(i.Absolute()) }

// EndMillis returns the end of the interval in milliseconds since the epoch. It truncates, as the
// reference does.
func (i *Interval) EndMillis() int64 { return logline.Truncate(i.Absolute() + i.Length) }

// StartTime returns the start of the interval, to the microsecond.
func (i *Interval) StartTime() time.Time { return timeOf(i.Absolute()) }

// EndTime returns the end of the interval, to the microsecond.
func (i *Interval) EndTime() time.Time { return timeOf(i.Absolute() + i.Length) }

// Duration returns the length of the interval, to the microsecond. It is at most 292 years, the
// longest [time.Duration].
func (i *Interval) Duration() time.Duration { return timeOf(i.Length).Sub(timeOf(0)) }

// timeOf converts seconds since the epoch. A float64 has no more than microseconds in these years.
func timeOf(seconds float64) time.Time {
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64(math.Round((seconds-whole)*1e6))*1000)
}

// A SyntaxError says where and why a line could not be read.
type SyntaxError struct {
	File  string
	Line  int
	Field string // tag, start, length, max, payload, line, StartTime or BaseTime
	Err   error  // the cause: one of the errors below, ErrTag, or an error of a histogram.Decoder
}

// Causes of the [SyntaxError] of a malformed line.
var (
	// ErrMissing: the line ends before the field.
	ErrMissing = errors.New("field is missing")
	// ErrLine: the line begins as a legend does, but names no column.
	ErrLine = errors.New("neither an interval nor a legend")
	// ErrNumber: the field is not a decimal number.
	ErrNumber = errors.New("not a number")
	// ErrTime: the interval starts or ends so far from the epoch, or lasts so long, that a float64
	// of seconds does not hold its milliseconds.
	ErrTime = errors.New("time is more than 35,000 years from the epoch")
	// ErrLineTooLong: the line is longer than the reader's limit.
	ErrLineTooLong = errors.New("line is too long")
	// ErrCutOff: the line is malformed and may be cut off, see [Record.CutOff]. The error wraps the
	// cause too.
	ErrCutOff = errors.New("the line is cut off")
	// ErrExtra: text follows the payload. It may be another line that lost its beginning.
	ErrExtra = errors.New("text follows the interval")
	// ErrCutShort: a compressed file ends in the middle.
	ErrCutShort = plaintext.ErrCutShort
	// ErrExpands: a compressed file stands for far more text than a log of its size can have.
	ErrExpands = plaintext.ErrExpands
	// ErrNoRecord: Reader.Record was called where there is no record.
	ErrNoRecord = errors.New("no record was read")
)

// Causes of the [SyntaxError] of a notice.
var (
	// ErrSecondEnd: the log proves that it holds ends instead of lengths, or suggests it and is too
	// short for a proof, or its intervals would last more than a day otherwise.
	// [ReaderOptions.Second] decides otherwise.
	ErrSecondEnd = errors.New("the second number is read as the interval's end")
	// ErrSecondDoubt: nothing proves what the second number is, and it matters.
	// [ReaderOptions.Second] decides.
	ErrSecondDoubt = errors.New("the second number may be the interval's end; it is read as the length")
	// ErrMilliseconds: the times would be after the year 5138 in seconds.
	ErrMilliseconds = errors.New("times are read as milliseconds")
	// ErrDecimalCommas: the numbers have decimal commas.
	ErrDecimalCommas = errors.New("numbers are read with decimal commas")
	// ErrBackwards: the length is negative.
	ErrBackwards = errors.New("the interval ends before it starts; it is read as one of no length")
	// ErrTagSpace: a tag contains a space, where the reference ends it. See [StandardTag].
	ErrTagSpace = errors.New("the tag contains a space; the reference does not read it, and a union writes %20")
	// ErrTimesChange: a comment changed the start or base time after intervals were read.
	ErrTimesChange = errors.New("the time changes")
	// ErrPrefix: other text stands before the fields of a line, such as the time of a program that
	// collects logs.
	ErrPrefix = errors.New("lines begin with other text; they are read from where their fields begin")
	// ErrTimesKept: the log continues another one without times of its own, see
	// [ReaderOptions.Continues].
	ErrTimesKept = errors.New("the log has no start time and no base time; those of the log before it are kept")
)

// Errors for values that were not made by their function.
var (
	errNoInput  = errors.New("hdrlog: the reader has no input; use NewReader or Open")
	errNoOutput = errors.New("hdrlog: the writer has no output; use NewWriter")
)

// Error returns FILE:LINE: FIELD: cause.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Field, e.Err)
}

// Unwrap returns the cause, nil for a nil error.
func (e *SyntaxError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
