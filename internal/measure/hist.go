package measure

import (
	"bytes"
	"strings"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
)

// hist is any text with histograms in base64, as memtier_benchmark writes them. In JSON, the path
// of a histogram is its tag. The times of memtier_benchmark are known, and its unit:
// https://github.com/redis/memtier_benchmark. Other histograms have the time that -time names, or
// none, and the unit that -in names.
var hist = Format{
	Name: "hist",
	detect: func(h *head) bool {
		return bytes.Contains(h.text, []byte("HISTF")) || h.isJSON() && !h.isObject()
	},
}

// histograms find histograms in text, line by line.
type histograms struct {
	unit   unit.Unit // unknown if nothing states it
	time   string    // the path of the start
	clock  clock
	walker walker
	text   bool // this is no JSON
	// start and end are the times that the text has had so far, in nanoseconds since the epoch.
	start, end int64
	found      []found
	decoder    histogram.Decoder
}

// found is a histogram, or what is wrong with it.
type found struct {
	row Row
	err error
}

func newHistograms(s *setup) *histograms {
	h := &histograms{
		unit:   s.Unit,
		time:   s.Time,
		clock:  clock{unit: s.TimeUnit, zone: s.Zone},
		walker: walker{separator: '/'},
	}
	h.time = strings.ReplaceAll(h.time, ".", "/")
	return h
}

// line takes a line.
func (h *histograms) line(text []byte) {
	h.found = h.found[:0]
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && (h.text || h.walker.done()) {
		h.walker.reset()
		h.text = false
	}
	if !h.text {
		if h.walker.walk(text, h.scalar) == nil {
			return
		}
		h.text, h.found = true, h.found[:0]
	}
	h.search(nil, text)
}

// scalar takes a scalar of a JSON document.
func (h *histograms) scalar(path, value []byte) {
	key := path[bytes.LastIndexByte(path, '/')+1:]
	switch {
	case h.time != "" && string(path) == h.time:
		if at, err := h.clock.parse(value); err == nil {
			h.start, h.end = at, at
		}
	case h.time == "" && string(key) == "Start time" && guess(value) == unit.Millisecond:
		h.start, _ = decimal(value, 6)
		h.end = h.start
		if h.unit == (unit.Unit{}) {
			h.unit = unit.Microsecond
		}
	case h.time == "" && string(key) == "Finish time" && h.start > 0:
		h.end, _ = decimal(value, 6)
	default:
		if len(path) > 0 {
			path = path[1:]
		}
		h.search(path, value)
	}
}

// search finds the histograms in text.
func (h *histograms) search(path, text []byte) {
	for {
		n := bytes.Index(text, []byte("HIST"))
		if n < 0 {
			return
		}
		text = text[n:]
		payload := text[:len(text)-len(bytes.TrimLeft(text, base64))]
		text = text[len(payload):]
		if len(payload) < 20 { // a word such as HISTORY
			continue
		}
		f := found{row: Row{
			Time:    h.start,
			Length:  max(h.end-h.start, 0),
			Tag:     bytes.Clone(path),
			Payload: bytes.Clone(payload),
		}}
		if p, err := h.decoder.Open(payload); err != nil {
			f.err = err
		} else {
			f.err = p.Check()
		}
		h.found = append(h.found, f)
	}
}

// base64 are the characters of base64.
const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
