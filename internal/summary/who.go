package summary

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
	"hdrkit/tags"
)

// ErrUnits is the error for values of different units.
var ErrUnits = errors.New("the tags have different units, whose values do not add up: choose some with -incT")

// Shares are who has the values above a percentile of all values, the largest share first.
type Shares struct {
	Percentile float64
	// Value is the percentile in the unit of the logs, and Count the number of values above it.
	Value float64
	Count int64
	// Scale says how values are printed.
	Scale hdrlog.Scale
	Of    []output.Share
}

// Who returns what each tag of each input has of the values above a percentile of all values. It is
// exact: a value is above if its slot is. What is in several phases counts once in all. Scale is
// that of [Histories.Worst]. Shares for which by returns the same are one; nil leaves all as they
// are.
func (hs *Histories) Who(
	percentile float64,
	scale func(input string, tag []byte) hdrlog.Scale,
	by func(input string, row, tag []byte) (string, []byte),
) (*Shares, error) {
	keys := slices.Sorted(maps.Keys(hs.sums))
	var shares []output.Share
	members := make(map[string][]string) // keys of histories, by the names of a share
	var all histogram.Histogram
	who := &Shares{Percentile: percentile}
	for n, key := range keys {
		input, tag := hs.sums[key].Name, hs.sums[key].Tag
		before := who.Scale
		who.Scale = scale(input, tag)
		if n > 0 && who.Scale.Factor() != before.Factor() {
			return nil, ErrUnits
		}
		if !hs.sums[key].Again {
			if err := hs.addTo(&all, key); err != nil {
				return nil, err
			}
		}
		share := output.Share{Input: input, Tag: tag, Without: output.Number(math.NaN())}
		if by != nil {
			share.Input, share.Tag = by(input, hs.sums[key].Row, tag)
		}
		if len(members[nameOf(share)]) == 0 {
			shares = append(shares, share)
		}
		members[nameOf(share)] = append(members[nameOf(share)], key)
	}
	value := all.ValueAtPercentile(percentile)
	who.Value, who.Count = all.Float(value), above(&all, value)
	for _, share := range shares {
		part, err := histogram.New(all.Layout())
		if err != nil {
			return nil, err
		}
		for _, key := range members[nameOf(share)] {
			if err := hs.addTo(part, key); err != nil {
				return nil, err
			}
		}
		others := all.Clone()
		if err := others.Subtract(part); err != nil {
			return nil, err
		}
		share.Count = above(part, value)
		if who.Count > 0 {
			share.Share = float64(share.Count) / float64(who.Count)
		}
		if others.TotalCount() > 0 {
			share.Without = output.Number(others.Float(others.ValueAtPercentile(percentile)))
		}
		who.Of = append(who.Of, share)
	}
	slices.SortFunc(who.Of, func(a, b output.Share) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Input, b.Input), tags.Compare(a.Tag, b.Tag))
	})
	return who, nil
}

// above returns the number of values of h in slots above that of a value.
func above(h *histogram.Histogram, value int64) int64 {
	return h.TotalCount() - h.CountBetween(0, value)
}

// addTo adds all counts of a history to a histogram.
func (hs *Histories) addTo(into *histogram.Histogram, key string) error {
	s := hs.sums[key]
	h, err := s.Histogram(new(histogram.Histogram))
	if err == nil {
		err = into.Add(h)
	}
	if err != nil {
		return fmt.Errorf("tag %s: %w", tags.Text(s.Row), err)
	}
	return nil
}

// nameOf returns a text that differs from those of other shares.
func nameOf(s output.Share) string { return s.Input + "\n" + tags.Text(s.Tag) }
