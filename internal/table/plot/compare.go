package plot

import (
	"cmp"
	"fmt"
	"slices"

	"hdrkit/internal/chart"
	"hdrkit/internal/table/report"
	"hdrkit/output"
)

// mostCompared is the number of tags whose figures before and after a report has.
const mostCompared = 4

// compareReport reports whether the picture is a report that compares two logs.
func (o *Options) compareReport() bool { return o.Compare && o.Type == chart.Report && !o.Page }

// compare gives a report the sentence and the figures that hdrdiff prints.
func (g *gathering) compare(p *chart.Picture) {
	var before, after []*output.Summary
	for n, s := range g.believed {
		if g.series[n].Group == g.series[0].Group {
			before = append(before, s)
		} else {
			after = append(after, s)
		}
	}
	pairs := report.Pairs(before, after)
	for n := range pairs {
		if p := &pairs[n]; p.Before != nil && p.After != nil && p.Before.Confidence != nil && p.After.Confidence != nil {
			p.Change = output.NewChange(p.Before, p.After)
		}
	}
	figures, err := report.ParseFigures(report.UsualFigures)
	if err != nil {
		panic(err) // a test sees it
	}
	output.Correct(pairs, figures.Percentiles)
	for _, s := range g.believed {
		s.Confidence = nil // only the changes have intervals
	}
	table := report.Table(output.Scale{Ratio: g.ratio, Unit: g.look.Unit}, figures, false, 0, false)
	p.Title = cmp.Or(p.Title, table.Sentence(pairs))
	if len(pairs) > mostCompared {
		p.Notes = append(p.Notes, fmt.Sprintf("Of %d tags, the %d with the highest maximum have figures.", len(pairs), mostCompared))
		slices.SortStableFunc(pairs, func(a, b output.Pair) int { return cmp.Compare(highest(b), highest(a)) })
		pairs = pairs[:mostCompared]
	}
	for _, pair := range pairs {
		headings, rows := table.Changes(pair)
		if p.Changes == nil {
			p.Changes = [][]string{{""}, {""}}
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
	p.Notes = append(p.Notes, "~ may be chance. ? has no interval, so it may be chance, too.")
}

// highest returns the highest value of a pair.
func highest(p output.Pair) (v float64) {
	for _, s := range []*output.Summary{p.Before, p.After} {
		if s != nil {
			v = max(v, s.Counts().MaxFloat()*cmp.Or(s.Factor, 1))
		}
	}
	return v
}
