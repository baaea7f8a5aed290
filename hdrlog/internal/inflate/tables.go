package inflate

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
)

const (
	maxCodeLen = 15
	numLit     = 286 // valid symbols: 256 literals, the end of the block, 29 lengths
	numDist    = 30

	// Widths of the tables, in bits. With 10 or 12 bits of litlen, Zlib takes 1% or 5% longer,
	// and with 9 bits of distance 3% (BenchmarkZlib). The slow path decodes longer codes.
	litBits  = 11
	distBits = 8
	litMask  = 1<<litBits - 1
	distMask = 1<<distBits - 1

	// Length of a stream in bytes from which entries for two symbols pay. They save 12% for
	// payloads of 1.5 KB, and nothing at this size.
	pairsFrom = 700
)

// Entries of the litlen table, from the lowest bit:
//
//	6 bits  how many bits to consume
//	2 bits  how many literals there are
//	8 bits  first literal
//	8 bits  second literal
//	4 bits  length of the match after them
//	3 bits  unused; the middle one is entryRare
//	1 bit   whether there is a match (the sign, so that one shift makes a mask of it)
//
// Entries of the distance table:
//
//	 8 bits  how many bits to consume: code and extra bits
//	 8 bits  how many of them are the code
//	16 bits  base distance
//	32 bits  mask of the bits to consume
//
// and zero for codes that are longer than the table is wide, or invalid.
const (
	entryRare  = 1 << 30
	entryMatch = 1 << 31
)

type tables struct {
	lit      [1 << litBits]uint32
	dist     [1 << distBits]uint64
	litCode  code
	distCode code
	// Scratch of buildPairs: what the bits after a literal add to its entry.
	second [1 << litBits]uint32

	onlyLiterals bool // no symbol is a match
}

// A baseExtra is the meaning of a length or distance symbol: base plus the value of the extra bits.
type baseExtra struct {
	base  uint16
	extra uint8
}

var (
	lengths   [numLit - 257]baseExtra
	distances [numDist]baseExtra
	firstOf   [288]uint32 // entry of a first symbol, without its size
	// What a second symbol adds to the entry of a literal; 0 if they do not combine.
	secondOf [288]uint32
	distOf   [32]uint64 // entry of a distance symbol, without the size of its code
)

func init() {
	base := 3
	for i := range lengths {
		extra := max(0, i/4-1)
		lengths[i] = baseExtra{uint16(base), uint8(extra)}
		base += 1 << extra
	}
	lengths[28] = baseExtra{258, 0}
	base = 1
	for i := range distances {
		extra := max(0, i/2-1)
		distances[i] = baseExtra{uint16(base), uint8(extra)}
		distOf[i] = uint64(extra) | uint64(base)<<16 | (1<<extra-1)<<32
		base += 1 << extra
	}
	for sym := range firstOf {
		switch {
		case sym < 256:
			firstOf[sym] = 1<<6 | uint32(sym)<<8
			secondOf[sym] = 1<<6 | uint32(sym)<<16
		case sym > 256 && sym <= 264: // 3 to 10 bytes, those without extra bits
			firstOf[sym] = entryMatch | uint32(sym-257+3)<<24
			secondOf[sym] = firstOf[sym]
		default:
			firstOf[sym] = entryRare
		}
	}
}

var fixedTables = sync.OnceValue(func() *tables {
	t := new(tables)
	var lens []uint8
	for _, of := range [][2]int{{8, 144}, {9, 112}, {7, 24}, {8, 8}, {5, 32 + 8}} { // 8 more are read
		lens = append(lens, bytes.Repeat([]uint8{uint8(of[0])}, of[1])...)
	}
	t.build(lens, 288, 32, true)
	return t
})

// build makes the tables. It reports false for a code that is not complete, except for those that
// compress/flate accepts.
func (t *tables) build(lens []uint8, nlit, ndist int, pairs bool) bool {
	if !t.litCode.init(lens, nlit) || !t.distCode.init(lens[nlit:], ndist) {
		return false
	}
	t.onlyLiterals = nlit <= 257
	t.buildLit()
	if pairs {
		t.buildPairs()
	}
	t.buildDist()
	return true
}

