package measure

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"hdrkit/hdrlog"
)

// A Reader reads the rows of a file. It is not safe for concurrent use.
type Reader struct {
	format *Format // nil if the file is empty
	given  Options
	// statedUnit is the unit of values that the user gave to a command that calls [Detect]. The log
	// states it. It is 0 if the user gave none, and in hdrrec.
	statedUnit hdrlog.Unit
	splitter   splitter
	parser     rowParser
	parts      *parts // finds sub-results of JMeter, nil for other formats
	tally      tally
	latest     latestTime

	// rowLine is the line of the row that Scan advanced to. bad is the row's error, or nil.
	rowLine int
	bad     *hdrlog.SyntaxError
	ended   bool  // no text is left that can be read
	failure error // the error that ended reading, or of an option that matches nothing
}

// NewReader returns a reader of the measurements in r, which may be compressed by gzip or zstd. It
// waits for the first lines. Errors contain the name. format is the name of a format. If format is
// empty, the first lines show the format.
func NewReader(r io.Reader, name, format string, o Options) (*Reader, error) {
	b := beginningOf(r)
	reader := newReader(name)
	if len(b.text) == 0 {
		reader.splitter.start(b, maxRecord)
		reader.Scan()
		return reader, reader.Err()
	}
	switch {
	case isExpression(o.Pattern) && format == "":
		format = lines.Name
	case o.Pattern != "" && format == "":
		format = accessLog.Name
	}
	h := newHead(b, o.Delimiter)
	f := &document
	var err error
	if !isPath(o.Columns.Value) || format != "" && format != document.Name {
		f, err = choose(format, h)
	}
	if err == nil {
		err = reader.open(b, f, h, o)
	}
	if unknown, ok := err.(*UnknownError); ok {
		unknown.Begin = b.more(4<<10, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return reader, nil
}

func newReader(name string) *Reader {
	r := &Reader{parser: rowParser{setup: new(setup)}, latest: latestTime{never, never}}
	r.splitter = splitter{file: name, lines: 1, parse: r.parser.parse}
	return r
}

// open prepares to read the rows of a text in a format.
func (r *Reader) open(text io.Reader, f *Format, h *head, o Options) error {
	r.format = f
	r.given = o
	s, err := newSetup(f, o)
	if err != nil {
		return err
	}
	maxSize := maxRecord
	if f.open == nil {
		maxSize = hdrlog.MaxLine
		r.parser = rowParser{setup: s, payloads: f.payloads(s)}
	} else if err := r.parser.open(s, h); err != nil {
		return err
	}
	if f.source != nil {
		text = f.source(text, s, h)
	}
	if f.columns.label != "" {
		r.parts = newParts()
	}
	r.splitter.closesQuotesOf(r.parser.fields)
	r.splitter.start(text, maxSize)
	return nil
}

// Name returns the name of the file.
func (r *Reader) Name() string { return r.splitter.file }

// Format returns the name of the format, empty for an empty file.
func (r *Reader) Format() string {
	if r.format == nil {
		return ""
	}
	return r.format.Name
}

// AtEnd reports whether times are ends of measurements, not starts.
func (r *Reader) AtEnd() bool { return r.parser.setup.atEnd }

// Timeless reports whether rows have no time.
func (r *Reader) Timeless() bool { return r.parser.setup.timeless }

// Unit returns the unit of the values in payloads, 0 if nothing states it.
func (r *Reader) Unit() hdrlog.Unit {
	if r.parser.payloads != nil {
		return r.parser.payloads.unit()
	}
	return hdrlog.Nanosecond
}

// Scan advances to the next row. It returns false after the last row, and if reading fails.
func (r *Reader) Scan() bool {
	for {
		if r.takeReady() {
			return true
		}
		if r.ended {
			return false
		}
		if !r.nextOfRecord() && !r.splitter.scanner.Scan() {
			if r.end() {
				return true
			}
			continue
		}
		if r.splitter.skip {
			continue
		}
		r.rowLine = r.splitter.line
		r.bad = r.malformed(r.splitter.field, r.splitter.err)
		if errors.As(r.splitter.err, new(refusedError)) {
			r.ended = true
			r.failure = fmt.Errorf("line %d: %w", r.splitter.line, r.splitter.err)
			return false
		}
		r.ended = r.ended || errors.As(r.splitter.err, new(brokenError))
		if r.bad == nil && r.parts != nil &&
			r.parts.hold(&r.parser.row, r.rowLine, r.parser.places[labelPlace], r.parser.places[threadPlace]) {
			continue
		}
		r.tally.add(r.bad)
		return true
	}
}

// takeReady advances to a row that was found before: a histogram of the last line, or a row that
// [parts] held back. It returns false if none is ready.
func (r *Reader) takeReady() bool {
	if r.parser.payloads != nil {
		f, ok := r.parser.payloads.next()
		if ok {
			r.parser.row = f.row
			r.rowLine = r.splitter.line
			r.bad = r.malformed("payload", f.err)
		}
		return ok
	}
	if r.parts == nil {
		return false
	}
	h := r.parts.next()
	if h == nil {
		return false
	}
	r.parser.row = h.row
	r.rowLine = h.line
	r.bad = nil
	r.tally.add(nil)
	return true
}

// nextOfRecord advances to the next row of the last record, if the record has one.
func (r *Reader) nextOfRecord() bool {
	p := &r.parser
	if p.multiRow == nil || !p.multiRow.nextRow(p.places) {
		return false
	}
	r.splitter.skip, r.splitter.field, r.splitter.err = p.fillRow()
	return true
}

// end is called once, after the last record. It returns true if the rest of the file is broken, and
// so one more malformed row.
func (r *Reader) end() bool {
	r.ended = true
	if r.parts != nil {
		r.parts.flush()
	}
	var err error
	if r.parser.payloads != nil {
		err = r.parser.payloads.end()
	}
	r.bad, r.failure = r.splitter.end(err)
	if r.bad == nil {
		return false
	}
	r.rowLine = r.bad.Line
	r.tally.add(r.bad)
	return true
}

// Bad returns the error of the row that Scan advanced to, or nil.
func (r *Reader) Bad() *hdrlog.SyntaxError { return r.bad }

// Row returns the row that Scan advanced to. It is valid until the next Scan, and meaningless if
// Bad returns an error.
func (r *Reader) Row() *Row { return &r.parser.row }

// Line returns the number of the last line of the record that Scan advanced to.
func (r *Reader) Line() int { return r.rowLine }

// Err returns the error that ended reading, nil at the end of the file. If a compressed file is cut
// short, the error is [hdrlog.ErrCutShort].
func (r *Reader) Err() error { return r.failure }

func (r *Reader) malformed(field string, err error) *hdrlog.SyntaxError {
	if err == nil {
		return nil
	}
	return &hdrlog.SyntaxError{File: r.splitter.file, Line: r.rowLine, Field: field, Err: err}
}

// Unterminated reports whether the last line is a row without a line end. The row's last number may
// be cut short.
func (r *Reader) Unterminated() bool {
	return r.splitter.unterminated && r.splitter.err == nil && r.parser.payloads == nil
}

// A tally counts the rows of a file that can be read, and the malformed rows.
type tally struct {
	right, wrong int
	firstWrong   *hdrlog.SyntaxError
}

// add counts a row. bad is the row's error, or nil.
func (t *tally) add(bad *hdrlog.SyntaxError) {
	switch {
	case bad == nil:
		t.right++
	case errors.Is(bad, errCut): // the rest of the row may be right
	default:
		t.wrong++
		t.firstWrong = cmp.Or(t.firstWrong, bad)
	}
}

// ErrMostly says that more than half of the rows of a file are malformed. Statistics of the other
// rows would say little.
var ErrMostly = errors.New("rows can be read, so none is taken")

// checkTally returns an error if more than half of the rows are malformed, or if the counts of
// buckets cannot be right. It is called at the end of the file. Text with histograms passes, since
// most of its lines may be other text.
func (r *Reader) checkTally() error {
	t := &r.tally
	switch {
	case r.parser.payloads != nil:
		return nil
	case t.right < t.wrong:
		return fmt.Errorf("%d of %d %w; line %d: %s: %w", t.right, t.right+t.wrong, ErrMostly,
			t.firstWrong.Line, t.firstWrong.Field, t.firstWrong.Err)
	case r.parser.buckets != nil:
		return r.parser.buckets.end()
	}
	return nil
}

// CheckRows reads up to 100,000 rows. It returns an error if Recorder.Run could record none of
// them.
func (r *Reader) CheckRows() error {
	const maxRows = 100_000
	anyRight := false
	for n := 0; n < maxRows && r.Scan(); n++ {
		anyRight = anyRight || r.bad == nil
	}
	err := r.Err()
	if err == nil && (r.ended || r.tally.right < r.tally.wrong) {
		err = r.checkTally()
	}
	if err == nil && !anyRight {
		err = errors.New("no row can be recorded")
		if r.tally.firstWrong != nil {
			err = r.tally.firstWrong.Err
		}
	}
	if err != nil {
		err = &fileError{r.Name(), err}
	}
	return err
}

// NothingChosen returns the error of a file of which the options choose no row.
func (r *Reader) NothingChosen() error {
	if len(r.parser.chosenMetrics) == 0 {
		return errors.New("no row is one that -where chooses")
	}
	return fmt.Errorf("no row has a metric that -metric chooses; there are %s",
		strings.Join(slices.Sorted(maps.Keys(r.parser.chosenMetrics)), ", "))
}
