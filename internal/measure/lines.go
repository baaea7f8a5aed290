package measure

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"

	"hdrkit/hdrlog"
)

// errCut is the error of a line whose end was not read.
var errCut = errors.New("the line is cut short")

// errOpenQuote is the error of a line with a quote that no later line closes.
var errOpenQuote = errors.New("a quote is not closed")

// maxRecord is the longest record in bytes.
const maxRecord = 1 << 20

// lines reads lines of any length up to most.
type lines struct {
	src        io.Reader
	most       int // bytes of a record, maxRecord if 0
	buf        []byte
	begin, end int // of what was read and not returned
	number     int // of the last line returned
	before     int // the number of lines that were returned or skipped
	err        error
	unended    bool
}

// lineOfText matches a whole line that is neither blank nor a comment.
var lineOfText = regexp.MustCompile(`(?m)^\s*[^#\s].*\n`)

// peek returns the text up to the end of the first line of text or more, without advancing.
func (l *lines) peek() []byte {
	for l.err == nil && l.end < maxRecord && !lineOfText.Match(l.buf[:l.end]) {
		l.fill()
	}
	return l.buf[:l.end]
}

// peekMore returns size bytes of text, or less if a part is enough, without advancing.
func (l *lines) peekMore(size int, enough []byte) []byte {
	for l.err == nil && l.end < size && (enough == nil || !bytes.Contains(l.buf[:l.end], enough)) {
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

// next returns the next record, without the end of its last line: a line, or several if open
// reports that a record goes on after them. It returns nil at the end. A record that is too long
// and one that is never whole cost their first line.
func (l *lines) next(open func(record []byte) bool) ([]byte, error) {
	text := l.line(0)
	if len(text) == 0 {
		return nil, nil
	}
	l.number = l.before + 1
	if len(text) > l.limit() {
		return nil, l.skip()
	}
	first, count := len(text), 1
	if open != nil {
		for open(text) {
			more := l.line(len(text))
			if len(more) == 0 || len(text)+len(more) > l.limit() {
				l.take(first, 1)
				return nil, errOpenQuote
			}
			text = l.buf[l.begin : l.begin+len(text)+len(more)]
			count++
		}
	}
	l.take(len(text), count)
	text, ended := bytes.CutSuffix(text, []byte("\n"))
	if !ended && l.err != io.EOF {
		return nil, errCut
	}
	l.unended = !ended
	return bytes.TrimSuffix(text, []byte("\r")), nil
}

// take advances.
func (l *lines) take(bytes, count int) {
	l.begin += bytes
	l.before += count
}

// skip skips a line that is too long.
func (l *lines) skip() error {
	for {
		text := l.buf[l.begin:l.end]
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			l.take(n+1, 1)
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
