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

// document is JSON whose arrays have values: -value results[].times. A path has [] for all elements
// of an array and [3] for one; arrays below it need none. The path of an object whose keys are
// values and whose values are counts ends in {}. What other columns have belongs to the values with
// the same indexes: -tag results[].command.
//
// Of several values, each is a series with a tag of its own, NAME=PATH, and it can be a sum,
// PATH+PATH.
var document = Format{
	Name:    jsonArray.Name,
	columns: Columns{unit: seriesUnit},
	source:  newRows,
	open:    openDocument,
}

// seriesUnit is the name of the column that has the units in the names of series.
const seriesUnit = "unit of the series"

// beginsDocument returns a function that reports whether a file begins with a JSON value that has
// paths, see [hasPaths].
func beginsDocument(paths ...string) func(h *head) bool {
	return func(h *head) bool {
		has := func(text []byte) bool { return textHas(text, paths) }
		return h.isJSON() && (has(h.text) || has(h.more(64<<10, has)))
	}
}

// isPath reports whether the name of a column is the path of values in a document.
func isPath(column string) bool {
	return strings.Contains(column, "[") || strings.Contains(column, "{}")
}

// A valuePath is a kind of values of a document.
type valuePath struct {
	tag   string
	terms []string // paths
	unit  string   // unit at the end of the name of the path
}

// seriesColumn is the name of the column that has the tags of series.
const seriesColumn = "series"

// parseSeries returns the series of the option -value.
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

// keyCount is the name of the column of counts if values are keys.
const keyCount = "its count"

