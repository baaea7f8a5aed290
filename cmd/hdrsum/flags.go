package main

import (
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/summary"
)

// flags are the values of the command line. A [question] is made of them. Code that answers the
// question knows no options.
type flags struct {
	std     *message.Streams
	logs    logs.Options // which intervals of which logs to read
	units   unit.Options
	output  outputFlags
	figures figureFlags
	windows windowFlags
	limits  []gate.Limit // -sla
	// undecided says what an undecided limit does.
	undecided string
	lists     lists
	format    formatFlags
	given     given
}

// outputFlags say what to print, in which order, and where.
type outputFlags struct {
	kind  string // -st
	file  string // -of
	list  bool   // -lt
	order order  // -sort, -top
}

// figureFlags say which figures to print.
type figureFlags struct {
	printed   asked.Figures // -p
	level     float64       // -ci
	period    string        // -period
	intervals bool          // -its
}

// windowFlags are lengths of windows in milliseconds, and the percentile of the moving window.
type windowFlags struct {
	length     int64   // -agg
	moving     int64   // -mwpl
	percentile float64 // -mwp
}

// formatFlags are options of single formats.
type formatFlags struct {
	metric string  // -metric, of influx and openmetrics
	ticks  int     // -tph
	bucket float64 // -obs
}

// given reports which options are on the command line, for options whose value does not show it.
type given struct {
	inputs, by                    bool
	format, sort, bucket          bool
	percentiles, level            bool
	windows, moving, movingLength bool
}

// newFlags returns flags for a command with these streams, and the options that fill the flags.
func newFlags(std *message.Streams) (*flags, []cli.Option) {
	f := &flags{std: std}
	f.logs.Inputs.UnitOf = f.units.Given
	f.logs.Times.Steady = summary.SkipWarmup
	f.logs.Inputs.Output = &f.output.file
	inputs := cli.InputOptions(&f.logs.Inputs)
	inputs[0].Given = &f.given.inputs
	rows := cli.RowOptions(&f.logs.Tags, "summarize")
	rows[1].Given = &f.given.by
	return f, withRules(slices.Concat(
		inputs,
		cli.TagOptions(&f.logs.Tags, &f.logs.Inputs, "summarize"),
		rows,
		[]cli.Option{
			cli.PhasesOption(&f.logs.Tags, &f.units, cli.PhaseRows),
			cli.UntaggedOption(&f.logs.Inputs),
		},
		cli.TimeOptions(&f.logs.Times, cli.Rules{Unless: "s e phases"}),
		f.outputOptions(),
		f.periodOptions(),
		cli.UnitOptions(&f.units),
		f.valueOptions(),
		f.formatOptions(),
		f.limitOptions(),
		f.listOptions(),
		cli.RunOptions(std, &f.logs.Run),
	))
}

// pushHint is a hint for users who ask for a format of receivers.
const pushHint = "hdrlive sends to receivers: hdrlive - -s start -push URL < run.hdr"

// outputOptions returns the options that say what to print, and where.
func (f *flags) outputOptions() []cli.Option {
	o := &f.output
	return []cli.Option{
		{
			Name:      "st",
			Aliases:   "summaryType summary-type",
			Group:     cli.GroupOutput,
			Types:     formatTypes(),
			Value:     cli.Choice(&o.kind, percentilesFormat.kind.Name),
			Given:     &f.given.format,
			Elsewhere: map[string]string{"otlp": pushHint, "opentelemetry": pushHint, "otel": pushHint},
			Usage:     "print this `TYPE`, see below",
			Default:   "table; in a file percentiles; with -agg rows, elsewhere csv; with -sla findings",
		},
		cli.OutputOption(&o.file, "write to `FILE`, whose ending chooses the type without -st: .json, "+
			".md, .txt, .csv, .ndjson, .xml, .hgrm; hgrm and bins write FILE.TAG.hgrm or .csv for each tag"),
		{
			Name:    "lt",
			Aliases: "list-tags",
			Group:   cli.GroupOutput,
			Rules:   cli.Rules{Not: "st sla worst who", Why: "-lt has its own output"},
			Value:   cli.Bool(&o.list),
			Usage:   "list the tags with their counts of intervals and values",
		},
		{
			Name:    "sort",
			Group:   cli.GroupOutput,
			Value:   cli.Parsed(&o.order.by, "tag", parseSort),
			Given:   &f.given.sort,
			Default: "tag; p99 with -top",
			Usage: "sort rows by a `FIGURE`, the highest first: tag, count, throughput, mean, " +
				"max, p99.9 or over(20ms)",
		},
		{
			Name:    "top",
			Group:   cli.GroupOutput,
			Value:   cli.Int(&o.order.maxRows, "", cli.AtLeastOne),
			Default: "all",
			Usage:   "print only the first `N` rows",
		},
	}
}

