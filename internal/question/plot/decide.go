package plot

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output/hgrm"
	"hdrkit/tags"
)

// A decision holds the headers of the logs and the plan of the picture, before the logs are read.
type decision struct {
	*Options
	std      *message.Streams
	units    *logs.Units
	headers  *logs.Logs        // all of them
	labels   map[string]string // of inputs, by name
	by       *tags.By          // what makes a line
	separate bool              // each log is by itself
	look     chart.Picture     // with the unit and the limits
	scale    hdrlog.Scale      // of logs
	plan     plan
	lines    collect.Options // of the collector, for pictures over time
	tags     int             // the largest number of tags of a log, 0 if that is unknown
	chosen   *tags.Filter    // drops tags that count the same requests as others, nil if there are none
	same     []string        // tags that count the same requests; only the first one is drawn
	periods  int             // that a picture lays over one another
	fleet    bool            // the picture has a row for each log
}

// newDecision returns a decision before any input is opened. Its plan is empty.
func (o *Options) newDecision(std *message.Streams, s *scan.Scan) (*decision, error) {
	own := *o
	d := &decision{
		Options:  &own,
		std:      std,
		by:       s.By,
		separate: o.Compare || o.eachRun(s.By),
		labels:   labelsOf(s.Inputs),
	}
	d.look = *chart.New(o.Type)
	d.look.Looks = o.Look
	var err error
	d.units, err = logs.NewUnits(std, o.Units)
	return d, err
}

// decide looks at the inputs of a scan, and separates logs and percentile distributions.
func (d *decision) decide(s *scan.Scan) (some, distributions []scan.Input, err error) {
	if d.Compare && d.Type == chart.Heatmap && !d.Page && len(s.Inputs) != 2 {
		return nil, nil, message.Usagef("-compare with -type heatmap compares two inputs, before and after: there are %d; "+
			"-by input draws a map for each, and -type report takes several runs a side", len(s.Inputs))
	}
	d.headers = d.units.Logs(s.Memory)
	some, distributions, err = sortInputs(s.Inputs, d.headers)
	if err != nil {
		return nil, nil, err
	}
	if len(distributions) > 0 && d.Type.Chart.Marks != chart.Curves {
		return nil, nil, message.Usagef("%s is a percentile distribution, which knows of no time: "+
			"-type percentiles draws it", distributions[0].Name)
	}
	if len(distributions) > 0 {
		if option := d.needsLogs(len(some) > 0); option != "" {
			return nil, nil, message.Usagef("%s is a percentile distribution, but -%s needs logs", distributions[0].Name, option)
		}
	}
	if err := d.setScale(len(some) > 0); err != nil {
		return nil, nil, err
	}
	return some, distributions, d.prepare(s, some)
}

// setScale sets the scale of logs, and the unit of the picture. Without logs, -unit only names the
// unit of distributions.
func (d *decision) setScale(logs bool) (err error) {
	printed := d.Units
	printed.Ratio = cmp.Or(printed.Ratio, 1)
	if printed.Unit != "" {
		printed.In = 0
	}
	scale := printed.Scale(0)
	scale.Unit = cmp.Or(printed.Unit, printed.In.String())
	if logs {
		if scale, err = d.units.Scale(gate.HasUnit(d.Limits)); err != nil {
			return err
		}
	}
	d.scale, d.look.Unit = scale, scale.Unit
	return d.addLimits(scale)
}

// addLimits adds the limits, in printed units.
func (d *decision) addLimits(scale hdrlog.Scale) error {
	for _, l := range d.Limits {
		if l.Unit != 0 && scale.In == 0 {
			return message.Usagef("-sla %s: -unit must name the unit of the values", l.Text)
		}
		d.look.Limits = append(d.look.Limits, chart.Limit{Percentile: l.Percentile, Value: l.Printed(scale)})
	}
	return nil
}

