package plot

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/report"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
	"hdrkit/output/hgrm"
	"hdrkit/tags"
)

// Gather returns the picture of the logs and percentile distributions of a scan, or nil if nothing
// in them was asked for. Messages go to std. It reads each input once or twice.
func (o *Options) Gather(std *message.Streams, s *scan.Scan) (*chart.Picture, error) {
	g := &gathering{
		std:      std,
		Options:  o,
		by:       s.By,
		look:     o.Look,
		marks:    slices.Clone(o.Marks),
		apart:    o.Compare || o.eachRun(s.By),
		labels:   labelsOf(s.Inputs),
		runs:     make(map[string][]*summary.Result),
		ran:      make(map[string][][2]int64),
		logStart: math.Inf(1),
	}
	var err error
	if g.units, err = logs.NewUnits(std, o.Units); err != nil {
		return nil, err
	}
	p, err := g.all(s)
	if p != nil && err == nil {
		g.dress(p)
	}
	return p, err
}

func (g *gathering) all(s *scan.Scan) (*chart.Picture, error) {
	o := g.Options
	if err := o.checkRuns(len(s.Runs()), g.by); err != nil {
		return nil, err
	}
	if o.Type == chart.Trend {
		return g.trend(s)
	}
	if o.Compare && o.Type == chart.Heatmap && !o.Page && len(s.Inputs) != 2 {
		return nil, message.Usagef("-compare with -type heatmap compares two inputs, before and after: there are %d; -by input draws a map for each, and -type report takes several runs a side", len(s.Inputs))
	}
	g.headers = g.units.Logs(s.Memory)
	logs, distributions, err := sortInputs(s.Inputs, g.headers)
	if err != nil {
		return nil, err
	}
	if len(distributions) > 0 && o.Type.Chart.Marks != chart.Curves {
		return nil, message.Usagef("%s is a percentile distribution, which knows of no time: -type percentiles draws it", distributions[0].Name)
	}
	if len(distributions) > 0 {
		if option := o.needsLogs(len(logs) > 0); option != "" {
			return nil, message.Usagef("%s is a percentile distribution, but -%s needs logs", distributions[0].Name, option)
		}
	}
	if err := g.setScale(len(logs) > 0); err != nil {
		return nil, err
	}
	if err := g.prepare(s, logs); err != nil {
		return nil, err
	}
	if err := g.readLogs(s, logs); err != nil {
		return nil, err
	}
	g.units.Doubt(g.highest)
	if err := g.readDistributions(distributions); err != nil {
		return nil, err
	}
	if len(g.series)+len(g.loads) == 0 {
		return nil, nil
	}
	p, err := g.picture(len(logs) > 0)
	if err != nil {
		return nil, err
	}
	p.Spans, p.Worst = g.spans, g.worst[:min(len(g.worst), mostWorst(o.Page))]
	p.Ran = g.ran
	for _, times := range p.Ran {
		for n := range times {
			times[n] = [2]int64{times[n][0] - p.Origin, times[n][1] - p.Origin}
		}
	}
	for n := range p.Worst {
		m := &p.Worst[n]
		m.Start = m.Start - p.Origin
		m.End = m.End - p.Origin
		m.Peak = m.Peak - p.Origin
	}
	if g.plan.merged && len(logs) > 1 {
		for _, log := range logs {
			p.Logs = append(p.Logs, g.labels[log.Name])
		}
	}
	var folders []string
	for _, input := range s.Inputs {
		name := filepath.Base(input.Name)
		if input.Name == "-" {
			name = "standard input"
		}
		p.Sources, folders = append(p.Sources, name), append(folders, filepath.ToSlash(filepath.Dir(input.Name))+"/")
	}
	if len(slices.Compact(slices.Sorted(slices.Values(p.Sources)))) < len(p.Sources) { // folders tell them apart
		p.Sources = slices.Compact(folders)
	}
	return p, g.nameAdded(p)
}

