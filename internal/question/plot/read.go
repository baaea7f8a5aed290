package plot

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/report"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A reading holds the rows, moments and findings of the inputs of a picture.
type reading struct {
	*decision
	collector collect.Collector
	failed    error                        // of the collector
	rows      []row                        // in the order of the inputs
	loads     []runLoad                    // instead of rows, for a picture of load
	runs      map[string][]*summary.Result // by group, of sides that have several
	summaries []chart.Summary
	highest   float64               // value of logs, in the unit of the picture but for the ratio
	logStart  float64               // when the first log starts, in seconds since the epoch
	spans     [][2]int64            // of the logs that were read, in milliseconds since the epoch
	ran       map[string][][2]int64 // by group, if there are gaps: see [chart.Picture]
	worst     []chart.Moment        // the worst first, in milliseconds since the epoch or the start of the log
	shifts    []Mark                // where levels change
	unit      string                // of values
	notes     []string              // what was assumed of distributions
	findings  []output.Finding
}

// A row is a series of a picture with its curve. Sum has its values, nil for a distribution.
type row struct {
	chart.Series
	sum *output.Summary
}

// believed reports whether a row has intervals of confidence.
func (r *row) believed() bool { return r.sum != nil && r.sum.Confidence != nil }

// read reads the inputs: logs once or twice, and distributions once.
func (d *decision) read(s *scan.Scan, some, distributions []scan.Input) (*reading, error) {
	r := &reading{
		decision:  d,
		collector: collect.Collector{Options: d.lines},
		runs:      make(map[string][]*summary.Result),
		ran:       make(map[string][][2]int64),
		logStart:  math.Inf(1),
		unit:      d.look.Unit,
	}
	if err := r.readLogs(s, some); err != nil {
		return nil, err
	}
	d.units.Doubt(r.highest)
	return r, r.readDistributions(distributions)
}

// readLogs reads the logs of a scan: those that add up together.
func (r *reading) readLogs(s *scan.Scan, logs []scan.Input) error {
	if r.compareReport() {
		return r.readSides(s)
	}
	one := *s
	one.Inputs = logs
	if r.chosen != nil {
		one.Selection.Tags = r.chosen
	}
	parts := []*scan.Scan{&one}
	switch {
	case len(logs) == 0:
		return nil
	case r.eachRun(r.by):
		parts = one.Runs()
	case r.separate:
		parts = nil
		for n := range logs {
			alone := one
			alone.Inputs = logs[n : n+1]
			parts = append(parts, &alone)
		}
	}
	for _, part := range parts {
		label := ""
		if r.separate {
			label = r.labelOf(part)
		}
		if err := r.readLog(s, part, label); err != nil {
			return err
		}
	}
	return nil
}

// labelOf returns the label of logs that are by themselves.
func (r *reading) labelOf(part *scan.Scan) string { return r.labels[part.Inputs[0].RunName()] }

// readLog reads logs that add up, of a scan s. Their series have their tags as names, behind the
// label of a group of their own.
func (r *reading) readLog(s, one *scan.Scan, label string) (err error) {
	one.Progress, one.Seen = s.Progress, 0
	if r.eachRun(r.by) { // the memory of a run is free again after it
		one.Memory = s.Memory.Empty()
	}
	added := r.units.Watch(one)
	collecting := r.collecting()
	search, flows := r.search(one, added, &collecting)
	result, start, err := r.addUp(one, collecting, label, flows)
	s.Saw(one)
	if err != nil {
		return err
	}
	if r.eachRun(r.by) && r.Sums == nil {
		defer result.Release()
	}
	if collecting.Runs != nil && len(result.Summaries) <= mostBands {
		if err := result.Believe(collecting.Runs, figurePercentiles(), confidenceLevel, s.Workers); err != nil {
			return err
		}
	}
	if err := r.collectorError(); err != nil {
		return err
	}
	if r.EachRun && len(result.Summaries) == 0 {
		r.std.Say("%s: %v", one.Inputs[0].RunName(), logs.NothingLeft(one))
	}
	if err := checkTags(len(r.rows) + len(result.Summaries)); err != nil {
		return err
	}
	if added := result.MostInputs(); added > 1 && !r.EachRun {
		r.std.Notef("adds up %d logs, tag by tag; -compare draws each by itself", added)
	}
	r.addTimes(result, label)
	if err := r.addRows(result, added, label); err != nil {
		return err
	}
	if len(one.Inputs) < len(s.Inputs) { // the others are still to be read
		if err := result.Compact(one.Memory); err != nil {
			return err
		}
	}
	if r.Sums != nil {
		if err := r.Sums(r.units, report.Side{Summaries: result.Summaries, Logs: added}); err != nil {
			return err
		}
	}
	if search != nil {
		r.find(search, result, collecting.Histories)
	}
	if collecting.Histories == nil || !r.plan.worst {
		return nil
	}
	if !r.lines.Relative {
		start = 0
	}
	return r.findWorst(label, collecting.Histories, result.Summaries, logline.Millis(start))
}

