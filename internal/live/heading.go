package live

import (
	"math"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/live/follow"
)

// maxHeader is the number of bytes of comments that a state keeps for each log.
const maxHeader = 8 << 10

// A heading has the comments that hold for the next lines of an input. They also hold for the next
// log of the input, if this log has no comments with times.
type heading struct {
	header
	next       header // comments since the last interval
	headerFrom int    // a later run that starts at this line or after it needs only the header
}

// A header is a group of comments without intervals between them.
type header struct {
	text     string
	hasTime  bool // a comment states a time
	hasStart bool // a comment states the start of the log
}

// add adds a comment. Legends are left out.
func (h *header) add(r *hdrlog.Record) {
	if r.Kind == hdrlog.Legend || len(h.text)+len(r.Text) >= maxHeader {
		return
	}
	h.text += string(r.Text) + "\n"
	h.hasStart = h.hasStart || r.Kind == hdrlog.StartTime
	h.hasTime = h.hasTime || h.hasStart || r.Kind == hdrlog.BaseTime
}

// beginLog is called before the first record of a log.
func (h *heading) beginLog() {
	h.next = header{}
	h.headerFrom = math.MaxInt
	if h.hasStart {
		h.headerFrom = 1
	}
}

// addRecord is called for each record of a log.
func (h *heading) addRecord(r *hdrlog.Record) {
	switch r.Kind {
	case hdrlog.Malformed, hdrlog.Notice:
	case hdrlog.IntervalRecord:
		if h.next.hasTime {
			h.header = h.next
			h.headerFrom = math.MaxInt
			if h.hasStart {
				h.headerFrom = r.Line
			}
		}
		h.next = header{}
	default:
		h.next.add(r)
	}
}

// resumeFrom takes over the comments of a mark, and calls comment for each of them. It returns a
// reader that has read these comments, or nil if there are none.
func (h *heading) resumeFrom(name string, mark *follow.Mark, comment func(r *hdrlog.Record)) *hdrlog.Reader {
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
