package summary

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// A moment is a time that was bad, in a log.
type moment struct {
	output.Moment
	peak         *piece // that has the maximum
	log          *log
	bad          int             // intervals
	tags, inputs map[string]bool // others that were bad then: tags of the same input, and inputs
}

// A log is what a tag has in inputs whose times do not overlap, such as the parts of a log that was
// rotated.
type log struct {
	pieces []*piece
	end    int64
}

// Rules of what is bad.
const (
	// A bad maximum is so many times the typical one. A far one is bad alone. Between least and
	// most it depends on how maxima vary: it is so many steps above that, if a step is the ratio
	// of the lower quartile to the lower decile. In steady logs of any number of values, one
	// interval in 5,000 or fewer is far.
	badLeast, badSteps, farLeast, farSteps, mostTimes = 2, 7, 3, 17, 10
	// leastBad is the number of bad intervals that are a moment although none is far.
	leastBad = 5
	// gapPart is the part of a moment that may be good, so that chance does not divide it.
	gapPart = 0.2
	// levelPart is the part of a log that a moment may last. What lasts longer is a level, if it
	// has leastLevel intervals.
	levelPart, leastLevel = 0.2, 20
	// badLevel is the percentile above which values are counted.
	badLevel = 99.9
)

// Worst returns the worst separate moments, the worst first, and what was bad for so long that it
// is a level. Factor is what a value of 1 of a tag of an input is in the unit that tags are
// compared in.
//
// An interval is bad if its maximum is more than twice as high as is typical of its tag, or higher
// if maxima vary much. Typical is the lower quartile of the maxima in one log: of several, the one
// whose lower quartile is in the middle. Inputs whose times do not overlap are one log. Bad
// intervals of a log that follow each other are one moment, if they are five or one is far higher.
// A short gap does not divide it. What lasts for more than a fifth of its log is a level: the
// moments in it are those that are bad for that level. Logs that were bad during mostly the same
// time are one moment too, that of the log with the highest maximum.
func (p *Parts) Worst(most int, factor func(input string, tag []byte) float64) ([]output.Moment, []output.Level, error) {
	parts, err := p.inOrder()
	if err != nil {
		return nil, nil, err
	}
	byTag := make(map[string][]*part)
	var order []string
	for _, part := range parts {
		tag := tagOf(part.key)
		if byTag[tag] == nil {
			order = append(order, tag)
		}
		byTag[tag] = append(byTag[tag], part)
	}
	var found []moment
	var levels []output.Level
	for _, tag := range order {
		logs := p.logs(byTag[tag])
		typical := typicalOf(logs)
		for _, log := range logs {
			for _, m := range moments(log.pieces, typical.limits()) {
				inside := piecesIn(log.pieces, &m)
				if float64(m.End-m.Start) <= levelPart*float64(log.end-log.pieces[0].Start) || len(inside) < leastLevel {
					m.log = log
					found = append(found, m)
					continue
				}
				own := lowOf(inside)
				levels = append(levels, output.Level{Start: m.Start, End: m.End, Input: inside[0].of.input, Tag: inside[0].of.tag,
					Times: output.Number(own.quartile / typical.quartile), Throughout: m.Start == log.pieces[0].Start && m.End == log.end})
				for _, m := range moments(inside, own.limits()) {
					m.log = log
					found = append(found, m)
				}
			}
		}
	}
	for n := range found {
		m := &found[n]
		m.Input, m.Tag, m.Peak, m.Max = m.peak.of.input, m.peak.of.tag, m.peak.peak, output.Number(m.peak.highest)
		m.Factor = factor(m.Input, m.Tag)
	}
	slices.SortStableFunc(found, func(a, b moment) int {
		return cmp.Or(cmp.Compare(float64(b.Max)*b.Factor, float64(a.Max)*a.Factor), cmp.Compare(a.Start, b.Start))
	})
	found = separate(found, most)
	if p.Counts {
		err = p.count(found)
	}
	var all []output.Moment
	for _, m := range found {
		m.OtherTags, m.OtherInputs = len(m.tags), len(m.inputs)
		all = append(all, m.Moment)
	}
	slices.SortStableFunc(levels, func(a, b output.Level) int { return cmp.Compare(b.Times, a.Times) })
	return all, levels, err
}

