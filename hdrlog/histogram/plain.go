package histogram

import (
	"encoding/base64"
	"encoding/binary"

	"hdrkit/hdrlog/internal/base64x"
)

// Peek tells from the beginning of a payload's text whether it is that of a double histogram and whether it is compressed.
// Of what is no payload it says neither.
func Peek(text []byte) (double, compressed bool) {
	var begin [6]byte
	if len(text) < 8 {
		return false, false
	}
	if _, err := base64.StdEncoding.Decode(begin[:], text[:8]); err != nil {
		return false, false
	}
	cookie := binary.BigEndian.Uint32(begin[:])
	return cookie == cookieDouble || cookie == cookieDoubleComp, cookie == cookieDoubleComp || isCompressed(cookie)
}

// CutShort reports whether a payload's text is that of a compressed one and shorter than the length which the payload begins
// with tells, as in a line cut short by a crash. It reads no more than the first 32 characters, so that it costs next to
// nothing. [Decoder.Open] fails then; where CutShort says no, it may still.
func CutShort(text []byte) bool {
	const (
		chars       = 12 // hold the 8 bytes of cookie and length
		charsDouble = 32 // hold 16 bytes more before them
	)
	if len(text) < chars {
		_, compressed := Peek(text)
		return compressed
	}
	var buf [32]byte
	begin := buf[:]
	if _, err := base64x.Decode(begin, text[:chars]); err != nil {
		return false
	}
	size := len(text)
	for size > 0 && text[size-1] == '=' {
		size--
	}
	size = base64x.DecodedLen(size) - 8
	switch cookie := binary.BigEndian.Uint32(begin); {
	case cookie == cookieDoubleComp && len(text) < charsDouble:
		return true
	case cookie == cookieDoubleComp:
		if _, err := base64x.Decode(begin, text[:charsDouble]); err != nil {
			return false
		}
		begin, size = begin[16:], size-16
	case !isCompressed(cookie):
		return false
	}
	return int64(size) < int64(binary.BigEndian.Uint32(begin[4:]))
}

// AppendBinary appends the payload to packed, neither compressed nor in base64. [Decoder.OpenBinary] opens it at a fraction
// of the cost of [Decoder.Open].
func (p *Payload) AppendBinary(packed []byte) []byte {
	if p.layout.Ratio != 0 {
		packed = binary.BigEndian.AppendUint32(packed, cookieDouble)
		packed = append(packed, p.double[4:]...)
	}
	packed = append(packed, p.plain...)
	if p.version == 0 {
		// The total of a compressed payload may be wrong; see Payload. If a count is wrong, so is any total.
		total, _ := p.words(func(int, int64) error { return nil })
		binary.BigEndian.PutUint64(packed[len(packed)-len(p.plain)+24:], uint64(total))
	}
	return packed
}

// BinarySize returns an upper limit of the number of bytes that AppendBinary appends.
func (p *Payload) BinarySize() int { return len(p.double) + len(p.plain) }
