//go:build !purego

package mem

import (
	"encoding/binary"
	"unsafe"
)

// Load8 returns the byte at b[i]. 0 <= i < len(b).
func Load8(b []byte, i int) byte { return *(*byte)(at(b, i)) }

// Load64 returns the eight bytes from b[i] on, the first one lowest. 0 <= i <= len(b)-8.
func Load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64((*[8]byte)(at(b, i))[:]) }

// LoadBig64 returns the eight bytes from b[i] on, the first one highest. 0 <= i <= len(b)-8.
func LoadBig64(b []byte, i int) uint64 { return binary.BigEndian.Uint64((*[8]byte)(at(b, i))[:]) }

// Store16 writes the two bytes of v to b[i] and after it, the lowest one first. 0 <= i <= len(b)-2.
func Store16(b []byte, i int, v uint16) { binary.LittleEndian.PutUint16((*[2]byte)(at(b, i))[:], v) }

// Store64 writes the eight bytes of v from b[i] on, the lowest one first. 0 <= i <= len(b)-8.
func Store64(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64((*[8]byte)(at(b, i))[:], v) }

// StoreBig64 writes the eight bytes of v from b[i] on, the highest one first. 0 <= i <= len(b)-8.
func StoreBig64(b []byte, i int, v uint64) { binary.BigEndian.PutUint64((*[8]byte)(at(b, i))[:], v) }

// Add adds n to counts[i]. 0 <= i < len(counts).
func Add(counts []int64, i int, n int64) {
	*(*int64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(counts)), i*8)) += n
}

// String returns b as a string. B must not change while the string is in use.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func at(b []byte, i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)
}
