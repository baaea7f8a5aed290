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

// A total has all values of a tag since the start.
type total struct {
	tag    []byte
	all    merge.Sum
	sum    float64 // of all values, in the unit of the log
	ratio  float64 // divides values to convert them into the unit of the metrics
	charge ledger.Charge
}

// converted returns a value of the tag in the unit of the metrics.
func (t *total) converted(v float64) float64 { return unit.Divide(v, t.ratio) }

// label returns the label with the tag, none for untagged intervals.
func (t *total) label() []*dto.LabelPair {
	if t.tag == nil {
		return nil
	}
	return pair("tag", tags.Text(t.tag))
}

// totals have the total of each tag.
type totals struct {
	options Options
	account *ledger.Account
	tags    map[string]*total
	scratch histogram.Histogram
}

// newTotals returns empty totals. What names their purpose, for the message when their memory is
// exceeded.
func newTotals(o Options, what string) totals {
	account := o.Memory.Open("tags of "+what, "choose some with -incT, or add them up with -by all")
	return totals{options: o, account: account, tags: make(map[string]*total)}
}

// totalOf returns the total of a tag. It makes a new total, with the given ratio, if there is none.
func (ts *totals) totalOf(tag []byte, ratio float64) *total {
	key := tags.Text(tag)
	if ts.tags[key] == nil {
		t := &total{tag: bytes.Clone(tag), ratio: cmp.Or(ratio, 1)}
		t.all.Compact() // tags may be many
		ts.tags[key] = t
	}
	return ts.tags[key]
}

// add adds the counts of h to the total of a tag, and returns the total. The factor is that of
// [hdrlog.Scale.Times].
func (ts *totals) add(tag []byte, factor float64, h *histogram.Histogram) (*total, error) {
	t := ts.totalOf(tag, ts.options.Scale.Times(factor).Divisor())
	if h.TotalCount() > 0 {
		if err := t.all.AddHistogram(0, 0, h); err != nil {
			return nil, err
		}
		t.sum += h.Mean() * float64(h.TotalCount())
	}
	return t, ts.charge(t)
}

// charge charges the memory of a total to the account: its counts and about 500 bytes.
func (ts *totals) charge(t *total) error { return t.charge.Set(ts.account, 1, 500+t.all.Size()) }

// native returns a native histogram of the total. All are its counts, see counts.
func (t *total) native(all *histogram.Histogram) *dto.Histogram {
	n := native(all, t.ratio, Schema)
	n.SampleSum = proto.Float64(t.converted(t.sum))
	return n
}

// counts returns the counts of a total. They are valid until the next call of counts.
func (ts *totals) counts(t *total) *histogram.Histogram {
	h, err := t.all.Histogram(&ts.scratch)
	if err != nil { // cannot happen: package live checks that the intervals of a tag add up
		return new(histogram.Histogram)
	}
	return h
}
