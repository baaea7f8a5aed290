package hdrlog

import (
	"cmp"
	"math"
	"slices"
)

// A SecondNumber says what the second number of the intervals of a log is.
type SecondNumber uint8

const (
	// SecondUnknown leaves it to the reader. It reads lengths, as the reference does, until the log
	// proves that it holds ends.
	SecondUnknown SecondNumber = iota
	// SecondLength: the second number is how long the interval lasted.
	SecondLength
	// SecondEnd: the second number is when the interval ended.
	SecondEnd
)

const (
	// rounding is how far two printed times may lie apart that were the same, in seconds. Each was
	// rounded or truncated to three decimals.
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
// below its start, since starts grow and lengths do not. One such interval decides, unless others
// speak for ends.
//
// That a log has ends takes more, since lengths that grow look like ends for a while, and so do the
// first intervals of a union of several logs. The intervals of a tag, in order of their starts,
// prove ends if
//
//   - as ends, none begins inside another one, as in every log of ends, with gaps or without, and
//   - as lengths, several begin inside the one before, see [evidence.proves] for how many.
//
// A log of lengths does neither but by chance: an interval that starts in the first one of another
// log is inside as an end, too.
type evidence struct {
	tags  map[string]*spans // untagged ones are under ""
	lines int
	size  int // of the tags, in bytes
	below int // intervals whose second number is below their start
	// doubt is the first interval for which the two readings differ, and doubtLine its line.
	doubt     span
	doubtLine int
	// days reports that each second number so far is more than a day as a length, and lies within a
	// day of the start as an end.
	days bool
}

// spans are the intervals of a tag in order of their starts.
type spans struct {
	all []span
	// steps is the number of intervals that begin inside an earlier one only if the second numbers
	// are lengths, and exact that of those that begin where the one before ends. Inside is the
	// number of intervals that begin inside an earlier one in both readings.
	steps, exact, inside int
	length               float64 // the smallest as lengths
	shortest, longest    float64 // as ends
}

// full reports whether the log has so many lines or tags that the evidence would take too much
// memory.
func (e *evidence) full() bool { return e.lines > maxDoubtLines || e.size > maxDoubtBytes }

// add returns what the log proves with the next interval.
func (e *evidence) add(tag []byte, now span, line int) SecondNumber {
	if e.tags == nil {
		e.tags, e.days = make(map[string]*spans), true
	}
	of := e.tags[string(tag)]
	if of == nil {
		of = new(spans)
		e.tags[string(tag)] = of
		e.size += len(tag)
	}
	e.lines++
	e.days = e.days && now.second > day && now.duration() <= day
	if e.doubtLine == 0 && now.matters() {
		e.doubt, e.doubtLine = now, line
	}
	if now.duration() < -distinct {
		e.below++
		for _, s := range e.tags {
			if s.steps-s.inside >= e.below {
				return SecondUnknown
			}
		}
		return SecondLength
	}
	at, _ := slices.BinarySearchFunc(of.all, now, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.second, b.second))
	})
	of.all = slices.Insert(of.all, at, now)
	of.weigh()
	if e.proves(of) {
		return SecondEnd
	}
	return SecondUnknown
}

// weigh sets the numbers of the spans.
func (s *spans) weigh() {
	all := s.all
	*s = spans{
		all:      all,
		length:   all[0].second,
		shortest: all[0].duration(),
		longest:  all[0].duration(),
	}
	end, reach := all[0].second, all[0].start+all[0].second // the latest of both readings
	for n, now := range all[1:] {
		last := all[n]
		switch {
		case now.start < end-rounding:
			s.inside++
		case now.start < reach-distinct && now.duration() > distinct && last.duration() > distinct:
			s.steps++
			if now.start <= last.second+rounding {
				s.exact++
			}
		}
		end, reach = max(end, now.second), max(reach, now.start+now.second)
		s.length = min(s.length, now.second)
		s.shortest, s.longest = min(s.shortest, now.duration()), max(s.longest, now.duration())
	}
}

// proves reports whether the intervals of a tag prove ends.
func (e *evidence) proves(s *spans) bool {
	need := 1 + 4*(s.inside+e.below) // a few may come from a clock that was set back
	last := s.all[len(s.all)-1]
	return s.exact >= need && s.length > 100*s.longest ||
		s.exact >= 3*need ||
		s.steps >= 4*need && last.start > 2*s.length ||
		s.steps >= 8*need
}

// guess returns how to read a log that proved nothing.
func (e *evidence) guess() SecondNumber {
	if e.lines > 0 && e.days {
		return SecondEnd
	}
	guess := SecondLength
	for _, s := range e.tags {
		if s.inside > 0 || e.below > 0 {
			return SecondLength
		}
		if s.exact > 1 || s.exact > 0 && s.longest < 2*s.shortest {
			guess = SecondEnd
		}
	}
	return guess
}

// A counter counts the intervals in a row that contradict what was decided about the log.
type counter struct {
	last  span
	count int
}

// contradicts reports whether so many intervals contradict what was decided that it is wrong.
// Intervals of one start, as of several tags, count once.
func (c *counter) contradicts(decided SecondNumber, now span) bool {
	if now.start == c.last.start {
		return false
	}
	last := c.last
	c.last = now
	if decided == SecondEnd {
		if now.duration() >= -distinct {
			c.count = 0
			return false
		}
		c.count++
		return c.count == 3
	}
	if min(now.duration(), last.duration(), now.start, last.start) > distinct && math.Abs(now.start-last.second) <= rounding {
		c.count++
	} else {
		c.count = 0
	}
	return c.count == 8
}
