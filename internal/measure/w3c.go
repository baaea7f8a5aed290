package measure

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hdrkit/hdrlog"
)

// w3c is a log of the extended format (https://www.w3.org/TR/WD-logfile), whose line #Fields: names
// the columns. IIS and CloudFront write it. The time is that of the end, in two columns. The time
// that a request took is in milliseconds in IIS
// (https://learn.microsoft.com/en-us/windows/win32/http/w3c-logging), and in seconds, with
// decimals, in CloudFront and the specification.
var w3c = Format{
	Name:    "w3c",
	columns: Columns{Time: "time", Value: "time-taken", OK: "sc-status"},
	end:     true,
	begins: func(h *head) bool {
		if len(h.line) == 0 || h.line[0] != '#' {
			return false
		}
		return bytes.HasPrefix(h.line, []byte(fieldsLine)) || bytes.Contains(h.text, []byte("\n"+fieldsLine))
	},
	open: openW3C,
}

// fieldsLine begins the line that names columns.
const fieldsLine = "#Fields:"

// extended finds the fields of a line of a log of the extended format.
type extended struct {
	setup   *setup
	table   table
	columns int
	date    int    // the column of the date, which the time does not have; -1 if there is none
	day     []byte // of the line #Date:, if there is no such column
	time    []byte
}

func openW3C(s *setup, h *head) (fields, error) {
	x := &extended{setup: s}
	var row []byte
	for line := range bytes.Lines(h.text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 && line[0] != '#' {
			row = line
			break
		}
		x.directive(line)
	}
	for place, name := range s.names() {
		if name != "" && x.table.column(name) < 0 && !s.optional(place) {
			return nil, usagef("there is no column %s; the columns are %s", name, list(x.table.names))
		}
	}
	if s.Unit == 0 && s.Value == "time-taken" {
		s.Unit = x.takenIn(row)
	}
	return x, nil
}

// takenIn returns the unit of time-taken: the decimals of a row show seconds.
func (x *extended) takenIn(row []byte) hdrlog.Unit {
	if slices.ContainsFunc(x.table.names, func(name string) bool { return strings.HasPrefix(name, "x-edge-") }) {
		return hdrlog.Second
	}
	places := make([][]byte, x.setup.tagPlace()+len(x.setup.Tags))
	if _, err := x.find(row, places); err == nil && bytes.IndexByte(places[valuePlace], '.') >= 0 {
		return hdrlog.Second
	}
	return hdrlog.Millisecond
}

// directive takes a line that begins with #.
func (x *extended) directive(line []byte) {
	if date, ok := bytes.CutPrefix(line, []byte("#Date:")); ok {
		day, _, _ := bytes.Cut(bytes.TrimSpace(date), []byte(" "))
		x.day = bytes.Clone(day)
	}
	names, ok := bytes.CutPrefix(line, []byte(fieldsLine))
	if !ok {
		return
	}
	x.table = table{names: strings.Fields(string(names))}
	x.columns = len(x.table.names)
	x.date = -1
	if x.setup.Time == "time" {
		x.date = slices.Index(x.table.names, "date")
	}
	for place, name := range x.setup.names() {
		column := x.table.column(name)
		if name == "" || column < 0 {
			continue
		}
		for len(x.table.at) <= column {
			x.table.at = append(x.table.at, nil)
		}
		x.table.at[column] = append(x.table.at[column], place)
	}
}

func (x *extended) find(record []byte, places [][]byte) (skip bool, err error) {
	if len(record) == 0 || record[0] == '#' {
		x.directive(record)
		return true, nil
	}
	x.table.delimiter = ' '
	if bytes.IndexByte(record, '\t') >= 0 {
		x.table.delimiter = '\t'
	}
	clear(places)
	var date []byte
	columns := 0
	for rest, more := record, true; more; columns++ {
		var field []byte
		var open bool
		if field, rest, more, open = x.table.field(rest); open {
			return false, fmt.Errorf("%w: %s", errOpenQuote, quote(record)) // a row is one line
		}
		if columns == x.date {
			date = field
		}
		if columns < len(x.table.at) {
			for _, place := range x.table.at[columns] {
				places[place] = field
			}
		}
	}
	if columns != x.columns {
		return false, fmt.Errorf("%w: %d, not %d: %s", errColumns, columns, x.columns, quote(record))
	}
	if day := cmp.Or(string(date), string(x.day)); x.setup.Time == "time" && day != "" && places[timePlace] != nil {
		x.time = append(append(append(x.time[:0], day...), 'T'), places[timePlace]...)
		places[timePlace] = x.time
	}
	switch string(places[okPlace]) {
	case "-":
		places[okPlace] = nil
	case "000": // of CloudFront: the client went away
		places[okPlace] = places[okPlace][:1]
	}
	return false, nil
}
