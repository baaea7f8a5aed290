package output

import (
	"cmp"
	"slices"
)

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
func (t *Table) Effects(pairs []Pair, most int) (effects []Effect, all int) {
	var shown []tested
	for _, c := range t.tested(pairs) {
		if c.rank() <= 3 {
			shown = append(shown, c)
		}
	}
	all = len(shown)
	surest := func(a, b tested) int {
		switch {
		case a.Significant == b.Significant:
			return cmp.Compare(b.sure(), a.sure())
		case a.Significant:
			return -1
		}
		return 1
	}
	if len(shown) > most {
		slices.SortStableFunc(shown, surest)
		shown = shown[:most]
	}
	place := func(c tested) int {
		return slices.IndexFunc(pairs, func(p Pair) bool { return string(p.Tag) == string(c.pair.Tag) })
	}
	percentile := func(c tested) float64 {
		if c.rate() {
			return 100 // behind all others
		}
		return c.figure.percentile
	}
	slices.SortStableFunc(shown, func(a, b tested) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(percentile(a), percentile(b)))
	})
	for _, c := range shown {
		text, _ := c.Text()
		effects = append(effects, Effect{
			Tag:    c.pair.name(),
			Figure: c.title(),
			Ratio:  c.Ratio,
			Low:    c.Low,
			High:   c.High,
			Proven: c.Significant,
			Worse:  c.worse(),
			Text:   text,
		})
	}
	return effects, all
}
