package measure

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog"
)

// w3c is a log in the [extended format], whose line #Fields: names the columns. IIS and CloudFront
// write it. Times are ends of requests, in two columns for date and time. The duration of a
// request is in milliseconds [in IIS]. It is in seconds with decimals in CloudFront and the
// specification.
//
// [extended format]: https://www.w3.org/TR/WD-logfile
// [in IIS]: https://learn.microsoft.com/en-us/windows/win32/http/w3c-logging
var w3c = Format{
	Name:    "w3c",
	columns: Columns{Time: "time", Value: "time-taken", OK: "sc-status"},
	atEnd:   true,
	detects: func(h *head) bool {
		if len(h.line) == 0 || h.line[0] != '#' {
			return false
		}
		return bytes.HasPrefix(h.line, []byte(fieldsLine)) || bytes.Contains(h.text, []byte("\n"+fieldsLine))
	},
	open: openW3C,
}

// fieldsLine is the beginning of the line that names the columns.
const fieldsLine = "#Fields:"

// extended finds the fields of lines in the extended format.
type extended struct {
	setup   *setup
	table   table
	columns int
	date    int         // index of the column of the date, -1 if there is none
	day     dateCounter // the date in the line #Date:, for logs without a column of dates
	time    []byte
	// assumesMillis reports that the values are taken as milliseconds only because the first rows
	// have no decimals.
	assumesMillis bool
}

// A dateCounter adds a date to times without one: the date of the first row, and one day more
// whenever times start again at midnight. The zero value has no date.
type dateCounter struct {
	first     time.Time
	daysSince int           // days since first
	latest    time.Duration // time of the latest row since midnight
}

// jitter is how much earlier a row may be than a row before it.
const jitter = time.Hour

// append appends the date of a time such as 23:59:59.5. It appends nothing if the day has no date.
func (d *dateCounter) append(to, text []byte) []byte {
	if d.first.IsZero() {
		return to
	}
	past := d.daysSince
	if clock, err := time.Parse(time.TimeOnly, string(text)); err == nil {
		since := clock.Sub(clock.Truncate(24 * time.Hour))
		switch {
		case since < d.latest-jitter:
			d.daysSince++
			past++
			d.latest = since
		case past > 0 && since > d.latest+24*time.Hour-jitter: // the row is from before midnight
			past--
		default:
			d.latest = since
		}
	}
	return d.first.AddDate(0, 0, past).AppendFormat(to, time.DateOnly)
}

func openW3C(s *setup, h *head) (fieldFinder, error) {
	x := &extended{setup: s}
	rows := h.text
	for line := range bytes.Lines(h.text) {
		if len(line) > 0 && line[0] != '#' {
			break
		}
		x.readDirective(bytes.TrimRight(line, "\r\n"))
		rows = rows[len(line):]
	}
	for place, name := range s.names() {
		if name != "" && x.table.column(name) < 0 && !s.isOptional(place) {
			return nil, usagef("there is no column %s; the columns are %s", name, joined(x.table.names))
		}
	}
	if s.options.Unit == 0 && s.options.Columns.Value == "time-taken" {
		s.options.Unit = x.timeTakenUnit(rows)
	}
	return x, nil
}

// timeTakenUnit returns the unit of the column time-taken. A decimal point in any of the first rows
// shows seconds. Waiting for more rows would block a pipe.
func (x *extended) timeTakenUnit(rows []byte) hdrlog.Unit {
	if slices.ContainsFunc(x.table.names, func(name string) bool { return strings.HasPrefix(name, "x-edge-") }) {
		return hdrlog.Second
	}
	at := *x // a copy, since these rows must not change its day
	places := x.setup.newPlaces()
	for line := range bytes.Lines(rows) {
		skip, err := at.find(bytes.TrimRight(line, "\r\n"), places)
		if !skip && err == nil && bytes.IndexByte(places[valuePlace], '.') >= 0 {
			return hdrlog.Second
		}
	}
	x.assumesMillis = true
	return hdrlog.Millisecond
}

var errDecimals = refusedError{errors.New("decimals show that values are seconds, and those before were " +
	"taken as milliseconds; add -in s")}

// readDirective reads a line that begins with #.
func (x *extended) readDirective(line []byte) {
	if date, ok := bytes.CutPrefix(line, []byte("#Date:")); ok {
		text, _, _ := bytes.Cut(bytes.TrimSpace(date), []byte(" "))
		x.day = dateCounter{}
		x.day.first, _ = time.Parse(time.DateOnly, string(text))
	}
	names, ok := bytes.CutPrefix(line, []byte(fieldsLine))
	if !ok {
		return
	}
	x.table = table{names: strings.Fields(string(names))}
	x.columns = len(x.table.names)
	x.date = -1
	if x.setup.options.Columns.Time == "time" {
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
		x.readDirective(record)
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
			return false, fmt.Errorf("%w: %s", errOpenQuote, quoted(record)) // since a row is one line
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
		return false, fmt.Errorf("%w: %d, not %d: %s", errColumns, columns, x.columns, quoted(record))
	}
	if x.setup.options.Columns.Time == "time" && places[timePlace] != nil {
		x.time = append(x.time[:0], date...)
		if date == nil {
			x.time = x.day.append(x.time, places[timePlace])
		}
		if len(x.time) > 0 {
			x.time = append(x.time, 'T')
		}
		x.time = append(x.time, places[timePlace]...)
		places[timePlace] = x.time
	}
	if x.assumesMillis && bytes.IndexByte(places[valuePlace], '.') >= 0 {
		return false, errDecimals
	}
	if string(places[okPlace]) == "-" {
		places[okPlace] = nil
	}
	return false, nil
}
