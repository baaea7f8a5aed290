package histogram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"hdrkit/hdrlog/internal/inflate"
)

// Errors of decoding. The errors that functions return wrap them, with details.
var (
	// ErrBase64: the text is not base64.
	ErrBase64 = errors.New("bad base64")
	// ErrHeader: the payload has no known cookie, or a header that no histogram can have.
	ErrHeader = errors.New("impossible header")
	// ErrTruncated: the payload ends too early, for example because a crash cut the line short.
	ErrTruncated = errors.New("payload is cut short")
	// ErrTooLong: the payload is longer than its header allows, or something follows it.
	ErrTooLong = errors.New("payload is longer than its header allows")
	// ErrCorrupt: the compressed stream or the counts make no sense.
	ErrCorrupt = errors.New("payload is corrupt")
	// ErrChecksum: the checksum of the compressed stream does not match.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrNegativeCount: a count is below zero.
	ErrNegativeCount = errors.New("negative count")
)

// Cookies of the versions. Those of integer histograms are without the bits of the word size.
const (
	cookieV0           = 0x1c849308
	cookieV0Compressed = 0x1c849309
	cookieV1           = 0x1c849301
	cookieV1Compressed = 0x1c849302
	cookieV2           = 0x1c849303
	cookieV2Compressed = 0x1c849304
	cookieDouble       = 0x0c72124e
	cookieDoubleComp   = 0x0c72124f

	wordSizeBits = 0xf0
)

const (
	headerSize   = 40 // in versions 1 and 2
	headerSizeV0 = 32
	maxWordV2    = 9 // highest number of bytes of a count in version 2
)

// A Payload is an encoded histogram. It is inflated and its header is read, but its counts are not
// decoded yet. It belongs to the [Decoder] that opened it, and is valid until that decoder is used
// again.
type Payload struct {
	version    int
	compressed bool
	layout     Layout
	highest    int64

	decoder  *Decoder
	double   [16]byte // header of a double histogram
	plain    []byte   // header and counts
	slots    int      // number of slots up to highest
	wordSize int      // bytes of a count in versions 0 and 1
	counts   []byte   // the encoded counts
	// total is the sum of all counts that the header states, or -1 if the header states none that
	// must be right. A plain payload of version 0 has a total, but no length and no checksum. The
	// total of a compressed payload can be wrong, if counts overflowed in the writer.
	total int64
	// end is the index after the last slot with a count, and valueCount the number of values. end
	// is 0 if keepTotals has kept nothing.
	end        int
	valueCount int64
}

// Version returns the version of the encoding: 0, 1 or 2.
func (p *Payload) Version() int { return p.version }

// Compressed reports whether the payload is a zlib stream.
func (p *Payload) Compressed() bool { return p.compressed }

// Layout returns the layout of the histogram. Its Ratio is 0 unless the histogram is a double one.
func (p *Payload) Layout() Layout { return p.layout }

// Double reports whether this is a double histogram.
func (p *Payload) Double() bool { return p.layout.Ratio != 0 }

// Highest returns the highest trackable value in the header.
func (p *Payload) Highest() int64 { return p.highest }

// CountsSize returns the number of bytes of the inflated counts, for packages that limit the memory
// of payloads.
func (p *Payload) CountsSize() int { return len(p.counts) }

// A Decoder decodes payloads: versions 0, 1 and 2, integer and double, compressed and plain. It
// reuses its memory for the next payload. The zero value is ready. It is not safe for concurrent
// use.
//
// [Decoder.AddTo] adds the counts of a payload straight to a sum, without a histogram in between. A
// decoder takes no more memory than the header of a payload justifies. It verifies checksums.
//
// The formats are those of encodeIntoByteBuffer and encodeIntoCompressedByteBuffer of the
// reference's [AbstractHistogram] and [DoubleHistogram].
//
// [AbstractHistogram]: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/AbstractHistogram.html
// [DoubleHistogram]: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/DoubleHistogram.html
type Decoder struct {
	// Grow, if set, is called before a payload takes more than 64 KB when it is inflated, with its
	// size in bytes. If Grow returns an error, Open returns that error.
	Grow func(bytes int) error

	inflater inflate.Decoder
	packed   []byte    // decoded from base64
	raw      []byte    // inflated
	payload  Payload   // the last result of Open
	counts   Histogram // memory for payloads whose layout differs from that of the sum
}

