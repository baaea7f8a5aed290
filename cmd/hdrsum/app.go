package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

const examples = `examples:
   hdrsum throughput.hdr                             a table on a terminal, percentiles in a pipe or a file
   hdrsum throughput.hdr -in ns -unit ms             the same in milliseconds
   hdrsum -if throughput.hdr -ovr 1000000            values in nanoseconds, printed in milliseconds, by tag
   hdrsum -if throughput.hdr -incT '.*-rt' -it       the response times of all operations together
   hdrsum -if '.*-rt\.fixed\.hdr' -ovr 1000 -it     all logs whose name matches
   hdrsum -if throughput.hdr -st hgrm -of tpt        tpt.TAG.hgrm for every tag
   hdrsum -s 60 -e 5m throughput.hdr                 the second to the fifth minute
   zstdcat run.hdr.zst | hdrsum -if - -st json       from a pipe, as JSON
   hdrsum -if fixed.hdr -st timeline -ovr 1000000    CSV with a row for each interval
   hdrsum -if fixed.hdr -st ndjson -agg 10           JSON lines, intervals merged to ten seconds
   hdrsum -if fixed.hdr -st openmetrics -ovr 1e9 -metric request_latency_seconds
   hdrsum -if fixed.hdr -st influx -ovr 1e6 -precision ms
   hdrsum -follow -agg 1 -if 'node.*\.hdr' -ovr 1e9 -metric request_latency_seconds -listen 127.0.0.1:9103
   hdrsum -if fixed.hdr -in ns -sla 'p99<=250ms,throughput>=10'
   hdrsum -baseline before.hdr -if after.hdr -ovr 1e6 -sla '50<=+20%'

exit status: 0, or 1 if nothing could be summarized, 2 for a wrong command line, 3 if malformed lines were skipped or
intervals came too late for a row, 4 if a limit of -sla does not hold`

func app() *urfave.App {
	return &urfave.App{
		Name:        "hdrsum",
		Usage:       "summarize HdrHistogram logs",
		UsageText:   "hdrsum [options] [log ...]",
		Description: examples,
		Flags:       flags(),
		Action:      run,
		Metadata: cli.Guide{
			Common:  []string{"if", "incT", "excT", "it", "s", "e", "st", "of", "lt", "unit", "in", "ovr", "p", "agg", "sla", "baseline", "strict"},
			Choices: map[string][]string{"st": types(), "period": summary.Modes, "precision": output.Precisions},
		}.Metadata(),
	}
}

func flags() []urfave.Flag {
	return slices.Concat(cli.InputFlags(), cli.TagFlags("summarize"), []urfave.Flag{cli.IgnoreTagsFlag("summarize"), cli.UntaggedFlag()}, cli.RangeFlags(), []urfave.Flag{
		&urfave.StringFlag{Name: "st", Aliases: []string{"summaryType", "summary-type"}, Value: "percentiles", Category: cli.GroupOutput,
			Usage: "print this `TYPE`: " + strings.Join(types(), ", "), DefaultText: "table on a terminal, otherwise percentiles"},
		cli.OutputFlag("write to `FILE`; hgrm and csv write FILE.TAG.hgrm or .csv for each tag"),
		&urfave.BoolFlag{Name: "lt", Aliases: []string{"list-tags"}, Category: cli.GroupOutput,
			Usage: "list the tags with their counts of intervals and values, and nothing else"},
		&urfave.StringFlag{Name: "period", Value: "covered", Category: cli.GroupOutput,
			Usage: "how to find the period, a `MODE`: covered, the time that the inputs cover together; sum, one input after another; or intervals, the lengths of all intervals"},
		&urfave.BoolFlag{Name: "its", Aliases: []string{"ignoreTimeStamps", "ignore-time-stamps"}, Category: cli.GroupOutput,
			Usage: "the same as -period intervals"},
		cli.RatioFlag(),
	}, cli.UnitFlags(), []urfave.Flag{
		cli.PercentilesFlag("50,90,99,99.9,99.99,99.999", "print these `PERCENTILES`"),
		cli.OmissionFlag(),
		&urfave.IntFlag{Name: "tph", Aliases: []string{"percentilesOutputTicksPerHalf", "ticks-per-half"}, Value: 5, Category: cli.GroupValues,
			Usage: fmt.Sprintf("print this number of `STEPS` in each half of the distance to 100%%, in hgrm, up to %d", maxTicks)},
		&urfave.Float64Flag{Name: "obs", Aliases: []string{"outputBucketSize", "output-bucket-size"}, Value: 100, Category: cli.GroupValues,
			Usage: "the `SIZE` of a bin of csv, and of the first bin of csve, in printed units"},
		cli.AggregateFlag(""),
	}, cli.MovingFlags(), []urfave.Flag{
		&urfave.StringFlag{Name: "metric", Value: "latency", Category: cli.GroupSeries,
			Usage: "the `NAME` of the metric of openmetrics, and of the measurement of influx"},
		&urfave.StringFlag{Name: "precision", Value: "ns", Category: cli.GroupSeries,
			Usage: "the `UNIT` of times in influx: " + strings.Join(output.Precisions, ", ")},
		&urfave.BoolFlag{Name: "buckets", Category: cli.GroupSeries,
			Usage: "write openmetrics as a histogram, not as a summary"},
		&urfave.StringSliceFlag{Name: "sla", Category: cli.GroupLimits,
			Usage: "check `LIMITS` such as 99<=5,p99.9<=20ms,insert-rt:max<=100,throughput>=1000, and exit with 4 if one does not hold; with -baseline also relative ones, 99<=+10%; repeatable"},
		&urfave.StringSliceFlag{Name: "baseline", Category: cli.GroupLimits,
			Usage: "compare with `LOG`, which is chosen as by -if; repeatable"},
	}, liveFlags(), cli.RunFlags())
}

