package summary

import (
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/detect"
)

// A Rhythm is spikes of a tag of a log that come at equal distances of time.
type Rhythm struct {
	// Times of Rhythm are in milliseconds. First is since the epoch.
	detect.Rhythm
	Tag   []byte
	Input string
	// Others is the number of other tags and logs with the same rhythm.
	Others int
	// Last is the time of the last beat, in milliseconds since the epoch.
	Last int64
}

// samePeriod is the largest difference between the periods of one rhythm, as a part of a period.
const samePeriod = 0.05

// RhythmOf returns the rhythm of tracks with the most beats, nil if there is none.
func RhythmOf(tracks []Track) (best *Rhythm) {
	var all []*Rhythm
	for _, t := range tracks {
		if found, ok := detect.Beats(t.Intervals, len(tracks)); ok {
			last := int64(found.First + float64(found.Expected-1)*found.Period)
			all = append(all, &Rhythm{Rhythm: found, Tag: t.Tag, Input: t.Input, Last: last})
		}
	}
	for _, r := range all {
		if best == nil || r.Found > best.Found {
			best = r
		}
	}
	for _, r := range all {
		if r != best && math.Abs(r.Period/best.Period-1) <= samePeriod {
			best.Others++
		}
	}
	return best
}

// Figures returns a percentile of a tag in each of some inputs, and in each of the other inputs.
// The values have the unit of [Histories.Tracks]. The histories must have sums.
func (hs *Histories) Figures(tag []byte, percentile float64, inputs []string) (some, others []float64) {
	var scratch histogram.Histogram
	for key, sum := range hs.sums {
		history := hs.all[key]
		if history == nil || string(sum.Tag) != string(tag) || (sum.Tag == nil) != (tag == nil) {
			continue
		}
		h, err := sum.Sum.Histogram(&scratch)
		if err != nil || h.TotalCount() == 0 {
			continue
		}
		figure := h.Float(h.ValueAtPercentile(percentile)) * history.factor
		if slices.Contains(inputs, sum.Name) {
			some = append(some, figure)
		} else {
			others = append(others, figure)
		}
	}
	return some, others
}
