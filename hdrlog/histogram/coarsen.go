package histogram

import "encoding/binary"

// A coarsening finds the slots of a layout with fewer digits.
type coarsening struct {
	from, to Layout
	// One slot is 1<<finer slots of from. From the slot simple of from on, that holds throughout.
	finer, half, simple int
}

func newCoarsening(from Layout, digits int) coarsening {
	c := coarsening{from: from, to: from}
	c.to.Digits = max(min(from.Digits, digits), 0)
	c.finer, c.half = from.halfMagnitude()-c.to.halfMagnitude(), c.to.SubBuckets()/2
	c.simple = c.half << c.finer
	return c
}

// at returns the slot for the lowest value of a slot of from.
func (c *coarsening) at(index int) int {
	switch {
	case c.finer == 0:
		return index
	case index >= c.simple:
		return index>>c.finer + c.finer*c.half
	}
	return c.to.IndexOf(c.from.LowestAt(index))
}

// CoarsenInto makes into the counts of h with at most digits significant digits, in the memory of
// into. Each count goes to the slot of the lowest value of its old slot.
func (h *Histogram) CoarsenInto(into *Histogram, digits int) {
	c := newCoarsening(h.layout, digits)
	into.reset(c.to)
	first, last := h.firstIndex(), h.lastIndex()
	if last < 0 {
		return
	}
	base, slots := into.room(c.at(first), c.at(last))
	for low, counts := range h.between(first&^7, last|7) {
		for i := 0; i < len(counts); i += 8 {
			eight := (*[8]int64)(counts[i:])
			sum := sumEight(eight)
			if sum == 0 {
				continue // as in most cases
			}
			if c.finer >= 3 && low+i >= c.simple { // they share a slot
				slot := (low+i)>>c.finer + c.finer*c.half - base
				slots[slot] += sum
				into.pages[slot>>pageBits] = 1
				continue
			}
			for k, n := range eight {
				if n != 0 {
					slot := c.at(low+i+k) - base
					slots[slot] += n
					into.pages[slot>>pageBits] = 1
				}
			}
		}
	}
	into.total = h.total
}

func sumEight(c *[8]int64) int64 { return c[0] + c[1] + c[2] + c[3] + c[4] + c[5] + c[6] + c[7] }

// mostCoarse is the largest number of slots that DecodeCoarse makes room for at once.
const mostCoarse = 1 << 12

// DecodeCoarse makes h hold the counts with at most digits significant digits, in the memory of h,
// as [Payload.Decode] and [Histogram.CoarsenInto] do. After an error, h is empty. The errors are
// those of [Payload.AddTo].
//
// It adds eight counts of one byte each at a time, as addEights does, which takes a third less time
// (BenchmarkDecodeCoarse), and a tenth of that of hdrsum -ci.
func (p *Payload) DecodeCoarse(h *Histogram, digits int) error {
	c := newCoarsening(p.layout, digits)
	h.reset(c.to)
	last := c.at(p.slots - 1)
	if p.version < 2 || c.finer < 3 || last >= mostCoarse {
		all := &p.decoder.counts
		if err := p.Decode(all); err != nil {
			return err
		}
		all.CoarsenInto(h, digits)
		return nil
	}
	encoded, index, err := p.firstCount()
	if err != nil || len(encoded) == 0 {
		return err
	}
	base, slots := h.room(c.at(min(index, p.slots-1)), last)
	h.mark(0, last+1-base)
	move := c.finer*c.half - base
	var total, seen int64
	for len(encoded) > 0 {
		for index >= c.simple && len(encoded) >= 8 && index+8*64 <= p.slots {
			word := binary.LittleEndian.Uint64(encoded)
			if word&goesOn != 0 {
				break
			}
			numbers := word >> 1 & halves
			runs := runs(word)
			adds, steps := numbers&^runs, numbers&runs+ones
			sum, next := int64(sumBytes(adds)), index+int(sumBytes(steps))
			total += sum
			if (next-1)>>c.finer == index>>c.finer {
				slots[index>>c.finer+move] += sum
			} else {
				for range 8 {
					slots[index>>c.finer+move] += int64(adds & 0xff)
					index += int(steps & 0xff)
					adds, steps = adds>>8, steps>>8
				}
			}
			encoded, index, seen = encoded[8:], next, seen|total
		}
		if len(encoded) == 0 {
			break
		}
		n, step, size, err := p.one(encoded, index)
		if err != nil {
			h.reset(c.to)
			return err
		}
		if n != 0 {
			slots[c.at(index)-base] += n
			total += n
			seen |= total
		}
		encoded, index = encoded[size:], index+step
	}
	if h.total = total; seen < 0 {
		h.reset(c.to)
		return ErrOverflow
	}
	return nil
}
