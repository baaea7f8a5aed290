package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/draw"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/question/plot"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
)

// flags are the values of the options as the user typed them. The method picture checks them.
type flags struct {
	std       *message.Streams
	asked     plot.Options
	file      string   // -of
	format    string   // -format
	marks     []string // -mark
	megabytes float64  // -page-size
	given     struct{ kind, low, high bool }
}

// A picture says what to draw, and where to write the picture.
type picture struct {
	std    *message.Streams
	asked  plot.Options
	file   string // empty: named after the first input
	format draw.Format
	chosen bool // the user chose the type
}

// newFlags returns flags for a command that prints to std, and the options that fill them.
func newFlags(std *message.Streams) (*flags, []cli.Option) {
	f := &flags{std: std}
	f.asked.Logs.Inputs.UnitOf = f.asked.Units.Given
	f.asked.Logs.Inputs.Output = &f.file
	f.asked.Logs.Times.Steady = summary.SkipWarmup
	return f, f.define()
}

func (f *flags) define() []cli.Option {
	o := &f.asked
	return slices.Concat(cli.InputOptions(&o.Logs.Inputs), cli.TagOptions(&o.Logs.Tags, &o.Logs.Inputs, "draw"),
		cli.RowOptions(&o.Logs.Tags, "draw"), f.choiceOptions(), cli.TimeOptions(&o.Logs.Times, cli.Rules{}),
		cli.UnitOptions(&o.Units), f.typeOptions(), f.scaleOptions(), f.fileOptions(), f.lookOptions(), f.axisOptions(),
		cli.Without(cli.RunOptions(f.std, &o.Logs.Run), "v"))
}

// choiceOptions returns the options for phases, untagged inputs and comparisons.
func (f *flags) choiceOptions() []cli.Option {
	o := &f.asked
	phases := cli.PhasesOption(&o.Logs.Tags, &o.Units, "draw behind the data, or with -by phase a percentile curve for,")
	phases.Rules.Only = outputsTaking("phases")
	return []cli.Option{
		phases,
		cli.UntaggedOption(&o.Logs.Inputs),
		{
			Name:  "compare",
			Group: cli.GroupChoice,
			Value: cli.Bool(&o.Compare),
			Rules: cli.Rules{Only: outputsTaking("compare")},
			Usage: "draw each input by itself; otherwise several are added up, tag by tag",
		},
	}
}

// typeOptions returns the options for what is drawn.
func (f *flags) typeOptions() []cli.Option {
	o := &f.asked
	return []cli.Option{
		cli.OmissionOption(&o.Logs.Omission),
		{
			Name:  "type",
			Group: cli.GroupOutput,
			Types: typeList(),
			Value: cli.Pick(&o.Type, chart.Timeline.Name, typeNamed),
			Given: &f.given.kind,
			Usage: "draw this `TYPE`, see below; percentiles takes .hgrm files, too",
		},
		{
			Name:    "p",
			Aliases: "percentiles",
			Group:   cli.GroupValues,
			Value:   cli.Parsed(&o.Percentiles, "", asked.ParsePercentiles),
			Doubt:   cli.DoubtPercentiles,
			Rules:   cli.Rules{Only: outputsTaking("p")},
			Default: "99,max, or max alone for more than 8 tags; in a page 50,99,max, or max alone of several tags; 99 of many logs",
			Usage: "show these `PERCENTILES` of each interval in a timeline, such as max,99.9,50, or one, " +
				"such as 50, of many logs in a heat map or a report",
		},
		cli.RatioOption(&o.Units),
	}
}

