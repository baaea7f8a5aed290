package prom

import (
	"math"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
)

// Schema is the one of native histograms. MinSchema has the widest buckets.
const (
	MinSchema = -4
	Schema    = 5
)

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

// native returns a native histogram of the counts of h, without a sum.
func native(h *histogram.Histogram, ratio float64, schema int) *dto.Histogram {
	zero, filled := fill(h, ratio, schema)
	n := &dto.Histogram{
		SampleCount:   proto.Uint64(uint64(h.TotalCount())),
		Schema:        proto.Int32(int32(schema)),
		ZeroThreshold: proto.Float64(0),
		ZeroCount:     &zero,
	}
	last, before := 0, int64(0)
	for at, b := range filled {
		if at > 0 && b.index == last+1 {
			*n.PositiveSpan[len(n.PositiveSpan)-1].Length++
		} else {
			offset := b.index // from bucket 0, or from the bucket after the span before
			if at > 0 {
				offset -= last + 1
			}
			n.PositiveSpan = append(n.PositiveSpan, &dto.BucketSpan{Offset: proto.Int32(int32(offset)), Length: proto.Uint32(1)})
		}
		n.PositiveDelta = append(n.PositiveDelta, b.count-before)
		last, before = b.index, b.count
	}
	return n
}
