package live

import (
	"fmt"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live/follow"
)

// An interval is what the merger needs of an interval of a log. Times are in milliseconds since the
// epoch.
type interval struct {
	row        []byte
	logStart   float64
	start, end int64
	windowEnd  int64 // of the window that contains its middle
	line       int
	wanted     bool // the tag is selected, and start is not before Options.From
	past       history

	sum     *merge.Sum // nil if the counts are not needed
	highest float64    // highest value, if the values are doubles
	count   int64      // number of values
	err     error      // why the interval is left out, nil if it is not
}

// A history is what earlier runs have done with an interval.
type history struct {
	readEarlier bool // an earlier run has read the interval
	// handedUntil is a time. The windows that end at or before it were handed out with all that
	// they need of the interval. It is never if no run has read the interval.
	handedUntil int64
	dropped     bool // all outputs have the windows of the interval
	readBack    bool // the window was open at a stop, and was read back with the interval
}

// recall sets the history of an interval, by the mark of its log. The goroutine that reads the log
// calls recall before decoding, because a dropped interval need not be decoded.
func (m *Merger) recall(i *interval, mark *follow.Mark) {
	i.past.handedUntil = never
	if i.line > mark.Line {
		return
	}
	i.past.readEarlier = true
	i.past.handedUntil = handedUntil(&mark.Again, i.line, m.clock.previousRunUntil)
	i.past.dropped = max(i.windowEnd, i.end) <= min(m.resumption.neededAfter, i.past.handedUntil)
	i.past.readBack = i.line < mark.Again.ReadBack && i.windowEnd > m.clock.previousRunUntil
}

// A fate says how the merger treats an interval.
type fate int

const (
	// counted: The interval is added to its window, unless the window has it already. It is also
	// added to the rates of all windows in which it lies.
	counted fate = iota
	// late: The window was handed out without the interval. The outputs get the interval alone.
	late
	// dropped: All outputs have the windows of the interval. Only the time in which the log ran
	// counts.
	dropped
)

// fate returns how to treat an interval now.
func (m *Merger) fate(i *interval) fate {
	switch {
	case i.past.dropped:
		return dropped
	case i.past.readBack: // the window has the interval, also if it was handed out meanwhile
		return counted
	case i.windowEnd > i.past.handedUntil && m.clock.isLate(i.windowEnd):
		return late
	}
	return counted
}

// isNew reports whether no window that an earlier run has handed out has the interval.
func (m *Merger) isNew(i *interval, fate fate) bool {
	return fate == late || i.windowEnd > m.clock.previousRunUntil
}

var sums = sync.Pool{New: func() any { return new(merge.Sum) }}

// addInterval merges an interval, hands it on as late, or drops it.
func (m *Merger) addInterval(in *input, i *interval, now time.Time) error {
	if i.sum != nil {
		defer i.release()
	}
	if !i.past.readEarlier {
		m.intervals++
		in.noteFar(i, now)
	}
	in.show(i, now)
	fate := m.fate(i)
	if !i.wanted {
		if i.start >= m.options.From && fate != late { // the tag is not selected
			m.noteRun(in, i, fate)
		}
		return nil
	}
	if i.err == nil {
		if err := m.options.Units.Admit(in.progress.Name); err != nil {
			return m.refuse(in, i, err)
		}
		m.options.Units.Kept(in.progress.Name, i.row)
		if i.sum != nil {
			i.err = m.kinds.admit(in.progress.Name, i)
		}
	}
	if i.err != nil {
		return m.skipInterval(in, i, now)
	}
	m.addToRates(in, i, fate)
	hasIt := i.past.readBack || i.windowEnd <= m.clock.handedUntil
	switch {
	case fate == late:
		return m.handLate(in, i, now)
	case fate == dropped, hasIt:
		return nil
	}
	if err := m.clock.windows.Merge(i.row, i.logStart, i.sum); err != nil {
		i.err = &hdrlog.SyntaxError{
			File:  in.progress.Name,
			Line:  i.line,
			Field: "payload",
			Err:   err,
		}
		return m.skipInterval(in, i, now)
	}
	return nil
}

// addToRates adds an interval to the rates of the windows that are not handed out yet. A later run
// needs the interval until all outputs have these windows.
func (m *Merger) addToRates(in *input, i *interval, fate fate) {
	after := m.clock.previousRunUntil
	if i.past.readEarlier {
		after = m.resumption.neededAfter
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

// noteRun records that an input ran during an interval whose tag is not selected.
func (m *Merger) noteRun(in *input, i *interval, fate fate) {
	m.rates.Ran(in.number, i.start, i.end)
	if m.options.Whole != nil && m.isNew(i, fate) {
		m.options.Whole.Ran(in.number, i.start, i.end)
	}
	if fate == counted {
		in.need(i)
	}
}

func (in *input) need(i *interval) {
	in.batchEnds.add(i)
}

// handLate passes on an interval that came after its window, and prints a message.
func (m *Merger) handLate(in *input, i *interval, now time.Time) error {
	in.progress.Late++
	why := fmt.Sprintf("%s:%d: the interval came after its window was written", in.progress.Name, i.line)
	if text := in.remarks.late.text(now, why, in.progress.Late, "late intervals"); text != "" {
		m.options.Messages.Notice(text)
	}
	merged := merge.Merged{Window: merge.WindowOf(i.start, i.end, m.options.Size), Tag: i.row, LogStart: i.logStart}
	if err := merged.Sum.Merge(i.sum); err != nil {
		return err
	}
	return m.passOn(&merged, true)
}

// release returns the sum of an interval to the pool.
func (i *interval) release() {
	i.sum.Reset()
	sums.Put(i.sum)
}