// nameAdded says what the heat map of a picture adds up.
func (g *gathering) nameAdded(p *chart.Picture) error {
	o := g.Options
	if o.Type == chart.Heatmap && !g.plan.paged && g.by.Inputs() {
		p.Facets = true // a map for each machine
	}
	if p.Facets || o.Type.Chart.Marks != chart.Cells && !g.plan.paged {
		return nil
	}
	groups := map[string]bool{}
	for _, s := range p.Series {
		if len(s.Windows) == 0 {
			continue // a distribution
		}
		groups[s.Group] = true
		if tag := s.Tag(); !slices.Contains(p.Added, tag) {
			p.Added = append(p.Added, tag)
		}
	}
	if o.Compare && !g.plan.paged && len(groups) < 2 {
		for _, label := range g.labels {
			if !groups[label] {
				return fmt.Errorf("-compare: %s has no intervals that are drawn", message.Printable(label))
			}
		}
	}
	if same, choice := writers.SameRequests(p.Added); same != "" {
		p.SameRequests = true
		if !g.plan.paged { // whose heat map and total are two charts of many
			g.std.Notef("-type %s adds up %s; choose %s", o.Type.Name, same, choice)
		}
	}
	return nil
}

// gathering is a picture in the making.
type gathering struct {
	std *message.Streams
	*Options
	units   *logs.Units
	by      *tags.By      // what makes a line
	apart   bool          // each log is by itself
	look    chart.Picture // with the unit and the limits
	marks   []Mark
	ratio   float64 // of logs, known when their comments were read
	plan    plan
	headers *logs.Logs        // all of them
	labels  map[string]string // of inputs, by name

	collector collect.Collector
	failed    error                        // of the collector
	series    []chart.Series               // with their curves, in the order of the inputs
	believed  []*output.Summary            // of the first series, by index
	loads     []runLoad                    // what a picture of load keeps instead of them
	runs      map[string][]*summary.Result // by group, of sides that have several
	averaged  map[string]int               // how many runs the windows of a group add up
	highest   float64                      // value of logs, in the unit of the picture but for the ratio
	summaries []chart.Summary
	logStart  float64               // when the first log starts, in seconds since the epoch
	spans     [][2]int64            // of the logs that were read, in milliseconds since the epoch
	ran       map[string][][2]int64 // by group, if there are gaps: see [chart.Picture]
	tags      int                   // the most of a log, 0 if that is unknown
	worst     []chart.Moment        // the worst first, in milliseconds since the epoch or the start of the log
}

// readLogs reads the logs of a scan: those that add up together.
func (g *gathering) readLogs(s *scan.Scan, logs []scan.Input) error {
	if g.compareReport() {
		return g.readSides(s)
	}
	one := *s
	one.Inputs = logs
	parts := []*scan.Scan{&one}
	switch {
	case len(logs) == 0:
		return nil
	case g.eachRun(g.by):
		parts = one.Runs()
	case g.apart:
		parts = nil
		for n := range logs {
			own := one
			own.Inputs = logs[n : n+1]
			parts = append(parts, &own)
		}
	}
	for _, part := range parts {
		label := ""
		if g.apart {
			label = g.labelOf(part)
		}
		if err := g.readLog(s, part, label); err != nil {
			return err
		}
	}
	return nil
}

// labelOf returns the label of logs that are by themselves.
func (g *gathering) labelOf(own *scan.Scan) string { return g.labels[own.Inputs[0].RunName()] }

