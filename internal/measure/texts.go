package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"io"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/plaintext"
)

// Texts are the texts of some columns of a table with a header, or of lines or an array of JSON.
type Texts struct {
	*Reader
	// Columns are the names of the columns, in small letters and without a unit. Units are those in
	// their names, unknown if there is none.
	Columns []string
	Units   []hdrlog.Unit
}

// LookTexts returns a reader of some columns if the file has the first ones, as many as needs says.
// Names are in small letters, without what separates words. Otherwise it returns the file from its
// beginning, and also if the file has only these and a usual column of values: then it has
// measurements.
func LookTexts(file io.Reader, name string, some []string, needs int) (t *Texts, rest io.Reader) {
	var text bytes.Buffer // that was read so far
	b := beginningOf(io.TeeReader(file, &text))
	rest = io.MultiReader(&text, file)
	h := newHead(b, 0)
	columns, element := h.columns, h.line
	array := h.isJSON() && !h.isObject()
	if array {
		element = firstElement(h)
	}
	if h.isJSON() {
		columns = keysOf(element)
	}
	t = &Texts{Reader: newReader(plaintext.NewReader(rest), name), Columns: some}
	s := &t.parser.setup
	s.format = new(Format)
	s.ownTags = true // rows may lack them
	alone := true    // none of the others is there
	for n, one := range some {
		column := likely(columns, []string{one})
		if column == "" && n < needs {
			return nil, rest
		}
		alone = alone && (n < needs || column == "")
		_, u := named(column)
		if h.isJSON() { // another row may have it
			column = "." + cmp.Or(column, one)
		}
		t.Units = append(t.Units, u)
		s.options.Columns.Tags = append(s.options.Columns.Tags, column)
	}
	if alone && likely(columns, valueNames) != "" {
		return nil, rest
	}
	if h.isJSON() {
		t.parser.fields = newObjects(s)
	} else {
		table, err := newTable(s, h, columns, h.line)
		if err != nil {
			return nil, rest
		}
		t.parser.fields = table
		t.splitter.closes = table.closes
	}
	if array {
		t.splitter.scanner = bufio.NewScanner(elementsOf("")(t.text, s, h))
	}
	t.parser.places = make([][]byte, s.tagPlace()+len(some))
	t.splitter.parse = func(record []byte) (skip bool, field string, err error) {
		clear(t.parser.places)
		skip, err = t.parser.fields.find(record, t.parser.places)
		return skip, "line", err
	}
	t.splitter.most = maxRecord
	t.splitter.scanner.Split(t.splitter.split)
	t.splitter.scanner.Buffer(make([]byte, 64<<10), maxRecord+2)
	return t, nil
}

// Text returns the text of a column in the row that Scan advanced to, nil if the row has none. It
// is valid until the next row.
func (t *Texts) Text(column int) []byte {
	return bytes.TrimSpace(t.parser.places[t.parser.setup.tagPlace()+column])
}
