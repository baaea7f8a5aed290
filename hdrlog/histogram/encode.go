package histogram

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/klauspost/compress/zlib"

	"hdrkit/hdrlog/internal/deflate"
)

// wordV2 is the word size in a cookie of version 2.
const wordV2 = 0x10

// An Encoder encodes histograms as payloads of version 2. It reuses its memory for the next
// histogram. The zero value is ready. It is not safe for concurrent use.
type Encoder struct {
	raw     []byte // header and counts
	packed  []byte // the compressed payload
	huffman deflate.Writer
	matched bytes.Buffer // the stream with matches
}

// AppendBase64 appends the payload of h to text, compressed and in base64. The error wraps
// [ErrLayout] if h has no layout, or [ErrSpan] if the values of a double histogram lie so far apart
// that the reference cannot read the payload.
func (e *Encoder) AppendBase64(text []byte, h *Histogram) ([]byte, error) {
	packed, err := e.Encode(h)
	if err != nil {
		return text, err
	}
	return base64.StdEncoding.AppendEncode(text, packed), nil
}

// Encode returns the compressed payload of h, not in base64. It is valid until e is used again. The
// errors are those of [Encoder.AppendBase64].
func (e *Encoder) Encode(h *Histogram) ([]byte, error) {
	h, head, highest, err := encodable(h)
	if err != nil {
		return nil, err
	}
	e.raw = appendRaw(e.raw[:0], h, highest)
	return e.compress(head, cookieV2Compressed|wordV2, e.raw)
}

// AppendBinary appends the payload of h to packed, neither compressed nor in base64.
// [Histogram.UnmarshalBinary] decodes it. A payload does not hold the minimum that
// [Histogram.LowerMin] sets: the minimum becomes the lowest value of the lowest slot. The errors
// are those of [Encoder.AppendBase64].
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

// MarshalBinary returns the payload of h, neither compressed nor in base64. It is
// [Histogram.AppendBinary] for [encoding.BinaryMarshaler].
func (h *Histogram) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// UnmarshalBinary sets h to the counts of a payload that is not in base64, such as that of
// [Histogram.AppendBinary]. The payload may be compressed. The errors are those of [Decoder.Decode]
// except [ErrBase64]. After an error, h is empty. UnmarshalBinary does not keep data. A [Decoder]
// that is used again allocates less.
func (h *Histogram) UnmarshalBinary(data []byte) error {
	p, err := new(Decoder).OpenBinary(data)
	if err != nil {
		h.reset(h.layout)
		return err
	}
	return p.Decode(h)
}

// encodable returns the integer histogram to encode for h, and its highest trackable value. For a
// double histogram it also returns the header that comes before the integer histogram.
func encodable(h *Histogram) (_ *Histogram, head []byte, highest int64, err error) {
	switch {
	case h.layout.Lowest == 0:
		return nil, nil, 0, errNoLayout
	case h.Double():
		return doubleHeader(h)
	}
	// The reference requires a highest trackable value of at least twice the lowest.
	return h, nil, max(h.Layout().HighestAt(h.Layout().SlotsFor(h.Max())-1), 2*h.Layout().Lowest), nil
}

