package hdrlog

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
)

// MaxTag is the length of the longest tag in bytes.
const MaxTag = 4 << 10

// Causes of the errors of a [Writer], beside those of a [SyntaxError].
var (
	// ErrTag: no log can hold the tag. It is also a cause of a [SyntaxError], if a tag contains a
	// carriage return.
	ErrTag = errors.New("tag contains a comma, a space or a line break")
	// ErrTagTooLong: the tag is longer than [MaxTag]. It is also a cause of a [SyntaxError].
	ErrTagTooLong = errors.New("tag is too long")
	// ErrNegative: the length of the interval is negative.
	ErrNegative = errors.New("the length is negative")
	// ErrComment: a reader would read the comment as a start or base time.
	ErrComment = errors.New("the comment reads as a time")
	// ErrNoHistogram: there is no histogram to write.
	ErrNoHistogram = errors.New("no histogram")
)

// A Writer writes a log that the reference reads. Begin with [Writer.Version], comments, the base
// and start time, and [Writer.Legend], then write intervals. Call Flush at the end, since a Writer
// buffers.
//
// A Writer writes nothing that a [Reader] would complain about or read differently: a wrong
// argument, such as a tag with a comma, is an error of that call, and the next call works. It keeps
// its first error of writing and returns it from all later calls, Flush included. It is not safe
// for concurrent use.
type Writer struct {
	w       *bufio.Writer
	encoder histogram.Encoder
	line    []byte
	marked  bool    // mark was called
	base    float64 // the base time, in seconds since the epoch
	err     error   // the first error of writing
	checker Reader  // parses lines before they are written
}

// NewWriter returns a writer of a log to w.
func NewWriter(w io.Writer) *Writer {
	if w == nil {
		return new(Writer)
	}
	return &Writer{w: bufio.NewWriterSize(w, 64<<10)}
}

// Flush writes the buffered text. It returns the first error of writing.
func (w *Writer) Flush() error {
	if w.ready() {
		w.fail(w.w.Flush())
	}
	return w.err
}

// Version writes two comments: the version of the log format, 1.3, and one by which a [Reader]
// recognizes that the log holds lengths in seconds. Such a log needs no guess.
func (w *Writer) Version() error {
	if w.ready() {
		w.print(logline.Version + " 1.3]\n")
		w.mark()
	}
	return w.err
}

// mark writes the comment by which a Reader recognizes the log of a Writer.
func (w *Writer) mark() {
	w.marked = true
	w.print(logline.Mark + ": START and LENGTH are seconds]\n")
}

// Comment writes a comment. It writes each line of text as a comment of its own.
func (w *Writer) Comment(text string) error {
	if !w.ready() {
		return w.err
	}
	for line := range strings.Lines(text) {
		w.line = append(append(w.line[:0], '#'), strings.TrimRight(line, "\r\n")...)
		var rec Record
		_, err := w.checker.parseComment(&rec, w.line)
		switch {
		case err != nil || rec.Kind != Comment:
			return fmt.Errorf("%w: %s", ErrComment, quoted(w.line))
		case len(w.line) > MaxLine:
			return fmt.Errorf("%w: a comment over %d bytes", ErrLineTooLong, MaxLine)
		}
		w.write(append(w.line, '\n'))
	}
	return w.err
}

// StartTime writes the start of the log, in seconds since the epoch.
func (w *Writer) StartTime(seconds float64) error {
	if err := checkTime("start time", seconds); err != nil {
		return err
	}
	if w.ready() {
		date := time.UnixMilli(logline.Truncate(seconds)).UTC().Format("Mon Jan 02 15:04:05 MST 2006")
		w.print("#[StartTime: " + formatSeconds(seconds) + " (seconds since epoch), " + date + "]\n")
	}
	return w.err
}

// BaseTime writes the time from which the starts of intervals count, in seconds since the epoch.
func (w *Writer) BaseTime(seconds float64) error {
	if err := checkTime("base time", seconds); err != nil {
		return err
	}
	if w.ready() {
		w.base = seconds
		w.print("#[BaseTime: " + formatSeconds(seconds) + " (seconds since epoch)]\n")
	}
	return w.err
}

// checkTime returns an error if a Reader would refuse a time.
func checkTime(name string, seconds float64) error {
	switch {
	case math.IsNaN(seconds):
		return fmt.Errorf("%w: %s %v", ErrNumber, name, seconds)
	case math.Abs(seconds) > maxTime:
		return fmt.Errorf("%w: %s %v", ErrTime, name, seconds)
	}
	return nil
}

