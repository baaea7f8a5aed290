package histogram

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zlib"

	"hdrkit/hdrlog/internal/base64x"
	"hdrkit/hdrlog/internal/deflate"
)

// wordV2 marks a cookie of version 2, whose counts have no word size.
const wordV2 = 0x10

// An Encoder encodes histograms as payloads of version 2. It owns the memory that it needs to do so and uses it again
// each time. The zero value is ready. It is not safe for concurrent use.
type Encoder struct {
	raw     []byte
	packed  []byte
	huffman deflate.Writer
	matches *zlib.Writer
	matched bytes.Buffer // what a second try, with matches, comes to
}

// AppendBase64 appends the payload of h to text, compressed and in base64, and returns the extended slice. The error
// wraps [ErrSpan] if the reference cannot read a double histogram whose values lie so far apart, or [ErrLayout] if h has no
// layout.
func (e *Encoder) AppendBase64(text []byte, h *Histogram) ([]byte, error) {
	packed, err := e.Encode(h)
	if err != nil {
		return text, err
	}
	return base64x.AppendEncode(text, packed), nil
}

// Encode returns the payload of h, compressed but not in base64. It is valid until e is used again.
func (e *Encoder) Encode(h *Histogram) ([]byte, error) {
	h, head, highest, err := encodable(h)
	if err != nil {
		return nil, err
	}
	e.raw = appendRaw(e.raw[:0], h, highest)
	return e.pack(head, cookieV2Compressed|wordV2, e.raw)
}

// AppendBinary appends the payload of h to packed, neither compressed nor in base64. [Decoder.OpenBinary] opens it. The
// error is that of [Encoder.AppendBase64].
func (h *Histogram) AppendBinary(packed []byte) ([]byte, error) {
	h, head, highest, err := encodable(h)
	if err != nil {
		return packed, err
	}
	if head != nil {
		packed = binary.BigEndian.AppendUint32(packed, cookieDouble)
		packed = append(packed, head[4:]...)
	}
	return appendRaw(packed, h, highest), nil
}

// encodable returns the integer histogram to encode for h, its highest trackable value, and what stands before it if h is a
// double one.
func encodable(h *Histogram) (_ *Histogram, head []byte, highest int64, err error) {
	switch {
	case h.layout.Lowest == 0:
		return nil, nil, 0, errNoLayout
	case h.Double():
		return doubleHeader(h)
	}
	// The reference wants the highest trackable value to be at least twice the lowest.
	return h, nil, max(h.Layout().HighestAt(h.Layout().SlotsFor(h.Max())-1), 2*h.Layout().Lowest), nil
}

// AppendCompressed appends the payload p, compressed and in base64, to text: the same header and counts, for readers that
// take no plain payloads, as the reference's.
func (e *Encoder) AppendCompressed(text []byte, p *Payload) ([]byte, error) {
	cookie := [...]uint32{cookieV0Compressed, cookieV1Compressed, cookieV2Compressed | wordV2}[p.version]
	var head []byte
	if p.layout.Ratio != 0 {
		head = append(binary.BigEndian.AppendUint32(nil, cookieDoubleComp), p.double[4:]...)
	}
	packed, err := e.pack(head, cookie, p.plain)
	if err != nil {
		return text, err
	}
	return base64x.AppendEncode(text, packed), nil
}

// pack compresses raw and puts the cookie and the length before it, and head before those.
func (e *Encoder) pack(head []byte, cookie uint32, raw []byte) ([]byte, error) {
	packed := append(e.packed[:0], head...)
	packed = binary.BigEndian.AppendUint32(packed, cookie)
	packed = append(packed, 0, 0, 0, 0) // the length, once it is known
	begin := len(packed)
	packed = e.huffman.AppendZlib(packed, raw)
	if size := len(packed) - begin; len(raw) <= shortRaw || size < len(raw)*3/10 {
		if err := e.match(raw); err != nil {
			return nil, err
		}
		if e.matched.Len() < size {
			packed = append(packed[:begin], e.matched.Bytes()...)
		}
	}
	binary.BigEndian.PutUint32(packed[begin-4:], uint32(len(packed)-begin))
	e.packed = packed
	return packed, nil
}

