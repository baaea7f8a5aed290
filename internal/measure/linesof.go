package measure

import (
	"errors"
	"io"
)

// linesOf reads lines that next makes, one or several at a time: it appends them to a buffer. The
// lines end where next returns an error: [io.EOF], a [brokenError], or that of reading.
type linesOf struct {
	next   func(lines []byte) ([]byte, error)
	buffer []byte
	rest   []byte // of the buffer, not read yet
	err    error
}

func (l *linesOf) Read(p []byte) (n int, err error) {
	for len(l.rest) == 0 && l.err == nil {
		l.buffer, l.err = l.next(l.buffer[:0])
		l.rest = l.buffer
	}
	if len(l.rest) == 0 {
		return 0, l.err
	}
	n = copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// A brokenError says why the rest of a text cannot be read: it is malformed.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// errCutText: the text ends where more must follow.
var errCutText = errors.New("the file is cut short")

// broken returns the error of text that is read as a whole. The end of the text is one too early.
func broken(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCutText
	}
	return brokenError{err}
}
