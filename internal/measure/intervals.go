package measure

import (
	"bytes"
	"cmp"
	"fmt"
	"math"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
)

// A series is what is recorded with one tag.
type series struct {
	tag  []byte
	last *counts
}

// Counts are the values of a tag and an interval.
type counts struct {
	merge.Span
	series *series
	few    []int64 // values that the sum does not have yet
	sum    merge.Sum
}

const (
	// maxFew is how many values are added to a sum together.
	maxFew = 512
	// manyBytes is how many bytes sums take together before new ones are compacted.
	manyBytes = 16 << 20
	// maxTags is how many tags there can be.
	maxTags = 100_000
)

// count counts a value in the interval that has a time. It reports whether that was possible:
// otherwise the interval is closed.
func (r *Recorder) count(row *Row) (ok bool, err error) {
	at := row.Time / 1e6
	s := r.series[string(row.Tag)]
	if s == nil || row.Tag == nil {
		if s, err = r.newSeries(row.Tag); err != nil {
			return false, err
		}
	}
	c := s.last
	if c == nil || at < c.Start || c.End <= at {
		if merge.WindowOf(at, at, r.open.Size()).End <= r.done {
			return false, nil
		}
		c = r.open.At(s.tag, at, at, func(w merge.Span) *counts {
			r.bytes += 300 // or so, without values
			return &counts{Span: w, series: s}
		})
		s.last = c
	}
	r.first, r.last = min(r.first, at), max(r.last, at)
	if len(c.few) < cap(c.few) {
		c.few = append(c.few, row.Value)
		return true, nil
	}
	return true, r.grow(c, row.Value)
}

// grow adds a value for which there is no room.
func (r *Recorder) grow(c *counts, value int64) error {
	before := c.sum.Size() + 8*cap(c.few)
	if len(c.few) >= maxFew {
		if c.sum.Intervals() < 2 && r.bytes > manyBytes {
			c.sum.Compact()
		}
		if err := c.sum.AddHistogram(c.Start, c.End, r.histogram(c.few)); err != nil {
			return err
		}
		c.few = c.few[:0]
	}
	c.few = append(c.few, value)
	r.bytes += c.sum.Size() + 8*cap(c.few) - before
	return r.charge.Set(r.account, len(r.tags), r.bytes)
}

// histogram returns a histogram of values. It is valid until the next call.
func (r *Recorder) histogram(values []int64) *histogram.Histogram {
	r.scratch.Reset(r.layout)
	for _, value := range values {
		r.scratch.Record(value, 1)
	}
	return &r.scratch
}

// newSeries returns the series of a tag.
func (r *Recorder) newSeries(tag []byte) (*series, error) {
	key := "" // of untagged values
	if tag != nil {
		r.key = AppendTag(append(r.key[:0], '='), tag)
		key = string(r.key)
	}
	s := r.tags[key]
	if s == nil {
		if len(r.tags) == maxTags {
			return nil, fmt.Errorf("more than %d tags: choose other columns with -tag, or none with -tag ''", maxTags)
		}
		s = new(series)
		if tag != nil {
			s.tag = bytes.Clone(r.key[1:])
		}
		r.tags[key] = s
	}
	if tag != nil {
		r.series[string(tag)] = s
	}
	return s, nil
}

// write writes the intervals that end at or before end, in milliseconds since the epoch. Nothing
// can be added to them any more. The first one begins at the time of the first value. If end is
// math.MaxInt64, the last one ends with the last value. So the rate of values is right.
func (r *Recorder) write(end int64) error {
	r.done = max(r.done, end)
	for c := range r.open.Before(end) {
		if c.series.last == c {
			c.series.last = nil
		}
		r.bytes -= 300 + c.sum.Size() + 8*cap(c.few)
		h := r.histogram(c.few)
		if c.sum.Intervals() > 0 {
			err := c.sum.AddHistogram(c.Start, c.End, h)
			if err == nil {
				h, err = c.sum.Histogram(&r.scratch)
			}
			if err != nil {
				return err
			}
		}
		stamp := r.resolution
		if stamp > r.open.Size() {
			stamp = 1 // the times of values that begin an interval are its own
		}
		start := max(c.Start, min(r.first, c.End-stamp))
		if end == math.MaxInt64 && r.last < c.End {
			c.End = max(r.last+r.resolution, min(c.End, start+2)) // readers truncate: 1 ms may become 0
		}
		if err := r.writeInterval(c.series.tag, start, c.End, h); err != nil {
			return err
		}
	}
	return nil
}

// addPayload writes an interval that has a histogram already.
func (r *Recorder) addPayload(row *Row) error {
	if err := r.decoder.Decode(&r.scratch, row.Payload); err != nil {
		return err
	}
	if row.Tag != nil {
		r.key = AppendTag(r.key[:0], row.Tag)
		row.Tag = r.key
	}
	return r.writeInterval(row.Tag, row.Time/1e6, (row.Time+row.Length)/1e6, &r.scratch)
}

func (r *Recorder) writeInterval(tag []byte, start, end int64, h *histogram.Histogram) error {
	if !r.begun {
		r.begun, r.base = true, start
		seconds := float64(start) / 1000
		if err := cmp.Or(r.w.Version(), r.header(r.w), r.w.BaseTime(seconds), r.w.StartTime(seconds), r.w.Legend()); err != nil {
			return err
		}
	}
	return r.w.Interval(tag, float64(start-r.base)/1000, float64(end-start)/1000, h)
}

// WholeSeconds reports whether all times of values were whole seconds. Then the first value may
// have come up to a second later than it says, and the last one a second before the log ends.
func (r *Recorder) WholeSeconds() bool { return r.last != never && r.resolution == 1000 }

// Some reports whether an interval was written.
func (r *Recorder) Some() bool { return r.begun }