// scaleOptions returns the options for the axes, windows and limits.
func (f *flags) scaleOptions() []cli.Option {
	o := &f.asked
	axes := &o.Axes
	return []cli.Option{
		{
			Name:   "log",
			Group:  cli.GroupRare,
			Hidden: true,
			Value:  cli.Bool(&axes.Values.Log),
			Usage:  "a logarithmic axis of values, the default where a few high values leave most of a linear one empty",
		},
		{
			Name:   "linear",
			Group:  cli.GroupRare,
			Hidden: true,
			Value:  cli.Bool(&axes.Linear),
			Rules:  cli.Rules{Only: outputsTaking("linear"), Not: "log"},
			Usage:  "a linear axis of values",
		},
		{
			Name:   "time",
			Group:  cli.GroupLook,
			Values: []string{"relative", "absolute"},
			Value:  cli.Pick(&axes.Time.Absolute, "relative", cli.Is("absolute")),
			Rules:  cli.Rules{Only: outputsTaking("time")},
			Usage:  "the `KIND` of times: relative (since the log's start) or absolute (clock times)",
		},
		cli.AggregateOption(&o.Windows.Length, cli.Option{
			Rules: cli.Rules{Only: outputsTaking("agg")},
			Given: &o.Windows.Given,
			Default: "as long as about 500 windows need; 0 keeps each interval, or its length where " +
				"several inputs or tags are added up",
		}),
		{
			Name:  "fold",
			Group: cli.GroupLook,
			Value: cli.Parsed(&o.Windows.Fold, "", parseFold),
			Rules: cli.Rules{
				Only: typesWith("fold"),
				Not:  "compare agg",
				Why:  "-fold lays periods over one another",
			},
			Default: "none",
			Usage: "draw a heat map of the time in a period: a `TIME` such as 37s, or auto, the period " +
				"of spikes that come at even times",
		},
		{
			Name:  "sla",
			Doubt: gate.Doubt,
			Group: cli.GroupLook,
			Value: cli.Each(&o.Limits, gate.ParseDrawn),
			Usage: "draw a service level, a `LEVEL` such as 20 or 99<=5ms,99.9<=20ms, and shade " +
				"what is above it; repeatable",
		},
	}
}

// fileOptions returns the options for the file, its format and its size.
func (f *flags) fileOptions() []cli.Option {
	o := &f.asked
	look := &o.Looks
	return []cli.Option{
		cli.OutputOption(&f.file, "write to `FILE`, - is standard output (default the name of the "+
			"first input, with the extension of the format)"),
		{
			Name:   "format",
			Group:  cli.GroupOutput,
			Values: formats,
			Value:  cli.Choice(&f.format, ""),
			Usage:  "the `FORMAT`: png, svg, pdf or html (default the extension of -of, or png)",
		},
		{
			Name:  "width",
			Group: cli.GroupLook,
			Value: cli.Float(&look.Width, "1200", cli.AnyNumber),
			Usage: "the width of the picture in `PIXELS` of 1/96 inch",
		},
		{
			Name:  "height",
			Group: cli.GroupLook,
			Value: cli.Float(&look.Height, "600", cli.AnyNumber),
			Given: &o.HeightGiven,
			Usage: "the height of the picture in `PIXELS` of 1/96 inch",
		},
		{
			Name:   "dpi",
			Group:  cli.GroupRare,
			Hidden: true,
			Value:  cli.Int(&look.DPI, "96", cli.AnyNumber),
			Usage:  "the number of `DOTS` per inch of PNG: 192 makes it twice as sharp",
		},
	}
}

// lookOptions returns the options for the title, facets and marks.
func (f *flags) lookOptions() []cli.Option {
	o := &f.asked
	look := &o.Looks
	return []cli.Option{
		{
			Name:  "title",
			Group: cli.GroupLook,
			Value: cli.Text(&look.Title, ""),
			Usage: "write `TEXT` above the picture",
		},
		{
			Name:   "facet",
			Group:  cli.GroupLook,
			Values: []string{"tag"},
			Value:  cli.Pick(&look.Facets, "", cli.Is("tag")),
			Rules:  cli.Rules{Only: outputsTaking("facet")},
			Usage:  "draw a small chart for each `tag`, with the same axes",
		},
		{
			Name:  "mark",
			Group: cli.GroupLook,
			Value: cli.List(&f.marks),
			Rules: cli.Rules{Only: outputsTaking("mark")},
			Usage: "write a text at a time: a `TIME=TEXT` such as 26=deploy or 2016-07-18T00:07:00Z=deploy; repeatable",
		},
	}
}