// buildLit makes the litlen table by doubling: a table of 2^k entries is two tables of 2^(k-1)
// entries, with the codes of k bits put in.
func (t *tables) buildLit() {
	c := &t.litCode
	t.lit[0] = entryRare
	i := 0
	for k := 1; k <= litBits; k++ {
		half := 1 << (k - 1)
		copy(t.lit[half:2*half], t.lit[:half])
		for ; i < int(c.ends[k]); i++ {
			t.lit[c.reversed[i]&litMask] = firstOf[c.syms[i]&511] + uint32(k)
		}
	}
}

// buildPairs adds a second symbol to the entries of literals. After a literal of l bits, there are
// litBits-l bits for it.
func (t *tables) buildPairs() {
	c := &t.litCode
	t.second[0] = 0
	i := 0
	for k := 1; k < litBits; k++ {
		half := 1 << (k - 1)
		copy(t.second[half:2*half], t.second[:half])
		for ; i < int(c.ends[k]); i++ {
			s := secondOf[c.syms[i]&511]
			if s != 0 {
				s += uint32(k)
			}
			t.second[c.reversed[i]&litMask] = s
		}
		if i == 0 || k < 2 {
			continue
		}
		l := litBits - k
		for j := int(c.ends[l-1]); j < int(c.ends[l]); j++ {
			sym := c.syms[j]
			if sym >= 256 {
				break
			}
			first := firstOf[sym] + uint32(l)
			at, step := int(c.reversed[j]), 1<<(l&15)
			for s := 0; s < 2*half; s += 4 {
				t.lit[at&litMask] = first + t.second[s&litMask]
				t.lit[(at+step)&litMask] = first + t.second[(s+1)&litMask]
				t.lit[(at+2*step)&litMask] = first + t.second[(s+2)&litMask]
				t.lit[(at+3*step)&litMask] = first + t.second[(s+3)&litMask]
				at += 4 * step
			}
		}
	}
}

func (t *tables) buildDist() {
	c := &t.distCode
	t.dist[0] = 0
	i := 0
	for k := 1; k <= distBits; k++ {
		half := 1 << (k - 1)
		copy(t.dist[half:2*half], t.dist[:half])
		for ; i < int(c.ends[k]); i++ {
			e := distOf[c.syms[i]&31]
			if e != 0 {
				extra := e & 0xff
				e = e&^0xff | extra + uint64(k) | uint64(k)<<8 | (1<<(extra+uint64(k))-1)<<32
			}
			t.dist[c.reversed[i]&distMask] = e
		}
	}
}

// A code is a canonical Huffman code (RFC 1951, 3.2.2).
type code struct {
	limits   [maxCodeLen + 1]uint16 // limits[l]: end of the codes of l bits, in 15 bits
	ends     [maxCodeLen + 1]uint16 // ends[l]: number of codes of at most l bits
	syms     [288]uint16            // symbols in the order of their codes
	reversed [288]uint16            // their codes, first bit lowest
}

// invalid is the symbol that decode returns for bits that are no code.
const invalid = 511

// init makes the code of the symbols 0, 1, ... from their lengths. Length 0 means no code.
func (c *code) init(lens []uint8, n int) bool {
	var count [16]uint16
	var list [288]uint16 // used symbols, with the length of the code in the upper 4 bits
	used := 0
	for i := 0; i < n; i += 8 {
		w := binary.LittleEndian.Uint64(lens[i:])
		if n-i < 8 {
			w &= 1<<(8*(n-i)&63) - 1
		}
		for w != 0 {
			shift := bits.TrailingZeros64(w) &^ 7
			l := w >> (shift & 63) & 15
			list[used] = uint16(i+shift>>3) | uint16(l<<12)
			used++
			count[l]++
			w &^= 0xff << (shift & 63)
		}
	}
	var next [16]uint16   // place of the next symbol of each length
	var origin [16]uint16 // code of place 0 if all codes had this length, left-justified
	places, first := uint32(0), uint32(0)
	for l := 1; l <= maxCodeLen; l++ {
		next[l] = uint16(places)
		origin[l] = uint16(first<<1 - places<<(16-l))
		places += uint32(count[l])
		first += uint32(count[l]) << (maxCodeLen - l)
		c.ends[l] = uint16(places)
		c.limits[l] = uint16(first)
	}
	// The code is complete, empty, or has a single symbol of one bit.
	if first != 1<<maxCodeLen && used != 0 && !(used == 1 && count[1] == 1) {
		return false
	}
	for _, x := range list[:used] {
		l := x >> 12
		place := next[l]
		next[l]++
		c.syms[place] = x & 0xfff
		c.reversed[place] = bits.Reverse16(origin[l] + place<<(16-l))
	}
	return true
}

