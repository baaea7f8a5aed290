// Package plot makes pictures of logs, in three steps, each with a type of its own. A decision
// makes a plan: which inputs there are, which of them add up, and what the picture takes of them.
// A reading reads the inputs of a plan. A dressing makes a picture of what was read.
//
// A trend has a way of its own, since it reads figures of runs and nothing else.
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

// Options say what to draw of which logs. The zero value of each but the type is the usual one.
type Options struct {
	Logs        logs.Options // options of the scan
	Units       unit.Options
	Type        *chart.Type
	Page        bool      // a page has all charts
	Compare     bool      // each log by itself, and not what several add up to
	Separator   int       // how many names are before --
	Percentiles []float64 // of lines, nil for the usual ones
	Windows     Windows
	HeightGiven bool // otherwise the picture is as high as its logs need
	Axes        Axes
	Limits      []gate.Limit
	Marks       []Mark
	Looks       chart.Looks
	// Sums, if set, takes the sums of logs that add up. Summaries then have their maxima over time.
	Sums func(units *logs.Units, side asked.Side) error
}

// Axes are the choices of the user about the axes of a picture. Unit and Limits of Values are not
// among them.
type Axes struct {
	Time   chart.TimeAxis
	Values chart.ValueAxis
	Linear bool // the axis of values is linear, also if that leaves most of it empty
}

// Windows say how a picture divides time, in milliseconds.
type Windows struct {
	// Length is that of windows. Given says that somebody chose it: otherwise long logs get
	// windows.
	Length int64
	Given  bool
	// Fold is a period of which a heat map shows the times, FoldFound the period that is found, and
	// 0 none.
	Fold int64
}

// A Mark is a text at a time.
type Mark struct {
	When scan.Bound
	Text string
}

// Inputs are the logs and percentile distributions of a picture.
type Inputs struct {
	Scan        *scan.Scan
	division    division
	phases      *scan.Phases  // that are drawn, nil if they are rows
	sides       compare.Sides // sides of a report that compares
	diagnostics *logs.Diagnostics
}

// Find finds the inputs, and those of each side of a report that compares.
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

// findPhases returns the phases to draw behind the data, nil if there are none or if they are rows.
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

// Gather returns the picture of inputs, or nil if nothing in them was asked for. Messages go to
// std. It reads each input once or twice.
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

// picture returns the picture of inputs, or nil if nothing in them was asked for.
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

// A division says which logs add up, and what becomes of the sums.
type division int

const (
	together division = iota // all logs add up, row by row
	apart                    // each log is by itself
	twoSides                 // the logs before a change are one side, and those after it the other
	eachRun                  // each run is a point of a chart of load
	overRuns                 // each run is a point of a trend
)

// byRun reports whether runs are read by themselves, each with its own start.
func (d division) byRun() bool { return d == twoSides || d == eachRun || d == overRuns }

// divisionBy returns how the picture divides logs, with what makes a row. A chart of load has a
// point for each run. Runs are inputs, with a curve for each tag, or one if tags add up; or the
// rows of -by, with one curve; or the windows of -agg, with a curve for each row.
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

// checkPoints checks that there are points for a picture of runs.
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

// levels returns the percentiles of lines: those of -p, or else the usual ones and those of limits.
func (o *Options) levels() []float64 {
	if o.Percentiles != nil {
		return o.Percentiles
	}
	all := []float64{99, 100}
	if o.Page || o.Type.Chart.Marks == chart.Dots { // of several series, one alone
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

// newPicture returns a picture without anything in it.
func (o *Options) newPicture() *chart.Picture {
	p := chart.New(o.Type)
	p.Looks = o.Looks
	p.Time = o.Axes.Time
	p.Values = o.Axes.Values
	return p
}

// setUnit sets the unit of a picture, and adds the limits in it.
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

// finish adds marks, drops lines that are too many, and chooses the axis of values and the height.
func (o *Options) finish(std *message.Streams, p *chart.Picture) {
	p.Events.Marks = slices.Concat(marksOf(o.Marks, p), p.Events.Marks)
	switch {
	case o.Percentiles == nil:
		p.KeepLines(o.Page)
	case o.Page || p.Type.Lined():
		nameUndrawn(std, p)
	}
	p.Values.Log = p.Values.Log || !o.Axes.Linear && p.Steep()
	if o.Units.Unit != "" {
		p.Values.Unit = axis.Fixed(p.Values.Unit)
	}
	if !o.HeightGiven {
		p.Looks.Height += chart.ForestHeight(len(p.Comparison.Effects))
	}
}

// marksOf returns marks as a picture has them.
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

// nameUndrawn says which limits no line is for. Charts without lines show all of them.
func nameUndrawn(std *message.Streams, p *chart.Picture) {
	drawn := p.LineLimits()
	for _, l := range p.Values.Limits {
		if !slices.ContainsFunc(drawn, func(one chart.Limit) bool { return one.Percentile == l.Percentile }) {
			std.Notef("no line shows %s, which -sla limits: -p %[1]s draws one", l.Name())
		}
	}
}
