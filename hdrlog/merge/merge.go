// Package merge adds up the intervals of logs: the intervals of one tag in one window of time
// become one interval.
//
// # Windows
//
// A window is a span of absolute time [k*S, (k+1)*S), where S is its size and k a whole number. All
// times are integer milliseconds since the epoch. An interval belongs to the window that contains
// its middle:
//
//	k = floor((start + end) / (2*S))
//
// Here start is [hdrlog.Interval.StartMillis] and end is [hdrlog.Interval.EndMillis], which
// truncate as the reference does. So each interval belongs to one window, even if the timer of its
// writer is early or late. With S = 10,000:
//
//	START     LENGTH   start    end      window
//	10.000    10.000   10,000   20,000   [10,000, 20,000)
//	9.998     10.001    9,998   19,999   [10,000, 20,000)   the timer is early
//	5.000     10.000    5,000   15,000   [10,000, 20,000)   the middle is an edge: the later window
//	4.999     10.000    4,999   14,999   [0, 10,000)
//	9.9995     0.001    9,999   10,000   [0, 10,000)
//	10.000     0.000   10,000   10,000   [10,000, 20,000)
//	0.000     60.000        0   60,000   [30,000, 40,000)   an interval is never divided
//
// # Merged intervals
//
//   - Start and end: the earliest start and the latest end of all intervals. The middle between
//     them lies in the window, so merging the merged log again gives the same windows.
//   - Counts: the sum, slot by slot. Of all intervals, the sum has the largest number of
//     significant digits, the smallest lowest discernible value and the smallest conversion ratio.
//   - MAX: the highest value of the sum, divided by 1,000,000.
//
// A window of one interval has its times, MAX and payload byte for byte. Only a payload that is not
// of version 2 and compressed is encoded again.
//
// A [SumError] reports intervals that do not add up: integer with double histograms, double
// histograms whose values lie too far apart for one sum, and counts above an int64.
//
// # Windows that widen
//
// The commands have windows that widen when there are too many, or when memory is short: for
// confidence, maxima, pictures and histories. All of them obey these rules:
//
//   - Each size is a multiple of the size before, so each window lies within one larger window.
//   - The middle, or the start, of the merged intervals lies in the window.
//   - A window has a sum or a maximum, which do not depend on the order or grouping of additions.
//
// So windows that widened equal windows that had this size from the first interval on, in any order
// of intervals and with any number of workers. One test checks all kinds of windows.
//
// # The parts
//
// [Windows] merges logs by window:
//
//	minutes := merge.NewWindows(60_000)
//	for interval, err := range log.Intervals() {
//		if err == nil {
//			err = minutes.Add(interval)
//		}
//		...
//	}
//	for m := range minutes.All() {
//		h, err := m.Histogram(nil)
//		...
//		fmt.Println(m.Window.Start, string(m.Tag), h.TotalCount())
//	}
//
// To write a log of merged intervals, give the fields of [Sum.AppendFields] to
// [hdrlog.Writer.WriteEncoded]. AppendFields takes the base time, in milliseconds, that
// [hdrlog.Writer.BaseTime] has written:
//
//	w := hdrlog.NewWriter(file)
//	w.BaseTime(0)
//	...
//	fields, err = m.AppendFields(fields[:0], 0)
//	err = w.WriteEncoded(hdrlog.StandardTag(m.Tag), fields)
//	...
//	err = w.Flush()
//
// [Sum] is the sum of the intervals of one tag and window. It is a combiner for pipelines:
// [Sum.Merge] is associative and commutative, an empty Sum changes nothing, and a Sum can be sent
// as bytes. [Moving] is a moving window. [Rates] have the counts and times that rates are made of.
package merge

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"hdrkit/hdrlog"
)

// A Table has an entry of type T for each tag in each open window. A window is open until
// [Table.Before] takes it out, because no later interval can belong to it. [Windows] is a Table of
// sums; other packages have tables with other entries. A Table is not safe for concurrent use. Make
// it with [NewTable].
type Table[T any] struct {
	size int64
	// open has the open windows, and byStart finds a window by its start. Inserting early windows
	// in order would move all later ones each time, so insert appends them, and sorted sorts open.
	open     []*openWindow[T]
	byStart  map[int64]*openWindow[T]
	unsorted bool
	next     int64  // earliest end of an open window, if there is one
	key      []byte // scratch memory for AppendKey
}

// openWindow is an open window of a [Table]. It has an entry for each key of [AppendKey].
type openWindow[T any] struct {
	Span
	tags map[string]*T
}

