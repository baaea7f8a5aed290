// Package sides compares the figures of runs: those of two sides, before and after a change, with
// one run or several a side, and those of a trend, which is many runs in their order.
package sides

import (
	"fmt"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/counts"
	"hdrkit/output"
)

// A Pair has the summaries of a tag before and after a change. A summary is nil if that side does
// not have the tag.
type Pair struct {
	Tag           []byte
	Before, After *output.Summary
	// Change compares the two summaries. It is nil if no comparison is asked for, or if a side has
	// no confidence.
	Change *PairChange
}

// Name returns the printed name of the tag, or of the sum of all tags.
func (p *Pair) Name() string {
	all := p.Before != nil && p.Before.AllTags || p.After != nil && p.After.AllTags
	return (&output.Summary{Tag: p.Tag, AllTags: all}).Name()
}

// A PairChange has the comparisons of the figures of a pair.
type PairChange struct {
	Percentiles map[float64]*FigureChange
	Rate        *FigureChange
	// Mean is nil if one run is compared with one: the mean of one run has no interval.
	Mean *FigureChange
	// RunsBefore and RunsAfter are the summaries of the runs of each side. They are nil if one run
	// is compared with one, see [PairChange.HasRuns].
	RunsBefore, RunsAfter []*output.Summary

	// Level is the level of confidence of intervals in percent.
	Level float64
	turns map[*output.Summary]int // the places of runs in time, see turnsOf
}

// A FigureChange is the comparison of one figure.
type FigureChange struct {
	confidence.Comparison
	// Significant reports whether the change is proven, after Hochberg's correction over all
	// changes.
	Significant bool
	// Least is the smallest change, as a ratio above 1, that such runs prove mostly.
	Least float64

	level    float64 // the level of confidence of the correction
	together int     // the number of changes in the correction
}

// LeastOf returns Least for more runs or longer ones: times is the ratio of their number or length
// to that of the runs at hand.
func (c *FigureChange) LeastOf(times float64) float64 {
	return c.Comparison.Least(c.level, c.together, times)
}

// Beyond reports whether the interval excludes no change. The change would be proven if it were the
// only one.
func (c *FigureChange) Beyond() bool { return c.Low > 1 || c.High < 1 }

// Unbounded reports whether there are too few values to limit a rise.
func (c *FigureChange) Unbounded() bool { return math.IsInf(c.High, 1) }

// minCompared is the least length in seconds of two runs whose change a table shows. Limits are
// less strict: of calm systems with correlated seconds, 7.5% of equal runs of a minute differ, and
// 5.4% of equal runs of two minutes (TestPairs in confidence).
const minCompared = 2 * confidence.MinSeconds

// Known reports whether there is an interval to print.
func (c *FigureChange) Known() bool {
	return c != nil && !math.IsNaN(c.Low) && !math.IsNaN(c.High) && (c.Seconds == 0 || c.Seconds >= minCompared)
}

// HasRuns reports whether the runs of each side are compared, and not one run with one. It is false
// for nil.
func (c *PairChange) HasRuns() bool { return c != nil && c.RunsBefore != nil }

// Figure returns the change of a figure, nil if the figure was not compared.
func (c *PairChange) Figure(f output.Figure) *FigureChange {
	percentile, ranked := f.Rank()
	switch {
	case ranked:
		return c.Percentiles[percentile]
	case f.Name == output.Throughput:
		return c.Rate
	case f.Name == output.Mean:
		return c.Mean
	}
	return nil
}

// Compare compares one run with another one. Both have a confidence.
func Compare(before, after *output.Summary) *PairChange {
	a, b := before.Confidence, after.Confidence
	c := &PairChange{Percentiles: make(map[float64]*FigureChange), Level: a.Level}
	for p, e := range a.Percentiles {
		e, after := e.Times(before.Scale.Factor()), b.Percentiles[p].Times(after.Scale.Factor())
		c.Percentiles[p] = &FigureChange{Comparison: confidence.Compare(e, after, a.Level)}
	}
	c.Rate = &FigureChange{Comparison: confidence.Compare(a.Rate, b.Rate, a.Level)}
	return c
}

// CompareRuns compares several runs with several others, by the figures of each run. The pair has
// the sums of each side.
func CompareRuns(pair Pair, before, after []*output.Summary, percentiles []float64, level float64) *PairChange {
	c := &PairChange{
		Percentiles: make(map[float64]*FigureChange),
		RunsBefore:  before,
		RunsAfter:   after,
		Level:       level,
		turns:       turnsOf(before, after),
	}
	for _, s := range before {
		s.Scale = pair.Before.Scale
	}
	for _, s := range after {
		s.Scale = pair.After.Scale
	}
	of := func(f output.Figure) *FigureChange {
		if c.Few(f) {
			return &FigureChange{Comparison: confidence.CompareRuns(nil, nil, level)}
		}
		return &FigureChange{Comparison: c.Of(func(s *output.Summary) confidence.RunFigure { return commonFigure(s, f) })}
	}
	for _, p := range percentiles {
		c.Percentiles[p] = of(output.Figure{Percentile: p})
	}
	c.Mean, c.Rate = of(output.Figure{Name: output.Mean}), of(output.Figure{Name: output.Throughput})
	return c
}

