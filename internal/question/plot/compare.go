package plot

import (
	"cmp"
	"fmt"
	"slices"

	"hdrkit/internal/chart"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/report"
	"hdrkit/output"
)

// mostCompared is the number of tags whose figures before and after a report has.
const mostCompared = 4

// logRows returns the rows of logs: distributions are not compared.
func (d *dressing) logRows() []row {
	return slices.DeleteFunc(slices.Clone(d.found.rows), func(r row) bool { return r.sum == nil })
}

// comparePage gives a page of two logs the findings and the changes that hdrdiff prints.
func (d *dressing) comparePage() {
	p := d.p
	pairs, table := d.pairs()
	p.Changed = make(map[string]map[string]string)
	for _, row := range d.logRows() {
		i := slices.IndexFunc(pairs, func(pair output.Pair) bool { return pair.After == row.sum && pair.Before != nil })
		if i < 0 {
			continue
		}
		texts := make(map[string]string)
		headings, rows := table.Changes(pairs[i])
		for k, heading := range headings {
			texts[heading] = rows[2][k]
		}
		p.Changed[row.Label] = texts
	}
	p.Findings = d.compared(pairs, table)
	p.Notes = append(p.Notes, output.Legend(pairs)+".")
}

// compared returns what hdrdiff finds: verdicts about the logs after, and what changed.
func (d *dressing) compared(pairs []output.Pair, table *output.Table) []output.Finding {
	var after []*output.Summary
	for _, p := range pairs {
		if p.After != nil {
			after = append(after, p.After)
		}
	}
	run := &finding.Run{
		Summaries: after,
		Scale:     output.CommonScale(after),
		Zone:      d.plan.judging.zone,
		Verdicts:  gate.Judge(d.plan.judging.limits, gate.Figures{Summaries: after, Pairs: pairs}),
	}
	return finding.Compared(run, []output.Finding{table.Headline(pairs)})
}

// pairs compares the series of both groups, and returns them with the table that prints them.
func (d *dressing) pairs() ([]output.Pair, *output.Table) {
	figures := figuresOf(report.ComparedFigures)
	c := report.Comparison{Believed: figures.Percentiles, Printed: figures.Percentiles, Level: confidenceLevel}
	before := d.found.rows[0].Group
	for _, row := range d.logRows() {
		if row.Group == before {
			c.Before = append(c.Before, row.sum)
		} else {
			c.After = append(c.After, row.sum)
			c.RunsAfter = d.found.runs[row.Group]
		}
	}
	c.RunsBefore = d.found.runs[before]
	pairs := c.Pairs(d.std.Say)
	for _, row := range d.logRows() {
		row.sum.Confidence = nil // only the changes have intervals
	}
	return pairs, report.Table(figures, false, 0, false)
}

// compare gives a report the findings and the figures that hdrdiff prints.
func (d *dressing) compare() {
	p := d.p
	pairs, table := d.pairs()
	p.Findings = d.compared(pairs, table)
	d.addEffects(pairs, table)
	if len(pairs) > mostCompared {
		p.Notes = append(p.Notes, p.Of(len(pairs), mostCompared, "maximum", "figures"))
		slices.SortStableFunc(pairs, func(a, b output.Pair) int { return cmp.Compare(highest(b), highest(a)) })
		pairs = pairs[:mostCompared]
	}
	for _, pair := range pairs {
		headings, rows := table.Changes(pair)
		if p.Changes == nil {
			in := ""
			if p.Unit != "" {
				in = "in " + p.Unit
			}
			p.Changes = [][]string{{in}, {""}}
			for _, heading := range headings {
				p.Changes = append(p.Changes, []string{heading})
			}
		}
		name := cmp.Or(pair.After, pair.Before).Name()
		for n, side := range []string{"before", "after", "change"} {
			for i, text := range append([]string{name, side}, rows[n]...) {
				p.Changes[i] = append(p.Changes[i], text)
			}
			name = ""
		}
	}
	p.Notes = append(p.Notes, output.Legend(pairs)+".")
}

// addEffects adds the changes that have an interval.
func (d *dressing) addEffects(pairs []output.Pair, table *output.Table) {
	effects, all := table.Effects(pairs, chart.MostEffects)
	d.p.Effects = effects
	if all > len(effects) {
		d.p.Notes = append(d.p.Notes, fmt.Sprintf("Of %d changes with an interval, the %d surest are drawn.", all, len(effects)))
	}
}

// highest returns the highest value of a pair.
func highest(p output.Pair) (v float64) {
	for _, s := range []*output.Summary{p.Before, p.After} {
		if s != nil {
			v = max(v, s.Counts().MaxFloat()*s.Scale.Factor())
		}
	}
	return v
}
