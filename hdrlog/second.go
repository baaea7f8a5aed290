package hdrlog

import (
	"cmp"
	"math"
	"slices"
)

// A SecondField says what the second number of the intervals of a log is.
type SecondField uint8

const (
	// SecondUnknown leaves it to the reader. It reads lengths, as the reference does, until the log
	// proves that it holds ends.
	SecondUnknown SecondField = iota
	// SecondLength: the second number is how long the interval lasted.
	SecondLength
	// SecondEnd: the second number is when the interval ended.
	SecondEnd
)

const (
	// rounding is the largest difference in seconds between two printed times of one moment. Each
	// was rounded or truncated to three decimals.
	rounding = 0.0015

	// distinct is the smallest number of seconds that proves something. It is more than the sum of
	// three rounding errors and a comparison within rounding.
	distinct = 0.005

	day = 24 * 3600 // seconds
)

// A span is the first two numbers of an interval: its start, and its length or its end.
type span struct{ start, second float64 }

// duration returns how long the interval lasted if the second number is its end.
func (s span) duration() float64 { return s.second - s.start }

// matters reports whether the two readings differ by more than a tenth of the interval.
func (s span) matters() bool {
	return s.duration() > rounding && math.Abs(s.start) > 0.1*s.duration()
}

// evidence finds out whether the second numbers of a log are lengths or ends. Scylla-bench,
// cql-stress, aerospike-benchmark and the C library's example write ends. The legend does not
// decide it: early versions of jHiccup and the C library write lengths under "EndTimestamp".
//
// If the numbers are ends, none is below its start. If they are lengths, every log soon has one
// below its start, since starts grow and lengths do not. One such interval decides.
//
// That a log has ends takes more, since lengths that grow look like ends for a while, and so do the
// first intervals of a union of several logs. The intervals of a tag, in order of their starts,
// prove ends if as ends none begins inside another one, and if as lengths provingSteps of them do.
// One is enough that begins where another one ends, if as lengths all last 100 times as long. Until
// then the intervals wait. If there are many, or at the end of the log, a guess decides.
type evidence struct {
	tags map[string][]span // in order of their starts, untagged ones under ""
	// held says that intervals wait, which take about so many bytes.
	held  bool
	bytes int
	below bool // the second number of an interval is below its start
	// doubt is the first interval for which the two readings differ, and doubtLine its line.
	doubt     span
	doubtLine int
	// days reports that each second number so far is more than a day as a length, and lies within a
	// day of the start as an end.
	days bool
}

const (
	// provingSteps is the number of intervals of a tag that prove that second numbers are ends.
	// With fewer, unions of logs with lengths would look like ends (TestUnionsAreNotEnds).
	provingSteps = 3
	// mostHeld is the largest number of intervals of a tag that wait, and mostHeldBytes the most
	// memory that all of them take.
	mostHeld, mostHeldBytes = 64, 1 << 20
	// heldBytes is the memory of an interval that waits, without its line.
	heldBytes = 1 << 10
)

// add takes in the next interval. It returns what the log proves.
func (e *evidence) add(tag []byte, now span, line int) SecondField {
	if e.tags == nil {
		e.tags, e.days = make(map[string][]span), true
	}
	e.bytes += len(tag) + heldBytes
	e.days = e.days && now.second > day && now.duration() <= day
	if e.doubtLine == 0 && now.matters() {
		e.doubt, e.doubtLine = now, line
	}
	if now.duration() < -distinct {
		e.below = true
		return SecondLength
	}
	all := e.tags[string(tag)]
	at, _ := slices.BinarySearchFunc(all, now, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.second, b.second))
	})
	all = slices.Insert(all, at, now)
	e.tags[string(tag)] = all
	if len(all) > mostHeld {
		e.bytes += mostHeldBytes
	}
	if weigh(all).proves() {
		return SecondEnd
	}
	return SecondUnknown
}

// full reports whether the intervals take too much memory, or too many wait.
func (e *evidence) full() bool { return e.bytes > mostHeldBytes }

// weight is the evidence of the intervals of a tag.
type weight struct {
	// steps counts intervals that begin inside an earlier one only if the second numbers are
	// lengths. exact counts intervals that begin where the one before ends.
	steps, exact int
	inside       bool    // an interval begins inside an earlier one in both readings
	length       float64 // the smallest as lengths
	shortest     float64 // the smallest as ends
	longest      float64 // the largest as ends
}

// proves reports whether the intervals prove ends.
func (w weight) proves() bool {
	if w.inside {
		return false
	}
	return w.steps >= provingSteps || w.exact > 0 && w.length > 100*w.longest
}

// weigh weighs intervals in order of their starts.
func weigh(all []span) (w weight) {
	first := all[0]
	end, reach := first.second, first.start+first.second // the latest of both readings
	w.length = first.second
	w.shortest = first.duration()
	w.longest = first.duration()
	for n, now := range all[1:] {
		last := all[n]
		switch {
		case now.start < end-rounding:
			w.inside = true
		case now.start < reach-distinct && now.duration() > distinct && last.duration() > distinct:
			w.steps++
			if now.start <= last.second+rounding {
				w.exact++
			}
		}
		end, reach = max(end, now.second), max(reach, now.start+now.second)
		w.length = min(w.length, now.second)
		w.shortest = min(w.shortest, now.duration())
		w.longest = max(w.longest, now.duration())
	}
	return w
}

// guess returns how to read a log that proved nothing, and whether it may be the other way.
func (e *evidence) guess() (second SecondField, doubt bool) {
	switch {
	case e.below:
		return SecondLength, e.suggestsEnds()
	case e.bytes > 0 && e.days, e.suggestsEnds():
		return SecondEnd, true
	}
	return SecondLength, true
}

// suggestsEnds reports whether intervals are adjacent as ends, and none begins inside another one.
func (e *evidence) suggestsEnds() (suggests bool) {
	for _, all := range e.tags {
		w := weigh(all)
		if w.inside {
			return false
		}
		suggests = suggests || w.exact > 1 || w.exact > 0 && w.longest < 2*w.shortest
	}
	return suggests
}

// A turn finds where a log that is read as lengths goes on with ends, since another program wrote
// the rest or a clock was set back: provingSteps intervals in turn begin at the second number of
// the one before. Lengths hardly do. Intervals of several tags may have the same times.
type turn struct {
	last  span
	steps int
}

// add takes in the next interval. It reports whether it is the last one that a turn needs.
func (t *turn) add(now span) bool {
	last := t.last
	if now == last {
		return false
	}
	t.last = now
	meets := math.Abs(now.start-last.second) <= rounding
	if !meets || !last.matters() || !now.matters() || last.duration() <= distinct {
		t.steps = 0
		return false
	}
	t.steps++
	return t.steps == provingSteps
}