// compress compresses raw, and puts head, the cookie and the length before the stream.
func (e *Encoder) compress(head []byte, cookie uint32, raw []byte) ([]byte, error) {
	packed := append(e.packed[:0], head...)
	packed = binary.BigEndian.AppendUint32(packed, cookie)
	packed = append(packed, 0, 0, 0, 0) // for the length
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

// Dense counts rarely repeat. So Huffman codes alone make the shorter stream, much faster. Matches
// win for small payloads, which are mostly header, and for payloads that repeat themselves. So
// compress also tries matches for these two, at the level that compresses them best. Each try
// clears 640 KB: with a limit of 1024 bytes instead of 320, a union of logs with 60 operations a
// second has the same bytes, and takes 7% more CPU time. bench/compression.md has the numbers.
const (
	shortRaw   = 320 // bytes
	matchLevel = 7
)

// match writes raw to e.matched as a zlib stream with matches.
func (e *Encoder) match(raw []byte) error {
	e.matched.Reset()
	w := matchers.Get().(*zlib.Writer)
	defer matchers.Put(w)
	w.Reset(&e.matched)
	if _, err := w.Write(raw); err != nil {
		return err
	}
	return w.Close()
}

// matchers are zlib writers that look for matches. Each takes a megabyte.
var matchers = sync.Pool{New: func() any {
	w, err := zlib.NewWriterLevel(nil, matchLevel)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// doubleHeader returns the integer histogram to encode for a double histogram, the header of the
// double histogram, and the highest trackable value of the integer histogram. The reference
// computes header and highest value from the ratio of the highest to the lowest value. It requires
// that ratio to be at least 2 and, times 10^digits, below 2^61. It knows no lowest discernible
// value other than 1.
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

// appendRaw appends the header and the counts of h. highest is its highest trackable value.
func appendRaw(raw []byte, h *Histogram, highest int64) []byte {
	layout := h.Layout()
	start := len(raw)
	raw = binary.BigEndian.AppendUint32(raw, cookieV2|wordV2)
	raw = append(raw, 0, 0, 0, 0) // for the length of the counts
	raw = append(raw, 0, 0, 0, 0) // normalizing index offset
	raw = binary.BigEndian.AppendUint32(raw, uint32(layout.Digits))
	raw = binary.BigEndian.AppendUint64(raw, uint64(layout.Lowest))
	raw = binary.BigEndian.AppendUint64(raw, uint64(highest))
	raw = binary.BigEndian.AppendUint64(raw, math.Float64bits(h.Ratio()))
	raw = h.AppendCounts(raw)
	binary.BigEndian.PutUint32(raw[start+4:], uint32(len(raw)-start-headerSize))
	return raw
}

// AppendCounts appends the counts of h, up to that of its highest value, in the encoding of
// payloads: ZigZag LEB128 numbers, where n is a count and -n stands for n empty slots. An empty
// histogram is one empty slot.
func (h *Histogram) AppendCounts(raw []byte) []byte {
	if h.TotalCount() == 0 {
		return append(raw, 0)
	}
	next := 0 // the slot after the last encoded one
	for _, s := range h.sparse {
		raw = appendZigZag(appendGap(raw, s.index-next), s.n)
		next = s.index + 1
	}
	if len(h.sparse) > 0 {
		return raw
	}
	empty := 0 // number of empty slots since the last count
	for low, counts := range h.segments() {
		empty += low - next
		next = low + len(counts)
		for ; len(counts) > 0; counts = counts[64:] {
			chunk := (*[64]int64)(counts)
			raw = slices.Grow(raw, chunkRoom)
			var small [64 + 8]byte
			filled, ored := packBytes(&small, chunk)
			switch {
			case ored == 0:
				empty += 64
			case ored > maxSmall:
				raw, empty = appendPlainly(raw, chunk[:], empty)
			default:
				raw = appendSmall(raw, &small, filled, empty)
				empty = bits.LeadingZeros64(filled)
			}
		}
	}
	return raw
}

// appendPlainly appends counts that follow empty slots. It returns the number of empty slots at the
// end, which are not appended. It is the plain version of AppendCounts.
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

// maxSmall is the largest count that takes one byte.
const maxSmall = 63

// packBytes converts each count to a byte, and sets a bit of filled for each slot with a count.
// ored is the bitwise or of all counts. If it is above maxSmall, a count does not fit a byte, and
// the bytes mean nothing.
func packBytes(small *[64 + 8]byte, counts *[64]int64) (filled uint64, ored int64) {
	for i := 0; i < 64; i += 8 {
		c := (*[8]int64)(counts[i:])
		word := ((c[7]<<8|c[6])<<8|c[5])<<8 | c[4]
		ored |= c[7] | c[6] | c[5] | c[4]
		word = (((word<<8|c[3])<<8|c[2])<<8|c[1])<<8 | c[0]
		ored |= c[3] | c[2] | c[1] | c[0]
		binary.LittleEndian.PutUint64(small[i:], uint64(word))
		// Adding 127 sets the highest bit of each byte that is not 0. The product gathers
		// these bits.
		set := (uint64(word) + 0x7f*ones) >> 7 & ones
		filled = filled>>8 | set*0x0102040810204080&^(1<<56-1)
	}
	return filled, ored
}

// appendSmall appends the counts of a chunk that follow empty slots. Contract: all counts are at
// most maxSmall, and raw has chunkRoom bytes of room.
//
// A single empty slot is encoded like a count of 0, so solid has its bit, too. appendSmall writes
// up to eight slots at a time, up to the next run of several empty slots. This takes a third of the
// time of appendPlainly (BenchmarkAppendCounts).
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

// chunkRoom is the most bytes that a chunk of 64 counts takes: maxWordV2 for each count, and for
// the empty slots before the chunk.
const chunkRoom = 65 * maxWordV2

// gapCodes holds the encoded lengths of runs of up to 64 empty slots, which take one byte each.
var gapCodes = func() (codes [65]byte) {
	for gap := 1; gap < len(codes); gap++ {
		codes[gap] = appendGap(nil, gap)[0]
	}
	return codes
}()

// appendGap appends the number that stands for a run of gap empty slots.
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
