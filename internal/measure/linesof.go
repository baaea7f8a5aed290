package measure

import (
	"errors"
	"io"
)

// linesOf reads lines that next makes, one at a time: it appends a line to a buffer. The lines end
// where next returns an error: [io.EOF], a [brokenError], or that of reading. Ended is how many
// line ends of the text stand before the end of the line's record: empty lines before it make up
// for them, so that its number is that of the text.
type linesOf struct {
	next   func(line []byte) (_ []byte, ended int, err error)
	buffer []byte
	rest   []byte // of the buffer, not read yet
	made   int    // lines so far
	empty  int    // lines before the rest that are not read yet
	err    error
}

func (l *linesOf) Read(p []byte) (n int, err error) {
	for len(l.rest) == 0 && l.empty == 0 && l.err == nil {
		var ended int
		l.buffer, ended, l.err = l.next(l.buffer[:0])
		l.rest = l.buffer
		l.empty = max(ended-l.made, 0)
		l.made += l.empty
		if len(l.rest) > 0 {
			l.made++
		}
	}
	for n < len(p) && l.empty > 0 { // their number may be any
		p[n] = '\n'
		n++
		l.empty--
	}
	if n == 0 && len(l.rest) == 0 {
		return 0, l.err
	}
	size := copy(p[n:], l.rest)
	l.rest = l.rest[size:]
	return n + size, nil
}

// A brokenError says why the rest of a text cannot be read: it is malformed.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// A refusedError says why reading a file ends with an error: rows that were read already are wrong.
type refusedError struct{ error }

// errCutText: the text ends where more must follow.
var errCutText = errors.New("the file is cut short")

// broken returns the error of text that is read as a whole. The end of the text is one too early.
func broken(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCutText
	}
	return brokenError{err}
}
