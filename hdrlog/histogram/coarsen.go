package histogram

// CoarsenInto makes into the counts of h with at most digits significant digits, in the memory of
// into. Each count goes to the slot of the lowest value of its old slot.
func (h *Histogram) CoarsenInto(into *Histogram, digits int) {
	layout := h.layout
	layout.Digits = max(min(layout.Digits, digits), 0)
	into.reset(layout)
	first, last := h.firstIndex(), h.lastIndex()
	if last < 0 {
		return
	}
	// One slot of layout is 1<<finer slots of h. From the slot simple of h on, that holds
	// throughout.
	finer, half := h.layout.halfMagnitude()-layout.halfMagnitude(), layout.SubBuckets()/2
	simple := half << finer
	at := func(index int) int {
		switch {
		case finer == 0:
			return index
		case index >= simple:
			return index>>finer + finer*half
		}
		return layout.IndexOf(h.layout.LowestAt(index))
	}
	base, slots := into.room(at(first), at(last))
	for low, counts := range h.between(first&^7, last|7) {
		for i := 0; i < len(counts); i += 8 {
			eight := (*[8]int64)(counts[i:])
			sum := sumEight(eight)
			if sum == 0 {
				continue // as in most cases
			}
			if finer >= 3 && low+i >= simple { // they share a slot
				slot := (low+i)>>finer + finer*half - base
				slots[slot] += sum
				into.pages[slot>>pageBits] = 1
				continue
			}
			for k, n := range eight {
				if n != 0 {
					slot := at(low+i+k) - base
					slots[slot] += n
					into.pages[slot>>pageBits] = 1
				}
			}
		}
	}
	into.total = h.total
}

func sumEight(c *[8]int64) int64 { return c[0] + c[1] + c[2] + c[3] + c[4] + c[5] + c[6] + c[7] }
