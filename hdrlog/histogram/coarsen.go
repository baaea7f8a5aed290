package histogram

// CoarsenInto makes into the counts of h with at most digits significant digits, in the memory of
// into. Each count goes to the slot of the lowest value of its old slot.
func (h *Histogram) CoarsenInto(into *Histogram, digits int) {
	from, to := h.layout, h.layout
	to.Digits = max(min(from.Digits, digits), 0)
	// One slot is 1<<finer slots of from. From the slot simple of from on, that holds throughout.
	finer, half := from.halfMagnitude()-to.halfMagnitude(), to.SubBuckets()/2
	simple := half << finer
	at := func(index int) int {
		if index >= simple {
			return index>>finer + finer*half
		}
		return to.IndexOf(from.LowestAt(index))
	}
	into.reset(to)
	first, last := h.firstIndex(), h.lastIndex()
	if last < 0 {
		return
	}
	base, slots := into.room(at(first), at(last))
	for low, counts := range h.segments() {
		if size := 1 << finer; low >= simple && size <= pageSize {
			// What lies before and behind slots is empty.
			from := at(low) - base
			if from < 0 {
				counts = counts[min(-from<<finer, len(counts)):]
				from = 0
			}
			from = min(from, len(slots))
			out := slots[from:min(from+len(counts)>>finer, len(slots))]
			if len(out) > 0 {
				addGroups(out, counts, size)
				into.mark(from, from+len(out))
			}
			continue
		}
		for size := 1; len(counts) > 0; low, counts = low+size, counts[size:] {
			if low >= simple {
				size = min(1<<finer, pageSize) // they share a slot
			}
			if sum := sumOf(counts[:size]); sum != 0 {
				slot := at(low) - base
				slots[slot] += sum
				into.pages[slot>>pageBits] = 1
			}
		}
	}
	into.total, into.least = h.total, h.least
}

// addGroups adds the sum of each size counts to a slot. A loop for eight, the size of pages and
// heat maps, takes 6% less of a page.
func addGroups(slots, counts []int64, size int) {
	switch {
	case size == pageSize && useVectors: // that of windows
		sumPages(&slots[0], &counts[0], len(slots))
		return
	case size == 8:
		for i := range slots {
			slots[i] += sumEight((*[8]int64)(counts[8*i:]))
		}
		return
	}
	for i := range slots {
		slots[i] += sumOf(counts[i*size:][:size])
	}
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