// NewTable returns a table of windows of size milliseconds. A size below 1 counts as 1.
func NewTable[T any](size int64) Table[T] { return Table[T]{size: max(size, 1)} }

// Size returns the size of the windows in milliseconds.
func (t *Table[T]) Size() int64 { return t.size }

// At returns the entry of a tag in the window of an interval from start to end. The tag is nil for
// an untagged interval. If there is no entry, At calls add with the span of the window. It stores
// and returns the new entry, or returns nil if add returns nil.
func (t *Table[T]) At(tag []byte, start, end int64, add func(Span) *T) *T {
	at := WindowOf(start, end, max(t.size, 1))
	t.key = AppendKey(t.key[:0], tag)
	if w := t.byStart[at.Start]; w != nil {
		if e := w.tags[string(t.key)]; e != nil {
			return e
		}
	}
	e := add(at)
	if e == nil {
		return nil
	}
	w := t.byStart[at.Start]
	if w == nil {
		w = t.insert(at)
	}
	w.tags[string(t.key)] = e
	return e
}

func (t *Table[T]) insert(at Span) *openWindow[T] {
	w := &openWindow[T]{at, make(map[string]*T)}
	if t.byStart == nil {
		t.byStart = make(map[int64]*openWindow[T])
	}
	t.byStart[at.Start] = w
	last := len(t.open) - 1
	if last < 0 || at.End < t.next {
		t.next = at.End
	}
	if last >= 0 && at.Start < t.open[last].Start {
		t.unsorted = true
	}
	t.open = append(t.open, w)
	return w
}

// sorted returns the open windows in order of time.
func (t *Table[T]) sorted() []*openWindow[T] {
	if t.unsorted {
		slices.SortFunc(t.open, func(a, b *openWindow[T]) int { return cmp.Compare(a.Start, b.Start) })
		t.unsorted = false
	}
	return t.open
}

// keys returns the sorted keys of the window. A window can have a million keys, so keys allocates
// their memory at once.
func (w *openWindow[T]) keys() []string {
	keys := slices.AppendSeq(make([]string, 0, len(w.tags)), maps.Keys(w.tags))
	slices.Sort(keys)
	return keys
}

func (t *Table[T]) remove(w *openWindow[T]) {
	delete(t.byStart, w.Start)
	open := t.sorted()
	at := slices.Index(open, w)
	if at == 0 { // the usual case, which moves no other window
		open[0] = nil
		t.open = open[1:]
	} else {
		t.open = slices.Delete(open, at, at+1)
	}
	if len(t.open) > 0 {
		t.next = t.open[0].End
	}
}

// AppendKey appends a key for a tag, for maps that have tags and untagged intervals. The key of
// nil, for untagged intervals, is empty. Sorted keys are in the order of their tags, untagged
// first.
func AppendKey(key, tag []byte) []byte {
	if tag == nil {
		return key
	}
	return append(append(key, '='), tag...)
}

