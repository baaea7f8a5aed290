package live

import (
	"fmt"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live/follow"
)

// An interval is one that was read. Times are in milliseconds since the epoch.
type interval struct {
	row        []byte
	logStart   float64
	start, end int64
	window     int64 // the end of its window
	line       int
	wanted     bool // its tag is chosen, and it does not start too early
	past       history

	sum     *merge.Sum // nil if its counts are not needed
	highest float64    // of doubles
	count   int64      // of values
	err     error      // why it is left out
}

// A history is what earlier runs have made of an interval.
type history struct {
	again bool // one has read it
	// handedUntil: windows that end at or before it were handed out with all that this run may need
	// of the interval. It is never if no run has read the interval.
	handedUntil int64
	dropped     bool // all outputs have it
	readBack    bool // its window was open at a stop, and was read back with it
}

// recall finds out what earlier runs have made of an interval, by the mark of its log. The
// goroutine that reads the log calls it: an interval that is dropped is not decoded.
func (m *Merger) recall(i *interval, mark *follow.Mark) {
	i.past.handedUntil = never
	if i.line > mark.Line {
		return
	}
	i.past.again = true
	i.past.handedUntil = handedUntil(&mark.Again, i.line, m.clock.previousRunUntil)
	i.past.dropped = max(i.window, i.end) <= min(m.resumed.neededAfter, i.past.handedUntil)
	i.past.readBack = i.line < mark.Again.ReadBack && i.window > m.clock.previousRunUntil
}

// A fate is what becomes of an interval.
type fate int

const (
	// counted: its window gets it, unless that has it already. The rates of all windows that it
	// lies in get their parts of it.
	counted fate = iota
	// late: its window was handed out without it.
	late
	// dropped: all outputs have it. Only the time counts in which its log ran.
	dropped
)

// fate returns what becomes of an interval now.
func (m *Merger) fate(i *interval) fate {
	switch {
	case i.past.dropped:
		return dropped
	case i.past.readBack: // its window has it, if that was handed out meanwhile, too
		return counted
	case i.window > i.past.handedUntil && m.clock.isLate(i.window):
		return late
	}
	return counted
}

// isNew reports whether no window that an earlier run handed out has the interval.
func (m *Merger) isNew(i *interval, fate fate) bool {
	return fate == late || i.window > m.clock.previousRunUntil
}

var sums = sync.Pool{New: func() any { return new(merge.Sum) }}

// add does with an interval what its fate is.
func (m *Merger) add(in *input, i *interval, now time.Time) error {
	if i.sum != nil {
		defer i.release()
	}
	if !i.past.again {
		m.seen++
		in.noteFar(i, now)
	}
	in.show(i, now)
	fate := m.fate(i)
	if !i.wanted {
		if i.start >= m.options.From && fate != late { // of a tag that is not chosen
			m.ran(in, i, fate)
		}
		return nil
	}
	if i.err == nil {
		if err := m.options.Units.Admit(in.now.Name); err != nil {
			return m.refuse(in, i, err)
		}
		m.options.Units.Kept(in.now.Name, i.row)
		if i.sum != nil {
			i.err = m.kinds.admit(in.now.Name, i)
		}
	}
	if i.err != nil {
		return m.skipInterval(in, i, now)
	}
	m.rate(in, i, fate)
	hasIt := i.past.readBack || i.window <= m.clock.handedUntil
	switch {
	case fate == late:
		return m.late(in, i, now)
	case fate == dropped, hasIt:
		return nil
	}
	if err := m.clock.windows.Merge(i.row, i.logStart, i.sum); err != nil {
		i.err = &hdrlog.SyntaxError{
			File:  in.now.Name,
			Line:  i.line,
			Field: "payload",
			Err:   err,
		}
		return m.skipInterval(in, i, now)
	}
	return nil
}

// rate adds an interval to the rates of the windows of its row that are still to be handed out. A
// later run needs it until all outputs have these.
func (m *Merger) rate(in *input, i *interval, fate fate) {
	after := m.clock.previousRunUntil
	if i.past.again {
		after = m.resumed.neededAfter
	}
	switch {
	case fate == dropped:
		m.rates.Add(i.row, in.number, i.start, i.end, 0, never, m.options.Size)
	case fate == counted || !m.clock.isLate(i.end):
		m.rates.Add(i.row, in.number, i.start, i.end, i.count, after, m.options.Size)
		in.need(i)
	}
	if m.options.Whole != nil && m.isNew(i, fate) {
		m.options.Whole.Add(i.row, in.number, i.start, i.end, 0, never, m.options.Size)
	}
}

// ran notes that an input ran in an interval of a tag that is not chosen.
func (m *Merger) ran(in *input, i *interval, fate fate) {
	m.rates.Ran(in.number, i.start, i.end)
	if m.options.Whole != nil && m.isNew(i, fate) {
		m.options.Whole.Ran(in.number, i.start, i.end)
	}
	if fate == counted {
		in.need(i)
	}
}

// need notes that a later run needs an interval until all outputs have the windows that it lies in.
func (in *input) need(i *interval) {
	in.needed.add(i)
}

// late hands on an interval that came after its window, and says so.
func (m *Merger) late(in *input, i *interval, now time.Time) error {
	in.now.Late++
	why := fmt.Sprintf("%s:%d: the interval came after its window was written", in.now.Name, i.line)
	if text := in.remarks.late.text(now, why, in.now.Late, "late intervals"); text != "" {
		m.options.Messages.Notice(text)
	}
	merged := merge.Merged{Window: merge.WindowOf(i.start, i.end, m.options.Size), Tag: i.row, LogStart: i.logStart}
	if err := merged.Sum.Merge(i.sum); err != nil {
		return err
	}
	return m.hand(&merged, true)
}

// release gives back the memory of an interval.
func (i *interval) release() {
	i.sum.Reset()
	sums.Put(i.sum)
}
