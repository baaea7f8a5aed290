package measure

import (
	"errors"
	"io"
)

// linesOf is a text of lines that next makes, one at a time. next appends a line to a buffer. ended
// is the number of line ends in the source before the end of the line's record. linesOf puts empty
// lines before the line, so that its number is the line number in the source. The text ends when
// next returns an error: [io.EOF], a [brokenError], or an error of reading.
type linesOf struct {
	next       func(line []byte) (_ []byte, ended int, err error)
	buffer     []byte
	unread     []byte // part of buffer that was not read yet
	madeLines  int    // number of lines so far
	emptyLines int    // number of empty lines to read before unread
	err        error
}

func (l *linesOf) Read(p []byte) (n int, err error) {
	for len(l.unread) == 0 && l.emptyLines == 0 && l.err == nil {
		var ended int
		l.buffer, ended, l.err = l.next(l.buffer[:0])
		l.unread = l.buffer
		l.emptyLines = max(ended-l.madeLines, 0)
		l.madeLines += l.emptyLines
		if len(l.unread) > 0 {
			l.madeLines++
		}
	}
	for n < len(p) && l.emptyLines > 0 { // in pieces, since their number is not limited
		p[n] = '\n'
		n++
		l.emptyLines--
	}
	if n == 0 && len(l.unread) == 0 {
		return 0, l.err
	}
	size := copy(p[n:], l.unread)
	l.unread = l.unread[size:]
	return n + size, nil
}

// A brokenError says why the rest of a text is malformed and cannot be read.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// A refusedError says why reading a file ends with an error: rows that were read already are wrong.
type refusedError struct{ error }

// errCutText is the error of a text that ends inside a record.
var errCutText = errors.New("the file is cut short")

// broken returns a [brokenError]. An end of the text comes too early here.
func broken(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCutText
	}
	return brokenError{err}
}