// Decode sets h to the counts of a payload in base64, and reuses the memory of h. After an error, h
// is empty. The errors are those of [Decoder.Open] and [Payload.AddTo].
func (d *Decoder) Decode(h *Histogram, text []byte) error {
	p, err := d.Open(text)
	if err != nil {
		h.reset(h.layout)
		return err
	}
	return p.Decode(h)
}

// AddTo adds the counts of a payload in base64 to sum. As in [Histogram.Add], sum takes the finer
// of both layouts. After an error, sum is unchanged. The errors are those of [Decoder.Open] and
// [Payload.AddTo].
func (d *Decoder) AddTo(sum *Histogram, text []byte) error {
	p, err := d.Open(text)
	if err != nil {
		return err
	}
	return p.AddTo(sum)
}

// Open opens a payload in base64: it inflates it, verifies the checksum and reads the header, but
// does not decode the counts. The result is valid until d is used again. Open does not keep text.
//
// The error wraps [ErrBase64], [ErrHeader], [ErrTruncated], [ErrTooLong], [ErrCorrupt] or
// [ErrChecksum].
func (d *Decoder) Open(text []byte) (*Payload, error) {
	packed, err := decodeBase64(d.packed, text)
	d.packed = packed
	if err != nil {
		return nil, err
	}
	return d.OpenBinary(packed)
}

// OpenBinary is [Decoder.Open] for a payload that is not in base64, such as that of
// [Histogram.AppendBinary]. Packed must not change while the result is in use.
func (d *Decoder) OpenBinary(packed []byte) (*Payload, error) {
	p := &d.payload
	*p = Payload{decoder: d, total: -1}
	if len(packed) < 8 {
		return nil, fmt.Errorf("%w: %d bytes do not hold a header", ErrTruncated, len(packed))
	}
	cookie := binary.BigEndian.Uint32(packed)
	if cookie == cookieDouble || cookie == cookieDoubleComp {
		return d.openDouble(packed, cookie == cookieDoubleComp)
	}
	if err := d.openInteger(packed); err != nil {
		return nil, err
	}
	p.layout.Ratio = 0
	return p, nil
}

// openDouble opens the payload of a double histogram: a header with the digits and the ratio of
// highest to lowest value, and then the payload of an integer histogram.
func (d *Decoder) openDouble(packed []byte, compressed bool) (*Payload, error) {
	p := &d.payload
	if len(packed) < 24 {
		return nil, fmt.Errorf("%w: %d bytes do not hold a double histogram's header", ErrTruncated, len(packed))
	}
	copy(p.double[:], packed)
	digits := int32(binary.BigEndian.Uint32(packed[4:]))
	inner := packed[16:]
	if isCompressed(binary.BigEndian.Uint32(inner)) != compressed {
		return nil, fmt.Errorf("%w: double histogram around cookie %#x", ErrHeader, binary.BigEndian.Uint32(inner))
	}
	if err := d.openInteger(inner); err != nil {
		return nil, err
	}
	switch {
	case int(digits) != p.layout.Digits:
		return nil, fmt.Errorf("%w: %d significant digits around %d", ErrHeader, digits, p.layout.Digits)
	case p.version == 0:
		return nil, fmt.Errorf("%w: a double histogram around version 0", ErrHeader)
	case !(p.layout.Ratio > 0) || math.IsInf(p.layout.Ratio, 1):
		return nil, fmt.Errorf("%w: conversion ratio %v", ErrHeader, p.layout.Ratio)
	}
	return p, nil
}

// cookieBase returns a cookie without the bits of the word size.
func cookieBase(cookie uint32) uint32 { return cookie &^ wordSizeBits }

func isCompressed(cookie uint32) bool {
	switch cookieBase(cookie) {
	case cookieV0Compressed, cookieV1Compressed, cookieV2Compressed:
		return true
	}
	return false
}

