package histogram

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
)

// Peek looks at the first 32 characters of a payload. It reports whether they are those of a double
// histogram, whether the payload is compressed, and whether it is compressed and shorter than its
// length says, as in a line that a crash cut short. [Decoder.Open] fails then. Peek is for hdrsplit
// and package beam, which distinguish payloads that they do not decode.
func Peek(text []byte) (double, compressed, cutShort bool) {
	var begin [24]byte
	n, _ := base64.RawStdEncoding.Decode(begin[:], text[:min(len(text), 32)])
	if n < 6 {
		return false, false, false
	}
	cookie, at := binary.BigEndian.Uint32(begin[:]), 4
	double = cookie == cookieDouble || cookie == cookieDoubleComp
	if double {
		at += 16 // the length is that of the integer histogram inside
	}
	compressed = cookie == cookieDoubleComp || isCompressed(cookie)
	size := base64.RawStdEncoding.DecodedLen(len(bytes.TrimRight(text, "="))) - at - 4
	cutShort = compressed && (n < at+4 || int64(size) < int64(binary.BigEndian.Uint32(begin[at:])))
	return double, compressed, cutShort
}

// AppendBinary appends the payload to packed as one of version 2, neither compressed nor in base64,
// which [Decoder.OpenBinary] opens in a fraction of the time of [Decoder.Open]. It checks the
// counts as [Payload.Check] does. The errors are those of [Payload.AddTo] and of
// [Histogram.AppendBinary].
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
