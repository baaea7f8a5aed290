package histogram

import (
	"iter"
	"math"
)

// Linear iterates over bins of a width, as the LinearIterator of the reference does: from 0 to
// width-1, from width to 2*width-1 and so on, up to the bin of the highest value. High is the
// "value iterated to" of the reference. A slot counts in the bin in which it begins. Where slots
// are wider than bins, the first of their bins has the count. A width below 1 counts as 1.
func (h *Histogram) Linear(width int64) iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		high := max(width, 1) - 1
		h.bins(yield, func() (int64, int64) { return high, high }, func() bool {
			if high > math.MaxInt64-max(width, 1) {
				return false
			}
			high += max(width, 1)
			return true
		})
	}
}

// Logarithmic iterates over bins that grow, as the LogarithmicIterator of the reference does: from
// 0 to first-1, from there to first*base-1, to first*base*base-1 and so on. For the rest it is
// [Histogram.Linear]. A first below 1 counts as 1, and a base that is not above 1 as 2.
func (h *Histogram) Logarithmic(first int64, base float64) iter.Seq[Bucket] {
	if !(base > 1) {
		base = 2
	}
	return func(yield func(Bucket) bool) {
		end := float64(max(first, 1))
		h.bins(yield, func() (int64, int64) { return int64(end) - 1, int64(end) }, func() bool {
			end *= base
			return end < math.MaxInt64
		})
	}
}

// bins yields the bins up to a level, which returns the highest value of the next bin, and the
// value up to which the last slot must reach for that bin. Next moves on. It returns false if there
// is no higher level; the last bin has all the rest then.
func (h *Histogram) bins(yield func(Bucket) bool, level func() (high, reach int64), next func() bool) {
	// The last slot of a histogram that has grown by itself.
	last := h.layout.SlotsFor(max(h.Max(), 2*h.layout.Lowest)) - 1
	var seen, low int64
	for slots := 0; ; {
		high, reach := level()
		if seen == h.total && h.layout.IndexOf(reach) > max(slots-1, 0) {
			return
		}
		bin := Bucket{Low: low, High: high}
		if at := min(h.layout.IndexOf(high), last); at >= slots {
			bin.Count = h.CountBetween(h.layout.LowestAt(slots), h.layout.LowestAt(at))
			slots = at + 1
		}
		more := next()
		if !more {
			bin.High, bin.Count = max(high, h.Max()), h.total-seen
		}
		seen += bin.Count
		if !yield(bin) || !more {
			return
		}
		low = high + 1
	}
}
