package plot

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output/hgrm"
	"hdrkit/tags"
)

// A plan says which inputs a picture has, and what it takes of them. It is complete before any
// payload is read, and does not change afterwards.
type plan struct {
	division      division
	by            *tags.By // what makes a series
	labels        labels
	headers       *logs.Logs // of all logs
	parts         []part
	distributions []scan.Input
	takes
	lines   collect.Options // of lines and counts over time
	periods int             // of -fold, that lie over one another, 0 without
	scale   hdrlog.Scale    // of logs
	same    []string        // tags that count the same requests; only the first one is drawn
	judging judging
	look    chart.Picture // has the looks, the unit and the limits, and nothing of the logs
}

// A part is logs that add up, row by row. Its label is empty if all logs do.
type part struct {
	scan      *scan.Scan
	label     string
	runs      int  // of a side, 0 if the part is none
	runsFirst bool // each run adds up by itself, before all of them do
}

// takes are what a picture takes of the logs.
type takes struct {
	page     bool      // all charts
	overTime bool      // lines, or counts over time
	curves   bool      // percentile curves
	points   []float64 // of runs, at percentiles, instead of lines and curves
	// bands are the confidence of curves, shifts changes of level, and changes how the second one
	// of two logs on a page differs from the first. Each needs believed: windows for intervals of
	// confidence.
	bands, shifts, changes bool
	believed               *summary.Runs
	maxima                 bool // over time
	worst                  int  // the number of moments that are marked
	findings               bool
	fleet                  bool // a row for each log, at level
	level                  float64
	added                  bool // tags, in one heat map
	about                  bool // how values got their unit, if nobody gave it
}

// A decision makes a plan.
type decision struct {
	*Options
	*plan
	std   *message.Streams
	units *logs.Units
	scan  scan.Scan // of the logs, without distributions
}

// decide returns the plan of a picture of inputs.
func (o *Options) decide(std *message.Streams, units *logs.Units, in *Inputs) (*plan, error) {
	options := *o // rowsOfLogs may change the type
	d := &decision{
		Options: &options,
		std:     std,
		units:   units,
		scan:    *in.Scan,
		plan: &plan{
			division: o.divisionBy(in.By),
			by:       in.By,
			labels:   labelsOf(in.Scan.Inputs),
			headers:  units.Logs(in.Memory),
			look:     *o.newPicture(),
			judging:  judging{o.Limits, o.Zone, o.Expected > 0, in.diagnostics},
		},
	}
	d.look.Sources = sourcesOf(in.Scan.Inputs)
	if o.Type == chart.Heatmap && !o.Page && in.By.Inputs() {
		d.look.Facets = true // a map for each machine
	}
	if o.Compare && o.Type == chart.Heatmap && !o.Page && len(in.Scan.Inputs) != 2 {
		return nil, message.Usagef("-compare with -type heatmap compares two inputs, before and after: there are %d; "+
			"-by input draws a map for each, and -type report takes several runs a side", len(in.Scan.Inputs))
	}
	if err := d.sortInputs(in.Scan.Inputs); err != nil {
		return nil, err
	}
	if err := d.setScale(); err != nil {
		return nil, err
	}
	d.takes = d.whatToTake()
	if err := d.setLines(); err != nil {
		return nil, err
	}
	d.divide(in)
	return d.plan, nil
}

// sortInputs separates logs and percentile distributions by how they begin. It finds out the units
// of logs.
func (d *decision) sortInputs(inputs []scan.Input) error {
	d.scan.Inputs = nil
	for _, input := range inputs {
		text, err := input.Begin(hgrm.DetectSize)
		if err != nil {
			return err
		}
		if hgrm.Detect(text) {
			d.distributions = append(d.distributions, input)
		} else {
			d.scan.Inputs = append(d.scan.Inputs, input)
			d.headers.Header(input.Name, text)
		}
	}
	if len(d.distributions) == 0 {
		return nil
	}
	first := d.distributions[0].Name
	if d.Type.Chart.Marks != chart.Curves {
		return message.Usagef("%s is a percentile distribution, which knows of no time: -type percentiles draws it", first)
	}
	if option := d.needsLogs(); option != "" {
		return message.Usagef("%s is a percentile distribution, but -%s needs logs", first, option)
	}
	return nil
}