// axisOptions returns options that users seldom need.
func (f *flags) axisOptions() []cli.Option {
	o := &f.asked
	look := &o.Looks
	return []cli.Option{
		{
			Name:   "ymin",
			Group:  cli.GroupRare,
			Hidden: true,
			Value:  cli.Float(&o.Axes.Values.Low, "0", cli.AnyNumber),
			Given:  &f.given.low,
			Usage:  "the lowest `VALUE` of the axis",
		},
		{
			Name:   "ymax",
			Group:  cli.GroupRare,
			Hidden: true,
			Value:  cli.Float(&o.Axes.Values.High, "0", cli.AnyNumber),
			Given:  &f.given.high,
			Usage:  "the highest `VALUE` of the axis",
		},
		{
			Name:   "theme",
			Group:  cli.GroupRare,
			Hidden: true,
			Values: []string{"auto", "light", "dark"},
			Value:  cli.Pick(&look.Theme, "auto", func(name string) string { return strings.TrimPrefix(name, "auto") }),
			Usage: "the `THEME`: light, dark or auto; auto is light for a picture, and the " +
				"reader's preference for a page",
		},
		{
			Name:   "page-size",
			Group:  cli.GroupRare,
			Hidden: true,
			Value:  cli.Float(&f.megabytes, "16", cli.Between(0.1, 1000)),
			Usage: "the size of a page in `MB`; a page keeps each interval if they fit, and merges " +
				"them by time otherwise",
		},
	}
}

var formats = []string{"png", "svg", "pdf", "html"}

// typeList returns the types for help.
func typeList() (all []cli.Type) {
	for _, t := range chart.Types {
		all = append(all, cli.Type{Name: t.Name, What: t.What})
	}
	return all
}

func typeNamed(name string) *chart.Type {
	return chart.Types[slices.IndexFunc(chart.Types, func(t *chart.Type) bool { return t.Name == name })]
}

// outputsTaking returns the outputs that take an option: types, and a page.
func outputsTaking(option string) []string { return append(typesWith(option), "format html") }

// typesWith returns the types that take an option.
func typesWith(option string) (all []string) {
	for _, t := range chart.Types {
		if t.Takes(option) {
			all = append(all, "type "+t.Name)
		}
	}
	return all
}

// outputs returns what a command line draws.
func (f *flags) outputs() []string {
	if format, _ := f.formatOf(); format == draw.HTML {
		return []string{"format html"}
	}
	return []string{"type " + f.asked.Type.Name}
}

// picture checks the flags and returns the picture to draw.
func (f *flags) picture() (*picture, error) {
	format, err := f.formatOf()
	if err != nil {
		return nil, err
	}
	p := &picture{
		std:    f.std,
		asked:  f.asked,
		file:   f.file,
		format: format,
		chosen: f.given.kind,
	}
	o := &p.asked
	o.Logs.Tags.DrawnPhases = true
	if o.Compare {
		o.Logs.Times.SeparateOption = "compare"
	}
	if err := o.Units.Validate(); err != nil {
		return nil, message.Usagef("-unit: %w", err)
	}
	o.Axes.Time.Zone = o.Logs.Times.Zone
	o.Looks.PageSize = int(f.megabytes * 1e6)
	o.Page = format == draw.HTML
	if o.Marks, err = parseMarks(f.marks, o.Logs.Times.Zone); err != nil {
		return nil, err
	}
	if o.Type == chart.Report && o.Page { // each page has all charts of a report
		o.Type = chart.Timeline
	}
	if err := setHeight(o); err != nil {
		return nil, err
	}
	if err := draw.Check(o.Type, &o.Looks); err != nil {
		return nil, message.Usagef("-width, -height and -dpi: %w", err)
	}
	return p, f.checkAxis(o)
}

