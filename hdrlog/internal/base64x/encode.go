package base64x

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"unsafe"
)

// pairs[v] is the two characters of 12 bits, the first one lowest.
var pairs = func() (p [1 << 12]uint16) {
	for v := range p {
		p[v] = uint16(alphabet[v>>6]) | uint16(alphabet[v&63])<<8
	}
	return p
}()

// AppendEncode appends src in base64, padded, to dst and returns the extended slice.
func AppendEncode(dst, src []byte) []byte {
	n := len(dst)
	size := base64.StdEncoding.EncodedLen(len(src))
	dst = slices.Grow(dst, size)[:n+size]
	done := encodeSixes(dst[n:], src)
	base64.StdEncoding.Encode(dst[n+done/3*4:], src[done:])
	return dst
}

// encodeSixes encodes what it can of src six bytes at a time, and returns how many it has encoded. Six bytes are eight
// characters, but eight are read. The condition of the loop is what makes the pointers good.
func encodeSixes(dst, src []byte) (done int) {
	from, to := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(dst))
	for n := 0; done+8 <= len(src); n += 8 {
		v := binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(from, done))[:])
		chars := uint64(pairs[v>>52]) | uint64(pairs[v>>40&0xfff])<<16 | uint64(pairs[v>>28&0xfff])<<32 | uint64(pairs[v>>16&0xfff])<<48
		binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(to, n))[:], chars)
		done += 6
	}
	return done
}
