package payload

import (
	"encoding/binary"

	"hdrkit/hdrlog/histogram"
)

// Check decodes the counts without adding them to anything. Where it returns nil, so does [Payload.AddTo] with a histogram
// of the same kind that has room for the values and counts.
func (p *Payload) Check() error {
	if p.Version < 2 {
		counts := &p.decoder.counts
		counts.Reset(p.Layout)
		return p.addTo(counts)
	}
	var (
		index   int
		total   int64
		seen    int64 // as in accumulateZigZag
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
		return histogram.ErrOverflow
	}
	return nil
}

// checkEights goes over counts of one byte, eight at a time while it can, and returns how many bytes of encoded it took,
// the next index and what the counts add up to. A count moves on by 1, a run of n empty slots by n, so that eight
// move on by 8*64 slots at most: while there are as many left, no index can be out of range.
func checkEights(encoded []byte, index, slots int) (done, next int, total int64) {
	const (
		more = 0x8080808080808080 // the bits that say that a count goes on
		ones = 0x0101010101010101
	)
	for done+8 <= len(encoded) && index+8*64 <= slots {
		word := binary.LittleEndian.Uint64(encoded[done:])
		if word&more != 0 {
			break
		}
		done += 8
		halves := word >> 1 & (0x3f * ones)
		runs := word & ones * 0xff // all bits of a byte that is a run, none of one that is a count
		index += int(sumBytes(halves&runs + ones))
		total += int64(sumBytes(halves &^ runs))
	}
	return done, index, total
}
