package histogram

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
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
	if _, err := base64.StdEncoding.Decode(begin, text[:chars]); err != nil {
		return false
	}
	size := base64.RawStdEncoding.DecodedLen(len(bytes.TrimRight(text, "="))) - 8
	switch cookie := binary.BigEndian.Uint32(begin); {
	case cookie == cookieDoubleComp && len(text) < charsDouble:
		return true
	case cookie == cookieDoubleComp:
		if _, err := base64.StdEncoding.Decode(begin, text[:charsDouble]); err != nil {
			return false
		}
		begin, size = begin[16:], size-16
	case !isCompressed(cookie):
		return false
	}
	return int64(size) < int64(binary.BigEndian.Uint32(begin[4:]))
}

// AppendBinary appends the payload to packed as one of version 2, neither compressed nor in base64,
// which [Decoder.OpenBinary] opens in a fraction of the time of [Decoder.Open]. It checks the
// counts as [Payload.Check] does. The counts of a bulky payload are encoded again. The errors are
// those of [Payload.AddTo] and of [Histogram.AppendBinary].
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

// Bulky reports whether the inflated payload takes much more memory than the compressed one. Those
// of load tests take 2.7 times as much.
func (p *Payload) Bulky() bool { return len(p.plain) > 5*p.encoded+256 }