// formatSeconds formats seconds for a log: exactly, and with at least three decimals.
func formatSeconds(seconds float64) string {
	text := strconv.FormatFloat(seconds, 'f', -1, 64)
	point := strings.IndexByte(text, '.')
	if point < 0 {
		return text + ".000"
	}
	return text + strings.Repeat("0", max(0, 3-(len(text)-point-1)))
}

// Legend writes the line that names the columns.
func (w *Writer) Legend() error {
	if w.ready() {
		w.print(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n")
	}
	return w.err
}

// Interval writes an interval: its tag, or nil if it has none; its start, counted from the base
// time, and its length, both in seconds and rounded to the millisecond; and its histogram. A reader
// that truncates, as the reference does, gets these milliseconds. MAX is the highest value divided
// by 1,000,000, as the reference writes it. Interval does not keep h.
func (w *Writer) Interval(tag []byte, start, length float64, h *histogram.Histogram) error {
	if !w.ready() {
		return w.err
	}
	if err := cmp.Or(checkTime("start", start), checkTime("length", length)); err != nil {
		return err
	}
	if h == nil {
		return ErrNoHistogram
	}
	from := logline.BaseMillis(w.base) + logline.Millis(start)
	w.line = logline.AppendTimes(w.line[:0], w.base, from, from+logline.Millis(length))
	w.line = logline.AppendMaxOf(append(w.line, ','), h)
	line, err := w.encoder.AppendBase64(append(w.line, ','), h)
	if err != nil {
		return err
	}
	w.line = line
	return w.WriteEncoded(tag, line)
}

// CheckTag returns nil if a log can hold a tag, and otherwise an error that wraps [ErrTag] or
// [ErrTagTooLong].
func CheckTag(tag []byte) error {
	switch {
	case bytes.ContainsAny(tag, ", \r\n"):
		return fmt.Errorf("%w: %s", ErrTag, quoted(tag))
	case len(tag) > MaxTag:
		return errLongTag(tag)
	}
	return nil
}

func errLongTag(tag []byte) error {
	return fmt.Errorf("%w: over %d bytes: %s", ErrTagTooLong, MaxTag, quoted(tag))
}

// WriteEncoded writes an interval whose text exists already: its tag, or nil if it has none, and
// the fields START,LENGTH,MAX,PAYLOAD, with times in seconds. [Interval.AppendFields] makes these
// fields from an interval of another log.
func (w *Writer) WriteEncoded(tag, fields []byte) error {
	if !w.ready() {
		return w.err
	}
	if err := cmp.Or(CheckTag(tag), w.checkFields(fields)); err != nil {
		return err
	}
	if !w.marked {
		w.mark()
	}
	if tag != nil {
		w.print("Tag=")
		w.write(tag)
		w.print(",")
	}
	w.write(fields)
	w.print("\n")
	return w.err
}

// checkFields returns an error if a Reader would refuse the fields or read them differently.
func (w *Writer) checkFields(fields []byte) error {
	var i Interval
	r := &w.checker
	r.times.base = w.base
	r.times.hasBase = true
	r.dialect.byHdrkit = true
	field, err := r.parseInterval(&i, fields)
	extra := r.extras.text != nil
	r.extras.text, r.extras.notes = nil, r.extras.notes[:0]
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", field, err)
	case i.head == nil:
		return fmt.Errorf("start: %w: %s", ErrNumber, quoted(fields))
	case extra || bytes.IndexByte(fields, '\n') >= 0 || len(i.head)+len(i.Payload) != len(fields) || len(bytes.TrimRight(fields, "\r \t")) != len(fields):
		return fmt.Errorf("%w: %s", ErrExtra, quoted(fields))
	case i.Length < 0:
		return fmt.Errorf("%w: %v", ErrNegative, i.Length)
	}
	return nil
}

// ready reports whether the Writer can write.
func (w *Writer) ready() bool {
	if w.w == nil {
		w.fail(errNoOutput)
	}
	return w.err == nil
}

// fail sets the error of writing, unless there is one already.
func (w *Writer) fail(err error) { w.err = cmp.Or(w.err, err) }

func (w *Writer) write(text []byte) {
	_, err := w.w.Write(text)
	w.fail(err)
}

func (w *Writer) print(text string) {
	_, err := w.w.WriteString(text)
	w.fail(err)
}
