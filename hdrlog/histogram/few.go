package histogram

import (
	"cmp"
	"slices"
)

// A slot is a slot with its count, which is not zero.
type slot struct {
	index int
	n     int64
}

// fewBytes is how many bytes of counts a payload may have that becomes a list of slots. Many logs
// have a few hundred values an interval. To decode those to pages, and to make a row of these,
// takes 1.5 to 4 times as long (BenchmarkFew): hdrsum -st timeline of such a log takes 0.8.
const fewBytes = 1000

// decodeFew is [Payload.addTo] for few counts and an empty sum. It returns false, and leaves sum
// empty, if there are many, or if they are better left to addTo because they may be wrong.
func (p *Payload) decodeFew(sum *Histogram) bool {
	encoded := p.counts
	if p.version < 2 || len(encoded) > fewBytes {
		return false
	}
	few := slices.Grow(sum.few[:0], len(encoded))[:len(encoded)]
	found := 0
	index := 0
	total := int64(0)
	for at := 0; at < len(encoded); at++ {
		b := encoded[at]
		if b >= 0x80 {
			if index > p.slots {
				return false
			}
			n, step, size, err := p.one(encoded[at:], index)
			if err != nil || n >= 1<<31 {
				return false
			}
			few[found] = slot{index, n}
			found += min(int(n), 1)
			index = index + step
			total = total + n
			at = at + size - 1
			continue
		}
		// A count n adds n and advances by 1, a run of n adds nothing and advances by n. The
		// processor cannot predict which it is, so there is no branch.
		number, run := int(b>>1), int(b&1)
		few[found] = slot{index, int64(number)}
		found += (number + 63) >> 6 &^ run
		index += 1 + number&-run
		total += int64(number & (run - 1))
	}
	if index > p.slots {
		return false
	}
	sum.few, sum.total = few[:found], total
	p.ended(index, total)
	return true
}

// spread makes pages of a list of slots, before counts change.
func (h *Histogram) spread() {
	few := h.few
	h.few, h.total = few[:0], 0
	for _, s := range few {
		h.add(s.index, s.n)
	}
}

// fewPages is [Histogram.segments] for a list of slots, a page at a time.
func fewPages(few []slot, yield func(low int, counts []int64) bool) {
	var page [pageSize]int64
	for len(few) > 0 {
		low, n := few[0].index&^(pageSize-1), 0
		for ; n < len(few) && few[n].index < low+pageSize; n++ {
			page[few[n].index-low] = few[n].n
		}
		if !yield(low, page[:]) {
			return
		}
		for _, s := range few[:n] {
			page[s.index-low] = 0
		}
		few = few[n:]
	}
}

// sumFew returns the sum of the values of a list of slots, as [run.sum] does.
func (l Layout) sumFew(few []slot) (sum int64) {
	for len(few) > 0 {
		first := few[0].index
		total := int64(0)
		weighted := int64(0)
		bucket, _ := l.split(first)
		n, end := 0, (bucket+2)<<l.halfMagnitude()
		for ; n < len(few) && few[n].index < end; n++ {
			total += few[n].n
			weighted += few[n].n * int64(few[n].index-first)
		}
		sum += l.medianAt(first)*total + l.sizeAt(first)*weighted
		few = few[n:]
	}
	return sum
}

// fewAt returns the count of the slot at index in a list of slots.
func fewAt(few []slot, index int) int64 {
	at, found := slices.BinarySearchFunc(few, index, func(s slot, index int) int { return cmp.Compare(s.index, index) })
	if !found {
		return 0
	}
	return few[at].n
}

// coarsenFew appends the slots of [Histogram.CoarsenInto].
func coarsenFew(into, few []slot, half, finest int) []slot {
	last := slot{index: -1}
	for _, s := range few {
		if at := coarserAt(s.index, half, finest); at != last.index {
			if last.index >= 0 {
				into = append(into, last)
			}
			last = slot{at, 0}
		}
		last.n += s.n
	}
	return append(into, last)
}