// readLog reads logs that add up, of a scan s. Their series have their tags as names, behind the
// label of a group of their own.
func (g *gathering) readLog(s, one *scan.Scan, label string) (err error) {
	one.Progress, one.Seen = s.Progress, 0
	if g.eachRun(g.by) { // of which nothing stays
		one.Memory = s.Memory.Empty()
	}
	added := g.units.Watch(one)
	collecting, start := g.collecting(), math.Inf(1)
	var result *summary.Result
	if g.sides.Runs {
		result, err = g.readRuns(one, label, &start)
	} else {
		if g.EachRun {
			if err := g.FindSteady(g.std, one); err != nil {
				return err
			}
		}
		result, err = g.collect(one, collecting, label, &start)
	}
	s.Seen += one.Seen
	if err != nil {
		return err
	}
	if g.eachRun(g.by) && g.Sums == nil {
		defer result.Release()
	}
	if collecting.Runs != nil && len(result.Summaries) <= mostBands {
		if err := result.Believe(collecting.Runs, figurePercentiles(), confidenceLevel, s.Workers); err != nil {
			return err
		}
	}
	if errors.Is(g.failed, collect.ErrPoints) {
		return fmt.Errorf("-agg %s makes more than %s, and -type load draws a dot for each: -agg with a longer time makes fewer",
			axis.Length(g.Aggregate), chart.Counted(collect.MostPoints-1, "window"))
	}
	if g.failed != nil {
		return g.failed
	}
	if g.EachRun && len(result.Summaries) == 0 {
		g.std.Say("%s: %v", one.Inputs[0].RunName(), logs.NothingLeft(one))
	}
	if err := checkTags(len(g.series) + len(result.Summaries)); err != nil {
		return err
	}
	if added := result.MostInputs(); added > 1 && !g.EachRun {
		g.std.Notef("adds up %d logs, tag by tag; -compare draws each by itself", added)
	}
	if len(result.Summaries) > 0 {
		whole := [2]int64{math.MaxInt64, math.MinInt64}
		for _, sum := range result.Summaries {
			whole = [2]int64{min(whole[0], sum.Start), max(whole[1], sum.End)}
		}
		g.spans = append(g.spans, whole)
	}
	if ran := result.Ran(); len(ran) > 1 && !g.collector.Relative && !g.sides.Runs {
		for _, w := range ran {
			g.ran[label] = append(g.ran[label], [2]int64{w.Start, w.End})
		}
	}
	result.SetPeriods("covered")
	for _, sum := range result.Summaries {
		if sum.Factor, err = added.Factor(sum.Tag); err != nil {
			return err
		}
		g.addSum(sum, label, sum.Period, len(result.Summaries) <= mostShifts)
		if g.sides.Runs && len(result.Summaries) <= mostBands {
			g.series[len(g.series)-1].Curve.Band = g.bandOf(label, sum, g.ratio/sum.Factor)
		}
	}
	if g.Sums != nil {
		if err := g.Sums(g.units, report.Side{Summaries: result.Summaries, Logs: added}); err != nil {
			return err
		}
	}
	if collecting.Histories == nil {
		return nil
	}
	if !g.collector.Relative {
		start = 0
	}
	return g.findWorst(label, collecting.Histories, result.Summaries, hdrlog.Millis(start))
}

// collect adds up logs, and feeds the collector. It lowers start to when the first log starts.
func (g *gathering) collect(one *scan.Scan, o summary.Options, label string, start *float64) (*summary.Result, error) {
	if !g.plan.overTime {
		return summary.Collect(one, o)
	}
	factors := make([]float64, len(one.Inputs))
	for n := range factors {
		factors[n] = g.headers.LogFactor(one.Inputs[n].Name)
	}
	var i collect.Interval
	p := g.collector.Flow(func(r *flow.Result, w *flow.Window) error {
		*start = min(*start, r.Visit.LogStart)
		if one.ByTime {
			*start = min(*start, one.Start)
		}
		g.logStart = min(g.logStart, *start)
		i.Factor = factors[r.Input]
		if g.failed == nil {
			g.collector.Measure(r, w, &i)
			g.failed = g.collector.Add(label, labelOf(label, r.Row), &i)
		}
		return checkTags(len(g.collector.Labels()))
	}, func(w *flow.Window) error {
		if g.failed == nil {
			g.failed = g.collector.AddCounts(labelOf(label, w.Row), w)
		}
		return nil
	})
	return summary.Collect(one, o, p)
}

