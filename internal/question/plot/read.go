package plot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/flow"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// found has all data that a reading has read for a picture.
type found struct {
	rows      []row     // in the order of the inputs
	loads     []runLoad // points of runs or rows, instead of rows
	lines     *collect.Collector
	runs      map[string][]*summary.Result // by label, of parts whose runs are also added up one by one
	summaries []chart.Summary
	times     times
	worst     []chart.Moment // the worst first, in milliseconds since the epoch or the start of the log
	shifts    []Mark         // where the level of a series changes
	unit      string         // of values
	notes     []string       // about assumed units of distributions
	findings  []output.Finding
}

// A row is a series of a picture with its curve. Sum has its counts. It is nil for a distribution.
type row struct {
	chart.Series
	sum *output.Summary
}

// hasConfidence reports whether a row has intervals of confidence.
func (r *row) hasConfidence() bool { return r.sum != nil && r.sum.Confidence != nil }

// times has the times in which logs ran, in milliseconds since the epoch.
type times struct {
	start float64               // of the first log, in seconds since the epoch
	spans [][2]int64            // when each part began and ended
	ran   map[string][][2]int64 // by label, of parts with gaps: see [chart.Picture]
}

// A reading reads the inputs of a plan.
type reading struct {
	found   *found
	std     *message.Streams
	units   *logs.Units
	plan    *plan
	whole   *scan.Scan // of all inputs
	when    *logs.Times
	sums    func(units *logs.Units, side asked.Side) error
	failed  error   // of the collector
	highest float64 // the highest value of the logs, before it is divided by the ratio
}

// read reads the inputs of a plan: first logs, and then distributions.
func (o *Options) read(std *message.Streams, units *logs.Units, whole *scan.Scan, p *plan) (*found, error) {
	r := &reading{
		found: &found{
			lines: &collect.Collector{Options: p.lines},
			runs:  make(map[string][]*summary.Result),
			times: times{start: math.Inf(1), ran: make(map[string][][2]int64)},
			unit:  p.look.Values.Unit,
		},
		std:   std,
		units: units,
		plan:  p,
		whole: whole,
		when:  &o.Logs.Times,
		sums:  o.Sums,
	}
	for n := range p.parts {
		if err := r.readPart(&p.parts[n]); err != nil {
			return nil, err
		}
	}
	units.Doubt(r.highest)
	return r.found, r.readDistributions(p.distributions)
}

// readPart reads a part of the logs, and adds its rows, times, findings and worst moments.
func (r *reading) readPart(p *part) error {
	if r.plan.needs.points.of == ofEachRun {
		return r.readLoads(p.scan)
	}
	headers := r.units.Watch(p.scan)
	wanted := r.plan.summaryOptions(p)
	search, flows := r.newSearch(p.scan, headers, &wanted)
	result, start, err := r.addUp(p, wanted, flows)
	r.whole.Seen.Add(&p.scan.Seen)
	if err == nil {
		err = r.collectorError()
	}
	if err != nil {
		return err
	}
	if wanted.Runs != nil && len(result.Summaries) <= maxBands {
		err := result.Believe(wanted.Runs, figurePercentiles(), confidenceLevel, r.whole.Workers)
		if err != nil {
			return err
		}
	}
	if p.isSide() && len(result.Summaries) == 0 {
		r.std.Say("%s: %v", p.scan.Inputs[0].RunName(), logs.Nothing(p.scan))
	}
	if err := r.addRows(p, result, headers); err != nil {
		return err
	}
	if count := result.MaxInputs(); count > 1 && !p.isSide() {
		r.std.Notef("adds up %d logs, tag by tag; -compare draws each by itself", count)
	}
	r.addTimes(p, result)
	if len(r.plan.parts) > 1 { // saves memory for the other parts
		if err := result.Compact(p.scan.Memory); err != nil {
			return err
		}
	}
	if r.sums != nil {
		if err := r.sums(r.units, asked.Side{Summaries: result.Summaries, Logs: headers}); err != nil {
			return err
		}
	}
	if search != nil {
		if err := r.find(search, p.scan, result, wanted.Histories); err != nil {
			return err
		}
	}
	if r.plan.needs.worst == 0 {
		return nil
	}
	if !r.plan.lines.Relative {
		start = 0
	}
	return r.findWorst(p.label, wanted.Histories, result.Summaries, logline.Millis(start))
}

