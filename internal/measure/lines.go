package measure

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/plaintext"
)

var (
	// errCut is the error of a line whose rest could not be read.
	errCut = errors.New("the line is cut short")
	// errOpenQuote is the error of a line with an opening quote that no later line closes.
	errOpenQuote = errors.New("a quote is not closed")
)

const (
	// maxRecord is the length of the longest record in bytes, maxLines in lines.
	maxRecord = 1 << 20
	maxLines  = 1000
	// A line with an open quote is parsed again with each later line that may close the quote. A
	// file may cost spareAgain bytes of that, and timesAgain bytes for each byte of the file.
	// Above, a line with an open quote is malformed at once. Otherwise, a file of quotes would take
	// quadratic time.
	spareAgain = 16 << 20
	timesAgain = 4
)

// A beginning is a text whose first bytes were read to detect its format. Read returns the whole
// text, these bytes included.
type beginning struct {
	src  io.Reader
	text []byte
	err  error // error of reading src
}

// lineOfText matches a whole line that is neither blank nor a comment.
var lineOfText = expression(`(?m)^\s*[^#\s].*\n`)

// beginningOf reads at least the first line that is neither blank nor a comment. The text may be
// compressed.
func beginningOf(r io.Reader) *beginning {
	b := &beginning{src: plaintext.NewReader(r)}
	b.more(maxRecord, lineOfText().Match)
	return b
}

// more reads until text has size bytes, or until enough returns true, and returns text. enough may
// be nil.
func (b *beginning) more(size int, enough func(text []byte) bool) []byte {
	for b.err == nil && len(b.text) < size && (enough == nil || !enough(b.text)) {
		end, n := len(b.text), 0
		b.text = append(b.text, make([]byte, max(4<<10, end))...)
		n, b.err = b.src.Read(b.text[end:])
		b.text = b.text[:end+n]
	}
	return b.text
}

func (b *beginning) Read(p []byte) (n int, err error) {
	if n = copy(p, b.text); n > 0 {
		b.text = b.text[n:]
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.src.Read(p)
}

// A splitter splits a text into records, and parses each record. A record is a line, or several
// lines if a quote is open at the end of the first line. Fill file, lines = 1 and parse, and call
// start.
type splitter struct {
	file    string // name, for errors
	scanner *bufio.Scanner
	parse   func(record []byte) (skip bool, field string, err error)
	maxSize int                    // the length of the longest record in bytes
	closes  func(line []byte) bool // reports whether a line closes an open quote

	// number of the first line of the last record, and how many lines the record has
	line, lines  int
	unterminated bool // the record's last line has no line end
	// results of parse for the last record
	skip  bool
	field string
	err   error

	skipping bool // the rest of the last record's line is too long, and is skipped
	open     openRecord
	// total is the number of bytes of the text so far. reparsed is the number of bytes that were
	// parsed again.
	total, reparsed int
}

// An openRecord is the part of a record with an open quote that was parsed already, while split
// waits for more text. Parsing from the record's first byte after each read would take long.
type openRecord struct{ size, lines int }

// start begins to read a text.
func (s *splitter) start(text io.Reader, maxSize int) {
	s.maxSize = maxSize
	s.scanner = bufio.NewScanner(text)
	s.scanner.Split(s.split)
	s.scanner.Buffer(make([]byte, 256<<10), maxSize+2)
}

// closesQuotesOf sets closes for the fields of a table, whose quotes may contain line ends.
func (s *splitter) closesQuotesOf(fields fieldFinder) {
	if t, ok := fields.(*table); ok {
		s.closes = t.closes
	}
}

// end is called once, after the last record. err is nil, or an error that the end of the text
// shows. end returns the error that ended reading. If the rest of the text is broken, it returns a
// malformed record instead.
func (s *splitter) end(err error) (bad *hdrlog.SyntaxError, failure error) {
	if failure := s.scanner.Err(); failure != nil {
		err = failure
	}
	if errors.As(err, new(refusedError)) {
		err = fmt.Errorf("line %d: %w", s.line+s.lines, err)
	}
	var broken brokenError
	if !errors.As(err, &broken) {
		return nil, err
	}
	s.line += s.lines
	s.lines = 0
	return &hdrlog.SyntaxError{File: s.file, Line: s.line, Field: "line", Err: broken.error}, nil
}

// split is the [bufio.SplitFunc] of records. If no later line closes an open quote, the record is
// the first line.
func (s *splitter) split(text []byte, last bool) (size int, record []byte, _ error) {
	skipped := 0
	if s.skipping {
		if skipped = bytes.IndexByte(text, '\n') + 1; skipped == 0 {
			return len(text), nil, nil
		}
		text = text[skipped:]
	}
	first := s.lineEnd(text, 0, last)
	end, lines := first, 1
	s.skipping = end > s.maxSize && text[end-1] != '\n'
	if end == 0 {
		return skipped, nil, nil
	}
	if s.open.lines > 0 {
		end = s.open.size
		lines = s.open.lines
		s.open = openRecord{}
	} else {
		s.parseRecord(text[:end])
	}
	for s.err == errOpenQuote && s.reparsed < spareAgain+timesAgain*s.total {
		next := s.lineEnd(text, end, last)
		if next == 0 {
			s.open = openRecord{end, lines}
			return skipped, nil, nil
		}
		if next == end || next > s.maxSize || lines == maxLines {
			s.reparsed += end - first
			end, lines = first, 1
			break
		}
		line := text[end:next]
		end, lines = next, lines+1
		if line[len(line)-1] != '\n' || s.closes(line) {
			s.reparsed += end
			s.parseRecord(text[:end])
		}
	}
	s.line, s.lines = s.line+s.lines, lines
	s.total += end
	return skipped + end, text[:end], nil
}

// lineEnd returns the index behind the line that begins at from, or 0 if the line may continue
// behind the text.
func (s *splitter) lineEnd(text []byte, from int, last bool) int {
	if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n + 1
	}
	if last || len(text) > s.maxSize {
		return len(text)
	}
	return 0
}

// parseRecord parses a record and sets its results.
func (s *splitter) parseRecord(text []byte) {
	record, ended := bytes.CutSuffix(text, []byte("\n"))
	s.unterminated = false
	switch {
	case len(text) > s.maxSize:
		s.skip = false
		s.field = "line"
		s.err = hdrlog.ErrLineTooLong
	case !ended && s.scanner.Err() != nil:
		s.skip = false
		s.field = "line"
		s.err = errCut
	default:
		s.unterminated = !ended
		s.skip, s.field, s.err = s.parse(bytes.TrimSuffix(record, []byte("\r")))
		if s.unterminated && s.err != nil && s.err != errOpenQuote {
			s.err = fmt.Errorf("%w: %w", hdrlog.ErrCutOff, s.err)
		}
	}
}