// openInteger opens the payload of an integer histogram, compressed or plain, into d.payload. It
// sets the ratio of the layout to the ratio in the header.
func (d *Decoder) openInteger(packed []byte) error {
	cookie := binary.BigEndian.Uint32(packed)
	if !isCompressed(cookie) {
		if err := d.payload.parseHeader(packed); err != nil {
			return err
		}
		if d.payload.version == 0 {
			if d.payload.total = int64(binary.BigEndian.Uint64(packed[24:])); d.payload.total < 0 {
				return fmt.Errorf("%w: a total of %d values", ErrHeader, d.payload.total)
			}
		}
		return d.payload.setCounts(packed)
	}
	length := int64(binary.BigEndian.Uint32(packed[4:]))
	if held := int64(len(packed) - 8); held < length {
		return fmt.Errorf("%w: %d of %d compressed bytes", ErrTruncated, held, length)
	} else if held > length {
		return fmt.Errorf("%w: %d compressed bytes, not %d", ErrTooLong, held, length)
	}
	d.payload.compressed = true
	raw, err := d.inflate(packed[8:])
	if err != nil {
		return err
	}
	return d.payload.setCounts(raw)
}

// parseHeader reads the header at the start of raw.
func (p *Payload) parseHeader(raw []byte) error {
	if len(raw) < 4 {
		return fmt.Errorf("%w: %d bytes do not hold a header", ErrTruncated, len(raw))
	}
	cookie := binary.BigEndian.Uint32(raw)
	size := headerSize
	switch cookieBase(cookie) {
	case cookieV0:
		p.version, size = 0, headerSizeV0
	case cookieV1:
		p.version = 1
	case cookieV2:
		p.version = 2
	default:
		return fmt.Errorf("%w: no histogram has cookie %#x", ErrHeader, cookie)
	}
	if len(raw) < size {
		return fmt.Errorf("%w: %d bytes do not hold a header", ErrTruncated, len(raw))
	}
	digits := raw[4:]
	lowest := raw[8:]
	highest := raw[16:]
	ratio := 1.0
	if p.version > 0 {
		digits = raw[12:]
		lowest = raw[16:]
		highest = raw[24:]
		ratio = math.Float64frombits(binary.BigEndian.Uint64(raw[32:]))
	}
	p.layout = Layout{
		Digits: int(int32(binary.BigEndian.Uint32(digits))),
		Lowest: int64(binary.BigEndian.Uint64(lowest)),
	}
	p.highest = int64(binary.BigEndian.Uint64(highest))
	if p.layout.Lowest < 1 {
		return fmt.Errorf("%w: lowest discernible value %d is below 1", ErrHeader, p.layout.Lowest)
	}
	if err := p.layout.Validate(); err != nil {
		return fmt.Errorf("%w: %s", ErrHeader, strings.TrimPrefix(err.Error(), ErrLayout.Error()+": "))
	}
	if p.highest/2 < p.layout.Lowest {
		return fmt.Errorf("%w: highest trackable value %d is below twice the lowest, %d", ErrHeader, p.highest,
			p.layout.Lowest)
	}
	p.layout.Ratio = ratio
	p.slots = p.layout.SlotsFor(p.highest)
	if p.version > 0 {
		// The offset is the place of slot 0 in the memory of the writer. The counts of a payload
		// are in logical order, whatever the offset is. The reference reads them in this order, and
		// cannot read a payload whose offset is beyond the slots.
		if offset := int64(int32(binary.BigEndian.Uint32(raw[8:]))); max(offset, -offset) > int64(p.slots) {
			return fmt.Errorf("%w: normalizing index offset %d with %d slots", ErrHeader, offset, p.slots)
		}
	}
	p.wordSize = int(cookie >> 4 & 0xe)
	if p.version < 2 && p.wordSize != 2 && p.wordSize != 4 && p.wordSize != 8 {
		return fmt.Errorf("%w: counts of %d bytes", ErrHeader, p.wordSize)
	}
	return nil
}

// size returns the size of header and counts in bytes. The header of version 0 does not state it:
// then size is the largest size possible, and exact is false.
func (p *Payload) size(raw []byte) (size int64, exact bool, err error) {
	if p.version == 0 {
		return headerSizeV0 + int64(p.slots)*int64(p.wordSize), false, nil
	}
	length := int64(int32(binary.BigEndian.Uint32(raw[4:])))
	word := p.wordSize
	if p.version == 2 {
		word = maxWordV2
	}
	if length < 0 || length > int64(p.slots)*int64(word) {
		return 0, false, fmt.Errorf("%w: %d bytes of counts for %d slots", ErrHeader, length, p.slots)
	}
	return headerSize + length, true, nil
}

