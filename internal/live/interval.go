package live

import (
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
	history

	sum     *merge.Sum // nil if its counts are not needed
	highest float64    // of doubles
	count   int64      // of values
	err     error      // why it is left out
}

// A history is what earlier runs have made of an interval.
type history struct {
	again bool // one has read it
	// handedUntil is up to where windows were handed out when it was read: those have it, or were
	// too early for it. It is never if no run has read it.
	handedUntil int64
	dropped     bool // no output needs it any more
	readBack    bool // its window was open at a stop, and was read back with it
}

// recall finds out what earlier runs have made of an interval, by the mark of its log. Lines up to
// the one of the mark were read.
func (m *Merger) recall(i *interval, mark *follow.Mark) {
	i.handedUntil = never
	if i.line > mark.Line {
		return
	}
	i.again = true
	i.handedUntil = handedUntil(&mark.Again, i.line, m.clock.previousRunUntil)
	isNeeded := mark.Again.From > 0 && i.line >= mark.Again.From
	outputsHaveIt := max(i.window, i.end) <= min(m.neededAfter, i.handedUntil)
	wasLate := i.window <= i.handedUntil && isLate(&mark.Again, i.line)
	i.dropped = !isNeeded || outputsHaveIt || wasLate
	isOpen := i.handedUntil == m.clock.previousRunUntil && i.window > i.handedUntil
	i.readBack = m.options.State.HasParts() && isOpen
}

// A fate is what becomes of an interval.
type fate int

const (
	// counted: its window gets it, if that was not read back with it and must still be handed out.
	// Its values are part of the rates of all windows that it lies in.
	counted fate = iota
	// late: its window was handed out without it.
	late
	// dropped: no output needs it. Only the time counts in which its log ran.
	dropped
)

// fate returns what becomes of an interval now.
func (m *Merger) fate(i *interval) fate {
	switch {
	case i.dropped:
		return dropped
	case i.window > i.handedUntil && m.clock.isLate(i.window):
		return late
	}
	return counted
}

// isNew reports whether no window of an earlier run has an interval.
func (m *Merger) isNew(i *interval, fate fate) bool {
	return fate == late || i.window > m.clock.previousRunUntil
}
