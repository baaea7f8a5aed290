package plot

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/chart"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/trend"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// A runLoad is a point of a picture of load: a row of a run, with its rate and its percentiles.
type runLoad struct {
	label  string // of the series
	name   string // of the point
	start  int64  // of the run, in milliseconds since the epoch
	count  int64  // number of values
	rate   float64
	values []float64 // at the percentiles of [points]
}

// readLoads reads runs one after the other. Each row of a run becomes a point. It frees the memory
// of a run before it reads the next one, since there may be many runs.
func (r *reading) readLoads(s *scan.Scan) error {
	var headers *logs.Logs
	read := func(run *scan.Scan) (*summary.Result, error) {
		run.Memory = s.Memory.Empty()
		headers = r.units.Watch(run)
		if err := r.when.FindSteady(r.std, run); err != nil {
			return nil, err
		}
		return summary.Collect(run, summary.Options{})
	}
	return summary.EachRun(s, read, func(run *scan.Scan, result *summary.Result) error {
		defer result.Release()
		r.whole.Seen.Add(&run.Seen)
		if len(result.Summaries) == 0 {
			r.std.Say("%s: %v", run.Inputs[0].RunName(), logs.Nothing(run))
		}
		if err := checkTags(len(result.Summaries)); err != nil {
			return err
		}
		r.addSpan(result)
		group := r.plan.labels.of(run)
		for _, sum := range result.Summaries {
			if err := r.addSummary(group, sum, headers); err != nil {
				return err
			}
			load := r.loadOf(sum, group)
			if !r.plan.by.AddsTags() {
				load.label = r.plan.rowLabel("", sum.Tag)
			}
			r.found.loads = append(r.found.loads, load)
		}
		return nil
	})
}

// loadOf returns the point for a sum, with a name and without the label of a series.
func (r *reading) loadOf(sum *output.Summary, name string) runLoad {
	load := runLoad{
		name:  name,
		start: sum.Start,
		count: sum.Counts().TotalCount(),
		rate:  sum.Throughput(),
	}
	for _, p := range output.RanksOf(sum.Counts(), r.plan.needs.points.percentiles, output.Stats{}).Percentiles {
		load.values = append(load.values, sum.Scale.Of(p.Value.Float()))
	}
	return load
}

// loadSeries returns the series of a picture of load, whose points are the windows of lines over
// time, or loads of runs. Series without points are left out.
func loadSeries(std *message.Streams, p points, lines []chart.Series, loads []runLoad) []chart.Series {
	all := lines
	if p.of == ofEachWindow {
		makeWindowPoints(all)
	} else {
		all = seriesOfLoads(std, loads, p.percentiles)
	}
	return slices.DeleteFunc(all, func(s chart.Series) bool { return len(s.Lines[0].Points) == 0 })
}

// makeWindowPoints moves the points of lines over time from their times to the rates at these
// times. It removes the last line of each series, which has the rates.
func makeWindowPoints(series []chart.Series) {
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
}

// seriesOfLoads returns series with a point for each load of a run, and a line for each percentile.
func seriesOfLoads(std *message.Streams, loads []runLoad, levels []float64) (all []chart.Series) {
	if slices.ContainsFunc(loads, func(r runLoad) bool { return !people.Dated(r.start) }) {
		std.Say("%s", trend.Undated)
	} else {
		slices.SortStableFunc(loads, func(a, b runLoad) int { return cmp.Compare(a.start, b.start) })
	}
	curves := make(map[string]int)
	for _, r := range loads {
		n, known := curves[r.label]
		if !known {
			n = len(all)
			curves[r.label] = n
			all = append(all, chart.Series{Label: r.label, Lines: make([]chart.Line, len(levels))})
		}
		all[n].Curve.Count += r.count
		if r.count == 0 || math.IsInf(r.rate, 0) || math.IsNaN(r.rate) {
			continue
		}
		all[n].Names = append(all[n].Names, r.name)
		for l, v := range r.values {
			line := &all[n].Lines[l]
			line.Name = chart.AtPercentile(levels[l]).Name
			line.Points = append(line.Points, chart.Point{Start: r.rate, End: r.rate, Value: v})
		}
	}
	return all
}