// parseSort parses -sort. It returns nil for the order of names.
func parseSort(text string) (*gate.Limit, error) {
	if text == "tag" {
		return nil, nil
	}
	figure, err := gate.ParseFigure(text)
	if err != nil {
		return nil, message.Usagef("-sort: %w; tag sorts by name", err)
	}
	return figure, nil
}

// periodOptions returns the options that say to which period a rate relates.
func (f *flags) periodOptions() []cli.Option {
	return []cli.Option{
		{
			Name:   "period",
			Group:  cli.GroupRare,
			Hidden: true,
			Rules:  cli.Rules{Not: "phases", Why: "a phase has the period that it lasted"},
			Values: summary.Modes,
			Value:  cli.Choice(&f.figures.period, "covered"),
			Usage: "how to find the period, a `MODE`: covered, the time in which the inputs of a " +
				"row ran; sum, one input after another; or intervals, the lengths of all intervals",
		},
		{
			Name:    "its",
			Aliases: "ignoreTimeStamps ignore-time-stamps",
			Group:   cli.GroupRare,
			Hidden:  true,
			Rules:   cli.Rules{Not: "period phases", Why: "it is -period intervals"},
			Value:   cli.Bool(&f.figures.intervals),
			Usage:   "the same as -period intervals",
		},
		cli.RatioOption(&f.units),
	}
}

// valueOptions returns the options that say which figures to print, and of which windows.
func (f *flags) valueOptions() []cli.Option {
	figures := cli.Parsed(&f.figures.printed, asked.UsualFigures, asked.ParseFigures)
	percentiles := cli.PercentilesOption(figures,
		"print these `PERCENTILES`, such as 50,99.9,max, and over(20ms), the share of values above one, or apdex(500ms)")
	percentiles.Given = &f.given.percentiles
	percentiles.Rules.Reasons = map[string]string{
		"st findings": "a sentence has the highest one of p99, p90 and p50 that ten values are above",
	}
	return []cli.Option{
		percentiles,
		{
			Name:    "ci",
			Aliases: "confidence",
			Group:   cli.GroupValues,
			Value:   cli.Parsed(&f.figures.level, "", asked.ParseLevel),
			Given:   &f.given.level,
			Usage: "print intervals of confidence, from windows of -agg: `PERCENT` of them, such " +
				"as 95, have the true figure in them",
		},
		cli.OmissionOption(&f.logs.Omission),
		cli.AggregateOption(&f.windows.length, cli.Option{Rules: cli.Rules{Unless: "ci sla"}, Given: &f.given.windows}),
		{
			Name:    "mwp",
			Aliases: "movingWindowPercentile moving-window-percentile",
			Group:   cli.GroupRare,
			Hidden:  true,
			Value:   cli.Float(&f.windows.percentile, "99", cli.Percent),
			Given:   &f.given.moving,
			Usage:   "show this `PERCENTILE` of a moving window",
		},
		{
			Name:    "mwpl",
			Aliases: "movingWindowLength moving-window-length",
			Group:   cli.GroupRare,
			Hidden:  true,
			Value:   cli.PositiveLength(&f.windows.moving, "60s"),
			Given:   &f.given.movingLength,
			Usage:   "show a moving window of the last `TIME`",
		},
	}
}

// limitOptions returns the options about limits.
func (f *flags) limitOptions() []cli.Option {
	return []cli.Option{
		{
			Name:  "sla",
			Doubt: gate.Doubt,
			Group: cli.GroupLimits,
			Value: cli.Each(&f.limits, gate.Parse),
			Usage: "check `LIMITS`, and exit with 4 if one does not hold: " +
				"p99.9<=20ms,insert-rt:max<=100,throughput>=1000, also 'insert-.*:max<=100', " +
				"'over(20ms)<=0.1%', 'p99<=20ms in 99% of 10s'; repeatable",
		},
		{
			Name:   "undecided",
			Group:  cli.GroupLimits,
			Rules:  cli.Rules{Needs: "sla"},
			Values: []string{"pass", "fail"},
			Value:  cli.Choice(&f.undecided, "pass"),
			Usage:  "what a limit does whose interval includes its bound, so that it is undecided: pass, or fail with status 5",
		},
	}
}

// listOptions returns the options of lists behind the summaries.
func (f *flags) listOptions() []cli.Option {
	return []cli.Option{
		{
			Name:    "worst",
			Group:   cli.GroupOutput,
			Value:   cli.Int(&f.lists.worst, "", cli.AtLeastOne),
			Default: "none",
			Usage: "list the `N` worst separate moments: time, length, maximum, tag and log; -st ranges " +
				"has their times for other tools",
		},
		{
			Name:    "who",
			Group:   cli.GroupOutput,
			Value:   cli.Float(&f.lists.percentile, "", cli.Percent),
			Doubt:   cli.DoubtPercentiles,
			Given:   &f.lists.who,
			Default: "none",
			Usage: "list what each tag of each log, or what -by says, has of the values above " +
				"this `PERCENTILE` of all values, and the percentile without it",
		},
	}
}
