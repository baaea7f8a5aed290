package measure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
)

// csv is any table with a time and a value, as in RFC 4180, with any delimiter. A table without a
// header is read only if options have the numbers of the columns, since the order of columns shows
// nothing.
var csv = Format{
	Name:    "csv",
	detects: func(h *head) bool { return h.delimiter != 0 && !h.isJSON() && bytes.IndexByte(h.line, 0) < 0 },
	open: func(s *setup, h *head) (fieldFinder, error) {
		if !s.isHeader(h.columns) {
			if s.options.Columns.Time == "" && !s.noTime() || s.valueColumn() == "" {
				return nil, usagef("the first line is no header: add -time NUMBER and -value "+
					"NUMBER; the first row is %s", numbered(h.columns))
			}
			return newTable(s, h, nil, nil)
		}
		if !s.options.NoTime {
			s.options.Columns.Time = cmp.Or(s.options.Columns.Time, usualColumn(h.columns, timeNames))
		}
		if s.options.Columns.End == "" {
			s.options.Columns.Value = cmp.Or(s.options.Columns.Value, usualColumn(h.columns, valueNames))
		}
		if len(h.columns) == 2 && s.options.Columns.Value == "" && s.options.Columns.Count != "" {
			s.options.Columns.Value = otherOf(h.columns, s.options.Columns.Count)
		}
		noTime := s.options.Columns.Time == "" && !s.noTime()
		noValue := s.valueColumn() == ""
		switch {
		case noTime && noValue:
			return nil, usagef("no usual names of a time and a value: add -time COLUMN and -value "+
				"COLUMN; the columns are %s", joined(h.columns))
		case noTime:
			return nil, usagef("no usual name of a time: add -time COLUMN, or -time '' if there is none; "+
				"the columns are %s", joined(h.columns))
		case noValue:
			return nil, usagef("no usual name of a value: add -value COLUMN; the columns are %s", joined(h.columns))
		}
		t, err := newTable(s, h, h.columns, h.line)
		if err == nil && s.options.Unit == 0 {
			s.options.Unit = unitIn(h.columns[t.column(s.valueColumn())])
		}
		return t, err
	},
}

// values is a file with one value on each line, a number or a duration, with a header or without.
var values = Format{
	Name: "values",
	detects: func(h *head) bool {
		if h.delimiter != 0 || bytes.IndexByte(h.line, 0) >= 0 {
			return false
		}
		if !isMeasure(h.line) && usualColumn(h.columns, valueNames) == "" {
			return false
		}
		// A percentile distribution may begin with a line that has the mean.
		two := func(text []byte) bool { return bytes.Count(text, []byte("\n")) > 1 }
		return SummaryOf(h.more(len(h.line)+maxRecord, two)) == ""
	},
	open: func(s *setup, h *head) (fieldFinder, error) {
		if s.options.Columns.Time != "" || s.options.Columns.End != "" || s.options.Columns.Count != "" {
			return nil, usagef("each line has one value, and -time, -end and -count name other columns")
		}
		name := usualColumn(h.columns, valueNames)
		s.options.Columns.Value = cmp.Or(s.options.Columns.Value, name, "1")
		if name == "" {
			return newTable(s, h, nil, nil)
		}
		s.options.Unit = cmp.Or(s.options.Unit, unitIn(h.columns[0]))
		return newTable(s, h, h.columns, h.line)
	},
}

// noTime reports whether rows need no time: an option says so, or rows have counts.
func (s *setup) noTime() bool { return s.options.NoTime || s.options.Columns.Count != "" }

// otherOf returns the other one of two columns than the one with a name or number.
func otherOf(columns []string, name string) string {
	if name == columns[1] || name == "2" {
		return columns[0]
	}
	return columns[1]
}

// numbered returns the fields of a row with their numbers, for a message: 1 "1700000000", 2 "0,5".
func numbered(fields []string) string {
	all := make([]string, len(fields))
	for n, field := range fields {
		all[n] = fmt.Sprintf("%d %.40q", n+1, field)
	}
	return joined(all)
}

// joined returns names with commas between them, for a message. It leaves out the names after the
// twentieth.
func joined(names []string) string { return message.ListFirst(names, 20, 20) }

// isHeader reports whether the first line of a table is a header: it contains the column of the
// value that an option names, or it is not a row.
func (s *setup) isHeader(columns []string) bool {
	_, err := strconv.Atoi(s.valueColumn())
	return err != nil && slices.Contains(columns, s.valueColumn()) || !isRow(columns)
}

// isRow reports whether a line is a row and not a header: a field is a number, a duration or a
// date.
func isRow(columns []string) bool {
	c := timeParser{unit: hdrlog.Nanosecond, zone: time.UTC}
	return slices.ContainsFunc(columns, func(column string) bool {
		_, err := c.parse([]byte(column))
		return isMeasure([]byte(column)) || err == nil
	})
}

// isMeasure reports whether text is a duration or a number, also a number that is out of range.
func isMeasure(text []byte) bool {
	_, err := parseDecimal(text, 0)
	_, isDuration := parseDuration(text)
	return isDuration || !errors.Is(err, hdrlog.ErrNumber)
}