// summaryOptions returns options for adding up a part. Parts must not share them.
func (p *plan) summaryOptions(of *part) (o summary.Options) {
	o.Maxima = p.needs.maxima
	if p.needs.confidence != nil && !of.runsFirst { // the range of runs replaces intervals of confidence
		runs := *p.needs.confidence
		o.Runs = &runs
	}
	if p.needs.worst > 0 {
		o.Histories = &summary.Histories{Times: true}
	}
	return o
}

// addUp adds up the logs of a part. If runsFirst is set, it adds up each run, and then all of them.
// It also returns the start of the first log, in seconds since the epoch.
func (r *reading) addUp(p *part, o summary.Options, flows []flow.Flow) (*summary.Result, float64, error) {
	start := math.Inf(1)
	read := func(s *scan.Scan) (*summary.Result, error) {
		if !r.plan.needs.overTime {
			return summary.Collect(s, o, flows...)
		}
		return summary.Collect(s, o, append(flows, r.overTime(s, p.label, &start))...)
	}
	runs, sum, err := summary.AddUp(p.scan, p.runsFirst, read)
	if runs != nil {
		r.found.runs[p.label] = runs
	}
	return sum, start, err
}

// overTime returns the flow of lines and counts over time, which feeds the collector. It lowers
// start to the start of the first log.
func (r *reading) overTime(s *scan.Scan, label string, start *float64) flow.Flow {
	factors := make([]float64, len(s.Inputs))
	for n := range factors {
		factors[n] = r.plan.headers.LogFactor(s.Inputs[n].Name)
	}
	var i collect.Interval
	take := func(result *flow.Result, w *flow.Window) error {
		if w != nil && w.Late {
			return fmt.Errorf("%s changed while it was read: its lines were in order before", result.Name)
		}
		*start = min(*start, result.Visit.LogStart)
		if s.ByTime {
			*start = min(*start, s.Seen.Start)
		}
		r.found.times.start = min(r.found.times.start, *start)
		i.Factor = factors[result.Input]
		if r.failed == nil {
			r.found.lines.Options.Measure(result, w, &i)
			r.failed = r.found.lines.Add(label, r.plan.rowLabel(label, result.Row), &i)
		}
		return checkTags(len(r.found.lines.Labels()))
	}
	return r.found.lines.Flow(s.Memory, take, func(w *flow.Window) error {
		if r.failed == nil {
			r.failed = r.found.lines.AddCounts(r.plan.rowLabel(label, w.Row), w)
		}
		return nil
	})
}

// collectorError returns the error of the collector. After such an error the logs are read to their
// ends, since other results do not need the collector.
func (r *reading) collectorError() error {
	if errors.Is(r.failed, collect.ErrPoints) {
		return fmt.Errorf("-agg %s makes more than %s, and -type load draws a dot for each: "+
			"-agg with a longer time makes fewer",
			axis.Length(r.plan.lines.Aggregate), chart.Counted(collect.MaxPoints-1, "window"))
	}
	return r.failed
}

// addTimes adds when a part began and ended, and when its logs ran if there are gaps.
func (r *reading) addTimes(p *part, result *summary.Result) {
	r.addSpan(result)
	if ran := result.Ran(); len(ran) > 1 && !r.plan.lines.Relative && !p.runsFirst {
		for _, w := range ran {
			r.found.times.ran[p.label] = append(r.found.times.ran[p.label], [2]int64{w.Start, w.End})
		}
	}
}

// addSpan adds when logs that were added up began and ended.
func (r *reading) addSpan(result *summary.Result) {
	if len(result.Summaries) == 0 {
		return
	}
	whole := [2]int64{math.MaxInt64, math.MinInt64}
	for _, sum := range result.Summaries {
		whole = [2]int64{min(whole[0], sum.Start), max(whole[1], sum.End)}
	}
	r.found.times.spans = append(r.found.times.spans, whole)
}

