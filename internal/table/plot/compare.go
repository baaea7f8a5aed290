package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/gate"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/report"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
)

// mostCompared is the number of tags whose figures before and after a report has.
const mostCompared = 4

// compareReport reports whether the picture is a report that compares two sides.
func (o *Options) compareReport() bool { return o.Compare && o.Type == chart.Report && !o.Page }

// readSides reads the logs of both sides, whose series are a group each.
func (g *gathering) readSides(s *scan.Scan) error {
	sides := []*scan.Scan{g.sides.Before, g.sides.After}
	labels := []string{"before", "after"}
	if one, other := g.labelOf(sides[0]), g.labelOf(sides[1]); len(sides[0].Inputs) == 1 && len(sides[1].Inputs) == 1 && one != other {
		labels = []string{one, other}
	}
	g.averaged = make(map[string]int)
	for n, side := range sides {
		own := *side
		g.averaged[labels[n]] = len(own.Runs())
		if err := g.readLog(s, &own, labels[n]); err != nil {
			return err
		}
	}
	return nil
}

// readRuns reads the runs of a side, and returns what they add up to.
func (g *gathering) readRuns(side *scan.Scan, label string, start *float64) (*summary.Result, error) {
	for _, run := range side.Runs() {
		result, err := g.collect(run, g.collecting(), label, start)
		if err != nil {
			return nil, err
		}
		side.Seen += run.Seen
		result.SetPeriods("covered")
		g.runs[label] = append(g.runs[label], result)
	}
	return summary.Combine(g.runs[label], side.Memory)
}

// bandOf returns the lowest and the highest value of the runs of a group at the points of their
// sum's curve, up to the last one that each run knows.
func (g *gathering) bandOf(group string, sum *output.Summary, ratio float64) (band []chart.Bound) {
	points := drawnPercentiles(sum)
	end := math.Inf(1)
	var runs [][]float64
	for _, run := range g.runs[group] {
		s := gate.Find(run.Summaries, sum.Tag)
		if s == nil || s.Counts().TotalCount() == 0 {
			continue
		}
		end = min(end, axis.Nines(100*(1-1/float64(s.Counts().TotalCount()))))
		var values []float64
		for _, p := range output.RanksOf(s.Counts(), points, output.Stats{}).Percentiles {
			values = append(values, unit.Divide(p.Value.Float(), ratio))
		}
		runs = append(runs, values)
	}
	for n, p := range points {
		if len(runs) < 2 || axis.Nines(p) > end {
			break
		}
		b := chart.Bound{
			Percentile: p,
			Low:        math.Inf(1),
			Above:      float64(output.Above(sum.Counts(), p)),
		}
		for _, values := range runs {
			b.Low = min(b.Low, values[n])
			b.High = max(b.High, values[n])
		}
		band = append(band, b)
	}
	return band
}

// comparePage gives a page of two logs the sentence and the changes that hdrdiff prints.
func (g *gathering) comparePage(p *chart.Picture) {
	pairs, table := g.pairs()
	p.Changed = make(map[string]map[string]string)
	for n, s := range g.believed {
		i := slices.IndexFunc(pairs, func(pair output.Pair) bool { return pair.After == s && pair.Before != nil })
		if i < 0 {
			continue
		}
		texts := make(map[string]string)
		headings, rows := table.Changes(pairs[i])
		for k, heading := range headings {
			texts[heading] = rows[2][k]
		}
		p.Changed[g.series[n].Label] = texts
	}
	p.Notes = append(p.Notes, table.Headline(pairs).Sentence, output.Legend(pairs)+".")
}

// pairs compares the series of both groups, and returns them with the table that prints them.
func (g *gathering) pairs() ([]output.Pair, *output.Table) {
	figures, err := report.ParseFigures(report.ComparedFigures)
	if err != nil {
		panic(err) // a test sees it
	}
	c := report.Comparison{Believed: figures.Percentiles, Printed: figures.Percentiles, Level: confidenceLevel}
	before := g.series[0].Group
	for n, s := range g.believed {
		if group := g.series[n].Group; group == before {
			c.Before = append(c.Before, s)
		} else {
			c.After, c.RunsAfter = append(c.After, s), g.runs[group]
		}
	}
	c.RunsBefore = g.runs[before]
	pairs := c.Pairs(g.std.Say)
	for _, s := range g.believed {
		s.Confidence = nil // only the changes have intervals
	}
	return pairs, report.Table(output.Scale{Ratio: g.ratio, Unit: g.look.Unit}, figures, false, 0, false)
}

// compare gives a report the sentence and the figures that hdrdiff prints.
func (g *gathering) compare(p *chart.Picture) {
	pairs, table := g.pairs()
	if p.Title == "" {
		first, next, some := strings.Cut(table.Headline(pairs).Sentence, ". ")
		p.Title = strings.TrimSuffix(first, ".")
		if some {
			p.Notes = append(p.Notes, next)
		}
	}
	if len(pairs) > mostCompared {
		p.Notes = append(p.Notes, fmt.Sprintf("Of %d tags, the %d with the highest maximum have figures.", len(pairs), mostCompared))
		slices.SortStableFunc(pairs, func(a, b output.Pair) int { return cmp.Compare(highest(b), highest(a)) })
		pairs = pairs[:mostCompared]
	}
	for _, pair := range pairs {
		headings, rows := table.Changes(pair)
		if p.Changes == nil {
			in := ""
			if g.look.Unit != "" {
				in = "in " + g.look.Unit
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

// highest returns the highest value of a pair.
func highest(p output.Pair) (v float64) {
	for _, s := range []*output.Summary{p.Before, p.After} {
		if s != nil {
			v = max(v, s.Counts().MaxFloat()*cmp.Or(s.Factor, 1))
		}
	}
	return v
}
