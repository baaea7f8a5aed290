package hdrlog

import (
	"cmp"
	"math"
	"slices"
)

// A SecondField says whether the second number of the intervals of a log is a length or an end.
type SecondField uint8

const (
	// SecondUnknown leaves the decision to the reader. The reader reads lengths, as the reference
	// does, until the log proves that it holds ends.
	SecondUnknown SecondField = iota
	// SecondLength: the second number is how long the interval lasted.
	SecondLength
	// SecondEnd: the second number is when the interval ended.
	SecondEnd
)

const (
	// rounding is the largest difference in seconds between two printed times of the same moment.
	// Each was rounded or truncated to three decimals.
	rounding = 0.0015

	// minDifference is the smallest difference in seconds that counts as evidence. It is more than
	// the sum of three rounding errors and a comparison within rounding.
	minDifference = 0.005

	day = 24 * 3600 // seconds
)

// A span is the first two numbers of an interval: its start, and its length or its end.
type span struct{ start, second float64 }

// duration returns how long the interval lasted in seconds, if the second number is its end.
func (s span) duration() float64 { return s.second - s.start }

// readingsDiffer reports whether the durations in the two readings, as length and as end, differ by
// more than a tenth.
func (s span) readingsDiffer() bool {
	return s.duration() > rounding && math.Abs(s.start) > 0.1*s.duration()
}

// evidence collects what intervals show about the second numbers of a log. Scylla-bench,
// cql-stress, aerospike-benchmark and the example of the C library write ends. The legend does not
// decide: early versions of jHiccup and the C library write lengths under "EndTimestamp".
//
// An end is never below its start. A length soon is, since starts grow and lengths do not. So one
// interval whose second number is below its start proves lengths.
//
// Ends need more proof, since growing lengths look like ends for a while, and so do the first
// intervals of a union of several logs. The intervals of a tag, in order of their starts, prove
// ends if no interval begins inside another one when they are read as ends, and provingSteps
// intervals do when they are read as lengths. One interval that begins where another one ends is
// enough if all lengths would be 100 times as long as the durations as ends. Until a proof, the
// intervals wait. If too many wait, or at the end of the log, a guess decides.
type evidence struct {
	tags map[string][]span // by tag, in order of starts; untagged intervals have the key ""
	// seen reports that there was an interval, waits that intervals wait, and crowded that more
	// than maxWaiting intervals of a tag do.
	seen, waits, crowded bool
	bytes                int  // about how much memory the waiting intervals take
	provedLength         bool // an interval has a second number below its start
	// doubt is the first interval whose two readings differ, and doubtLine its line.
	doubt     span
	doubtLine int
	// days reports that every second number so far is longer than a day as a length, and within a
	// day of its start as an end.
	days bool
}

const (
	// provingSteps is the number of intervals of a tag that prove that second numbers are ends.
	// With fewer, unions of logs with lengths would look like ends (TestUnionsAreNotEnds).
	provingSteps = 3
	// maxWaiting is the largest number of intervals of a tag that wait, and maxWaitingBytes the
	// most memory that all waiting intervals take.
	maxWaiting, maxWaitingBytes = 64, 1 << 20
	// waitingBytes is the memory of a waiting interval in bytes, without its line.
	waitingBytes = 1 << 10
)

// add adds the next interval. It returns what the log proves, SecondUnknown if it proves nothing
// yet.
func (e *evidence) add(tag []byte, current span, line int) SecondField {
	if e.tags == nil {
		e.tags, e.days = make(map[string][]span), true
	}
	e.seen = true
	e.bytes += len(tag) + waitingBytes
	e.days = e.days && current.second > day && current.duration() <= day
	if e.doubtLine == 0 && current.readingsDiffer() {
		e.doubt, e.doubtLine = current, line
	}
	if current.duration() < -minDifference {
		e.provedLength = true
		return SecondLength
	}
	all := e.tags[string(tag)]
	at, _ := slices.BinarySearchFunc(all, current, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.second, b.second))
	})
	all = slices.Insert(all, at, current)
	e.tags[string(tag)] = all
	e.crowded = e.crowded || len(all) > maxWaiting
	if evidenceOf(all).provesEnds() {
		return SecondEnd
	}
	return SecondUnknown
}

