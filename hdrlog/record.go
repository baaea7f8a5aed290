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
	// Malformed is a line, or a part of a line, that could not be read. [Record.Err] has the
	// reason.
	Malformed
	// Notice is a remark about the line before. [Record.Err] says how the reader read that line
	// differently from the reference.
	Notice
)

var kindNames = [...]string{"interval", "comment", "start time", "base time", "legend", "malformed line", "notice"}

// String returns the kind in words, such as "interval" or "malformed line".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Record is a line of a log, or a notice about a line. A line becomes several records if its
// newline was lost and another line follows in it.
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

// CutOff reports whether the line may be cut off, as after a crash: the log ends in the line, or
// another line begins in it.
func (r *Record) CutOff() bool {
	_, behind, found := bytes.Cut(r.Text, []byte(payloadBegin))
	return r.unended || found && (bytes.Contains(behind, []byte("#[")) || bytes.Contains(behind, []byte(payloadBegin)))
}

// Malformed returns err as the [SyntaxError] of this record in a log, for callers that cannot use
// the interval because of err. The field is the payload, unless err is a [*SyntaxError], which has
// a field. The error also wraps [ErrCutOff] if the line may be cut off.
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

// Clone returns a copy of the record with memory of its own.
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
	// MaxHint is the number MAX of the log, in a unit that only the writer knows. The histogram has
	// the exact maximum.
	MaxHint float64
	// LogStart is the start time of the log, and Base is the time from which Start counts. Both are
	// seconds since the epoch.
	LogStart, Base float64

	// head is the text START,LENGTH,MAX, of the log, up to the payload. It is empty if no reader
	// returned the interval, or if Start and Length are not the numbers of the text, because these
	// are milliseconds, an end or a negative length, or have decimal commas.
	head []byte
}

// Histogram decodes the payload of the interval into new memory. A [histogram.Decoder] that is used
// again and again is faster, and can add intervals to a sum.
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
// are compared with it.
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

// timeOf converts seconds since the epoch, rounded to the microsecond: a float64 has no more
// precision in these years.
func timeOf(seconds float64) time.Time {
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64(math.Round((seconds-whole)*1e6))*1000)
}

// A SyntaxError says where and why a line could not be read, or was read differently from the
// reference.
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
	// ErrLine: the line is neither an interval nor a comment nor a legend.
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
	// short for a proof, or its intervals would last more than a day as lengths.
	// [ReaderOptions.Second] overrides this.
	ErrSecondEnd = errors.New("the second number is read as the interval's end")
	// ErrSecondDoubt: nothing proves whether the second number is a length or an end, and the two
	// differ much. [ReaderOptions.Second] decides.
	ErrSecondDoubt = errors.New("the second number may be the interval's end; it is read as the length")
	// ErrMilliseconds: if the times were seconds, they would be after the year 5138.
	ErrMilliseconds = errors.New("times are read as milliseconds")
	// ErrDecimalCommas: the numbers have decimal commas.
	ErrDecimalCommas = errors.New("numbers are read with decimal commas")
	// ErrBackwards: the length is negative.
	ErrBackwards = errors.New("the interval ends before it starts; it is read as one of no length")
	// ErrTagSpace: a tag contains a space, at which the reference ends the tag. See [StandardTag].
	ErrTagSpace = errors.New("the tag contains a space; the reference does not read it, and a union writes %20")
	// ErrTimesChange: a comment changed the start or base time after intervals were read.
	ErrTimesChange = errors.New("the time changes")
	// ErrPrefix: other text stands before the fields of a line, such as a time that a program
	// writes which collects logs.
	ErrPrefix = errors.New("lines begin with other text; they are read from where their fields begin")
	// ErrTimesKept: the log has no times of its own and continues another one, see
	// [ReaderOptions.Continues].
	ErrTimesKept = errors.New("the log has no start time and no base time; those of the log before it are kept")
)

// Errors of a zero Reader or Writer.
var (
	errNoInput  = errors.New("hdrlog: the reader has no input; use NewReader or Open")
	errNoOutput = errors.New("hdrlog: the writer has no output; use NewWriter")
)

// Error returns FILE:LINE: FIELD: cause.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Field, e.Err)
}

// Unwrap returns the cause, or nil if e is nil.
func (e *SyntaxError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
