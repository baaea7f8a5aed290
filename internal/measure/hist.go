package measure

import (
	"bytes"
	stdbase64 "encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// hist is any text with histograms in base64, such as the reports of memtier_benchmark and latte,
// or one histogram in binary. In JSON, the path of a histogram is its tag, and its time is what
// stands before it (see [histograms.moment]). Before a histogram may stand what a log has there:
// Tag=NAME,START,LENGTH,MAX. Otherwise -time names the start, and -in the unit.
var hist = Format{
	Name: "hist",
	detects: func(h *head) bool {
		encoded := func(text []byte) bool { return bytes.Contains(text, []byte("HISTF")) }
		return encoded(h.text) || isBinary(h.text) ||
			h.isJSON() && !h.isObject() && encoded(h.more(maxRecord, encoded))
	},
	payloads: newHistograms,
	source:   newBinary,
}

// payloads finds encoded histograms, line by line.
type payloadFinder interface {
	// line takes a line. A [brokenError] is that of all lines that follow, too.
	line(text []byte) error
	// next returns the next histogram of the lines so far.
	next() (foundHistogram, bool)
	// unit returns the unit of the values, unknown if nothing states it.
	unit() hdrlog.Unit
	// end says that there is no other line. It returns what option matches nothing in the text.
	end() error
}

// found is a histogram, or what is wrong with it.
type foundHistogram struct {
	row Row
	err error
	// Path is that of a histogram in JSON, and object the length of that part of it whose time the
	// row has. Element is the element of an array that has the histogram.
	path, element string
	object        int
}

// histograms find histograms in base64.
type histograms struct {
	valueUnit hdrlog.Unit
	time      string // the path of the start, which -time names
	foundTime bool   // it was found
	clock     timeParser
	walker    walker
	notJSON   bool // this is no JSON
	// Spans are what is known of the time of the objects around a value, outermost first.
	spans []span
	// Waiting are histograms of the element of an array that has not ended, since its time may come
	// behind them. Ready are those of other elements.
	waiting, ready []foundHistogram
	bytes          int // size of those that wait
	decoder        histogram.Decoder
}

// maxWaiting is the most memory of the histograms of a line, with those that wait for their time.
const maxWaiting = 32 << 20

// size returns about how many bytes a histogram takes.
func (f *foundHistogram) size() int {
	const fixed = 200
	return fixed + len(f.row.Payload) + len(f.row.Tag) + len(f.path) + len(f.element)
}

var (
	errLongPath = fmt.Errorf("the path of the histogram is longer than %d bytes", hdrlog.MaxTag)
	errWaiting  = brokenError{fmt.Errorf("an object or a line has more than %d MiB of histograms", maxWaiting>>20)}
)

// A span is the time of an object of JSON: nanoseconds since the epoch, and 0 if not known.
type span struct {
	path       string // path of the object
	start, end int64
}

func newHistograms(s *setup) payloadFinder {
	h := &histograms{
		valueUnit: s.options.Unit,
		time:      strings.ReplaceAll(s.options.Columns.Time, ".", "/"),
		clock:     timeParser{unit: s.options.TimeUnit, zone: s.options.Zone},
		walker:    walker{separator: '/'},
	}
	if h.time != "" && h.time[0] != '/' {
		h.time = "/" + h.time
	}
	return h
}

func (h *histograms) unit() hdrlog.Unit { return h.valueUnit }

func (h *histograms) end() error {
	h.release(nil)
	if h.time != "" && !h.foundTime {
		return usagef("-time %s is the path of no time", strings.ReplaceAll(h.time, "/", "."))
	}
	return nil
}

func (h *histograms) next() (f foundHistogram, ok bool) {
	if len(h.ready) == 0 {
		return f, false
	}
	f, h.ready = h.ready[0], h.ready[1:]
	return f, true
}

func (h *histograms) line(text []byte) error {
	h.ready = h.ready[:0]
	waiting := h.waiting
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && (h.notJSON || h.walker.done()) {
		h.walker.reset()
		h.spans = h.spans[:0]
		h.notJSON = false
	}
	if !h.notJSON {
		if h.walker.walk(text, h.visitScalar) == nil {
			if h.walker.done() {
				h.release(nil)
			}
			return h.tooMany()
		}
		h.notJSON = true
		h.waiting = nil
		h.bytes = 0
		h.ready = append(h.ready[:0], waiting...) // those of this line are found again
	}
	h.search(nil, text)
	err := h.tooMany()
	h.release(nil)
	return err
}

// tooMany returns an error if histograms were found for which there is no room.
func (h *histograms) tooMany() error {
	if h.bytes > maxWaiting {
		return errWaiting
	}
	return nil
}

// release makes histograms ready that are not in an element of an array.
func (h *histograms) release(element []byte) {
	for len(h.waiting) > 0 && (len(element) == 0 || h.waiting[0].element != string(element)) {
		h.bytes -= h.waiting[0].size()
		h.ready = append(h.ready, h.waiting[0])
		h.waiting = h.waiting[1:]
	}
}

// scalar takes a scalar of a JSON document.
func (h *histograms) visitScalar(path, value []byte) {
	if len(path) > hdrlog.MaxTag { // it would take as much memory for each histogram
		h.search(path, value)
		return
	}
	slash := bytes.LastIndexByte(path, '/')
	if element := h.element(path); len(element) > 0 {
		h.release(element)
	}
	switch {
	case h.time == "" && slash >= 0 && h.takeTime(path[:slash], path[slash+1:], value):
	case h.time != "" && h.isTime(path):
		if at, err := h.clock.parse(value); err == nil {
			h.foundTime = true
			s := h.span(string(h.element(path)))
			s.start = at
			s.end = at
			h.updateWaiting(s)
		}
	default:
		h.search(path, value)
	}
}

// isTime reports whether a path is that of -time, with the indexes of arrays or without.
func (h *histograms) isTime(path []byte) bool {
	return string(path) == h.time || string(h.tagOf(path)) == h.time[1:]
}

// element returns the path of the innermost element of an array that has a path, empty for the
// whole document.
func (h *histograms) element(path []byte) []byte {
	for n := len(h.walker.stack) - 1; n >= 0; n-- {
		if frame := h.walker.stack[n]; frame.index >= 0 {
			end := bytes.IndexByte(path[min(frame.path+1, len(path)):], '/')
			if end < 0 {
				continue
			}
			return path[:frame.path+1+end]
		}
	}
	return nil
}

// moment takes a time of an object, and reports whether it is one. Milliseconds are of
// memtier_benchmark, whose values are microseconds: https://github.com/redis/memtier_benchmark.
// Seconds since the start of the object around it are of latte: https://github.com/pkolaczk/latte.
func (h *histograms) takeTime(object, key, value []byte) bool {
	switch string(key) {
	case "Start time":
		at, err := parseDecimal(value, 6)
		if err != nil || timeUnitOf(value) != hdrlog.Millisecond {
			return false
		}
		h.span("").start = at
		h.span("").end = at
		if h.valueUnit == 0 {
			h.valueUnit = hdrlog.Microsecond
		}
	case "Finish time":
		whole := h.span("")
		if whole.start > 0 {
			whole.end, _ = parseDecimal(value, 6)
		}
	case "start_time", "end_time":
		at, err := time.Parse(time.RFC3339, string(value))
		if err != nil {
			return false
		}
		if string(key) == "start_time" {
			h.span(string(object)).start = at.UnixNano()
		} else {
			h.span(string(object)).end = at.UnixNano()
		}
	case "time_s":
		since, err := parseDecimal(value, 9)
		if err != nil {
			return false
		}
		around := h.spanAround(object).start
		s := h.span(string(object))
		length := max(s.end-s.start, 0)
		s.start = around + since
		s.end = s.start + length
	case "duration_s":
		length, err := parseDecimal(value, 9)
		if err != nil {
			return false
		}
		s := h.span(string(object))
		s.end = s.start + length
	default:
		return false
	}
	h.updateWaiting(&h.spans[len(h.spans)-1])
	return true
}

// late gives the time of an object to the histograms in it that were found before.
func (h *histograms) updateWaiting(s *span) {
	for n := len(h.waiting) - 1; n >= 0 && isIn(h.waiting[n].path, s.path); n-- {
		f := &h.waiting[n]
		if f.object <= len(s.path) {
			f.object = len(s.path)
			f.row.Time = s.start
			f.row.Length = max(s.end-s.start, 0)
		}
	}
}

// isIn reports whether a path is that of an object or of what is in it.
func isIn(path, object string) bool {
	return strings.HasPrefix(path, object) && (len(path) == len(object) || path[len(object)] == '/')
}

// span returns the span of an object, and forgets those of objects that do not contain it.
func (h *histograms) span(object string) *span {
	h.dropOutside(object)
	for n := range h.spans {
		if h.spans[n].path == object {
			return &h.spans[n]
		}
	}
	h.spans = append(h.spans, span{path: object})
	return &h.spans[len(h.spans)-1]
}

// dropOutside forgets the spans of objects that do not contain a path.
func (h *histograms) dropOutside(path string) {
	h.spans = slices.DeleteFunc(h.spans, func(s span) bool { return !isIn(path, s.path) })
}

// around returns the span of the innermost object around a path that has one.
func (h *histograms) spanAround(path []byte) span {
	h.dropOutside(string(path))
	for n := len(h.spans) - 1; n >= 0; n-- {
		if h.spans[n].path != string(path) {
			return h.spans[n]
		}
	}
	return span{}
}

// name returns the tag of a path: without the indexes of arrays.
func (h *histograms) tagOf(path []byte) []byte {
	var tag []byte
	from := 0
	for _, frame := range h.walker.stack {
		if frame.index >= 0 && frame.path < len(path) {
			tag = append(tag, path[from:frame.path]...)
			from = frame.path + 1 + max(0, bytes.IndexByte(append(path[frame.path+1:len(path):len(path)], '/'), '/'))
		}
	}
	return bytes.TrimPrefix(append(tag, path[min(from, len(path)):]...), []byte("/"))
}

// before matches what a log has before a payload. Its groups are the tag, START and LENGTH.
var intervalFields = expression(`(?:Tag=([^,"]*),)?(-?[0-9.]+),([0-9.]+),[-+.\w]+,$`)

// search finds the histograms in text.
func (h *histograms) search(path, text []byte) {
	for h.bytes <= maxWaiting {
		n := bytes.Index(text, []byte("HIST"))
		if n < 0 {
			return
		}
		fields := text[max(0, n-hdrlog.MaxTag-200):n]
		text = text[n:]
		payload := text[:len(text)-len(bytes.TrimLeft(text, base64))]
		text = text[len(payload):]
		if len(payload) < 20 { // a word such as HISTORY
			continue
		}
		f := foundHistogram{row: Row{Payload: bytes.Clone(payload)}}
		if len(path) > hdrlog.MaxTag {
			f.err = errLongPath
			h.waiting = append(h.waiting, f)
			h.bytes += f.size()
			continue
		}
		around := h.spanAround(path)
		f.row.Time = around.start
		f.row.Length = max(around.end-around.start, 0)
		f.object = len(around.path)
		if path != nil {
			f.path = string(path)
			f.element = string(h.element(path))
			f.row.Tag = h.tagOf(path)
		}
		if m := intervalFields().FindSubmatch(fields); m != nil {
			f.err = f.row.setTime(m, around.start)
			f.object = len(path) + 1 // nothing is closer
		}
		if p, err := h.decoder.Open(payload); err != nil {
			f.err = err
		} else if f.err == nil {
			f.err = p.Check()
		}
		h.waiting = append(h.waiting, f)
		h.bytes += f.size()
	}
}

// timed sets the tag and the time of a row to those before its payload. The start counts from
// another time, unless it is one of the calendar.
func (r *Row) setTime(groups [][]byte, since int64) (err error) {
	if groups[1] != nil {
		r.Tag = bytes.Clone(groups[1])
	}
	if r.Time, err = parseDecimal(groups[2], 9); err != nil {
		return err
	}
	if timeUnitOf(groups[2]) == 0 {
		r.Time += since
	}
	r.Length, err = parseDecimal(groups[3], 9)
	return err
}

// base64 are the characters of base64.
const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

// isPayload reports whether a line is one payload and nothing else.
func isPayload(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("HIST")) && len(line) >= 20 && len(bytes.TrimLeft(line, base64)) == 0
}

