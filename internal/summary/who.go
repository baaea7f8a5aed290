package summary

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// ErrUnits is the error for values of different units.
var ErrUnits = errors.New("the tags have different units, whose values do not add up: choose some with -incT")

// Who returns what each tag of each input has of the values above a percentile of all values. It is
// exact: a value is above if its slot is. Factor is that of [Parts.Worst].
func (p *Parts) Who(percentile float64, factor func(input string, tag []byte) float64) (*output.Shares, error) {
	keys, err := p.keys()
	if err != nil {
		return nil, err
	}
	var all histogram.Histogram
	who := &output.Shares{Percentile: percentile}
	for _, key := range keys {
		part := p.part(key)
		if times := factor(part.input, part.tag); who.Factor != 0 && times != who.Factor {
			return nil, ErrUnits
		} else {
			who.Factor = times
		}
		if err := p.sum(key, &all); err != nil {
			return nil, err
		}
	}
	value := all.ValueAtPercentile(percentile)
	above := func(h *histogram.Histogram) int64 { return h.TotalCount() - h.CountBetween(0, value) }
	who.Value, who.Count = all.Float(value), above(&all)
	for _, key := range keys {
		own, err := histogram.New(all.Layout())
		if err != nil {
			return nil, err
		}
		others := all.Clone()
		if err := cmp.Or(p.sum(key, own), others.Subtract(own)); err != nil {
			return nil, err
		}
		part := p.part(key)
		share := output.Share{Input: part.input, Tag: part.tag, Count: above(own), Without: math.NaN()}
		if who.Count > 0 {
			share.Share = float64(share.Count) / float64(who.Count)
		}
		if others.TotalCount() > 0 {
			share.Without = others.Float(others.ValueAtPercentile(percentile))
		}
		who.Of = append(who.Of, share)
	}
	slices.SortStableFunc(who.Of, func(a, b output.Share) int { return cmp.Compare(b.Count, a.Count) })
	return who, nil
}
