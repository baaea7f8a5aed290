package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// maxTicks is the largest number of steps in each half of hgrm. There are about thirty halves, and
// all lines are kept until they are written: 270,000 lines, 15 MB.
const maxTicks = 10_000

// hgrmFormat is the percentile distribution that other tools plot.
var hgrmFormat = format{
	name: "hgrm", what: "for plotters", others: "histogram", bare: true, uses: valueOptions,
	flag: func() urfave.Flag {
		return cli.Option{Check: cli.Between(1, maxTicks), Flag: &urfave.IntFlag{Name: "tph", Aliases: []string{"percentilesOutputTicksPerHalf", "ticks-per-half"}, Value: 5, Category: cli.GroupRare,
			Usage: fmt.Sprintf("print this number of `STEPS` in each half of the distance to 100%%, in hgrm, up to %d", maxTicks)}}
	},
	extension: ".hgrm",
	each: func(w io.Writer, r *report, s *output.Summary) error {
		return output.HGRM(w, s, r.scale, r.c.Int("tph"))
	},
}

// listFormat lists the tags, for -lt.
var listFormat = format{
	all: func(w io.Writer, r *report) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "TAG\tINTERVALS\tVALUES\n")
		for _, s := range r.shown {
			fmt.Fprintf(t, "%s\t%d\t%d\n", s.Name(), s.Intervals, s.Counts().TotalCount())
		}
		return t.Flush()
	},
}

// percentilesFormat is that of HdrLogProcessing, one figure in a line.
var percentilesFormat = format{
	name: "percentiles", what: "a figure a line", others: "percentile quantiles", bare: true, uses: slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions),
	each: func(w io.Writer, r *report, s *output.Summary) error {
		return output.Percentiles(w, s, r.scale, r.percentiles)
	},
}

// csvFormat counts values in bins of equal width.
var csvFormat = format{
	name: "csv", what: "bins of equal width", bare: true, uses: valueOptions,
	flag: func() urfave.Flag {
		return cli.Option{Check: cli.Positive, Flag: &urfave.Float64Flag{Name: "obs", Aliases: []string{"outputBucketSize", "output-bucket-size"}, Value: 100, Category: cli.GroupRare,
			Usage: "the `SIZE` of a bin of csv, and of the first bin of csve, in printed units"}}
	},
	extension: ".csv",
	each: func(w io.Writer, r *report, s *output.Summary) error {
		return output.CSV(w, s, r.scale, r.c.Float64("obs"))
	},
}

// csveFormat counts values in bins that double in width.
var csveFormat = format{
	name: "csve", what: "bins that double", bare: true, uses: slices.Concat([]string{"obs"}, valueOptions),
	extension: ".csv",
	each: func(w io.Writer, r *report, s *output.Summary) error {
		return output.CSVE(w, s, r.scale, r.c.Float64("obs"))
	},
}

// csvrFormat has the recorded values.
var csvrFormat = format{
	name: "csvr", what: "recorded values", bare: true, uses: valueOptions,
	extension: ".csv",
	each:      func(w io.Writer, r *report, s *output.Summary) error { return output.CSVR(w, s, r.scale) },
}

// jsonFormat has all that is known of a summary, also with -baseline and -sla.
var jsonFormat = format{
	name: "json", what: "one JSON document", uses: slices.Concat([]string{"p", "tz", "ci"}, arrangeOptions, valueOptions, periodOptions),
	breaches: true,
	all: func(w io.Writer, r *report) error {
		doc := r.document(r.shown, r.scan.Inputs)
		if r.baseline {
			doc.Compare(r.document(r.before.Summaries, r.inputs), r.pairs, r.percentiles)
		}
		if len(r.limits) > 0 {
			doc.Limits = r.verdicts
		}
		if r.watch != nil {
			doc.Broken(r.watch.Breaches())
		}
		if r.worst > 0 {
			doc.Worst(r.moments, r.levels, r.scale)
		}
		if r.who {
			doc.Who(r.shares, r.scale)
		}
		return output.JSON(w, doc)
	},
}

// document returns summaries of inputs for JSON.
func (r *report) document(summaries []*output.Summary, inputs []scan.Input) *output.Document {
	doc := output.NewDocument(summaries, r.scale, r.percentiles, r.zone)
	doc.PeriodMode, doc.SkippedLines = r.mode, r.diagnostics.Skipped()
	for _, input := range inputs {
		doc.Inputs = append(doc.Inputs, input.Name)
	}
	return doc
}
