package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"hdrkit/hdrlog/histogram"
)

// counts are the counts of a [Sum], in one of three forms. The zero value is empty. Only these
// methods change the form:
//
//	from        to          by       when
//	empty       packed      add      c has no spare histogram, or the sum does not fit
//	empty       histogram   unpack   c has a spare histogram, and the sum fits
//	packed      histogram   unpack   the sum fits after the addition that comes next
//	histogram   packed      pack     the next addition makes the sum too large, or the owner calls compact
//	any         empty       reset
//
// A sum fits if its histogram takes at most denseBytes, or at most denseTimes the memory of the
// packed counts.
type counts struct {
	bounds
	// packed has payloads that are not compressed, each behind its length in four bytes.
	packed []byte
	// mergedBytes is the length of packed when mergePacked or pack last made it a single payload.
	// It is 0 before.
	mergedBytes int
	// histogram is the sum of all counts, or nil in the other forms.
	histogram *histogram.Histogram
	// spare is memory for histogram, or nil.
	spare *histogram.Histogram
	// small forbids a histogram that takes more than denseTimes the memory of the packed counts.
	small bool
}

const (
	// denseBytes is the largest size of a histogram, in bytes, that does not depend on the packed
	// counts. It is about the size of a histogram with three significant digits.
	denseBytes = 1 << 19
	// denseTimes is the largest allowed ratio of the bytes of a histogram to those of packed
	// counts.
	denseTimes = 4
	// mergeBytes is the number of bytes that packed counts can grow beyond twice mergedBytes before
	// mergePacked makes them a single payload.
	mergeBytes = 16 << 10
	// maxKept is the largest memory, in bytes, that is kept for reuse.
	maxKept = 8 << 20
)

// bounds describe counts that need not be decoded.
type bounds struct {
	layout  histogram.Layout // the finest layout of all intervals
	highest float64          // no value is higher
	// mixed says that intervals have different layouts. A coarser layout rounds the minimum, so
	// packed counts do not have it any more. It is at most least, which is infinite if the counts
	// have the minimum.
	mixed bool
	least float64
}

// unit returns the value that a count in slot 1 stands for.
func unit(l histogram.Layout) float64 { return cmp.Or(l.Ratio, 1) }

// slots returns the number of slots of a histogram that holds values within b.
func (b bounds) slots() int {
	if units := b.highest / unit(b.layout); units < 1<<63 {
		return b.layout.SlotsFor(int64(units))
	}
	return b.layout.SlotsFor(math.MaxInt64)
}

// An addend is a source of counts that [counts] can add: a payload, a histogram or other counts.
type addend interface {
	bound() bounds
	// appendPacked appends the counts in the form of counts.packed.
	appendPacked(packed []byte) ([]byte, error)
	// addTo adds the counts to h. After an error, h is unchanged.
	addTo(h *histogram.Histogram) error
}

// A payloadAddend adds an encoded interval.
type payloadAddend struct{ *histogram.Payload }

func (p payloadAddend) bound() bounds {
	return bounds{layout: p.Layout(), highest: float64(p.Highest()) * unit(p.Layout())}
}

func (p payloadAddend) appendPacked(packed []byte) ([]byte, error) {
	return appendPayload(packed, p.AppendBinary)
}

func (p payloadAddend) addTo(h *histogram.Histogram) error { return p.AddTo(h) }

// A histogramAddend adds a histogram.
type histogramAddend struct{ *histogram.Histogram }

func (a histogramAddend) bound() bounds {
	return bounds{layout: a.Layout(), highest: a.Float(a.Max())}
}

func (a histogramAddend) appendPacked(packed []byte) (_ []byte, err error) {
	// AppendBinary grows its argument for the largest payload, so packed would stay too large.
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	if c.plain, err = appendPayload(c.plain[:0], a.AppendBinary); err != nil {
		return packed, err
	}
	return append(packed, c.plain...), nil
}

func (a histogramAddend) addTo(h *histogram.Histogram) error { return h.Add(a.Histogram) }

// bound returns the bounds for an addition of c to other counts.
func (c *counts) bound() bounds {
	b := c.bounds
	if c.histogram != nil && b.mixed {
		b.least = min(b.least, leastOf(c.histogram))
	}
	return b
}

func (c *counts) appendPacked(packed []byte) ([]byte, error) {
	if c.histogram != nil {
		return appendPayload(packed, c.histogram.AppendBinary)
	}
	return append(packed, c.packed...), nil
}

func (c *counts) addTo(h *histogram.Histogram) error {
	if c.histogram != nil {
		return h.Add(c.histogram)
	}
	code := codecs.Get().(*codec)
	defer c.putCodec(code)
	if c.isSingle() {
		return addPacked(code, c.packed, h)
	}
	if err := c.decode(code, &code.scratch); err != nil {
		return err
	}
	return h.Add(&code.scratch)
}

