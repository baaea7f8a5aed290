package main

import (
	"cmp"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/question/compare"
	"hdrkit/internal/question/trend"
	"hdrkit/internal/sides"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

const examples = `examples:
   hdrdiff before.hdr after.hdr -unit ms     # a run each, or a folder each
   hdrdiff 'load-gen[1-3].hdr' 'node[1-3].hdr' -unit ms    # runs
   hdrdiff node1.hdr node2.hdr node3.hdr -- run.hdr a.hdr b.hdr
   hdrdiff before.hdr after.hdr -sla 'p50<=+20%'    # status 4 if it is more
   hdrdiff before.hdr after.hdr -unit ms -st markdown -of table.md
   hdrdiff -sum 'load-gen[1-3].hdr' 'node[1-3].hdr'    # machines of one run
   hdrdiff before.hdr after.hdr -st json     # for other programs
   hdrdiff -trend nightly -unit ms           # since when?
   hdrdiff -trend nightly -sla 'p99<=+10%'   # 4 if two nights are worse

With three runs or more a side, changes are those that differ more than the
runs of a side do.

exit status: 0, or 1 if nothing could be compared, 2 for a wrong command line,
3 if malformed lines were skipped, 4 if a limit of -sla does not hold, 5 if one
looks worse, but is not proven: run again (-undecided pass, and it is 0)`

// options are the values of the command line.
type options struct {
	logs.Options // of both sides, or of all runs of a trend
	report       asked.Options
	names        compare.Names // After has the runs of a trend
	level        float64       // confidence of intervals in percent
	noise        asked.Noise
	unpaired     bool
	sameChange   float64 // the largest change that counts as the same, as a share of 1
	tests        bool    // print p= and n=
	trend        bool
	order        string // order of the runs of a trend
	acceptedRun  string // -accept, one of the runs of a trend
	given        struct{ level, percentiles, kind bool }
}

func app() *cli.Command {
	o := new(options)
	o.Inputs.UnitOf = o.report.Units.Given
	o.Times.Steady = summary.SkipWarmup
	o.Times.EachRun = true
	o.Inputs.Output = &o.report.File
	o.Inputs.Runs = true
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrdiff"},
		Usage:       "compare HdrHistogram logs before and after a change",
		UsageText:   "hdrdiff [options] OLD NEW, OLD ... -- NEW ..., or -trend RUNS ...",
		Description: examples,
		Common:      []string{"incT", "s", "e", "sum", "trend", "st", "of", "in", "unit", "p", "sla", "undecided"},
		Args:        o.readSides,
		Separates:   true,
		Outputs:     func() []string { kind, _ := o.outputKind(); return []string{"st " + kind} },
	}
	c.Options = slices.Concat(cli.Without(cli.InputOptions(&o.Inputs), "if", "ifp"), o.sideOptions(),
		cli.TagOptions(&o.Tags, &o.Inputs, "compare"), cli.RowOptions(&o.Tags, "compare"),
		[]cli.Option{
			cli.PhasesOption(&o.Tags, &o.report.Units, cli.PhaseRows),
			cli.UntaggedOption(&o.Inputs),
		},
		cli.TimeOptions(&o.Times, cli.Rules{Only: []string{"st json"}, Unless: "s e phases"}),
		o.outputOptions(), cli.UnitOptions(&o.report.Units), o.valueOptions(), o.limitOptions(),
		cli.Without(cli.RunOptions(&c.Streams, &o.Run), "v"))
	c.Action = func() error {
		if err := o.checkOptions(); err != nil {
			return err
		}
		if o.trend {
			return trend.Report(&c.Streams, o.trendOptions())
		}
		return compare.Logs(&c.Streams, &compare.Options{
			Options:        o.report,
			Logs:           &o.Options,
			Names:          o.names,
			Level:          o.level,
			Tolerance:      sides.Tolerance{Noise: o.noise.Part, Same: o.sameChange},
			PrintIntervals: o.given.level,
			Unpaired:       o.unpaired,
			Tests:          o.tests,
		})
	}
	return c
}

// trendOptions returns the options of a trend.
func (o *options) trendOptions() *trend.ReportOptions {
	o.Inputs.Names = o.names.After
	if !o.given.percentiles {
		o.report.Figures.Percentiles = []float64{50, 99}
	}
	return &trend.ReportOptions{
		Options:    o.report,
		Logs:       &o.Options,
		GivenOrder: o.order == "given",
		Accept:     o.acceptedRun,
	}
}

