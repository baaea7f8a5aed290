package main

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/union"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

const examples = `examples:
   hdrunion node1.hdr node2.hdr -of all.hdr   # by HdrLogProcessing's rules
   hdrunion 'node.*\.hdr' -grid 10s -of all.hdr.zst    # clocks may differ
   hdrunion -tif READ=load-gen1.hdr -tif WRITE=load-gen3.hdr
   hdrunion 'run.*\.hdr' -r -of runs.hdr  # as if all had started at once
   hdrunion 'node.*\.hdr' -grid 10s | hdrsum -unit ms
   zstdcat a.hdr.zst | hdrunion - b.hdr.gz -of c.hdr

exit status: 0, or 1 if nothing could be joined, 2 for a wrong command line,
3 if malformed lines were skipped`

// options are the values of the command line.
type options struct {
	logs.Options
	union  union.Options
	units  unit.Options
	output string
}

func app() *cli.Command {
	o := new(options)
	o.Inputs.UnitOf = o.units.Given
	o.Inputs.Output = &o.output
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrunion"},
		Usage:       "put HdrHistogram logs together",
		UsageText:   "hdrunion [options] [log ...]",
		Description: examples,
		Common:      []string{"if", "tif", "incT", "excT", "it", "s", "e", "r", "grid", "of", "strict"},
		Args:        cli.Arguments(&o.Inputs),
	}
	tagged := []cli.Option{cli.TaggedInputOption(&o.Inputs)}
	tags := []cli.Option{cli.IgnoreTagsOption(&o.Tags, "join"), cli.UntaggedOption(&o.Inputs)}
	tags = append(cli.TagOptions(&o.Tags, &o.Inputs, "join"), tags...)
	times := cli.TimeOptions(&o.Times, cli.Rules{Needs: "s e"})
	c.Options = slices.Concat(cli.InputOptions(&o.Inputs), tagged, tags, times, []cli.Option{
		{
			Name:    "r",
			Aliases: "relative",
			Group:   cli.GroupChoice,
			Value:   cli.Bool(&o.union.Relative),
			Usage:   "let all logs start at the same time, 0",
		},
		cli.OmissionOption(&o.Omission), cli.InOption(&o.units),
		{
			Name:  "grid",
			Group: cli.GroupOutput,
			Value: cli.Length(&o.union.Grid, ""),
			Usage: "join the intervals of each window of `TIME`, such as 10s, by their middles; " +
				"windows start at multiples of it; 0 is no grid",
		},
		{
			Name:    "tus",
			Aliases: "targetUnionSec target-union-seconds",
			Group:   cli.GroupOutput,
			Rules:   cli.Rules{Not: "grid"},
			Value:   cli.Length(&o.union.Target, ""),
			Usage:   "join in intervals of at least `TIME`; 0 leaves them as they are",
		},
		cli.OutputOption(&o.output, "write to `FILE`, not to standard output"),
	}, cli.RunOptions(&c.Streams, &o.Run))
	c.Action = func() error { return run(&c.Streams, o) }
	return c
}

// run joins the logs, and writes the result.
func run(std *message.Streams, o *options) error {
	diagnostics := logs.NewDiagnostics(std, o.Run.Strict)
	o.union.Warn = diagnostics.Warnf
	if o.union.Relative {
		o.Times.SeparateOption = "r"
	}
	if o.Run.Verbose {
		o.union.Observe = func(m union.Member) {
			std.Verbosef("%s:%d: %s (%s to %s) goes to (%s to %s)", m.Name, m.Line, tags.Text(m.Tag),
				seconds(m.Start), seconds(m.End), seconds(m.WindowStart), seconds(m.WindowEnd))
		}
	}
	s, err := o.Scan(std, diagnostics)
	if err != nil {
		return err
	}
	if err := logs.CheckNames(&o.units, s.Inputs); err != nil {
		return err
	}
	o.union.Given = o.units.Given
	stop := logs.ShowProgress(s, std)
	err = logs.WriteLog(o.output, std.Out, s.Inputs, o.Run.Strict, func(w io.Writer) error { return join(w, s, o.union) })
	stop()
	if err == errNothing {
		diagnostics.Close()
		return logs.NothingLeft(s)
	}
	if err != nil {
		return err
	}
	return diagnostics.Close()
}

var errNothing = errors.New("nothing to write")

// join writes the union of the logs to w. It returns errNothing if the logs have no intervals.
func join(w io.Writer, s *scan.Scan, options union.Options) error {
	count, err := union.Write(w, s, options)
	if err == nil && count == 0 {
		return errNothing
	}
	return err
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
