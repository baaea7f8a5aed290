package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"sync"

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

// A Sum is what intervals of one tag add up to. The zero value is empty and ready to use. A Sum
// must not be copied after its first use, and it is not safe for concurrent use.
//
// A Sum of several intervals has a histogram, if that takes half a megabyte at most. Otherwise it
// keeps counts packed, as payloads that are not compressed, while that takes much less memory. So a
// sum whose few values lie far apart takes a hundred bytes, and not 49 MB. [Sum.Compact] is for
// those who own many sums.
type Sum struct {
	// Start is when the interval that starts first starts, and End when the one that ends last
	// ends, in milliseconds since the epoch. They may be changed, to move a sum in time.
	Start, End int64

	intervals int64
	layout    histogram.Layout // the finest of all
	highest   float64          // the highest value that one may have
	// mixed says that layouts differ. Counts that are packed after that do not know their minimum:
	// it is not above least, which is infinite if the counts know better.
	mixed bool
	least float64

	// text is MAX, a comma and the payload of a single interval, as its log has them. The payload
	// is left out if it must be encoded again. Text is empty if there are several intervals.
	text []byte
	// packed holds payloads, each behind its length, unless dense is set. When they were added up
	// last, they became one payload of summed bytes.
	packed []byte
	summed int
	// dense says that counts holds the sum. Otherwise counts is memory for another use. Small
	// forbids a histogram that takes much more memory than packed counts.
	dense, small bool
	kept         bool // see [Merged.Keep]
	counts       *histogram.Histogram
}

const (
	// A histogram may always take denseBytes: about what one of three digits takes.
	denseBytes = 1 << 19
	// A histogram may take this many times the bytes of packed counts.
	denseTimes = 4
	// Packed counts are added up when they take sumUpBytes more than twice as much as after the
	// last time.
	sumUpBytes = 16 << 10
	// mostKept is the number of bytes that are kept for another use.
	mostKept = 8 << 20
)

// manyBytes is how many bytes sums take together before new ones are compacted.
const manyBytes = 32 << 20

// codec has the decoder and the encoder of sums, and memory.
type codec struct {
	decoder histogram.Decoder
	encoder histogram.Encoder
	scratch histogram.Histogram
	plain   []byte
}

// spareCounts are histograms that sums had before they were packed. Windows that are packed one
// after the other, left to the garbage collector, took a tenth of the CPU time of hdrplot -agg
// 10s.
var spareCounts = sync.Pool{New: func() any { return new(histogram.Histogram) }}

var codecs = sync.Pool{New: func() any { return new(codec) }}

// putCodec gives a codec back, unless its memory is large because s is large.
func (s *Sum) putCodec(c *codec) {
	if 8*s.slots()+len(s.packed) <= mostKept {
		codecs.Put(c)
	}
}

// Reset empties s and keeps its memory for another use, unless that is much.
func (s *Sum) Reset() {
	if cap(s.text) > mostKept || cap(s.packed) > mostKept {
		s.text, s.packed = nil, nil
	}
	if s.dense && 8*s.slots() > mostKept {
		s.counts = nil
	}
	*s = Sum{text: s.text[:0], packed: s.packed[:0], counts: s.counts}
}

// Size returns about how many bytes s takes.
func (s *Sum) Size() int {
	size := 200 + cap(s.text) + cap(s.packed)
	if s.dense {
		size += 8 * s.slots()
	}
	return size
}

// Intervals returns how many intervals were added.
func (s *Sum) Intervals() int64 { return s.intervals }

// Layout returns the layout of the sum of all counts. It means nothing if s is empty.
func (s *Sum) Layout() histogram.Layout { return s.layout }

// Add adds an interval. The error is that of decoding its payload, or a [SumError]; s is then
// unchanged. Some intervals that do not add up are found only by [Sum.Histogram] and the methods
// that encode s. Nothing of the interval is kept.
func (s *Sum) Add(i *hdrlog.Interval) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	p, err := c.decoder.Open(i.Payload)
	if err != nil {
		return err
	}
	return s.AddPayload(i, p)
}

