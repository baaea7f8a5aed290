package hdrlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog/histogram"
)

// ErrTag is the error for a tag that no log can hold, because it contains a comma, a space or the end of a line. It is also
// the cause of a [SyntaxError] where a carriage return stands in a tag.
var ErrTag = errors.New("tag contains a comma, a space or a line break")

// MaxRatio is what a [Writer] divides the highest value by for MAX, as the reference does: values in nanoseconds show in
// milliseconds there.
const MaxRatio = 1e6

// A Writer writes a log that the reference reads. What opens a log comes first: [Writer.Version], comments, the base and
// the start time, [Writer.Legend]. It buffers; call Flush at the end. An error is kept and returned by all later calls.
// It is not safe for concurrent use.
type Writer struct {
	w       *bufio.Writer
	encoder histogram.Encoder
	line    []byte
}

// NewWriter returns a writer of a log to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 64<<10)}
}

// Flush writes what is buffered.
func (w *Writer) Flush() error { return w.w.Flush() }

// Version writes two comments: the version of the log format, 1.3, and one by which a [Reader]
// recognizes that the log holds lengths in seconds. It does not guess then.
func (w *Writer) Version() error {
	return w.Comment(version[1:] + " 1.3]\n" + mark[1:] + ": START and LENGTH are seconds]")
}

// Comment writes a comment, each line of text on its own.
func (w *Writer) Comment(text string) error {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w.w, "#%s\n", strings.TrimRight(line, "\r\n"))
	}
	return w.err()
}

// StartTime writes when the log starts, in seconds since the epoch.
func (w *Writer) StartTime(seconds float64) error {
	date := time.UnixMilli(millis(seconds)).UTC().Format("Mon Jan 02 15:04:05 MST 2006")
	return w.Comment(fmt.Sprintf("[StartTime: %s (seconds since epoch), %s]", Seconds(seconds), date))
}

// BaseTime writes what the starts of intervals count from, in seconds since the epoch.
func (w *Writer) BaseTime(seconds float64) error {
	return w.Comment(fmt.Sprintf("[BaseTime: %s (seconds since epoch)]", Seconds(seconds)))
}

// Seconds formats seconds for a log: exactly, with three decimals at least.
func Seconds(seconds float64) string {
	text := strconv.FormatFloat(seconds, 'f', -1, 64)
	point := strings.IndexByte(text, '.')
	if point < 0 {
		return text + ".000"
	}
	return text + strings.Repeat("0", max(0, 3-(len(text)-point-1)))
}

// Legend writes the line that names the columns.
func (w *Writer) Legend() error {
	w.w.WriteString(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n")
	return w.err()
}

// Interval writes an interval: its tag, nil if it has none, its start, counted from the base time, and its length in
// seconds, to the millisecond, and its histogram, which is not kept.
func (w *Writer) Interval(tag []byte, start, length float64, h *histogram.Histogram) error {
	if math.IsNaN(start+length) || math.IsInf(start+length, 0) {
		return fmt.Errorf("%w: start %v, length %v", ErrNumber, start, length)
	}
	w.line = append(w.line[:0], fmt.Sprintf("%.3f,%.3f,%.3f,", round3(start), round3(length), h.Float(h.Max())/MaxRatio)...)
	line, err := w.encoder.AppendBase64(w.line, h)
	if err != nil {
		return err
	}
	w.line = line
	return w.Fields(tag, line)
}

// round3 drops the sign of what rounds to zero.
func round3(seconds float64) float64 {
	if math.Abs(seconds) < 0.0005 {
		return 0
	}
	return seconds
}

// CheckTag returns nil if a log can hold a tag, and otherwise an error that wraps [ErrTag].
func CheckTag(tag []byte) error {
	if bytes.ContainsAny(tag, ", \r\n") {
		return fmt.Errorf("%w: %s", ErrTag, quoted(tag))
	}
	return nil
}

// Fields writes an interval that is encoded already: the fields START,LENGTH,MAX,PAYLOAD of [Interval.Fields], under a
// tag, nil for none.
func (w *Writer) Fields(tag, fields []byte) error {
	if tag != nil {
		if err := CheckTag(tag); err != nil {
			return err
		}
		w.w.WriteString("Tag=")
		w.w.Write(tag)
		w.w.WriteByte(',')
	}
	w.w.Write(fields)
	w.w.WriteByte('\n')
	return w.err()
}

// err returns the error that the buffered writer keeps.
func (w *Writer) err() error {
	_, err := w.w.Write(nil)
	return err
}
