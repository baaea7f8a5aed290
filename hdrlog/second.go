package hdrlog

import "math"

// A Second says what the second number of the intervals of a log is.
type Second uint8

const (
	// SecondUnknown leaves it to the reader. It reads lengths, as the reference does, until the log
	// proves that it holds ends.
	SecondUnknown Second = iota
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

// evidence finds out whether the second numbers of a log are lengths or ends. Scylla-bench,
// cql-stress, aerospike-benchmark and the C library's example write ends. The legend does not
// decide it: early versions of jHiccup and the C library write lengths under "EndTimestamp".
//
// It uses two facts about the intervals of one tag, which do not overlap:
//
//   - If the numbers are lengths, an interval that starts at s and has the second number x covers
//     the time from s to s+x. Where s > 0 and x > s, no other interval starts at x, which lies
//     inside. So if the next interval starts at x, the numbers are ends. This holds for lines in
//     any order and with gaps between them.
//   - If the numbers are ends, no second number is below its start. If they are lengths, every log
//     soon has one, since starts grow and lengths do not.
//
// A log proves nothing while it starts at 0, since then the start of the second interval is both
// the length and the end of the first.
type evidence struct {
	last map[string]span // the last interval of each tag; untagged ones are under ""
	// days reports that each second number so far is more than a day as a length, and lies within a
	// day of the start as an end.
	days bool
	size int // of the tags, in bytes
}

// full reports whether the log has so many tags that the evidence would take too much memory.
func (e *evidence) full() bool { return len(e.last) > maxDoubtLines || e.size > maxDoubtBytes }

// add returns what the next interval proves.
func (e *evidence) add(tag []byte, now span) Second {
	if e.last == nil {
		e.last, e.days = make(map[string]span), true
	}
	last, seen := e.last[string(tag)]
	if !seen {
		e.size += len(tag)
	}
	e.last[string(tag)] = now
	e.days = e.days && now.second > day && now.duration() <= day

	followsEnd := math.Abs(now.start-last.second) <= rounding
	followsLength := math.Abs(now.start-last.start-last.second) <= rounding
	switch {
	case now.duration() <= rounding && math.Abs(now.start) > distinct:
		return SecondLength // an end would not lie after its start
	case !seen:
		return SecondUnknown
	case followsEnd && last.start > distinct && last.duration() > distinct && now.duration() > distinct:
		return SecondEnd
	case followsLength && math.Abs(last.start) > distinct:
		return SecondLength
	case followsLength && now.duration() < last.duration()/4:
		// The log starts at 0, so that both fit. Lengths that are nearly equal would make ends of
		// intervals that shrink suddenly.
		return SecondLength
	}
	return SecondUnknown
}

// guess returns how to read a log that proved nothing.
func (e *evidence) guess() Second {
	if e.last != nil && e.days {
		return SecondEnd
	}
	return SecondLength
}
