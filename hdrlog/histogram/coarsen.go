package histogram

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
	for low, counts := range h.segments() {
		for size := 1; len(counts) > 0; low, counts = low+size, counts[size:] {
			if low >= c.simple {
				size = min(1<<c.finer, pageSize) // they share a slot
			}
			if sum := sumOf(counts[:size]); sum != 0 {
				slot := c.at(low) - base
				slots[slot] += sum
				into.pages[slot>>pageBits] = 1
			}
		}
	}
	into.total = h.total
}

// sumOf returns the sum of counts.
func sumOf(counts []int64) (sum int64) {
	for ; len(counts) >= 8; counts = counts[8:] {
		sum += sumEight((*[8]int64)(counts))
	}
	for _, n := range counts {
		sum += n
	}
	return sum
}

func sumEight(c *[8]int64) int64 { return c[0] + c[1] + c[2] + c[3] + c[4] + c[5] + c[6] + c[7] }
