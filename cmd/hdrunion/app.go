package main

import (
	"errors"
	"io"
	"slices"
	"strconv"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/union"
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

func app() *urfave.App {
	return &urfave.App{
		Name:        "hdrunion",
		Usage:       "put HdrHistogram logs together",
		UsageText:   "hdrunion [options] [log ...]",
		Description: examples,
		Flags:       flags(),
		Action:      run,
		Metadata:    cli.Guide{Common: []string{"if", "tif", "incT", "excT", "it", "s", "e", "r", "grid", "of", "strict"}}.Metadata(),
	}
}

func flags() []urfave.Flag {
	return slices.Concat(cli.InputFlags(), []urfave.Flag{cli.TaggedInputFlag()}, cli.TagFlags("join"), []urfave.Flag{cli.IgnoreTagsFlag("join"), cli.UntaggedFlag()}, cli.RangeFlags(cli.Option{Needs: "s e"}), []urfave.Flag{
		&urfave.BoolFlag{Name: "r", Aliases: []string{"relative"}, Category: cli.GroupChoice,
			Usage: "let all logs start at the same time, 0"},
		cli.OmissionFlag(),
		cli.Option{Check: cli.Length, Flag: &urfave.StringFlag{Name: "grid", Category: cli.GroupOutput,
			Usage: "join the intervals of each window of `TIME`, such as 10s, by their middles; windows start at multiples of it; 0 is no grid"}},
		cli.Option{Check: cli.Length, Not: "grid", Flag: &urfave.StringFlag{Name: "tus", Aliases: []string{"targetUnionSec", "target-union-seconds"}, Category: cli.GroupOutput,
			Usage: "join in intervals of at least `TIME`; 0 leaves them as they are"}},
		cli.OutputFlag("write to `FILE`, not to standard output"),
	}, cli.RunFlags())
}

// run is the command: it checks the options, joins the logs and writes the result.
func run(c *urfave.Context) error {
	diagnostics := cli.NewDiagnostics(c.App.ErrWriter, c.App.Name, c.Bool("strict"))
	options := union.Options{Relative: c.Bool("r"), Grid: cli.Millis(c, "grid"), Target: cli.Millis(c, "tus"), Warn: diagnostics.Warnf}
	if c.Bool("v") {
		options.Observe = func(name string, line int, tag []byte, start, end, windowStart, windowEnd int64) {
			cli.Verbosef(c, "%s:%d: %s (%s to %s) goes to (%s to %s)", name, line, tags.Text(tag),
				seconds(start), seconds(end), seconds(windowStart), seconds(windowEnd))
		}
	}
	s, err := cli.NewScan(c, diagnostics)
	if err != nil {
		return err
	}
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q"))
	err = cli.WriteLog(c, s.Inputs, func(w io.Writer) error { return join(w, s, options) })
	stop()
	if err == errNothing {
		diagnostics.Close()
		return cli.NothingLeft(s)
	}
	if err != nil {
		return err
	}
	return diagnostics.Close()
}

var errNothing = errors.New("nothing to write")

// join writes the union, if there is any.
func join(w io.Writer, s *scan.Scan, options union.Options) error {
	count, err := union.Write(w, s, options)
	if err == nil && count == 0 {
		return errNothing
	}
	return err
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
