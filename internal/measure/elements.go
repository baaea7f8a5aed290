package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// elements reads those of an array in a JSON object as lines, each with the number of the line
// in which the element ends, or a later one. It reads up to an error of the JSON.
type elements struct {
	decoder *json.Decoder
	key     string // of the array, empty if the document is the array
	inside  bool   // it has begun
	lines   lineEnds
	line    int // lines that were made so far
}

// lineEnds notes where lines end.
type lineEnds struct {
	io.Reader
	read int64
	most int64   // what may be read now
	ends []int64 // offsets in the text that no element has passed
	past int     // how many line ends were passed
	err  error   // of reading
}

// maxElement is the longest element in bytes, and the longest value of another key.
const maxElement = 16 << 20

var errElement = errors.New("a value is too long")

func (l *lineEnds) Read(p []byte) (n int, err error) {
	if l.read > l.most {
		return 0, errElement
	}
	n, err = l.Reader.Read(p)
	l.err = err
	for at, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(at))
		}
	}
	l.read += int64(n)
	return n, err
}

// before returns how many lines end before an offset.
func (l *lineEnds) before(offset int64) int {
	for len(l.ends) > 0 && l.ends[0] < offset {
		l.ends, l.past = l.ends[1:], l.past+1
	}
	return l.past
}

// elementsOf returns a source of the elements of an array.
func elementsOf(key string) func(text io.Reader, h *head) io.Reader {
	return func(text io.Reader, _ *head) io.Reader {
		l := &elements{key: key, lines: lineEnds{Reader: text, most: maxElement}}
		l.decoder = json.NewDecoder(&l.lines)
		return &linesOf{next: l.append}
	}
}

// append appends the next element as a line.
func (l *elements) append(lines []byte) ([]byte, error) {
	element, err := l.next()
	if err == io.EOF {
		return lines, io.EOF
	}
	for before := l.lines.before(l.decoder.InputOffset()); l.line < before; l.line++ {
		lines = append(lines, '\n')
	}
	if err != nil {
		return lines, err
	}
	l.line++
	compact := bytes.NewBuffer(lines)
	if json.Compact(compact, element) != nil {
		return append(append(lines, element...), '\n'), nil
	}
	return append(compact.Bytes(), '\n'), nil
}

// next returns the next element, or [io.EOF] after the last one.
func (l *elements) next() (json.RawMessage, error) {
	if !l.inside {
		if err := l.begin(); err != nil {
			return nil, err
		}
		l.inside = true
	}
	if !l.decoder.More() {
		if _, err := l.decoder.Token(); err != nil {
			return nil, l.broken(err)
		}
		return nil, io.EOF
	}
	return l.decode()
}

// begin reads up to the beginning of the array.
func (l *elements) begin() error {
	if _, err := l.decoder.Token(); err != nil {
		return l.broken(err)
	}
	if l.key == "" {
		return nil
	}
	for l.decoder.More() {
		key, err := l.decoder.Token()
		if err != nil {
			return l.broken(err)
		}
		if key == l.key {
			bracket, err := l.decoder.Token()
			if err == nil && bracket != json.Delim('[') {
				err = fmt.Errorf("%s is no array", l.key)
			}
			if err != nil {
				return l.broken(err)
			}
			return nil
		}
		if _, err := l.decode(); err != nil {
			return err
		}
	}
	return io.EOF
}

// decode returns the next value.
func (l *elements) decode() (value json.RawMessage, err error) {
	l.lines.most = l.decoder.InputOffset() + maxElement
	if err = l.decoder.Decode(&value); err != nil {
		return nil, l.broken(err)
	}
	return value, nil
}

// broken returns the error of the JSON. One of reading stays as it is.
func (l *elements) broken(err error) error {
	if l.lines.err != nil && l.lines.err != io.EOF {
		return l.lines.err
	}
	return broken(err)
}
