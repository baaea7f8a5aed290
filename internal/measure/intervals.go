package measure

import (
	"bytes"
	"fmt"
	"math"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// Intervals add up values in intervals, and write these as a log: the windows of package merge. An
// interval stays open until [Intervals.Close] says that none of its values can come any more. So
// the memory depends on the number of open intervals and tags. It is not safe for concurrent use.
type Intervals struct {
	w      *hdrlog.Writer
	layout histogram.Layout
	begin  func(w *hdrlog.Writer) error // writes comments
	base   int64                        // milliseconds since the epoch
	begun  bool
	done   int64 // intervals that end at or before this are written
	// first and last are the earliest and the latest time of a value. The times of values are
	// multiples of resolution, all in milliseconds.
	first, last, resolution int64
	open                    merge.Table[counts]
	series                  map[string]*series // by tag, as files spell it
	tags                    map[string]*series
	account                 *ledger.Account // of counts
	charge                  ledger.Charge
	bytes                   int // that counts take
	scratch                 histogram.Histogram
	decoder                 histogram.Decoder
	tag                     []byte
	alike                   []string
}

// A series is what is recorded with one tag.
type series struct {
	tag  []byte
	file string // its first spelling in a file
	last *counts
}

// Counts are the values of a tag and an interval.
type counts struct {
	merge.Window
	series *series
	few    []int64 // values that the sum does not have yet
	sum    merge.Sum
}

const (
	// maxFew is how many values are added to a sum together.
	maxFew = 512
	// spareBytes is how much memory counts take before sums are kept packed.
	spareBytes = 16 << 20
	// maxTags is how many tags there can be.
	maxTags = 100_000
)

// NewIntervals returns intervals of size milliseconds that are written to w, with a layout that is
// valid. Before the first one, begin writes comments. What the open ones take is charged to memory.
func NewIntervals(w *hdrlog.Writer, size int64, layout histogram.Layout, memory *ledger.Ledger, begin func(w *hdrlog.Writer) error) *Intervals {
	return &Intervals{
		account: memory.Open("tags, with their open intervals,", "choose fewer with -tag, or write intervals sooner with a smaller -late"),
		w:       w, layout: layout, begin: begin, done: never, open: merge.NewTable[counts](size),
		first: math.MaxInt64, last: never, resolution: 1000,
		series: make(map[string]*series), tags: make(map[string]*series),
	}
}

// Add counts a value in the interval that has a time. It reports whether that was possible:
// otherwise the interval is closed.
func (in *Intervals) Add(row *Row) (ok bool, err error) {
	at := row.Time / 1e6
	s := in.series[string(row.Tag)]
	if s == nil || row.Tag == nil {
		if s, err = in.newSeries(row.Tag); err != nil {
			return false, err
		}
	}
	c := s.last
	if c == nil || at < c.Start || c.End <= at {
		if merge.WindowOf(at, at, in.open.Size()).End <= in.done {
			return false, nil
		}
		c = in.open.At(s.tag, at, at, func(w merge.Window) *counts {
			in.bytes += 300 // or so, without values
			return &counts{Window: w, series: s}
		})
		s.last = c
	}
	in.first, in.last = min(in.first, at), max(in.last, at)
	if len(c.few) < cap(c.few) {
		c.few = append(c.few, row.Value)
		return true, nil
	}
	return true, in.grow(c, row.Value)
}

// grow adds a value for which there is no room.
func (in *Intervals) grow(c *counts, value int64) error {
	before := c.sum.Size() + 8*cap(c.few)
	if len(c.few) >= maxFew {
		if c.sum.Spare = 0; in.bytes < spareBytes {
			c.sum.Spare = 1 << 19 // to add to a histogram is quicker
		}
		if err := c.sum.AddHistogram(c.Start, c.End, in.histogram(c.few)); err != nil {
			return err
		}
		c.few = c.few[:0]
	}
	c.few = append(c.few, value)
	in.bytes += c.sum.Size() + 8*cap(c.few) - before
	return in.charge.Set(in.account, len(in.tags), in.bytes)
}

// histogram returns a histogram of values. It is valid until the next call.
func (in *Intervals) histogram(values []int64) *histogram.Histogram {
	in.scratch.Reset(in.layout)
	for _, value := range values {
		in.scratch.Record(value, 1)
	}
	return &in.scratch
}

// newSeries returns the series of a tag.
func (in *Intervals) newSeries(tag []byte) (*series, error) {
	key := "" // of untagged values
	if tag != nil {
		in.tag = AppendTag(append(in.tag[:0], '='), tag)
		key = string(in.tag)
	}
	s := in.tags[key]
	if s == nil {
		if len(in.tags) == maxTags {
			return nil, fmt.Errorf("more than %d tags: choose other columns with -tag, or none with -tag ''", maxTags)
		}
		s = &series{file: string(tag)}
		if tag != nil {
			s.tag = bytes.Clone(in.tag[1:])
		}
		in.tags[key] = s
	}
	if tag != nil {
		in.series[string(tag)] = s
	}
	if s.file != string(tag) && len(in.alike) < 10 {
		in.alike = append(in.alike, fmt.Sprintf("tags %q and %q are written as one, %s", s.file, tag, s.tag))
	}
	return s, nil
}

// Close writes the intervals that end at or before end, in milliseconds since the epoch. Nothing
// can be added to them any more. The first one begins at the time of the first value. If end is
// math.MaxInt64, the last one ends with the last value. So the rate of values is right.
func (in *Intervals) Close(end int64) error {
	in.done = max(in.done, end)
	for c := range in.open.Before(end) {
		if c.series.last == c {
			c.series.last = nil
		}
		in.bytes -= 300 + c.sum.Size() + 8*cap(c.few)
		h := in.histogram(c.few)
		if c.sum.Intervals() > 0 {
			err := c.sum.AddHistogram(c.Start, c.End, h)
			if err == nil {
				h, err = c.sum.Histogram(&in.scratch)
			}
			if err != nil {
				return err
			}
		}
		start := max(c.Start, min(in.first, c.End-in.resolution))
		if end == math.MaxInt64 {
			c.End = min(c.End, max(in.last+in.resolution, start+2)) // readers truncate: 1 ms may become 0
		}
		if err := in.write(c.series.tag, start, c.End, h); err != nil {
			return err
		}
	}
	return nil
}

// AddPayload writes an interval that has a histogram already.
func (in *Intervals) AddPayload(row *Row) error {
	if err := in.decoder.Decode(&in.scratch, row.Payload); err != nil {
		return err
	}
	if row.Tag != nil {
		in.tag = AppendTag(in.tag[:0], row.Tag)
		row.Tag = in.tag
	}
	return in.write(row.Tag, row.Time/1e6, (row.Time+row.Length)/1e6, &in.scratch)
}

func (in *Intervals) write(tag []byte, start, end int64, h *histogram.Histogram) error {
	if !in.begun {
		in.begun, in.base = true, start
		in.w.Version()
		if err := in.begin(in.w); err != nil {
			return err
		}
		in.w.BaseTime(float64(start) / 1000)
		in.w.StartTime(float64(start) / 1000)
		in.w.Legend()
	}
	return in.w.Interval(tag, float64(start-in.base)/1000, float64(end-start)/1000, h)
}

// Alike returns messages about tags of files that a log cannot distinguish.
func (in *Intervals) Alike() []string { return in.alike }

// Some reports whether an interval was written.
func (in *Intervals) Some() bool { return in.begun }
