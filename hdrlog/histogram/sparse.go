package histogram

import (
	"cmp"
	"slices"
)

// A slotCount is the index of a slot and its count, which is not 0.
type slotCount struct {
	index int
	n     int64
}

// maxSparse is the number of bytes of encoded counts up to which a payload becomes a list of slots,
// not pages. Many logs have a few hundred values an interval. Decoding them to pages, and making a
// row of the pages, takes 1.5 to 4 times as long (BenchmarkSparse): with lists, hdrsum -st timeline
// of such a log takes 0.8 of its time.
const maxSparse = 1000

// decodeSparse is [Payload.addTo] for few counts and an empty sum. It returns false and leaves sum
// empty if there are many counts, or if they may be malformed: addTo returns the right error.
func (p *Payload) decodeSparse(sum *Histogram) bool {
	encoded := p.counts
	if p.version < 2 || len(encoded) > maxSparse {
		return false
	}
	sparse := slices.Grow(sum.sparse[:0], len(encoded))[:len(encoded)]
	found := 0
	index := 0
	total := int64(0)
	for at := 0; at < len(encoded); at++ {
		b := encoded[at]
		if b >= 0x80 {
			if index > p.slots {
				return false
			}
			n, step, size, err := p.decodeOne(encoded[at:], index)
			if err != nil || n >= 1<<31 {
				return false
			}
			sparse[found] = slotCount{index, n}
			found += min(int(n), 1)
			index = index + step
			total = total + n
			at = at + size - 1
			continue
		}
		// A count n adds n and advances by 1, a run of n adds nothing and advances by n. There is
		// no branch, since the processor cannot predict which of the two comes.
		number, run := int(b>>1), int(b&1)
		sparse[found] = slotCount{index, int64(number)}
		found += (number + 63) >> 6 &^ run
		index += 1 + number&-run
		total += int64(number & (run - 1))
	}
	if index > p.slots {
		return false
	}
	sum.sparse, sum.total = sparse[:found], total
	p.keepTotals(index, total)
	return true
}

// spread moves the counts of the list to pages, before counts change.
func (h *Histogram) spread() {
	sparse := h.sparse
	h.sparse, h.total = sparse[:0], 0
	for _, s := range sparse {
		h.add(s.index, s.n)
	}
}

// sparsePages is [Histogram.segments] for a list of slots. Each segment is one page.
func sparsePages(sparse []slotCount, yield func(low int, counts []int64) bool) {
	var page [pageSize]int64
	for len(sparse) > 0 {
		low, n := sparse[0].index&^(pageSize-1), 0
		for ; n < len(sparse) && sparse[n].index < low+pageSize; n++ {
			page[sparse[n].index-low] = sparse[n].n
		}
		if !yield(low, page[:]) {
			return
		}
		for _, s := range sparse[:n] {
			page[s.index-low] = 0
		}
		sparse = sparse[n:]
	}
}

// sumSparse returns the sum of the values of a list of slots, as [uniformSlots.sum] does.
func (l Layout) sumSparse(sparse []slotCount) (sum int64) {
	for len(sparse) > 0 {
		first := sparse[0].index
		total := int64(0)
		weighted := int64(0)
		bucket, _ := l.split(first)
		n, end := 0, (bucket+2)<<l.halfMagnitude()
		for ; n < len(sparse) && sparse[n].index < end; n++ {
			total += sparse[n].n
			weighted += sparse[n].n * int64(sparse[n].index-first)
		}
		sum += l.medianAt(first)*total + l.sizeAt(first)*weighted
		sparse = sparse[n:]
	}
	return sum
}

// sparseCount returns the count of the slot at index in a list of slots, 0 if the list does not
// have it.
func sparseCount(sparse []slotCount, index int) int64 {
	at, found := slices.BinarySearchFunc(sparse, index, func(s slotCount, index int) int { return cmp.Compare(s.index, index) })
	if !found {
		return 0
	}
	return sparse[at].n
}

// coarsenSparse appends the list of slots of a coarser layout to into, as [Histogram.CoarsenInto]
// needs it.
func coarsenSparse(into, sparse []slotCount, half, finest int) []slotCount {
	last := slotCount{index: -1}
	for _, s := range sparse {
		if at := coarseIndex(s.index, half, finest); at != last.index {
			if last.index >= 0 {
				into = append(into, last)
			}
			last = slotCount{at, 0}
		}
		last.n += s.n
	}
	return append(into, last)
}
