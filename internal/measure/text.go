package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/plaintext"
	"hdrkit/internal/base/unit"
)

// Detect detects measurements in a file whose format needs no options. Then it returns a reader of
// the measurements. Otherwise reader is nil, rest is the file from its beginning, and begin is the
// first part of its text. err is then an error that options of hdrrec would avoid, or
// [ErrNoInterval], or nil if the file is a log, is blank, or is too long to tell.
//
// in is the unit of values that the user gives, 0 if none.
//
// A log is never taken for a table, since a table needs a header with usual names, or a format that
// no log resembles. JSON needs a histogram in its first megabyte.
func Detect(file io.Reader, name string, in hdrlog.Unit) (reader *Reader, rest io.Reader, begin []byte, err error) {
	var text bytes.Buffer // the part that was read so far
	b := beginningOf(io.TeeReader(file, &text))
	rest = io.MultiReader(&text, file)
	h := newHead(b, 0)
	f, unknown := choose("", h)
	if unknown == nil && f.Name == hist.Name && !h.isJSON() && !isPayload(h.line) && !isBinary(h.text) {
		unknown = errors.ErrUnsupported
	}
	if unknown == nil {
		reader = newReader(name)
		reader.statedUnit = in
		if err = reader.open(plaintext.NewReader(rest), f, h, Options{Unit: in}); err == nil {
			return reader, nil, b.text, nil
		}
		if f.Name == csv.Name && !h.isTable() {
			err = nil
		}
	}
	encoded := func(text []byte) bool { return bytes.Contains(text, []byte("HIST")) }
	if begin := b.more(512, nil); !IsLog(begin) {
		b.more(maxRecord, encoded)
	}
	switch {
	case IsLog(b.text) || encoded(b.text):
		err = nil
	case err == nil && b.err == io.EOF && len(bytes.TrimSpace(b.text)) > 0:
		err = ErrNoInterval
	}
	return nil, rest, b.text, err
}

// ErrNoInterval is the error of a text that is neither a log nor measurements.
var ErrNoInterval = errors.New("it has no interval")

// LinesHint says how hdrrec reads lines of an unknown format, for a message with the first line.
func LinesHint(begin []byte) string {
	return fmt.Sprintf("hdrrec -pattern reads lines that have a time and a value; the first line is %s", quoted(firstNonBlankLine(begin)))
}

// Guessed reports whether the options leave the columns of the time or of the value open.
func (r *Reader) Guessed() bool {
	o := &r.given
	return r.parser.payloads == nil && r.format != nil && (o.Columns.Time == "" || o.Columns.Value == "" && o.Columns.End == "")
}

// Interpretation says which columns are read as what, for a message.
func (r *Reader) Interpretation() string {
	if r.parser.payloads != nil {
		if r.format.Name == hist.Name {
			return "histograms in base64"
		}
		return r.format.Name + ": histograms"
	}
	s, at := r.parser.setup, "start"
	if s.atEnd {
		at = "end"
	}
	in := " in " + s.options.Unit.String()
	if s.options.Unit == 0 {
		in = " with its unit"
	}
	value := columnLabel(s.options.Columns.Value)
	tags := s.options.Columns.Tags
	if len(s.series) > 0 && s.series[0].tag != "" {
		value = ""
		for n, of := range s.series {
			value += []string{"", ", "}[min(n, 1)] + of.tag
		}
		tags = tags[1:]
	}
	text := fmt.Sprintf("%s: %s is the time of the %s, %s the value%s", r.format.Name, columnLabel(s.options.Columns.Time), at, value, in)
	if s.timeless {
		text = fmt.Sprintf("%s: %s is the value%s, without a time", r.format.Name, value, in)
	}
	if s.options.Columns.Count != "" {
		text += ", as often as " + columnLabel(s.options.Columns.Count) + " says"
	}
	if s.options.Columns.End != "" {
		text = fmt.Sprintf("%s: the value is the time from %s to %s", r.format.Name, columnLabel(s.options.Columns.Time), columnLabel(s.options.Columns.End))
	}
	for n, tag := range tags {
		text += []string{", the tag ", "/"}[min(n, 1)] + columnLabel(tag)
	}
	return text
}

// columnLabel returns the name of a column for a message. A name that is only a number gets the
// word column before it.
func columnLabel(name string) string {
	if _, err := strconv.Atoi(name); err == nil {
		return "column " + name
	}
	return name
}

// header writes the comments of a log: the format of the rows, and the unit of the values.
func (r *Reader) header(log *hdrlog.Writer, atEnd bool) error {
	at := "start"
	if atEnd {
		at = "end"
	}
	text := fmt.Sprintf("[Recorded by hdrrec from %s, values at their %s]", r.Format(), at)
	if r.statedUnit != 0 {
		text += "\n" + unit.RowsComment(r.statedUnit)
	}
	if u := r.Unit(); u != 0 {
		text += "\n" + u.Comment()
	}
	return log.Comment(text)
}

// A Text is the log that a recorder makes of the rows of readers, while the log is read.
type Text struct {
	*Recorder
	// Closer closes the files of the readers.
	io.Closer
	log     bytes.Buffer
	hasMore bool
}

func NewText(o Recording, readers []*Reader) *Text {
	t := &Text{hasMore: true}
	t.Recorder = NewRecorder(hdrlog.NewWriter(&t.log), o)
	t.start(readers)
	return t
}

// Read reads the log.
func (t *Text) Read(p []byte) (n int, err error) {
	for t.hasMore && t.log.Len() == 0 {
		if err := t.advance(); err != nil {
			if file, ok := err.(*fileError); ok {
				err = file.err // the log's reader adds the name
			}
			return 0, err
		}
	}
	return t.log.Read(p)
}

func (t *Text) advance() (err error) {
	t.hasMore, err = t.step()
	if err == nil {
		err = t.intervals.out.w.Flush()
	}
	return err
}