// sideOptions returns the options that say what a side is, and what a trend is.
func (o *options) sideOptions() []cli.Option {
	return []cli.Option{
		{
			Name:  "sum",
			Group: cli.GroupInput,
			Value: cli.Bool(&o.names.Sum),
			Usage: "each side is one run, whose logs add up",
		},
		{
			Name:  "trend",
			Group: cli.GroupInput,
			Value: cli.Bool(&o.trend),
			Rules: cli.Rules{Not: "sum ci", Why: "a trend looks at each run by itself"},
			Usage: "print how figures change over many runs: the logs, or the folders with logs, in " +
				"a folder, of a pattern, or of a list",
		},
		{
			Name:   "order",
			Group:  cli.GroupInput,
			Value:  cli.Choice(&o.order, "time"),
			Values: []string{"time", "given"},
			Rules:  cli.Rules{Needs: "trend"},
			Usage:  "the `ORDER` of runs: time, that of their starts; or given, that of the arguments",
		},
		{
			Name:  "accept",
			Group: cli.GroupLimits,
			Rules: cli.Rules{Needs: "trend"},
			Value: cli.Text(&o.acceptedRun, ""),
			Usage: "accept what changed before `RUN`: with it begins the history that limits of -sla look at",
		},
	}
}

// outputOptions returns the options that say what to print, and where.
func (o *options) outputOptions() []cli.Option {
	return []cli.Option{
		{
			Name:    "st",
			Aliases: "summaryType summary-type",
			Group:   cli.GroupOutput,
			Value:   cli.Choice(&o.report.Kind, "table"),
			Given:   &o.given.kind,
			Types: []cli.Type{
				{Name: "table", What: "for people", Others: "text txt"},
				{Name: "markdown", What: "the table for pages", Others: "md"},
				{Name: "findings", What: "what changed, and limits"},
				{Name: "json", What: "one JSON document"},
				{Name: "csv", What: "figures of -trend"},
				{Name: "junit", What: "limits as tests"},
			},
			Usage: "print this `TYPE`, see below",
		},
		cli.OutputOption(&o.report.File, "write to `FILE`, whose ending chooses the type without -st: .txt, .md, .json, .csv, .xml"),
		cli.RatioOption(&o.report.Units),
	}
}

// valueOptions returns the options that say which figures to compare, and how.
func (o *options) valueOptions() []cli.Option {
	percentiles := cli.PercentilesOption(cli.Parsed(&o.report.Figures, asked.ComparedFigures, asked.ParseFigures),
		"compare these `PERCENTILES`, such as 50,99.9,max, and the shares of values above one: "+
			"over(20ms); without it, -trend has 50,99,max")
	percentiles.Given = &o.given.percentiles
	return []cli.Option{
		percentiles,
		{
			Name:    "ci",
			Aliases: "confidence",
			Group:   cli.GroupValues,
			Value:   cli.Parsed(&o.level, "95", asked.ParseLevel),
			Given:   &o.given.level,
			Usage:   "`PERCENT` of intervals have the true figure in them; if given, those of figures are printed, too",
		},
		{
			Name:    "noise",
			Group:   cli.GroupValues,
			Value:   cli.Parsed(&o.noise, "4%", asked.ParseNoise),
			Default: "4%",
			Rules:   cli.Rules{Not: "trend", Why: "a trend knows how its runs vary"},
			Usage: "percentiles of one version vary by so many `PERCENT` from run to run, which one run a " +
				"side does not show: limits of changes take it into account; or a folder of runs of OLD's " +
				"version, which show it and count as OLD, too",
		},
		{
			Name:    "same",
			Group:   cli.GroupValues,
			Value:   cli.Parsed(&o.sameChange, "10%", asked.ParseSame),
			Default: "10%",
			Rules:   cli.Rules{Not: "trend", Why: "it is about a comparison"},
			Usage: "SAME means that the intervals of p50 and p99 are within so many `PERCENT`; otherwise " +
				"NOT PROVEN says what would tell",
		},
		{
			Name:  "unpaired",
			Group: cli.GroupValues,
			Value: cli.Bool(&o.unpaired),
			Rules: cli.Rules{Not: "trend", Why: "it looks at each run by itself"},
			Usage: "compare two runs as if they had not run at the same time; otherwise such runs are compared " +
				"window by window, since what both share cancels",
		},
		{
			Name:  "tests",
			Group: cli.GroupValues,
			Value: cli.Bool(&o.tests),
			Rules: cli.Rules{Not: "trend", Why: "it is about a comparison"},
			Usage: "print p= and n= behind each change, as benchstat does",
		},
		cli.OmissionOption(&o.Omission),
	}
}

