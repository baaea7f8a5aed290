package measure

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"

	"hdrkit/hdrlog"
)

// gatling is simulation.log of Gatling. Up to version 3.12.0 it is text, see [simulation]. Later
// versions write binary records, see [simulationRecords]. Both are defined in
// [LogFileDataWriter.scala]: text in that of version 3.9.5, binary records in that of 3.13.
//
// [LogFileDataWriter.scala]: https://github.com/gatling/gatling/blob/v3.9.5/gatling-core/src/main/scala/io/gatling/core/stats/writer/LogFileDataWriter.scala
var gatling = Format{
	Name:    "gatling",
	columns: Columns{Time: "start", End: "end", OK: "status", Tags: []string{"name"}},
	detects: func(h *head) bool {
		fields := bytes.Split(h.line, []byte("\t"))
		return isRun(fields) || string(fields[0]) == "ASSERTION" || isRecords(h.text)
	},
	source: func(text io.Reader, _ *setup, h *head) io.Reader {
		if !isRecords(h.text) {
			return text
		}
		r := &simulationRecords{text: bufio.NewReader(text), strings: make(map[int32]string)}
		return &linesOf{next: r.append}
	},
	open: openSimulation,
}

// isRun reports whether a line is the line RUN, which begins with class, name, RUN and the start up
// to version 2.1, and with RUN, class, name and the start after that.
func isRun(line [][]byte) bool {
	switch {
	case len(line) >= 5 && string(line[0]) == "RUN":
		return slices.ContainsFunc(line[3:], func(field []byte) bool { return timeUnitOf(field) == hdrlog.Millisecond })
	case len(line) >= 5 && string(line[2]) == "RUN":
		return timeUnitOf(line[3]) == hdrlog.Millisecond
	}
	return false
}

// A simulation finds the fields of the lines REQUEST in a text. In all versions, the columns before
// the status are groups, name, start and end. Version 3 has the user before them, and version 2 the
// scenario and the user. Up to version 2.1, the word REQUEST follows these, and there are four
// times: start and end of the request, and of the response.
type simulation struct {
	places [][]int // places of the fields of each column
	old    bool    // the line RUN shows a version up to 2.1
	run    bool    // the line RUN was found
}

// simulationColumns are the names of the columns, in the order of the line.
var simulationColumns = []string{"groups", "name", "start", "end", "status", "message"}

func openSimulation(s *setup, _ *head) (fieldFinder, error) {
	f := &simulation{places: make([][]int, len(simulationColumns))}
	for place, name := range s.names() {
		column := slices.Index(simulationColumns, name)
		if column < 0 && name != "" {
			return nil, usagef("there is no column %s; the columns are %s", name, joined(simulationColumns))
		}
		if column >= 0 {
			f.places[column] = append(f.places[column], place)
		}
	}
	return f, nil
}

var (
	errSimulation = errors.New("no line of Gatling")
	errNoRun      = errors.New("a request before the line RUN, which shows the version")
	errStatus     = errors.New("neither OK nor KO stands behind a start and an end")
)

func (f *simulation) find(record []byte, places [][]byte) (skip bool, err error) {
	line := bytes.Split(record, []byte("\t"))
	kind := line[0]
	if f.old && len(line) > 2 {
		kind = line[2]
	}
	switch {
	case len(record) == 0:
		return true, nil
	case isRun(line):
		f.run = true
		f.old = string(line[2]) == "RUN"
		return true, nil
	case string(kind) == "REQUEST":
	case slices.Contains([]string{"ASSERTION", "USER", "GROUP", "ERROR"}, string(kind)):
		return true, nil
	default:
		return false, fmt.Errorf("%w: %s", errSimulation, quoted(record))
	}
	if !f.run {
		return false, errNoRun
	}
	times := 2
	if f.old {
		times = 4
	}
	status := statusOf(line, times)
	if status < 0 {
		return false, fmt.Errorf("%w: %s", errStatus, quoted(record))
	}
	first := status - times
	message := []byte(nil)
	if status+1 < len(line) {
		message = bytes.TrimSpace(line[status+1])
	}
	values := [...][]byte{line[first-2], line[first-1], line[first], line[status-1], line[status], message}
	for column, value := range values {
		for _, place := range f.places[column] {
			places[place] = value
		}
	}
	return false, nil
}

// statusOf returns the index of the field OK or KO in a line. The field follows the groups, the
// name and times timestamps. statusOf returns -1 if there is none.
func statusOf(line [][]byte, times int) int {
	for n := 3 + times; n < len(line); n++ {
		if status := string(line[n]); status != "OK" && status != "KO" {
			continue
		}
		if !slices.ContainsFunc(line[n-times:n], func(field []byte) bool { return !isDigits(field) }) {
			return n
		}
	}
	return -1
}

func isDigits(text []byte) bool {
	return len(text) > 0 && len(bytes.TrimLeft(text, "0123456789")) == 0
}

// isRecords reports whether a simulation.log is binary. It then begins with the kind of the record
// RUN and a version.
func isRecords(text []byte) bool {
	return len(text) > 7 && bytes.HasPrefix(text, []byte{runRecord, 0, 0, 0}) &&
		text[4] < 32 && text[5] == '3' && text[6] == '.'
}

// Kinds of binary records.
const (
	runRecord = iota
	requestRecord
	userRecord
	groupRecord
	errorRecord
)

// simulationRecords makes lines of the records in a binary simulation.log, as version 3.9 writes
// them in text. Numbers are big-endian. Times are 32 bits of milliseconds since the start of the
// run.
type simulationRecords struct {
	text        *bufio.Reader
	start       int64 // start of the run in milliseconds since the epoch
	strings     map[int32]string
	stringsSize int // memory of strings
	recordText  int // total length of the texts in the current record
	err         error
}