// full reports whether the waiting intervals take too much memory, or too many wait.
func (e *evidence) full() bool { return e.crowded || e.bytes > maxWaitingBytes }

// A tagEvidence sums up what the intervals of one tag show about second numbers.
type tagEvidence struct {
	// steps counts intervals that begin inside an earlier one as lengths, but not as ends, if they
	// and the one before last longer than minDifference as ends. adjacent counts the intervals
	// among them that begin where the one before ends.
	steps, adjacent int
	inside          bool    // an interval begins inside an earlier one in both readings
	minLength       float64 // the smallest second number
	minDuration     float64 // the shortest duration as ends
	maxDuration     float64 // the longest duration as ends
}

// provesEnds reports whether the intervals prove that second numbers are ends.
func (w tagEvidence) provesEnds() bool {
	if w.inside {
		return false
	}
	return w.steps >= provingSteps || w.adjacent > 0 && w.minLength > 100*w.maxDuration
}

// evidenceOf returns the evidence of the intervals of a tag, in order of their starts.
func evidenceOf(all []span) (w tagEvidence) {
	first := all[0]
	// The latest end so far, in both readings.
	lastAsEnd, lastAsLength := first.second, first.start+first.second
	w.minLength = first.second
	w.minDuration = first.duration()
	w.maxDuration = first.duration()
	for n, current := range all[1:] {
		last := all[n]
		switch {
		case current.start < lastAsEnd-rounding:
			w.inside = true
		case current.start < lastAsLength-minDifference && current.duration() > minDifference && last.duration() > minDifference:
			w.steps++
			if current.start <= last.second+rounding {
				w.adjacent++
			}
		}
		lastAsEnd = max(lastAsEnd, current.second)
		lastAsLength = max(lastAsLength, current.start+current.second)
		w.minLength = min(w.minLength, current.second)
		w.minDuration = min(w.minDuration, current.duration())
		w.maxDuration = max(w.maxDuration, current.duration())
	}
	return w
}

// guess returns the likelier meaning of second numbers in a log that proved nothing, and whether
// the other meaning is possible.
func (e *evidence) guess() (second SecondField, doubt bool) {
	switch {
	case e.provedLength:
		return SecondLength, e.suggestsEnds()
	case e.seen && e.days, e.suggestsEnds():
		return SecondEnd, true
	}
	return SecondLength, true
}

// suggestsEnds reports whether, read as ends, intervals are adjacent and none begins inside another
// one.
func (e *evidence) suggestsEnds() (suggests bool) {
	for _, all := range e.tags {
		w := evidenceOf(all)
		if w.inside {
			return false
		}
		suggests = suggests || w.adjacent > 1 || w.adjacent > 0 && w.maxDuration < 2*w.minDuration
	}
	return suggests
}

// An endsDetector finds where a log that is read as lengths continues with ends, because another
// program wrote the rest or a clock was set back. There, provingSteps successive intervals begin at
// the second number of the interval before. Lengths hardly ever do that. Intervals of several tags
// may have the same times.
type endsDetector struct {
	last  span
	steps int
}

// add adds the next interval, and reports whether it is the last one of provingSteps.
func (t *endsDetector) add(current span) bool {
	last := t.last
	if current == last {
		return false
	}
	t.last = current
	begins := math.Abs(current.start-last.second) <= rounding
	if !begins || !last.readingsDiffer() || !current.readingsDiffer() || last.duration() <= minDifference {
		t.steps = 0
		return false
	}
	t.steps++
	return t.steps == provingSteps
}
