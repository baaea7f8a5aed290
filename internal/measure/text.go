package measure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
)

// Look finds out whether a file has measurements in a format that needs no options. Then it returns
// a reader of them. Otherwise it returns the file from its beginning, how its text begins, and an
// error if options of hdrrec could mend that.
//
// A log is never taken for a table: a table needs a header with usual names, or is of a format that
// no log looks like. JSON needs a histogram in its first megabyte.
func Look(file io.Reader, name string) (reader *Reader, rest io.Reader, begin []byte, err error) {
	var text bytes.Buffer // what was read so far
	b := beginningOf(io.TeeReader(file, &text))
	rest = io.MultiReader(&text, file)
	h := newHead(b, 0)
	f, unknown := choose("", h)
	if unknown == nil && f.Name == hist.Name {
		encoded := func(text []byte) bool { return bytes.Contains(text, []byte("HISTF")) }
		if !isPayload(h.line) && !isBinary(h.text) && (!h.isJSON() || !encoded(b.more(maxRecord, encoded))) {
			unknown = errors.ErrUnsupported
		}
	}
	if unknown == nil {
		reader = newReader(hdrlog.NewTextReader(rest), name)
		if err = reader.open(f, h, Options{}); err == nil {
			return reader, nil, b.text, nil
		}
	}
	if begin := b.more(512, nil); IsLog(begin) || bytes.Contains(begin, []byte("HIST")) {
		err = nil
	}
	return nil, rest, b.text, err
}

// Guessed reports whether the options do not name the columns of the time and of the value.
func (r *Reader) Guessed() bool {
	o := &r.given
	return r.payloads == nil && r.format != nil && (o.Time == "" || o.Value == "" && o.End == "")
}

// Takes says what the columns are taken for, for people.
func (r *Reader) Takes() string {
	if r.payloads != nil {
		return "histograms in base64"
	}
	s, at := &r.setup, "start"
	if s.end {
		at = "end"
	}
	text := fmt.Sprintf("%s: %s is the time of the %s, %s the value in %s", r.format.Name, s.Time, at, s.Value, s.Unit)
	if s.End != "" {
		text = fmt.Sprintf("%s: the value is the time from %s to %s", r.format.Name, s.Time, s.End)
	}
	for n, tag := range s.Tags {
		text += []string{", the tag ", "/"}[min(n, 1)] + tag
	}
	return text
}

// Header writes the comments of a log of rows: what it is made of, and the unit of its values.
func (r *Reader) Header(log *hdrlog.Writer, atEnd bool) error {
	at := "start"
	if atEnd {
		at = "end"
	}
	text := fmt.Sprintf("[Recorded by hdrrec from %s, values at their %s]", r.Format(), at)
	if u := r.Unit(); u != (unit.Unit{}) {
		text += "\n" + u.Comment()
	}
	return log.Comment(text)
}

// What hdrrec does if no option says otherwise.
const (
	DefaultSize   = 1000   // milliseconds of an interval
	DefaultLate   = 60_000 // milliseconds
	DefaultDigits = 3
)

// A Text is the log of a reader's rows. It is made while it is read, and is what hdrrec writes if
// no option says otherwise.
type Text struct {
	Recorder
	log  bytes.Buffer
	more bool
	done func(*Recorder) // called at the end
}

// NewText returns the log of a reader's rows. Report takes what is wrong with rows, and done what
// became of all of them.
func NewText(r *Reader, memory *ledger.Ledger, report func(*hdrlog.SyntaxError) error, done func(*Recorder)) *Text {
	t := &Text{more: true, done: done}
	header := func(w *hdrlog.Writer) error { return r.Header(w, r.AtEnd()) }
	t.Recorder = Recorder{AtEnd: (*Reader).AtEnd, Late: DefaultLate, Report: report}
	t.Into(hdrlog.NewWriter(&t.log), DefaultSize, histogram.Layout{Digits: DefaultDigits}, memory, header)
	t.begin([]*Reader{r})
	return t
}

// Read reads the text of the log.
func (t *Text) Read(p []byte) (n int, err error) {
	for t.more && t.log.Len() == 0 && err == nil {
		t.more, err = t.step()
		err = cmp.Or(err, t.w.Flush())
		if !t.more && err == nil {
			t.done(&t.Recorder)
		}
	}
	if err != nil {
		return 0, err
	}
	return t.log.Read(p)
}
