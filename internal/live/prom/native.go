// Package prom shows histograms to Prometheus: as native histograms or as classic buckets when it
// scrapes ([Collector]), and as native histograms by remote write ([Remote]). Receivers of
// OpenTelemetry get exponential histograms ([OTLP]), which have the same buckets.
//
// A native histogram of schema s has buckets whose bounds are the powers of 2^(2^-s). See
// https://prometheus.io/docs/specs/native_histograms/.
package prom

import (
	"bytes"
	"math"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
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
	// Ratio returns the unit ratio of a tag, by which its values are divided. It is called when the
	// tag first comes. Nil stands for 1.
	Ratio func(tag []byte) float64
	// Schema is the one of native histograms.
	Schema int
	// Percentiles are those of the last window that are shown.
	Percentiles []float64
	// Service is the name of the service that OpenTelemetry gets, if the environment has none.
	Service string
	// Memory, if set, limits what the totals may take.
	Memory *ledger.Ledger
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

// total has all values of a tag since the start.
type total struct {
	tag    []byte
	all    merge.Sum
	sum    float64 // of all values, in the unit of the log
	ratio  float64 // what to divide values by
	charge ledger.Charge
}

// of returns a value of the tag in printed units.
func (t *total) of(v float64) float64 { return unit.Divide(v, t.ratio) }

// totals are the totals by tag.
type totals struct {
	options *Options
	account *ledger.Account
	tags    map[string]*total
	scratch histogram.Histogram
}

func newTotals(o *Options) totals {
	account := o.Memory.Open("tags", "choose some with -incT, or add them up with -it")
	return totals{options: o, account: account, tags: make(map[string]*total)}
}

// add adds the counts of h to the total of a tag, which it returns.
func (ts *totals) add(tag []byte, h *histogram.Histogram) (*total, error) {
	key := tags.Text(tag)
	t := ts.tags[key]
	if t == nil {
		t = &total{tag: bytes.Clone(tag), ratio: 1}
		if ts.options.Ratio != nil {
			t.ratio = ts.options.Ratio(tag)
		}
		ts.tags[key] = t
	}
	if err := t.all.AddHistogram(0, 0, h); err != nil {
		return nil, err
	}
	t.sum += h.Mean() * float64(h.TotalCount())
	return t, t.charge.Set(ts.account, 1, tagBytes+t.all.Size())
}

// tagBytes is about what a tag takes beside its counts.
const tagBytes = 500

// counts returns the counts of a total. They are valid until it is called again.
func (ts *totals) counts(t *total) *histogram.Histogram {
	h, err := t.all.Histogram(&ts.scratch)
	if err != nil { // the intervals of a tag add up: package live sees to that
		return new(histogram.Histogram)
	}
	return h
}
