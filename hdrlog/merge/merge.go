// Package merge merges intervals of logs by time: those of one tag that belong to the same window
// become one.
//
// # Windows
//
// A window is a span of absolute time [k*S, (k+1)*S), where S is its size and k a whole number. All
// times are integer milliseconds since the epoch. An interval belongs to the window that its middle
// lies in: the one with
//
//	k = floor((start + end) / (2*S))
//
// where start and end are those of [hdrlog.Interval.StartMillis] and [hdrlog.Interval.EndMillis],
// which truncate as the reference does. So each interval belongs to one window, whatever the clock
// and the timer of its writer add to its times. With S = 10,000:
//
//	START     LENGTH   start    end      window
//	10.000    10.000   10,000   20,000   [10,000, 20,000)
//	9.998     10.001    9,998   19,999   [10,000, 20,000)   a timer that is early
//	5.000     10.000    5,000   15,000   [10,000, 20,000)   a middle on an edge: the later window
//	4.999     10.000    4,999   14,999   [0, 10,000)
//	9.9995     0.001    9,999   10,000   [0, 10,000)
//	10.000     0.000   10,000   10,000   [10,000, 20,000)
//	0.000     60.000        0   60,000   [30,000, 40,000)   an interval is never divided
//
// # What several intervals become
//
//   - Start and end: the start of the one that starts first and the end of the one that ends last.
//     The middle of these lies in the window again, so that merging what was merged gives the same
//     windows.
//   - Counts: the sum, slot by slot. The sum has the most significant digits, the lowest lowest
//     discernible value and the smallest conversion ratio of all.
//   - MAX: the highest value of the sum, divided by [hdrlog.MaxRatio].
//
// One interval alone does not change: its times, its MAX and its payload stay byte for byte, but a
// payload that is not of version 2 and compressed is encoded again.
//
// Integer and double histograms do not add up. Neither do double histograms whose values lie too
// far apart for one sum, nor counts that exceed an int64. Each is a [SumError].
//
// # The parts
//
// [Windows] merges logs whole or while they are read. [Live] decides when the windows of logs that
// are still written are complete. [Sum] is what the intervals of one tag and window add up to. It
// is a combiner for pipelines: [Sum.Merge] is associative and commutative, an empty Sum changes
// nothing, and a Sum can be sent as bytes. [Moving] is a moving window.
package merge

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"

	"hdrkit/hdrlog"
)

// A Window is a span of time: from Start up to End, but without that. Both are milliseconds since
// the epoch.
type Window struct{ Start, End int64 }

// WindowOf returns the window of size milliseconds to which an interval from start to end belongs.
// Size is at least 1. Times are more than 2^60 away from the ends of an int64.
func WindowOf(start, end, size int64) Window {
	k := floorDiv(start+end, 2*size)
	return Window{k * size, (k + 1) * size}
}

// floorDiv divides and rounds down. B is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Windows merges intervals by tag and window. It holds the open windows, which can still take
// intervals. The memory of an open window is at most a small multiple of the text of its intervals.
// It is not safe for concurrent use.
type Windows struct {
	size   int64
	open   []*openWindow // in order of time
	free   []*Merged
	key    []byte // memory of the key that is looked up
	spares int    // number of open sums that have spare memory
}

// maxSpares is how many open sums may be histograms from their second interval on: 16 MB in all.
// Those of an ordinary log are histograms then before their payloads justify it, which is quicker.
const maxSpares = 32

// openWindow has the sums of a window by tag: those of [Windows.keyOf].
type openWindow struct {
	Window
	tags map[string]*Merged
}

// Merged is what the intervals of a tag in a window add up to.
type Merged struct {
	Window Window
	// Tag is nil if the intervals are untagged.
	Tag []byte
	// LogStart is when the log of the first interval added starts, in seconds since the epoch.
	LogStart float64
	Sum

	spared bool // it is one of the spares of its Windows
}

