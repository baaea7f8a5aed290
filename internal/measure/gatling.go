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

// gatling is simulation.log of Gatling. Up to version 3.12.0 it is text, whose line RUN shows the
// layout, see [simulation]; later it is binary, see [simulationRecords]. The writers of both are
// https://github.com/gatling/gatling/blob/v3.9.5/gatling-core/src/main/scala/io/gatling/core/stats/writer/LogFileDataWriter.scala
// and the same file of version 3.13.
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

// isRun reports whether a line with these fields is RUN: class, name, RUN up to version 2.1, and
// RUN, class, name after that. The start follows.
func isRun(line [][]byte) bool {
	switch {
	case len(line) >= 5 && string(line[0]) == "RUN":
		return slices.ContainsFunc(line[3:], func(field []byte) bool { return timeUnitOf(field) == hdrlog.Millisecond })
	case len(line) >= 5 && string(line[2]) == "RUN":
		return timeUnitOf(line[3]) == hdrlog.Millisecond
	}
	return false
}

// A simulation finds the fields of lines REQUEST. What stands before the status is the same in all
// versions: groups, name, start and end. Version 3 has the user before that, and version 2 the
// scenario and the user. Up to 2.1, REQUEST stands behind these, and there are four times: the
// start and the end of the request, and of the response.
type simulation struct {
	places [][]int // places of each column
	old    bool    // the layout up to version 2.1
	run    bool    // RUN was found
}

// simulationColumns are the columns of a line REQUEST, in the order of the line.
var simulationColumns = []string{"groups", "name", "start", "end", "status", "message"}

func openSimulation(s *setup, _ *head) (fieldFinder, error) {
	f := &simulation{places: make([][]int, len(simulationColumns))}
	for place, name := range s.names() {
		column := slices.Index(simulationColumns, name)
		if column < 0 && name != "" {
			return nil, usagef("there is no column %s; the columns are %s", name, list(simulationColumns))
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
		return false, fmt.Errorf("%w: %s", errSimulation, quote(record))
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
		return false, fmt.Errorf("%w: %s", errStatus, quote(record))
	}
	first := status - times
	message := []byte(nil)
	if status+1 < len(line) {
		message = bytes.TrimSpace(line[status+1])
	}
	found := [...][]byte{line[first-2], line[first-1], line[first], line[status-1], line[status], message}
	for column, value := range found {
		for _, place := range f.places[column] {
			places[place] = value
		}
	}
	return false, nil
}

// statusOf returns the index of the status in a line: it stands behind the groups, the name and so
// many times. It is -1 if there is none.
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

// isRecords reports whether a simulation.log is binary: it begins with the kind of the record RUN
// and a version.
func isRecords(text []byte) bool {
	return len(text) > 7 && bytes.HasPrefix(text, []byte{runRecord, 0, 0, 0}) &&
		text[4] < 32 && text[5] == '3' && text[6] == '.'
}

// Kinds of records.
const (
	runRecord = iota
	requestRecord
	userRecord
	groupRecord
	errorRecord
)

// simulationRecords makes lines of text of the records of a binary simulation.log, as version 3.9
// writes them. Numbers are big-endian. Times are 32 bits of milliseconds since the start of the
// run.
type simulationRecords struct {
	text    *bufio.Reader
	start   int64 // of the run, in milliseconds since the epoch
	strings map[int32]string
	bytes   int // size of the strings
	named   int // bytes of the texts of the record
	err     error
}

var (
	errRecord = errors.New("not a record of Gatling")
	errCached = errors.New("a record names a text that none before it has")
)

const (
	// maxName is the longest text in bytes, and maxNames what all texts may take that other records
	// name.
	maxName  = maxRecord
	maxNames = 64 << 20
)

// append appends the line of the next record.
func (r *simulationRecords) append(line []byte) (_ []byte, ended int, _ error) {
	kind, err := r.text.ReadByte()
	if err != nil {
		return line, 0, err
	}
	r.named = 0
	switch kind {
	case runRecord:
		line = r.run(line)
	case requestRecord:
		line = r.request(line)
	case userRecord:
		r.number()
		r.readByte()
		r.number()
		line = append(line, "USER\t"...)
	case groupRecord:
		r.groups(nil)
		r.number()
		r.number()
		r.number()
		r.readByte()
		line = append(line, "GROUP\t"...)
	case errorRecord:
		r.cached()
		r.number()
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

func (r *simulationRecords) run(line []byte) []byte {
	version := r.readString()
	class := r.readString()
	r.start = int64(r.number())<<32 | int64(uint32(r.number()))
	description := r.readString()
	for range r.count() {
		r.readString() // a scenario
	}
	for range r.count() {
		r.skip(r.count()) // an assertion
	}
	return fmt.Appendf(line, "RUN\t%s\t\t%d\t%s\t%s", class, r.start, description, version)
}

func (r *simulationRecords) request(line []byte) []byte {
	line = append(line, "REQUEST\t"...)
	line = r.groups(line)
	line = append(append(line, '\t'), r.cached()...)
	for range 2 {
		line = strconv.AppendInt(append(line, '\t'), r.start+int64(r.number()), 10)
	}
	status := "\tKO\t"
	if r.readByte() == 1 {
		status = "\tOK\t"
	}
	return append(append(line, status...), r.cached()...)
}

// groups appends the names of groups, with commas between them.
func (r *simulationRecords) groups(line []byte) []byte {
	for n := range r.count() {
		if n > 0 {
			line = append(line, ',')
		}
		line = append(line, r.cached()...)
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

func (r *simulationRecords) number() int32 {
	var number int32
	for range 4 {
		number = number<<8 | int32(r.readByte())
	}
	return number
}

// count reads the number of what follows.
func (r *simulationRecords) count() int {
	n := r.number()
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

// readString reads a text: its length in bytes, the bytes, and whether these are of Latin 1 (0) or
// of UTF-16 (1), in the order of the processor, which is little-endian on all that Gatling runs on.
// An empty text has no third part.
func (r *simulationRecords) readString() string {
	length := r.count()
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

// cached reads a text that other records may name: a new one comes behind its index, a known one is
// its index below 0.
func (r *simulationRecords) cached() string {
	index := r.number()
	if r.err != nil {
		return ""
	}
	if index < 0 {
		text, known := r.strings[-index]
		if !known {
			r.err = fmt.Errorf("%w: %d", errCached, -index)
		}
		return r.part(text)
	}
	text := r.readString()
	if r.bytes += len(text) + 50; r.bytes > maxNames {
		r.err = fmt.Errorf("%w: texts of more than %d MiB", errRecord, maxNames>>20)
		return ""
	}
	r.strings[index] = text
	return r.part(text)
}

// part returns a text of the record. A record can name a long text many times.
func (r *simulationRecords) part(text string) string {
	r.named += len(text)
	if r.named > maxRecord && r.err == nil {
		r.err = fmt.Errorf("%w: more than %d MiB", errRecord, maxRecord>>20)
	}
	if r.err != nil {
		return ""
	}
	return text
}