// codec has a decoder, an encoder and scratch memory.
type codec struct {
	decoder histogram.Decoder
	encoder histogram.Encoder
	scratch histogram.Histogram
	plain   []byte
}

var codecs = sync.Pool{New: func() any { return new(codec) }}

// putCodec returns a codec to its pool, unless counts as large as c made its memory large.
func (c *counts) putCodec(code *codec) {
	if 8*c.slots()+len(c.packed) <= maxKept {
		codecs.Put(code)
	}
}

// spareHistograms has the histograms of counts that were packed. hdrplot -agg 10s packs one window
// after another, and takes 10% more CPU time without the pool.
var spareHistograms = sync.Pool{New: func() any { return new(histogram.Histogram) }}

// reset makes c empty. It keeps memory up to maxKept for reuse.
func (c *counts) reset() {
	if cap(c.packed) > maxKept {
		c.packed = nil
	}
	spare := c.spare
	if c.histogram != nil && 8*c.slots() <= maxKept {
		spare = c.histogram
	}
	*c = counts{packed: c.packed[:0], spare: spare}
}

// size returns the approximate memory in bytes.
func (c *counts) size() int {
	if c.histogram != nil {
		return cap(c.packed) + 8*c.slots()
	}
	return cap(c.packed)
}

func (c *counts) isEmpty() bool { return c.histogram == nil && len(c.packed) == 0 }

// isSingle reports whether c is packed and has one payload.
func (c *counts) isSingle() bool {
	return c.histogram == nil && len(c.packed) > 0 && 4+int(binary.LittleEndian.Uint32(c.packed)) == len(c.packed)
}

// fits reports whether a histogram with this number of slots may replace the packed counts.
func (c *counts) fits(slots int) bool {
	return 8*slots <= denseTimes*c.mergedBytes || !c.small && 8*slots <= denseBytes
}

// add adds the counts of a. After an error, the sum of c is unchanged. Counts that stay packed are
// not decoded, so a later method can find that they do not add up.
func (c *counts) add(a addend) error {
	more := a.bound()
	all := more
	empty := c.isEmpty()
	switch {
	case !empty && (c.layout.Ratio != 0) != (more.layout.Ratio != 0):
		return histogram.ErrKind
	case !empty:
		if err := c.makeRoom(c.with(more).slots()); err != nil {
			return err
		}
		all = c.with(more)
	case !more.mixed:
		all.least = math.Inf(1)
	}
	// A single interval stays packed unless there is memory for its histogram.
	if c.histogram == nil && (!empty || c.spare != nil) && c.fits(all.slots()) {
		c.unpack(all)
	}
	if c.histogram != nil {
		if err := a.addTo(c.histogram); err != nil {
			if empty {
				c.spare, c.histogram = c.histogram, nil
			}
			return err
		}
		c.bounds = all
		return nil
	}
	packed, err := a.appendPacked(c.packed)
	if err != nil {
		return err
	}
	c.packed = packed
	c.bounds = all
	if len(c.packed) > 2*c.mergedBytes+mergeBytes && !c.isSingle() {
		c.mergePacked()
	}
	return nil
}

// with returns the bounds of the sum of two counts.
func (b bounds) with(more bounds) bounds {
	if !b.mixed {
		b.least = math.Inf(1)
	}
	if more.mixed {
		b.least = min(b.least, more.least)
	}
	b.mixed = b.mixed || more.mixed || b.layout != more.layout
	b.layout, _ = b.layout.Finest(more.layout)
	b.highest = max(b.highest, more.highest)
	return b
}

// makeRoom packs c.histogram if it must not grow to this number of slots.
func (c *counts) makeRoom(slots int) error {
	if c.histogram == nil || slots <= c.slots() || c.fits(slots) {
		return nil
	}
	return c.pack()
}

// unpack makes packed or empty counts a histogram for counts within all. Counts that do not add up
// stay packed from then on.
func (c *counts) unpack(all bounds) {
	if c.spare == nil {
		c.spare = spareHistograms.Get().(*histogram.Histogram)
	}
	layout := c.layout
	if c.isEmpty() {
		layout = all.layout
	}
	code := codecs.Get().(*codec)
	defer codecs.Put(code)
	if c.spare.Reset(layout) != nil || addPacked(code, c.packed, c.spare) != nil {
		c.small = true
		return
	}
	c.histogram, c.spare = c.spare, nil
	c.packed = c.packed[:0]
}