// addUp adds up logs, or the runs of a side each by itself. Start is when the first log starts.
func (r *reading) addUp(one *scan.Scan, o summary.Options, label string, flows []flow.Flow) (*summary.Result, float64, error) {
	start := math.Inf(1)
	if r.sides.Runs {
		result, err := r.readRuns(one, label, &start)
		return result, start, err
	}
	if r.EachRun {
		if err := r.FindSteady(r.std, one); err != nil {
			return nil, start, err
		}
	}
	result, err := r.collect(one, o, label, &start, flows...)
	return result, start, err
}

// collectorError returns the error of the collector. The reading went on after it, since other
// results do not need the collector.
func (r *reading) collectorError() error {
	if errors.Is(r.failed, collect.ErrPoints) {
		return fmt.Errorf("-agg %s makes more than %s, and -type load draws a dot for each: "+
			"-agg with a longer time makes fewer",
			axis.Length(r.Aggregate), chart.Counted(collect.MostPoints-1, "window"))
	}
	return r.failed
}

// addTimes adds when logs that add up began and ended, and when they ran if that is not all the
// time.
func (r *reading) addTimes(result *summary.Result, label string) {
	if len(result.Summaries) > 0 {
		whole := [2]int64{math.MaxInt64, math.MinInt64}
		for _, sum := range result.Summaries {
			whole = [2]int64{min(whole[0], sum.Start), max(whole[1], sum.End)}
		}
		r.spans = append(r.spans, whole)
	}
	if ran := result.Ran(); len(ran) > 1 && !r.lines.Relative && !r.sides.Runs {
		for _, w := range ran {
			r.ran[label] = append(r.ran[label], [2]int64{w.Start, w.End})
		}
	}
}

// addRows adds the rows of logs that add up.
func (r *reading) addRows(result *summary.Result, added *logs.Logs, label string) error {
	result.SetPeriods("covered")
	for _, sum := range result.Summaries {
		factor, err := added.Factor(sum.Tag)
		if err != nil {
			return err
		}
		sum.Scale = r.scale.Times(factor)
		r.addSum(sum, label, sum.Period, len(result.Summaries) <= mostShifts)
		if r.sides.Runs && len(result.Summaries) <= mostBands {
			r.rows[len(r.rows)-1].Curve.Band = r.bandOf(label, sum)
		}
	}
	return nil
}

// collect adds up logs, and feeds the collector. It lowers start to when the first log starts.
func (r *reading) collect(one *scan.Scan, o summary.Options, label string, start *float64, flows ...flow.Flow) (*summary.Result, error) {
	if !r.plan.overTime {
		return summary.Collect(one, o, flows...)
	}
	factors := make([]float64, len(one.Inputs))
	for n := range factors {
		factors[n] = r.headers.LogFactor(one.Inputs[n].Name)
	}
	var i collect.Interval
	p := r.collector.Flow(func(result *flow.Result, w *flow.Window) error {
		*start = min(*start, result.Visit.LogStart)
		if one.ByTime {
			*start = min(*start, one.Start)
		}
		r.logStart = min(r.logStart, *start)
		i.Factor = factors[result.Input]
		if r.failed == nil {
			r.collector.Measure(result, w, &i)
			r.failed = r.collector.Add(label, r.rowLabel(label, result.Row), &i)
		}
		return checkTags(len(r.collector.Labels()))
	}, func(w *flow.Window) error {
		if r.failed == nil {
			r.failed = r.collector.AddCounts(r.rowLabel(label, w.Row), w)
		}
		return nil
	})
	return summary.Collect(one, o, append(flows, p)...)
}

// addSum adds the sum of a row. Shifts says whether changes of level are marked.
func (r *reading) addSum(sum *output.Summary, group string, period int64, shifts bool) {
	label := r.rowLabel(group, sum.Tag)
	if shifts && r.plan.shifts && sum.Confidence != nil && sum.Confidence.Shift != nil {
		r.markShift(label, sum)
	}
	curve := chart.Curve{Count: sum.Counts().TotalCount()}
	if r.Type.Chart.Marks == chart.Curves || r.Type == chart.Report {
		curve = chart.CurveOf(sum.Counts(), sum.Scale.Divisor())
	}
	if r.plan.bands && sum.Confidence != nil {
		curve.Band = believedBand(&curve, sum)
		keepFigures(sum.Confidence)
	}
	r.highest = max(r.highest, sum.Counts().MaxFloat()*sum.Scale.Factor())
	series := chart.Series{Label: label, Group: group, Curve: curve}
	if r.Type == chart.Load && r.Aggregate == 0 { // no counts are kept: there may be many runs
		r.loads = append(r.loads, r.loadOf(sum, &series))
	} else {
		r.rows = append(r.rows, row{series, sum})
	}
	r.summaries = append(r.summaries, chart.SummaryOf(label, sum.Counts(), sum.Scale.Divisor(), sum.Intervals, period, r.look.Limits))
}

// drawnPercentiles returns the percentiles of the points of a curve, but for the maximum.
func drawnPercentiles(sum *output.Summary) (all []float64) {
	for _, step := range chart.CurveOf(sum.Counts(), 1).Steps {
		if step.Percentile < 100 {
			all = append(all, step.Percentile)
		}
	}
	return all
}