// setHeight raises the height of reports and of differences, unless the user chose it.
func setHeight(o *plot.Options) error {
	look := &o.Looks
	isDifference := o.Compare && o.Type == chart.Heatmap && !o.Page
	if isDifference && look.Facets {
		return message.Usagef("-facet and -compare do not go together with -type heatmap: choose a tag with -incT")
	}
	if o.HeightGiven || !isDifference && o.Type != chart.Report {
		return nil
	}
	look.Height = 900
	if o.Compare && o.Type == chart.Report {
		look.Height = 1200
	}
	return nil
}

// checkAxis checks the ends of the axis of values, and that marks have a place on the axis of time.
func (f *flags) checkAxis(o *plot.Options) error {
	low, high := o.Axes.Values.Low, o.Axes.Values.High
	hasClockTime := func(m plot.Mark) bool { return m.When.Origin != scan.LogStart }
	switch {
	case !(low >= 0) || !(high >= 0) || f.given.high && high <= low:
		return message.Usagef("-ymin %v and -ymax %v: an axis goes from 0 or more to a higher value", low, high)
	case low == 0 && f.given.low && (o.Axes.Values.Log || o.Type.Chart.Log):
		return message.Usagef("-ymin 0: a logarithmic axis begins above 0")
	case o.Compare && !o.Axes.Time.Absolute && slices.ContainsFunc(o.Marks, hasClockTime):
		return message.Usagef("-mark: logs that are laid over one another by -compare have no clock " +
			"time; -time absolute, or a time since the start, has one")
	}
	return nil
}

// formatOf returns the format of -format, or else the format of the extension of -of.
func (f *flags) formatOf() (draw.Format, error) {
	path := f.file
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if path == "-" && message.Terminal(f.std.Out) {
		return "", message.Usagef("-of -: standard output is a terminal, which cannot show a " +
			"picture; -of FILE writes a file")
	}
	if f.format != "" {
		if extension != f.format && slices.Contains(formats, extension) {
			return "", message.Usagef("-of %s and -format %s name different formats", path, f.format)
		}
		return draw.Format(f.format), nil
	}
	switch {
	case path == "":
		return draw.PNG, nil
	case path == "-":
		return "", message.Usagef("-of -: -format must name the format of standard output, one of %s",
			strings.Join(formats, ", "))
	case !slices.Contains(formats, extension):
		return "", message.Usagef("-of %s: the name ends with none of .%s", path,
			strings.Join(formats, ", ."))
	}
	return draw.Format(extension), nil
}

// parseMarks parses marks such as 26=deploy. Their times have the format of -s.
func parseMarks(texts []string, zone *time.Location) (marks []plot.Mark, err error) {
	for _, text := range texts {
		at, label, found := strings.Cut(text, "=")
		if !found || label == "" {
			return nil, message.Usagef("-mark %q: give a time, =, and a text", text)
		}
		when, ok := scan.ParseTime(at, zone)
		if !ok || when.Origin == scan.LogEnd {
			return nil, message.Usagef("-mark %q: %q is no time: give seconds, a duration such as "+
				"1m30s, or a time such as 2016-07-18 00:07:00", text, at)
		}
		marks = append(marks, plot.Mark{When: when, Text: label})
	}
	return marks, nil
}

// parseFold parses the value of -fold as milliseconds. For auto it returns [plot.FoldFound].
func parseFold(text string) (int64, error) {
	if text == "auto" {
		return plot.FoldFound, nil
	}
	seconds, ok := scan.ParseSeconds(text)
	if !ok || !(seconds >= 0.001 && seconds <= 1e9) {
		return 0, message.Usagef("-fold %q is no length of time such as 37s, nor auto", text)
	}
	return logline.Millis(seconds), nil
}
