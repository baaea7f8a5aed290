package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
)

// document is JSON whose arrays have values, for example with -value results[].times. In a path, []
// stands for all elements of an array, and [3] for one element. Arrays below the path need no
// brackets. A path that ends in {} is of an object whose keys are values and whose values are
// counts. A field of another column belongs to the values whose elements have the same indexes:
// -tag results[].command.
//
// -value may have several series. Each is NAME=PATH, and NAME is its tag. A value can be a sum,
// PATH+PATH.
var document = Format{
	Name:    jsonArray.Name,
	columns: Columns{unit: seriesUnit},
	source:  newRows,
	open:    openDocument,
}

// seriesUnit names the column of the units that the names of series end in.
const seriesUnit = "unit of the series"

// beginsDocument returns a function that reports whether the first JSON value of a file has all
// paths, see [hasPaths].
func beginsDocument(paths ...string) func(h *head) bool {
	return func(h *head) bool {
		has := func(text []byte) bool { return textHas(text, paths) }
		return h.isJSON() && (has(h.text) || has(h.more(64<<10, has)))
	}
}

// isPath reports whether the name of a column is a path that only [document] can read.
func isPath(column string) bool {
	return strings.Contains(column, "[") || strings.Contains(column, "{}")
}

// A valuePath is a series of values in a document.
type valuePath struct {
	tag   string
	terms []string // paths whose values are added up
	unit  string   // unit at the end of the first path's name, empty if it has none
}

// seriesColumn names the column of the tags of series.
const seriesColumn = "series"

// parseSeries parses -value.
func parseSeries(value string) (all []valuePath) {
	parts := strings.Split(value, ",")
	for _, part := range parts {
		name, path, named := strings.Cut(part, "=")
		if !named {
			path = part
			name = strings.TrimRight(path[strings.LastIndexByte(path, '.')+1:], "[]{}")
		}
		s := valuePath{tag: name, terms: strings.Split(path, "+")}
		if u := unitIn(s.terms[0]); u != 0 {
			s.unit = u.String()
		}
		if !named && len(parts) == 1 {
			s.tag = ""
		}
		all = append(all, s)
	}
	return all
}

func openDocument(s *setup, h *head) (fieldFinder, error) {
	s.series = parseSeries(s.options.Columns.Value)
	if s.series[0].tag != "" {
		s.options.Columns.Tags = append([]string{seriesColumn}, s.options.Columns.Tags...)
	}
	if s.options.Columns.Count == "" && strings.HasSuffix(s.series[0].terms[0], "{}") {
		s.options.Columns.Count = keyCount
	}
	if s.options.Unit == 0 && s.series[0].unit != "" {
		s.options.Unit, _ = hdrlog.ParseUnit(s.series[0].unit)
	}
	return newTable(s, &head{columns: s.rowNames(), delimiter: ','}, s.rowNames(), nil)
}

// keyCount names the column of counts if the values are keys of an object.
const keyCount = "its count"