// Counts of a dense histogram hardly ever repeat what went before, so that Huffman codes alone make the shorter stream, and
// a good deal faster. Matches win where there is little, mostly the header, or much the same again and again. So the
// latter are tried with matches as well, at the level that does best with them. docs/compression.md has the numbers.
const (
	shortRaw   = 1024 // bytes
	matchLevel = 7
)

// match writes raw to e.matched as a zlib stream with matches, by a writer that it makes the first time.
func (e *Encoder) match(raw []byte) error {
	e.matched.Reset()
	if e.matches == nil {
		made, err := zlib.NewWriterLevel(&e.matched, matchLevel)
		if err != nil {
			return err
		}
		e.matches = made
	} else {
		e.matches.Reset(&e.matched)
	}
	if _, err := e.matches.Write(raw); err != nil {
		return err
	}
	return e.matches.Close()
}

// doubleHeader returns what stands before the integer histogram of a double one, and what that must tell as its highest
// trackable value: the reference derives both from the ratio of the highest to the lowest value, which it wants at
// least 2 and, times ten to the digits, below 2^61. A lowest discernible value other than 1 is unknown to it.
func doubleHeader(h *Histogram) (_ *Histogram, head []byte, highest int64, err error) {
	layout := h.Layout()
	if layout.Lowest != 1 {
		h = h.Clone()
		layout.Lowest = 1
		if err := h.Refine(layout); err != nil {
			return nil, nil, 0, err
		}
	}
	half := int64(layout.SubBuckets() / 2)
	magnitude := max(3, bits.Len64(uint64(h.Max()/half)))
	limit := float64(uint64(1) << (magnitude - 2))
	for range layout.Digits {
		limit *= 10
	}
	if limit >= 1<<61 {
		return nil, nil, 0, fmt.Errorf("%w: %v and %v at %d digits",
			ErrSpan, h.Float(h.Min()), h.Float(h.Max()), layout.Digits)
	}
	head = binary.BigEndian.AppendUint32(nil, cookieDoubleComp)
	head = binary.BigEndian.AppendUint32(head, uint32(layout.Digits))
	head = binary.BigEndian.AppendUint64(head, 1<<(magnitude-2))
	return h, head, half<<magnitude - 1, nil
}

// appendRaw appends the header and the counts of h.
func appendRaw(raw []byte, h *Histogram, highest int64) []byte {
	layout := h.Layout()
	start := len(raw)
	raw = binary.BigEndian.AppendUint32(raw, cookieV2|wordV2)
	raw = append(raw, 0, 0, 0, 0) // the length of the counts, once it is known
	raw = append(raw, 0, 0, 0, 0) // the normalizing index offset
	raw = binary.BigEndian.AppendUint32(raw, uint32(layout.Digits))
	raw = binary.BigEndian.AppendUint64(raw, uint64(layout.Lowest))
	raw = binary.BigEndian.AppendUint64(raw, uint64(highest))
	raw = binary.BigEndian.AppendUint64(raw, math.Float64bits(h.Ratio()))
	raw = appendCounts(raw, h)
	binary.BigEndian.PutUint32(raw[start+4:], uint32(len(raw)-start-headerSize))
	return raw
}

// appendCounts appends the counts of h, up to its highest value, in ZigZag LEB128. A run of more than one empty slot is
// its negated length. An empty histogram has one empty slot.
func appendCounts(raw []byte, h *Histogram) []byte {
	if h.TotalCount() == 0 {
		return append(raw, 0)
	}
	empty, counts := h.filled() // slots since the last one with a count
	for begin := 0; begin < len(counts); begin += 64 {
		chunk := chunkAt(counts, begin)
		if empty >= 64 && allEmpty(chunk) { // one that is empty is seldom alone
			empty += 64
			continue
		}
		var small [64 + 8]byte
		filled, any := pack(&small, chunk)
		switch {
		case any == 0:
			empty += 64
		case any > maxSmall:
			raw, empty = appendPlainly(raw, chunk[:], empty)
		default:
			raw = appendSmall(slices.Grow(raw, chunkRoom), &small, filled, empty)
			empty = bits.LeadingZeros64(filled)
		}
	}
	return raw
}

