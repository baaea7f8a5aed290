package prom

import (
	"math"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
)

// Schema says how narrow the buckets of native histograms are, see the comment of the package.
// MinSchema is the schema with the widest buckets.
const (
	MinSchema = -4
	Schema    = 5
)

// A bucket is a bucket of an exponential histogram that is not empty. The bucket with index i and
// schema s holds values from 2^((i-1)*2^-s), exclusive, to 2^(i*2^-s), inclusive.
type bucket struct {
	index int
	count int64
}

// exponentialBuckets returns the counts of h in buckets, in order, and the number of zeros. It
// divides values by ratio. All counts of a slot go to the bucket of the highest value of the slot.
func exponentialBuckets(h *histogram.Histogram, ratio float64, schema int) (zero uint64, all []bucket) {
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

// native returns a native histogram with the counts of h. Its sum is not set.
func native(h *histogram.Histogram, ratio float64, schema int) *dto.Histogram {
	zero, filled := exponentialBuckets(h, ratio, schema)
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
