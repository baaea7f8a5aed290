package histogram

import (
	"encoding/binary"
)

// Check decodes the counts, but does not add them to anything. If it returns nil, [Payload.AddTo]
// cannot fail, except with [ErrKind], [ErrSpan] or [ErrOverflow] because of what the sum holds.
func (p *Payload) Check() error {
	if p.version < 2 {
		_, err := p.words(func(int, int64) error { return nil })
		return err
	}
	var (
		index   int
		total   int64
		seen    int64 // see accumulateZigZag
		encoded = p.counts
	)
	for {
		done, next, n := checkEights(encoded, index, p.slots)
		encoded, index, total = encoded[done:], next, total+n
		seen |= total
		if len(encoded) == 0 {
			break
		}
		n, step, size, err := p.one(encoded, index)
		if err != nil {
			return err
		}
		encoded, index, total = encoded[size:], index+step, total+n
		seen |= total
	}
	if seen < 0 {
		return ErrOverflow
	}
	return nil
}

// checkEights passes over encoded counts of one byte each, eight at a time. It returns the number
// of bytes that it took, the next index and the sum of the counts. A count advances by 1 slot, a
// run by at most 64. So while 8*64 slots are left, no index is out of range.
//
// It looks at four words together: each byte is at most 63, so four of them can be added up in a
// byte. This takes two thirds of the time of one word after the other (BenchmarkCheck).
func checkEights(encoded []byte, index, slots int) (done, next int, total int64) {
	for done+4*8 <= len(encoded) && index+4*8*64 <= slots {
		four := (*[4 * 8]byte)(encoded[done:])
		w0, w1 := binary.LittleEndian.Uint64(four[:]), binary.LittleEndian.Uint64(four[8:])
		w2, w3 := binary.LittleEndian.Uint64(four[16:]), binary.LittleEndian.Uint64(four[24:])
		if (w0|w1|w2|w3)&goesOn != 0 {
			break
		}
		done += 4 * 8
		h0, h1, h2, h3 := w0>>1&halves, w1>>1&halves, w2>>1&halves, w3>>1&halves
		ran := sumBytes(h0&runs(w0) + h1&runs(w1) + h2&runs(w2) + h3&runs(w3))
		index += 4*8 + int(ran)
		total += int64(sumBytes(h0+h1+h2+h3) - ran)
	}
	for done+8 <= len(encoded) && index+8*64 <= slots {
		word := binary.LittleEndian.Uint64(encoded[done:])
		if word&goesOn != 0 {
			break
		}
		done += 8
		ran := sumBytes(word >> 1 & halves & runs(word))
		index += 8 + int(ran)
		total += int64(sumBytes(word>>1&halves) - ran)
	}
	return done, index, total
}
