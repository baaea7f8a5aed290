package main

import (
	"fmt"
	"io"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/draw"
	"hdrkit/internal/cli"
	"hdrkit/internal/logs"
	"hdrkit/internal/summary"
)

const examples = `examples:
   hdrplot run.hdr -unit ms                # run.png: p99 and max over time
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

func app() *cli.Command {
	_, c := commandLine()
	return c
}

// commandLine returns a command and the options that it fills.
func commandLine() (*options, *cli.Command) {
	o := new(options)
	o.Logs.Inputs.UnitOf = o.Units.Given
	o.Logs.Times.Steady = summary.SkipWarmup
	o.Logs.Inputs.Output = &o.of
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrplot"},
		Usage:       "draw HdrHistogram logs",
		UsageText:   "hdrplot [options] [log ...]",
		Description: examples,
		Common: []string{"if", "incT", "by", "it", "compare", "s", "e", "type", "p", "unit", "log",
			"agg", "sla", "of"},
		Args: func(args []string, before int) error {
			if before > 0 {
				o.Separator = len(o.Logs.Inputs.Names) + before
			}
			o.Logs.Inputs.Names = append(o.Logs.Inputs.Names, args...)
			return nil
		},
		Separates: true,
	}
	c.Options = o.define(&c.Streams)
	c.Outputs = func() []string { return o.outputs(&c.Streams) }
	c.Action = func() error { return run(&c.Streams, o) }
	return o, c
}

// run reads the logs and writes the picture.
func run(std *message.Streams, o *options) error {
	if err := o.check(std); err != nil {
		return err
	}
	diagnostics := logs.NewDiagnostics(std, o.Logs.Run.Strict)
	in, err := o.Find(std, diagnostics)
	if err != nil {
		return err
	}
	s := in.Scan
	path := o.of
	if path == "" {
		path = pathFor(s.Inputs[0].Name, o.format)
	}
	if o.of != "" && path != "-" { // an input that is a picture gets a better message later
		if err := logs.CheckOutput(path, std.Out, s.Inputs); err != nil {
			return err
		}
	}
	stop := logs.ShowProgress(s, std)
	p, err := o.Gather(std, in)
	stop()
	if err != nil {
		return err
	}
	if p == nil {
		diagnostics.Close()
		return logs.NothingLeft(s)
	}
	if o.Page && p.Title == "" {
		p.Title = logs.BaseName(path) // a page needs one
	}
	err = logs.WriteFile(path, std.Out, s.Inputs, func(w io.Writer) error { return draw.Write(w, p, o.format) })
	if err != nil {
		return err
	}
	if path != "-" {
		if p.Type == chart.Load { // the question was up to which rate limits hold
			for _, text := range p.Results() {
				fmt.Fprintln(std.Out, message.Printable(text))
			}
		}
		fmt.Fprintln(std.Out, message.Printable(path))
		if o.of == "" && !o.given.kind && message.Terminal(std.Out) {
			std.Notef("-type report answers more in one picture, and -of %s writes a page to look around in",
				pathFor(s.Inputs[0].Name, draw.HTML))
		}
	}
	return diagnostics.Close()
}

// pathFor returns the default path of the picture: the name of the input in the current folder,
// with the extension of the format.
func pathFor(input string, format draw.Format) string {
	name := logs.BaseName(input)
	if input == "-" {
		name = "hdrplot"
	}
	return name + "." + string(format)
}
