package main

import (
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/summary"
	"hdrkit/tags"
)

const examples = `examples:
   hdrsum run.hdr -unit ms                 # a table
   hdrsum run.hdr -unit ms -p 99 -agg 1m   # p99 per minute
   hdrsum -compare before.hdr after.hdr -unit ms # also two folders of runs
   hdrsum run.hdr -sla 'p99<=250ms'        # status 4 if it does not hold
   hdrsum run.hdr -unit ms -s 60 -e 5m     # from 1 to 5 minutes
   hdrsum run.hdr -unit ms -incT '.*-rt' -it # all response times together
   hdrsum 'node.*\.hdr' -unit ms -incT '.*-rt' -by input # which is slow?
   hdrsum -worst 10 'node.*\.hdr' -unit ms # when, which tag, which log
   hdrsum -who 99.9 'node.*\.hdr' -incT '.*-rt' # who has the slowest
   hdrsum run.hdr -unit ms -sla 'over(20ms)<=10%,p99<=300ms in 99% of 10s'
   hdrsum run.hdr -unit ms -st table -ci 95 # how far to believe figures
   hdrsum run.hdr -unit ms -st json        # for other programs
   hdrsum run.hdr -st hgrm -of run         # run.TAG.hgrm for each tag
   zstdcat run.hdr.zst | hdrsum -unit ms   # from a pipe

exit status: 0, or 1 if nothing could be summarized, 2 for a wrong command
line, 3 if malformed lines were skipped or intervals came too late for a row,
4 if a limit of -sla does not hold, 5 if one is undecided under -undecided fail`

func app() *urfave.App {
	return &urfave.App{
		Name:        "hdrsum",
		Usage:       "summarize HdrHistogram logs",
		UsageText:   "hdrsum [options] [log ...]",
		Description: examples,
		Flags:       flags(),
		Action:      run,
		Metadata: cli.Guide{
			Common:  []string{"incT", "by", "s", "e", "st", "of", "unit", "p", "agg", "worst", "compare", "sla"},
			Outputs: outputs,
			Steady:  summary.SkipWarmup,
		}.Metadata(),
	}
}

func flags() []urfave.Flag {
	return withRules(slices.Concat(cli.InputFlags(), cli.TagFlags("summarize"), cli.RowFlags("summarize"), []urfave.Flag{cli.UntaggedFlag()}, cli.RangeFlags(cli.Option{Unless: "s e"}), []urfave.Flag{
		cli.Option{Check: cli.OneOf, Types: formatTypes(), Flag: &urfave.StringFlag{Name: "st", Aliases: []string{"summaryType", "summary-type"}, Value: percentilesFormat.name, Category: cli.GroupOutput,
			Usage: "print this `TYPE`, see below", DefaultText: "table on a terminal, otherwise percentiles; with -agg rows, otherwise timeline"}},
		cli.OutputFlag("write to `FILE`; hgrm and csv write FILE.TAG.hgrm or .csv for each tag"),
		cli.Option{Not: "st sla baseline worst who", Why: "-lt has its own output", Flag: &urfave.BoolFlag{Name: "lt", Aliases: []string{"list-tags"}, Category: cli.GroupOutput,
			Usage: "list the tags with their counts of intervals and values"}},
		cli.Option{Not: "baseline", Why: oneRun, Flag: &urfave.StringFlag{Name: "sort", Value: "tag", Category: cli.GroupOutput, DefaultText: "tag; p99 with -top",
			Usage: "sort rows by a `FIGURE`, the highest first: tag, count, throughput, mean, max, p99.9 or over(20ms)"}},
		cli.Option{Check: cli.AtLeastOne, Not: "baseline", Why: oneRun, Flag: &urfave.IntFlag{Name: "top", Category: cli.GroupOutput, DefaultText: "all", Usage: "print only the first `N` rows"}},
		cli.Option{Check: cli.OneOf, Values: summary.Modes, Flag: &urfave.StringFlag{Name: "period", Value: "covered", Category: cli.GroupRare,
			Usage: "how to find the period, a `MODE`: covered, the time that the inputs cover together; sum, one input after another; or intervals, the lengths of all intervals"}},
		cli.Option{Not: "period", Why: "it is -period intervals", Flag: &urfave.BoolFlag{Name: "its", Aliases: []string{"ignoreTimeStamps", "ignore-time-stamps"}, Category: cli.GroupRare, Hidden: true,
			Usage: "the same as -period intervals"}},
		cli.RatioFlag(),
	}, cli.UnitFlags(), []urfave.Flag{
		cli.PercentilesFlag("50,90,99,99.9,99.99,99.999", "print these `PERCENTILES`, such as 50,99.9,max"),
		&urfave.StringFlag{Name: "ci", Aliases: []string{"confidence"}, Category: cli.GroupValues,
			Usage: "print intervals of confidence, from windows of -agg: `PERCENT` of them, such as 95, have the true figure in them"},
		cli.OmissionFlag(),
		cli.AggregateFlag("", cli.Option{Unless: "ci baseline sla"}),
	}, cli.MovingFlags(), formatFlags(), []urfave.Flag{
		pushFlag(),
		&urfave.StringSliceFlag{Name: "sla", Category: cli.GroupLimits,
			Usage: "check `LIMITS`, and exit with 4 if one does not hold: p99.9<=20ms,insert-rt:max<=100,throughput>=1000, also 'insert-.*:max<=100', 'over(20ms)<=0.1%', 'p99<=20ms in 99% of 10s', and with -baseline relative ones, 99<=+10%; repeatable"},
		&urfave.StringSliceFlag{Name: "baseline", Category: cli.GroupLimits,
			Usage: "compare with `LOG`, which is chosen as by -if; repeatable"},
		&urfave.BoolFlag{Name: "compare", Category: cli.GroupLimits,
			Usage: "compare two arguments, before and after: a log each, or several runs each, as two folders, two patterns, or OLD... -- NEW..."},
		cli.Option{Needs: "baseline", Flag: &urfave.BoolFlag{Name: "runs", Category: cli.GroupLimits, Hidden: true}},
		cli.Option{Needs: "sla", Check: cli.OneOf, Values: []string{"pass", "fail"}, Flag: &urfave.StringFlag{Name: "undecided", Value: "pass", Category: cli.GroupLimits,
			Usage: "what an undecided limit does, whose interval includes its bound: pass, or fail with status 5"}},
	}, findingFlags(), cli.RunFlags()))
}

// run is the command: it checks the options and does what they ask.
func run(c *urfave.Context) error {
	o, err := parseOptions(c)
	if err != nil {
		return err
	}
	if o.scan, err = cli.NewScan(c, o.diagnostics); err != nil {
		return err
	}
	if slices.ContainsFunc(o.scan.Inputs, func(input scan.Input) bool { return input.Once }) {
		// What writes to the pipe is interrupted too, and may have more to say.
		cli.OnInterrupt(live.Grace, func() {})
	}
	if o.format.rows != nil {
		return runStream(o)
	}
	return runSummary(o)
}

// A seen is what commands keep of an interval: its number of values for -v, and its counts for
// limits over time.
type seen struct {
	count int64
	sum   merge.Sum
}

// sayInterval prints the line of an interval or a window, if -v is given.
func sayInterval(c *urfave.Context, at scan.Place, tag []byte, start, end, count int64) {
	if c.Bool("v") {
		cli.Verbosef(c, "%s:%d: %s (%.3f to %.3f) count=%d", at.Name, at.Line, tags.Text(tag), float64(start)/1000, float64(end)/1000, count)
	}
}
