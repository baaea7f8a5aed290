package measure

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"hdrkit/hdrlog"
)

// errCut is the error of a line whose end was not read.
var errCut = errors.New("the line is cut short")

// errOpenQuote is the error of a line with a quote that no later line closes.
var errOpenQuote = errors.New("a quote is not closed")

// maxRecord is the longest record in bytes, maxLines in lines. Each line of it is looked at again
// with each of the next ones.
const (
	maxRecord = 1 << 20
	maxLines  = 1000
)

// lines reads lines of any length up to most.
type lines struct {
	src        io.Reader
	most       int // bytes of a record, maxRecord if 0
	buf        []byte
	begin, end int // of what was read and not taken
	size       int // of the record that next returned, which is taken by the next call
	count      int // of its lines
	number     int // of its first line
	before     int // the number of lines that were taken
	err        error
	unended    bool
}

// lineOfText matches a whole line that is neither blank nor a comment.
var lineOfText = expression(`(?m)^\s*[^#\s].*\n`)

// peek returns the text up to the end of the first line of text or more, without advancing.
func (l *lines) peek() []byte {
	return l.peekMore(maxRecord, lineOfText().Match)
}

// peekMore returns size bytes of text, or less if that is enough, without advancing.
func (l *lines) peekMore(size int, enough func(text []byte) bool) []byte {
	for l.err == nil && l.end < size && (enough == nil || !enough(l.buf[:l.end])) {
		l.fill()
	}
	return l.buf[:l.end]
}

// fill reads more. The first read is a small one, since it may only show what a file is.
func (l *lines) fill() {
	const first, size = 4 << 10, 256 << 10
	if l.begin > 0 && l.end == len(l.buf) {
		l.end = copy(l.buf, l.buf[l.begin:l.end])
		l.begin = 0
		if len(l.buf) < size {
			l.buf = append(l.buf, make([]byte, size-len(l.buf))...)
		}
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, max(first, len(l.buf)))...)
	}
	n, err := l.src.Read(l.buf[l.end:])
	l.end += n
	l.err = err
}

// failure returns the error of reading, nil at the end.
func (l *lines) failure() error {
	if l.err == io.EOF {
		return nil
	}
	return l.err
}

// line returns the line that begins from bytes after what was returned, with its end. It returns
// nothing if the text ends.
func (l *lines) line(from int) []byte {
	seen := from
	for {
		text := l.buf[l.begin:l.end]
		if n := bytes.IndexByte(text[seen:], '\n'); n >= 0 {
			return text[from : seen+n+1]
		}
		if l.err != nil || len(text) > l.limit() {
			return text[from:]
		}
		seen = len(text)
		l.fill()
	}
}

func (l *lines) limit() int { return cmp.Or(l.most, maxRecord) }

// next returns the next record, which is a line without its end. It returns nil at the end. A line
// that is too long is skipped.
func (l *lines) next() ([]byte, error) {
	l.begin, l.before, l.size, l.count = l.begin+l.size, l.before+l.count, 0, 0
	text := l.line(0)
	if len(text) == 0 {
		return nil, nil
	}
	l.number = l.before + 1
	if len(text) > l.limit() {
		return nil, l.skip()
	}
	return l.record(len(text), 1)
}

// extend returns the record of next with the line after it, nil if that is the last one, or the
// record becomes too long. Then the record is its first line.
func (l *lines) extend() ([]byte, error) {
	if more := l.line(l.size); len(more) > 0 && l.count < maxLines && l.size+len(more) <= l.limit() {
		return l.record(l.size+len(more), l.count+1)
	}
	l.size, l.count = bytes.IndexByte(l.buf[l.begin:l.end], '\n')+1, 1
	if l.size == 0 {
		l.size = l.end - l.begin
	}
	return nil, nil
}

// record returns the record of some bytes and lines.
func (l *lines) record(size, count int) ([]byte, error) {
	l.size, l.count = size, count
	text, ended := bytes.CutSuffix(l.buf[l.begin:l.begin+size], []byte("\n"))
	if !ended && l.err != io.EOF {
		return nil, errCut
	}
	l.unended = !ended
	return bytes.TrimSuffix(text, []byte("\r")), nil
}

// skip skips a line that is too long.
func (l *lines) skip() error {
	for {
		if n := bytes.IndexByte(l.buf[l.begin:l.end], '\n'); n >= 0 {
			l.size, l.count = n+1, 1
			break
		}
		l.begin = l.end
		if l.err != nil {
			break
		}
		l.fill()
	}
	return hdrlog.ErrLineTooLong
}
