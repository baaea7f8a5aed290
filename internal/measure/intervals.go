package measure

import (
	"bytes"
	"cmp"
	"fmt"
	"math"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/logline"
)

// openIntervals are the open intervals of a recorder, and the log to which it writes them.
type openIntervals struct {
	out          logOutput
	layout       histogram.Layout
	open         merge.Table[tagInterval]
	tags         map[string]*tagEntry // entries of tags, by key
	writtenUntil int64                // intervals that end at or before this time are written, in milliseconds since the epoch
	timeless     bool                 // no row has a time, so intervals have no length
	hasTimes     bool                 // a histogram has a time
	// reopened reports that a row came after its interval was written, and so got another interval
	// of the same time.
	reopened bool
	times    valueTimes
	memory   memory
	scratch  histogram.Histogram
	decoder  histogram.Decoder
	tagKey   []byte
}

// valueTimes are the earliest and the latest time of a value. The times of all values are multiples
// of resolution. All three are in milliseconds.
type valueTimes struct{ earliest, latest, resolution int64 }

// memory is what tags and open intervals take.
type memory struct {
	bytes   int
	account *ledger.Account
	charge  ledger.Charge
}

// update charges the bytes. tags is the number of tags.
func (m *memory) update(tags int) error { return m.charge.Set(m.account, tags, m.bytes) }

// A logOutput writes the log.
type logOutput struct {
	w           *hdrlog.Writer
	source      *Reader // comments name the format of this file
	sourceAtEnd bool
	hasHead     bool
	base        int64 // milliseconds since the epoch
}

// A tagEntry is a tag with the interval of its last value.
type tagEntry struct {
	tag          []byte
	lastInterval *tagInterval
}

// A tagInterval has the values of a tag in an open interval.
type tagInterval struct {
	merge.Span
	entry   *tagEntry
	pending []int64 // values that are not in sum yet
	sum     merge.Sum
}

const (
	// maxPending is the number of values that are added to a sum together.
	maxPending = 512
	// New sums are compacted while the open intervals take more than compactFrom bytes.
	compactFrom = 16 << 20
	// maxTags is the largest number of tags.
	maxTags = 100_000
	// entryBytes and intervalBytes are the approximate sizes of a tagEntry and a tagInterval in
	// bytes, without the text of the tag and without values.
	entryBytes, intervalBytes = 200, 300
)

func (r *openIntervals) init(w *hdrlog.Writer, o *Recording) {
	r.out.w = w
	r.layout = o.Layout
	r.memory.account = o.Memory.Open("tags, with their open intervals,",
		"record fewer with -tag of hdrrec, sort the rows by time")
	r.open = merge.NewTable[tagInterval](o.Size)
	r.tags = make(map[string]*tagEntry)
	r.writtenUntil = never
	r.times.earliest = math.MaxInt64
	r.times.latest = never
	r.times.resolution = 1000
}

// drop removes the open intervals, and returns their memory.
func (r *openIntervals) drop() {
	r.open = merge.NewTable[tagInterval](r.open.Size())
	clear(r.tags)
	r.memory.bytes = 0
	r.memory.charge.Set(r.memory.account, 0, 0)
}

// endOf returns the end of the interval that contains a time, in milliseconds.
func (r *openIntervals) endOf(at int64) int64 { return merge.WindowOf(at, at, r.open.Size()).End }

// addValue counts the value of a row in the interval of its time.
func (r *openIntervals) addValue(row *Row) (err error) {
	at := row.Time / 1e6
	s, err := r.entryOf(row.Tag)
	if err != nil {
		return err
	}
	c := s.lastInterval
	if c == nil || at < c.Start || c.End <= at {
		c = r.open.At(s.tag, at, at, func(w merge.Span) *tagInterval {
			r.memory.bytes += intervalBytes
			r.reopened = r.reopened || w.End <= r.writtenUntil
			return &tagInterval{Span: w, entry: s}
		})
		s.lastInterval = c
	}
	r.times.earliest, r.times.latest = min(r.times.earliest, at), max(r.times.latest, at)
	if row.Count != 1 {
		return r.addMany(c, row)
	}
	if len(c.pending) < cap(c.pending) {
		c.pending = append(c.pending, row.Value)
		return nil
	}
	return r.flushPending(c, row.Value)
}

// flushPending adds a value whose interval has no space for one. It grows pending, or adds the
// pending values to the sum.
func (r *openIntervals) flushPending(c *tagInterval, value int64) error {
	before := c.sum.Size() + 8*cap(c.pending)
	if len(c.pending) >= maxPending {
		if c.sum.Intervals() < 2 && r.memory.bytes > compactFrom {
			c.sum.Compact()
		}
		if err := c.sum.AddHistogram(c.Start, c.End, r.histogram(c.pending)); err != nil {
			return err
		}
		c.pending = c.pending[:0]
	}
	c.pending = append(c.pending, value)
	r.memory.bytes += c.sum.Size() + 8*cap(c.pending) - before
	return r.memory.update(len(r.tags))
}

