package plot

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/question/trend"
	"hdrkit/output"
	"hdrkit/tags"
)

// A load picture has a point for each run. Runs are inputs, with a curve for each tag; or the rows
// of -by, with one curve; or the windows of -agg, with a curve for each row.

// eachRun reports whether a picture of load has points for each input by itself.
func (o *Options) eachRun(by *tags.By) bool {
	return o.Type == chart.Load && o.Aggregate == 0 && (by.Inputs() || !by.AddsTags())
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
		return message.Usagef("-type load draws a point for each run, and there is one input: " +
			"give several, or -agg 10s for windows of one whose rate was raised")
	}
	return nil
}

// drawLoads sets the series of a picture of load.
func (d *dressing) drawLoads() {
	p := d.p
	switch {
	case d.Aggregate > 0:
		p.Series = loadOfWindows(p.Series)
	default:
		p.Series = d.loadOfRows()
	}
	p.Series = slices.DeleteFunc(p.Series, func(s chart.Series) bool { return len(s.Lines[0].Points) == 0 })
	p.OrderLoads()
	if d.Percentiles == nil && len(p.Series) > 1 {
		p.KeepLimited(chart.AtPercentile(99).Name)
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
			empty := func(p chart.Point) bool { return math.IsNaN(p.Value) || !(p.Start > 0) }
			s.Lines[l].Points = slices.DeleteFunc(points, empty)
		}
		s.Names = make([]string, len(s.Lines[0].Points))
	}
	return series
}

// A runLoad is a row of a run in a picture of load: a point.
type runLoad struct {
	label, name string // of the curve and of the point
	start       int64
	count       int64
	rate        float64
	values      []float64 // at the levels of lines
}

// loadOf returns the load of a sum, whose series is series. A run of one row has its name.
func (r *reading) loadOf(sum *output.Summary, series *chart.Series) runLoad {
	load := runLoad{
		label: series.Tag(),
		name:  series.Group,
		start: sum.Start,
		count: series.Curve.Count,
		rate:  sum.Throughput(),
	}
	switch {
	case r.eachRun(r.by) && r.by.AddsTags():
		load.label = ""
	case r.by.AddsTags():
		load.label, load.name = "", series.Label
	}
	for _, p := range output.RanksOf(sum.Counts(), r.levels(), output.Stats{}).Percentiles {
		load.values = append(load.values, sum.Scale.Of(p.Value.Float()))
	}
	return load
}

// loadOfRows makes points of the loads of runs.
func (d *dressing) loadOfRows() (all []chart.Series) {
	if slices.ContainsFunc(d.loads, func(r runLoad) bool { return !output.Dated(r.start) }) {
		d.std.Say("%s", trend.Undated)
	} else {
		slices.SortStableFunc(d.loads, func(a, b runLoad) int { return cmp.Compare(a.start, b.start) })
	}
	curves := make(map[string]int)
	for _, r := range d.loads {
		n, known := curves[r.label]
		if !known {
			n, curves[r.label] = len(all), len(all)
			all = append(all, chart.Series{Label: r.label, Lines: make([]chart.Line, len(d.levels()))})
		}
		all[n].Curve.Count += r.count
		if r.count == 0 || math.IsInf(r.rate, 0) || math.IsNaN(r.rate) {
			continue
		}
		all[n].Names = append(all[n].Names, r.name)
		for l, v := range r.values {
			line := &all[n].Lines[l]
			line.Name = chart.AtPercentile(d.levels()[l]).Name
			line.Points = append(line.Points, chart.Point{Start: r.rate, End: r.rate, Value: v})
		}
	}
	return all
}
