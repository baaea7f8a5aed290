package plot

import (
	"cmp"
	"fmt"
	"slices"

	"hdrkit/internal/chart"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/question/compare"
	"hdrkit/internal/report"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// mostCompared is the number of tags whose figures before and after a report has.
const mostCompared = 4

// changeRow is the row of [report.Table.Changes] that has the changes, after before and after.
const changeRow = 2

// logRows returns the rows of logs: distributions are not compared.
func (d *dressing) logRows() []row {
	return slices.DeleteFunc(slices.Clone(d.found.rows), func(r row) bool { return r.sum == nil })
}

// comparePage gives a page of two logs the findings and the changes that hdrdiff prints.
func (d *dressing) comparePage() {
	p := d.p
	result, table := d.comparison()
	pairs := result.Pairs
	p.Comparison.Changed = make(map[string]map[string]string)
	for _, row := range d.logRows() {
		i := slices.IndexFunc(pairs, func(pair sides.Pair) bool { return pair.After == row.sum && pair.Before != nil })
		if i < 0 {
			continue
		}
		texts := make(map[string]string)
		headings, rows := table.Changes(pairs[i])
		for k, heading := range headings {
			texts[heading] = rows[changeRow][k]
		}
		p.Comparison.Changed[row.Label] = texts
	}
	p.Texts.Findings = result.Findings
	p.Texts.Notes = append(p.Texts.Notes, report.Legend(pairs)+".")
}

// comparison compares the series of both groups, as hdrdiff does, and returns the table that prints
// the changes.
func (d *dressing) comparison() (*compare.Result, *report.Table) {
	figures := figuresOf(asked.ComparedFigures)
	c := &compare.Comparison{
		Figures: figures,
		Limits:  d.plan.judging.limits,
		Level:   confidenceLevel,
		Noise:   sides.UsualNoise,
		Zone:    d.plan.judging.zone,
		Table:   &report.Table{Percentiles: figures.Percentiles, Shares: figures.Shares},
		Partly:  d.std.Say,
	}
	before := d.found.rows[0].Group
	for _, row := range d.logRows() {
		side := &c.After
		if row.Group == before {
			side = &c.Before
		}
		side.Summaries = append(side.Summaries, row.sum)
		side.Runs = d.found.runs[row.Group]
	}
	return c.Compare(), c.Table
}

// compareReport gives a report the findings and the figures that hdrdiff prints.
func (d *dressing) compareReport() {
	p := d.p
	result, table := d.comparison()
	pairs := result.Pairs
	p.Texts.Findings = result.Findings
	d.addEffects(pairs, table)
	if len(pairs) > mostCompared {
		p.Texts.Notes = append(p.Texts.Notes, p.Inputs.Of(len(pairs), mostCompared, "maximum", "figures"))
		slices.SortStableFunc(pairs, func(a, b sides.Pair) int { return cmp.Compare(highest(b), highest(a)) })
		pairs = pairs[:mostCompared]
	}
	for _, pair := range pairs {
		headings, rows := table.Changes(pair)
		if p.Comparison.Changes == nil {
			in := ""
			if p.Values.Unit != "" {
				in = "in " + p.Values.Unit
			}
			p.Comparison.Changes = [][]string{{in}, {""}}
			for _, heading := range headings {
				p.Comparison.Changes = append(p.Comparison.Changes, []string{heading})
			}
		}
		name := cmp.Or(pair.After, pair.Before).Name()
		for n, side := range []string{"before", "after", "change"} {
			for i, text := range append([]string{name, side}, rows[n]...) {
				p.Comparison.Changes[i] = append(p.Comparison.Changes[i], text)
			}
			name = ""
		}
	}
	p.Texts.Notes = append(p.Texts.Notes, report.Legend(pairs)+".")
}

// addEffects adds the changes that have an interval.
func (d *dressing) addEffects(pairs []sides.Pair, table *report.Table) {
	effects, all := table.Effects(pairs, chart.MostEffects)
	d.p.Comparison.Effects = effects
	if all > len(effects) {
		d.p.Texts.Notes = append(d.p.Texts.Notes, fmt.Sprintf("Of %d changes with an interval, the %d surest are drawn.", all, len(effects)))
	}
}

// highest returns the highest value of a pair.
func highest(p sides.Pair) (v float64) {
	for _, s := range []*output.Summary{p.Before, p.After} {
		if s != nil {
			v = max(v, s.Counts().MaxFloat()*s.Scale.Factor())
		}
	}
	return v
}
