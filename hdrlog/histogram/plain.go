package histogram

import (
	"encoding/base64"
	"encoding/binary"
	"math"
)

// Peek reads the first 32 characters of a payload, for packages that copy or distinguish payloads
// and do not decode them. It reports whether the histogram is double and the payload compressed.
// length is the number of characters without padding that the header asks for: 0 if the header does
// not state it, and [math.MaxInt64] for a compressed payload of fewer than 32 characters.
// [Decoder.Open] fails if the payload is shorter, as in a line that a crash cut short.
func Peek(text []byte) (double, compressed bool, length int64) {
	var begin [24]byte
	n, _ := base64.RawStdEncoding.Decode(begin[:], text[:min(len(text), 32)])
	cookie, at := binary.BigEndian.Uint32(begin[:]), 0
	if double = cookie == cookieDouble || cookie == cookieDoubleComp; double {
		at = 16 // the length is that of the integer histogram inside
	}
	compressed = cookie == cookieDoubleComp || isCompressed(cookie)
	inner, size := binary.BigEndian.Uint32(begin[at:]), int64(at)+8+int64(binary.BigEndian.Uint32(begin[at+4:]))
	switch {
	case n < len(begin) && compressed:
		return double, compressed, math.MaxInt64
	case n < len(begin):
		return double, compressed, 0
	case cookieBase(inner) == cookieV1, cookieBase(inner) == cookieV2:
		size += headerSize - 8
	case !isCompressed(inner):
		return double, compressed, 0
	}
	return double, compressed, (4*size + 2) / 3
}

// AppendCounts appends the counts in the encoding of [Histogram.AppendCounts], without a check. The
// payload must be of version 2.
func (p *Payload) AppendCounts(raw []byte) []byte { return append(raw, p.counts...) }

// AppendBinary appends the payload to packed, as a payload of version 2 that is neither compressed
// nor in base64. Package merge keeps such payloads in memory: [Decoder.OpenBinary] opens them in a
// fraction of the time of [Decoder.Open]. AppendBinary checks the counts as [Payload.Check] does.
// The errors are those of [Payload.AddTo] and of [Histogram.AppendBinary].
func (p *Payload) AppendBinary(packed []byte) ([]byte, error) {
	if p.version < 2 {
		h := &p.decoder.counts
		if err := p.Decode(h); err != nil {
			return packed, err
		}
		return h.AppendBinary(packed)
	}
	if err := p.Check(); err != nil {
		return packed, err
	}
	if p.layout.Ratio != 0 {
		packed = binary.BigEndian.AppendUint32(packed, cookieDouble)
		packed = append(packed, p.double[4:]...)
	}
	return append(packed, p.plain...), nil
}
