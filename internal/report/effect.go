package report

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/internal/sides"
	"hdrkit/output"
)

// A tested is a figure of a pair that has an interval of its change.
type tested struct {
	Pair   *sides.Pair
	Change *sides.FigureChange
	Figure output.Figure
	// Rank is its place in what is said of the changes: 0 for p99, 1 for the median, 2 for other
	// percentiles, 3 for the rate, and more for what few values decide.
	Rank int
	// Before and After are the figure on both sides, in printed units.
	Before, After float64
}

// tested returns the figures of pairs that have an interval of their change, in the order of their
// ranks. Of equal ones the surest comes first.
func (t *Table) tested(pairs []sides.Pair) (all []tested) {
	for n := range pairs {
		p := &pairs[n]
		if p.Change == nil {
			continue
		}
		for _, f := range t.figures() {
			if f.change == nil || !f.change(p.Change).Known() {
				continue
			}
			c := tested{
				Pair:   p,
				Change: f.change(p.Change),
				Figure: f.Figure,
				Rank:   f.place(),
				Before: t.side(p, p.Before, &f),
				After:  t.side(p, p.After, &f),
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b tested) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.sure(), a.sure()))
	})
	return all
}

// untested returns the names of the percentiles of which a pair has too little data to judge.
func (t *Table) untested(pairs []sides.Pair) (names []string) {
	for _, percentile := range t.columns() {
		short := func(p sides.Pair) bool { return p.Change != nil && !p.Change.Percentiles[percentile].Known() }
		if slices.ContainsFunc(pairs, short) {
			names = append(names, output.AtPercentile(percentile).String())
		}
	}
	return names
}

// place returns the place of a figure in what is said of the changes.
func (f *figure) place() int {
	switch {
	case f.Name == "" && f.Percentile == 99:
		return 0
	case f.Name == "" && f.Percentile == 50:
		return 1
	case f.Name == "" && f.Percentile <= 99.9:
		return 2
	case f.rate():
		return 3
	case f.Name == output.Mean:
		return 4
	}
	return 5
}

// rate reports whether the figure is the throughput.
func (f *figure) rate() bool { return f.Name == output.Throughput }

// sure returns how far the interval is from no change.
func (c *tested) sure() float64 {
	return min(math.Abs(math.Log(c.Change.Low)), math.Abs(math.Log(c.Change.High)))
}

// Rate reports whether the figure is the throughput.
func (c *tested) Rate() bool { return c.Figure.Name == output.Throughput }

// Worse reports whether the change is one for the worse.
func (c *tested) Worse() bool { return (c.Change.Ratio > 1) != c.Rate() }

// An Effect is how a figure of a tag changed, for a picture. Ratio is that of after to before, with
// its interval of confidence, which may reach from 0 or to infinity.
type Effect struct {
	Tag, Figure      string
	Ratio, Low, High float64
	// Proven is set if the change is no chance, and Worse if it is one for the worse.
	Proven, Worse bool
	// Text is the change as a table prints it.
	Text string
}

// Effects returns the changes of percentiles and of the throughput that have an interval, in the
// order of pairs: of more than most, the most surely changed ones. All is how many there are.
func (t *Table) Effects(pairs []sides.Pair, most int) (effects []Effect, all int) {
	var shown []tested
	for _, c := range t.tested(pairs) {
		if c.Rank <= 3 {
			shown = append(shown, c)
		}
	}
	all = len(shown)
	surest := func(a, b tested) int {
		switch {
		case a.Change.Significant == b.Change.Significant:
			return cmp.Compare(b.sure(), a.sure())
		case a.Change.Significant:
			return -1
		}
		return 1
	}
	if len(shown) > most {
		slices.SortStableFunc(shown, surest)
		shown = shown[:most]
	}
	place := func(c tested) int {
		return slices.IndexFunc(pairs, func(p sides.Pair) bool { return string(p.Tag) == string(c.Pair.Tag) })
	}
	percentile := func(c tested) float64 {
		if c.Rate() {
			return 100 // behind all others
		}
		return c.Figure.Percentile
	}
	slices.SortStableFunc(shown, func(a, b tested) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(percentile(a), percentile(b)))
	})
	for _, c := range shown {
		text, _ := changeText(c.Change)
		effects = append(effects, Effect{
			Tag:    c.Pair.Name(),
			Figure: c.Figure.String(),
			Ratio:  c.Change.Ratio,
			Low:    c.Change.Low,
			High:   c.Change.High,
			Proven: c.Change.Significant,
			Worse:  c.Worse(),
			Text:   text,
		})
	}
	return effects, all
}