// AddPayload is [Sum.Add] for an interval whose payload is open already, for callers that take more
// than the sum of it.
func (s *Sum) AddPayload(i *hdrlog.Interval, p *histogram.Payload) error {
	if err := s.AddCounts(i.StartMillis(), i.EndMillis(), p); err != nil || s.intervals > 1 {
		return err
	}
	s.text = append(appendMax(s.text[:0], i), ',')
	if p.Version() == 2 && p.Compressed() {
		s.text = append(s.text, i.Payload...)
	}
	return nil
}

// appendMax appends MAX as it stands in the log, if the reference reads that.
func appendMax(text []byte, i *hdrlog.Interval) []byte {
	begin := len(text)
	text = bytes.TrimRight(i.AppendFields(text), ", ")
	highest := text[begin:]
	return append(text[:begin], highest[bytes.LastIndexAny(highest, ", ")+1:]...)
}

// AddCounts is [Sum.AddPayload] for callers that write no log: a single interval does not keep its
// text, which takes as much memory as its line.
func (s *Sum) AddCounts(start, end int64, p *histogram.Payload) error {
	return s.addPayload(&facts{start: start, end: end, intervals: 1}, p)
}

// addPayload adds a payload. It sets the layout and the highest value of more.
func (s *Sum) addPayload(more *facts, p *histogram.Payload) error {
	more.layout, more.highest = p.Layout(), float64(p.Highest())*unit(p.Layout())
	pack := func(packed []byte) ([]byte, error) { return appendPayload(packed, p.AppendBinary) }
	return sumError(s.add(more, pack, p.AddTo), p)
}

// AddCoarse is [Sum.AddHistogram] for the counts of h with at most digits significant digits, for
// callers that keep very many sums.
func (s *Sum) AddCoarse(start, end int64, h *histogram.Histogram, digits int) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	h.CoarsenInto(&c.scratch, digits)
	return s.addHistogram(start, end, &c.scratch, c)
}

// Grows reports whether adding an interval of a layout only raises counts of s, and looking at
// these costs little: s has a histogram of that layout. Then the difference of what
// [Sum.CoarsenInto] makes before and after is what the interval recorded.
func (s *Sum) Grows(layout histogram.Layout) bool {
	if s.intervals == 0 {
		return true
	}
	return (s.dense || s.intervals == 1) && !s.small && !s.mixed && s.layout == layout
}

// CoarsenInto makes into the counts of s with at most digits significant digits. The error is a
// [SumError].
func (s *Sum) CoarsenInto(into *histogram.Histogram, digits int) error {
	c := codecs.Get().(*codec)
	defer s.putCodec(c)
	h, err := s.Histogram(&c.scratch)
	if err != nil {
		return err
	}
	h.CoarsenInto(into, digits)
	return nil
}

// AddHistogram adds the counts of an interval from start to end, in milliseconds since the epoch. H
// is not kept. The error is a [SumError], or [histogram.ErrLayout] if h has none; s is then
// unchanged.
func (s *Sum) AddHistogram(start, end int64, h *histogram.Histogram) error {
	c := codecs.Get().(*codec)
	defer s.putCodec(c)
	return s.addHistogram(start, end, h, c)
}

func (s *Sum) addHistogram(start, end int64, h *histogram.Histogram, c *codec) error {
	add := facts{
		start:     start,
		end:       end,
		intervals: 1,
		layout:    h.Layout(),
		highest:   h.Float(h.Max()),
	}
	pack := func(packed []byte) (_ []byte, err error) {
		// To encode to packed itself makes room for much more than a small payload takes.
		if c.plain, err = appendPayload(c.plain[:0], h.AppendBinary); err != nil {
			return packed, err
		}
		return append(packed, c.plain...), nil
	}
	return sumError(s.add(&add, pack, func(sum *histogram.Histogram) error { return sum.Add(h) }), nil)
}