// decode returns the symbol of the lowest bits, and the length of its code.
func (c *code) decode(b uint64) (sym, size int) {
	v := bits.Reverse16(uint16(b)) >> 1
	for l := 1; l <= maxCodeLen; l++ {
		if v < c.limits[l] {
			return int(c.syms[int(c.ends[l])-1-int(c.limits[l]-1-v)>>(maxCodeLen-l)]), l
		}
	}
	return invalid, 0
}

// A lengthsReader reads the code lengths at the head of a dynamic block.
type lengthsReader struct {
	code  code
	table [1 << lengthBits]uint64
	lens  [numLit + numDist + 8]uint8
}

// Entries of the table of code length symbols, from the lowest bit:
//
//	 8 bits  how many bits to consume: code and extra bits
//	 8 bits  how many of them are the code
//	16 bits  repeat count, to which the extra bits are added
//	16 bits  mask of the bits to consume
//	 8 bits  code length to write
//	 8 bits  all ones if it is the previous length that is repeated
const lengthBits = 7

func lengthEntry(sym, size int) uint64 {
	length, repeat, count, extra := sym, 0, 1, 0
	switch sym {
	case 16:
		length, repeat, count, extra = 0, 0xff, 3, 2
	case 17:
		length, count, extra = 0, 3, 3
	case 18:
		length, count, extra = 0, 11, 7
	}
	size += extra
	return uint64(size) | uint64(size-extra)<<8 | uint64(count)<<16 | (1<<size-1)<<32 | uint64(length)<<48 | uint64(repeat)<<56
}

// lengthEntries[size][sym] is the entry of a symbol whose code has size bits.
var lengthEntries [lengthBits + 1][19]uint64

func init() {
	for size := range lengthEntries {
		for sym := range lengthEntries[size] {
			lengthEntries[size][sym] = lengthEntry(sym, size)
		}
	}
}

func (r *lengthsReader) build(lens []uint8) bool {
	c := &r.code
	if !c.init(lens, 19) {
		return false
	}
	r.table[0] = 512 << 16 // no code: repeat beyond the end, which is an error
	i := 0
	for k := 1; k <= lengthBits; k++ {
		half := 1 << (k - 1)
		copy(r.table[half:2*half], r.table[:half])
		for ; i < int(c.ends[k]); i++ {
			r.table[c.reversed[i]&(1<<lengthBits-1)] = lengthEntries[k][c.syms[i]]
		}
	}
	return true
}

var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// read reads the code lengths and builds the tables.
func (r *lengthsReader) read(s *stream, t *tables) error {
	s.refill()
	nlit, ndist, nlen := int(s.take(5))+257, int(s.take(5))+1, int(s.take(4))+4
	if nlit > numLit || ndist > numDist {
		return errLengths
	}
	var lens [19 + 8]uint8
	for i, at := range lengthOrder[:nlen] {
		if i%16 == 0 {
			s.refill()
		}
		lens[at] = uint8(s.take(3))
	}
	s.refill()
	if s.nbits < 0 {
		return ErrTruncated
	}
	if !r.build(lens[:]) {
		return errCode
	}
	first := r.table[s.bits&(1<<lengthBits-1)]
	if first>>56 != 0 {
		return errLengths // nothing to repeat
	}

	// The processor cannot predict which symbols repeat. So each one writes eight lengths, and
	// zeros beyond its count. Only zeros repeat more than eight times.
	clear(r.lens[:])
	n := nlit + ndist
	i := 0
	word := uint64(0)
	for i < n {
		s.refill()
		b, nb := s.bits, s.nbits // in registers
		for range 4 {
			e := r.table[b&(1<<lengthBits-1)]
			count := int(e>>16&0xffff) + int((b&(e>>32&0xffff))>>(e>>8&63))
			b >>= e & 63
			nb -= int(e & 63)
			word = (e>>48&0xff)*0x0101010101010101 | word&uint64(int64(e)>>63)
			binary.LittleEndian.PutUint64(r.lens[i:], word&(1<<(count*8&63)-1))
			i += count
			if i >= n {
				break
			}
		}
		s.bits, s.nbits = b, nb
	}
	if s.nbits < 0 {
		return ErrTruncated
	}
	if i != n {
		return errLengths
	}
	if !t.build(r.lens[:], nlit, ndist, len(s.src)-s.pos >= pairsFrom) {
		return errCode
	}
	return nil
}
