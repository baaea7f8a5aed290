package summary

import (
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// A Rhythm is spikes of a tag of a log that come at even times.
type Rhythm struct {
	// Rhythm has times in milliseconds, and First since the epoch.
	confidence.Rhythm
	Tag   []byte
	Input string
	// Others is the number of other tags and logs with the same rhythm.
	Others int
	// Last is the time of the last beat, in milliseconds since the epoch.
	Last int64
}

// samePeriod is how far two periods may be apart that are the same, as a part.
const samePeriod = 0.05

// Rhythm returns the rhythm with the most beats, nil if there is none. It finds nothing if the log
// is so long that windows took the place of intervals.
func (hs *Histories) Rhythm() (best *Rhythm) {
	parts, err := hs.inOrder()
	if err != nil || hs.coarse > 0 {
		return nil
	}
	var all []*Rhythm
	for _, h := range parts {
		times, length := h.spikes()
		if found, ok := confidence.FindRhythm(times, length, len(parts)); ok {
			last := int64(found.First + float64(found.Expected-1)*found.Period)
			all = append(all, &Rhythm{Rhythm: found, Tag: h.tag, Input: h.input, Last: last})
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

// spikes returns the times at which maxima are far above what is usual, and the usual length of an
// interval. Intervals that follow each other are one spike, at its highest.
func (h *history) spikes() (times []float64, length float64) {
	limit := lowOf(h.pieces).limit()
	var peak *piece
	last := int64(math.MinInt64)
	for _, p := range h.pieces {
		length += float64(p.End-p.Start) / float64(len(h.pieces))
		if !(p.compared() > limit) || limit == 0 {
			continue
		}
		if peak != nil && p.Start <= last {
			if p.highest > peak.highest {
				peak = p
				times[len(times)-1] = float64(p.Start)
			}
		} else {
			peak = p
			times = append(times, float64(p.Start))
		}
		last = p.End + (p.End-p.Start)/2
	}
	return times, length
}

// An Outlier is logs whose values of a tag are higher than those of the others.
type Outlier struct {
	confidence.Unlike
	Inputs []string
	Tag    []byte
	Others int // logs
	// Percentile is that of the figures that are compared.
	Percentile float64
	Start, End int64 // of the logs, in milliseconds since the epoch
}

// outlierParts is the number of parts of the time that are compared.
const outlierParts = 20

// Outliers returns the outlier of each tag that has one. Sums are needed, and the scale of
// [Histories.Worst].
func (hs *Histories) Outliers(
	percentile float64,
	scale func(input string, tag []byte) hdrlog.Scale,
) (all []Outlier, err error) {
	parts, err := hs.inOrder()
	if err != nil {
		return nil, err
	}
	hs.inUnit(scale)
	for _, logs := range byTag(parts) {
		var figures []float64
		var levels [][]float64
		var scratch histogram.Histogram
		for _, h := range logs {
			figure := math.NaN()
			if sum := hs.sums[h.key]; sum != nil {
				counts, err := sum.Histogram(&scratch)
				if err != nil {
					return nil, err
				}
				if output.Above(counts, percentile) > 0 {
					figure = counts.Float(counts.ValueAtPercentile(percentile)) * h.factor
				}
			}
			figures = append(figures, figure)
			var times, highest []float64
			for _, p := range h.pieces {
				times = append(times, float64(p.Start-hs.ran.Start))
				highest = append(highest, p.compared())
			}
			levels = append(levels, confidence.Parts(times, highest, float64(hs.ran.End-hs.ran.Start), outlierParts))
		}
		if unlike, ok := confidence.Outlier(figures, levels); ok {
			o := Outlier{
				Unlike:     unlike,
				Tag:        logs[0].tag,
				Others:     len(logs) - len(unlike.Logs),
				Percentile: percentile,
				Start:      math.MaxInt64,
			}
			for _, n := range slices.Sorted(slices.Values(unlike.Logs)) {
				h := logs[n]
				o.Inputs = append(o.Inputs, h.input)
				o.Start = min(o.Start, h.pieces[0].Start)
				o.End = max(o.End, h.pieces[len(h.pieces)-1].End)
			}
			all = append(all, o)
		}
	}
	return all, nil
}
