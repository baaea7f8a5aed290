package merge

import (
	"bytes"
	"errors"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
)

// A SumError is the error for intervals that do not add up. It wraps [histogram.ErrKind],
// [histogram.ErrSpan] or [histogram.ErrOverflow].
type SumError struct{ Err error }

// Error returns the text of the cause.
func (e *SumError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SumError) Unwrap() error { return e.Err }

// A Sum is the sum of the intervals of one tag: their counts, and the time from the first start to
// the last end. The zero value is empty and ready to use. Do not copy a Sum after its first use. It
// is not safe for concurrent use.
//
// A Sum of several intervals is a histogram, if that takes half a megabyte at most. Otherwise it
// keeps the counts packed, as payloads that are not compressed, while they take much less memory: a
// sum whose few values lie far apart takes a hundred bytes, and not 49 MB. Owners of many sums can
// call [Sum.Compact].
type Sum struct {
	// Start is the earliest start of an interval, and End the latest end, in milliseconds since the
	// epoch. Callers can change them to move a sum in time.
	Start, End int64

	intervals int64
	// original is MAX,PAYLOAD of a single interval as they stand in its log. The payload is empty
	// if it must be encoded again. Sums of several intervals have no original.
	original []byte
	counts   counts
}

// Reset empties s. It keeps memory of up to 8 MB for reuse.
func (s *Sum) Reset() {
	if cap(s.original) > maxKept {
		s.original = nil
	}
	s.counts.reset()
	*s = Sum{original: s.original[:0], counts: s.counts}
}

// Size returns the approximate memory of s in bytes.
func (s *Sum) Size() int { return 200 + cap(s.original) + s.counts.size() }

// Intervals returns the number of intervals in s.
func (s *Sum) Intervals() int64 { return s.intervals }

// Layout returns the layout of the sum of all counts. It means nothing if s is empty.
func (s *Sum) Layout() histogram.Layout { return s.counts.layout }

// Add adds an interval, and keeps no view of it. The error is that of decoding its payload, or a
// [SumError]; s is then unchanged. Add does not decode every payload, so [Sum.Histogram] and the
// methods that encode s can also return a SumError.
func (s *Sum) Add(i *hdrlog.Interval) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	p, err := c.decoder.Open(i.Payload)
	if err != nil {
		return err
	}
	return s.AddPayload(i, p)
}

// AddPayload is [Sum.Add] for callers that opened the payload of the interval themselves.
func (s *Sum) AddPayload(i *hdrlog.Interval, p *histogram.Payload) error {
	if err := s.AddCounts(i.StartMillis(), i.EndMillis(), p); err != nil || s.intervals > 1 {
		return err
	}
	s.original = append(appendMax(s.original[:0], i), ',')
	if p.Version() == 2 && p.Compressed() {
		s.original = append(s.original, i.Payload...)
	}
	return nil
}

// appendMax appends MAX as it stands in the log, if the reference accepts it.
func appendMax(text []byte, i *hdrlog.Interval) []byte {
	begin := len(text)
	text = bytes.TrimRight(i.AppendFields(text), ", ")
	highest := text[begin:]
	return append(text[:begin], highest[bytes.LastIndexAny(highest, ", ")+1:]...)
}

// AddCounts is [Sum.AddPayload] for callers that write no log. It does not keep the text of a
// single interval, which takes as much memory as its line.
func (s *Sum) AddCounts(start, end int64, p *histogram.Payload) error {
	if err := s.counts.add(payloadAddend{p}); err != nil {
		return sumError(err, p)
	}
	s.extend(start, end, 1)
	return nil
}

// AddHistogram adds the counts of an interval from start to end, in milliseconds since the epoch.
// It does not keep h. The error is a [SumError], or [histogram.ErrLayout] if h has no layout; s is
// then unchanged.
func (s *Sum) AddHistogram(start, end int64, h *histogram.Histogram) error {
	if err := s.counts.add(histogramAddend{h}); err != nil {
		return sumError(err, nil)
	}
	s.extend(start, end, 1)
	return nil
}

// AddCoarse is [Sum.AddHistogram] with at most digits significant digits, for callers that keep
// very many sums.
func (s *Sum) AddCoarse(start, end int64, h *histogram.Histogram, digits int) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	h.CoarsenInto(&c.scratch, digits)
	return s.AddHistogram(start, end, &c.scratch)
}

// extend counts intervals from start to end whose counts are added already.
func (s *Sum) extend(start, end, intervals int64) {
	end = max(start, end)
	if s.intervals > 0 {
		start, end = min(s.Start, start), max(s.End, end)
	}
	s.Start, s.End = start, end
	s.intervals += intervals
	if s.intervals > 1 {
		s.original = s.original[:0]
	}
}