var (
	errRecord = errors.New("not a record of Gatling")
	errCached = errors.New("a record names a text that none before it has")
)

const (
	// maxName is the length of the longest text in bytes. maxNames is the most memory for texts
	// that later records may name.
	maxName  = maxRecord
	maxNames = 64 << 20
)

// append appends the line of the next record. It is the function next of a [linesOf].
func (r *simulationRecords) append(line []byte) (_ []byte, ended int, _ error) {
	kind, err := r.text.ReadByte()
	if err != nil {
		return line, 0, err
	}
	r.recordText = 0
	switch kind {
	case runRecord:
		line = r.appendRun(line)
	case requestRecord:
		line = r.appendRequest(line)
	case userRecord:
		r.readNumber()
		r.readByte()
		r.readNumber()
		line = append(line, "USER\t"...)
	case groupRecord:
		r.appendGroups(nil)
		r.readNumber()
		r.readNumber()
		r.readNumber()
		r.readByte()
		line = append(line, "GROUP\t"...)
	case errorRecord:
		r.readCached()
		r.readNumber()
		line = append(line, "ERROR\t"...)
	default:
		r.err = fmt.Errorf("%w: kind %d", errRecord, kind)
	}
	switch {
	case r.err == nil:
		return append(line, '\n'), 0, nil
	case r.err == io.EOF, errors.Is(r.err, errRecord), errors.Is(r.err, errCached):
		// Nothing shows where the next record begins.
		return line[:0], 0, broken(r.err)
	}
	return line[:0], 0, r.err
}

func (r *simulationRecords) appendRun(line []byte) []byte {
	version := r.readString()
	class := r.readString()
	r.start = int64(r.readNumber())<<32 | int64(uint32(r.readNumber()))
	description := r.readString()
	for range r.readLength() {
		r.readString() // a scenario
	}
	for range r.readLength() {
		r.skip(r.readLength()) // an assertion
	}
	return fmt.Appendf(line, "RUN\t%s\t\t%d\t%s\t%s", class, r.start, description, version)
}

func (r *simulationRecords) appendRequest(line []byte) []byte {
	line = append(line, "REQUEST\t"...)
	line = r.appendGroups(line)
	line = append(append(line, '\t'), r.readCached()...)
	for range 2 {
		line = strconv.AppendInt(append(line, '\t'), r.start+int64(r.readNumber()), 10)
	}
	status := "\tKO\t"
	if r.readByte() == 1 {
		status = "\tOK\t"
	}
	return append(append(line, status...), r.readCached()...)
}

// appendGroups appends the names of a request's groups, with commas between them.
func (r *simulationRecords) appendGroups(line []byte) []byte {
	for n := range r.readLength() {
		if n > 0 {
			line = append(line, ',')
		}
		line = append(line, r.readCached()...)
	}
	return line
}

func (r *simulationRecords) readByte() byte {
	if r.err != nil {
		return 0
	}
	var b byte
	b, r.err = r.text.ReadByte()
	return b
}

func (r *simulationRecords) readNumber() int32 {
	var number int32
	for range 4 {
		number = number<<8 | int32(r.readByte())
	}
	return number
}

// readLength reads the length of a list or a text.
func (r *simulationRecords) readLength() int {
	n := r.readNumber()
	if r.err == nil && (n < 0 || n > maxName) {
		r.err = fmt.Errorf("%w: a length of %d", errRecord, n)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *simulationRecords) skip(bytes int) {
	if r.err == nil {
		_, r.err = io.CopyN(io.Discard, r.text, int64(bytes))
	}
}

// readString reads a text: its length in bytes, its bytes, and a byte that is 0 for Latin 1 and 1
// for UTF-16. An empty text has only a length. UTF-16 is in the byte order of the processor, which
// is little-endian where Gatling runs.
func (r *simulationRecords) readString() string {
	length := r.readLength()
	if length == 0 {
		return ""
	}
	text := make([]byte, length)
	if r.err == nil {
		_, r.err = io.ReadFull(r.text, text)
		if r.err == io.ErrUnexpectedEOF {
			r.err = io.EOF
		}
	}
	var runes []rune
	if r.readByte() == 1 {
		units := make([]uint16, length/2)
		for n := range units {
			units[n] = binary.LittleEndian.Uint16(text[2*n:])
		}
		runes = utf16.Decode(units)
	} else {
		for _, c := range text {
			runes = append(runes, rune(c))
		}
	}
	for n, c := range runes {
		if c == '\t' || c == '\n' || c == '\r' {
			runes[n] = ' '
		}
	}
	return string(runes)
}

// readCached reads a text that later records may name. A new text follows its index. A known text
// is its negated index.
func (r *simulationRecords) readCached() string {
	index := r.readNumber()
	if r.err != nil {
		return ""
	}
	if index < 0 {
		text, known := r.strings[-index]
		if !known {
			r.err = fmt.Errorf("%w: %d", errCached, -index)
		}
		return r.countText(text)
	}
	text := r.readString()
	if r.stringsSize += len(text) + 50; r.stringsSize > maxNames {
		r.err = fmt.Errorf("%w: texts of more than %d MiB", errRecord, maxNames>>20)
		return ""
	}
	r.strings[index] = text
	return r.countText(text)
}

// countText counts a text in named, and returns it. Without a limit, one record could name a long
// text many times.
func (r *simulationRecords) countText(text string) string {
	r.recordText += len(text)
	if r.recordText > maxRecord && r.err == nil {
		r.err = fmt.Errorf("%w: more than %d MiB", errRecord, maxRecord>>20)
	}
	if r.err != nil {
		return ""
	}
	return text
}
