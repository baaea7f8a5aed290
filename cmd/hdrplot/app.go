package main

import (
	"fmt"
	"io"
	"strings"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/draw"
	"hdrkit/internal/cli"
	"hdrkit/internal/logs"
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

// commandLine returns the command of hdrplot, and the flags that its options fill.
func commandLine() (*flags, *cli.Command) {
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrplot"},
		Usage:       "draw HdrHistogram logs",
		UsageText:   "hdrplot [options] [log ...]",
		Description: examples,
		Common: []string{"if", "incT", "by", "it", "compare", "s", "e", "type", "p", "in", "unit", "log",
			"agg", "sla", "of"},
		Separates: true,
	}
	f, options := newFlags(&c.Streams)
	c.Options = options
	c.Args = func(args []string, before int) error {
		names := &f.asked.Logs.Inputs.Names
		if before > 0 {
			f.asked.Separator = len(*names) + before
		}
		*names = append(*names, args...)
		return nil
	}
	c.Outputs = f.outputs
	c.Action = func() error {
		p, err := f.picture()
		if err != nil {
			return err
		}
		return p.draw()
	}
	return f, c
}

// draw reads the logs and writes the picture.
func (p *picture) draw() error {
	std := p.std
	diagnostics := logs.NewDiagnostics(std, p.asked.Logs.Run.Strict)
	in, err := p.asked.Find(std, diagnostics)
	if err != nil {
		return err
	}
	s := in.Scan
	path := p.file
	if path == "" {
		path = pathFor(s.Inputs[0].Name, p.format)
	}
	if p.file != "" && path != "-" { // without -of, the path may be an input: reading it reports the better error
		if err := logs.CheckOutput(path, std.Out, s.Inputs); err != nil {
			return err
		}
	}
	stop := logs.ShowProgress(s, std)
	drawn, err := p.asked.Gather(std, in)
	stop()
	if err != nil {
		return err
	}
	if drawn == nil {
		diagnostics.Close()
		return logs.NothingLeft(s)
	}
	if p.asked.Page && drawn.Looks.Title == "" {
		drawn.Looks.Title = logs.BaseName(path) // a page needs a title
	}
	write := func(w io.Writer) error { return draw.Write(w, drawn, p.format) }
	if err := logs.WriteFile(path, std.Out, s.Inputs, write); err != nil {
		return err
	}
	if path != "-" {
		p.printPath(drawn, path, s.Inputs[0].Name)
	}
	if draw.HasCodes(drawn, p.format) {
		p.std.Notef("%s has no letters of some names, and shows their codes; -of %s has them",
			strings.ToUpper(string(p.format)), pathFor(s.Inputs[0].Name, draw.SVG))
	}
	return diagnostics.Close()
}

// printPath prints the path of the picture. Before the path, it prints the results of a picture of
// load.
func (p *picture) printPath(drawn *chart.Picture, path, first string) {
	out := p.std.Out
	if drawn.Type == chart.Load { // its results are rates that scripts may need
		for _, text := range drawn.Results() {
			fmt.Fprintln(out, message.Printable(text))
		}
	}
	fmt.Fprintln(out, message.Printable(path))
	if p.file == "" && !p.chosen && message.Terminal(out) {
		p.std.Notef("-type report answers more in one picture, and -of %s writes a page to look around in",
			pathFor(first, draw.HTML))
	}
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