// addSum adds what a row has in all intervals. Shifts says whether changes of level are marked.
func (g *gathering) addSum(sum *output.Summary, group string, period int64, shifts bool) {
	label, ratio := labelOf(group, sum.Tag), g.ratio/sum.Factor
	if shifts && g.plan.shifts && sum.Confidence != nil && sum.Confidence.Shift != nil {
		g.markShift(label, sum.Confidence.Shift, ratio)
	}
	curve := chart.Curve{Count: sum.Counts().TotalCount()}
	if g.Type.Chart.Marks == chart.Curves || g.Type == chart.Report {
		curve = chart.CurveOf(sum.Counts(), ratio)
	}
	if g.plan.bands && sum.Confidence != nil {
		curve.Band = believedBand(&curve, sum, ratio)
		keepFigures(sum.Confidence)
	}
	g.highest = max(g.highest, sum.Counts().MaxFloat()*sum.Factor)
	own := chart.Series{Label: label, Group: group, Curve: curve}
	if g.Type == chart.Load && g.Aggregate == 0 { // no counts are kept: there may be many runs
		g.loads = append(g.loads, g.loadOf(sum, &own))
	} else {
		g.series, g.believed = append(g.series, own), append(g.believed, sum)
	}
	g.summaries = append(g.summaries, chart.SummaryOf(label, sum.Counts(), ratio, sum.Intervals, period, g.look.Limits))
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

// believedBand returns the intervals of confidence of the points of a curve, up to the first one
// behind the median that has none.
func believedBand(curve *chart.Curve, sum *output.Summary, ratio float64) (band []chart.Bound) {
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

// keepFigures drops the intervals of the points of a curve: those of figures are compared.
func keepFigures(c *output.Confidence) {
	kept := figurePercentiles()
	maps.DeleteFunc(c.Percentiles, func(p float64, _ confidence.Estimate) bool { return !slices.Contains(kept, p) })
}

// MostWorst is the number of worst moments that a picture marks. A page marks as many of its view.
const (
	MostWorst     = 5
	mostPageWorst = 100
	// leastMarked is how many times as high as typical a moment is that has a number. The highest
	// one has one in any case.
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
func (g *gathering) findWorst(label string, parts *summary.Histories, summaries []*output.Summary, start int64) error {
	moments, _, err := parts.Worst(mostWorst(g.Page), gate.Factors(summaries, g.by))
	if errors.As(err, new(*ledger.LimitError)) {
		g.std.Notef("marks no worst moments: %v", err)
		return nil
	}
	shares := parts.Shares(moments)
	for n, m := range moments {
		if n > 0 && m.Times < leastMarked {
			continue
		}
		g.worst = append(g.worst, chart.Moment{
			Start: m.Start - start,
			End:   m.End - start,
			Peak:  m.Peak - start,
			Value: unit.Divide(float64(m.Max), g.ratio/m.Factor),
			Share: shares[n],
			Label: labelOf(label, g.by.Row(m.Input, m.Tag)),
			Name:  labelOf(g.labels[m.Input], m.Tag),
		})
	}
	slices.SortStableFunc(g.worst, func(a, b chart.Moment) int { return cmp.Compare(b.Value, a.Value) })
	return err
}

// mostShifts is the number of series up to which their shifts are marked.
const mostShifts = 4

// markShift marks where the level of a percentile of a series shifts for good.
func (g *gathering) markShift(label string, shift *output.Shift, ratio float64) {
	value := func(v float64) string { return strconv.FormatFloat(summary.Rounded(v/ratio), 'f', -1, 64) }
	text := fmt.Sprintf("%s p%v %s -> %s %s", label, shift.Percentile, value(shift.Before), value(shift.After), g.look.Unit)
	g.marks = append(g.marks, Mark{scan.Bound{Seconds: float64(shift.Start) / 1000, Origin: scan.Epoch}, strings.TrimSpace(text)})
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

// MostTags is the number of tags that a picture may have. Twelve have a line, and a log of 10 MB
// can have enough to take 400 MB.
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

// labelsOf returns the names of runs in the picture, empty if there is only one.
func labelsOf(inputs []scan.Input) map[string]string {
	var names []string
	for n := range inputs {
		names = append(names, inputs[n].RunName())
	}
	return logs.Labels(names)
}

// picture returns the picture of what was read.
func (g *gathering) picture(logs bool) (p *chart.Picture, err error) {
	own := g.look
	p = &own
	if logs && g.plan.overTime {
		origin := int64(0)
		if !g.collector.Relative {
			origin = hdrlog.Millis(g.logStart)
		}
		if p, err = g.collector.Picture(p, origin, g.series); err != nil {
			return nil, err
		}
	} else {
		p.Series = g.series
	}
	for n := range p.Series {
		p.Series[n].Runs = g.averaged[p.Series[n].Group]
	}
	p.Summary = g.summaries
	scale := output.Scale{Ratio: g.ratio, Unit: g.look.Unit, Assumed: g.units.Assumed()}
	if logs && (g.Page || g.Type == chart.Report) && (scale.Unit == "" || scale.Assumed) {
		p.Notes = append(p.Notes, scale.About())
	}
	if g.Type == chart.Load {
		g.drawLoads(p)
	}
	if g.compareReport() {
		g.compare(p)
	} else if g.plan.changes {
		g.comparePage(p)
	} else if len(p.Series) <= chart.MostTogether {
		p.Notes = append(p.Notes, g.changes()...)
	}
	if g.Type.Chart.Marks == chart.Curves && len(chart.WithValues(p.Series)) > 0 {
		var empty []string
		for _, s := range p.Series {
			if s.Curve.Count == 0 {
				empty = append(empty, chart.Named(s.Label))
			}
		}
		if empty != nil {
			p.Notes = append(p.Notes, "No values: "+strings.Join(empty, ", ")+".")
		}
	}
	banded := slices.ContainsFunc(p.Series, func(s chart.Series) bool { return len(s.Curve.Band) > 0 })
	if banded && g.sides.Runs {
		p.Notes = append(p.Notes, fmt.Sprintf("The pale band reaches from the lowest to the highest run. It is paler where fewer than %d values lie above it.", chart.FewAbove))
	} else if banded {
		p.Notes = append(p.Notes, fmt.Sprintf("The pale band has the true percentile in it with a probability of %d%%. It is paler where fewer than %d values lie above it, and ends where too few are left.", confidenceLevel, chart.FewAbove))
	}
	return p, nil
}

// compared are the percentiles whose changes a picture of several runs names.
var compared = []float64{99, 99.99}

// changes says how the higher percentiles of runs differ from those of the first, a line for each
// tag, as hdrdiff prints it.
func (g *gathering) changes() (notes []string) {
	table := output.Table{Percentiles: compared}
	var pairs []output.Pair
	for n, own := range g.believed {
		for m, first := range g.believed[:n] {
			base, series := g.series[m], g.series[n]
			if base.Group != g.series[0].Group || base.Group == series.Group || base.Tag() != series.Tag() || first.Confidence == nil || own.Confidence == nil {
				continue
			}
			pair := output.Pair{Before: first, After: own, Change: output.NewChange(first, own)}
			output.Correct([]output.Pair{pair}, compared)
			pairs = append(pairs, pair)
			headings, rows := table.Changes(pair)
			var texts []string
			for _, p := range compared {
				name := chart.AtPercentile(p).Name
				texts = append(texts, name+" "+rows[2][slices.Index(headings, name)])
			}
			notes = append(notes, series.Label+" beside "+base.Group+": "+strings.Join(texts, ", "))
		}
	}
	if len(pairs) > 0 {
		notes = append(notes, output.Legend(pairs)+".")
	}
	return notes
}

// setScale finds out what to divide the values of logs by, and in which unit they are then. Without
// logs, -unit only names the unit of distributions.
func (g *gathering) setScale(logs bool) (err error) {
	printed := g.Units
	printed.Ratio = cmp.Or(printed.Ratio, 1)
	if printed.Unit != "" {
		printed.In = unit.Unit{}
	}
	scale := printed.Scale(unit.Unit{})
	scale.Name = cmp.Or(printed.Unit, printed.In.String())
	if logs {
		if scale, err = g.units.Scale(gate.HasUnit(g.Limits)); err != nil {
			return err
		}
	}
	g.ratio, g.look.Unit = scale.Ratio, scale.Name
	return g.addLimits(scale)
}

// addLimits adds the limits, in printed units.
func (g *gathering) addLimits(scale unit.Scale) error {
	for _, l := range g.Limits {
		if l.Unit != (unit.Unit{}) && scale.In == (unit.Unit{}) {
			return message.Usagef("-sla %s: -unit must name the unit of the values", l.Text)
		}
		g.look.Limits = append(g.look.Limits, chart.Limit{Percentile: l.Percentile, Value: l.Printed(scale)})
	}
	return nil
}

// sortInputs separates logs and percentile distributions by how they begin.
// It finds out the units of logs.
func sortInputs(inputs []scan.Input, headers *logs.Logs) (some, distributions []scan.Input, err error) {
	for _, input := range inputs {
		file, err := input.Open()
		if err != nil {
			return nil, nil, err
		}
		begin := bufio.NewReaderSize(file, hgrm.DetectSize)
		text, _ := begin.Peek(hgrm.DetectSize) // an error comes again when it is read
		if input.Once {
			// The text that was read for this goes before the rest.
			input.Open = func() (io.ReadCloser, error) {
				return struct {
					io.Reader
					io.Closer
				}{begin, file}, nil
			}
		} else {
			file.Close()
		}
		if hgrm.Detect(text) {
			distributions = append(distributions, input)
		} else {
			some = append(some, input)
			headers.Header(input.Name, text)
		}
	}
	return some, distributions, nil
}

// A distribution is one of an input.
type distribution struct {
	hgrm.Distribution
	input string
}

// unit returns the unit of the values, unknown if neither the file nor -in names it.
func (d *distribution) unit(options *unit.Options) unit.Unit {
	own, ok := unit.Parse(d.Unit)
	if !ok || options.In != (unit.Unit{}) {
		return options.In
	}
	return own
}

// readDistributions reads the percentile distributions of files. It draws each as a line.
func (g *gathering) readDistributions(inputs []scan.Input) error {
	var all []distribution
	for _, input := range inputs {
		file, err := input.Open()
		if err != nil {
			return err
		}
		some, err := hgrm.Read(file, input.Name)
		if err = cmp.Or(err, file.Close()); err != nil {
			return err
		}
		for _, d := range some {
			all = append(all, distribution{d, input.Name})
		}
	}
	if g.look.Unit == "" && g.Units.Ratio == 0 && len(g.series)+len(g.loads) == 0 {
		for n := range all {
			g.look.Unit = cmp.Or(g.look.Unit, all[n].unit(&g.Units).String())
		}
	}
	for n := range all {
		g.addDistribution(&all[n])
	}
	return nil
}

// addDistribution adds a distribution, in the unit of the picture. Its values are printed values
// already: -ovr divides them, and those of an unknown unit stay as they are, which is said.
func (g *gathering) addDistribution(d *distribution) {
	ratio := cmp.Or(g.Units.Ratio, 1)
	if to, ok := unit.Parse(g.look.Unit); ok && g.Units.Ratio == 0 {
		if own := d.unit(&g.Units); own != (unit.Unit{}) {
			ratio = own.Per(to)
		} else {
			g.assume(d.input, to)
		}
	}
	curve := chart.Curve{Count: d.Rows[len(d.Rows)-1].Count}
	for _, row := range d.Rows {
		curve.Steps = append(curve.Steps, chart.Step{Percentile: row.Percentile, Value: row.Value / ratio})
	}
	g.series = append(g.series, chart.Series{
		Label: strings.TrimSpace(g.labels[d.input] + " " + d.Name),
		Group: g.labels[d.input],
		Curve: curve,
	})
}

// assume says once for an input that its values are taken to be in a unit, which nothing states.
func (g *gathering) assume(input string, in unit.Unit) {
	note := fmt.Sprintf("%s does not state its unit: its values are taken as %s", message.Printable(filepath.Base(input)), in)
	if slices.Contains(g.look.Notes, note+".") {
		return
	}
	g.look.Notes = append(g.look.Notes, note+".")
	g.std.Say("%s; -in names another unit", note)
}