// believedBand returns the intervals of confidence of the points of a curve. It ends at the first
// point above the median that has no interval.
func believedBand(curve *chart.Curve, sum *output.Summary) (band []chart.Bound) {
	ratio := sum.Scale.Divisor()
	for _, step := range curve.Steps {
		e, ok := sum.Confidence.Percentiles[step.Percentile]
		known := ok && !math.IsNaN(e.Low) && !math.IsNaN(e.High)
		if !known && step.Percentile >= 50 {
			break
		}
		if !known {
			continue
		}
		band = append(band, chart.Bound{
			Percentile: step.Percentile,
			Low:        e.Low / ratio,
			High:       e.High / ratio,
			Above:      float64(output.Above(sum.Counts(), step.Percentile)),
		})
	}
	return band
}

// keepFigures drops the intervals of confidence that only the points of a curve need. Those of
// figures stay, since figures are compared.
func keepFigures(c *output.Confidence) {
	kept := figurePercentiles()
	maps.DeleteFunc(c.Percentiles, func(p float64, _ confidence.Estimate) bool { return !slices.Contains(kept, p) })
}

// MostWorst is the number of worst moments that a picture marks. A page marks as many of its view.
const (
	MostWorst     = 5
	mostPageWorst = 100
	// leastMarked is the factor above what is typical from which on a moment gets a number. The
	// highest moment always gets one.
	leastMarked = 2
)

func mostWorst(page bool) int {
	if page {
		return mostPageWorst
	}
	return MostWorst
}

// findWorst finds the worst moments of logs, counted from a start. If that takes too much memory,
// it says so.
func (r *reading) findWorst(label string, parts *summary.Histories, summaries []*output.Summary, start int64) error {
	moments, _, err := parts.Worst(mostWorst(r.Page), gate.Scales(summaries, r.by))
	if errors.As(err, new(*ledger.LimitError)) {
		r.std.Notef("marks no worst moments: %v", err)
		return nil
	}
	shares := parts.Shares(moments)
	for n, m := range moments {
		if n > 0 && m.Times < leastMarked {
			continue
		}
		r.worst = append(r.worst, chart.Moment{
			Start: m.Start - start,
			End:   m.End - start,
			Peak:  m.Peak - start,
			Value: m.Scale.Of(float64(m.Max)),
			Share: shares[n],
			Label: r.rowLabel(label, r.by.Row(m.Input, m.Tag)),
			Name:  labelOf(r.labels[m.Input], m.Tag),
		})
	}
	slices.SortStableFunc(r.worst, func(a, b chart.Moment) int { return cmp.Compare(b.Value, a.Value) })
	return err
}

// mostShifts is the number of series up to which their shifts are marked.
const mostShifts = 4

// markShift marks where the level of a percentile of a series shifts for good.
func (r *reading) markShift(label string, sum *output.Summary) {
	shift := sum.Confidence.Shift
	value := func(v float64) string { return strconv.FormatFloat(summary.Rounded(sum.Scale.Of(v)), 'f', -1, 64) }
	text := fmt.Sprintf("%s p%v %s -> %s %s",
		label, shift.Percentile, value(shift.Before), value(shift.After), r.look.Unit)
	r.shifts = append(r.shifts, Mark{
		When: scan.Bound{Seconds: float64(shift.Start) / 1000, Origin: scan.Epoch},
		Text: strings.TrimSpace(text),
	})
}

// confidenceLevel is the confidence of bands in percent.
const confidenceLevel = 95

// mostBands is the number of curves that may have bands. More would hide one another and take time.
const mostBands = 24

// figurePercentiles returns the percentiles that are compared.
func figurePercentiles() []float64 {
	figures, err := report.ParseFigures(report.UsualFigures)
	if err != nil {
		panic(err) // a test sees it
	}
	return figures.Percentiles
}

// MostTags is the number of tags that a picture may have. Only twelve have a line, and the tags of
// a log of 10 MB can take 400 MB.
const MostTags = 50_000

func checkTags(count int) error {
	if count > MostTags {
		return errors.New("more than 50,000 tags, which no picture can show: choose some with -incT, or add them up with -it")
	}
	return nil
}

// labelOf returns the label of a series: file, row or both.
func labelOf(file string, row []byte) string {
	if row == nil {
		return file
	}
	return strings.TrimPrefix(file+" "+tags.Text(row), " ")
}

// rowLabel returns the label of a series: that of a file or of a group, and what a picture calls
// the row. A row of an input has the input's label.
func (d *decision) rowLabel(group string, row []byte) string {
	if !d.by.Inputs() {
		return labelOf(group, row)
	}
	label, tag := d.partsOf(row)
	return strings.TrimSpace(group + " " + label + " " + tag)
}

// labelsOf returns the names of runs in the picture, empty if there is only one.
func labelsOf(inputs []scan.Input) map[string]string {
	var names []string
	for n := range inputs {
		names = append(names, inputs[n].RunName())
	}
	return logs.Labels(names)
}
