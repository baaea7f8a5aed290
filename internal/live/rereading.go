package live

import (
	"slices"

	"hdrkit/internal/live/follow"
)

// maxSpans is the number of spans that a rereading keeps. Beyond that, pairs of spans become one.
// Then a later run reads more lines again, and drops those that are not needed.
const maxSpans = 256

// A rereading keeps which lines of a log a later run must read again.
type rereading struct {
	log         *follow.Log
	isRead      bool // an input reads the log now
	again       follow.Again
	earlierMark follow.Mark // of the run before; the zero value if that run did not know the log
	lastLine    int         // the last line taken
	spans       []span      // lines that are needed, in order
}

// A span is a range of lines of a log, from first to the line before the next span. A later run
// needs the lines until all outputs have the windows of their intervals.
type span struct {
	first int
	ends  ends
}

// Ends are the ends of windows to which some intervals contribute: values is the end of the last
// window that contains the middle of an interval, and rates the end of the last window that an
// interval overlaps.
type ends struct{ values, rates int64 }

// noEnds are the ends for no interval.
var noEnds = ends{never, never}

// add extends the ends by an interval.
func (e *ends) add(i *interval) {
	e.values = max(e.values, i.windowEnd)
	e.rates = max(e.rates, i.windowEnd, i.end)
}

// rereadingOf returns the rereading of a log. There is one already if another input has read the
// log.
func (m *Merger) rereadingOf(log *follow.Log) *rereading {
	if r := m.rereadings[log]; r != nil {
		return r
	}
	r := &rereading{log: log}
	if mark := log.Mark(); mark != nil {
		r.earlierMark = *mark
		r.again = mark.Again
	}
	m.rereadings[log] = r
	return r
}

// add records that the lines from first to last were taken, whose intervals have some ends.
func (r *rereading) add(first, last int, of ends, slack int64) {
	r.lastLine = last
	r.again.Slack = max(r.again.Slack, slack)
	if of == noEnds {
		return
	}
	r.spans = append(r.spans, span{first, of})
	if len(r.spans) <= maxSpans {
		return
	}
	half := r.spans[:0]
	for pair := range slices.Chunk(r.spans, 2) {
		both := pair[0]
		last := pair[len(pair)-1].ends
		both.ends.values = max(both.ends.values, last.values)
		both.ends.rates = max(both.ends.rates, last.rates)
		half = append(half, both)
	}
	r.spans = half
}

// handedUntil returns the end of the last window that was handed out with all it needs of a line,
// in the runs before. Done is the time up to which the last of these runs had handed out windows.
func handedUntil(a *follow.Again, line int, done int64) int64 {
	for _, m := range a.Missed {
		if line >= m.From {
			done = m.Done
		}
	}
	return done
}

// settle removes the spans whose windows end at or before all, because all outputs have them. It
// passes what remains to the log. Windows that end after done are open. It returns true if no line
// is needed any more.
func (r *rereading) settle(all, done int64) bool {
	n := slices.IndexFunc(r.spans, func(s span) bool { return s.ends.rates > all })
	if n < 0 {
		n = len(r.spans)
	}
	r.spans = slices.Delete(r.spans, 0, n)
	rest := follow.Again{}
	if r.hasUnreadNeededLines() {
		rest = behind(&r.earlierMark.Again, r.lastLine)
	}
	r.again.From = rest.From
	r.again.Open = rest.Open
	r.again.Missed = rest.Missed
	if len(r.spans) > 0 {
		r.again.From = r.spans[0].first
	}
	if n := slices.IndexFunc(r.spans, func(s span) bool { return s.ends.values > done }); n >= 0 {
		r.again.Open = r.spans[n].first
	}
	r.log.SetAgain(r.again)
	return r.again.From == 0
}

// behind returns the part of a for the lines after line.
func behind(a *follow.Again, line int) follow.Again {
	rest := follow.Again{
		From:  max(a.From, line+1),
		Slack: a.Slack,
	}
	if a.Open > 0 {
		rest.Open = max(a.Open, line+1)
	}
	for n, m := range a.Missed {
		if n+1 == len(a.Missed) || a.Missed[n+1].From > rest.From {
			m.From = max(m.From, rest.From)
			rest.Missed = append(rest.Missed, m)
		}
	}
	return rest
}

// hasUnreadNeededLines reports whether lines that should be read again have not been read yet.
func (r *rereading) hasUnreadNeededLines() bool {
	return r.lastLine < r.earlierMark.Line && r.earlierMark.Again.From > 0
}

// settle settles the rereadings of all logs, see [rereading.settle].
func (m *Merger) settle(all, done int64) {
	for log, r := range m.rereadings {
		if r.settle(all, done) && !r.isRead {
			delete(m.rereadings, log)
		}
	}
}