// NewWindows returns an empty Windows for windows of size milliseconds. A size below 1 counts as 1.
func NewWindows(size int64) *Windows { return &Windows{size: max(size, 1)} }

// Size returns the size of the windows in milliseconds.
func (ws *Windows) Size() int64 { return max(ws.size, 1) }

// Add adds an interval to its window. The error is that of [Sum.Add]; nothing is added then.
func (ws *Windows) Add(i *hdrlog.Interval) error {
	return ws.add(i.Tag, i.LogStart, i.StartMillis(), i.EndMillis(), func(m *Merged) error { return m.Add(i) })
}

// Merge adds a sum to the window that its times belong to. LogStart is that of [Merged]. The error
// is that of [Sum.Merge]; nothing is added then. An empty sum changes nothing.
func (ws *Windows) Merge(tag []byte, logStart float64, s *Sum) error {
	if s.Intervals() == 0 {
		return nil
	}
	return ws.add(tag, logStart, s.Start, s.End, func(m *Merged) error { return m.Merge(s) })
}

// add calls add with what the intervals of the tag add up to in the window of the two times. It
// opens a window only if that succeeds.
func (ws *Windows) add(tag []byte, logStart float64, start, end int64, add func(*Merged) error) error {
	at := WindowOf(start, end, ws.Size())
	n, found := slices.BinarySearchFunc(ws.open, at, func(w *openWindow, at Window) int { return cmp.Compare(w.Start, at.Start) })
	key := ws.keyOf(tag)
	if found {
		if m := ws.open[n].tags[string(key)]; m != nil {
			return add(m)
		}
	}
	m := ws.take()
	if err := add(m); err != nil {
		ws.release(m)
		return err
	}
	if !found {
		ws.open = slices.Insert(ws.open, n, &openWindow{at, make(map[string]*Merged)})
	}
	m.Window, m.Tag, m.LogStart = at, bytes.Clone(tag), logStart
	ws.open[n].tags[string(key)] = m
	return nil
}

// keyOf returns a key of a tag. The order of keys is that of tags, with none first. It is valid
// until the next call.
func (ws *Windows) keyOf(tag []byte) []byte {
	ws.key = ws.key[:0]
	if tag != nil {
		ws.key = append(append(ws.key, '='), tag...)
	}
	return ws.key
}

// take returns an empty Merged.
func (ws *Windows) take() *Merged {
	m := new(Merged)
	if n := len(ws.free) - 1; n >= 0 {
		m, ws.free = ws.free[n], ws.free[:n]
	}
	if ws.spares < maxSpares {
		ws.spares++
		m.spared, m.spare = true, spareBytes
	}
	return m
}

// release takes back what take returned.
func (ws *Windows) release(m *Merged) {
	if m.spared {
		ws.spares--
	}
	m.spared, m.spare = false, 0
	m.Reset()
	ws.free = append(ws.free, m)
}

// First returns the earliest window that is open. It returns false if none is.
func (ws *Windows) First() (Window, bool) {
	if len(ws.open) == 0 {
		return Window{}, false
	}
	return ws.open[0].Window, true
}

// Before closes the open windows that end at or before end, in milliseconds since the epoch, and
// iterates over what their intervals add up to: in order of time, then of tags, untagged intervals
// first. Each is valid until the next one is asked for. What the loop does not reach stays open.
func (ws *Windows) Before(end int64) iter.Seq[*Merged] {
	return func(yield func(*Merged) bool) {
		for len(ws.open) > 0 && ws.open[0].End <= end {
			w := ws.open[0]
			keys := make([]string, 0, len(w.tags))
			for key := range w.tags {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			for n, key := range keys {
				m := w.tags[key]
				delete(w.tags, key)
				if n == len(keys)-1 {
					ws.open = slices.Delete(ws.open, 0, 1)
				}
				more := yield(m)
				ws.release(m)
				if !more {
					return
				}
			}
		}
	}
}

// All closes all windows, as [Windows.Before] does.
func (ws *Windows) All() iter.Seq[*Merged] { return ws.Before(math.MaxInt64) }