// facts are about counts that are added, before they are decoded.
type facts struct {
	start, end, intervals int64
	layout                histogram.Layout
	highest               float64 // the highest value that they may have
	mixed                 bool
	least                 float64 // if mixed
}

// add adds counts: packed, or to a histogram. After an error, s is unchanged.
func (s *Sum) add(more *facts, pack func([]byte) ([]byte, error), addTo func(*histogram.Histogram) error) error {
	if s.intervals > 0 && s.double() != (more.layout.Ratio != 0) {
		return histogram.ErrKind
	}
	if err := s.makeRoom(more); err != nil {
		return err
	}
	if s.intervals > 0 || s.counts != nil { // a single interval takes no new histogram
		s.unpack(more)
	}
	if s.dense {
		if err := addTo(s.counts); err != nil {
			s.dense = s.intervals > 0
			return err
		}
		s.include(more)
		return nil
	}
	packed, err := pack(s.packed)
	if err != nil {
		return err
	}
	s.packed = packed
	s.include(more)
	s.sumUp()
	return nil
}

// appendPayload appends a payload that is not compressed, behind its length.
func appendPayload(packed []byte, appendTo func([]byte) ([]byte, error)) ([]byte, error) {
	begin := len(packed)
	packed, err := appendTo(append(packed, 0, 0, 0, 0))
	if err == nil {
		binary.LittleEndian.PutUint32(packed[begin:], uint32(len(packed)-begin-4))
	}
	return packed, err
}

// include takes in the facts of counts that were added.
func (s *Sum) include(more *facts) {
	if !s.mixed {
		s.least = math.Inf(1)
	}
	if more.mixed {
		s.least = min(s.least, more.least)
	}
	s.mixed = s.mixed || more.mixed || s.intervals > 0 && s.layout != more.layout
	end := max(more.start, more.end)
	if s.intervals == 0 {
		s.Start, s.End = more.start, end
	} else {
		s.Start, s.End = min(s.Start, more.start), max(s.End, end)
	}
	s.layout, s.highest = s.with(more)
	s.intervals += more.intervals
	if s.intervals > 1 {
		s.text = s.text[:0]
	}
}

// facts returns the facts of s, to add s to another sum.
func (s *Sum) facts() *facts {
	p := facts{s.Start, s.End, s.intervals, s.layout, s.highest, s.mixed, s.least}
	if s.dense && s.mixed {
		p.least = min(p.least, leastOf(s.counts))
	}
	return &p
}

// leastOf returns the minimum of h, which is infinite if there are no values.
func leastOf(h *histogram.Histogram) float64 {
	if h.TotalCount() == 0 {
		return math.Inf(1)
	}
	return h.Float(h.Min())
}

func (s *Sum) double() bool { return s.layout.Ratio != 0 }

// unit returns what a count at 1 stands for.
func unit(l histogram.Layout) float64 { return cmp.Or(l.Ratio, 1) }

// slots returns the number of slots that a histogram of s may take.
func (s *Sum) slots() int { return slots(s.layout, s.highest) }

func slots(l histogram.Layout, highest float64) int {
	if units := highest / unit(l); units < 1<<63 {
		return l.SlotsFor(int64(units))
	}
	return l.SlotsFor(math.MaxInt64)
}

// fits reports whether the sum may be a histogram of so many slots, beside packed counts of size
// bytes: the one rule for that.
func (s *Sum) fits(slots, size int) bool {
	return 8*slots <= denseTimes*size || !s.small && 8*slots <= denseBytes
}