// Grows reports whether an interval of a layout can be measured by its effect on s: adding it
// only raises counts of s, and comparing [Sum.CoarsenInto] before and after is cheap.
func (s *Sum) Grows(layout histogram.Layout) bool {
	c := &s.counts
	if s.intervals == 0 {
		return true
	}
	return (c.histogram != nil || s.intervals == 1) && !c.small && !c.mixed && c.layout == layout
}

// CoarsenInto sets into to the counts of s with at most digits significant digits. The error is a
// [SumError].
func (s *Sum) CoarsenInto(into *histogram.Histogram, digits int) error {
	c := codecs.Get().(*codec)
	defer s.counts.putCodec(c)
	h, err := s.Histogram(&c.scratch)
	if err != nil {
		return err
	}
	h.CoarsenInto(into, digits)
	return nil
}

// Compact makes s take little memory until it is reset, and makes later additions slower. It is
// quick for a sum of at most one interval, so call it for each new sum if there are many, or before
// a time without additions. The error is a [SumError].
func (s *Sum) Compact() error { return sumError(s.counts.compact(), nil) }

// sumError returns an error of adding counts as a [SumError]. An overflow within the payload p
// alone is not the fault of the sum, and stays as it is.
func sumError(err error, p *histogram.Payload) error {
	switch {
	case errors.Is(err, histogram.ErrOverflow) && p != nil && p.Check() != nil:
		return err
	case errors.Is(err, histogram.ErrOverflow), errors.Is(err, histogram.ErrSpan), errors.Is(err, histogram.ErrKind):
		return &SumError{err}
	}
	return err
}

// Merge adds the intervals of t. It does not change t, and s shares no memory with t. The error is
// a [SumError]; the sum of s is then unchanged. Merge does not decode all counts, so
// [Sum.Histogram] and the methods that encode s can also return a SumError.
func (s *Sum) Merge(t *Sum) error {
	first := s.intervals == 0
	err := s.MergeCounts(t)
	if err == nil && first {
		s.original = append(s.original[:0], t.original...)
	}
	return err
}

// MergeCounts is [Sum.Merge] for callers that merge more sums into s: it does not copy the text of
// a single interval.
func (s *Sum) MergeCounts(t *Sum) error {
	if t.intervals == 0 {
		return nil
	}
	if s.intervals == 0 {
		s.counts.mergedBytes = t.counts.mergedBytes
	}
	if err := s.counts.add(&t.counts); err != nil {
		return sumError(err, nil)
	}
	s.extend(t.Start, t.End, t.intervals)
	return nil
}

// Histogram returns all counts in scratch, or in a histogram of s, which must not be changed. It is
// valid until s or scratch is used again. Scratch can be nil. The error is a [SumError].
func (s *Sum) Histogram(scratch *histogram.Histogram) (*histogram.Histogram, error) {
	if scratch == nil {
		scratch = new(histogram.Histogram)
	}
	h, err := s.counts.total(scratch)
	return h, sumError(err, nil)
}

// AppendCounts appends the counts as [histogram.Histogram.AppendCounts] does, in the slots of
// [Sum.Layout]. The error is a [SumError].
func (s *Sum) AppendCounts(raw []byte) ([]byte, error) {
	c := codecs.Get().(*codec)
	defer s.counts.putCodec(c)
	if s.counts.isSingle() {
		p, err := c.decoder.OpenBinary(s.counts.packed[4:])
		if err == nil && p.Layout() == s.counts.layout {
			return p.AppendCounts(raw), nil
		}
	}
	h, err := s.Histogram(&c.scratch)
	if err != nil {
		return raw, err
	}
	return h.AppendCounts(raw), nil
}

// AppendFields appends the fields START,LENGTH,MAX,PAYLOAD for [hdrlog.Writer.WriteEncoded]. Base
// is the base time of the log, in milliseconds since the epoch. A reader that truncates times as
// the reference does reads Start and End exactly. The error is a [SumError], or [histogram.ErrSpan]
// for a double histogram that cannot be encoded.
func (s *Sum) AppendFields(text []byte, base int64) ([]byte, error) {
	if s.intervals == 0 {
		return text, errEmpty
	}
	fields, err := s.appendMaxPayload(append(logline.AppendTimes(text, float64(base)/1000, s.Start, s.End), ','))
	if err != nil {
		return text, err
	}
	return fields, nil
}

// appendMaxPayload appends MAX,PAYLOAD. For a single interval, it appends the text of its log.
func (s *Sum) appendMaxPayload(fields []byte) ([]byte, error) {
	highest, payload, _ := bytes.Cut(s.original, []byte{','})
	if len(payload) > 0 {
		return append(fields, s.original...), nil
	}
	c := codecs.Get().(*codec)
	defer s.counts.putCodec(c)
	h, err := s.Histogram(&c.scratch)
	if err != nil {
		return nil, err
	}
	if len(highest) > 0 {
		fields = append(fields, highest...)
	} else {
		fields = logline.AppendMaxOf(fields, h)
	}
	return c.encoder.AppendBase64(append(fields, ','), h)
}

var errEmpty = errors.New("no intervals were added")
