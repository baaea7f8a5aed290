package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/report"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// mostCompared is the number of tags whose figures before and after a report has.
const mostCompared = 4

// compareReport reports whether the picture is a report that compares two sides.
func (o *Options) compareReport() bool { return o.Compare && o.Type == chart.Report && !o.Page }

// readSides reads the logs of both sides, whose series are a group each.
func (r *reading) readSides(s *scan.Scan) error {
	sides := []*scan.Scan{r.sides.Before, r.sides.After}
	labels := []string{"before", "after"}
	single := len(sides[0].Inputs) == 1 && len(sides[1].Inputs) == 1
	if one, other := r.labelOf(sides[0]), r.labelOf(sides[1]); single && one != other {
		labels = []string{one, other}
	}
	for n, side := range sides {
		one := *side
		first, runs := len(r.rows), len(one.Runs())
		if err := r.readLog(s, &one, labels[n]); err != nil {
			return err
		}
		for i := range r.rows[first:] {
			r.rows[first+i].Runs = runs
		}
	}
	return nil
}

// readRuns reads the runs of a side, and returns what they add up to.
func (r *reading) readRuns(side *scan.Scan, label string, start *float64) (sum *summary.Result, err error) {
	r.runs[label], sum, err = summary.CombineRuns(side, func(run *scan.Scan) (*summary.Result, error) {
		return r.collect(run, r.collecting(), label, start)
	})
	return sum, err
}

// bandOf returns the lowest and the highest value of the runs of a group at the points of their
// sum's curve, up to the last one that each run knows.
func (r *reading) bandOf(group string, sum *output.Summary) (band []chart.Bound) {
	points := drawnPercentiles(sum)
	end := math.Inf(1)
	var runs [][]float64
	for _, run := range r.runs[group] {
		s := gate.Find(run.Summaries, sum.Tag)
		if s == nil || s.Counts().TotalCount() == 0 {
			continue
		}
		end = min(end, axis.Nines(100*(1-1/float64(s.Counts().TotalCount()))))
		var values []float64
		for _, p := range output.RanksOf(s.Counts(), points, output.Stats{}).Percentiles {
			values = append(values, sum.Scale.Of(p.Value.Float()))
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

// logRows returns the rows of logs: distributions are not compared.
func (d *dressing) logRows() []row {
	return slices.DeleteFunc(slices.Clone(d.rows), func(r row) bool { return r.sum == nil })
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
	d.findings = d.compared(pairs, table)
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
		Zone:      d.Zone,
		Verdicts:  gate.Judge(d.Limits, gate.Figures{Summaries: after, Pairs: pairs}),
	}
	return finding.Compared(run, []output.Finding{table.Headline(pairs)})
}

// pairs compares the series of both groups, and returns them with the table that prints them.
func (d *dressing) pairs() ([]output.Pair, *output.Table) {
	figures, err := report.ParseFigures(report.ComparedFigures)
	if err != nil {
		panic(err) // a test sees it
	}
	c := report.Comparison{Believed: figures.Percentiles, Printed: figures.Percentiles, Level: confidenceLevel}
	before := d.rows[0].Group
	for _, row := range d.logRows() {
		if row.Group == before {
			c.Before = append(c.Before, row.sum)
		} else {
			c.After = append(c.After, row.sum)
			c.RunsAfter = d.runs[row.Group]
		}
	}
	c.RunsBefore = d.runs[before]
	pairs := c.Pairs(d.std.Say)
	for _, row := range d.logRows() {
		row.sum.Confidence = nil // only the changes have intervals
	}
	scale := d.scale
	scale.Unit = d.p.Unit
	return pairs, report.Table(figures, false, 0, false)
}

// compare gives a report the findings and the figures that hdrdiff prints.
func (d *dressing) compare() {
	p := d.p
	pairs, table := d.pairs()
	d.findings = d.compared(pairs, table)
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
			if d.p.Unit != "" {
				in = "in " + d.p.Unit
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
	if !d.HeightGiven {
		d.p.Height += chart.ForestHeight(len(effects))
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
