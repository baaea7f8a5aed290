package prom

import (
	"bytes"
	"cmp"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/tags"
)

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

// label returns the label of the tag, none for untagged intervals.
func (t *total) label() []*dto.LabelPair {
	if t.tag == nil {
		return nil
	}
	return pair("tag", tags.Text(t.tag))
}

// totals are the totals by tag.
type totals struct {
	options Options
	account *ledger.Account
	tags    map[string]*total
	scratch histogram.Histogram
}

// newTotals returns no totals yet. What is what the memory of their tags is for.
func newTotals(o Options, what string) totals {
	account := o.Memory.Open("tags of "+what, "choose some with -incT, or add them up with -by all")
	return totals{options: o, account: account, tags: make(map[string]*total)}
}

// of returns the total of a tag. Ratio is for a new one.
func (ts *totals) of(tag []byte, ratio float64) *total {
	key := tags.Text(tag)
	if ts.tags[key] == nil {
		t := &total{tag: bytes.Clone(tag), ratio: cmp.Or(ratio, 1)}
		t.all.Compact() // tags may be many
		ts.tags[key] = t
	}
	return ts.tags[key]
}

// add adds the counts of h to the total of a tag, which it returns. The factor is that of
// [hdrlog.Scale.Times].
func (ts *totals) add(tag []byte, factor float64, h *histogram.Histogram) (*total, error) {
	t := ts.of(tag, ts.options.Scale.Times(factor).Divisor())
	if h.TotalCount() > 0 {
		if err := t.all.AddHistogram(0, 0, h); err != nil {
			return nil, err
		}
		t.sum += h.Mean() * float64(h.TotalCount())
	}
	return t, ts.charge(t)
}

// charge reports what a total takes: about 500 bytes beside its counts.
func (ts *totals) charge(t *total) error { return t.charge.Set(ts.account, 1, 500+t.all.Size()) }

// native returns a total, whose counts are all, as a native histogram.
func (t *total) native(all *histogram.Histogram) *dto.Histogram {
	n := native(all, t.ratio, Schema)
	n.SampleSum = proto.Float64(t.of(t.sum))
	return n
}

// counts returns the counts of a total. They are valid until it is called again.
func (ts *totals) counts(t *total) *histogram.Histogram {
	h, err := t.all.Histogram(&ts.scratch)
	if err != nil { // the intervals of a tag add up: package live sees to that
		return new(histogram.Histogram)
	}
	return h
}
