package output

import (
	"fmt"
	"math"
)

// Sentence says which figure of pairs changed most for sure, the one whose interval is farthest
// from no change, and how many did.
func (t *Table) Sentence(pairs []Pair) string {
	all := 0
	changed := 0
	most := 0.0
	var first string
	both := false
	for _, p := range pairs {
		both = both || p.Before != nil && p.After != nil
		if p.Change == nil {
			continue
		}
		for _, f := range t.figures() {
			if f.change == nil {
				continue
			}
			c := f.change(p.Change)
			if !c.known() {
				continue
			}
			all++
			if !c.Significant {
				continue
			}
			changed++
			if sure := min(math.Abs(math.Log(c.Low)), math.Abs(math.Log(c.High))); first == "" || sure > most {
				most, first = sure, t.changed(p, &f, c)
			}
		}
	}
	switch {
	case !both:
		return "No tag has values before and after."
	case all == 0:
		return "Nothing is proven: no figure has an interval, so all changes may be chance."
	case changed == 0:
		return fmt.Sprintf("None of %s changed by more than chance.", plural(all, "figure"))
	}
	return fmt.Sprintf("%s Of %s %d changed.", first, plural(all, "figure"), changed)
}

// changed says how a figure changed: p99 of insert-rt rose by 23% (18..28): 6.47 to 7.96 ms.
func (t *Table) changed(p Pair, f *figure, c *FigureChange) string {
	head, unit := f.head, spaced(t.Scale.Unit)
	if f.head == "/s" {
		head, unit = Throughput, "/s"
	}
	if p.Tag != nil || p.After.AllTags {
		head += " of " + p.name()
	}
	verb := "rose"
	low := c.Low - 1
	high := c.High - 1
	if c.Ratio < 1 {
		verb = "fell"
		low = 1 - c.High
		high = 1 - c.Low
	}
	digits := 1
	if high-low >= 0.05 {
		digits = 0
	}
	digits = max(decimalsOf(c.Ratio, digits), decimalsOf(c.Low, digits))
	percent := func(v float64) string { return fmt.Sprintf("%.*f", digits, 100*v) }
	interval := percent(low) + ".." + percent(high)
	if math.IsInf(c.High, 1) && c.Ratio >= 1 || c.Low == 0 && c.Ratio < 1 {
		interval = "at least " + percent(low)
	}
	return fmt.Sprintf("%s %s by %s%% (%s): %s to %s%s.", head, verb, percent(math.Abs(c.Ratio-1)), interval,
		significant(t.side(&p, p.Before, f), 3), significant(t.side(&p, p.After, f), 3), unit)
}

// plural returns a number of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