// Before takes out the windows that end at or before a time, in milliseconds since the epoch. They
// are complete if no later interval starts before that time. Before iterates over their entries in
// order of time, then of tags, untagged first. If the loop breaks, the remaining entries stay. If
// the loop adds entries to these windows, it reaches them, too.
func (t *Table[T]) Before(time int64) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for len(t.open) > 0 && t.next <= time {
			w := t.sorted()[0]
			for _, key := range w.keys() {
				e := w.tags[key]
				delete(w.tags, key)
				if len(w.tags) == 0 {
					t.remove(w)
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Open iterates over the entries of the open windows in order of time, then of tags, untagged
// first.
func (t *Table[T]) Open() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, w := range t.sorted() {
			for _, key := range w.keys() {
				if !yield(w.tags[key]) {
					return
				}
			}
		}
	}
}

// Len returns the number of open windows.
func (t *Table[T]) Len() int { return len(t.open) }

// Next returns the end of the earliest open window, or the largest int64 if no window is open.
func (t *Table[T]) Next() int64 {
	if len(t.open) == 0 {
		return math.MaxInt64
	}
	return t.next
}

// Windows merges intervals by tag and window. It is not safe for concurrent use.
type Windows struct {
	table      Table[Merged]
	bytes      int     // memory of the open windows
	spare      []spare // closed entries whose memory new entries reuse
	spareBytes int
}

// spare is a closed entry whose memory a new entry can reuse, with its size in bytes.
type spare struct {
	merged *Merged
	bytes  int
}

// maxSpare is the largest memory of closed entries, in bytes, that is kept for reuse. After a
// window of a million tags, later windows seldom need as much again.
const maxSpare = 4 << 20

// compactBytes is the memory of open windows, in bytes, from which on new sums are compacted.
const compactBytes = 16 << 20

// entryBytes is the approximate memory, in bytes, of an entry of a window without its sum and its
// tag.
const entryBytes = 60

// Merged is the sum of the intervals of one tag in one window. Start and End of the sum can lie
// outside of the window: an interval belongs to the window that contains its middle.
type Merged struct {
	Window Span
	// Tag is nil if the intervals are untagged.
	Tag []byte
	// LogStart is the start time of the log that the first added interval comes from, in seconds
	// since the epoch.
	LogStart float64
	Sum
	// Recorded stays zero, unless the caller sets it from [Rates.Take].
	Recorded WindowCount

	kept bool // the caller called Keep
}

// NewWindows returns an empty Windows for windows of size milliseconds. A size below 1 counts as 1.
func NewWindows(size int64) *Windows { return &Windows{table: NewTable[Merged](size)} }

// Size returns the size of the windows in milliseconds.
func (ws *Windows) Size() int64 { return ws.table.Size() }

// Bytes returns the approximate memory of the open windows in bytes.
func (ws *Windows) Bytes() int { return ws.bytes }

// Add adds an interval to its window. The error is that of [Sum.Add]; nothing is added then.
func (ws *Windows) Add(i *hdrlog.Interval) error {
	var s Sum
	if err := s.Add(i); err != nil {
		return err
	}
	return ws.Merge(i.Tag, i.LogStart, &s)
}

// Merge adds a sum to the window that contains the middle of the sum. Merge stores logStart in a
// new [Merged]. The error is that of [Sum.Merge]; nothing is added then. An empty sum changes
// nothing.
func (ws *Windows) Merge(tag []byte, logStart float64, s *Sum) (err error) {
	if s.Intervals() == 0 {
		return nil
	}
	added := false
	merge := func(m *Merged) {
		before := m.Sum.Size()
		if m.Intervals() < 2 && ws.bytes > compactBytes {
			m.Compact()
		}
		err = m.Merge(s)
		ws.bytes += m.Sum.Size() - before
	}
	m := ws.table.At(tag, s.Start, s.End, func(at Span) *Merged {
		m := ws.empty()
		added = true
		ws.bytes += m.size(tag)
		merge(m)
		if err != nil {
			ws.bytes -= m.size(tag)
			ws.release(m)
			return nil
		}
		m.Window = at
		m.Tag = bytes.Clone(tag)
		m.LogStart = logStart
		return m
	})
	if !added {
		merge(m)
	}
	return err
}

// size returns the approximate memory of m in bytes. Both m and the key of its table have the tag.
func (m *Merged) size(tag []byte) int { return m.Sum.Size() + entryBytes + 2*len(tag) }

// empty returns an entry without intervals. It reuses a released entry if there is one.
func (ws *Windows) empty() *Merged {
	n := len(ws.spare) - 1
	if n < 0 {
		return new(Merged)
	}
	s := ws.spare[n]
	ws.spare = ws.spare[:n]
	ws.spareBytes -= s.bytes
	return s.merged
}

// release keeps the memory of a closed entry for reuse, unless the caller keeps the entry.
func (ws *Windows) release(m *Merged) {
	bytes := m.Sum.Size()
	if m.kept || ws.spareBytes+bytes > maxSpare {
		return
	}
	m.counts.spare = nil // Size does not include its memory
	m.Reset()
	m.Recorded = WindowCount{}
	ws.spare = append(ws.spare, spare{m, bytes})
	ws.spareBytes += bytes
}

// Keep makes m valid for as long as the caller likes. It is for callers that write no log: m loses
// the text of a single interval, which takes as much memory as its line.
func (m *Merged) Keep() {
	m.kept = true
	m.original = nil
}

// Len returns the number of open windows.
func (ws *Windows) Len() int { return ws.table.Len() }

// Window returns the span of open window n, from 0 to below [Windows.Len], in order of time.
func (ws *Windows) Window(n int) Span { return ws.table.sorted()[n].Span }

// Before closes the windows that end at or before a time, and iterates over their entries as
// [Table.Before] does. Each entry is valid until the next step of the iteration, unless the caller
// calls [Merged.Keep].
func (ws *Windows) Before(time int64) iter.Seq[*Merged] {
	return func(yield func(*Merged) bool) {
		for m := range ws.table.Before(time) {
			ws.bytes -= m.size(m.Tag)
			more := yield(m)
			ws.release(m)
			if !more {
				return
			}
		}
	}
}

// All closes all windows, and iterates over their entries as [Windows.Before] does.
func (ws *Windows) All() iter.Seq[*Merged] { return ws.Before(math.MaxInt64) }
