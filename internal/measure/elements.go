package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// elements makes a line of each element of an array in a JSON document. It ends at the first JSON
// error.
type elements struct {
	decoder  *json.Decoder
	arrayKey string // key of the array in an object, empty if the document is the array
	started  bool   // the array has started
	lines    lineEnds
}

// lineEnds counts the line ends of a text that is read through it. It limits how much is read.
type lineEnds struct {
	io.Reader
	read  int64
	limit int64 // a Read after this number of bytes is an error
	ended int
	err   error // error of the text
}

// maxElement is the largest size of an element in bytes, and of the value of another key.
const maxElement = 16 << 20

var errElement = errors.New("a value is too long")

func (l *lineEnds) Read(p []byte) (n int, err error) {
	if l.read > l.limit {
		return 0, errElement
	}
	const pieceSize = 4 << 10 // bytes; [elements.endedLines] counts their line ends again for each element
	n, err = l.Reader.Read(p[:min(len(p), pieceSize)])
	l.err = err
	l.ended += bytes.Count(p[:n], []byte("\n"))
	l.read += int64(n)
	return n, err
}

// elementsOf returns a [Format.source] that makes lines of the elements of an array. key is the
// array's key, empty if the document is the array.
func elementsOf(key string) func(text io.Reader, s *setup, h *head) io.Reader {
	return func(text io.Reader, _ *setup, _ *head) io.Reader {
		l := &elements{arrayKey: key, lines: lineEnds{Reader: text, limit: maxElement}}
		l.decoder = json.NewDecoder(&l.lines)
		return &linesOf{next: l.append}
	}
}

// append appends the next element to line. It is the function next of a [linesOf].
func (l *elements) append(line []byte) (_ []byte, ended int, _ error) {
	element, err := l.next()
	if err != nil {
		return line, l.endedLines(), err
	}
	compact := bytes.NewBuffer(line)
	if json.Compact(compact, element) != nil {
		return append(append(line, element...), '\n'), l.endedLines(), nil
	}
	return append(compact.Bytes(), '\n'), l.endedLines(), nil
}

// endedLines returns the number of line ends before the decoder's position.
func (l *elements) endedLines() int {
	var ahead lineCount
	io.Copy(&ahead, l.decoder.Buffered())
	return l.lines.ended - int(ahead)
}

// A lineCount counts the line ends in what is written to it.
type lineCount int

func (c *lineCount) Write(p []byte) (int, error) {
	*c += lineCount(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// next returns the next element, or [io.EOF] after the last element.
func (l *elements) next() (json.RawMessage, error) {
	if !l.started {
		if err := l.openArray(); err != nil {
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
	return l.decodeValue()
}

// openArray reads to the beginning of the array.
func (l *elements) openArray() error {
	if _, err := l.decoder.Token(); err != nil {
		return l.asBroken(err)
	}
	if l.arrayKey == "" {
		return nil
	}
	for l.decoder.More() {
		key, err := l.decoder.Token()
		if err != nil {
			return l.asBroken(err)
		}
		if key == l.arrayKey {
			bracket, err := l.decoder.Token()
			if err == nil && bracket != json.Delim('[') {
				err = fmt.Errorf("%s is no array", l.arrayKey)
			}
			if err != nil {
				return l.asBroken(err)
			}
			return nil
		}
		if _, err := l.decodeValue(); err != nil {
			return err
		}
	}
	return io.EOF
}

func (l *elements) decodeValue() (value json.RawMessage, err error) {
	l.lines.limit = l.decoder.InputOffset() + maxElement
	if err = l.decoder.Decode(&value); err != nil {
		return nil, l.asBroken(err)
	}
	return value, nil
}

// asBroken returns a [brokenError] for an error of the JSON. It returns an error of reading
// unchanged.
func (l *elements) asBroken(err error) error {
	if l.lines.err != nil && l.lines.err != io.EOF {
		return l.lines.err
	}
	return broken(err)
}