// run is the command: it checks the options and does what they ask.
func run(c *urfave.Context) error {
	o, err := parseOptions(c)
	if err != nil {
		return err
	}
	g, err := parseGates(c)
	if err != nil {
		return err
	}
	diagnostics := cli.NewDiagnostics(c.App.ErrWriter, c.App.Name, c.Bool("strict"))
	if o.live.follow {
		return runFollow(c, diagnostics, o, &g)
	}
	s, err := cli.NewScan(c, diagnostics, c.StringSlice("incT"), c.StringSlice("excT"))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(s.Inputs, func(input scan.Input) bool { return input.Once }) {
		// What writes to the pipe is interrupted too, and may have more to say.
		cli.OnInterrupt(live.Grace, func() {})
	}
	if o.format.rows != nil {
		return runStream(c, s, diagnostics, o)
	}
	return runSummary(c, s, diagnostics, o, &g)
}

// runSummary adds up the logs and writes the summary.
func runSummary(c *urfave.Context, s *scan.Scan, diagnostics *cli.Diagnostics, o *options, g *gates) error {
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q"))
	o.units.Watch(s)
	look, take := verbose(c, o)
	result, err := summary.Collect(s, o.collecting(c), look, take)
	stop()
	if err != nil {
		return err
	}
	if len(result.Summaries) == 0 {
		diagnostics.Close()
		return cli.NothingLeft(s)
	}
	if g.wanted() {
		return g.write(c, s, diagnostics, o, result)
	}
	result.SetPeriods(o.mode)
	if o.format.name == "table" {
		err = o.setReadableScale(result.Summaries...)
	} else {
		err = o.setScale()
	}
	if err != nil {
		return err
	}
	if c.Bool("lt") {
		err = listTags(c, s, diagnostics, o, result.Summaries)
	} else {
		err = o.format.write(&report{c, s, diagnostics, o, result.Summaries})
	}
	if err != nil {
		return err
	}
	return diagnostics.Close()
}

// listTags writes the tags.
func listTags(c *urfave.Context, s *scan.Scan, diagnostics *cli.Diagnostics, o *options, summaries []*output.Summary) error {
	return cli.WriteFile(c.String("of"), c.App.Writer, s.Inputs, func(w io.Writer) error {
		if o.format.name != "json" {
			return output.ListTags(w, summaries)
		}
		list, err := output.NewTagList(summaries)
		if err != nil {
			return err
		}
		list.Inputs, list.SkippedLines = inputNames(s), diagnostics.Skipped()
		return output.JSON(w, list)
	})
}

// collecting returns what to collect: maxima over time are for sparklines only.
func (o *options) collecting(c *urfave.Context) summary.Options {
	return summary.Options{IgnoreTags: c.Bool("it"), Maxima: o.format.name == "table" && !c.Bool("lt")}
}

// verbose returns what makes and prints a line for each interval, nil if that was not asked for.
func verbose(c *urfave.Context, o *options) (look func(v scan.Visit, h *histogram.Histogram, f *output.IntervalFigures), take func(v scan.Visit, f *output.IntervalFigures) error) {
	if !c.Bool("v") {
		return nil, nil
	}
	look = func(v scan.Visit, h *histogram.Histogram, f *output.IntervalFigures) { *f = output.FiguresOf(h) }
	take = func(v scan.Visit, f *output.IntervalFigures) error {
		if err := o.setScale(); err != nil {
			return err
		}
		cli.Verbosef(c, "%s:%d: %s", v.Name, v.Line, f.Line(v.Tag, v.StartMillis(), v.EndMillis(), o.scale))
		return nil
	}
	return look, take
}
