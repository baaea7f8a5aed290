// Package prom shows histograms to Prometheus: as native histograms or as classic buckets when it
// scrapes ([Collector]), and as native histograms by remote write ([Remote]).
//
// A native histogram of schema s has buckets whose bounds are the powers of 2^(2^-s). See
// https://prometheus.io/docs/specs/native_histograms/.
package prom

import (
	"math"
	"strconv"

	"hdrkit/hdrlog/histogram"
	"hdrkit/tags"
)

// The schemas of native histograms, from the widest buckets to the narrowest.
const (
	MinSchema     = -4
	DefaultSchema = 5
	MaxSchema     = 8
)

// Options say how values become metrics.
type Options struct {
	// Metric is the name of the histogram. The gauges of the last window begin with it.
	Metric string
	// Ratio is the unit ratio, by which values are divided.
	Ratio float64
	// Schema is the one of native histograms.
	Schema int
	// Percentiles are those of the last window that are shown.
	Percentiles []float64
}

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

// buckets puts the counts of h into the buckets of a native histogram. The counts of a slot go to
// the bucket of the highest value of the slot, bucket i being (2^((i-1)*2^-schema),
// 2^(i*2^-schema)].
func buckets(h *histogram.Histogram, o *Options) native {
	var n native
	last, before := 0, int64(0) // the bucket that is counted, and the count of the one before it
	var count int64
	end := func() {
		if count > 0 {
			n.deltas = append(n.deltas, count-before)
			before, count = count, 0
		}
	}
	for slot := range h.Recorded() {
		value := h.Float(slot.High) / o.Ratio
		if value == 0 {
			n.zero += uint64(slot.Count)
			continue
		}
		bucket := int(math.Ceil(math.Ldexp(math.Log2(value), o.Schema)))
		switch {
		case len(n.spans) == 0:
			n.spans = append(n.spans, span{int32(bucket), 1})
		case bucket == last+1:
			end()
			n.spans[len(n.spans)-1].length++
		case bucket > last:
			end()
			n.spans = append(n.spans, span{int32(bucket - last - 1), 1})
		}
		last = bucket
		count += slot.Count
	}
	end()
	return n
}

// quantile spells a percentile as a quantile. It moves the decimal point instead of dividing: 99.9
// is 0.999.
func quantile(percentile float64) string {
	q, _ := strconv.ParseFloat(strconv.FormatFloat(percentile, 'f', -1, 64)+"e-2", 64)
	return strconv.FormatFloat(q, 'g', -1, 64)
}

// total has all values of a tag since the start.
type total struct {
	tag []byte
	all histogram.Histogram
	sum float64 // of all values, in the unit of the log
}

// add adds the counts of h.
func (t *total) add(h *histogram.Histogram) error {
	if err := t.all.Add(h); err != nil {
		return err
	}
	t.sum += h.Mean() * float64(h.TotalCount())
	return nil
}

// totals are the totals by tag.
type totals map[string]*total

func (ts totals) of(tag []byte) *total {
	key := tags.Text(tag)
	t := ts[key]
	if t == nil {
		t = &total{tag: append([]byte(nil), tag...)}
		if tag != nil && t.tag == nil {
			t.tag = []byte{}
		}
		ts[key] = t
	}
	return t
}