// chunkAt returns 64 counts, empty ones beyond the last.
func chunkAt(counts []int64, begin int) *[64]int64 {
	if len(counts)-begin >= 64 {
		return (*[64]int64)(counts[begin:])
	}
	var last [64]int64
	copy(last[:], counts[begin:])
	return &last
}

// appendPlainly appends counts that have so many empty slots before them. It returns how many are empty at their end. It is the
// plain version of appendCounts.
func appendPlainly(raw []byte, counts []int64, empty int) (_ []byte, emptyAtEnd int) {
	for _, n := range counts {
		if n == 0 {
			empty++
			continue
		}
		raw = appendZigZag(appendGap(raw, empty), n)
		empty = 0
	}
	return raw, empty
}

func allEmpty(counts *[64]int64) bool {
	var any int64
	for i := 0; i < len(counts); i += 8 {
		c := (*[8]int64)(counts[i:])
		any |= c[0] | c[1] | c[2] | c[3] | c[4] | c[5] | c[6] | c[7]
	}
	return any == 0
}

// maxSmall is the largest count that takes one byte.
const maxSmall = 63

// pack makes a byte of each count, if all are small enough for one, and tells which slots are filled by a bit for each. Any is 0
// if none is, and above maxSmall if a count is.
func pack(small *[64 + 8]byte, counts *[64]int64) (filled uint64, any int64) {
	for i := 0; i < 64; i += 8 {
		c := (*[8]int64)(counts[i:])
		word := ((c[7]<<8|c[6])<<8|c[5])<<8 | c[4]
		any |= c[7] | c[6] | c[5] | c[4]
		word = (((word<<8|c[3])<<8|c[2])<<8|c[1])<<8 | c[0]
		any |= c[3] | c[2] | c[1] | c[0]
		binary.LittleEndian.PutUint64(small[i:], uint64(word))
		// Adding 127 to a byte that is not 0 sets its highest bit, and the product gathers those.
		set := (uint64(word) + 0x7f*ones) >> 7 & ones
		filled = filled>>8 | set*0x0102040810204080&^(1<<56-1)
	}
	return filled, any
}

// appendSmall appends the counts of a chunk of small ones, after so many empty slots. Raw has chunkRoom for them.
//
// One empty slot between two counts is encoded as a count of 0 would be, so that up to eight slots are written at a time
// unless there are two empty ones together. That takes a third of the time of appendPlainly (BenchmarkAppendCounts).
func appendSmall(raw []byte, small *[64 + 8]byte, filled uint64, empty int) []byte {
	room, end := raw[:cap(raw)], len(raw)
	solid := filled | filled<<1&(filled>>1)
	at := 0
	for solid != 0 {
		skip := bits.TrailingZeros64(solid) & 63
		solid >>= skip
		at += skip
		empty += skip
		if empty >= len(gapCodes) {
			end = len(appendGap(room[:end], empty))
		} else {
			room[end] = gapCodes[empty]
			end += (empty + 63) >> 6 // 0 or 1
		}
		run := min(bits.TrailingZeros64(^solid), 8)
		binary.LittleEndian.PutUint64(room[end:], binary.LittleEndian.Uint64(small[at&63:])<<1)
		end += run
		solid >>= run
		at += run
		empty = 0
	}
	return room[:end]
}

// chunkRoom is what a chunk of small counts takes at most: a byte a slot, maxWordV2 for the empty ones before it, and what the
// last eight bytes written go beyond the last count.
const chunkRoom = 64 + maxWordV2 + 8

// gapCodes are the codes of up to 64 empty slots, which take one byte.
var gapCodes = func() (codes [65]byte) {
	for gap := 1; gap < len(codes); gap++ {
		codes[gap] = appendGap(nil, gap)[0]
	}
	return codes
}()

// appendGap appends a number of empty slots.
func appendGap(raw []byte, gap int) []byte {
	switch gap {
	case 0:
		return raw
	case 1:
		return append(raw, 0)
	}
	return appendZigZag(raw, -int64(gap))
}

func appendZigZag(raw []byte, n int64) []byte {
	v := uint64(n<<1) ^ uint64(n>>63)
	for range 8 {
		if v < 0x80 {
			return append(raw, byte(v))
		}
		raw = append(raw, byte(v)|0x80)
		v >>= 7
	}
	return append(raw, byte(v))
}
