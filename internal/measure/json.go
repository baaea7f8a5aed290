package measure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
)

// ndjson is lines of JSON objects. Columns are paths: .duration, .request.path or .times.0.
var ndjson = Format{
	Name:   "ndjson",
	detect: func(begin []byte) bool { return begin[0] == '{' && isValue(firstLine(begin)) },
	open: func(s *setup, begin []byte) (fields, error) {
		s.Time, s.Value = cmp.Or(s.Time, likelyPath(begin, timeNames)), cmp.Or(s.Value, likelyPath(begin, valueNames))
		s.Unit = cmp.Or(s.Unit, unitIn(s.Value))
		switch {
		case s.Time == "":
			return nil, usagef("no key of the first line has a usual name of a time: add -time .KEY")
		case s.Value == "":
			return nil, usagef("no key of the first line has a usual name of a value: add -value .KEY")
		}
		return newObjects(s, "."), nil
	},
}

// isValue reports whether a line is a whole value of JSON.
func isValue(line []byte) bool {
	w := walker{separator: '.'}
	return w.walk(line, func(_, _ []byte) {}) == nil && w.done()
}

// likelyPath returns the path of the first of some names that is a key of the first line.
func likelyPath(begin []byte, names []string) string {
	var keys []string
	w := walker{separator: '.'}
	w.walk(firstLine(begin), func(path, _ []byte) {
		if key, ok := strings.CutPrefix(string(path), "."); ok && !strings.Contains(key, ".") {
			keys = append(keys, key)
		}
	})
	if name := likely(keys, names, ""); name != "" {
		return "." + name
	}
	return ""
}

// objects find fields of JSON objects.
type objects struct {
	walker walker
	places map[string][]int // by path
	// only is the path of a string that must be value, if it is not empty.
	only, value string
}

// newObjects returns objects whose columns begin with prefix, unless their names begin with a dot.
func newObjects(s *setup, prefix string) *objects {
	o := &objects{walker: walker{separator: '.'}, places: make(map[string][]int)}
	for place, name := range s.names() {
		if name != "" && name[0] != '.' {
			name = prefix + name
		}
		o.places[name] = append(o.places[name], place)
	}
	return o
}

func (o *objects) quoted([]byte) bool { return false }

func (o *objects) find(record []byte, places [][]byte) (skip bool, err error) {
	if len(bytes.TrimSpace(record)) == 0 {
		return true, nil
	}
	clear(places)
	only := []byte(nil)
	o.walker.reset()
	err = o.walker.walk(record, func(path, value []byte) {
		for _, place := range o.places[string(path)] {
			places[place] = value
		}
		if string(path) == o.only {
			only = value
		}
	})
	switch {
	case err != nil:
		return false, err
	case !o.walker.done():
		return false, errJSON
	case o.only != "" && only == nil:
		return false, &fieldError{o.only, hdrlog.ErrMissing}
	}
	return string(only) != o.value, nil
}

var errJSON = errors.New("not a JSON value, or cut short")

// maxDepth is how deep values may nest.
const maxDepth = 1000

// A walker finds the strings, numbers and other scalars of JSON text, line by line. It accepts more
// than JSON, such as nan. The zero value with a separator is ready.
type walker struct {
	separator byte // of the keys of a path
	path      []byte
	stack     []frame
	after     bool // a value has ended
	key       bool // a key comes next, or the end of the object
	colon     bool // a colon comes next
	begun     bool
}

// A frame is an array or an object around a value.
type frame struct {
	path  int // the length of its own path
	index int // of an element, -1 in an object
	empty bool
}

func (w *walker) reset() {
	*w = walker{separator: w.separator, path: w.path[:0], stack: w.stack[:0]}
}

// done reports whether a value is whole.
func (w *walker) done() bool { return w.begun && len(w.stack) == 0 }

// walk walks over a line and calls found for each scalar that is a value: with its path, each key
// or index after a separator, and its text, which is that of a string without its quotes. Null has
// no text. Both are valid until found returns, but for text without escapes, which is a part of the
// line.
func (w *walker) walk(text []byte, found func(path, value []byte)) error {
	for len(text) > 0 {
		c := text[0]
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			text = text[1:]
			continue
		}
		inside := len(w.stack) > 0
		switch {
		case inside && (c == '}' || c == ']'):
			top := w.stack[len(w.stack)-1]
			if (c == '}') != (top.index < 0) || !w.after && !top.empty {
				return errJSON
			}
			w.stack, w.path = w.stack[:len(w.stack)-1], w.path[:top.path]
			w.after, w.key, text = true, false, text[1:]
		case w.after:
			if !inside || c != ',' {
				return errJSON
			}
			top := &w.stack[len(w.stack)-1]
			w.after, text = false, text[1:]
			if w.key = top.index < 0; !w.key {
				top.index++
				w.path = strconv.AppendInt(append(w.path[:top.path], w.separator), int64(top.index), 10)
			}
		case w.colon:
			if c != ':' {
				return errJSON
			}
			w.colon, text = false, text[1:]
		case w.key:
			value, rest, err := scalar(text)
			if err != nil || c != '"' {
				return errJSON
			}
			top := &w.stack[len(w.stack)-1]
			w.path = append(append(w.path[:top.path], w.separator), value...)
			w.key, w.colon, top.empty, text = false, true, false, rest
		case c == '{' || c == '[':
			if len(w.stack) == maxDepth {
				return errJSON
			}
			if inside {
				w.stack[len(w.stack)-1].empty = false
			}
			top := frame{path: len(w.path), index: -1, empty: true}
			if w.begun, w.key = true, c == '{'; !w.key {
				top.index = 0
				w.path = append(w.path, w.separator, '0')
			}
			w.stack, text = append(w.stack, top), text[1:]
		default:
			value, rest, err := scalar(text)
			if err != nil {
				return err
			}
			if inside {
				w.stack[len(w.stack)-1].empty = false
			}
			w.begun, w.after, text = true, true, rest
			found(w.path, value)
		}
	}
	return nil
}

// scalar returns the scalar at the beginning of text, and what follows it.
func scalar(text []byte) (value, rest []byte, err error) {
	if text[0] != '"' {
		n := bytes.IndexAny(text, ",]} \t\r\n:")
		if n < 0 {
			n = len(text)
		}
		if value = text[:n]; n == 0 || bytes.IndexByte(value, '"') >= 0 {
			return nil, nil, errJSON
		}
		if string(value) == "null" {
			value = nil
		}
		return value, text[n:], nil
	}
	escapes := false
	for n := 1; ; n++ {
		end := bytes.IndexByte(text[n:], '"')
		if end < 0 {
			return nil, nil, errJSON
		}
		backslash := bytes.IndexByte(text[n:n+end], '\\')
		if backslash < 0 {
			value, rest = text[1:n+end], text[n+end+1:]
			break
		}
		escapes = true
		n += backslash + 1 // the escaped character, which is left over
		if n >= len(text) {
			return nil, nil, errJSON
		}
	}
	if escapes {
		var s string
		if json.Unmarshal(text[:len(text)-len(rest)], &s) != nil {
			return nil, nil, errJSON
		}
		value = []byte(s)
	}
	return value, rest, nil
}
