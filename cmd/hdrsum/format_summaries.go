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
	write: func(r *report) error {
		return r.apart(".hgrm", func(w io.Writer, s *output.Summary) error {
			return output.HGRM(w, s, r.options.scale, r.c.Int("tph"))
		})
	},
}

// listFormat lists the tags, for -lt.
var listFormat = format{
	write: func(r *report) error {
		return cli.WriteFile(r.c.String("of"), r.c.App.Writer, r.scan.Inputs, func(w io.Writer) error {
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprintf(t, "TAG\tINTERVALS\tVALUES\n")
			for _, s := range r.summaries {
				fmt.Fprintf(t, "%s\t%d\t%d\n", s.Name(), s.Intervals, s.Counts().TotalCount())
			}
			return t.Flush()
		})
	},
}

// percentilesFormat is that of HdrLogProcessing, one figure in a line.
var percentilesFormat = format{
	name: "percentiles", what: "a figure a line", others: "percentile quantiles", bare: true, uses: slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions),
	write: func(r *report) error {
		return r.together(func(w io.Writer, s *output.Summary) error {
			return output.Percentiles(w, s, r.options.scale, r.options.percentiles)
		})
	},
}

// csvFormat counts values in bins of equal width.
var csvFormat = format{
	name: "csv", what: "bins of equal width", bare: true, uses: valueOptions,
	flag: func() urfave.Flag {
		return cli.Option{Check: cli.Positive, Flag: &urfave.Float64Flag{Name: "obs", Aliases: []string{"outputBucketSize", "output-bucket-size"}, Value: 100, Category: cli.GroupRare,
			Usage: "the `SIZE` of a bin of csv, and of the first bin of csve, in printed units"}}
	},
	write: func(r *report) error {
		return r.apart(".csv", func(w io.Writer, s *output.Summary) error {
			return output.CSV(w, s, r.options.scale, r.c.Float64("obs"))
		})
	},
}

// csveFormat counts values in bins that double in width.
var csveFormat = format{
	name: "csve", what: "bins that double", bare: true, uses: slices.Concat([]string{"obs"}, valueOptions),
	write: func(r *report) error {
		return r.apart(".csv", func(w io.Writer, s *output.Summary) error {
			return output.CSVE(w, s, r.options.scale, r.c.Float64("obs"))
		})
	},
}

// csvrFormat has the recorded values.
var csvrFormat = format{
	name: "csvr", what: "recorded values", bare: true, uses: valueOptions,
	write: func(r *report) error {
		return r.apart(".csv", func(w io.Writer, s *output.Summary) error { return output.CSVR(w, s, r.options.scale) })
	},
}

// jsonFormat has all that is known of a summary, also with -baseline and -sla.
var jsonFormat = format{
	name: "json", what: "one JSON document", uses: slices.Concat([]string{"p", "tz", "ci"}, arrangeOptions, valueOptions, periodOptions),
	comparesAll: true, breaches: true,
	compare: func(w io.Writer, r *report, c *comparison) error {
		doc := r.document(r.summaries, r.scan.Inputs)
		if len(c.gates.baseline) > 0 {
			doc.Compare(r.document(c.before, c.inputs), c.pairs, r.options.percentiles)
		}
		if len(c.gates.limits) > 0 {
			doc.Limits = c.verdicts
		}
		if c.gates.watch != nil {
			doc.Broken(c.gates.watch.Breaches())
		}
		if f := &c.gates.findings; f.wanted() {
			f.document(doc, r.options.scale)
		}
		return output.JSON(w, doc)
	},
}

// document returns summaries of inputs for JSON.
func (r *report) document(summaries []*output.Summary, inputs []scan.Input) *output.Document {
	doc := output.NewDocument(summaries, r.options.scale, r.options.percentiles, r.options.zone)
	doc.PeriodMode, doc.SkippedLines, doc.Inputs = r.options.mode, r.diagnostics.Skipped(), inputNames(inputs)
	return doc
}

func inputNames(inputs []scan.Input) []string {
	names := []string{}
	for _, input := range inputs {
		names = append(names, input.Name)
	}
	return names
}
