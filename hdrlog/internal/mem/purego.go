//go:build purego

package mem

import "encoding/binary"

// Load8 returns the byte at b[i]. 0 <= i < len(b).
func Load8(b []byte, i int) byte { return b[i] }

// Load64 returns the eight bytes from b[i] on, the first one lowest. 0 <= i <= len(b)-8.
func Load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// LoadBig64 returns the eight bytes from b[i] on, the first one highest. 0 <= i <= len(b)-8.
func LoadBig64(b []byte, i int) uint64 { return binary.BigEndian.Uint64(b[i : i+8]) }

// Store16 writes the two bytes of v to b[i] and after it, the lowest one first. 0 <= i <= len(b)-2.
func Store16(b []byte, i int, v uint16) { binary.LittleEndian.PutUint16(b[i:i+2], v) }

// Store64 writes the eight bytes of v from b[i] on, the lowest one first. 0 <= i <= len(b)-8.
func Store64(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[i:i+8], v) }

// StoreBig64 writes the eight bytes of v from b[i] on, the highest one first. 0 <= i <= len(b)-8.
func StoreBig64(b []byte, i int, v uint64) { binary.BigEndian.PutUint64(b[i:i+8], v) }

// Add adds n to counts[i]. 0 <= i < len(counts).
func Add(counts []int64, i int, n int64) { counts[i] += n }

// String returns b as a string.
func String(b []byte) string { return string(b) }
