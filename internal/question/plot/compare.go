package plot

import (
	"cmp"
	"fmt"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/question/compare"
	"hdrkit/internal/report"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// maxCompared is the number of tags whose figures before and after a report shows.
const maxCompared = 4

// changeRow is the index of the changes in the rows of [report.Table.Changes]. The rows before are
// the figures before and after.
const changeRow = 2

// compared has the figures, findings and notes of a comparison.
type compared struct {
	chart.Comparison
	findings []output.Finding
	notes    []string
}

// compareLogs compares two logs or two groups of runs as hdrdiff does, for a page or a report.
func compareLogs(std *message.Streams, p *plan, f *found, in *chart.Inputs) *compared {
	rows := slices.DeleteFunc(slices.Clone(f.rows), func(r row) bool { return r.sum == nil }) // distributions
	figures := figuresOf(asked.ComparedFigures)
	table := &report.Table{Percentiles: figures.Percentiles, Shares: figures.Shares}
	c := &compare.Comparison{
		Figures:   figures,
		Limits:    p.judging.limits,
		Level:     confidenceLevel,
		Tolerance: sides.UsualTolerance(),
		Zone:      p.judging.zone,
		Partly:    std.Say,
	}
	for _, row := range rows {
		side := &c.After
		if row.Group == f.rows[0].Group {
			side = &c.Before
		}
		side.Summaries = append(side.Summaries, row.sum)
		side.Runs = f.runs[row.Group]
	}
	result := c.Compare()
	shown := &compared{findings: result.Findings}
	pairs := result.Pairs
	if p.content.compares == comparesOnPage {
		shown.Changed = changeTexts(rows, pairs, table)
	} else {
		pairs = shown.addReport(pairs, table, in, f.unit)
	}
	shown.notes = append(shown.notes, report.Legend(pairs)+".")
	return shown
}

// changeTexts returns the changes of rows as texts, by the label of the row and by the heading in
// the table of hdrdiff.
func changeTexts(rows []row, pairs []sides.Pair, table *report.Table) map[string]map[string]string {
	changed := make(map[string]map[string]string)
	for _, row := range rows {
		i := slices.IndexFunc(pairs, func(pair sides.Pair) bool { return pair.After == row.sum && pair.Before != nil })
		if i < 0 {
			continue
		}
		texts := make(map[string]string)
		headings, cells := table.Changes(pairs[i])
		for k, heading := range headings {
			texts[heading] = cells[changeRow][k]
		}
		changed[row.Label] = texts
	}
	return changed
}

// addReport adds the changes with intervals, and the figures before and after of the highest pairs.
// It returns these pairs.
func (c *compared) addReport(pairs []sides.Pair, table *report.Table, in *chart.Inputs, unit string) []sides.Pair {
	effects, all := table.Effects(pairs, chart.MaxEffects)
	c.Effects = effects
	if all > len(effects) {
		c.notes = append(c.notes, fmt.Sprintf("Of %d changes with an interval, the %d surest are drawn.", all, len(effects)))
	}
	if len(pairs) > maxCompared {
		c.notes = append(c.notes, in.OnlyShown(len(pairs), maxCompared, "maximum", "figures"))
		slices.SortStableFunc(pairs, func(a, b sides.Pair) int { return cmp.Compare(highest(b), highest(a)) })
		pairs = pairs[:maxCompared]
	}
	for _, pair := range pairs {
		headings, cells := table.Changes(pair)
		if c.Changes == nil {
			heading := ""
			if unit != "" {
				heading = "in " + unit
			}
			c.Changes = [][]string{{heading}, {""}}
			for _, heading := range headings {
				c.Changes = append(c.Changes, []string{heading})
			}
		}
		name := cmp.Or(pair.After, pair.Before).Name()
		for n, side := range []string{"before", "after", "change"} {
			for i, text := range append([]string{name, side}, cells[n]...) {
				c.Changes[i] = append(c.Changes[i], text)
			}
			name = "" // only the first row of a pair has its name
		}
	}
	return pairs
}

// highest returns the highest value on both sides of a pair.
func highest(p sides.Pair) (v float64) {
	for _, s := range []*output.Summary{p.Before, p.After} {
		if s != nil {
			v = max(v, s.Counts().MaxFloat()*s.Scale.Factor())
		}
	}
	return v
}
