package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"hdrkit/hdrlog"
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
	err  error // of reading src
}

// lineOfText matches a whole line that is neither blank nor a comment.
var lineOfText = expression(`(?m)^\s*[^#\s].*\n`)

// beginningOf reads up to the end of the first line of text or more. The text may be compressed.
func beginningOf(r io.Reader) *beginning {
	b := &beginning{src: hdrlog.NewTextReader(r)}
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

// split is the [bufio.SplitFunc] of records. A record is a line, or several if a quote is open at
// the end of the first one. If no later line closes the quote, the record is the first line.
func (r *Reader) split(text []byte, last bool) (size int, record []byte, _ error) {
	skipped := 0
	if r.long {
		if skipped = bytes.IndexByte(text, '\n') + 1; skipped == 0 {
			return len(text), nil, nil
		}
		text = text[skipped:]
	}
	first := r.lineEnd(text, 0, last)
	end, lines := first, 1
	r.long = end > r.most && text[end-1] != '\n'
	if end == 0 {
		return skipped, nil, nil
	}
	if r.openLines > 0 {
		end = r.openEnd
		lines = r.openLines
		r.openLines = 0
	} else {
		r.take(text[:end])
	}
	for r.err == errOpenQuote && r.again < spareAgain+timesAgain*r.size {
		next := r.lineEnd(text, end, last)
		if next == 0 {
			r.openEnd, r.openLines = end, lines
			return skipped, nil, nil
		}
		if next == end || next > r.most || lines == maxLines {
			r.again += end - first
			end, lines = first, 1
			break
		}
		line := text[end:next]
		end, lines = next, lines+1
		if line[len(line)-1] != '\n' || r.closes(line) {
			r.again += end
			r.take(text[:end])
		}
	}
	r.line, r.lines = r.line+r.lines, lines
	r.size += end
	return skipped + end, text[:end], nil
}

// lineEnd returns the end of the line that begins at from. It returns 0 if the line may go on after
// the text.
func (r *Reader) lineEnd(text []byte, from int, last bool) int {
	if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n + 1
	}
	if last || len(text) > r.most {
		return len(text)
	}
	return 0
}

// take parses a record.
func (r *Reader) take(text []byte) {
	record, ended := bytes.CutSuffix(text, []byte("\n"))
	r.unended = false
	switch {
	case len(text) > r.most:
		r.skip = false
		r.field = "line"
		r.err = hdrlog.ErrLineTooLong
	case !ended && r.scanner.Err() != nil:
		r.skip = false
		r.field = "line"
		r.err = errCut
	default:
		r.unended = !ended
		r.skip, r.field, r.err = r.parse(bytes.TrimSuffix(record, []byte("\r")))
		if r.unended && r.err != nil && r.err != errOpenQuote {
			r.err = fmt.Errorf("%w: %w", hdrlog.ErrCutOff, r.err)
		}
	}
}
