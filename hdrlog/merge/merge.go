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
//   - MAX: the highest value of the sum, divided by 1,000,000.
//
// One interval alone does not change: its times, its MAX and its payload stay byte for byte, but a
// payload that is not of version 2 and compressed is encoded again.
//
// Integer and double histograms do not add up. Neither do double histograms whose values lie too
// far apart for one sum, nor counts that exceed an int64. Each is a [SumError].
//
// # Windows that widen
//
// The commands keep several kinds of windows that become longer when there are too many or when
// memory is short: those of confidence, of maxima, of pictures and of histories. For all of them:
//
//   - Each size is a multiple of the one before, so that windows nest: the one of an interval lies
//     in its next one.
//   - The middle, or the start, of what was added up lies in the window, so that it is found again.
//   - What a window has is a sum or a maximum: neither the order nor the grouping of additions
//     changes it.
//
// So the windows of a size have what they would have if they had been of that size from the first
// interval on, in any order and with any number of workers. One test checks that for all of them.
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
// [Sum] is what the intervals of one tag and window add up to. It is a combiner for pipelines:
// [Sum.Merge] is associative and commutative, an empty Sum changes nothing, and a Sum can be sent
// as bytes. [Moving] is a moving window. [Rates] say what to divide the values of a window by.
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

// A Table has an entry for each tag in each open window. A window is open as long as it can still
// take intervals. All that merges by time goes through a Table, for packages that make something
// other than sums of intervals. What differs is where the time of [Table.Before] comes from. It is
// not safe for concurrent use. Make one with [NewTable].
type Table[T any] struct {
	size int64
	// open has the windows, and byStart finds them. To insert a window that comes before
	// others would move these each time. So it is appended, and open is sorted when that matters.
	open     []*openWindow[T]
	byStart  map[int64]*openWindow[T]
	unsorted bool
	next     int64  // when the first window ends, if there is one
	key      []byte // memory of the key that is looked up
}

// openWindow has the entries of a window by tag: those of [AppendKey].
type openWindow[T any] struct {
	Span
	tags map[string]*T
}

// NewTable returns a table of windows of size milliseconds. A size below 1 counts as 1.
func NewTable[T any](size int64) Table[T] { return Table[T]{size: max(size, 1)} }

// Size returns the size of the windows in milliseconds.
func (t *Table[T]) Size() int64 { return t.size }

// At returns the entry of a tag in the window of an interval from start to end. The tag may be nil.
// If there is no entry, At calls add with the window, and keeps and returns its result, unless that
// is nil.
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

// insert opens a window.
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

// keys returns the keys of the window, sorted. There may be a million, so they are collected in
// memory of the right size.
func (w *openWindow[T]) keys() []string {
	keys := slices.AppendSeq(make([]string, 0, len(w.tags)), maps.Keys(w.tags))
	slices.Sort(keys)
	return keys
}

// remove takes an open window out.
func (t *Table[T]) remove(w *openWindow[T]) {
	delete(t.byStart, w.Start)
	open := t.sorted()
	at := slices.Index(open, w)
	if at == 0 { // the usual case: nothing moves
		open[0] = nil
		t.open = open[1:]
	} else {
		t.open = slices.Delete(open, at, at+1)
	}
	if len(t.open) > 0 {
		t.next = t.open[0].End
	}
}

// AppendKey appends a key of a tag. The order of keys is that of tags, with none first.
func AppendKey(key, tag []byte) []byte {
	if tag == nil {
		return key
	}
	return append(append(key, '='), tag...)
}

// Before takes the windows out that end at or before a time, in milliseconds since the epoch: they
// are complete if no later interval starts before that time. It iterates over their entries in
// order of time, then of tags, no tag first. What the loop does not reach stays. The loop also
// reaches what it adds itself to these windows.
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

// Open iterates over the entries of the open windows, in order of time, then of tags, no tag first.
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

// Window returns the open window with a number from 0 to below [Table.Len], in order of time.
func (t *Table[T]) Window(n int) Span { return t.sorted()[n].Span }

// Next returns when the first open window ends, the latest time of all if none is open.
func (t *Table[T]) Next() int64 {
	if len(t.open) == 0 {
		return math.MaxInt64
	}
	return t.next
}