// Few reports whether a figure is a percentile with fewer than [counts.Few] values above it in one
// of the runs. Such a percentile is not compared. The maximum and the minimum are compared all the
// same, since the user asks for them.
func (c *PairChange) Few(f output.Figure) bool {
	if f.Name != "" || f.Percentile <= 0 || f.Percentile >= 100 {
		return false
	}
	return Above(slices.Concat(c.RunsBefore, c.RunsAfter), f.Percentile) < counts.Few
}

// Above returns the number of values above a percentile in the run that has the fewest.
func Above(runs []*output.Summary, percentile float64) int64 {
	least := int64(math.MaxInt64)
	for _, s := range runs {
		least = min(least, counts.Above(s.Counts(), percentile))
	}
	return least
}

// commonFigure returns a figure of a run in the unit that all rows have in common.
func commonFigure(s *output.Summary, f output.Figure) confidence.RunFigure {
	figure := RunFigureOf(s, f)
	if !f.Unitless() {
		figure.Value *= s.Scale.Factor()
	}
	return figure
}

// Of compares a figure of the runs of both sides.
func (c *PairChange) Of(figure func(*output.Summary) confidence.RunFigure) confidence.Comparison {
	var figures [2][]confidence.RunFigure
	for side, runs := range [][]*output.Summary{c.RunsBefore, c.RunsAfter} {
		for _, s := range runs {
			f := figure(s)
			f.Turn = c.turns[s]
			figures[side] = append(figures[side], f)
		}
	}
	return confidence.CompareRuns(figures[0], figures[1], c.Level)
}

// Next returns a sentence with two changes beyond a bound: the smallest that such runs prove, and
// the smallest that twice as many runs, or runs four times as long, would prove. bound is a ratio,
// and atLeast reports that it is a lower bound. Next does not use the measured change, which is too
// uncertain.
func (c *PairChange) Next(of confidence.Comparison, bound float64, atLeast bool) string {
	return c.Prove(func(times float64) string {
		ratio := bound * of.Least(c.Level, 1, times)
		if atLeast {
			ratio = bound / of.Least(c.Level, 1, times)
		}
		return fmt.Sprintf("%+.3g%%", 100*(ratio-1))
	})
}

// Prove returns a sentence with two changes: the smallest that such runs prove, and the smallest
// that more or longer runs would prove. proves returns this change for runs whose number or length
// is times that of the runs at hand.
func (c *PairChange) Prove(proves func(times float64) string) string {
	switch {
	case c.Untimed() && proves(1) == NoChange:
		return "So few values cannot show a change of any size"
	case c.Untimed():
		return fmt.Sprintf("As many values as these prove %s; four times as many, %s", proves(1), proves(4))
	case !c.HasRuns() && proves(1) == NoChange:
		return "Runs this long cannot show a change of any size"
	case !c.HasRuns():
		return fmt.Sprintf("Runs as long as these prove %s; four times as long, %s", proves(1), proves(4))
	}
	before, after := len(c.RunsBefore), len(c.RunsAfter)
	if proves(1) == NoChange {
		return fmt.Sprintf("%d + %d runs like these cannot show a change of any size", before, after)
	}
	return fmt.Sprintf("%d + %d runs like these prove %s; %d + %d would prove %s",
		before, after, proves(1), 2*before, 2*after, proves(2))
}

// Correct sets Significant and Least of all changes of pairs, corrected for the number of changes.
func Correct(pairs []Pair, percentiles []float64) {
	var all []*FigureChange
	var p []float64
	level := 0.0
	for _, pair := range pairs {
		if pair.Change == nil {
			continue
		}
		level = pair.Change.Level
		figures := []*FigureChange{pair.Change.Rate}
		if pair.Change.Mean != nil {
			figures = append(figures, pair.Change.Mean)
		}
		for _, percentile := range percentiles {
			figures = append(figures, pair.Change.Percentiles[percentile])
		}
		for _, f := range figures {
			if f.Known() {
				all, p = append(all, f), append(p, f.P)
			}
		}
	}
	for n, significant := range confidence.Significant(p, level) {
		all[n].Significant = significant
		all[n].level, all[n].together = level, len(all)
		all[n].Least = all[n].LeastOf(1)
	}
}

// Paired reports whether the two runs ran at the same time.
func (c *PairChange) Paired() bool {
	for _, figure := range c.Percentiles {
		if figure.Paired {
			return true
		}
	}
	return false
}

// Untimed reports whether one run is compared with one, and their values have no times.
func (c *PairChange) Untimed() bool {
	for _, figure := range c.Percentiles {
		if figure.Untimed {
			return true
		}
	}
	return false
}

// A Tolerance says how much the figures of one version differ.
type Tolerance struct {
	// Noise is how much a percentile varies from run to run of one version: the standard deviation
	// of its logarithm. It is used if each side is one run. 0 means that it does not vary.
	Noise float64
	// Same is the largest change, as a part, of figures that are the same.
	Same float64
}

// UsualTolerance is the tolerance if the user states none.
func UsualTolerance() Tolerance { return Tolerance{Noise: UsualNoise, Same: UsualSame} }

// UsualNoise is the variation of a percentile between runs of one version, as a fraction, if the
// user states none.
const UsualNoise = 0.04

// UsualSame is the largest change, as a fraction, of figures that count as equal.
const UsualSame = 0.1

// NoChange is printed instead of the smallest change that runs prove if that change would be a
// factor of 11 or more.
const NoChange = "no change"
