// Package deflate compresses memory to zlib streams (RFC 1950 around RFC 1951), with Huffman codes
// and without matches.
//
// Joining logs spent a seventh of its time in the Huffman-only writer of klauspost/compress. This
// package takes 0.41 of the time of that writer (BenchmarkAppendZlib), which is its plain version:
// tests check that compress/zlib and package inflate read back the input, and that no payload of a
// log gets longer. For a payload of 3.6 KB, counting takes a fifth of the time, the code of some
// 120 symbols and its head a third, and writing the bytes two fifths.
package deflate

import (
	"encoding/binary"
	"slices"

	"hdrkit/hdrlog/internal/adler"
)

// maxBlock is the most bytes of a block. Each block has a code of its own. A stored block holds at
// most 65,535 bytes.
const maxBlock = 32 << 10

// Types of blocks, in the two bits after the one that marks the last block.
const (
	stored  = 0
	fixed   = 1
	dynamic = 2
)

// A Writer writes zlib streams. The zero value is ready. It reuses its memory, so keep it for the
// next stream. It is not safe for concurrent use.
type Writer struct {
	counts [4][256]uint32
	block  block // the block that is written
}

// A block is a part of the input, with a code for its bytes.
type block struct {
	raw    []byte
	counts [numSymbols]uint32
	code   code
	head   head
}

// AppendZlib appends raw as a zlib stream to dst. It keeps neither.
func (w *Writer) AppendZlib(dst, raw []byte) []byte {
	begin := len(dst)
	dst = slices.Grow(dst, maxSize(len(raw))+slop)
	// Method 8, a window of 32 KiB, and a multiple of 31. The level is the fastest, as zlib
	// writes it for Huffman codes only.
	s := stream{dst: append(dst, 0x78, 0x01)[:cap(dst)], n: begin + 2}

	if len(raw) == 0 {
		s.put(1|fixed<<1, 3)
		s.symbols(&fixedCode, nil)
		s.align()
		return binary.BigEndian.AppendUint32(s.dst[:s.n], 1)
	}
	for rest := raw; len(rest) > 0; rest = rest[min(len(rest), maxBlock):] {
		w.block.raw = rest[:min(len(rest), maxBlock)]
		w.count(&w.block, w.block.raw)
		w.block.makeCode()
		s.block(&w.block, len(rest) == len(w.block.raw))
	}
	w.block.raw = nil
	s.align()
	return binary.BigEndian.AppendUint32(s.dst[:s.n], adler.Checksum(raw))
}

// maxSize returns the largest size in bytes of a stream of n bytes of input: stored blocks, or an
// empty fixed block.
func maxSize(n int) int {
	return 2 + max(5*((n+maxBlock-1)/maxBlock), 2) + n + 4
}

// count counts the bytes of part in four tables in turn, since the processor cannot change a count
// again right after a change.
func (w *Writer) count(b *block, part []byte) {
	clear(w.counts[0][:])
	clear(w.counts[1][:])
	clear(w.counts[2][:])
	clear(w.counts[3][:])
	c0 := &w.counts[0]
	c1 := &w.counts[1]
	c2 := &w.counts[2]
	c3 := &w.counts[3]
	for ; len(part) >= 8; part = part[8:] {
		p := (*[8]byte)(part)
		c0[p[0]]++
		c1[p[1]]++
		c2[p[2]]++
		c3[p[3]]++
		c0[p[4]]++
		c1[p[5]]++
		c2[p[6]]++
		c3[p[7]]++
	}
	for _, x := range part {
		c0[x]++
	}
	for i := range c0 {
		b.counts[i] = c0[i] + c1[i] + c2[i] + c3[i]
	}
	b.counts[endOfBlock] = 1
}

// makeCode makes the code for the counts, and the head that describes it.
func (b *block) makeCode() {
	b.code.build(b.counts[:], maxLength)
	b.head.build(&b.code)
}

// dynamicSize returns the size of the block in bits with its own code.
func (b *block) dynamicSize() int { return 3 + b.head.size + b.code.size }

// fixedSize returns the size of the block in bits with the fixed code, which needs no head: 8 bits
// for bytes below 144, and 9 for the others.
func (b *block) fixedSize() int {
	size := 3 + 8*len(b.raw) + 7
	for _, n := range b.counts[144:256] {
		size += int(n)
	}
	return size
}

// storedSize returns the size of the block in bits without compression, if n bits of the current
// byte are written.
func (b *block) storedSize(n int) int { return 3 + (5-n)&7 + 32 + 8*len(b.raw) }
