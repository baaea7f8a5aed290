package measure

import (
	"bytes"
	"cmp"
	"io"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/plaintext"
)

// Texts reads the texts of some columns of a file: a table with a header, lines of JSON objects, or
// a JSON array of objects. Package logs reads the phases of -phases by it.
type Texts struct {
	// Columns are the names of the columns, in lower case and without a unit. Units are the units
	// in the columns' names in the file, 0 for a name without a unit.
	Columns []string
	Units   []hdrlog.Unit

	splitter splitter
	fields   fieldFinder
	places   [][]byte
	texts    [][]byte // the part of places that has the columns
	bad      *hdrlog.SyntaxError
	ended    bool
	failure  error
}

// DetectTexts looks for columns in a file. Their names are in lower case, without characters
// between words, see [splitUnit]. The file must have the first needed columns. A file with only
// these and a usual column of values has measurements instead.
//
// If the file has the columns, DetectTexts returns their reader. Otherwise t is nil, and rest is
// the file from its beginning.
func DetectTexts(file io.Reader, name string, columns []string, needed int) (t *Texts, rest io.Reader) {
	var text bytes.Buffer // the part that was read so far
	b := beginningOf(io.TeeReader(file, &text))
	rest = io.MultiReader(&text, file)
	h := newHead(b, 0)
	names := h.columns
	array := false
	if h.isJSON() {
		object := h.line
		if array = !h.isObject(); array {
			object = firstElement(h)
		}
		names = keysOf(object)
	}
	found, ok := findColumns(names, columns, needed)
	if !ok {
		return nil, rest
	}
	t = &Texts{Columns: columns}
	for n, column := range found {
		_, unit := splitUnit(column)
		t.Units = append(t.Units, unit)
		if h.isJSON() { // later objects may have keys that the first one lacks
			found[n] = "." + cmp.Or(column, columns[n])
		}
	}
	s := &setup{
		format:     new(Format),
		options:    Options{Columns: Columns{Tags: found}},
		formatTags: true, // rows may lack columns
	}
	if h.isJSON() {
		t.fields = newObjects(s)
	} else {
		table, err := newTable(s, h, names, h.line)
		if err != nil {
			return nil, rest
		}
		t.fields = table
	}
	source := plaintext.NewReader(rest)
	if array {
		source = elementsOf("")(source, s, h)
	}
	t.places = s.newPlaces()
	t.texts = t.places[s.tagPlace():]
	t.splitter = splitter{file: name, lines: 1, parse: t.parse}
	t.splitter.closesQuotesOf(t.fields)
	t.splitter.start(source, maxRecord)
	return t, nil
}

// findColumns returns the names that a file has for wanted columns, empty for a column that it
// lacks. ok is false if one of wanted[:needed] is missing, or if the file has a column of values
// and none of the other wanted columns.
func findColumns(names, wanted []string, needed int) (found []string, ok bool) {
	others := false // the file has wanted columns that are not needed
	for n, column := range wanted {
		name := usualColumn(names, []string{column})
		if name == "" && n < needed {
			return nil, false
		}
		others = others || n >= needed && name != ""
		found = append(found, name)
	}
	return found, others || usualColumn(names, valueNames) == ""
}

func (t *Texts) parse(record []byte) (skip bool, field string, err error) {
	clear(t.places)
	skip, err = t.fields.find(record, t.places)
	return skip, "line", err
}

// Scan advances to the next row. It returns false after the last row, and if reading fails.
func (t *Texts) Scan() bool {
	for t.splitter.scanner.Scan() {
		if t.splitter.skip {
			continue
		}
		t.bad = nil
		if t.splitter.err != nil {
			t.bad = &hdrlog.SyntaxError{File: t.Name(), Line: t.Line(), Field: t.splitter.field, Err: t.splitter.err}
		}
		return true
	}
	if t.ended {
		return false
	}
	t.ended = true
	t.bad, t.failure = t.splitter.end(nil)
	return t.bad != nil
}

// Name returns the name of the file.
func (t *Texts) Name() string { return t.splitter.file }

// Line returns the number of the line of the row that Scan advanced to.
func (t *Texts) Line() int { return t.splitter.line }

// Bad returns the error of the row that Scan advanced to, or nil.
func (t *Texts) Bad() *hdrlog.SyntaxError { return t.bad }

// Err returns the error that ended reading, nil at the end of the file.
func (t *Texts) Err() error { return t.failure }

// Text returns the text of a column in the row that Scan advanced to, nil if the row lacks the
// column. The text is valid until the next Scan.
func (t *Texts) Text(column int) []byte { return bytes.TrimSpace(t.texts[column]) }
