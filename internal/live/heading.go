package live

import (
	"math"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/live/follow"
)

// mostHeader is the number of bytes of comments that a state keeps of a log.
const mostHeader = 8 << 10

// A heading is the comments that hold for the lines that follow, also those of the next log of an
// input if that has no times.
type heading struct {
	header
	next       header // the comments since the last interval
	headerFrom int    // a later run that begins at this line, or behind it, needs no comments but the header
}

// A header is comments that follow one another.
type header struct {
	text   string
	timed  bool // it has a time
	starts bool // it has that of the start
}

// add adds a comment. A legend says nothing.
func (h *header) add(r *hdrlog.Record) {
	if r.Kind == hdrlog.Legend || len(h.text)+len(r.Text) >= mostHeader {
		return
	}
	h.text += string(r.Text) + "\n"
	h.starts = h.starts || r.Kind == hdrlog.StartTime
	h.timed = h.timed || h.starts || r.Kind == hdrlog.BaseTime
}

// begin begins a log.
func (h *heading) begin() {
	h.next = header{}
	h.headerFrom = math.MaxInt
	if h.starts {
		h.headerFrom = 1
	}
}

// see sees the next record of the log.
func (h *heading) see(r *hdrlog.Record) {
	switch r.Kind {
	case hdrlog.Malformed, hdrlog.Notice:
	case hdrlog.IntervalRecord:
		if h.next.timed {
			h.header = h.next
			h.headerFrom = math.MaxInt
			if h.starts {
				h.headerFrom = r.Line
			}
		}
		h.next = header{}
	default:
		h.next.add(r)
	}
}

// resume takes up the comments of a mark. It returns a reader that has read them, nil if there are
// none, and calls comment for each.
func (h *heading) resume(name string, mark *follow.Mark, comment func(r *hdrlog.Record)) *hdrlog.Reader {
	if mark.Header == "" {
		return nil
	}
	r := hdrlog.NewReader(strings.NewReader(mark.Header), name)
	h.header = header{}
	for r.Scan() {
		h.header.add(r.Record())
		comment(r.Record())
	}
	return r
}
