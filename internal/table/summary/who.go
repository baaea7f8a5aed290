package summary

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
	"hdrkit/tags"
)

// ErrUnits is the error for values of different units.
var ErrUnits = errors.New("the tags have different units, whose values do not add up: choose some with -incT")

// Who returns what each tag of each input has of the values above a percentile of all values. It is
// exact: a value is above if its slot is. Factor is that of [Parts.Worst]. Shares for which by
// returns the same are one; nil leaves all as they are.
func (p *Parts) Who(percentile float64, factor func(input string, tag []byte) float64, by func(input string, tag []byte) (string, []byte)) (*output.Shares, error) {
	keys, err := p.keys()
	if err != nil {
		return nil, err
	}
	var shares []output.Share
	members := make(map[string][]string) // keys of parts, by the names of a share
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
		share := output.Share{Input: part.input, Tag: part.tag, Without: math.NaN()}
		if by != nil {
			share.Input, share.Tag = by(part.input, part.tag)
		}
		if len(members[nameOf(share)]) == 0 {
			shares = append(shares, share)
		}
		members[nameOf(share)] = append(members[nameOf(share)], key)
	}
	value := all.ValueAtPercentile(percentile)
	above := func(h *histogram.Histogram) int64 { return h.TotalCount() - h.CountBetween(0, value) }
	who.Value, who.Count = all.Float(value), above(&all)
	for _, share := range shares {
		own, err := histogram.New(all.Layout())
		if err != nil {
			return nil, err
		}
		for _, key := range members[nameOf(share)] {
			if err := p.sum(key, own); err != nil {
				return nil, err
			}
		}
		others := all.Clone()
		if err := others.Subtract(own); err != nil {
			return nil, err
		}
		share.Count = above(own)
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

// nameOf returns a text that differs from those of other shares.
func nameOf(s output.Share) string { return s.Input + "\n" + tags.Text(s.Tag) }
