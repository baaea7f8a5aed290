package main

import (
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/report"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

const examples = `examples:
   hdrsum run.hdr -unit ms                 # a table
   hdrsum run.hdr -unit ms -p 99 -agg 1m   # p99 per minute
   hdrsum run.hdr -in ns -sla 'p99<=250ms' # status 4 if it does not hold
   hdrsum run.hdr -unit ms -s 60 -e 5m     # from 1 to 5 minutes
   hdrsum run.hdr -unit ms -incT '.*-rt' -it # all response times together
   hdrsum 'node.*\.hdr' -unit ms -incT '.*-rt' -by input # which is slow?
   hdrsum -worst 10 'node.*\.hdr' -unit ms # when, which tag, which log
   hdrsum -who 99.9 'node.*\.hdr' -incT '.*-rt' # who has the slowest
   hdrsum run.hdr -in ns -sla 'over(20ms)<=10%,p99<=300ms in 99% of 10s'
   hdrsum run.hdr -unit ms -st table -ci 95 # how far to believe figures
   hdrsum run.hdr -unit ms -st json        # for other programs
   hdrsum run.hdr -st hgrm -of run         # run.TAG.hgrm for each tag
   zstdcat run.hdr.zst | hdrsum -unit ms   # from a pipe

exit status: 0, or 1 if nothing could be summarized, 2 for a wrong command
line, 3 if malformed lines were skipped or intervals came too late for a row,
4 if a limit of -sla does not hold, 5 if one is undecided under -undecided fail`

func app() *cli.Command {
	o := new(options)
	o.UnitOf = o.unit.Given
	o.Steady, o.Output = summary.SkipWarmup, &o.of
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrsum"},
		Usage:       "summarize HdrHistogram logs",
		UsageText:   "hdrsum [options] [log ...]",
		Description: examples,
		Common:      []string{"incT", "by", "s", "e", "st", "of", "unit", "p", "agg", "worst", "sla"},
		Args:        cli.Arguments(&o.Inputs),
		Outputs:     o.outputs,
	}
	o.std = &c.Streams
	c.Options = o.define()
	c.Action = o.run
	return c
}

// pushes is the hint for who looks for the formats of receivers.
const pushes = "hdrlive sends to receivers: hdrlive - -s start -push URL < run.hdr"

func (o *options) define() []cli.Option {
	rows := cli.RowOptions(&o.Tags, "summarize")
	rows[1].Given = &o.given.by
	inputs := cli.InputOptions(&o.Inputs)
	inputs[0].Given = &o.given.inputs
	return withRules(slices.Concat(inputs, cli.TagOptions(&o.Tags, &o.Inputs, "summarize"), rows,
		[]cli.Option{cli.UntaggedOption(&o.Inputs)}, cli.TimeOptions(&o.Times, cli.Option{Unless: "s e"}),
		o.outputOptions(), o.periodOptions(), cli.UnitOptions(&o.unit), o.valueOptions(), o.formatOptions(), o.limitOptions(),
		o.findingOptions(), cli.RunOptions(o.std, &o.Run)))
}

// outputOptions say what is printed, and where.
func (o *options) outputOptions() []cli.Option {
	return []cli.Option{
		{
			Name:      "st",
			Aliases:   "summaryType summary-type",
			Group:     cli.GroupOutput,
			Types:     formatTypes(),
			Value:     cli.Choice(&o.kind, percentilesFormat.Name),
			Given:     &o.given.kind,
			Elsewhere: map[string]string{"otlp": pushes, "opentelemetry": pushes, "otel": pushes},
			Usage:     "print this `TYPE`, see below",
			Default:   "table; in a file percentiles; with -agg rows, elsewhere csv; with -sla findings",
		},
		cli.OutputOption(&o.of, "write to `FILE`, whose ending chooses the type without -st: .json, "+
			".md, .txt, .csv, .ndjson, .xml, .hgrm; hgrm and bins write FILE.TAG.hgrm or .csv for each tag"),
		{
			Name:    "lt",
			Aliases: "list-tags",
			Group:   cli.GroupOutput,
			Not:     "st sla worst who",
			Why:     "-lt has its own output",
			Value:   cli.Bool(&o.list),
			Usage:   "list the tags with their counts of intervals and values",
		},
		{
			Name:    "sort",
			Group:   cli.GroupOutput,
			Value:   cli.Parsed(&o.sort, "tag", parseSort),
			Given:   &o.given.sort,
			Default: "tag; p99 with -top",
			Usage: "sort rows by a `FIGURE`, the highest first: tag, count, throughput, mean, " +
				"max, p99.9 or over(20ms)",
		},
		{
			Name:    "top",
			Group:   cli.GroupOutput,
			Value:   cli.Int(&o.top, "", cli.AtLeastOne),
			Default: "all",
			Usage:   "print only the first `N` rows",
		},
	}
}