// unpack makes packed counts a histogram before more is added, if that fits. Counts that do not add
// up stay packed.
func (s *Sum) unpack(more *facts) {
	layout, highest := s.with(more)
	if s.dense || !s.fits(slots(layout, highest), s.summed) {
		return
	}
	if s.counts == nil {
		s.counts = spareCounts.Get().(*histogram.Histogram)
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	if s.counts.Reset(cmp.Or(s.layout, layout)) != nil || addPacked(c, s.packed, s.counts) != nil {
		s.small = true
		return
	}
	s.dense, s.packed = true, s.packed[:0]
}

// with returns the layout and the highest value of the sum after more is added.
func (s *Sum) with(more *facts) (histogram.Layout, float64) {
	layout, _ := s.layout.Finest(more.layout)
	return layout, max(s.highest, more.highest)
}

// makeRoom packs the histogram of s if it may not take the slots that more needs.
func (s *Sum) makeRoom(more *facts) error {
	if !s.dense {
		return nil
	}
	needs := slots(s.with(more))
	if needs <= s.slots() || s.fits(needs, s.summed) {
		return nil
	}
	return s.compact()
}

// Compact makes s take little memory until it is reset, and later additions slower. Call it for new
// sums if there are many: with one interval at most, Compact is quick. Call it, too, before a time
// without additions. The error is a [SumError].
func (s *Sum) Compact() error {
	s.small = true
	return s.compact()
}

func (s *Sum) compact() error {
	if !s.dense && (s.intervals < 2 || s.one()) {
		s.counts = nil
		return nil
	}
	c := codecs.Get().(*codec)
	defer s.putCodec(c)
	h, err := s.Histogram(&c.scratch)
	if err == nil {
		err = s.pack(c, h)
	}
	if err != nil {
		return sumError(err, nil)
	}
	s.packed = bytes.Clone(s.packed)
	if s.dense && 8*s.slots() <= mostKept {
		spareCounts.Put(s.counts)
	}
	s.dense = false
	s.counts = nil
	return nil
}

// pack makes packed counts of h, which is the sum.
func (s *Sum) pack(c *codec, h *histogram.Histogram) (err error) {
	if c.plain, err = appendPayload(c.plain[:0], h.AppendBinary); err != nil {
		return err
	}
	if s.packed = append(s.packed[:0], c.plain...); cap(s.packed) > 4*len(s.packed)+sumUpBytes {
		s.packed = bytes.Clone(s.packed)
	}
	s.summed = len(s.packed)
	if s.mixed {
		s.least = min(s.least, leastOf(h))
	}
	return nil
}

// sumUp adds up the packed counts if there are many. If they do not add up, they stay as they are.
func (s *Sum) sumUp() {
	if s.intervals < 2 || len(s.packed) <= 2*s.summed+sumUpBytes {
		return
	}
	c := codecs.Get().(*codec)
	defer s.putCodec(c)
	err := s.sumInto(c, &c.scratch)
	if err == nil {
		err = s.pack(c, &c.scratch)
	}
	if err != nil {
		s.summed = len(s.packed)
	}
}

// addPacked adds packed counts to h. The error is that of [histogram.Payload.AddTo].
func addPacked(c *codec, packed []byte, h *histogram.Histogram) error {
	for len(packed) > 0 {
		size := 4 + int(binary.LittleEndian.Uint32(packed))
		p, err := c.decoder.OpenBinary(packed[4:size])
		if err == nil {
			err = p.AddTo(h)
		}
		if err != nil {
			return err
		}
		packed = packed[size:]
	}
	return nil
}

// sumInto makes h the sum of the packed counts.
func (s *Sum) sumInto(c *codec, h *histogram.Histogram) error {
	h.Reset(s.layout)
	return addPacked(c, s.packed, h)
}

// sumError returns an error of adding counts as a [SumError], unless it is the fault of p itself.
func sumError(err error, p *histogram.Payload) error {
	switch {
	case errors.Is(err, histogram.ErrOverflow) && p != nil && p.Check() != nil:
		return err
	case errors.Is(err, histogram.ErrOverflow), errors.Is(err, histogram.ErrSpan), errors.Is(err, histogram.ErrKind):
		return &SumError{err}
	}
	return err
}

// Merge adds what t adds up to. T is unchanged, and shares nothing with s. The error is a
// [SumError]; s then adds up to the same as before. Some intervals that do not add up are found
// only by [Sum.Histogram] and the methods that encode s.
func (s *Sum) Merge(t *Sum) error {
	first := s.intervals == 0
	err := s.MergeCounts(t)
	if err == nil && first {
		s.text = append(s.text[:0], t.text...)
	}
	return err
}

// MergeCounts is [Sum.Merge] for callers that merge more: it does not copy MAX and the payload of a
// single interval as they stand in its log.
func (s *Sum) MergeCounts(t *Sum) error {
	if t.intervals == 0 {
		return nil
	}
	if s.intervals == 0 {
		s.summed = t.summed
	}
	return sumError(s.add(t.facts(), t.appendTo, t.addTo), nil)
}

// appendTo appends the counts of t, packed.
func (t *Sum) appendTo(packed []byte) ([]byte, error) {
	if t.dense {
		return appendPayload(packed, t.counts.AppendBinary)
	}
	return append(packed, t.packed...), nil
}

// addTo adds t to h, or nothing if that fails.
func (t *Sum) addTo(h *histogram.Histogram) error {
	if t.dense {
		return h.Add(t.counts)
	}
	c := codecs.Get().(*codec)
	defer t.putCodec(c)
	if t.one() {
		return addPacked(c, t.packed, h)
	}
	if err := t.sumInto(c, &c.scratch); err != nil {
		return err
	}
	return h.Add(&c.scratch)
}

// Histogram returns all counts. The histogram may be one of s: it must not be changed, and is valid
// until s or scratch is used again. Scratch is memory for a histogram, or nil for new memory. The
// error is a [SumError].
func (s *Sum) Histogram(scratch *histogram.Histogram) (*histogram.Histogram, error) {
	if scratch == nil {
		scratch = new(histogram.Histogram)
	}
	h := scratch
	if s.dense {
		h = s.counts
	} else if s.intervals == 0 {
		*scratch = histogram.Histogram{}
	} else {
		c := codecs.Get().(*codec)
		defer codecs.Put(c)
		if err := s.sumInto(c, scratch); err != nil {
			return nil, sumError(err, nil)
		}
	}
	if s.mixed && !math.IsInf(s.least, 1) {
		h.LowerMin(int64(s.least / unit(s.layout)))
	}
	return h, nil
}

// AppendCounts appends the counts as [histogram.Histogram.AppendCounts] does, in the slots of
// [Sum.Layout]. The error is a [SumError].
func (s *Sum) AppendCounts(raw []byte) ([]byte, error) {
	c := codecs.Get().(*codec)
	defer s.putCodec(c)
	if s.one() {
		p, err := c.decoder.OpenBinary(s.packed[4:])
		if err == nil && p.Layout() == s.layout {
			return p.AppendCounts(raw), nil
		}
	}
	h, err := s.Histogram(&c.scratch)
	if err != nil {
		return raw, err
	}
	return h.AppendCounts(raw), nil
}

// one reports whether there is only one packed payload.
func (s *Sum) one() bool {
	return !s.dense && len(s.packed) > 0 && 4+int(binary.LittleEndian.Uint32(s.packed)) == len(s.packed)
}

// AppendFields appends the fields START,LENGTH,MAX,PAYLOAD of a log whose base time is base
// milliseconds since the epoch. See [hdrlog.Writer.WriteEncoded]. A reader that truncates as the
// reference does reads Start and End exactly. The error is a [SumError], or [histogram.ErrSpan] for
// a double histogram that cannot be encoded.
func (s *Sum) AppendFields(text []byte, base int64) ([]byte, error) {
	if s.intervals == 0 {
		return text, errEmpty
	}
	fields, err := s.appendCounts(append(logline.AppendTimes(text, float64(base)/1000, s.Start, s.End), ','))
	if err != nil {
		return text, err
	}
	return fields, nil
}

// appendCounts appends MAX,PAYLOAD.
func (s *Sum) appendCounts(fields []byte) ([]byte, error) {
	highest, payload, _ := bytes.Cut(s.text, []byte{','})
	if len(payload) > 0 {
		return append(fields, s.text...), nil
	}
	c := codecs.Get().(*codec)
	defer s.putCodec(c)
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
