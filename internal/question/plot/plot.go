// Package plot makes pictures of logs in three steps. A decision makes a plan: which inputs there
// are, which of them add up, and what to read from them. A reading reads the inputs. The function
// dress makes the picture of the data.
//
// A trend does not need these steps, since it reads only figures of runs.
package plot

import (
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/question/compare"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// Options say what to draw of which logs. All but Type are optional.
type Options struct {
	Logs        logs.Options // which logs, tags and times to read
	Units       unit.Options
	Type        *chart.Type
	Page        bool      // a page with all charts
	Compare     bool      // draw each log by itself, instead of their sum
	Separator   int       // number of names of logs before --
	Percentiles []float64 // of lines, nil for the default
	Windows     Windows
	HeightGiven bool // the user chose the height. Otherwise it depends on the data
	Axes        Axes
	Limits      []gate.Limit
	Marks       []Mark
	Looks       chart.Looks
	// Sums, if set, is called with the sums of each part of the logs, which then have their maxima
	// over time.
	Sums func(units *logs.Units, side asked.Side) error
}

// Axes are the choices of the user about the axes of a picture. Unit and Limits of Values are not
// among them.
type Axes struct {
	Time   chart.TimeAxis
	Values chart.ValueAxis
	Linear bool // the axis of values is linear, also if that leaves most of it empty
}

// Windows are the options for windows of time.
type Windows struct {
	// Length is the length of windows in milliseconds. Given says that the user chose it. Otherwise
	// only long logs get windows.
	Length int64
	Given  bool
	// Fold is the period in milliseconds of a folded heat map, or [FoldFound]. At 0 it is not
	// folded.
	Fold int64
}

// A Mark is a text at a time that the user gave with -mark, or that marks a shift.
type Mark struct {
	When scan.Bound
	Text string
}

// Inputs are the logs and percentile distributions of a picture.
type Inputs struct {
	Scan        *scan.Scan
	division    division
	phases      *scan.Phases  // phases that are drawn, nil for none
	sides       compare.Sides // of a report that compares
	diagnostics *logs.Diagnostics
}

// Find finds the inputs of a picture, without reading them, and reads the file of -phases.
func (o *Options) Find(std *message.Streams, d *logs.Diagnostics) (*Inputs, error) {
	by, err := o.Logs.Tags.Rows()
	if err != nil {
		return nil, err
	}
	in := &Inputs{division: o.divisionBy(by), diagnostics: d}
	o.Logs.Inputs.Runs, o.Logs.Times.EachRun = in.division.byRun(), in.division.byRun()
	if in.phases, err = o.findPhases(std, d, by); err != nil {
		return nil, err
	}
	if in.division != twoSides {
		in.Scan, err = o.Logs.Scan(std, d)
		return in, err
	}
	var names compare.Names
	if err := names.Split(o.Logs.Inputs.Names, o.Separator); err != nil {
		return nil, err
	}
	if in.sides, err = compare.FindSides(std, d, &o.Logs, names); err != nil {
		return nil, err
	}
	in.Scan = in.sides.All()
	return in, nil
}

// findPhases returns the phases to draw behind the data. It returns nil without -phases, and if
// phases are rows.
func (o *Options) findPhases(std *message.Streams, d *logs.Diagnostics, by *tags.By) (*scan.Phases, error) {
	curves := !o.Page && o.Type.Chart.Marks == chart.Curves
	switch {
	case o.Logs.Tags.Phases.Files == nil:
		return nil, nil
	case by.Phases() && !curves:
		return nil, message.Usagef("-by phase is for -type percentiles, a curve for each: without it, phases are drawn behind the data")
	case by.Phases():
		return nil, nil
	case curves:
		return nil, message.Usagef("-phases draws a percentile curve for each phase with -by phase or -by phase,tag")
	case o.Windows.Fold != 0:
		return nil, message.Usagef("-phases and -fold do not go together: -fold lays periods over one another")
	}
	phases, err := o.Logs.ReadPhases(std, d)
	if err == nil && o.Compare && !o.Axes.Time.Absolute && phases.Dated() {
		err = message.Usagef("-phases: logs that are laid over one another by -compare have no clock " +
			"time; -time absolute, or times since the start, have one")
	}
	return phases, err
}

// Gather reads the inputs and returns their picture, or nil if no interval was selected. It reads
// each input once or twice. Messages go to std.
func (o *Options) Gather(std *message.Streams, in *Inputs) (*chart.Picture, error) {
	units, err := logs.NewUnits(std, o.Units)
	if err != nil {
		return nil, err
	}
	if err := o.checkPoints(in); err != nil {
		return nil, err
	}
	gather := o.picture
	if in.division == overRuns {
		gather = o.trend
	}
	p, err := gather(std, units, in)
	if err != nil || p == nil {
		return nil, err
	}
	o.finish(std, p)
	return p, nil
}

// picture returns the picture of inputs for all types but trends, or nil if no interval was
// selected.
func (o *Options) picture(std *message.Streams, units *logs.Units, in *Inputs) (*chart.Picture, error) {
	plan, err := o.decide(std, units, in)
	if err != nil {
		return nil, err
	}
	found, err := o.read(std, units, in.Scan, plan)
	if err != nil || len(found.rows)+len(found.loads) == 0 {
		return nil, err
	}
	return dress(std, plan, found)
}

// A division says which logs are added up.
type division int

const (
	together division = iota // all logs are added up, row by row
	apart                    // each log is drawn by itself
	twoSides                 // the logs before and after a change are two sides
	eachRun                  // each run is a point in a chart of load
	overRuns                 // each run is a point in a trend
)

// byRun reports whether each run is read by itself, with its own start.
func (d division) byRun() bool { return d == twoSides || d == eachRun || d == overRuns }

// divisionBy returns the division of logs for the rows of -by. The points of a chart of load are
// inputs, with a curve for each tag, or rows of -by, with a single curve, or windows of -agg, with
// a curve for each row.
func (o *Options) divisionBy(by *tags.By) division {
	switch {
	case o.Type == chart.Trend:
		return overRuns
	case o.Type == chart.Load && o.Windows.Length == 0 && (by.Inputs() || !by.AddsTags()):
		return eachRun
	case o.Compare && o.Type == chart.Report && !o.Page:
		return twoSides
	case o.Compare:
		return apart
	}
	return together
}

// checkPoints returns an error if a picture of runs is a page, or if a picture of load has one run.
func (o *Options) checkPoints(in *Inputs) error {
	switch {
	case o.Page && o.Type.Chart.Marks == chart.Dots:
		return message.Usagef("-type %s is a picture: give -of a name such as %[1]s.png", o.Type.Name)
	case in.division == eachRun && len(in.Scan.Runs()) == 1:
		return message.Usagef("-type load draws a point for each run, and there is one input: " +
			"give several, or -agg 10s for windows of one whose rate was raised")
	}
	return nil
}

// linePercentiles returns the percentiles of lines: those of -p, or else the default ones and those
// of limits.
func (o *Options) linePercentiles() []float64 {
	if o.Percentiles != nil {
		return o.Percentiles
	}
	all := []float64{99, 100}
	if o.Page || o.Type.Chart.Marks == chart.Dots { // DropLines keeps one of them for several series
		all = []float64{50, 99, 100}
	}
	for _, l := range o.Limits {
		if l.Percentile > 0 && !slices.Contains(all, l.Percentile) {
			all = append(all, l.Percentile)
		}
	}
	slices.Sort(all)
	return all
}

// newPicture returns a picture with the looks and axes of the options, and without data.
func (o *Options) newPicture() *chart.Picture {
	p := chart.New(o.Type)
	p.Looks = o.Looks
	p.Time = o.Axes.Time
	p.Values = o.Axes.Values
	return p
}

// setUnit sets the unit of a picture, and adds the limits, converted to this unit.
func (o *Options) setUnit(p *chart.Picture, scale hdrlog.Scale) error {
	p.Values.Unit = scale.Unit
	for _, l := range o.Limits {
		if l.Unit != 0 && scale.In == 0 {
			return message.Usagef("-sla %s: -unit must name the unit of the values", l.Text)
		}
		p.Values.Limits = append(p.Values.Limits, chart.Limit{Percentile: l.Percentile, Value: l.Printed(scale)})
	}
	return nil
}

// finish adds the marks of the user, drops lines if there are too many, and chooses the scale of
// the axis of values and the height.
func (o *Options) finish(std *message.Streams, p *chart.Picture) {
	p.Events.Marks = slices.Concat(marksOf(o.Marks, p), p.Events.Marks)
	switch {
	case o.Percentiles == nil:
		p.DropLines(o.Page)
	case o.Page || p.Type.HasLines():
		noteUndrawnLimits(std, p)
	}
	p.Values.Log = p.Values.Log || !o.Axes.Linear && p.Steep()
	if o.Units.Unit != "" {
		p.Values.Unit = axis.Fixed(p.Values.Unit)
	}
	if !o.HeightGiven {
		p.Looks.Height += chart.ForestHeight(len(p.Comparison.Effects))
	}
}

// marksOf converts marks to the times of a picture.
func marksOf(all []Mark, p *chart.Picture) (marks []chart.Mark) {
	for _, m := range all {
		marks = append(marks, chart.Mark{Time: m.in(p), Text: m.Text})
	}
	return marks
}

// in returns the time of a mark in a picture, in milliseconds from its origin.
func (m *Mark) in(p *chart.Picture) int64 {
	return m.When.At(float64(p.Time.Origin)/1000) - p.Time.Origin
}

// noteUndrawnLimits prints a notice for each limit of a percentile that no line shows.
func noteUndrawnLimits(std *message.Streams, p *chart.Picture) {
	drawn := p.LineLimits()
	for _, l := range p.Values.Limits {
		if !slices.ContainsFunc(drawn, func(one chart.Limit) bool { return one.Percentile == l.Percentile }) {
			std.Notef("no line shows %s, which -sla limits: -p %[1]s draws one", l.Name())
		}
	}
}