// logs returns the logs of a tag. An input goes on with the log that ended last before it begins.
// It may begin an interval earlier.
func (p *Parts) logs(parts []*part) (all []*log) {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b *part) int { return cmp.Compare(a.pieces[0].Start, b.pieces[0].Start) })
	for _, part := range parts {
		var own *log
		for _, l := range all {
			if l.end <= part.pieces[0].Start+p.length/2 && (own == nil || l.end > own.end) {
				own = l
			}
		}
		if own == nil {
			own = &log{end: math.MinInt64}
			all = append(all, own)
		}
		own.pieces = append(own.pieces, part.pieces...)
		for _, piece := range part.pieces {
			own.end = max(own.end, piece.End)
		}
	}
	return all
}

// low is how low maxima are when nothing is bad.
type low struct{ decile, quartile float64 }

// lowOf returns that of pieces, 0 if none has a maximum.
func lowOf(pieces []*piece) low {
	var maxima []float64
	for _, own := range pieces {
		if own.highest > 0 {
			maxima = append(maxima, own.highest)
		}
	}
	n := len(maxima)
	if n == 0 {
		return low{}
	}
	slices.Sort(maxima)
	return low{maxima[n/10], maxima[n/4]}
}

// typicalOf returns that of the log in the middle.
func typicalOf(logs []*log) low {
	var all []low
	for _, l := range logs {
		if own := lowOf(l.pieces); own.quartile > 0 {
			all = append(all, own)
		}
	}
	if len(all) == 0 {
		return low{}
	}
	slices.SortStableFunc(all, func(a, b low) int { return cmp.Compare(a.quartile, b.quartile) })
	return all[(len(all)-1)/2]
}

// limits are the maxima above which an interval is bad, and far.
type limits struct{ bad, far float64 }

func (l low) limits() limits {
	times := func(least, steps float64) float64 {
		return l.quartile * min(max(least, math.Pow(l.quartile/l.decile, steps)), mostTimes)
	}
	return limits{times(badLeast, badSteps), times(farLeast, farSteps)}
}

// moments returns the moments of a log, in the order of time.
func moments(pieces []*piece, limit limits) (all []moment) {
	for _, w := range pieces {
		if !(w.highest > limit.bad) {
			continue
		}
		last := len(all) - 1
		if last < 0 || w.Start-all[last].End > int64(gapPart*float64(all[last].End-all[last].Start)) {
			all = append(all, moment{Moment: output.Moment{Start: w.Start, End: w.End}, peak: w, bad: 1})
			continue
		}
		m := &all[last]
		m.bad++
		if m.End = max(m.End, w.End); w.highest > m.peak.highest {
			m.peak = w
		}
	}
	return slices.DeleteFunc(all, func(m moment) bool { return m.bad < leastBad && !(m.peak.highest > limit.far) })
}

// piecesIn returns the pieces of a moment.
func piecesIn(pieces []*piece, m *moment) (all []*piece) {
	for _, w := range pieces {
		if w.Start >= m.Start && w.End <= m.End {
			all = append(all, w)
		}
	}
	return all
}

// separate returns the first moments of those that are in order, without those at the same time.
func separate(sorted []moment, most int) (all []moment) {
	for _, m := range sorted {
		at := slices.IndexFunc(all, func(o moment) bool {
			both := min(m.End, o.End) - max(m.Start, o.Start)
			return o.log != m.log && 2*both > max(m.End, o.End)-min(m.Start, o.Start)
		})
		if at >= 0 {
			o := &all[at]
			if o.Others++; m.Input == o.Input {
				o.tags[tagOf(m.peak.of.key)] = true
			} else {
				o.inputs[m.Input] = true
			}
		} else if len(all) < most {
			m.tags, m.inputs = make(map[string]bool), make(map[string]bool)
			all = append(all, m)
		}
	}
	return all
}

// count counts the values of moments above the percentile of their tags.
func (p *Parts) count(all []moment) error {
	limits := make(map[string]float64)
	var scratch histogram.Histogram
	for n := range all {
		m := &all[n]
		tag := tagOf(m.peak.of.key)
		if _, known := limits[tag]; !known {
			var sum histogram.Histogram
			for key := range p.sums {
				if tagOf(key) == tag {
					if err := p.addTo(&sum, key); err != nil {
						return err
					}
				}
			}
			limits[tag] = sum.Float(sum.ValueAtPercentile(badLevel))
		}
		for _, w := range piecesIn(m.log.pieces, m) {
			if w.highest > limits[tag] {
				h, err := p.counts(w, &scratch)
				if err != nil {
					return err
				}
				m.Count += above(h, limits[tag])
			}
		}
	}
	return nil
}

// above returns the number of values of h in slots that end above a value in the unit of the log.
func above(h *histogram.Histogram, value float64) int64 {
	return h.TotalCount() - h.CountBetween(0, int64(value/h.Ratio()))
}
