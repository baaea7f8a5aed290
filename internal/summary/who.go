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

// Shares say which tags of which inputs have the values above a percentile of all values.
type Shares struct {
	Percentile float64
	// Value is the value at the percentile in the unit of the logs, and Count the number of values
	// above it.
	Value float64
	Count int64
	// Scale says how values are printed.
	Scale hdrlog.Scale
	Of    []output.Share // the largest share first
}

// Who returns the share of each tag of each input in the values above a percentile of all values. A
// value is above the percentile if its slot is. An interval in several phases counts once among all
// values. Scale returns how the values of a tag of an input are printed. If by is not nil, it
// returns the names under which shares are added up.
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

// above returns the number of values of h in slots above the slot of a value.
func above(h *histogram.Histogram, value int64) int64 {
	return h.TotalCount() - h.CountBetween(0, value)
}

// addTo adds the sum of the history with a key to a histogram.
func (hs *Histories) addTo(into *histogram.Histogram, key string) error {
	s := hs.sums[key]
	h, err := s.Sum.Histogram(new(histogram.Histogram))
	if err == nil {
		err = into.Add(h)
	}
	if err != nil {
		return fmt.Errorf("tag %s: %w", tags.Text(s.Row), err)
	}
	return nil
}

// nameOf returns a text for the input and the tag of a share. No other share has the same text.
func nameOf(s output.Share) string { return s.Input + "\n" + tags.Text(s.Tag) }
