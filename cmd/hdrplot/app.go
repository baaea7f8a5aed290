package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/draw"
	"hdrkit/internal/cli"
	"hdrkit/internal/scan/rotate"
	"hdrkit/internal/table/summary"
)

const examples = `examples:
   hdrplot run.hdr -unit ms                # run.png: the maximum over time
   hdrplot run.hdr -unit ms -p max,99.9,50 -of run.svg
   hdrplot run.hdr -unit ms -of run.html   # a page to look around in
   hdrplot run.hdr -unit ms -incT '.*-rt' -type heatmap -of heat.png
   hdrplot run.hdr -unit ms -incT '.*-rt' -type report     # for a ticket
   hdrplot before.hdr after.hdr -compare -type percentiles -of ba.png
   hdrplot '.*-rt.*\.hdr' -it -type percentiles -of rt.pdf
   hdrplot throttle-st.hgrm throttle-rt.hgrm -type percentiles -of co.png
   hdrplot run.hdr -facet tag -mark 26=deploy -of facets.png

exit status: 0, or 1 if nothing could be drawn, 2 for a wrong command line,
3 if malformed lines were skipped`

func app() *urfave.App {
	flags := append(append(cli.InputFlags(), append(cli.TagFlags("draw"), cli.RowFlags("draw")...)...), cli.UntaggedFlag())
	flags = append(flags,
		cli.Option{Flag: &urfave.BoolFlag{Name: "compare", Category: cli.GroupChoice, Usage: "draw each input by itself; otherwise several are added up, tag by tag"}, Only: inCharts},
	)
	flags = append(append(flags, cli.RangeFlags(cli.Option{})...), cli.UnitFlags()...)
	flags = append(flags, cli.OmissionFlag(),
		cli.Option{Check: cli.OneOf, Types: typeList(), Flag: &urfave.StringFlag{Name: "type", Value: chart.Timeline.Name, Category: cli.GroupOutput, Usage: "draw this `TYPE`, see below; percentiles takes .hgrm files, too"}},
		cli.Option{Flag: &urfave.StringFlag{Name: "p", Aliases: []string{"percentiles"}, Category: cli.GroupValues, DefaultText: "99,max, or max alone for more than 4 lines; in a page 50,99,max, or max alone of several tags", Usage: "show these `PERCENTILES` of each interval in a timeline, such as max,99.9,50"}, Only: []string{"type timeline", "format html"}},
		cli.RatioFlag(),
		&urfave.BoolFlag{Name: "log", Category: cli.GroupLook, Usage: "a logarithmic axis of values, the default where a few high values leave most of a linear one empty"},
		cli.Option{Flag: &urfave.BoolFlag{Name: "linear", Category: cli.GroupLook, Usage: "a linear axis of values"}, Only: []string{"type timeline", "type percentiles", "type report", "format html"}, Not: "log"},
		cli.Option{Check: cli.OneOf, Values: []string{"relative", "absolute"}, Flag: &urfave.StringFlag{Name: "time", Value: "relative", Category: cli.GroupLook, Usage: "the `KIND` of times: relative (since the log's start) or absolute (clock times)"}, Only: overTime},
		cli.AggregateFlag("as long as about 500 windows need; 0 keeps each interval, or its length where several inputs or tags are added up", cli.Option{Only: overTime}),
		&urfave.StringSliceFlag{Name: "sla", Category: cli.GroupLook, Usage: "draw a service level, a `LEVEL` such as 20 or 99<=5ms,99.9<=20ms, and shade what is above it; repeatable"},
		&urfave.StringFlag{Name: "of", Aliases: []string{"outputFile", "output-file"}, Category: cli.GroupOutput, Usage: "write to `FILE`, - is standard output (default the name of the first input, with the extension of the format)"},
		cli.Option{Check: cli.OneOf, Values: formats, Flag: &urfave.StringFlag{Name: "format", Category: cli.GroupOutput, Usage: "the `FORMAT`: png, svg, pdf or html (default the extension of -of, or png)"}},
		&urfave.Float64Flag{Name: "width", Value: 1200, Category: cli.GroupLook, Usage: "the width of the picture in `PIXELS` of 1/96 inch"},
		&urfave.Float64Flag{Name: "height", Value: 600, Category: cli.GroupLook, Usage: "the height of the picture in `PIXELS` of 1/96 inch"},
		&urfave.IntFlag{Name: "dpi", Value: 96, Category: cli.GroupLook, Usage: "the number of `DOTS` per inch of PNG: 192 makes it twice as sharp"},
		&urfave.StringFlag{Name: "title", Category: cli.GroupLook, Usage: "write `TEXT` above the picture"},
		cli.Option{Check: cli.OneOf, Values: []string{"tag"}, Flag: &urfave.StringFlag{Name: "facet", Category: cli.GroupLook, Usage: "draw a small chart for each `tag`, with the same axes"}, Only: inCharts},
		cli.Option{Flag: &urfave.StringSliceFlag{Name: "mark", Category: cli.GroupLook, Usage: "write a text at a time: a `TIME=TEXT` such as 26=deploy or 2016-07-18T00:07:00Z=deploy; repeatable"}, Only: overTime},
		&urfave.Float64Flag{Name: "ymin", Category: cli.GroupLook, Usage: "the lowest `VALUE` of the axis, after -ovr"},
		&urfave.Float64Flag{Name: "ymax", Category: cli.GroupLook, Usage: "the highest `VALUE` of the axis, after -ovr"},
		cli.Option{Check: cli.OneOf, Values: []string{"auto", "light", "dark"}, Flag: &urfave.StringFlag{Name: "theme", Value: "auto", Category: cli.GroupLook, Usage: "the `THEME`: light, dark or auto; auto is light for a picture, and the reader's preference for a page"}},
		cli.Option{Check: cli.Between(0.1, 1000), Flag: &urfave.Float64Flag{Name: "page-size", Value: 16, Category: cli.GroupLook, Usage: "the size of a page in `MB`; a page keeps each interval if they fit, and merges them by time otherwise"}},
	)
	return &urfave.App{
		Name:        "hdrplot",
		Usage:       "draw HdrHistogram logs",
		UsageText:   "hdrplot [options] [log ...]",
		Description: examples,
		Flags:       slices.Concat(flags, cli.Without(cli.RunFlags(), "v")),
		Action:      run,
		Metadata: cli.Guide{
			Common:  []string{"if", "incT", "by", "it", "compare", "s", "e", "type", "p", "unit", "log", "agg", "sla", "of", "format"},
			Steady:  summary.SkipWarmup,
			Outputs: outputs,
		}.Metadata(),
	}
}