// isBinary reports whether a text begins with a compressed histogram in binary: its cookie is that
// of version 2, whose beginning in base64 is HISTF.
func isBinary(text []byte) bool { return bytes.HasPrefix(text, []byte("\x1c\x84\x93\x14")) }

// newBinary returns text as it is, and histograms in binary, one after another, as a line of base64
// each.
func newBinary(text io.Reader, _ *setup, h *head) io.Reader {
	if !isBinary(h.text) {
		return text
	}
	return &linesOf{next: func(line []byte) (_ []byte, ended int, _ error) {
		begin := make([]byte, 8)
		if _, err := io.ReadFull(text, begin); err == io.EOF {
			return line, 0, err
		} else if err != nil {
			return line, 0, brokenIfCut(err)
		}
		length := binary.BigEndian.Uint32(begin[4:])
		body, err := io.ReadAll(io.LimitReader(text, int64(min(length, maxElement))))
		if err == nil && uint32(len(body)) < length {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return line, 0, brokenIfCut(err)
		}
		return append(stdbase64.StdEncoding.AppendEncode(line, append(begin, body...)), '\n'), 0, nil
	}}
}

// brokenIfCut returns the error of a text that must go on. Other errors of reading stay as they
// are.
func brokenIfCut(err error) error {
	if err == io.ErrUnexpectedEOF {
		return broken(err)
	}
	return err
}