// limitOptions returns the options about limits.
func (o *options) limitOptions() []cli.Option {
	return []cli.Option{
		{
			Name:  "sla",
			Doubt: gate.Doubt,
			Group: cli.GroupLimits,
			Value: cli.Each(&o.report.Limits, gate.Parse),
			Usage: "check `LIMITS`, and exit with 4 if one does not hold: changes such as " +
				"p99<=+10%, throughput>=-10/s, or 'p99<=+10% or +2ms', and limits of NEW as in hdrsum; repeatable",
		},
		{
			Name:   "undecided",
			Group:  cli.GroupLimits,
			Rules:  cli.Rules{Needs: "sla"},
			Values: []string{"worse", "pass", "fail"},
			Value:  cli.Choice(&o.report.Undecided, "worse"),
			Usage: "what an undecided limit does: fail with status 5 if its figure looks worse, " +
				"but may be noise; pass; or always fail with status 5",
		},
	}
}

// readSides reads the arguments: two sides, or one side before -- and one after it, or the runs of
// a trend.
func (o *options) readSides(args []string, before int) error {
	if o.trend {
		o.names.After = args
		if len(args) == 0 || before > 0 {
			return message.Usagef("-trend takes runs: a folder of logs, a pattern, or a list, without --")
		}
		return nil
	}
	return o.names.Split(args, before)
}

// outputKind returns the type of output. Without -st, the ending of the output's name chooses it.
func (o *options) outputKind() (string, error) {
	if o.given.kind {
		return o.report.Kind, nil
	}
	kind, err := logs.ByEnding(o.report.File, map[string]string{
		".txt":  "table",
		".md":   "markdown",
		".json": "json",
		".csv":  "csv",
		".xml":  "junit",
	})
	return cmp.Or(kind, o.report.Kind), err
}

// checkOptions checks rules that concern several options.
func (o *options) checkOptions() (err error) {
	asked := &o.report
	if o.names.Sum && o.noise.Runs != nil {
		return message.Usagef("-noise %s shows how runs vary, and -sum makes one run of each side",
			message.List(o.noise.Runs))
	}
	o.names.History = o.noise.Runs
	if asked.Kind, err = o.outputKind(); err != nil {
		return err
	}
	for _, l := range asked.Limits {
		if err := o.checkLimit(&l); err != nil {
			return err
		}
	}
	by, err := o.Tags.Rows()
	if err != nil {
		return err
	}
	if by.Inputs() {
		return message.Usagef("-by %s looks at each log by itself, and hdrdiff compares rows that both sides have",
			o.Tags.By)
	}
	if asked.Kind == "junit" && len(asked.Limits) == 0 {
		return message.Usagef("-st junit is about the limits of -sla, which are not given")
	}
	if asked.Kind == "csv" && !o.trend {
		return message.Usagef("-st csv writes the figures of -trend: -st json has a comparison for programs")
	}
	if o.trend && asked.Figures.Shares != nil {
		return message.Usagef("-p: -trend has percentiles, the maximum and the rate: hdrsum prints %v",
			asked.Figures.Shares[0])
	}
	return nil
}

// checkLimit refuses a limit that only another command checks.
func (o *options) checkLimit(l *gate.Limit) error {
	if o.trend && l.Change != nil && l.Name == output.Over {
		return message.Usagef("-sla: -trend has percentiles, the maximum and the rate: hdrdiff OLD NEW checks %q", l.Text)
	}
	if o.trend && l.Change == nil {
		return message.Usagef("-sla: -trend takes changes, such as p99<=+10%%, and hdrsum checks %q", l.Text)
	}
	if l.Window > 0 {
		return message.Usagef("-sla: %q is about windows of one run: hdrsum checks it", l.Text)
	}
	return nil
}
