package histogram

import "encoding/binary"

// Check decodes the counts, but does not add them to anything. If it returns nil, [Payload.AddTo]
// cannot fail, except with [ErrKind], [ErrSpan] or [ErrOverflow] because of the values in the sum.
func (p *Payload) Check() error {
	if p.end > 0 { // AddTo or Check has passed over the counts already
		return nil
	}
	if p.version < 2 {
		_, err := p.eachWord(func(int, int64) {})
		return err
	}
	index, encoded := 0, p.counts
	var total, signs int64 // signs is negative if total has overflowed
	for len(encoded) > 0 {
		done, next, n := checkEights(encoded, index, p.slots)
		encoded = encoded[done:]
		index = next
		total = total + n
		signs |= total
		if len(encoded) == 0 {
			break
		}
		n, step, size, err := p.decodeOne(encoded, index)
		if err != nil {
			return err
		}
		encoded = encoded[size:]
		index = index + step
		total = total + n
		signs |= total
	}
	if signs < 0 {
		return ErrOverflow
	}
	p.keepTotals(index, total)
	return nil
}

// MaxAndCount returns [Histogram.Max] and [Histogram.TotalCount] of the decoded payload. It takes
// the time of [Payload.Check], and mostly none after [Payload.AddTo]. The errors are those of
// [Payload.AddTo].
func (p *Payload) MaxAndCount() (highest, count int64, err error) {
	if err := p.Check(); err != nil {
		return 0, 0, err
	}
	if p.end == 0 {
		h := &p.decoder.counts
		err := p.Decode(h)
		return h.Max(), h.total, err
	}
	return p.layout.HighestAt(p.end - 1), p.valueCount, nil
}

// keepTotals keeps the results of [Payload.MaxAndCount], after all counts were added: next is the
// index after the last slot, and total the sum of the counts. It keeps nothing unless the last two
// numbers have one byte each and the last one is a count above 0.
func (p *Payload) keepTotals(next int, total int64) {
	if n := len(p.counts); n > 1 && p.counts[n-1] < 0x80 && p.counts[n-2] < 0x80 && p.counts[n-1] > 0 && p.counts[n-1]&1 == 0 {
		p.end, p.valueCount = next, total
	}
}

// checkEights passes over encoded counts of one byte each, eight at a time. It returns the number
// of bytes that it passed, the next index and the sum of the counts. A count advances by 1 slot, a
// run of empty slots by at most 64. So while 8*64 slots are left, no index is out of range.
//
// It adds up four words together: each byte is at most 63, so a byte holds the sum of four. This
// takes two thirds of the time of one word after the other (BenchmarkCheck).
func checkEights(encoded []byte, index, slots int) (done, next int, total int64) {
	for done+4*8 <= len(encoded) && index+4*8*64 <= slots {
		four := (*[4 * 8]byte)(encoded[done:])
		w0, w1 := binary.LittleEndian.Uint64(four[:]), binary.LittleEndian.Uint64(four[8:])
		w2, w3 := binary.LittleEndian.Uint64(four[16:]), binary.LittleEndian.Uint64(four[24:])
		if (w0|w1|w2|w3)&continued != 0 {
			break
		}
		done += 4 * 8
		h0 := w0 >> 1 & magnitudes
		h1 := w1 >> 1 & magnitudes
		h2 := w2 >> 1 & magnitudes
		h3 := w3 >> 1 & magnitudes
		ran := sumBytes(h0&runMask(w0) + h1&runMask(w1) + h2&runMask(w2) + h3&runMask(w3))
		index += 4*8 + int(ran)
		total += int64(sumBytes(h0+h1+h2+h3) - ran)
	}
	for done+8 <= len(encoded) && index+8*64 <= slots {
		word := binary.LittleEndian.Uint64(encoded[done:])
		if word&continued != 0 {
			break
		}
		done += 8
		ran := sumBytes(word >> 1 & magnitudes & runMask(word))
		index += 8 + int(ran)
		total += int64(sumBytes(word>>1&magnitudes) - ran)
	}
	return done, index, total
}