// needsLogs returns an option that is given and changes nothing of a percentile distribution, empty
// if there is none. Some may be for the logs beside it.
func (d *decision) needsLogs() string {
	alone := len(d.scan.Inputs) == 0
	for _, given := range []struct {
		option string
		is     bool
	}{
		{"co", d.Expected > 0},
		{"s", alone && d.From != ""},
		{"e", alone && d.To != ""},
		{"incT", alone && d.Include != nil},
		{"excT", alone && d.Exclude != nil},
	} {
		if given.is {
			return given.option
		}
	}
	return ""
}

// setScale sets the scale of logs, and the unit of the picture. Without logs, -unit only names the
// unit of distributions.
func (d *decision) setScale() (err error) {
	printed := d.Units
	printed.Ratio = cmp.Or(printed.Ratio, 1)
	if printed.Unit != "" {
		printed.In = 0
	}
	d.scale = printed.Scale(0)
	d.scale.Unit = cmp.Or(printed.Unit, printed.In.String())
	if len(d.scan.Inputs) > 0 {
		if d.scale, err = d.units.Scale(gate.HasUnit(d.Limits)); err != nil {
			return err
		}
	}
	return d.setUnit(&d.look, d.scale)
}

// The number of worst moments that are marked. A page marks as many of its view.
const (
	MostWorst     = 5
	mostPageWorst = 100
)

// whatToTake returns what the picture takes: what its type shows, or all for a page.
func (d *decision) whatToTake() takes {
	shows := d.Type.Shows
	cells := d.Type.Chart.Marks == chart.Cells
	dots := d.Type.Chart.Marks == chart.Dots
	t := takes{
		page:     d.Page,
		overTime: d.Page || d.Type.OverTime() || dots && d.Windows.Length > 0,
		curves:   shows.Curves,
		bands:    !d.Page && (d.Type.Chart.Marks == chart.Curves || d.division == twoSides),
		shifts:   shows.Shifts && !d.Compare,
		changes:  d.Page && d.Compare && len(d.scan.Inputs) == 2,
		maxima:   d.Sums != nil,
		added:    d.Page || cells,
		about:    d.Page || cells && shows.Findings,
	}
	if dots {
		t.points = d.levels()
	}
	if t.bands || t.shifts || t.changes {
		t.believed = &summary.Runs{Optional: true}
	}
	if t.bands {
		t.believed.Size = d.Windows.Length
		t.believed.Percentiles = drawnPercentiles
	}
	maxima := func(m chart.Measure) bool { return m.Name == "max" }
	above := cells || slices.ContainsFunc(d.measures(), maxima) // numbers stand above maxima
	if d.Windows.Fold == 0 && shows.Worst && above && d.division != twoSides {
		t.worst = MostWorst
		if d.Page {
			t.worst = mostPageWorst
		}
	}
	t.findings = (shows.Findings || d.Page) && d.division == together
	return t
}

// measures returns what the lines show.
func (d *decision) measures() []chart.Measure {
	switch {
	case d.Type.Measures != nil:
		return d.Type.Measures(d.levels())
	case d.Page:
		return chart.Timeline.Measures(d.levels()) // for the lines of the page
	}
	return nil
}

// Histograms by time may take this much memory. For a heat map that is about a window for each
// column of a wide picture and each of ten tags. For a page it is a multiple of the size of the
// page, in which they are deflated.
const (
	heatBytes    = 32 << 20
	collectTimes = 6
)

// setLines sets what the collector of lines and counts over time does.
func (d *decision) setLines() error {
	lines := &d.lines
	lines.Ratio = d.scale.Divisor()
	lines.Relative = d.Compare && !d.look.Absolute
	lines.Measures = d.measures()
	lines.Paired = d.points != nil
	switch {
	case d.Page:
		lines.WindowBytes, lines.Paged = collectTimes*d.look.PageSize, true
	case d.Type.Chart.Marks == chart.Cells:
		lines.WindowBytes = heatBytes
	}
	switch {
	case !d.overTime:
		return nil
	case d.Windows.Fold != 0:
		return d.fold()
	}
	return d.setWindows()
}

