package live

import (
	"slices"

	"hdrkit/internal/live/follow"
)

// mostSpans is the number of spans that a position has. If there are more, two become one: a later
// run reads more lines again, and drops those that are not needed.
const mostSpans = 256

// A position is what a later run must read again of a log.
type position struct {
	log     *follow.Log
	current bool // an input reads the log
	again   follow.Again
	earlier follow.Mark // of the run before; the zero value if that did not know the log
	line    int         // the last one taken
	spans   []span      // of lines that are needed, in order
}

// A span is lines of a log that follow one another, from the first one on.
type span struct {
	first int
	ends  ends
}

// Ends are those of the last window that has values of some intervals, and of the last one that one
// of the intervals lies in: its rates need that.
type ends struct{ values, rates int64 }

// noEnds are those of no interval.
var noEnds = ends{never, never}

// add adds an interval.
func (e *ends) add(i *interval) {
	e.values = max(e.values, i.window)
	e.rates = max(e.rates, i.window, i.end)
}

// positionOf returns the position of a log. Another input may have read it before.
func (m *Merger) positionOf(log *follow.Log) *position {
	if p := m.positions[log]; p != nil {
		return p
	}
	p := &position{log: log}
	if mark := log.Mark(); mark != nil {
		p.earlier = *mark
		p.again = mark.Again
	}
	m.positions[log] = p
	return p
}

// add notes that lines were taken.
func (p *position) add(first, last int, of ends, slack int64) {
	p.line = last
	p.again.Slack = max(p.again.Slack, slack)
	if of == noEnds {
		return
	}
	p.spans = append(p.spans, span{first, of})
	if len(p.spans) <= mostSpans {
		return
	}
	half := p.spans[:0]
	for pair := range slices.Chunk(p.spans, 2) {
		both := pair[0]
		last := pair[len(pair)-1].ends
		both.ends.values = max(both.ends.values, last.values)
		both.ends.rates = max(both.ends.rates, last.rates)
		half = append(half, both)
	}
	p.spans = half
}

// handedUntil returns the end of the last window that was handed out with a line that is read
// again, if the line belongs there. Done is that of the state.
func handedUntil(a *follow.Again, line int, done int64) int64 {
	for _, m := range a.Missed {
		if line >= m.From {
			done = m.Done
		}
	}
	return done
}

// settle forgets the spans that all outputs have, those up to a time, and tells the log what is
// left. Windows that end after done are open. It reports whether no line is needed any more.
func (p *position) settle(all, done int64) bool {
	n := slices.IndexFunc(p.spans, func(s span) bool { return s.ends.rates > all })
	if n < 0 {
		n = len(p.spans)
	}
	p.spans = slices.Delete(p.spans, 0, n)
	rest := follow.Again{}
	if p.hasUnreadNeededLines() {
		rest = behind(&p.earlier.Again, p.line)
	}
	p.again.From = rest.From
	p.again.Open = rest.Open
	p.again.Missed = rest.Missed
	if len(p.spans) > 0 {
		p.again.From = p.spans[0].first
	}
	if n := slices.IndexFunc(p.spans, func(s span) bool { return s.ends.values > done }); n >= 0 {
		p.again.Open = p.spans[n].first
	}
	p.log.SetAgain(p.again)
	return p.again.From == 0
}

// behind returns what the lines behind one that was read count for.
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

// hasUnreadNeededLines reports whether lines that were to be read again are still unread.
func (p *position) hasUnreadNeededLines() bool {
	return p.line < p.earlier.Line && p.earlier.Again.From > 0
}

// settle tells all logs what a later run must read again, see [position.settle].
func (m *Merger) settle(all, done int64) {
	for log, p := range m.positions {
		if p.settle(all, done) && !p.current {
			delete(m.positions, log)
		}
	}
}