// addRows adds the rows of a part. Headers have the units of its logs.
func (r *reading) addRows(p *part, result *summary.Result, headers *logs.Logs) error {
	if err := checkTags(len(r.found.rows) + len(result.Summaries)); err != nil {
		return err
	}
	result.SetPeriods("covered")
	for _, sum := range result.Summaries {
		if err := r.addSummary(p.label, sum, headers); err != nil {
			return err
		}
		label := r.plan.rowLabel(p.label, sum.Tag)
		if r.plan.needs.points.of == ofEachRow {
			r.found.loads = append(r.found.loads, r.loadOf(sum, label))
			continue
		}
		if few := len(result.Summaries) <= maxShifts; few && r.plan.needs.shifts && sum.Confidence != nil {
			r.markShift(label, sum)
		}
		series := chart.Series{Label: label, Group: p.label, Curve: r.curveOf(sum), Runs: p.runs}
		if p.runsFirst && len(result.Summaries) <= maxBands {
			series.Curve.Band = r.found.runsBand(p.label, sum)
		}
		r.found.rows = append(r.found.rows, row{series, sum})
	}
	return nil
}

// addSummary sets the scale of the sum of a row, and adds the figures of the sum to the table.
func (r *reading) addSummary(group string, sum *output.Summary, headers *logs.Logs) error {
	factor, err := headers.Factor(sum.Tag)
	if err != nil {
		return err
	}
	sum.Scale = r.plan.scale.Times(factor)
	h := sum.Counts()
	r.highest = max(r.highest, h.MaxFloat()*sum.Scale.Factor())
	r.found.summaries = append(r.found.summaries, chart.SummaryOf(r.plan.rowLabel(group, sum.Tag), h, sum.Scale.Divisor(), sum.Intervals,
		sum.Period, r.plan.look.Values.Limits))
	return nil
}

// curveOf returns the curve of a sum. If the picture has no curves, it has only the number of
// values.
func (r *reading) curveOf(sum *output.Summary) chart.Curve {
	curve := chart.Curve{Count: sum.Counts().TotalCount()}
	if r.plan.needs.curves {
		curve = chart.CurveOf(sum.Counts(), sum.Scale.Divisor())
	}
	if r.plan.needs.bands && sum.Confidence != nil {
		curve.Band = confidenceBand(&curve, sum)
		dropCurveIntervals(sum.Confidence)
	}
	return curve
}

// findWorst adds the worst moments of a part, down to the last one that is higher than chance
// explains. Times of moments count from start. If the search takes too much memory, findWorst
// prints a notice.
func (r *reading) findWorst(label string, parts *summary.Histories, summaries []*output.Summary, start int64) error {
	by := r.plan.by
	moments, err := parts.Worst(r.plan.needs.worst, summary.Scales(summaries, by))
	if errors.As(err, new(*ledger.LimitError)) {
		r.std.Notef("marks no worst moments: %v", err)
		return nil
	}
	significant := 0 // the number of moments down to the last significant one
	for n, m := range moments {
		if float64(m.Max) > m.Bound {
			significant = n + 1
		}
	}
	moments = moments[:significant]
	shares := parts.Shares(moments)
	for n, m := range moments {
		r.found.worst = append(r.found.worst, chart.Moment{
			Start: m.Start - start,
			End:   m.End - start,
			Peak:  m.Peak - start,
			Value: m.Scale.Of(float64(m.Max)),
			Share: shares[n],
			Label: r.plan.rowLabel(label, by.Row(m.Input, m.Tag)),
			Name:  labelOf(r.plan.labels[m.Input], m.Tag),
		})
	}
	slices.SortStableFunc(r.found.worst, func(a, b chart.Moment) int { return cmp.Compare(b.Value, a.Value) })
	return err
}

// markShift adds a mark where the level of a percentile of a series changes for good, if it does.
func (r *reading) markShift(label string, sum *output.Summary) {
	shift := sum.Confidence.Shift
	if shift == nil {
		return
	}
	value := func(v float64) string { return axis.Value(r.plan.look.Values.Unit, people.Rounded(sum.Scale.Of(v), 2)) }
	text := fmt.Sprintf("%s p%v %s -> %s", label, shift.Percentile, value(shift.Before), value(shift.After))
	r.found.shifts = append(r.found.shifts, Mark{
		When: scan.Bound{Seconds: float64(shift.Start) / 1000, Origin: scan.Epoch},
		Text: strings.TrimSpace(text),
	})
}

// MaxTags is the largest number of tags in a picture. Many tags need much memory, 400 MB for a log
// of 10 MB, and a page shows only twelve lines.
const MaxTags = 50_000

// checkTags returns an error for more tags than [MaxTags].
func checkTags(count int) error {
	if count > MaxTags {
		return errors.New("more than 50,000 tags, which no picture can show: choose some with -incT, or add them up with -it")
	}
	return nil
}