// addMany adds a value that occurred several times.
func (r *openIntervals) addMany(c *tagInterval, row *Row) error {
	before := c.sum.Size()
	r.scratch.Reset(r.layout)
	if err := r.scratch.RecordN(row.Value, row.Count); err != nil {
		return err
	}
	if err := c.sum.AddHistogram(c.Start, c.End, &r.scratch); err != nil {
		return err
	}
	r.memory.bytes += c.sum.Size() - before
	return r.memory.update(len(r.tags))
}

// histogram returns a histogram of values, valid until the next call.
func (r *openIntervals) histogram(values []int64) *histogram.Histogram {
	r.scratch.Reset(r.layout)
	for _, value := range values {
		r.scratch.Record(value)
	}
	return &r.scratch
}

// entryOf returns the entry of a tag, which is in the spelling of a file.
func (r *openIntervals) entryOf(tag []byte) (*tagEntry, error) {
	r.tagKey = r.tagKey[:0] // the key of untagged values, since other keys begin with "="
	if tag != nil {
		r.tagKey = logline.AppendTag(append(r.tagKey, '='), tag, hdrlog.MaxTag)
	}
	if s := r.tags[string(r.tagKey)]; s != nil {
		return s, nil
	}
	if len(r.tags) == maxTags {
		return nil, fmt.Errorf("more than %d tags: choose other columns with -tag, or none with -tag ''", maxTags)
	}
	s := new(tagEntry)
	if tag != nil {
		s.tag = bytes.Clone(r.tagKey[1:])
	}
	r.tags[string(r.tagKey)] = s
	r.memory.bytes += entryBytes + 2*len(r.tagKey)
	return s, r.memory.update(len(r.tags))
}

// write writes the intervals that end at or before end, in milliseconds since the epoch. No value
// can be added to them later. The first interval of the log starts with the first value. If end is
// math.MaxInt64, the last interval ends with the last value. This keeps the rate of values right.
func (r *openIntervals) write(end int64) error {
	r.writtenUntil = max(r.writtenUntil, end)
	for c := range r.open.Before(end) {
		if c.entry.lastInterval == c {
			c.entry.lastInterval = nil
		}
		r.memory.bytes -= intervalBytes + c.sum.Size() + 8*cap(c.pending)
		h := r.histogram(c.pending)
		if c.sum.Intervals() > 0 {
			err := c.sum.AddHistogram(c.Start, c.End, h)
			if err == nil {
				h, err = c.sum.Histogram(&r.scratch)
			}
			if err != nil {
				return err
			}
		}
		stamp := r.times.resolution
		if stamp > r.open.Size() {
			stamp = 1
		}
		start := max(c.Start, min(r.times.earliest, c.End-stamp))
		if end == math.MaxInt64 && r.times.latest < c.End {
			c.End = max(r.times.latest+r.times.resolution, min(c.End, start+2)) // readers truncate, so 1 ms may become 0
		}
		if r.timeless {
			start = 0
			c.End = 0
		}
		if err := r.writeInterval(c.entry.tag, start, c.End, h); err != nil {
			return err
		}
	}
	return nil
}

// addPayload writes the interval of a row with an encoded histogram.
func (r *openIntervals) addPayload(row *Row) error {
	if err := r.decoder.Decode(&r.scratch, row.Payload); err != nil {
		return err
	}
	r.hasTimes = r.hasTimes || row.Time != 0 || row.Length != 0
	if row.Tag != nil {
		r.tagKey = logline.AppendTag(r.tagKey[:0], row.Tag, hdrlog.MaxTag)
		row.Tag = r.tagKey
	}
	return r.writeInterval(row.Tag, row.Time/1e6, (row.Time+row.Length)/1e6, &r.scratch)
}

func (r *openIntervals) writeInterval(tag []byte, start, end int64, h *histogram.Histogram) error {
	if !r.out.hasHead {
		r.out.hasHead = true
		r.out.base = start
		if err := r.out.writeHead(float64(start) / 1000); err != nil {
			return err
		}
	}
	return r.out.w.Interval(tag, float64(start-r.out.base)/1000, float64(end-start)/1000, h)
}

// writeHead writes the header of a log. seconds is its start in seconds since the epoch.
func (o *logOutput) writeHead(seconds float64) error {
	if err := o.w.Version(); err != nil {
		return err
	}
	if err := o.source.header(o.w, o.sourceAtEnd); err != nil {
		return err
	}
	return cmp.Or(o.w.BaseTime(seconds), o.w.StartTime(seconds), o.w.Legend())
}

// WholeSeconds reports whether all times of values were whole seconds. The times are rounded, so
// the first value may be up to a second later than its time, and the last value up to a second
// before the end of the log.
func (r *Recorder) WholeSeconds() bool {
	return r.intervals.times.latest != never && r.intervals.times.resolution == 1000 && !r.intervals.timeless
}

// Timeless reports whether neither a row nor a histogram has a time.
func (r *Recorder) Timeless() bool {
	return r.intervals.timeless || r.intervals.out.hasHead && !r.intervals.hasTimes && r.intervals.times.latest == never
}

// HasIntervals reports whether an interval was written.
func (r *Recorder) HasIntervals() bool { return r.intervals.out.hasHead }