// Some options are for pictures over time, and some for all but the report. A page takes all.
var (
	overTime = []string{"type timeline", "type heatmap", "type throughput", "type report", "format html"}
	inCharts = []string{"type timeline", "type percentiles", "type heatmap", "type throughput", "format html"}
)

// outputs returns what a command line draws.
func outputs(c *urfave.Context) []string {
	if format, _ := parseFormat(c, c.String("of")); format == draw.HTML {
		return []string{"format html"}
	}
	return []string{"type " + strings.ToLower(c.String("type"))}
}

// run checks the options, reads the logs and writes the picture.
func run(c *urfave.Context) error {
	o, err := parseOptions(c)
	if err != nil {
		return err
	}
	diagnostics := cli.NewDiagnostics(c.App.ErrWriter, c.App.Name, c.Bool("strict"))
	s, err := cli.NewScan(c, diagnostics)
	if err != nil {
		return err
	}
	path := o.of
	if path == "" {
		path = pathFor(s.Inputs[0].Name, o.format)
	}
	if o.of != "" && path != "-" { // an input that is a picture gets a better message later
		if err := cli.CheckOutput(path, c.App.Writer, s.Inputs); err != nil {
			return err
		}
	}
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q"))
	p, err := gather(c, s, o)
	stop()
	if err != nil {
		return err
	}
	if p == nil {
		diagnostics.Close()
		return cli.NothingLeft(s)
	}
	o.dress(p)
	if o.format == draw.HTML && p.Title == "" {
		p.Title = baseName(path) // a page needs one
	}
	err = cli.WriteFile(path, c.App.Writer, s.Inputs, func(w io.Writer) error { return draw.Write(w, p, o.format) })
	if err != nil {
		return err
	}
	if path != "-" {
		fmt.Fprintln(c.App.Writer, cli.Printable(path))
		if o.of == "" && !cli.Given(c, "type") && cli.Terminal(c.App.Writer) {
			cli.Notef(c, "-type report answers more in one picture, and -of %s writes a page to look around in", pathFor(s.Inputs[0].Name, draw.HTML))
		}
	}
	return diagnostics.Close()
}

// pathFor returns the default path of the picture: the name of the input in the current folder,
// with the extension of the format.
func pathFor(input string, format draw.Format) string {
	name := baseName(input)
	if input == "-" {
		name = "hdrplot"
	}
	return name + "." + string(format)
}

// baseName returns the name of an input without folder and extension.
func baseName(input string) string {
	name, _ := rotate.Plain(filepath.Base(input))
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		return short
	}
	return name
}
