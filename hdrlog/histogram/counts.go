package histogram

import (
	"encoding/binary"
	"fmt"
	"math"
)

// addTo adds the counts of p to sum. Contract: sum has the layout of p. After an error, sum is
// unchanged.
func (p *Payload) addTo(sum *Histogram) error {
	if err := p.makeRoom(sum); err != nil {
		return err
	}
	total, err := p.accumulate(sum, 1)
	if err == nil && total > math.MaxInt64-sum.total {
		err = ErrOverflow
	}
	if err != nil {
		// Subtract what was added. Only a bad payload costs this time. A check before adding would
		// cost every payload a second pass.
		p.accumulate(sum, -1)
		return err
	}
	sum.total += total
	return nil
}

// makeRoom makes room in sum for the first slot with a count. It makes room for all slots if there
// are many and the counts need them: growing again and again would leave as much garbage.
func (p *Payload) makeRoom(sum *Histogram) error {
	_, index, err := p.firstCount()
	if err != nil {
		return err
	}
	index = min(index, p.slots-1)
	last := index
	if p.slots > 1<<19 && len(p.counts) > p.slots/2 {
		last = p.slots - 1
	}
	sum.reserve(index, last)
	return nil
}

// firstCount returns the index of the first slot with a count, or the number of slots if all are
// empty. For version 2 it also returns the encoded counts from that slot on.
func (p *Payload) firstCount() (encoded []byte, index int, err error) {
	if p.version < 2 {
		return nil, leadingZeros(p.counts) / p.wordSize, nil
	}
	encoded = p.counts
	for len(encoded) > 0 && encoded[0]&1 != 0 {
		_, step, size, err := p.decodeOne(encoded, index)
		if err != nil {
			return nil, 0, err
		}
		encoded, index = encoded[size:], index+step
	}
	return encoded, index, nil
}

// accumulate adds sign times each count to its slot of sum, up to the first malformed count, and
// returns the sum of the counts. Contract: makeRoom was called before.
func (p *Payload) accumulate(sum *Histogram, sign int64) (total int64, err error) {
	if p.version == 2 {
		return p.accumulateZigZag(sum, sign)
	}
	base, counts := sum.base, sum.counts
	return p.eachWord(func(index int, n int64) {
		index -= base
		if index >= len(counts) {
			counts = sum.grow(base + index)
		}
		counts[index] += sign * n
		sum.pages[index>>pageBits] = 1
	})
}

// roomAhead returns the number of slots after the current one for which sum makes room when it
// grows. addEights needs some room, and each growth costs a copy. One encoded byte stands for at
// most 64 slots.
func roomAhead(encoded []byte) int { return min(4*8*64, 64*(len(encoded)+8)) }

// accumulateZigZag is accumulate for version 2. Counts are ZigZag LEB128 numbers: n is a count, and
// -n stands for n empty slots.
func (p *Payload) accumulateZigZag(sum *Histogram, sign int64) (total int64, err error) {
	encoded, index, err := p.firstCount()
	if err != nil {
		return 0, err
	}
	base, counts := sum.base, sum.counts
	slots := p.slots - base          // from here on, slots and index count from base
	limit := min(len(counts), slots) // the header may allow fewer slots than sum has
	index -= base
	var signs int64 // becomes negative if total overflows, since that makes total negative
	for len(encoded) > 0 {
		if sign > 0 {
			if index < limit && index+8*64 > limit && limit < slots && len(encoded) > 8 {
				counts = sum.grow(base + min(index+roomAhead(encoded), slots) - 1)
				limit = min(len(counts), slots)
			}
			done, next, n := addEights(counts[:limit], index, encoded)
			if done > 0 {
				sum.markPages(index, next)
			}
			encoded = encoded[done:]
			index = next
			total = total + n
			signs |= total
			if len(encoded) == 0 {
				break
			}
		}
		n, step, size, err := p.decodeOne(encoded, base+index)
		if err != nil {
			return 0, err
		}
		if n != 0 {
			if index >= limit {
				counts = sum.grow(base + min(index+roomAhead(encoded), slots) - 1)
				limit = min(len(counts), slots)
			}
			counts[index] += sign * n
			sum.pages[index>>pageBits] = 1
			total += n
			signs |= total
		}
		encoded, index = encoded[size:], index+step
	}
	if signs < 0 {
		return 0, ErrOverflow
	}
	p.keepTotals(base+index, total)
	return total, nil
}

// decodeOne decodes the encoded number for the slot at index, with all checks. It returns the
// count, which is 0 for a run of empty slots, the number of slots that the number stands for, and
// its size in bytes.
func (p *Payload) decodeOne(encoded []byte, index int) (n int64, step, size int, err error) {
	v, size := decodeLEB128(encoded)
	switch {
	case size == 0:
		return 0, 0, 0, fmt.Errorf("%w: the last count is cut short", ErrTruncated)
	case v&1 != 0: // -(v>>1 + 1)
		if v>>1 >= uint64(p.slots-index) {
			return 0, 0, 0, fmt.Errorf("%w: a run of %d empty slots at slot %d of %d", ErrCorrupt, v>>1+1, index,
				p.slots)
		}
		return 0, int(v>>1) + 1, size, nil
	case index >= p.slots:
		return 0, 0, 0, fmt.Errorf("%w: more counts than the header's %d slots", ErrCorrupt, p.slots)
	}
	return int64(v >> 1), 1, size, nil
}