// sortInputs separates logs and percentile distributions by how they begin.
// It finds out the units of logs.
func sortInputs(inputs []scan.Input, headers *logs.Logs) (some, distributions []scan.Input, err error) {
	for _, input := range inputs {
		text, err := input.Begin(hgrm.DetectSize)
		if err != nil {
			return nil, nil, err
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

// Histograms by time may take this much memory. For a heat map that is about a window for each
// column of a wide picture and each of ten tags. For a page it is a multiple of the size of the
// page, in which they are deflated.
const (
	heatBytes    = 32 << 20
	collectTimes = 6
)

// A plan says what a picture needs of the logs.
type plan struct {
	// paged is a page, which has all charts. overTime is whether there is more than sums.
	paged, overTime bool
	// total draws lines of all series together.
	total bool
	// merged is whether a line needs windows, since its intervals are of several logs or tags, and
	// thinned whether long logs get windows, since nobody chose.
	merged, thinned bool
	// worst, shifts and bands mark moments, changes of level, and the confidence of curves.
	worst, shifts, bands bool
	// changes says how the second one of two logs on a page differs from the first.
	changes bool
}

func (d *decision) planOf(logs int) plan {
	o := d.Options
	marks := o.Type.Chart.Marks
	p := plan{paged: o.Page}
	p.overTime = marks != chart.Curves && marks != chart.Dots || p.paged || o.Type == chart.Load && o.Aggregate > 0
	p.total = marks == chart.Cells && !p.paged && !o.Compare && o.Fold == 0
	p.merged = o.Fold == 0 && logs > 1 && !o.Compare && !d.by.Inputs() || o.Fold == 0 && d.by.AddsTags() || p.total
	p.thinned = o.Fold == 0 && !o.AggregateGiven && !p.paged && marks != chart.Curves && marks != chart.Dots
	p.worst = o.Fold == 0 && o.Type.Worst && !o.compareReport() && (marks == chart.Cells || // numbers stand above maxima
		slices.ContainsFunc(o.measures(), func(m chart.Measure) bool { return m.Name == "max" }))
	p.shifts = o.Type == chart.Timeline && !o.Compare
	p.changes = p.paged && o.Compare && logs == 2
	p.bands = (marks == chart.Curves || o.compareReport()) && !p.paged
	return p
}

// prepare makes the plan, and sets the options of the collector.
func (d *decision) prepare(s *scan.Scan, logs []scan.Input) error {
	o, k := d.Options, &d.lines
	d.plan = d.planOf(len(logs))
	k.Ratio = d.scale.Divisor()
	k.Relative = o.Compare && !d.look.Absolute
	k.Measures = o.measures()
	k.Paired = o.Type == chart.Load
	switch {
	case d.plan.paged:
		k.WindowBytes, k.Paged = collectTimes*d.look.PageSize, true
	case o.Type.Chart.Marks == chart.Cells:
		k.WindowBytes = heatBytes
	}
	if !d.plan.overTime {
		return nil
	}
	if o.Fold != 0 {
		return d.fold(s, logs)
	}
	most := firstIntervals
	if d.plan.merged || d.plan.thinned {
		most = math.MaxInt
	}
	found, err := d.survey(s, logs, most)
	if err != nil {
		return err
	}
	d.tags = found.tags
	if err := d.rowsOfLogs(len(logs), &found); err != nil {
		return err
	}
	if err := d.dropSameRequests(s, found.names); err != nil {
		return err
	}
	several := found.tags > 1 && !d.by.AddsTags() || o.Compare && len(logs) > 1
	if several && d.plan.paged && o.Percentiles == nil {
		k.Measures = chart.LimitedMeasures(k.Measures, d.look.Limits) // others would be dropped
	}
	window, wide := o.Aggregate, int64(axis.Window(float64(max(found.to-found.from, 0))/1000, mostPoints)*1000)
	if window == 0 && d.plan.merged {
		window = found.length
	}
	if o.Aggregate == 0 && d.plan.thinned && found.points > mostPoints {
		window = max(window, wide)
	}
	k.Aggregate = window
	if d.plan.total {
		k.Totals = chart.TotalMeasures(d.look.Limits)
	}
	return nil
}

// collecting returns the options of the sums of logs.
func (d *decision) collecting() (o summary.Options) {
	o.Maxima = d.Sums != nil
	few := d.by.All() || d.tags <= mostShifts && (d.tags > 0 || !d.plan.paged)
	switch {
	case d.sides.Runs: // each run has figures, and their spread stands for intervals
	case d.plan.bands:
		o.Runs = &summary.Runs{Size: d.Aggregate, Optional: true, Percentiles: drawnPercentiles}
	case d.plan.changes || d.plan.shifts && few:
		o.Runs = &summary.Runs{Optional: true}
	}
	if d.plan.worst {
		o.Histories = &summary.Histories{Times: true}
	}
	return o
}

// mostPoints is about the number of windows of a picture over time, if nobody chose their length.
const mostPoints = 500

// A survey says how logs lie in time, in milliseconds.
type survey struct {
	length   int64 // of the first interval, see [flow.MeantLength]
	from, to int64
	starts   []int64 // of logs
	ends     []int64
	points   int             // the largest number of intervals of a tag of a log
	tags     int             // the largest number of tags of a log
	names    map[string]bool // of tags, as texts
}

// firstIntervals is a number of intervals in which most tags of a log occur.
const firstIntervals = 1000

// survey looks at the first intervals of each log that the scan selects, without their payloads.
// Pipes can be read only once, so it does not know them.
func (d *decision) survey(s *scan.Scan, logs []scan.Input, most int) (found survey, err error) {
	found = survey{length: 1000, from: math.MaxInt64, to: math.MinInt64, names: make(map[string]bool)}
	one := *s
	one.Inputs, one.Progress = logs, nil
	first := true
	for n := range logs {
		if logs[n].Once {
			continue
		}
		log, err := one.Open(n, 0)
		if err != nil {
			return found, err
		}
		points := map[string]int{}
		from, to := int64(math.MaxInt64), int64(math.MinInt64)
		for seen := 0; seen < most && log.Scan(); {
			rec := log.Record()
			if rec.Kind != hdrlog.IntervalRecord || !one.Select(n, &rec.Interval) {
				continue
			}
			seen++
			if length := rec.Interval.Length; first && length > 0 {
				first = false
				found.length = flow.MeantLength(logline.Millis(length))
			}
			start := rec.Interval.StartMillis()
			if d.lines.Relative {
				start -= logline.Millis(rec.Interval.LogStart)
			}
			from, to = min(from, start), max(to, start+logline.Millis(rec.Interval.Length))
			if points[string(rec.Interval.Tag)]++; len(points) > MostTags {
				break // reading the log fails
			}
			found.names[tags.Text(rec.Interval.Tag)] = true
			found.points, found.tags = max(found.points, points[string(rec.Interval.Tag)]), max(found.tags, len(points))
		}
		if from <= to {
			found.from, found.to = min(found.from, from), max(found.to, to)
			found.starts, found.ends = append(found.starts, from), append(found.ends, to)
		}
		err = errors.Join(log.Err(), log.Close())
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// measures returns what the lines show.
func (o *Options) measures() []chart.Measure {
	switch {
	case o.Type == chart.Load:
		return append(o.Type.Measures(o.levels()), chart.PerSecond())
	case o.Type.Measures != nil:
		return o.Type.Measures(o.levels())
	case o.Page:
		return chart.Timeline.Measures(o.levels()) // for the lines of the page
	}
	return nil
}
