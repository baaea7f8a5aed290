package histogram

import (
	"encoding/base64"
	"encoding/binary"

	"hdrkit/hdrlog/internal/base64x"
)

// Peek reports whether text begins like the payload of a double histogram and like a compressed
// payload. It reports neither for other text.
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

// CutShort reports whether text is a compressed payload that is shorter than its length says, as in
// a line that a crash cut short. It reads at most 32 characters. If it reports true, [Decoder.Open]
// fails.
func CutShort(text []byte) bool {
	const (
		chars       = 12 // for the 8 bytes of cookie and length
		charsDouble = 32 // for 16 bytes more before them
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

// AppendBinary appends the payload to packed, neither compressed nor in base64.
// [Decoder.OpenBinary] opens it in a fraction of the time of [Decoder.Open].
func (p *Payload) AppendBinary(packed []byte) []byte {
	if p.layout.Ratio != 0 {
		packed = binary.BigEndian.AppendUint32(packed, cookieDouble)
		packed = append(packed, p.double[4:]...)
	}
	packed = append(packed, p.plain...)
	if p.version == 0 {
		// The total of a compressed payload can be wrong; see Payload. If a count is wrong,
		// the total does not matter.
		total, _ := p.words(func(int, int64) error { return nil })
		binary.BigEndian.PutUint64(packed[len(packed)-len(p.plain)+24:], uint64(total))
	}
	return packed
}

// BinarySize returns an upper limit of the number of bytes that AppendBinary appends.
func (p *Payload) BinarySize() int { return len(p.double) + len(p.plain) }
