package histogram

import (
	"bytes"
	"iter"
)

// pageSize is the number of slots of a page. A pass over the counts skips pages to which nothing
// was added. Otherwise two values far apart, in a payload of a hundred bytes, would cost a pass
// over six million slots.
const (
	pageBits = 6
	pageSize = 1 << pageBits
)

// markPages marks the pages of the counts from begin to before end.
func (h *Histogram) markPages(begin, end int) {
	pages := h.pages[begin>>pageBits : (end+pageSize-1)>>pageBits]
	for i := range pages {
		pages[i] = 1
	}
}

// segments iterates over the counts of successive marked pages. low is the index of the slot of the
// first count. low and the number of counts are multiples of pageSize.
func (h *Histogram) segments() iter.Seq2[int, []int64] {
	return func(yield func(low int, counts []int64) bool) {
		if len(h.sparse) > 0 {
			sparsePages(h.sparse, yield)
			return
		}
		for page := 0; ; {
			skip := bytes.IndexByte(h.pages[page:], 1)
			if skip < 0 {
				return
			}
			page += skip
			size := bytes.IndexByte(h.pages[page:], 0)
			if size < 0 {
				size = len(h.pages) - page
			}
			begin := page * pageSize
			if page += size; !yield(h.base+begin, h.counts[begin:page*pageSize]) {
				return
			}
		}
	}
}

// between is [Histogram.segments] for the slots from first to last only.
func (h *Histogram) between(first, last int) iter.Seq2[int, []int64] {
	return func(yield func(low int, counts []int64) bool) {
		for low, counts := range h.segments() {
			if low > last {
				return
			}
			from, to := max(first-low, 0), min(last+1-low, len(counts))
			if from < to && !yield(low+from, counts[from:to]) {
				return
			}
		}
	}
}
