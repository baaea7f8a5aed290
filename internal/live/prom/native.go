package prom

import (
	"math"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
)

// Schema is the one of native histograms. MinSchema has the widest buckets.
const (
	MinSchema = -4
	Schema    = 5
)

// A span is neighbouring buckets of a native histogram.
type span struct {
	offset int32 // buckets between this span and the one before, or from bucket 0
	length uint32
}

// native is the buckets of a native histogram.
type native struct {
	zero   uint64
	spans  []span
	deltas []int64 // of each bucket to the one before
}

// A bucket is a bucket of an exponential histogram that has counts. The one of index i is
// (2^((i-1)*2^-schema), 2^(i*2^-schema)].
type bucket struct {
	index int
	count int64
}

// fill puts the counts of h into buckets, in order. The counts of a slot go to the bucket of the
// highest value of the slot.
func fill(h *histogram.Histogram, ratio float64, schema int) (zero uint64, all []bucket) {
	for slot := range h.Recorded() {
		value := unit.Divide(h.Float(slot.High), ratio)
		if value == 0 {
			zero += uint64(slot.Count)
			continue
		}
		index := int(math.Ceil(math.Ldexp(math.Log2(value), schema)))
		if n := len(all); n > 0 && all[n-1].index == index {
			all[n-1].count += slot.Count
		} else {
			all = append(all, bucket{index, slot.Count})
		}
	}
	return zero, all
}

// buckets returns the buckets of a native histogram.
func buckets(h *histogram.Histogram, ratio float64, schema int) (n native) {
	var all []bucket
	n.zero, all = fill(h, ratio, schema)
	last, before := 0, int64(0)
	for _, b := range all {
		if len(n.spans) > 0 && b.index == last+1 {
			n.spans[len(n.spans)-1].length++
		} else {
			offset := b.index
			if len(n.spans) > 0 {
				offset -= last + 1
			}
			n.spans = append(n.spans, span{int32(offset), 1})
		}
		n.deltas = append(n.deltas, b.count-before)
		last, before = b.index, b.count
	}
	return n
}
