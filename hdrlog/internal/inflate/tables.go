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

	// Widths of the tables, in bits. code.decode decodes longer codes.
	litBits  = 10
	distBits = 8
	litMask  = 1<<litBits - 1
	distMask = 1<<distBits - 1

	// Entries for two symbols pay for streams of at least this length in bytes. They save 8% of
	// hdrsum -j 1 for payloads of 480 bytes, 7% at 350, and nothing at 230.
	minPairs = 250
)

// Entries of the litlen table, from the lowest bit:
//
//	 8 bits  how many bits to consume: codes and extra bits of the distance
//	 8 bits  how many literals there are; or entryRare
//	 8 bits  first literal
//	 8 bits  second literal
//	 8 bits  how many bits the codes have
//	 8 bits  length of the match after the literals, 0 if there is none
//	16 bits  base distance, 0 if the code of the distance is not in the entry
//
// Entries of the distance table are those of a match without its length, and zero for codes that
// are longer than the table is wide, or invalid.
const entryRare = 1 << 15

type tables struct {
	lit      [1 << litBits]uint64
	dist     [1 << distBits]uint64
	litCode  code
	distCode code
	// second is memory of buildLit: what the bits after a literal add to the entry of the literal.
	second [1 << litBits]uint64

	onlyLiterals bool // no symbol is a match
}

// A baseExtra is the meaning of a length or distance symbol: base plus the value of extra bits.
type baseExtra struct {
	base  uint16
	extra uint8
}

var (
	lengths   [numLit - 257]baseExtra
	distances [numDist]baseExtra
	firstOf   [288]uint64 // entry of a first symbol, without the size of its code
	// What a second symbol adds to the entry of a literal, or 0 if no entry has both.
	secondOf [288]uint64
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
		distOf[i] = uint64(extra) | uint64(base)<<48
		base += 1 << extra
	}
	for sym := range firstOf {
		switch {
		case sym < 256:
			firstOf[sym] = 1<<8 | uint64(sym)<<16
			secondOf[sym] = 1<<8 | uint64(sym)<<24
		case sym > 256 && sym <= 264: // 3 to 10 bytes, those without extra bits
			firstOf[sym] = uint64(sym-257+3) << 40
			secondOf[sym] = firstOf[sym]
		default:
			firstOf[sym] = entryRare
		}
	}
}

var fixedTables = sync.OnceValue(func() *tables {
	t := new(tables)
	var lens []uint8
	for _, run := range [][2]int{{8, 144}, {9, 112}, {7, 24}, {8, 8}, {5, 32 + 8}} { // code.init reads 8 more
		lens = append(lens, bytes.Repeat([]uint8{uint8(run[0])}, run[1])...)
	}
	t.build(lens, 288, 32, true)
	return t
})

// build makes the tables from the code lengths of nlit literal and length symbols and ndist
// distances. With pairs, entries have two symbols where possible. build returns false for a code
// that is not complete, unless compress/flate accepts it.
func (t *tables) build(lens []uint8, nlit, ndist int, pairs bool) bool {
	if !t.litCode.init(lens, nlit) || !t.distCode.init(lens[nlit:], ndist) {
		return false
	}
	t.onlyLiterals = nlit <= 257
	t.buildLit(pairs)
	return true
}

// sized returns the parts of an entry that count the bits of a code of k bits.
func sized(k int) uint64 { return uint64(k) | uint64(k)<<32 }

