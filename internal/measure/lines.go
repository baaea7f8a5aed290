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
	// errCut is the error of a line whose end was not read.
	errCut = errors.New("the line is cut short")
	// errOpenQuote is the error of a line with a quote that no later line closes.
	errOpenQuote = errors.New("a quote is not closed")
)

const (
	// maxRecord is the longest record in bytes, maxLines in lines.
	maxRecord = 1 << 20
	maxLines  = 1000
	// A line may be looked at again, since the quote of an earlier one is open. That is for
	// spareAgain bytes, and timesAgain for each byte of the file. Then an open quote costs its line
	// at once: otherwise a file of quotes would take quadratic time.
	spareAgain = 16 << 20
	timesAgain = 4
)

// A beginning is a text that was read to see what it is. Read reads the text from its beginning.
type beginning struct {
	src  io.Reader
	text []byte
	err  error // error of reading src
}

// lineOfText matches a whole line that is neither blank nor a comment.
var lineOfText = expression(`(?m)^\s*[^#\s].*\n`)

// beginningOf reads up to the end of the first line of text or more. The text may be compressed.
func beginningOf(r io.Reader) *beginning {
	b := &beginning{src: plaintext.NewReader(r)}
	b.more(maxRecord, lineOfText().Match)
	return b
}

// more reads until the beginning has size bytes, or is enough.
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

// A splitter splits a text into records, and parses each.
type splitter struct {
	scanner *bufio.Scanner
	parse   func(record []byte) (skip bool, field string, err error)
	most    int                    // bytes of a record
	closes  func(line []byte) bool // reports whether a line closes an open quote

	// The last record: its first line, how many lines it has, whether its end is missing, and what
	// is wrong with a field of it.
	line, lines int
	unended     bool
	skip        bool // it is no row
	field       string
	err         error

	long bool // the rest of the line of the last record is too long
	// openEnd and openLines are what was parsed of a record that goes on after what was read.
	// Parsing it from its beginning for each read would take long.
	openEnd, openLines int
	size, again        int // bytes so far, and those that were looked at again
}

// split is the [bufio.SplitFunc] of records. A record is a line, or several if a quote is open at
// the end of the first one. If no later line closes the quote, the record is the first line.
func (s *splitter) split(text []byte, last bool) (size int, record []byte, _ error) {
	skipped := 0
	if s.long {
		if skipped = bytes.IndexByte(text, '\n') + 1; skipped == 0 {
			return len(text), nil, nil
		}
		text = text[skipped:]
	}
	first := s.lineEnd(text, 0, last)
	end, lines := first, 1
	s.long = end > s.most && text[end-1] != '\n'
	if end == 0 {
		return skipped, nil, nil
	}
	if s.openLines > 0 {
		end = s.openEnd
		lines = s.openLines
		s.openLines = 0
	} else {
		s.take(text[:end])
	}
	for s.err == errOpenQuote && s.again < spareAgain+timesAgain*s.size {
		next := s.lineEnd(text, end, last)
		if next == 0 {
			s.openEnd, s.openLines = end, lines
			return skipped, nil, nil
		}
		if next == end || next > s.most || lines == maxLines {
			s.again += end - first
			end, lines = first, 1
			break
		}
		line := text[end:next]
		end, lines = next, lines+1
		if line[len(line)-1] != '\n' || s.closes(line) {
			s.again += end
			s.take(text[:end])
		}
	}
	s.line, s.lines = s.line+s.lines, lines
	s.size += end
	return skipped + end, text[:end], nil
}

// lineEnd returns the end of the line that begins at from. It returns 0 if the line may go on after
// the text.
func (s *splitter) lineEnd(text []byte, from int, last bool) int {
	if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n + 1
	}
	if last || len(text) > s.most {
		return len(text)
	}
	return 0
}

// take parses a record.
func (s *splitter) take(text []byte) {
	record, ended := bytes.CutSuffix(text, []byte("\n"))
	s.unended = false
	switch {
	case len(text) > s.most:
		s.skip = false
		s.field = "line"
		s.err = hdrlog.ErrLineTooLong
	case !ended && s.scanner.Err() != nil:
		s.skip = false
		s.field = "line"
		s.err = errCut
	default:
		s.unended = !ended
		s.skip, s.field, s.err = s.parse(bytes.TrimSuffix(record, []byte("\r")))
		if s.unended && s.err != nil && s.err != errOpenQuote {
			s.err = fmt.Errorf("%w: %w", hdrlog.ErrCutOff, s.err)
		}
	}
}
