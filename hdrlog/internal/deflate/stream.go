package deflate

import "encoding/binary"

// slop is the number of bytes after its end that a stream may overwrite.
const slop = 8

// A stream writes bits to dst. Contract: dst has room for the whole stream and slop bytes.
type stream struct {
	dst   []byte
	n     int    // bytes written to dst
	bits  uint64 // next bits, first bit lowest; higher bits are 0
	nbits uint   // number of bits: less than 8 between calls
}

// put writes the n lowest bits of v, at most 56. Its higher bits are 0.
func (s *stream) put(v uint64, n uint) {
	s.bits |= v << (s.nbits & 63)
	s.nbits += n
	binary.LittleEndian.PutUint64(s.dst[s.n:], s.bits)
	s.n += int(s.nbits / 8)
	s.bits >>= s.nbits &^ 7 & 63
	s.nbits &= 7
}

// align fills the current byte with zero bits.
func (s *stream) align() {
	s.put(0, -s.nbits&7)
}

// block writes b as a stored, fixed or dynamic block: the shortest of them.
func (s *stream) block(b *block, last bool) {
	final := uint64(0)
	if last {
		final = 1
	}
	size := b.dynamicSize()
	fixedSize, storedSize := size, b.storedSize(int(s.nbits))
	if 8*len(b.raw) < size {
		fixedSize = b.fixedSize()
	}
	switch {
	case storedSize < min(size, fixedSize):
		s.put(final|stored<<1, 3)
		s.align()
		s.put(uint64(len(b.raw))|uint64(^uint16(len(b.raw)))<<16, 32)
		s.n += copy(s.dst[s.n:], b.raw)
	case fixedSize < size:
		s.put(final|fixed<<1, 3)
		s.symbols(&fixedCode, b.raw)
	default:
		s.put(final|dynamic<<1, 3)
		s.head(&b.head)
		s.symbols(&b.code, b.raw)
	}
}

// fixedCode is the code of fixed blocks (RFC 1951, 3.2.6).
var fixedCode = func() (c code) {
	var numbers [64]int
	for symbol := range c.lengths {
		c.lengths[symbol] = 8
		c.used = append(c.used, uint16(symbol))
	}
	for symbol := 144; symbol < 256; symbol++ {
		c.lengths[symbol] = 9
	}
	c.lengths[endOfBlock] = 7
	// Lengths of matches have the other codes of 7 and 8 bits.
	numbers[7], numbers[8] = 24, 152
	c.longest = 9
	c.assign(&numbers)
	return c
}()

// head writes the head of a block: the number of lengths, the code of the lengths, and the lengths.
func (s *stream) head(h *head) {
	// 257 symbols and 1 distance are the least possible.
	s.put(uint64(h.listed-4)<<10, 14)
	lengths, size := uint64(0), uint(3*h.listed) // three bits each
	// Lengths that are not listed are 0.
	for i, symbol := range order {
		lengths |= uint64(h.code.lengths[symbol]) << (3 * i & 63)
	}
	s.put(lengths&(1<<30-1), min(size, 30))
	s.put(lengths>>30, size-min(size, 30))

	// Write four tokens at a time, of up to 14 bits each.
	var v uint64
	var n uint
	for i, token := range h.tokens[:h.n] {
		symbol := int(token % 32)
		code, size := h.code.code(symbol)
		v |= (code | uint64(token>>8)<<(size&63)) << (n & 63)
		n += size + uint(extraBits[symbol])
		if i%4 == 3 {
			s.put(v, n)
			v, n = 0, 0
		}
	}
	s.put(v, n)
}

// symbols writes the codes of the bytes of raw and of the end of the block.
func (s *stream) symbols(c *code, raw []byte) {
	if c.longest <= longestFours {
		raw = s.fours(c, raw)
	}
	for _, x := range raw {
		s.put(c.code(int(x)))
	}
	s.put(c.code(endOfBlock))
}

// longestFours is the length in bits up to which 64 bits hold four codes and 7 remaining bits.
const longestFours = 14

// fours writes the codes of raw, four bytes at a time, and returns the rest of raw.
//
// Entries have the code in the highest bits and the length in the lowest bits. One shift by the
// second entry and one or join two codes: a shift uses only the six lowest bits. The lowest bits of
// the sum of entries are the sum of the lengths. Below the codes is garbage, which is shifted out.
// Only the lengths of the last two entries can reach the codes, so they are masked. Contract: dst
// has room for the codes and slop bytes. Reads stay within raw.
func (s *stream) fours(c *code, raw []byte) []byte {
	table := (*[256]uint64)(c.entries[:])
	dst := s.dst[s.n:]
	n, nbits := uint64(0), uint64(s.nbits)
	bits := s.bits << (64 - nbits)
	whole := len(raw) &^ 3
	for i := 0; i < whole; i += 4 {
		e0, e1 := table[raw[i]], table[raw[i+1]]
		both := e0 + e1
		bits = bits>>(both&63) | (e0>>(e1&63) | e1)
		nbits += both
		e0, e1 = table[raw[i+2]], table[raw[i+3]]
		both = e0 + e1
		bits = bits>>(both&63) | (e0>>(e1&63)|e1)&^63
		nbits += both
		binary.LittleEndian.PutUint64(dst[n:], bits>>(-nbits&63))
		n += nbits >> 3 & 7
		nbits &= 7
	}
	s.n += int(n)
	s.bits, s.nbits = bits>>(64-nbits), uint(nbits)
	return raw[whole:]
}
