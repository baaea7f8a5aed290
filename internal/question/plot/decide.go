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

// A decision has the facts that decide a plan. Its methods return parts of the plan, and the
// function decide assembles them.
type decision struct {
	asked    *Options
	std      *message.Streams
	units    *logs.Units
	division division
	by       *tags.By // decides which intervals form a series
	labels   labels
	scan     scan.Scan   // of the logs, without distributions
	drawn    *chart.Type // the type of the options, or [chart.Fleet] instead of a heat map
	surveyed *survey     // nil if the picture has no windows of time
	fleet    *fleet      // nil if the picture has no row for each log
}

// decide makes the plan for a picture of inputs.
func (o *Options) decide(std *message.Streams, units *logs.Units, in *Inputs) (*plan, error) {
	if o.Compare && o.Type == chart.Heatmap && !o.Page && len(in.Scan.Inputs) != 2 {
		return nil, message.Usagef("-compare with -type heatmap compares two inputs, before and after: there are %d; "+
			"-by input draws a map for each, and -type report takes several runs a side", len(in.Scan.Inputs))
	}
	d := &decision{
		asked:    o,
		std:      std,
		units:    units,
		division: in.division,
		by:       in.Scan.Rows.By,
		labels:   labelsOf(in.Scan.Inputs),
		scan:     *in.Scan,
		drawn:    o.Type,
	}
	p := &plan{
		by:      d.by,
		labels:  d.labels,
		headers: units.NewLogs(in.Scan.Memory),
		phases:  in.phases,
		look:    *o.newPicture(),
		judging: judging{o.Limits, o.Logs.Times.Zone, o.Logs.Omission.Expected > 0, in.diagnostics},
	}
	var err error
	if d.scan.Inputs, p.distributions, err = sortInputs(in.Scan.Inputs, p.headers); err != nil {
		return nil, err
	}
	if err := d.checkDistributions(p.distributions); err != nil {
		return nil, err
	}
	if p.scale, err = d.chooseScale(); err != nil {
		return nil, err
	}
	if err := o.setUnit(&p.look, p.scale); err != nil {
		return nil, err
	}
	if d.surveyed, err = d.surveyLogs(); err != nil {
		return nil, err
	}
	if d.fleet, err = d.fleetOf(); err != nil {
		return nil, err
	}
	if d.fleet != nil && o.Type == chart.Heatmap {
		d.drawn = chart.Fleet
	}
	d.setLook(&p.look)
	p.look.Inputs.Sources = sourcesOf(in.Scan.Inputs)
	p.needs = d.needsOf()
	p.content = d.contentOf()
	p.lines = d.linesOf(p.scale, p.look.Values.Limits)
	if p.needs.findings {
		if p.content.same, err = d.dropSameRequests(); err != nil {
			return nil, err
		}
	}
	if d.surveyed == nil && p.needs.overTime {
		folding, err := d.fold()
		if err != nil {
			return nil, err
		}
		p.lines.Fold, p.lines.FoldAt = folding.period, folding.start
		p.content.periods = folding.count
		p.look.Texts.Notes = append(p.look.Texts.Notes, folding.note)
	}
	p.parts = d.partsOf(in)
	return p, nil
}

// setLook sets the type, the height and the facets of a picture, and the names of the sources of
// its windows.
func (d *decision) setLook(p *chart.Picture) {
	p.Type = d.drawn
	p.Looks.Height = d.heightOf()
	if d.asked.Type == chart.Heatmap && !d.asked.Page && d.by.Inputs() {
		p.Looks.Facets = true // a map for each input
	}
	p.Inputs.Logs = d.sourceLabels()
}

// sortInputs separates logs from percentile distributions by their first lines. It adds the headers
// of logs, which have units.
func sortInputs(inputs []scan.Input, headers *logs.Logs) (logInputs, distributions []scan.Input, err error) {
	for _, input := range inputs {
		text, err := input.Peek(hgrm.DetectSize)
		if err != nil {
			return nil, nil, err
		}
		if hgrm.Detect(text) {
			distributions = append(distributions, input)
		} else {
			logInputs = append(logInputs, input)
			headers.Header(input.Name, text)
		}
	}
	return logInputs, distributions, nil
}

// checkDistributions returns an error if the picture or an option does not suit percentile
// distributions.
func (d *decision) checkDistributions(distributions []scan.Input) error {
	if len(distributions) == 0 {
		return nil
	}
	first := distributions[0].Name
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

// chooseScale returns the scale of the values of logs. Without logs, -unit only names the unit of
// distributions.
func (d *decision) chooseScale() (hdrlog.Scale, error) {
	if len(d.scan.Inputs) > 0 {
		if err := d.units.CheckLimit(gate.NeedsUnit(d.asked.Limits, &d.asked.Units)); err != nil {
			return hdrlog.Scale{}, err
		}
		return d.units.Scale(false)
	}
	printed := d.asked.Units
	printed.Ratio = cmp.Or(printed.Ratio, 1)
	if printed.Unit != "" {
		printed.In = 0
	}
	scale := printed.Scale(0)
	scale.Unit = cmp.Or(printed.Unit, printed.In.String())
	return scale, nil
}

// partsOf divides the logs into parts.
func (d *decision) partsOf(in *Inputs) (parts []part) {
	all := &d.scan
	switch {
	case d.division == twoSides:
		return d.sidesOf(in)
	case len(all.Inputs) == 0:
		return nil
	case d.division == apart:
		for n := range all.Inputs {
			single := *all
			single.Inputs = all.Inputs[n : n+1]
			parts = append(parts, part{scan: &single, label: d.labels.of(&single)})
		}
		return parts
	}
	return []part{{scan: all}}
}

// sidesOf returns a part for each side. The labels are before and after, or the labels of two logs.
func (d *decision) sidesOf(in *Inputs) (parts []part) {
	labels := []string{"before", "after"}
	sides := []*scan.Scan{in.sides.Before, in.sides.After}
	single := len(sides[0].Inputs) == 1 && len(sides[1].Inputs) == 1
	if one, other := d.labels.of(sides[0]), d.labels.of(sides[1]); single && one != other {
		labels = []string{one, other}
	}
	for n, side := range sides {
		scanned := *side
		scanned.Progress = in.Scan.Progress
		parts = append(parts, part{
			scan:      &scanned,
			label:     labels[n],
			runs:      len(scanned.Runs()),
			runsFirst: in.sides.Runs,
		})
	}
	return parts
}
