package measure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// ndjson is lines of JSON objects. jsonArray is one JSON document that is an array of objects.
// Columns are paths: .duration, .request.path or .times.0.
var (
	ndjson = Format{
		Name:    "ndjson",
		detects: func(h *head) bool { return h.isObject() && SummaryOf(h.text) == "" },
		open: func(s *setup, h *head) (fieldFinder, error) {
			row := s.firstRow(h)
			if s.valueColumn() == "" && h.isOnlyLine() {
				return nil, usagef("one JSON object is a measurement only if -value .KEY names its "+
					"value; its keys are %s%s", cmp.Or(joined(keysOf(row)), "those of objects and arrays"), NumbersHint(row))
			}
			return openRows(s, row)
		},
	}
	jsonArray = Format{
		Name: "json",
		detects: func(h *head) bool {
			return h.isJSON() && !h.isObject() && !bytes.Contains(h.text, []byte("HISTF")) && firstElement(h) != nil
		},
		source: elementsOf(""),
		open:   func(s *setup, h *head) (fieldFinder, error) { return openRows(s, firstElement(h)) },
	}
)

// openRows opens objects, of which row is one. Usual names in row complete the options.
func openRows(s *setup, row []byte) (fieldFinder, error) {
	keys := keysOf(row)
	if key := usualColumn(keys, timeNames); key != "" && !s.options.NoTime {
		s.options.Columns.Time = cmp.Or(s.options.Columns.Time, "."+key)
	}
	if key := usualColumn(keys, valueNames); key != "" && s.options.Columns.End == "" {
		s.options.Columns.Value = cmp.Or(s.options.Columns.Value, "."+key)
	}
	if s.options.Columns.Time == "" && !s.noTime() || s.valueColumn() == "" {
		return nil, usagef("no list of measurements: its first line has no usual names of a time "+
			"and a value, and -time .KEY and -value .KEY do not name them; its keys are %s%s",
			cmp.Or(joined(keys), "those of objects and arrays"), NumbersHint(row))
	}
	s.options.Unit = cmp.Or(s.options.Unit, unitIn(s.options.Columns.Value))
	return newObjects(s), nil
}

// firstElement returns the first object of an array, nil if the file does not begin with an array
// of objects.
func firstElement(h *head) []byte {
	find := func(text []byte) (element []byte) {
		inside, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("["))
		inside = bytes.TrimSpace(inside)
		if !ok || !bytes.HasPrefix(inside, []byte("{")) {
			return nil
		}
		var object json.RawMessage
		if json.NewDecoder(bytes.NewReader(inside)).Decode(&object) != nil {
			return nil
		}
		return object
	}
	return find(h.more(64<<10, func(text []byte) bool { return find(text) != nil }))
}

// firstRow returns the first line that -where chooses. If the beginning of the file has none, it
// returns the first line.
func (s *setup) firstRow(h *head) []byte {
	if len(s.options.Where) == 0 {
		return h.line
	}
	o := newObjects(s)
	places := s.newPlaces()
	find := func(text []byte) []byte {
		for line := range bytes.Lines(text) {
			if o.fill(line, places) != nil {
				continue
			}
			if wanted, _, err := s.chooses(places); wanted && err == nil {
				return line
			}
		}
		return nil
	}
	text := h.more(maxRecord, func(text []byte) bool { return find(text) != nil })
	if line := find(text); line != nil {
		return line
	}
	return h.line
}

// isValue reports whether a line is a whole JSON value.
func isValue(line []byte) bool {
	w := walker{separator: '.'}
	return w.walk(line, func(_, _ []byte) {}) == nil && w.done()
}

// maxKeys is the number of values in an object among which usual names are looked for.
const maxKeys = 1000

// keysOf returns the keys of an object whose values are scalars. It looks at the first maxKeys
// values.
func keysOf(line []byte) (keys []string) {
	w := walker{separator: '.'}
	seen := 0
	w.walk(line, func(path, _ []byte) {
		if seen++; seen <= maxKeys && len(w.stack) == 1 {
			keys = append(keys, string(path[1:]))
		}
	})
	return keys
}

// objects finds the fields of JSON objects.
type objects struct {
	setup   *setup
	walker  walker
	places  map[string][]int // places of the fields at each path
	longest int              // length of the longest path in places, in bytes
	// unlocated are the names without a dot, by place, for which no row has shown a path yet.
	// searchedRows is the number of rows that were searched for them.
	unlocated    map[int]string
	searchedRows int
}

// locate searches at most maxSearchedRows rows of a file, since the rows may lack a key.
const maxSearchedRows = 10_000

// openObjects opens lines of JSON objects. A column whose name does not begin with a dot is a key
// at any depth.
func openObjects(s *setup, _ *head) (fieldFinder, error) { return newObjects(s), nil }

func newObjects(s *setup) *objects {
	o := &objects{
		setup:     s,
		walker:    walker{separator: '.'},
		places:    make(map[string][]int),
		unlocated: make(map[int]string),
	}
	for place, name := range s.names() {
		if name != "" && name[0] != '.' {
			o.unlocated[place] = name
			name = "." + name
		}
		o.add(name, place)
	}
	return o
}

func (o *objects) add(path string, place int) {
	o.places[path] = append(o.places[path], place)
	o.longest = max(o.longest, len(path))
}

func (o *objects) find(record []byte, places [][]byte) (skip bool, err error) {
	if len(bytes.TrimSpace(record)) == 0 {
		return true, nil
	}
	if err := o.fill(record, places); err != nil || len(o.unlocated) == 0 {
		return false, err
	}
	if wanted, _, err := o.setup.chooses(places); !wanted || err != nil {
		return false, nil
	}
	if o.locate(record, places) {
		err = o.fill(record, places)
	}
	return false, err
}

