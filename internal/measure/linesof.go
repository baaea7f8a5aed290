package measure

import (
	"errors"
	"io"
)

// linesOf reads lines that next makes, one or several at a time: it appends them to a buffer. The
// lines end where next returns [io.EOF] or, at the end of a text that is cut short,
// [io.ErrUnexpectedEOF].
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
		if errors.Is(l.err, io.ErrUnexpectedEOF) {
			l.err = io.EOF
		}
	}
	if len(l.rest) == 0 {
		return 0, l.err
	}
	n = copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
