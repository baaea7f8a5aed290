package sides

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/output"
)

// A Tested is a figure of a pair whose change has an interval of confidence.
type Tested struct {
	Pair   *Pair
	Change *FigureChange
	Figure output.Figure
	// Rank orders the sentences about changes: 0 for p99, 1 for the median, 2 for other percentiles
	// up to 99.9, 3 for the rate, 4 for the mean, and 5 for figures that few values decide.
	Rank int
	// Before and After are the figure on both sides, in printed units.
	Before, After float64
}

// TestedFigures returns the figures of pairs whose change has an interval of confidence, in the
// order of their ranks. Within a rank, the interval that is farthest from no change comes first. At
// a percentile of 100 it tests the maximum.
func TestedFigures(pairs []Pair, percentiles []float64) (all []Tested) {
	for n := range pairs {
		p := &pairs[n]
		if p.Change == nil {
			continue
		}
		add := func(f output.Figure) {
			if change := p.Change.Figure(f); change.Known() {
				all = append(all, Tested{p, change, f, rank(f), p.value(p.Before, f, change), p.value(p.After, f, change)})
			}
		}
		add(output.Figure{Name: output.Throughput})
		add(output.Figure{Name: output.Mean})
		for _, percentile := range percentiles {
			add(output.AtPercentile(percentile))
		}
	}
	slices.SortStableFunc(all, func(a, b Tested) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Change.Distance(), a.Change.Distance()))
	})
	return all
}

// rank returns the [Tested.Rank] of a figure.
func rank(f output.Figure) int {
	switch {
	case f.Name == "" && f.Percentile == 99:
		return 0
	case f.Name == "" && f.Percentile == 50:
		return 1
	case f.Name == "" && f.Percentile <= 99.9:
		return 2
	case f.Name == output.Throughput:
		return 3
	case f.Name == output.Mean:
		return 4
	}
	return 5
}

// value returns a figure of a side of the pair in printed units, given its change.
func (p *Pair) value(s *output.Summary, f output.Figure, change *FigureChange) float64 {
	switch {
	case p.Change.HasRuns():
		return p.OfRuns(s, f, change)
	case f.Name == output.Throughput:
		return s.Throughput()
	}
	return s.Scale.Of(RunFigureOf(s, f).Value)
}

// OfRuns returns a figure of a side that has several runs, in printed units: the geometric mean of
// the runs, which is what its change compares.
func (p *Pair) OfRuns(s *output.Summary, f output.Figure, change *FigureChange) float64 {
	v := change.Before
	if s == p.After {
		v = change.After
	}
	if f.Name == output.Throughput {
		return v
	}
	return s.Scale.Times(1).Of(v)
}

// Distance returns how far the interval of the change is from no change, as a logarithm of a ratio.
// If the interval contains no change, it is the distance of the nearer end.
func (c *FigureChange) Distance() float64 {
	return min(math.Abs(math.Log(c.Low)), math.Abs(math.Log(c.High)))
}

// Rate reports whether the figure is the throughput.
func (c *Tested) Rate() bool { return c.Figure.Name == output.Throughput }

// Worse reports whether the change is for the worse: a higher value, or a lower throughput.
func (c *Tested) Worse() bool { return (c.Change.Ratio > 1) != c.Rate() }

// timesDrift is how many times as large as the range of the runs of a side a change is, if no drift
// of the machine explains it.
const timesDrift = 3

// ExceedsDrift reports whether a change between several runs is far larger than the range of the
// runs of each side.
func (c *Tested) ExceedsDrift() bool {
	widest := 0.0
	for _, runs := range [][]*output.Summary{c.Pair.Change.RunsBefore, c.Pair.Change.RunsAfter} {
		lowest, highest := math.Inf(1), 0.0
		for _, s := range runs {
			value := RunFigureOf(s, c.Figure).Value
			lowest = min(lowest, value)
			highest = max(highest, value)
		}
		widest = max(widest, math.Log(highest/lowest))
	}
	return math.Abs(math.Log(c.Change.Ratio)) > timesDrift*widest
}