// rowNames returns the columns of the rows that are made of a document.
func (s *setup) rowNames() (names []string) {
	for _, name := range s.names() {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// maxArrays is how many arrays can be around a value.
const maxArrays = 6

// maxDocument is the most memory of the values of a document that wait for their others: about
// three million.
var maxDocument = 256 << 20

// A path is one in a document.
type path struct {
	shape   string  // without indexes: .results[].times
	indexes []int32 // the index in each array, -1 for all
}

func parsePath(text string) (p path) {
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

// trimArrays takes the arrays off the end of a shape: all that is below a path belongs to it.
func trimArrays(shape string) string {
	for strings.HasSuffix(shape, "[]") {
		shape = shape[:len(shape)-2]
	}
	return shape
}

// A cell is a scalar of a column, with the indexes in the arrays around it.
type cell struct {
	at         [maxArrays]int32
	depth      int32 // of at
	begin, end int   // ends of its text
	line       int   // number of lines that ended before it
}

// A docColumn has the cells at a path, in the order of the document.
type docColumn struct {
	path
	name     string
	hasKeys  bool // its cells are keys, not what they have
	hasPairs bool // its cells are keys with what they have
	cells    []cell
}

// docRows make rows of a table of a document.
type docRows struct {
	pieces  *bufio.Scanner
	walker  walker
	setup   *setup
	table   docTable
	text    []byte // text of cells
	size    int    // in bytes, of cells
	piece   []byte // of the document, not read yet
	shape   []byte
	entries int32 // number of entries of objects so far
	lines   int
	err     error // error that ends the document
	cellErr error // error of a cell
	cursor  docCursor
}

// A docTable has the columns of a table.
type docTable struct {
	columns  []*docColumn
	byShape  map[string][]*docColumn
	terms    [][]*docColumn // of each series
	oneArray bool           // all columns are in elements of the same array
	names    []string       // names of columns
}

// A docCursor is the place of the next row. Emitting is set while rows of elements before an index
// are handed out: the next row is of a cell of a series.
type docCursor struct {
	handingOut bool
	before     int32
	series     int
	cell       int
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
			c := r.column(term, term)
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
			c := r.column(name, at)
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

// column adds a column with what is at a path.
func (r *docRows) column(name, at string) *docColumn {
	c := &docColumn{path: parsePath(at), name: name}
	r.table.columns = append(r.table.columns, c)
	r.table.byShape[c.shape] = append(r.table.byShape[c.shape], c)
	return c
}

// splitPieces splits JSON behind a comma or the end of a line, but not in a string.
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

// stringLength returns the length of the string at the beginning of text, with its quotes. It is 0
// if the string does not end there.
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

// next appends the next row.
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
		r.read()
	}
}

// read reads up to the end of a piece or of a document.
func (r *docRows) read() {
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
		if r.walker.done() && len(bytes.TrimSpace(line)) > 0 { // a document on each line
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

// shapeOf appends the path of a scalar without the indexes in arrays, and returns those. It returns
// false if there are too many.
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

// plainPath matches a path that can be typed in quotes.
var plainPath = expression(`^[-\w.\[\] ]+$`)

// Numbers says how to read the arrays of numbers in JSON that begins so, nothing if there are none.
func Numbers(begin []byte) string {
	const most = 3
	var paths []string
	w := walker{separator: '.'}
	w.walk(begin, func(path, value []byte) {
		_, err := parseDecimal(value, 0)
		if len(w.stack) == 0 || w.stack[len(w.stack)-1].index < 0 || err != nil || len(paths) == most {
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
	usual := func(path string) bool { // values[] or latencies[]
		all := append([]string{""}, words(path)...)
		name := strings.TrimSuffix(strings.Replace(all[len(all)-1], "ies", "y", 1), "s")
		return slices.Contains(valueNames, name)
	}
	first := paths[max(0, slices.IndexFunc(paths, usual))]
	return fmt.Sprintf("; it has numbers at %s: hdrrec -value %s -in UNIT reads some", strings.Join(paths, ", "), message.Quoted(first))
}

// scalar takes a scalar of the document, with its path.
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
		r.add(of, c, value)
	}
	if len(r.walker.stack) == 0 || r.walker.stack[len(r.walker.stack)-1].index >= 0 {
		return
	}
	top := r.walker.stack[len(r.walker.stack)-1]
	key := path[min(top.path+1, len(path)):]
	shape = append(r.shape[:len(r.shape)-len(key)-1], "{}"...)
	entry := c // a key and what it has belong together
	if c.depth < maxArrays {
		r.entries++
		entry.at[c.depth] = r.entries
		entry.depth++
	}
	for _, of := range r.table.byShape[string(shape)] {
		switch {
		case of.hasKeys:
			r.add(of, entry, key)
		case of.hasPairs:
			r.add(of, c, fmt.Appendf(nil, "%s=%s", key, value))
		default:
			r.add(of, entry, value)
		}
	}
}

// add adds a cell to a column, if its path has that element.
func (r *docRows) add(to *docColumn, c cell, text []byte) {
	for n, only := range to.indexes {
		if only >= 0 && (n >= int(c.depth) || c.at[n] != only) {
			return
		}
	}
	// A number that picks a column of the innermost array is no index of a row.
	for c.depth > 0 && int(c.depth) == len(to.indexes) && to.indexes[c.depth-1] >= 0 {
		c.depth--
	}
	const aCell = 64
	r.size += aCell + len(text)
	if r.size > maxDocument {
		r.cellErr = refusedError{fmt.Errorf("a document has more than %d MiB of values; jq makes lines of it",
			maxDocument>>20)}
		return
	}
	c.begin = len(r.text)
	r.text = append(r.text, text...)
	c.end = len(r.text)
	to.cells = append(to.cells, c)
}

// release hands out rows of elements of the outermost array before an index.
func (r *docRows) handOut(before int32) {
	r.cursor.before = before
	r.cursor.series, r.cursor.cell = 0, 0
	r.cursor.handingOut = slices.ContainsFunc(r.table.terms, func(terms []*docColumn) bool { return terms[0].countBefore(before) > 0 })
	if before == math.MaxInt32 && !r.cursor.handingOut {
		r.forget()
	}
}

// before returns the number of cells that belong to elements before an index.
func (c *docColumn) countBefore(index int32) int {
	if index == math.MaxInt32 {
		return len(c.cells)
	}
	n, _ := slices.BinarySearchFunc(c.cells, index, func(c cell, index int32) int { return cmp.Compare(c.at[0], index) })
	return n
}

// drop forgets the cells whose rows were handed out.
func (r *docRows) forget() {
	text := r.text
	r.text = nil
	r.size = 0
	r.cursor.handingOut = false
	for _, c := range r.table.columns {
		kept := c.cells[c.countBefore(r.cursor.before):]
		c.cells = c.cells[:0]
		for _, cell := range kept {
			r.add(&docColumn{}, cell, nil) // counts its size
			begin := len(r.text)
			r.text = append(r.text, text[cell.begin:cell.end]...)
			cell.begin, cell.end = begin, len(r.text)
			c.cells = append(c.cells, cell)
		}
	}
}

// emit appends the next row. It appends nothing after the last one.
func (r *docRows) appendRow(line []byte) (_ []byte, ended int) {
	for r.cursor.series < len(r.table.terms) && r.cursor.cell == r.table.terms[r.cursor.series][0].countBefore(r.cursor.before) {
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
		return r.appendRow(line) // the row of the first series says it
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

// appendField appends a field of a table, in quotes if it needs some.
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

// failed reports whether a cell is of what failed, and has no value.
func (r *docRows) isFailed(c *cell) bool {
	if r.setup.format.failedValue == nil || r.setup.options.Columns.OK == "" {
		return false
	}
	places := make([][]byte, wherePlace)
	places[valuePlace] = r.text[c.begin:c.end]
	places[okPlace] = r.textBeside(strings.TrimPrefix(r.setup.options.Columns.OK, "!"), c)
	return r.setup.failsWithout(places)
}

// appendValue appends the value of a cell of a series: its text, or the sum with those of other
// terms.
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
		return append(appendField(line, text), '+') // no number
	}
	return fmt.Appendf(line, "%d.%0*d", sum/1e9, scale, sum%1e9)
}

// with returns the cells of a column that have the indexes of a cell, as far as both have some.
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

// beside returns what a column has beside a cell.
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
