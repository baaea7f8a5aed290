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
// or a file of binary histograms. In JSON, the path of a histogram is its tag, and a time in the
// objects around it is its time (see [histograms.takeTime]). Elsewhere, the fields of a log's
// interval may stand before it: Tag=NAME,START,LENGTH,MAX. -time names the path of the start in
// other JSON, and -in the unit.
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

// A payloadFinder finds encoded histograms, line by line.
type payloadFinder interface {
	// line searches a line. A [brokenError] says that no later line can be read.
	line(text []byte) error
	// next returns the next histogram in the lines so far.
	next() (foundHistogram, bool)
	// unit returns the unit of the values, 0 if nothing states it.
	unit() hdrlog.Unit
	// end is called after the last line. It returns an error if an option matches nothing in the
	// text.
	end() error
}

// A foundHistogram is a histogram, or the error of a malformed one.
type foundHistogram struct {
	row Row
	err error
	// path is the histogram's path in JSON. timedLength is the length of the part of path that is
	// the path of the object whose time the row has. element is the path of the array element that
	// contains the histogram.
	path, element string
	timedLength   int
}

// histograms finds histograms in base64.
type histograms struct {
	valueUnit hdrlog.Unit
	time      string // path of the start, which -time names
	foundTime bool   // the path was found
	clock     timeParser
	walker    walker
	notJSON   bool // the text is not JSON
	// spans are the times of the objects around the current value, outermost object first.
	spans []span
	// waiting are the histograms in the current element of an array, whose time may follow them.
	// ready are the histograms of earlier elements.
	waiting, ready []foundHistogram
	waitingBytes   int // memory of waiting
	decoder        histogram.Decoder
}

// maxWaiting is the most memory for the histograms of a line, and for those that wait for their
// time.
const maxWaiting = 32 << 20

// size returns the approximate memory of a histogram in bytes.
func (f *foundHistogram) size() int {
	const fixedBytes = 200
	return fixedBytes + len(f.row.Payload) + len(f.row.Tag) + len(f.path) + len(f.element)
}

var (
	errLongPath = fmt.Errorf("the path of the histogram is longer than %d bytes", hdrlog.MaxTag)
	errWaiting  = brokenError{fmt.Errorf("an object or a line has more than %d MiB of histograms", maxWaiting>>20)}
)

// A span is the time of a JSON object in nanoseconds since the epoch. A time that is not known is
// 0.
type span struct {
	path       string
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
	h.makeReady(nil)
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
				h.makeReady(nil)
			}
			err := h.tooMany()
			if err != nil {
				h.makeReady(nil)
			}
			return err
		}
		h.notJSON = true
		h.waiting = nil
		h.waitingBytes = 0
		h.ready = append(h.ready[:0], waiting...) // search finds the histograms of this line again
	}
	h.search(nil, text)
	err := h.tooMany()
	h.makeReady(nil)
	return err
}

// tooMany returns an error if the waiting histograms take too much memory.
func (h *histograms) tooMany() error {
	if h.waitingBytes > maxWaiting {
		return errWaiting
	}
	return nil
}

// makeReady makes waiting histograms ready, except those in an array element.
func (h *histograms) makeReady(element []byte) {
	for len(h.waiting) > 0 && (len(element) == 0 || h.waiting[0].element != string(element)) {
		h.waitingBytes -= h.waiting[0].size()
		h.ready = append(h.ready, h.waiting[0])
		h.waiting = h.waiting[1:]
	}
}