// Windows merges intervals by tag and window. It is not safe for concurrent use.
type Windows struct {
	table      Table[Merged]
	bytes      int
	spare      []spare // memory for windows to come
	spareBytes int
}

// A spare has memory of so many bytes.
type spare struct {
	merged *Merged
	bytes  int
}

// mostSpare is the number of bytes that are kept for windows to come. After a window of a million
// tags most of them never come.
const mostSpare = 4 << 20

// manyBytes is twice the number of bytes from which on new sums are compacted: the owner of the
// windows needs memory, too.
const manyBytes = 32 << 20

// entryBytes is about the memory of an entry of a window without its sum and without its tag, which
// it has twice.
const entryBytes = 60

// Merged is what the intervals of a tag in a window add up to. Window is the window. Start and End,
// of the sum, are those of its intervals, which may begin in the window before or end in the next.
type Merged struct {
	Window Span
	// Tag is nil if the intervals are untagged.
	Tag []byte
	// LogStart is when the log of the first interval added starts, in seconds since the epoch.
	LogStart float64
	Sum
	// Recorded is for callers that take it from [Rates].
	Recorded Recorded

	kept bool // a caller called Keep
}

// NewWindows returns an empty Windows for windows of size milliseconds. A size below 1 counts as 1.
func NewWindows(size int64) *Windows { return &Windows{table: NewTable[Merged](size)} }

// Size returns the size of the windows in milliseconds.
func (ws *Windows) Size() int64 { return ws.table.Size() }

// Bytes returns about how many bytes the open windows take.
func (ws *Windows) Bytes() int { return ws.bytes }

// Add adds an interval to its window. The error is that of [Sum.Add]; nothing is added then.
func (ws *Windows) Add(i *hdrlog.Interval) error {
	var s Sum
	if err := s.Add(i); err != nil {
		return err
	}
	return ws.Merge(i.Tag, i.LogStart, &s)
}

// Merge adds a sum to the window that its times belong to. LogStart is that of [Merged]. The error
// is that of [Sum.Merge]; nothing is added then. An empty sum changes nothing.
func (ws *Windows) Merge(tag []byte, logStart float64, s *Sum) (err error) {
	if s.Intervals() == 0 {
		return nil
	}
	added := false
	merge := func(m *Merged) {
		before := m.Sum.Size()
		if m.Intervals() < 2 && 2*ws.bytes > manyBytes {
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

// size returns about how many bytes m takes with a tag.
func (m *Merged) size(tag []byte) int { return m.Sum.Size() + entryBytes + 2*len(tag) }

// empty returns an entry without intervals.
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

// release takes back what is not open any more.
func (ws *Windows) release(m *Merged) {
	bytes := m.Sum.Size()
	if m.kept || ws.spareBytes+bytes > mostSpare {
		return
	}
	m.counts.spare = nil // its memory is not in the size
	m.Reset()
	m.Recorded = Recorded{}
	ws.spare = append(ws.spare, spare{m, bytes})
	ws.spareBytes += bytes
}

// Keep is for callers who keep m for longer than an iteration over windows says, and who write no
// log: it leaves out MAX and the payload of a single interval as they stand in its log, which take
// as much memory as the line.
func (m *Merged) Keep() {
	m.kept = true
	m.original = nil
}

// Len returns the number of open windows.
func (ws *Windows) Len() int { return ws.table.Len() }

// Window returns the open window with a number from 0 to below [Windows.Len], in order of time.
func (ws *Windows) Window(n int) Span { return ws.table.Window(n) }

// Open iterates over what the open windows add up to so far, as [Table.Open] does. Each is valid
// until an interval is added or a window is closed.
func (ws *Windows) Open() iter.Seq[*Merged] { return ws.table.Open() }

// Before closes the windows that [Table.Before] takes out, and iterates over what their intervals
// add up to. Each is valid until the next one is asked for, unless it is kept ([Merged.Keep]).
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

// All closes all windows, as [Windows.Before] does.
func (ws *Windows) All() iter.Seq[*Merged] { return ws.Before(math.MaxInt64) }
