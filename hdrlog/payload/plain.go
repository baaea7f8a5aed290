package payload

import (
	"encoding/base64"
	"encoding/binary"
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

// AppendPlain appends the payload as it is without compression and base64: [Decoder.OpenBinary] opens that again, at a
// fraction of what [Decoder.Open] costs.
func (p *Payload) AppendPlain(packed []byte) []byte {
	if p.Layout.Ratio != 0 {
		packed = binary.BigEndian.AppendUint32(packed, cookieDouble)
		packed = append(packed, p.double[4:]...)
	}
	return append(packed, p.plain...)
}

// PlainSize returns how many bytes AppendPlain appends.
func (p *Payload) PlainSize() int { return len(p.double) + len(p.plain) }