// addEights adds encoded counts of one byte each to counts, from index on, eight at a time. It
// returns the number of bytes that it decoded, the next index and the sum of the counts. It stops
// at a number of several bytes, or at the end of counts or encoded.
//
// Nearly all numbers have one byte: 99.7% in a log of cassandra-stress. The processor cannot
// predict which numbers are counts and which are runs of empty slots. So there is no branch: a
// count of c adds c and advances by 1, a run of n adds 0 and advances by n. Adding one number at a
// time takes four times as long (BenchmarkAddTo). accumulateZigZag without addEights is the plain
// version; FuzzCounts compares the two.
//
// On amd64, addEightsBMI does the same in half of the time: with it, hdrsum -j 1 takes 0.91 of its
// time. It stops 8*64 slots before the end of counts, since eight runs may advance by as much. The
// loop below continues there: histograms of two digits have most of their values in these slots.
func addEights(counts []int64, index int, encoded []byte) (done, next int, total int64) {
	if useVectors && index+8*64 <= len(counts) && len(encoded) >= 8 {
		done, next, total = addEightsBMI(&counts[index], &counts[len(counts)-8*64], &encoded[0], &encoded[len(encoded)-8])
		index += next
	}
	var add, step [8]byte
	for done+8 <= len(encoded) {
		word := binary.LittleEndian.Uint64(encoded[done:])
		if word&continued != 0 {
			break
		}
		numbers := word >> 1 & magnitudes
		isRun := word & ones * 0xff // a call of runMask takes a third longer
		adds := numbers &^ isRun
		steps := numbers&isRun + ones
		next := index + int(sumBytes(steps))
		if next > len(counts) {
			break
		}
		done += 8
		binary.LittleEndian.PutUint64(add[:], adds)
		binary.LittleEndian.PutUint64(step[:], steps)
		slots := counts[index:next]
		at := uint(0)
		slots[at] += int64(add[0])
		at += uint(step[0])
		slots[at] += int64(add[1])
		at += uint(step[1])
		slots[at] += int64(add[2])
		at += uint(step[2])
		slots[at] += int64(add[3])
		at += uint(step[3])
		slots[at] += int64(add[4])
		at += uint(step[4])
		slots[at] += int64(add[5])
		at += uint(step[5])
		slots[at] += int64(add[6])
		at += uint(step[6])
		slots[at] += int64(add[7])
		index = next
		total += int64(sumBytes(adds))
	}
	return done, index, total
}

// useVectors reports that the processor has the instructions of the assembly. Tests turn it off.
var useVectors = hasVectors()

// Masks for eight numbers of one byte each.
const (
	continued  = 0x8080808080808080 // the bit that says that the number has more bytes
	magnitudes = 0x3f * ones        // the number without its sign, after a shift by one bit
	ones       = 0x0101010101010101
)

// runMask returns a mask of the bytes of word that are runs of empty slots.
func runMask(word uint64) uint64 { return word & ones * 0xff }

// sumBytes returns the sum of eight bytes.
func sumBytes(bytes uint64) uint64 {
	const even = 0x00ff00ff00ff00ff
	return (bytes&even + bytes>>8&even) * 0x0001000100010001 >> 48
}

// decodeLEB128 decodes a LEB128 number, and leaves its ZigZag encoding. A ninth byte has eight
// bits. It returns the number of bytes, or 0 if encoded ends too early.
func decodeLEB128(encoded []byte) (v uint64, size int) {
	for i := 0; i < len(encoded) && i < 8; i++ {
		b := uint64(encoded[i])
		v |= b & 0x7f << (7 * i)
		if b < 0x80 {
			return v, i + 1
		}
	}
	if len(encoded) < 9 {
		return 0, 0
	}
	return v | uint64(encoded[8])<<56, 9
}

// leadingZeros returns the number of bytes before the first byte that is not 0.
func leadingZeros(b []byte) int {
	n := 0
	for n+32 <= len(b) {
		four := (*[32]byte)(b[n:])
		bits := binary.LittleEndian.Uint64(four[:]) | binary.LittleEndian.Uint64(four[8:]) |
			binary.LittleEndian.Uint64(four[16:]) | binary.LittleEndian.Uint64(four[24:])
		if bits != 0 {
			break
		}
		n += 32
	}
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// eachWord calls do for each slot with a count of versions 0 and 1, and returns the sum of the
// counts. Counts are big-endian words of wordSize bytes.
func (p *Payload) eachWord(do func(index int, n int64)) (total int64, err error) {
	var signs int64
	for index := 0; index*p.wordSize < len(p.counts); index++ {
		word := p.counts[index*p.wordSize:]
		if word[0] == 0 { // mostly the first of many empty slots
			index += leadingZeros(word) / p.wordSize
			if index*p.wordSize >= len(p.counts) {
				break
			}
			word = p.counts[index*p.wordSize:]
		}
		var n int64
		switch p.wordSize {
		case 2:
			n = int64(int16(binary.BigEndian.Uint16(word)))
		case 4:
			n = int64(int32(binary.BigEndian.Uint32(word)))
		default:
			n = int64(binary.BigEndian.Uint64(word))
		}
		switch {
		case n == 0:
			continue
		case n < 0:
			return 0, fmt.Errorf("%w: %d at slot %d", ErrNegativeCount, n, index)
		}
		do(index, n)
		total += n
		signs |= total
	}
	switch {
	case signs < 0:
		return 0, ErrOverflow
	case p.total >= 0 && total < p.total:
		return 0, fmt.Errorf("%w: %d of %d values", ErrTruncated, total, p.total)
	case p.total >= 0 && total > p.total:
		return 0, fmt.Errorf("%w: %d values, not %d", ErrCorrupt, total, p.total)
	}
	return total, nil
}