// buildLit makes the litlen table and the distance table. First, each entry has one symbol. Behind
// a code of l bits, there are litBits-l bits for a second symbol or a distance.
func (t *tables) buildLit(pairs bool) {
	c, dc := &t.litCode, &t.distCode
	t.lit[0] = entryRare // copied to every entry whose bits are no code, or begin a longer one
	i, n := 0, 0
	for k := 1; k <= litBits; k++ {
		half := 1 << (k - 1)
		copy(t.lit[half:2*half], t.lit[:half])
		for ; i < int(c.ends[k]); i++ {
			t.lit[c.reversed[i]&litMask] = firstOf[c.syms[i]&511] + sized(k)
		}
	}
	t.second[0] = 0
	t.dist[0] = 0
	i = 0
	for k := 1; k < litBits; k++ {
		half := 1 << (k - 1)
		if k <= distBits {
			// The distances of up to k bits.
			copy(t.dist[half:2*half], t.dist[:half])
			for ; n < int(dc.ends[k]); n++ {
				e := distOf[dc.syms[n]&31]
				if e != 0 {
					e += sized(k)
				}
				t.dist[dc.reversed[n]&distMask] = e
			}
		}
		if pairs {
			copy(t.second[half:2*half], t.second[:half])
			for ; i < int(c.ends[k]); i++ {
				if sym := c.syms[i] & 511; sym < 256 {
					t.second[c.reversed[i]&litMask] = secondOf[sym] + sized(k)
				}
			}
			// Lengths and distances of k bits together.
			for ll := 1; ll < k; ll++ {
				d := k - ll
				from, to := int(dc.ends[d-1]), int(dc.ends[d])
				if from == to {
					continue
				}
				for j := int(c.ends[ll]) - 1; j >= int(c.ends[ll-1]) && c.syms[j] > 256; j-- {
					first := secondOf[c.syms[j]&511]
					if first == 0 {
						continue
					}
					first += sized(k)
					at := int(c.reversed[j])
					for m := from; m < to; m++ {
						if e := distOf[dc.syms[m]&31]; e != 0 {
							t.second[(at|int(dc.reversed[m])<<(ll&15))&litMask] = first + e
						}
					}
				}
			}
		}
		l := litBits - k
		begin, end := int(c.ends[l-1]), int(c.ends[l])
		if k < 2 || begin == end {
			continue
		}
		// The symbols are in the order: literals, end of block, lengths that have an entry, longer
		// lengths.
		j := begin
		for j < end && c.syms[j] < 256 {
			j++
		}
		if pairs {
			t.fills(t.second[:2*half], l, begin, j)
		}
		if j < end && c.syms[j] == 256 {
			j++
		}
		from := j
		for j < end && c.syms[j] <= 264 {
			j++
		}
		if k <= distBits {
			t.fills(t.dist[:2*half], l, from, j)
			continue
		}
		for m := from; m < j; m++ {
			first := firstOf[c.syms[m]&511] + sized(l)
			for more := range 1 << (k - distBits) {
				fill(&t.lit, t.dist[:], first, int(c.reversed[m])+more<<(l+distBits), l)
			}
		}
	}
}

// fills calls fill for each code of l bits, from index begin to before end.
func (t *tables) fills(second []uint64, l, begin, end int) {
	if begin >= end {
		return
	}
	c := &t.litCode
	if useFastBMI && l <= 9 {
		fillsBMI(&t.lit[0], &second[0], len(second)/4, &c.reversed[begin], &c.syms[begin], end-begin, l, &firstOf[0])
		return
	}
	for j := begin; j < end; j++ {
		fill(&t.lit, second, firstOf[c.syms[j]&511]+sized(l), int(c.reversed[j]), l)
	}
}

// fill writes the entries whose bits begin with a code of l bits: the entry of the code, first,
// plus each entry of second. at is the reversed code.
func fill(lit *[1 << litBits]uint64, second []uint64, first uint64, at, l int) {
	step := 1 << (l & 15)
	for s := 0; s+4 <= len(second); s += 4 {
		four := (*[4]uint64)(second[s:])
		lit[at&litMask] = first + four[0]
		lit[(at+step)&litMask] = first + four[1]
		lit[(at+2*step)&litMask] = first + four[2]
		lit[(at+3*step)&litMask] = first + four[3]
		at += 4 * step
	}
}

// A code is a canonical Huffman code (RFC 1951, 3.2.2).
type code struct {
	limits   [maxCodeLen + 1]uint16 // limits[l]: end of the codes of l bits, in 15 bits
	ends     [maxCodeLen + 1]uint16 // ends[l]: number of codes of at most l bits
	syms     [288]uint16            // symbols in the order of their codes
	reversed [288]uint16            // the codes of syms, first bit lowest
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

// decode returns the symbol whose code is in the lowest bits of b, and the length of the code.
func (c *code) decode(b uint64) (sym, size int) {
	v, l := bits.Reverse16(uint16(b))>>1, 1
	if v >= c.limits[litBits] { // a code that is too long for the table
		l = litBits + 1
	}
	for ; l <= maxCodeLen; l++ {
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
//	 8 bits  all ones if the previous length is repeated
const lengthBits = 7

func lengthEntry(sym, size int) uint64 {
	length := sym
	repeat := 0
	count := 1
	extra := 0
	switch sym {
	case 16:
		length = 0
		repeat = 0xff
		count = 3
		extra = 2
	case 17:
		length = 0
		count = 3
		extra = 3
	case 18:
		length = 0
		count = 11
		extra = 7
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
	r.table[0] = 512 << 16 // for bits that are no code: the repeat count exceeds the end, which is an error
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
	nlit := int(s.take(5)) + 257
	ndist := int(s.take(5)) + 1
	nlen := int(s.take(4)) + 4
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
		return errLengths // there is no previous length to repeat
	}

	// The processor cannot predict which symbols repeat. So each symbol writes eight lengths, with
	// zeros after its count. Only zeros repeat more than eight times.
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
	if !t.build(r.lens[:], nlit, ndist, len(s.src)-s.pos >= minPairs) {
		return errCode
	}
	return nil
}
