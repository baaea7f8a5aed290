package base64x

import (
	"encoding/base64"
	"slices"

	"hdrkit/hdrlog/internal/mem"
)

// pairs[v] is the two characters of 12 bits, first character lowest.
var pairs = func() (p [1 << 12]uint16) {
	for v := range p {
		p[v] = uint16(alphabet[v>>6]) | uint16(alphabet[v&63])<<8
	}
	return p
}()

// AppendEncode appends src in base64, with padding, to dst.
func AppendEncode(dst, src []byte) []byte {
	n := len(dst)
	size := base64.StdEncoding.EncodedLen(len(src))
	dst = slices.Grow(dst, size)[:n+size]
	done := encodeSixes(dst[n:], src)
	base64.StdEncoding.Encode(dst[n+done/3*4:], src[done:])
	return dst
}

// encodeSixes encodes six bytes at a time, while it can, and returns the number of bytes. It reads
// eight bytes each time. The condition of the loop keeps that within src. Contract: dst has room
// for all.
func encodeSixes(dst, src []byte) (done int) {
	for n := 0; done+8 <= len(src); n += 8 {
		v := mem.LoadBig64(src, done)
		chars := uint64(pairs[v>>52]) | uint64(pairs[v>>40&0xfff])<<16 | uint64(pairs[v>>28&0xfff])<<32 | uint64(pairs[v>>16&0xfff])<<48
		mem.Store64(dst, n, chars)
		done += 6
	}
	return done
}