var delimiters = []byte{',', '\t', ';', '|'}

// delimiterOf returns the usual delimiter that splits a line into the most columns, 0 if each
// leaves one column.
func delimiterOf(line []byte) (best byte) {
	most := 1
	for _, d := range delimiters {
		if n := len(splitAll(line, d)); n > most {
			best, most = d, n
		}
	}
	return best
}

// splitAll returns all fields of a line. If a quote is not closed, quotes are characters like
// others.
func splitAll(line []byte, delimiter byte) (all []string) {
	t := table{delimiter: delimiter}
	for more := true; more; {
		var field []byte
		var open bool
		if field, line, more, open = t.field(line); open {
			return append(all, strings.Split(string(field)+string(delimiter)+string(line), string(delimiter))...)
		}
		all = append(all, string(field))
	}
	return all
}

// openTable opens a table with a header.
func openTable(s *setup, h *head) (fieldFinder, error) { return newTable(s, h, h.columns, h.line) }

func tableOf(names ...string) func(s *setup, h *head) (fieldFinder, error) {
	return func(s *setup, h *head) (fieldFinder, error) { return newTable(s, h, names, nil) }
}

// A table finds the fields in the lines of a table.
type table struct {
	delimiter byte
	names     []string // names of columns in the header, nil without a header
	columns   int
	header    []byte  // the line of the header, which find skips; nil without a header
	at        [][]int // places of the fields of each column, up to the last column that has places
}

// newTable returns a table. names are the names of its columns, nil if columns have numbers only.
// header is the first line, nil if the first line is a row.
func newTable(s *setup, h *head, names []string, header []byte) (*table, error) {
	t := &table{
		delimiter: cmp.Or(h.delimiter, ','),
		names:     names,
		columns:   len(h.columns),
		header:    bytes.Clone(header),
	}
	for place, name := range s.names() {
		column := t.column(name)
		switch {
		case name == "":
			continue
		case column < 0 && s.isOptional(place):
			continue
		case column < 0 && names == nil:
			return nil, usagef("the first line is no header, so columns have numbers, from 1 to %d; "+
				"there is no column %s", t.columns, name)
		case column < 0:
			return nil, usagef("there is no column %s; the columns are %s", name, joined(names))
		}
		for len(t.at) <= column {
			t.at = append(t.at, nil)
		}
		t.at[column] = append(t.at[column], place)
	}
	return t, nil
}

// column returns the index of the column with a name or a number, -1 if there is none.
func (t *table) column(name string) int {
	if n := slices.Index(t.names, name); n >= 0 {
		return n
	}
	if n, err := strconv.Atoi(name); err == nil && 0 < n && n <= t.columns {
		return n - 1
	}
	return -1
}

var errColumns = errors.New("the number of columns differs from that of the first line")

func (t *table) find(record []byte, places [][]byte) (skip bool, err error) {
	if len(record) == 0 || t.header != nil && bytes.Equal(record, t.header) {
		return true, nil
	}
	rest := record
	columns := 0
	more := true
	for ; more; columns++ {
		if columns >= len(t.at) && bytes.IndexByte(rest, '"') < 0 { // no place needs the other fields
			columns += 1 + bytes.Count(rest, []byte{t.delimiter})
			break
		}
		var field []byte
		var open bool
		if field, rest, more, open = t.field(rest); open {
			return false, errOpenQuote
		}
		if columns < len(t.at) {
			for _, place := range t.at[columns] {
				places[place] = field
			}
		}
	}
	if columns != t.columns {
		return false, fmt.Errorf("%w: %d, not %d: %s", errColumns, columns, t.columns, quoted(record))
	}
	return false, nil
}

// closes reports whether a line closes a quote that an earlier line opened.
func (t *table) closes(line []byte) bool {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	for {
		n := bytes.IndexByte(line, '"')
		if n < 0 {
			return false
		}
		line = line[n+1:]
		if len(line) == 0 || line[0] == t.delimiter {
			return true
		}
		if line[0] == '"' {
			line = line[1:]
		}
	}
}

// field returns the first field of a line, without its quotes, and the rest. more reports that
// fields follow. open reports that a quote is not closed. A quote inside an unquoted field is a
// character.
func (t *table) field(line []byte) (field, rest []byte, more, open bool) {
	if t.delimiter == ' ' {
		line = bytes.TrimLeft(line, " ") // several spaces count as one
	}
	if len(line) > 0 && line[0] == '"' {
		doubled := false
		for end := 1; ; end++ {
			n := bytes.IndexByte(line[end:], '"')
			if n < 0 {
				open = true
				break
			}
			end += n
			if more = end+1 < len(line); more && line[end+1] == '"' {
				doubled = true
				end++
			} else if !more || line[end+1] == t.delimiter {
				field = line[1:end]
				if doubled {
					field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
				}
				return field, line[min(end+2, len(line)):], more, false
			}
		}
	}
	if n := bytes.IndexByte(line, t.delimiter); n >= 0 {
		return line[:n], line[n+1:], true, open
	}
	return line, nil, false, open
}
