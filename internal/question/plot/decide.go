package plot

import (
	"cmp"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
	"hdrkit/output/hgrm"
	"hdrkit/tags"
)

// A plan says which inputs a picture has, what to read from them, and what the picture shows. A
// decision makes the plan before any payload is read, and nothing changes it afterwards.
type plan struct {
	by            *tags.By // decides which intervals form a series
	labels        labels
	headers       *logs.Logs   // comments of all logs
	phases        *scan.Phases // of -phases, nil if no phases are drawn
	parts         []part
	distributions []scan.Input
	needs         needs
	content       content
	lines         collect.Options // of lines and counts over time
	scale         hdrlog.Scale    // of the values of logs
	judging       judging
	look          chart.Picture // has the type, the looks, the axes and the limits, and no data
}

// A part of a plan is a group of logs that add up, row by row. Without -compare, all logs are one
// part, whose label is empty.
type part struct {
	scan      *scan.Scan
	label     string
	runs      int  // number of runs of a side, 0 if the part is not a side
	runsFirst bool // each run is added up before all runs are added up
}

// isSide reports whether the part is a side of a report that compares.
func (p *part) isSide() bool { return p.runs > 0 }

// A decision makes a plan. Its methods run in the order in which decide calls them.
type decision struct {
	asked    *Options
	plan     *plan
	std      *message.Streams
	units    *logs.Units
	division division
	scan     scan.Scan   // of the logs, without distributions
	surveyed *survey     // nil if the picture has no windows of time
	drawn    *chart.Type // the type of the options, or [chart.Fleet] instead of a heat map
	fleet    *fleet      // nil if the picture has no row for each log
}

// decide makes the plan for a picture of inputs.
func (o *Options) decide(std *message.Streams, units *logs.Units, in *Inputs) (*plan, error) {
	d := &decision{
		asked:    o,
		std:      std,
		units:    units,
		division: in.division,
		scan:     *in.Scan,
		drawn:    o.Type,
		plan: &plan{
			by:      in.Scan.By,
			labels:  labelsOf(in.Scan.Inputs),
			headers: units.NewLogs(in.Scan.Memory),
			phases:  in.phases,
			look:    *o.newPicture(),
			judging: judging{o.Limits, o.Logs.Times.Zone, o.Logs.Omission.Expected > 0, in.diagnostics},
		},
	}
	d.plan.look.Inputs.Sources = sourcesOf(in.Scan.Inputs)
	if o.Type == chart.Heatmap && !o.Page && in.Scan.By.Inputs() {
		d.plan.look.Looks.Facets = true // a map for each machine
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
	if err := d.surveyLogs(); err != nil {
		return nil, err
	}
	if err := d.chooseFleet(); err != nil {
		return nil, err
	}
	d.plan.needs = d.needsOf()
	d.plan.content = d.contentOf()
	if err := d.dropSameRequests(); err != nil {
		return nil, err
	}
	if err := d.setLines(); err != nil {
		return nil, err
	}
	d.divide(in)
	return d.plan, nil
}

// sortInputs separates logs from percentile distributions by their first lines. It reads the units
// of logs from their headers.
func (d *decision) sortInputs(inputs []scan.Input) error {
	d.scan.Inputs = nil
	for _, input := range inputs {
		text, err := input.Begin(hgrm.DetectSize)
		if err != nil {
			return err
		}
		if hgrm.Detect(text) {
			d.plan.distributions = append(d.plan.distributions, input)
		} else {
			d.scan.Inputs = append(d.scan.Inputs, input)
			d.plan.headers.Header(input.Name, text)
		}
	}
	if len(d.plan.distributions) == 0 {
		return nil
	}
	first := d.plan.distributions[0].Name
	if d.drawn.Chart.Marks != chart.Curves {
		return message.Usagef("%s is a percentile distribution, which knows of no time: -type percentiles draws it", first)
	}
	if option := d.needsLogs(); option != "" {
		return message.Usagef("%s is a percentile distribution, but -%s needs logs", first, option)
	}
	return nil
}

// needsLogs returns the name of a given option that has no effect on percentile distributions,
// empty if there is none. With logs beside the distributions, most options have an effect.
func (d *decision) needsLogs() string {
	alone := len(d.scan.Inputs) == 0
	for _, given := range []struct {
		option string
		is     bool
	}{
		{"co", d.asked.Logs.Omission.Expected > 0},
		{"s", alone && d.asked.Logs.Times.From != ""},
		{"e", alone && d.asked.Logs.Times.To != ""},
		{"incT", alone && d.asked.Logs.Tags.Include != nil},
		{"excT", alone && d.asked.Logs.Tags.Exclude != nil},
	} {
		if given.is {
			return given.option
		}
	}
	return ""
}

// setScale sets the scale of the values of logs, and the unit and limits of the picture. Without
// logs, -unit only names the unit of distributions.
func (d *decision) setScale() (err error) {
	printed := d.asked.Units
	printed.Ratio = cmp.Or(printed.Ratio, 1)
	if printed.Unit != "" {
		printed.In = 0
	}
	d.plan.scale = printed.Scale(0)
	d.plan.scale.Unit = cmp.Or(printed.Unit, printed.In.String())
	if len(d.scan.Inputs) > 0 {
		if err := d.units.CheckLimit(gate.NeedsUnit(d.asked.Limits, &d.asked.Units)); err != nil {
			return err
		}
		if d.plan.scale, err = d.units.Scale(false); err != nil {
			return err
		}
	}
	return d.asked.setUnit(&d.plan.look, d.plan.scale)
}

// divide divides the logs into the parts of the plan.
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
			d.plan.parts = append(d.plan.parts, part{scan: &one, label: d.plan.labels.of(&one)})
		}
	default:
		d.plan.parts = []part{{scan: all}}
	}
}

// addSides adds a part for each side. The labels are before and after, or the labels of two logs.
func (d *decision) addSides(in *Inputs) {
	labels := []string{"before", "after"}
	sides := []*scan.Scan{in.sides.Before, in.sides.After}
	single := len(sides[0].Inputs) == 1 && len(sides[1].Inputs) == 1
	if one, other := d.plan.labels.of(sides[0]), d.plan.labels.of(sides[1]); single && one != other {
		labels = []string{one, other}
	}
	for n, side := range sides {
		one := *side
		one.Progress = in.Scan.Progress
		d.plan.parts = append(d.plan.parts, part{
			scan:      &one,
			label:     labels[n],
			runs:      len(one.Runs()),
			runsFirst: in.sides.Runs,
		})
	}
}