// mostPoints is about the number of windows of a picture over time, if nobody chose their length.
const mostPoints = 500

// setWindows sets the length of windows, and what depends on the tags of the logs.
func (d *decision) setWindows() error {
	count := len(d.scan.Inputs)
	thinned := !d.Windows.Given && !d.Page && d.points == nil // long logs get windows, since nobody chose
	most := firstIntervals
	if d.merges() || thinned {
		most = math.MaxInt
	}
	surveyed, err := d.survey(most)
	if err != nil {
		return err
	}
	if err := d.rowsOfLogs(surveyed); err != nil {
		return err
	}
	if err := d.dropSameRequests(surveyed.names); err != nil {
		return err
	}
	if few := surveyed.tags <= mostShifts && (surveyed.tags > 0 || !d.Page); d.shifts && !few && !d.by.All() {
		d.shifts = false
		d.believed = nil
	}
	several := surveyed.tags > 1 && !d.by.AddsTags() || d.Compare && count > 1
	if several && d.Page && d.Percentiles == nil {
		d.lines.Measures = chart.LimitedMeasures(d.lines.Measures, d.look.Limits) // others would be dropped
	}
	if d.merges() && count > 1 {
		for _, log := range d.scan.Inputs {
			d.look.Logs = append(d.look.Logs, d.labels[log.Name])
		}
	}
	window := d.Windows.Length
	wide := int64(axis.Window(float64(max(surveyed.to-surveyed.from, 0))/1000, mostPoints) * 1000)
	if window == 0 && d.merges() {
		window = surveyed.length
	}
	if d.Windows.Length == 0 && thinned && surveyed.points > mostPoints {
		window = max(window, wide)
	}
	d.lines.Aggregate = window
	if d.totals() {
		d.lines.Totals = chart.TotalMeasures(d.look.Limits)
	}
	return nil
}

// totals reports whether lines are of all series together.
func (d *decision) totals() bool { return d.Type.Chart.Marks == chart.Cells && !d.Page && !d.Compare }

// merges reports whether lines need windows, since their intervals are of several logs or tags.
func (d *decision) merges() bool {
	logs := len(d.scan.Inputs) > 1 && !d.Compare && !d.by.Inputs()
	return logs || d.by.AddsTags() || d.totals()
}

// divide divides the logs into parts.
func (d *decision) divide(in *Inputs) {
	all := &d.scan
	switch {
	case d.division == twoSides:
		d.addSides(in)
	case len(all.Inputs) == 0:
	case d.division == apart:
		for n := range all.Inputs {
			one := *all
			one.Inputs = all.Inputs[n : n+1]
			d.parts = append(d.parts, part{scan: &one, label: d.labels.of(&one)})
		}
	default:
		d.parts = []part{{scan: all}}
	}
}

// addSides makes a part of each side. Two logs have their own labels.
func (d *decision) addSides(in *Inputs) {
	labels := []string{"before", "after"}
	sides := []*scan.Scan{in.sides.Before, in.sides.After}
	single := len(sides[0].Inputs) == 1 && len(sides[1].Inputs) == 1
	if one, other := d.labels.of(sides[0]), d.labels.of(sides[1]); single && one != other {
		labels = []string{one, other}
	}
	for n, side := range sides {
		one := *side
		one.Progress = in.Progress
		d.parts = append(d.parts, part{
			scan:      &one,
			label:     labels[n],
			runs:      len(one.Runs()),
			runsFirst: in.sides.Runs,
		})
	}
}

// wanted returns what a part collects beside counts. Each needs its own.
func (p *plan) wanted(of *part) (o summary.Options) {
	o.Maxima = p.maxima
	if p.believed != nil && !of.runsFirst { // where the spread of runs stands for intervals
		runs := *p.believed
		o.Runs = &runs
	}
	if p.worst > 0 {
		o.Histories = &summary.Histories{Times: true}
	}
	return o
}