// periodOptions say of which time a rate is.
func (o *options) periodOptions() []cli.Option {
	return []cli.Option{
		{
			Name:   "period",
			Group:  cli.GroupRare,
			Hidden: true,
			Values: summary.Modes,
			Value:  cli.Choice(&o.mode, "covered"),
			Usage: "how to find the period, a `MODE`: covered, the time in which the inputs of a " +
				"row ran; sum, one input after another; or intervals, the lengths of all intervals",
		},
		{
			Name:    "its",
			Aliases: "ignoreTimeStamps ignore-time-stamps",
			Group:   cli.GroupRare,
			Hidden:  true,
			Not:     "period",
			Why:     "it is -period intervals",
			Value:   cli.Bool(&o.intervals),
			Usage:   "the same as -period intervals",
		},
		cli.RatioOption(&o.unit),
	}
}

// valueOptions say which figures are printed, and of which windows.
func (o *options) valueOptions() []cli.Option {
	percentiles := cli.PercentilesOption(cli.Parsed(&o.figures, report.UsualFigures, report.ParseFigures),
		"print these `PERCENTILES`, such as 50,99.9,max, and the shares of values above one: over(20ms)")
	percentiles.Given = &o.given.percentiles
	percentiles.Reasons = map[string]string{
		"st findings": "a sentence has the highest one of p99, p90 and p50 that ten values are above",
	}
	return []cli.Option{
		percentiles,
		{
			Name:    "ci",
			Aliases: "confidence",
			Group:   cli.GroupValues,
			Value:   cli.Parsed(&o.level, "", report.ParseLevel),
			Given:   &o.given.level,
			Usage: "print intervals of confidence, from windows of -agg: `PERCENT` of them, such " +
				"as 95, have the true figure in them",
		},
		cli.OmissionOption(&o.Omission),
		cli.AggregateOption(&o.series.Window, cli.Option{Unless: "ci sla", Given: &o.given.windows}),
		{
			Name:    "mwp",
			Aliases: "movingWindowPercentile moving-window-percentile",
			Group:   cli.GroupRare,
			Hidden:  true,
			Value:   cli.Float(&o.series.MovingPercentile, "99", cli.Percent),
			Given:   &o.given.moving,
			Usage:   "show this `PERCENTILE` of a moving window",
		},
		{
			Name:    "mwpl",
			Aliases: "movingWindowLength moving-window-length",
			Group:   cli.GroupRare,
			Hidden:  true,
			Value:   cli.SomeLength(&o.moving, "60s"),
			Given:   &o.given.movingLength,
			Usage:   "show a moving window of the last `TIME`",
		},
	}
}

// limitOptions say what must hold.
func (o *options) limitOptions() []cli.Option {
	return []cli.Option{
		{
			Name:  "sla",
			Group: cli.GroupLimits,
			Value: cli.Each(&o.limits, gate.Parse),
			Usage: "check `LIMITS`, and exit with 4 if one does not hold: " +
				"p99.9<=20ms,insert-rt:max<=100,throughput>=1000, also 'insert-.*:max<=100', " +
				"'over(20ms)<=0.1%', 'p99<=20ms in 99% of 10s'; repeatable",
		},
		{
			Name:   "undecided",
			Group:  cli.GroupLimits,
			Needs:  "sla",
			Values: []string{"pass", "fail"},
			Value:  cli.Choice(&o.undecided, "pass"),
			Usage:  "what an undecided limit does, whose interval includes its bound: pass, or fail with status 5",
		},
	}
}

// run checks the options and does what they ask.
func (o *options) run() (err error) {
	if err := o.check(); err != nil {
		return err
	}
	if o.scan, err = o.Scan(o.std, o.diagnostics); err != nil {
		return err
	}
	if slices.ContainsFunc(o.scan.Inputs, func(input scan.Input) bool { return input.Once }) {
		// What writes to the pipe is interrupted too, and may have more to say.
		cli.OnInterrupt(scan.Grace, func(bool) {})
	}
	if o.format.rows != nil {
		return runStream(o)
	}
	return runSummary(o)
}

// sayInterval prints the line of an interval or a window, if -v is given.
func (o *options) sayInterval(at scan.Place, tag []byte, start, end, count int64) {
	if o.Verbose {
		o.std.Verbosef("%s:%d: %s (%.3f to %.3f) count=%d", at.Name, at.Line, tags.Text(tag), float64(start)/1000,
			float64(end)/1000, count)
	}
}