// pack encodes the sum of c as a single payload, in as little memory as possible.
func (c *counts) pack() error {
	if c.isEmpty() || c.isSingle() {
		c.spare = nil
		return nil
	}
	code := codecs.Get().(*codec)
	defer c.putCodec(code)
	h, err := c.total(&code.scratch)
	if err == nil {
		err = c.setPacked(code, h)
	}
	if err != nil {
		return err
	}
	c.packed = bytes.Clone(c.packed)
	if c.histogram != nil && 8*c.slots() <= maxKept {
		spareHistograms.Put(c.histogram)
	}
	c.histogram = nil
	c.spare = nil
	return nil
}

// compact packs c, and keeps it small until it is reset.
func (c *counts) compact() error {
	c.small = true
	return c.pack()
}

// allowHistogram makes c small, but permits a histogram of up to denseTimes*bytes. A [Moving] calls
// it, whose queue takes so many bytes in addition to c.
func (c *counts) allowHistogram(bytes int) {
	c.small = true
	c.mergedBytes = max(c.mergedBytes, bytes)
}

// mergePacked encodes the sum of several payloads as a single payload. Payloads that do not add up
// stay as they are.
func (c *counts) mergePacked() {
	code := codecs.Get().(*codec)
	defer c.putCodec(code)
	err := c.decode(code, &code.scratch)
	if err == nil {
		err = c.setPacked(code, &code.scratch)
	}
	if err != nil {
		c.mergedBytes = len(c.packed)
	}
}

// setPacked sets packed to a single payload, which encodes h. H is the sum of c.
func (c *counts) setPacked(code *codec, h *histogram.Histogram) (err error) {
	if code.plain, err = appendPayload(code.plain[:0], h.AppendBinary); err != nil {
		return err
	}
	if c.packed = append(c.packed[:0], code.plain...); cap(c.packed) > 4*len(c.packed)+mergeBytes {
		c.packed = bytes.Clone(c.packed)
	}
	c.mergedBytes = len(c.packed)
	if c.mixed {
		c.least = min(c.least, leastOf(h))
	}
	return nil
}

// total returns the sum of all counts: in c.histogram, which must not be changed, or else in
// scratch.
func (c *counts) total(scratch *histogram.Histogram) (*histogram.Histogram, error) {
	h := scratch
	switch {
	case c.histogram != nil:
		h = c.histogram
	case c.isEmpty():
		*scratch = histogram.Histogram{}
	default:
		code := codecs.Get().(*codec)
		defer codecs.Put(code)
		if err := c.decode(code, scratch); err != nil {
			return nil, err
		}
	}
	if c.mixed && !math.IsInf(c.least, 1) {
		h.LowerMin(int64(c.least / unit(c.layout)))
	}
	return h, nil
}

// subtract subtracts counts that were added before. It returns false if it cannot: c is not a
// histogram, or the minimum of the remaining counts is unknown. The caller must then add up the
// remaining counts again.
func (c *counts) subtract(other *counts) bool {
	if c.histogram == nil || c.mixed {
		return false
	}
	code := codecs.Get().(*codec)
	defer other.putCodec(code)
	h, err := other.total(&code.scratch)
	return err == nil && c.histogram.Subtract(h) == nil
}

// leastOf returns the minimum of h, or infinity if h has no values.
func leastOf(h *histogram.Histogram) float64 {
	if h.TotalCount() == 0 {
		return math.Inf(1)
	}
	return h.Float(h.Min())
}

// decode makes h the sum of the packed counts.
func (c *counts) decode(code *codec, h *histogram.Histogram) error {
	h.Reset(c.layout)
	return addPacked(code, c.packed, h)
}

// addPacked adds packed counts to h. The error is that of [histogram.Payload.AddTo].
func addPacked(code *codec, packed []byte, h *histogram.Histogram) error {
	for len(packed) > 0 {
		size := 4 + int(binary.LittleEndian.Uint32(packed))
		p, err := code.decoder.OpenBinary(packed[4:size])
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

// appendPayload appends the length of a payload in four bytes, and the payload.
func appendPayload(packed []byte, appendTo func([]byte) ([]byte, error)) ([]byte, error) {
	begin := len(packed)
	packed, err := appendTo(append(packed, 0, 0, 0, 0))
	if err == nil {
		binary.LittleEndian.PutUint32(packed[begin:], uint32(len(packed)-begin-4))
	}
	return packed, err
}

// checkLengths returns an error if packed payloads do not end where their lengths say.
func checkLengths(packed []byte) error {
	for left := packed; len(left) > 0; {
		if len(left) < 4 || int64(binary.LittleEndian.Uint32(left)) > int64(len(left)-4) {
			return errors.New("a payload is cut off")
		}
		left = left[4+int(binary.LittleEndian.Uint32(left)):]
	}
	return nil
}