// rowNames returns the columns of the rows that [docRows] makes.
func (s *setup) rowNames() (names []string) {
	for _, name := range s.names() {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// maxArrays is the largest number of nested arrays around a value.
const maxArrays = 6

// maxDocument is the most memory for the cells of a document, in bytes: about three million cells.
var maxDocument = 256 << 20

// A columnPath is the path of a column.
type columnPath struct {
	shape   string  // the path without indexes: .results[].times
	indexes []int32 // the index in each array, -1 for all elements
}

func parsePath(text string) (p columnPath) {
	for _, part := range strings.Split(strings.TrimPrefix(text, "."), ".") {
		if index, err := strconv.Atoi(part); err == nil {
			p.shape += "[]"
			p.indexes = append(p.indexes, int32(index))
			continue
		}
		name, indexes, _ := strings.Cut(part, "[")
		if name != "" {
			p.shape += "." + name
		}
		for indexes != "" {
			index, rest, _ := strings.Cut(indexes, "]")
			only, err := strconv.Atoi(index)
			if err != nil {
				only = -1
			}
			p.shape += "[]"
			p.indexes = append(p.indexes, int32(only))
			if strings.HasPrefix(rest, "{") {
				p.shape += rest
			}
			_, indexes, _ = strings.Cut(rest, "[")
		}
	}
	p.shape = trimArrays(p.shape)
	return p
}

// trimArrays removes the arrays at the end of a shape, since a path covers all values below it.
func trimArrays(shape string) string {
	for strings.HasSuffix(shape, "[]") {
		shape = shape[:len(shape)-2]
	}
	return shape
}

// A cell is a scalar of a column. at has its indexes in the arrays around it.
type cell struct {
	at         [maxArrays]int32
	depth      int32 // number of indexes
	begin, end int   // position of the cell's text in docRows.text
	line       int   // number of line ends before the cell
}

// A docColumn has the cells of a column, in the order of the document.
type docColumn struct {
	columnPath
	name     string
	hasKeys  bool // cells are keys of objects, not their values
	hasPairs bool // cells are keys of objects with their values: KEY=VALUE
	cells    []cell
}

// docRows makes a table of a document: a row for each value of each series.
type docRows struct {
	pieces     *bufio.Scanner
	walker     walker
	setup      *setup
	table      docTable
	text       []byte // the texts of all cells
	memory     int    // memory of all cells in bytes
	piece      []byte // part of the document that was not read yet
	shape      []byte
	entryCount int32 // number of entries in objects so far, which are indexes of cells
	lines      int
	err        error // the error after which the document cannot be read
	cellErr    error // the error of a cell for which there is no memory
	cursor     docCursor
}

// A docTable has the columns of the table that [docRows] makes.
type docTable struct {
	columns  []*docColumn
	byShape  map[string][]*docColumn
	terms    [][]*docColumn // for each series, the columns whose values are added up
	oneArray bool           // all columns are below the same array: rows of its elements are complete when the next element begins
	names    []string       // names of columns, in the order of the row
}

// A docCursor is the position of the next row. While handingOut is true, the rows of the elements
// before an index are handed out.
type docCursor struct {
	handingOut  bool
	beforeIndex int32
	series      int
	cell        int
}

func newRows(text io.Reader, s *setup, _ *head) io.Reader {
	r := &docRows{
		pieces: bufio.NewScanner(text),
		walker: walker{separator: '.'},
		setup:  s,
		table:  docTable{byShape: make(map[string][]*docColumn), names: s.rowNames()},
	}
	r.pieces.Buffer(make([]byte, 64<<10), maxElement)
	r.pieces.Split(splitPieces)
	for _, of := range s.series {
		var terms []*docColumn
		for _, term := range of.terms {
			c := r.addColumn(term, term)
			c.hasKeys = strings.HasSuffix(c.shape, "{}")
			terms = append(terms, c)
		}
		r.table.terms = append(r.table.terms, terms)
	}
	for place, name := range s.names() {
		if place != valuePlace && name != "" && name != seriesColumn && name != seriesUnit {
			at := name
			if name == keyCount {
				at = s.series[0].terms[0]
			}
			c := r.addColumn(name, at)
			c.hasPairs = strings.HasSuffix(c.shape, "{}") && place >= s.tagPlace()
		}
	}
	begin, _, ok := strings.Cut(r.table.columns[0].shape, "[]")
	r.table.oneArray = len(r.table.columns) == 1 || ok && !slices.ContainsFunc(r.table.columns, func(c *docColumn) bool {
		first, _, ok := strings.Cut(c.shape, "[]")
		return !ok || first != begin
	})
	return &linesOf{next: r.next}
}

// addColumn adds a column whose cells are at a path.
func (r *docRows) addColumn(name, at string) *docColumn {
	c := &docColumn{columnPath: parsePath(at), name: name}
	r.table.columns = append(r.table.columns, c)
	r.table.byShape[c.shape] = append(r.table.byShape[c.shape], c)
	return c
}

// splitPieces is a [bufio.SplitFunc] that splits JSON behind a comma or a line end outside of
// strings.
func splitPieces(text []byte, last bool) (size int, piece []byte, _ error) {
	cut := 0
	for n := 0; n < len(text); {
		quote := bytes.IndexByte(text[n:], '"')
		end := n + quote
		if quote < 0 {
			end = len(text)
		}
		if at := bytes.LastIndexAny(text[n:end], ",\n"); at >= 0 {
			cut = n + at + 1
		}
		if quote < 0 {
			break
		}
		length := stringLength(text[end:])
		if length == 0 {
			break
		}
		n = end + length
	}
	switch {
	case cut > 0:
		return cut, text[:cut], nil
	case last && len(text) > 0:
		return len(text), text, nil
	}
	return 0, nil, nil
}

// stringLength returns the length of the JSON string at the beginning of text, with its quotes. It
// returns 0 if text has not all of the string.
func stringLength(text []byte) int {
	for n := 1; ; n++ {
		end := bytes.IndexByte(text[n:], '"')
		if end < 0 {
			return 0
		}
		before := text[n : n+end]
		n += end
		if backslashes := len(before) - len(bytes.TrimRight(before, "\\")); backslashes%2 == 0 {
			return n + 1
		}
	}
}

// next appends the next row to line. It is the function next of a [linesOf].
func (r *docRows) next(line []byte) (_ []byte, ended int, _ error) {
	for {
		if r.cursor.handingOut {
			if line, ended = r.appendRow(line); len(line) > 0 {
				return line, ended, nil
			}
			continue
		}
		if r.err != nil {
			return line, r.lines, r.err
		}
		r.readPiece()
	}
}

// readPiece reads to the end of the next piece, or of a document. It hands out rows that are
// complete.
func (r *docRows) readPiece() {
	if len(r.piece) == 0 && !r.pieces.Scan() {
		r.err = cmp.Or(r.pieces.Err(), io.EOF)
		switch {
		case r.err == bufio.ErrTooLong:
			r.err = broken(errElement)
		case r.err == io.EOF && r.walker.started && !r.walker.done():
			r.err = broken(io.EOF)
		}
		r.handOut(math.MaxInt32)
		return
	}
	if len(r.piece) == 0 {
		r.piece = r.pieces.Bytes()
	}
	for len(r.piece) > 0 {
		line := r.piece
		if end := bytes.IndexByte(r.piece, '\n'); end >= 0 {
			line = r.piece[:end+1]
		}
		if r.walker.done() && len(bytes.TrimSpace(line)) > 0 { // another document begins
			r.walker.reset()
			r.handOut(math.MaxInt32)
			if r.cursor.handingOut {
				return
			}
		}
		r.piece = r.piece[len(line):]
		err := r.walker.walk(line, r.visitScalar)
		if line[len(line)-1] == '\n' {
			r.lines++
		}
		switch {
		case r.cellErr != nil:
			r.err = r.cellErr
			return
		case err != nil:
			r.err = broken(err)
			r.handOut(math.MaxInt32)
			return
		}
	}
	if cells := r.table.terms[0][0].cells; r.table.oneArray && len(cells) > 0 {
		r.handOut(cells[len(cells)-1].at[0])
	}
}

// shapeOf appends the path of a scalar to to, without the indexes of array elements. The cell c has
// these indexes. ok is false if more than maxArrays arrays are nested, or if the path is too long.
func shapeOf(to, path []byte, stack []frame) (shape []byte, c cell, ok bool) {
	from := 0
	for _, around := range stack {
		if around.index < 0 {
			continue
		}
		if c.depth == maxArrays {
			return to, c, false
		}
		c.at[c.depth] = int32(around.index)
		c.depth++
		to = append(append(to, path[from:around.path]...), "[]"...)
		from = len(path)
		if end := bytes.IndexByte(path[around.path+1:], '.'); end >= 0 {
			from = around.path + 1 + end
		}
	}
	return append(to, path[from:]...), c, len(path) <= hdrlog.MaxTag
}

// plainPath matches a path that a user can type.
var plainPath = expression(`^[-\w.\[\] ]+$`)

// NumbersHint says how hdrrec reads the arrays of numbers in JSON with this beginning, for a
// message. It is empty if there are none.
func NumbersHint(begin []byte) string {
	const maxPaths = 3
	var paths []string
	w := walker{separator: '.'}
	w.walk(begin, func(path, value []byte) {
		_, err := parseDecimal(value, 0)
		if len(w.stack) == 0 || w.stack[len(w.stack)-1].index < 0 || err != nil || len(paths) == maxPaths {
			return
		}
		shape, _, ok := shapeOf(nil, path, w.stack)
		text := strings.TrimPrefix(string(shape), ".")
		if ok && !slices.Contains(paths, text) && plainPath().MatchString(text) {
			paths = append(paths, text)
		}
	})
	if len(paths) == 0 {
		return ""
	}
	isUsual := func(path string) bool { // such as values[] or latencies[]
		all := append([]string{""}, nameWords(path)...)
		name := strings.TrimSuffix(strings.Replace(all[len(all)-1], "ies", "y", 1), "s")
		return slices.Contains(valueNames, name)
	}
	first := paths[max(0, slices.IndexFunc(paths, isUsual))]
	return fmt.Sprintf("; it has numbers at %s: hdrrec -value %s -in UNIT reads some", strings.Join(paths, ", "), message.Quoted(first))
}

// visitScalar adds a scalar of the document to the columns that have its path.
func (r *docRows) visitScalar(path, value []byte) {
	var c cell
	var ok bool
	r.shape, c, ok = shapeOf(r.shape[:0], path, r.walker.stack)
	if value == nil || !ok {
		return
	}
	c.line = r.lines
	shape := r.shape
	for bytes.HasSuffix(shape, []byte("[]")) {
		shape = shape[:len(shape)-2]
	}
	for _, of := range r.table.byShape[string(shape)] {
		r.addCell(of, c, value)
	}
	if len(r.walker.stack) == 0 || r.walker.stack[len(r.walker.stack)-1].index >= 0 {
		return
	}
	top := r.walker.stack[len(r.walker.stack)-1]
	key := path[min(top.path+1, len(path)):]
	shape = append(r.shape[:len(r.shape)-len(key)-1], "{}"...)
	entry := c // so that the cells of a key and of its value belong together
	if c.depth < maxArrays {
		r.entryCount++
		entry.at[c.depth] = r.entryCount
		entry.depth++
	}
	for _, of := range r.table.byShape[string(shape)] {
		switch {
		case of.hasKeys:
			r.addCell(of, entry, key)
		case of.hasPairs:
			r.addCell(of, c, fmt.Appendf(nil, "%s=%s", key, value))
		default:
			r.addCell(of, entry, value)
		}
	}
}

// addCell adds a cell to a column. It does nothing if the column's path has another index than the
// cell.
func (r *docRows) addCell(to *docColumn, c cell, text []byte) {
	for n, only := range to.indexes {
		if only >= 0 && (n >= int(c.depth) || c.at[n] != only) {
			return
		}
	}
	// An index of the innermost array that the path names picks a column. It does not number rows.
	for c.depth > 0 && int(c.depth) == len(to.indexes) && to.indexes[c.depth-1] >= 0 {
		c.depth--
	}
	const cellBytes = 64
	r.memory += cellBytes + len(text)
	if r.memory > maxDocument {
		r.cellErr = refusedError{fmt.Errorf("a document has more than %d MiB of values; jq makes lines of it",
			maxDocument>>20)}
		return
	}
	c.begin = len(r.text)
	r.text = append(r.text, text...)
	c.end = len(r.text)
	to.cells = append(to.cells, c)
}

// handOut starts to hand out the rows of the outermost array's elements before an index.
func (r *docRows) handOut(before int32) {
	r.cursor.beforeIndex = before
	r.cursor.series, r.cursor.cell = 0, 0
	r.cursor.handingOut = slices.ContainsFunc(r.table.terms, func(terms []*docColumn) bool { return terms[0].countBefore(before) > 0 })
	if before == math.MaxInt32 && !r.cursor.handingOut {
		r.forget()
	}
}

// countBefore returns the number of cells in elements before an index of the outermost array.
func (c *docColumn) countBefore(index int32) int {
	if index == math.MaxInt32 {
		return len(c.cells)
	}
	n, _ := slices.BinarySearchFunc(c.cells, index, func(c cell, index int32) int { return cmp.Compare(c.at[0], index) })
	return n
}

// forget removes the cells whose rows were handed out.
func (r *docRows) forget() {
	text := r.text
	r.text = nil
	r.memory = 0
	r.cursor.handingOut = false
	for _, c := range r.table.columns {
		remaining := c.cells[c.countBefore(r.cursor.beforeIndex):]
		c.cells = c.cells[:0]
		for _, cell := range remaining {
			r.addCell(&docColumn{}, cell, nil) // adds the cell's memory to r.size
			begin := len(r.text)
			r.text = append(r.text, text[cell.begin:cell.end]...)
			cell.begin, cell.end = begin, len(r.text)
			c.cells = append(c.cells, cell)
		}
	}
}

// appendRow appends the next row. It appends nothing after the last row.
func (r *docRows) appendRow(line []byte) (_ []byte, ended int) {
	for r.cursor.series < len(r.table.terms) && r.cursor.cell == r.table.terms[r.cursor.series][0].countBefore(r.cursor.beforeIndex) {
		r.cursor.series++
		r.cursor.cell = 0
	}
	if r.cursor.series == len(r.table.terms) {
		r.forget()
		return line, 0
	}
	c := &r.table.terms[r.cursor.series][0].cells[r.cursor.cell]
	of := &r.setup.series[r.cursor.series]
	r.cursor.cell++
	if r.cursor.series > 0 && r.isFailed(c) {
		return r.appendRow(line) // the first series has a row for the failed request
	}
	for n, name := range r.table.names {
		if n > 0 {
			line = append(line, ',')
		}
		switch name {
		case r.setup.options.Columns.Value:
			line = r.appendValue(line, c)
		case seriesColumn:
			line = appendField(line, []byte(of.tag))
		case seriesUnit:
			line = append(line, of.unit...)
		default:
			line = appendField(line, r.textBeside(name, c))
		}
	}
	return append(line, '\n'), c.line
}

// appendField appends a field of a table, in quotes if the text needs quotes. Line ends become
// spaces.
func appendField(line, text []byte) []byte {
	if !bytes.ContainsAny(text, ",\"\r\n") {
		return append(line, text...)
	}
	text = bytes.ReplaceAll(text, []byte(`"`), []byte(`""`))
	line = append(append(append(line, '"'), text...), '"')
	for n, c := range line {
		if c == '\r' || c == '\n' {
			line[n] = ' '
		}
	}
	return line
}

// isFailed reports whether a cell belongs to a failed request without a value.
func (r *docRows) isFailed(c *cell) bool {
	if r.setup.format.failedValue == nil || r.setup.options.Columns.OK == "" {
		return false
	}
	places := make([][]byte, wherePlace)
	places[valuePlace] = r.text[c.begin:c.end]
	places[okPlace] = r.textBeside(strings.TrimPrefix(r.setup.options.Columns.OK, "!"), c)
	return r.setup.failsWithout(places)
}

// appendValue appends the value of a cell: its text, or the sum of the cell and the cells of the
// series' other terms.
func (r *docRows) appendValue(line []byte, c *cell) []byte {
	text := r.text[c.begin:c.end]
	terms := r.table.terms[r.cursor.series]
	if len(terms) == 1 {
		return appendField(line, text)
	}
	const scale = 9
	sum, err := parseDecimal(text, scale)
	for _, term := range terms[1:] {
		for _, other := range term.cellsAt(c) {
			part, wrong := parseDecimal(r.text[other.begin:other.end], scale)
			err = cmp.Or(err, wrong)
			sum += part
		}
	}
	if err != nil || sum < 0 {
		return append(appendField(line, text), '+') // "+" behind it makes it malformed
	}
	return fmt.Appendf(line, "%d.%0*d", sum/1e9, scale, sum%1e9)
}

// cellsAt returns the cells of a column whose indexes are the indexes of another cell. If one cell
// has fewer indexes, only these are compared.
func (c *docColumn) cellsAt(of *cell) []cell {
	compare := func(a cell, of *cell) int {
		depth := min(a.depth, of.depth)
		return slices.Compare(a.at[:depth], of.at[:depth])
	}
	begin, found := slices.BinarySearchFunc(c.cells, of, compare)
	if !found {
		return nil
	}
	end := begin
	for end < len(c.cells) && compare(c.cells[end], of) == 0 {
		end++
	}
	return c.cells[begin:end]
}

// textBeside returns the text of a column in the row of a cell, nil if there is none.
func (r *docRows) textBeside(name string, c *cell) []byte {
	n := slices.IndexFunc(r.table.columns, func(c *docColumn) bool { return c.name == name })
	found := r.table.columns[n].cellsAt(c)
	if len(found) == 0 {
		return nil
	}
	text := r.text[found[0].begin:found[0].end]
	if r.table.columns[n].hasPairs {
		text = bytes.Clone(text)
		for _, other := range found[1:] {
			text = append(append(text, '/'), r.text[other.begin:other.end]...)
		}
	}
	return text
}
