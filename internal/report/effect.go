package report

import (
	"cmp"
	"slices"

	"hdrkit/internal/sides"
)

// An Effect is how a figure of a tag changed, for a picture. Ratio is after divided by before. Low
// and High are its interval of confidence, which may begin at 0 or end at infinity.
type Effect struct {
	Tag, Figure      string
	Ratio, Low, High float64
	// Proven is set if the change is significant, and Worse if it is a change for the worse.
	Proven, Worse bool
	// Text is the change as a table prints it.
	Text string
}

// Effects returns the changes of percentiles and of the throughput that have an interval, in the
// order of pairs. If there are more than most, it returns the most significant ones. All is the
// number of all such changes.
func (t *Table) Effects(pairs []sides.Pair, most int) (effects []Effect, all int) {
	var shown []sides.Tested
	for _, c := range sides.TestedFigures(pairs, t.Percentiles) {
		if c.Rank <= 3 {
			shown = append(shown, c)
		}
	}
	all = len(shown)
	surest := func(a, b sides.Tested) int {
		switch {
		case a.Change.Significant == b.Change.Significant:
			return cmp.Compare(b.Change.Distance(), a.Change.Distance())
		case a.Change.Significant:
			return -1
		}
		return 1
	}
	if len(shown) > most {
		slices.SortStableFunc(shown, surest)
		shown = shown[:most]
	}
	place := func(c sides.Tested) int {
		return slices.IndexFunc(pairs, func(p sides.Pair) bool { return string(p.Tag) == string(c.Pair.Tag) })
	}
	percentile := func(c sides.Tested) float64 {
		if c.Rate() {
			return 100 // behind all others
		}
		return c.Figure.Percentile
	}
	slices.SortStableFunc(shown, func(a, b sides.Tested) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(percentile(a), percentile(b)))
	})
	for _, c := range shown {
		effects = append(effects, Effect{
			Tag:    c.Pair.Name(),
			Figure: c.Figure.String(),
			Ratio:  c.Change.Ratio,
			Low:    c.Change.Low,
			High:   c.Change.High,
			Proven: c.Change.Significant,
			Worse:  c.Worse(),
			Text:   c.Change.Text(),
		})
	}
	return effects, all
}
