package main

import (
	"fmt"
	"io"
	"slices"

	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/report"
	"hdrkit/output"
)

// maxTicks is the largest number of steps in each half of hgrm. There are about thirty halves, and
// all lines are kept until they are written: 270,000 lines, 15 MB.
const maxTicks = 10_000

// hgrmFormat is the percentile distribution that other tools plot.
var hgrmFormat = format{
	Type: cli.Type{
		Name:   "hgrm",
		What:   "for plotters",
		Others: "histogram",
	},
	ending: ".hgrm",
	values: bare,
	uses:   valueOptions,
	option: func(f *flags) cli.Option {
		return cli.Option{
			Name:    "tph",
			Aliases: "percentilesOutputTicksPerHalf ticks-per-half",
			Group:   cli.GroupRare,
			Hidden:  true,
			Value:   cli.Int(&f.format.ticks, "5", cli.Between(1, maxTicks)),
			Usage: fmt.Sprintf("print this number of `STEPS` in each half of the distance to "+
				"100%%, in hgrm, up to %d", maxTicks),
		}
	},
	extension: ".hgrm",
	each: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		return output.HGRM(w, s, q.page.details.ticks)
	},
}

// listFormat lists the tags, for -lt.
var listFormat = format{
	all: func(w io.Writer, q *question, a *answer) error {
		rows := [][]string{{"TAG", "INTERVALS", "VALUES"}}
		for _, s := range a.shown {
			rows = append(rows, []string{s.Name(), fmt.Sprint(s.Intervals), fmt.Sprint(s.Counts().TotalCount())})
		}
		return report.Columns(w, rows)
	},
}

// percentilesFormat is that of HdrLogProcessing, one figure in a line.
var percentilesFormat = format{
	Type: cli.Type{
		Name:   "percentiles",
		What:   "a figure a line",
		Others: "percentile quantiles",
	},
	values:    bare,
	reference: true,
	uses:      slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions),
	each: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		figures := &q.figures.printed
		return output.Percentiles(w, s, figures.Percentiles, figures.Shares)
	},
}

// csvFormat is a table for other programs, and rows over time with -agg. HdrLogProcessing's csv is
// bins, whose width -obs says.
var csvFormat = format{
	Type: cli.Type{
		Name: "csv",
		What: "the table as CSV",
	},
	ending: ".csv",
	uses:   slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions),
	instead: func(f *flags) *format {
		switch {
		case f.given.bucket:
			return &binsFormat
		case f.given.windows:
			return &csvRows
		}
		return nil
	},
	each: func(w io.Writer, q *question, s *output.Summary, first bool) error {
		figures := &q.figures.printed
		return output.SummaryCSV(w, s, figures.Percentiles, figures.Shares, first)
	},
}

// binsFormat counts values in bins of equal width.
var binsFormat = format{
	Type: cli.Type{
		Name: "bins",
		What: "bins of equal width",
	},
	values: bare,
	uses:   valueOptions,
	option: func(f *flags) cli.Option {
		return cli.Option{
			Name:    "obs",
			Aliases: "outputBucketSize output-bucket-size",
			Group:   cli.GroupRare,
			Hidden:  true,
			Value:   cli.Float(&f.format.bucket, "100", cli.Positive),
			Given:   &f.given.bucket,
			Usage:   "the `SIZE` of bins, and of the first one of bins2, in printed units",
		}
	},
	extension: binsExtension,
	each: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		return output.Bins(w, s, q.page.details.bucket)
	},
}

// doublingFormat counts values in bins that double in width.
var doublingFormat = format{
	Type: cli.Type{
		Name:   "bins2",
		What:   "bins that double",
		Others: "csve",
		Hidden: true,
	},
	values:    bare,
	uses:      slices.Concat([]string{"obs"}, valueOptions),
	extension: binsExtension,
	each: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		return output.DoublingBins(w, s, q.page.details.bucket)
	},
}

// valuesFormat has the recorded values.
var valuesFormat = format{
	Type: cli.Type{
		Name:   "values",
		What:   "recorded values",
		Others: "csvr",
		Hidden: true,
	},
	values:    bare,
	uses:      valueOptions,
	extension: binsExtension,
	each:      func(w io.Writer, q *question, s *output.Summary, _ bool) error { return output.RecordedValues(w, s) },
}

// binsExtension is that of the files of bins and values, one for each tag.
const binsExtension = ".csv"

// jsonFormat has all that is known of a summary, also with -sla.
var jsonFormat = format{
	Type: cli.Type{
		Name: "json",
		What: "one JSON document",
	},
	ending: ".json",
	uses:   slices.Concat([]string{"p", "tz", "ci"}, arrangeOptions, valueOptions, periodOptions),
	finds:  true,
	all: func(w io.Writer, q *question, a *answer) error {
		from := &q.source
		figures := &q.figures.printed
		doc := output.StreamDocument(a.shown, figures.Percentiles, figures.Shares, q.page.zone)
		asked.Describe(doc, from.scan.Inputs, q.figures.period, from.diagnostics)
		doc.Findings = a.findings
		doc.Limits = gate.Documents(a.verdicts)
		if a.watch != nil {
			doc.Broken(a.watch.Breaches())
		}
		if q.lists.worst > 0 {
			doc.Worst(a.moments)
		}
		if q.lists.who {
			doc.Who(a.shares.Of, a.shares.Scale)
		}
		return output.JSON(w, doc)
	},
}
