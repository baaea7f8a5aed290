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
	started bool   // it has begun
	lines   lineEnds
}

// lineEnds counts how many lines of what was read have ended.
type lineEnds struct {
	io.Reader
	read  int64
	limit int64 // number of bytes that may be read now
	ended int
	err   error // error of reading
}

// maxElement is the longest element in bytes, and the longest value of another key.
const maxElement = 16 << 20

var errElement = errors.New("a value is too long")

func (l *lineEnds) Read(p []byte) (n int, err error) {
	if l.read > l.limit {
		return 0, errElement
	}
	const few = 4 << 10 // bytes, which [elements.ended] looks at again for each element
	n, err = l.Reader.Read(p[:min(len(p), few)])
	l.err = err
	l.ended += bytes.Count(p[:n], []byte("\n"))
	l.read += int64(n)
	return n, err
}

// elementsOf returns a source of the elements of an array.
func elementsOf(key string) func(text io.Reader, s *setup, h *head) io.Reader {
	return func(text io.Reader, _ *setup, _ *head) io.Reader {
		l := &elements{key: key, lines: lineEnds{Reader: text, limit: maxElement}}
		l.decoder = json.NewDecoder(&l.lines)
		return &linesOf{next: l.append}
	}
}

// append appends the next element as a line.
func (l *elements) append(line []byte) (_ []byte, ended int, _ error) {
	element, err := l.next()
	if err != nil {
		return line, l.ended(), err
	}
	compact := bytes.NewBuffer(line)
	if json.Compact(compact, element) != nil {
		return append(append(line, element...), '\n'), l.ended(), nil
	}
	return append(compact.Bytes(), '\n'), l.ended(), nil
}

// ended returns how many lines of what the decoder has taken have ended.
func (l *elements) ended() int {
	var ahead lineCount
	io.Copy(&ahead, l.decoder.Buffered())
	return l.lines.ended - int(ahead)
}

// A lineCount counts the ends of lines that are written to it.
type lineCount int

func (c *lineCount) Write(p []byte) (int, error) {
	*c += lineCount(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// next returns the next element, or [io.EOF] after the last one.
func (l *elements) next() (json.RawMessage, error) {
	if !l.started {
		if err := l.begin(); err != nil {
			return nil, err
		}
		l.started = true
	}
	if !l.decoder.More() {
		if _, err := l.decoder.Token(); err != nil {
			return nil, l.asBroken(err)
		}
		return nil, io.EOF
	}
	return l.decode()
}

// begin reads up to the beginning of the array.
func (l *elements) begin() error {
	if _, err := l.decoder.Token(); err != nil {
		return l.asBroken(err)
	}
	if l.key == "" {
		return nil
	}
	for l.decoder.More() {
		key, err := l.decoder.Token()
		if err != nil {
			return l.asBroken(err)
		}
		if key == l.key {
			bracket, err := l.decoder.Token()
			if err == nil && bracket != json.Delim('[') {
				err = fmt.Errorf("%s is no array", l.key)
			}
			if err != nil {
				return l.asBroken(err)
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
	l.lines.limit = l.decoder.InputOffset() + maxElement
	if err = l.decoder.Decode(&value); err != nil {
		return nil, l.asBroken(err)
	}
	return value, nil
}

// broken returns the error of the JSON. One of reading stays as it is.
func (l *elements) asBroken(err error) error {
	if l.lines.err != nil && l.lines.err != io.EOF {
		return l.lines.err
	}
	return broken(err)
}