// visitScalar takes a time, or the histograms in a scalar of a JSON document.
func (h *histograms) visitScalar(path, value []byte) {
	if len(path) > hdrlog.MaxTag { // copying it for each histogram would take too much memory
		h.search(path, value)
		return
	}
	slash := bytes.LastIndexByte(path, '/')
	if element := h.element(path); len(element) > 0 {
		h.makeReady(element)
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

// isTime reports whether a path is the path of -time, with or without the indexes of arrays.
func (h *histograms) isTime(path []byte) bool {
	return string(path) == h.time || string(h.tagOf(path)) == h.time[1:]
}

// element returns the path of the innermost array element around a path, empty if none is around
// it.
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

// takeTime sets the span of an object by one of its keys. It returns false if the key is no time.
// [memtier_benchmark] writes milliseconds, and its values are microseconds. [latte] writes seconds
// since the start of the object around it.
//
// [memtier_benchmark]: https://github.com/redis/memtier_benchmark
// [latte]: https://github.com/pkolaczk/latte
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
		document := h.span("")
		if document.start > 0 {
			document.end, _ = parseDecimal(value, 6)
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

// updateWaiting sets the time of an object to the histograms in it that were found before the time.
func (h *histograms) updateWaiting(s *span) {
	for n := len(h.waiting) - 1; n >= 0 && isIn(h.waiting[n].path, s.path); n-- {
		f := &h.waiting[n]
		if f.timedLength <= len(s.path) {
			f.timedLength = len(s.path)
			f.row.Time = s.start
			f.row.Length = max(s.end-s.start, 0)
		}
	}
}

// isIn reports whether a path is the path of an object or of a value in it.
func isIn(path, object string) bool {
	return strings.HasPrefix(path, object) && (len(path) == len(object) || path[len(object)] == '/')
}

// span returns the span of an object, and adds one if the object has none. It removes the spans of
// objects that do not contain it.
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

// dropOutside removes the spans of objects that do not contain a path.
func (h *histograms) dropOutside(path string) {
	h.spans = slices.DeleteFunc(h.spans, func(s span) bool { return !isIn(path, s.path) })
}

// spanAround returns the span of the innermost object around a path that has one.
func (h *histograms) spanAround(path []byte) span {
	h.dropOutside(string(path))
	for n := len(h.spans) - 1; n >= 0; n-- {
		if h.spans[n].path != string(path) {
			return h.spans[n]
		}
	}
	return span{}
}

// tagOf returns the tag of a path, which is the path without indexes of arrays.
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

// intervalFields matches the fields of a log's interval before its payload. The groups are the tag,
// the start and the length.
var intervalFields = expression(`(?:Tag=([^,"]*),)?(-?[0-9.]+),([0-9.]+),[-+.\w]+,$`)

// search adds the histograms in text to waiting.
func (h *histograms) search(path, text []byte) {
	for h.waitingBytes <= maxWaiting {
		n := bytes.Index(text, []byte("HIST"))
		if n < 0 {
			return
		}
		fields := text[max(0, n-hdrlog.MaxTag-200):n]
		text = text[n:]
		payload := text[:len(text)-len(bytes.TrimLeft(text, base64))]
		text = text[len(payload):]
		if len(payload) < 20 { // for example the word HISTORY
			continue
		}
		f := foundHistogram{row: Row{Payload: bytes.Clone(payload)}}
		if len(path) > hdrlog.MaxTag {
			f.err = errLongPath
			h.waiting = append(h.waiting, f)
			h.waitingBytes += f.size()
			continue
		}
		around := h.spanAround(path)
		f.row.Time = around.start
		f.row.Length = max(around.end-around.start, 0)
		f.timedLength = len(around.path)
		if path != nil {
			f.path = string(path)
			f.element = string(h.element(path))
			f.row.Tag = h.tagOf(path)
		}
		if m := intervalFields().FindSubmatch(fields); m != nil {
			f.err = f.row.setTime(m, around.start)
			f.timedLength = len(path) + 1 // no object's time replaces it
		}
		if p, err := h.decoder.Open(payload); err != nil {
			f.err = err
		} else if f.err == nil {
			f.err = p.Check()
		}
		h.waiting = append(h.waiting, f)
		h.waitingBytes += f.size()
	}
}

// setTime sets the tag, the time and the length of a row to the groups of intervalFields. The start
// counts from since, unless it is a time since 1970.
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

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

// isPayload reports whether a line is one payload and nothing else.
func isPayload(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("HIST")) && len(line) >= 20 && len(bytes.TrimLeft(line, base64)) == 0
}

// isBinary reports whether a text begins with the cookie of a compressed histogram of version 2 in
// binary. In base64, this cookie begins with HISTF.
func isBinary(text []byte) bool { return bytes.HasPrefix(text, []byte("\x1c\x84\x93\x14")) }

// newBinary returns a text with a line of base64 for each binary histogram. It returns other text
// unchanged.
func newBinary(text io.Reader, _ *setup, h *head) io.Reader {
	if !isBinary(h.text) {
		return text
	}
	return &linesOf{next: func(line []byte) (_ []byte, ended int, _ error) {
		begin := make([]byte, 8)
		if _, err := io.ReadFull(text, begin); err == io.EOF {
			return line, 0, err
		} else if err != nil {
			return line, 0, brokenIfCutShort(err)
		}
		length := binary.BigEndian.Uint32(begin[4:])
		body, err := io.ReadAll(io.LimitReader(text, int64(min(length, maxElement))))
		if err == nil && uint32(len(body)) < length {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return line, 0, brokenIfCutShort(err)
		}
		return append(stdbase64.StdEncoding.AppendEncode(line, append(begin, body...)), '\n'), 0, nil
	}}
}

// brokenIfCutShort returns a [brokenError] for text that ends inside a histogram, and other errors
// unchanged.
func brokenIfCutShort(err error) error {
	if err == io.ErrUnexpectedEOF {
		return broken(err)
	}
	return err
}