// locate searches a record for the keys in unlocated. It returns true if it has found one.
func (o *objects) locate(record []byte, places [][]byte) (more bool) {
	for place, name := range o.unlocated {
		if places[place] != nil {
			delete(o.unlocated, place)
			continue
		}
		found := ""
		o.walker.reset()
		o.walker.walk(record, func(path, _ []byte) {
			if key := path[bytes.LastIndexByte(path, '.')+1:]; found == "" && string(key) == name {
				found = string(path)
			}
		})
		if found != "" {
			o.add(found, place)
			delete(o.unlocated, place)
			more = true
		}
	}
	if o.searchedRows++; o.searchedRows == maxSearchedRows {
		o.unlocated = nil
	}
	return more
}

// fill puts the fields of a record into their places.
func (o *objects) fill(record []byte, places [][]byte) error {
	clear(places)
	o.walker.reset()
	err := o.walker.walk(record, func(path, value []byte) {
		if len(path) > o.longest { // comparing long paths would take long
			return
		}
		for _, place := range o.places[string(path)] {
			places[place] = value
		}
	})
	if err == nil && !o.walker.done() {
		err = errJSON
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, quoted(record))
	}
	return nil
}

var errJSON = errors.New("not a JSON value, or cut short")

// maxDepth is the largest depth of nested values. maxPath is the length of the longest path, which
// can have a key from each of several lines.
const (
	maxDepth = 1000
	maxPath  = 2 * maxRecord
)

// A walker finds the scalars of JSON text, line by line. It accepts more than JSON, for example
// nan. The zero value with a separator is ready.
type walker struct {
	separator  byte // byte before each key or index of a path
	path       []byte
	stack      []frame
	afterValue bool // a comma or the end of the object or array comes next
	wantsKey   bool // a key or the end of the object comes next
	wantsColon bool // a colon comes next
	started    bool
}

// A frame is an open array or object.
type frame struct {
	path  int // length of its path
	index int // index of the current element, -1 in an object
	empty bool
}

func (w *walker) reset() {
	*w = walker{separator: w.separator, path: w.path[:0], stack: w.stack[:0]}
}

// done reports whether one whole value was read.
func (w *walker) done() bool { return w.started && len(w.stack) == 0 }

// walk reads a line and calls found for each scalar that is a value. The path has a separator
// before each key or index. The text of a string is without its quotes. The text of null is nil.
// Both are valid until found returns; the text of a string without escapes is a part of the line.
func (w *walker) walk(text []byte, found func(path, value []byte)) error {
	for len(text) > 0 {
		var err error
		c := text[0]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			text = text[1:]
		case len(w.stack) > 0 && (c == '}' || c == ']'):
			err = w.closeValue(c)
			text = text[1:]
		case w.afterValue:
			err = w.nextEntry(c)
			text = text[1:]
		case w.wantsColon && c == ':':
			w.wantsColon = false
			text = text[1:]
		case w.wantsColon || w.wantsKey && c != '"':
			return errJSON
		case w.wantsKey:
			text, err = w.readKey(text)
		case c == '{' || c == '[':
			err = w.openValue(c)
			text = text[1:]
		default:
			var value []byte
			if value, text, err = cutScalar(text); err == nil {
				w.startValue()
				w.afterValue = true
				found(w.path, value)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startValue notes that a value begins.
func (w *walker) startValue() {
	w.started = true
	if last := len(w.stack) - 1; last >= 0 {
		w.stack[last].empty = false
	}
}

// openValue begins an object or an array.
func (w *walker) openValue(bracket byte) error {
	if len(w.stack) == maxDepth {
		return errJSON
	}
	w.startValue()
	top := frame{path: len(w.path), index: -1, empty: true}
	w.wantsKey = bracket == '{'
	if !w.wantsKey {
		top.index = 0
		w.path = append(w.path, w.separator, '0')
	}
	w.stack = append(w.stack, top)
	return nil
}

// closeValue ends the innermost object or array.
func (w *walker) closeValue(bracket byte) error {
	last := len(w.stack) - 1
	top := w.stack[last]
	if (bracket == '}') != (top.index < 0) || !w.afterValue && !top.empty {
		return errJSON
	}
	w.stack = w.stack[:last]
	w.path = w.path[:top.path]
	w.afterValue = true
	w.wantsKey = false
	return nil
}

// nextEntry reads the comma before the next key or element.
func (w *walker) nextEntry(comma byte) error {
	if len(w.stack) == 0 || comma != ',' {
		return errJSON
	}
	w.afterValue = false
	top := &w.stack[len(w.stack)-1]
	w.wantsKey = top.index < 0
	if !w.wantsKey {
		top.index++
		w.path = strconv.AppendInt(append(w.path[:top.path], w.separator), int64(top.index), 10)
	}
	return nil
}

// readKey adds the key at the beginning of text to the path, and returns the rest of text.
func (w *walker) readKey(text []byte) (rest []byte, err error) {
	key, rest, err := cutScalar(text)
	if err != nil {
		return nil, err
	}
	top := &w.stack[len(w.stack)-1]
	w.path = append(append(w.path[:top.path], w.separator), key...)
	if len(w.path) > maxPath {
		return nil, errJSON
	}
	w.wantsKey = false
	w.wantsColon = true
	top.empty = false
	return rest, nil
}

// cutScalar returns the scalar at the beginning of text, and the rest.
func cutScalar(text []byte) (value, rest []byte, err error) {
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
		n += backslash + 1 // the character behind the backslash
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