// setCounts sets the counts to the bytes of raw after the header, which was parsed, and checks
// their length.
func (p *Payload) setCounts(raw []byte) error {
	size, exact, err := p.size(raw)
	switch {
	case err != nil:
		return err
	case exact && size > int64(len(raw)):
		return fmt.Errorf("%w: %d of %d bytes", ErrTruncated, len(raw), size)
	case size < int64(len(raw)):
		return fmt.Errorf("%w: %d bytes, not %d", ErrTooLong, len(raw), size)
	}
	p.plain = raw
	if p.version == 0 {
		p.counts = raw[headerSizeV0:]
	} else {
		p.counts = raw[headerSize:]
	}
	if p.version < 2 && len(p.counts)%p.wordSize != 0 {
		return fmt.Errorf("%w: %d bytes of counts of %d bytes", ErrTruncated, len(p.counts), p.wordSize)
	}
	return nil
}

// maxInflation is above 1032, the largest ratio of inflated to deflated bytes: two bits can stand
// for a match of 258 bytes.
const maxInflation = 1040

// firstRaw is the size in bytes of the first buffer for inflated payloads. It is enough for three
// digits in a load test.
const firstRaw = 64 << 10

// inflate inflates a zlib stream and parses the header at its beginning. It takes no more memory
// than the header justifies, so a small stream of very many zeros costs nothing.
func (d *Decoder) inflate(deflated []byte) ([]byte, error) {
	if d.raw == nil {
		d.raw = make([]byte, firstRaw)
	}
	n, more, err := d.inflateInto(d.raw, deflated)
	if err != nil {
		return nil, err
	}
	if err := d.payload.parseHeader(d.raw[:n]); err != nil {
		return nil, err
	}
	if !more {
		return d.raw[:n], nil
	}
	size, _, err := d.payload.size(d.raw[:n])
	if err != nil {
		return nil, err
	}
	if size <= int64(n) {
		return nil, fmt.Errorf("%w: more than %d bytes, not %d", ErrTooLong, n, size)
	}
	if d.payload.version > 0 && size > maxInflation*int64(len(deflated)) {
		return nil, fmt.Errorf("%w: %d compressed bytes do not hold %d", ErrTruncated, len(deflated), size)
	}
	size = min(size, maxInflation*int64(len(deflated)))
	if d.Grow != nil {
		if err := d.Grow(int(size)); err != nil {
			return nil, err
		}
	}
	d.raw = make([]byte, size)
	n, more, err = d.inflateInto(d.raw, deflated)
	if more {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLong, n)
	}
	return d.raw[:n], err
}

// Decode sets h to the counts of the payload, and reuses the memory of h. After an error, h is
// empty. The errors are those of [Payload.AddTo].
func (p *Payload) Decode(h *Histogram) error {
	h.reset(p.layout)
	if p.decodeSparse(h) {
		return nil
	}
	return p.addTo(h)
}

// AddTo adds the counts to sum. As in [Histogram.Add], sum takes the finer of both layouts. After
// an error, sum is unchanged. The error wraps [ErrCorrupt], [ErrNegativeCount], [ErrTruncated],
// [ErrKind], [ErrSpan] or [ErrOverflow].
func (p *Payload) AddTo(sum *Histogram) error {
	if sum.layout.Lowest == 0 {
		sum.reset(p.layout)
		err := p.addTo(sum)
		if err != nil {
			sum.reset(Layout{})
		}
		return err
	}
	if sum.layout.sameSlots(p.layout) {
		if err := p.addTo(sum); err != nil {
			return err
		}
		// The slots stay the same.
		sum.layout.Lowest = min(sum.layout.Lowest, p.layout.Lowest)
		return nil
	}
	counts := &p.decoder.counts
	counts.reset(p.layout)
	if err := p.addTo(counts); err != nil {
		return err
	}
	return sum.Add(counts)
}
