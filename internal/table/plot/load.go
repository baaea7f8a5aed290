package plot

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/output"
	"hdrkit/tags"
)

// A load picture has a point for each run. Runs are inputs, with a curve for each tag; or the rows
// of -by, with one curve; or the windows of -agg, with a curve for each row.

// eachRun reports whether a picture of load has a point for each input.
func (o *Options) eachRun(by *tags.By) bool {
	return o.Type == chart.Load && o.Aggregate == 0 && !by.AddsTags()
}

// checkRuns checks that there are points for a picture of runs.
func (o *Options) checkRuns(inputs int, by *tags.By) error {
	switch {
	case o.Type.Chart.Marks != chart.Dots:
		return nil
	case o.Page:
		return message.Usagef("-type %s is a picture: give -of a name such as %[1]s.png", o.Type.Name)
	case o.Type == chart.Trend:
		return nil
	case inputs == 1 && o.eachRun(by):
		return message.Usagef("-type load draws a point for each run, and there is one input: give several, or -agg 10s for windows of one whose rate was raised")
	}
	return nil
}

// loads returns the series of a picture of load that has been read.
func (g *gathering) loads(p *chart.Picture) {
	switch {
	case g.Aggregate > 0:
		p.Series = loadOfWindows(p.Series)
	default:
		p.Series = g.loadOfRows()
	}
	p.Series = slices.DeleteFunc(p.Series, func(s chart.Series) bool { return len(s.Lines[0].Points) == 0 })
	if p.OrderLoads(); g.Percentiles == nil && len(p.Series) > 1 {
		keepLimited(p)
	}
}

// keepLimited keeps the lines that have limits, or p99 if there are none: three of each curve would
// be too many.
func keepLimited(p *chart.Picture) {
	kept := []string{chart.AtPercentile(99).Name}
	if len(p.Limits) > 0 {
		kept = nil
	}
	for _, l := range p.Limits {
		kept = append(kept, l.Name())
	}
	for n := range p.Series {
		s := &p.Series[n]
		s.Lines = slices.DeleteFunc(s.Lines, func(line chart.Line) bool { return !slices.Contains(kept, line.Name) })
	}
}

// loadOfWindows makes points of the windows of lines over time, the last of which is the rate.
func loadOfWindows(series []chart.Series) []chart.Series {
	for n := range series {
		s := &series[n]
		last := len(s.Lines) - 1
		rates := s.Lines[last].Points
		s.Lines = s.Lines[:last]
		for l := range s.Lines {
			points := s.Lines[l].Points
			for i := range points {
				points[i].Start, points[i].End = rates[i].Value, rates[i].Value
			}
			s.Lines[l].Points = slices.DeleteFunc(points, func(p chart.Point) bool { return math.IsNaN(p.Value) || !(p.Start > 0) })
		}
		s.Names = make([]string, len(s.Lines[0].Points))
	}
	return series
}

// loadOfRows makes points of the sums of runs. A run of one row has its name.
func (g *gathering) loadOfRows() (all []chart.Series) {
	order := make([]int, len(g.believed))
	for i := range order {
		order[i] = i
	}
	// The order of starts is that of the arguments where logs have no date.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.believed[a].Start, g.believed[b].Start) })
	for _, i := range order {
		sum, own := g.believed[i], g.series[i]
		label, name := own.Tag(), own.Group
		if g.by.AddsTags() {
			label, name = "", own.Label
		}
		n := slices.IndexFunc(all, func(s chart.Series) bool { return s.Label == label })
		if n < 0 {
			n = len(all)
			all = append(all, chart.Series{Label: label, Lines: make([]chart.Line, len(g.levels()))})
		}
		all[n].Curve.Count += own.Curve.Count
		rate := sum.Throughput()
		if sum.Counts().TotalCount() == 0 || math.IsInf(rate, 0) || math.IsNaN(rate) {
			continue
		}
		all[n].Names = append(all[n].Names, name)
		for l, v := range g.valuesOf(sum.Counts(), g.ratio/sum.Factor) {
			line := &all[n].Lines[l]
			line.Name = chart.AtPercentile(g.levels()[l]).Name
			line.Points = append(line.Points, chart.Point{Start: rate, End: rate, Value: v})
		}
	}
	return all
}

// valuesOf returns the values of h at the levels of lines.
func (g *gathering) valuesOf(h *histogram.Histogram, ratio float64) (values []float64) {
	for _, p := range output.RanksOf(h, g.levels(), output.Stats{}).Percentiles {
		values = append(values, unit.Divide(p.Value.Float(), ratio))
	}
	return values
}
