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
// all lines are kept until they are written: 270,000 lines take 15 MB.
const maxTicks = 10_000

// hgrmFormat is the percentile distribution of HdrHistogram, which other tools plot.
var hgrmFormat = format{
	kind: cli.Type{
		Name:   "hgrm",
		What:   "for plotters",
		Others: "histogram",
	},
	ending:    ".hgrm",
	unitStyle: bare,
	options:   valueOptions,
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
	writeSummary: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		return output.HGRM(w, s, q.page.details.ticks)
	},
}

// listFormat is the list of tags, for -lt.
var listFormat = format{
	writeAnswer: func(w io.Writer, q *question, a *answer) error {
		rows := [][]string{{"TAG", "INTERVALS", "VALUES"}}
		for _, s := range a.printed {
			rows = append(rows, []string{s.Name(), fmt.Sprint(s.Intervals), fmt.Sprint(s.Counts().TotalCount())})
		}
		return report.Columns(w, rows)
	},
}

// percentilesFormat is the format of HdrLogProcessing with one figure on each line.
var percentilesFormat = format{
	kind: cli.Type{
		Name:   "percentiles",
		What:   "a figure a line",
		Others: "percentile quantiles",
	},
	unitStyle:        bare,
	referencePeriods: true,
	options:          slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions),
	writeSummary: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		figures := &q.figures.printed
		return output.Percentiles(w, s, figures.Percentiles, figures.Shares)
	},
}

// csvFormat is the table as CSV, or rows over time with -agg. In HdrLogProcessing, csv is the
// format bins, so -obs chooses bins.
var csvFormat = format{
	kind: cli.Type{
		Name: "csv",
		What: "the table as CSV",
	},
	ending:  ".csv",
	options: slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions),
	replacement: func(f *flags) *format {
		switch {
		case f.given.bucket:
			return &binsFormat
		case f.given.windows:
			return &csvRows
		}
		return nil
	},
	writeSummary: func(w io.Writer, q *question, s *output.Summary, first bool) error {
		figures := &q.figures.printed
		return output.SummaryCSV(w, s, figures.Percentiles, figures.Shares, first)
	},
}

// binsFormat is counts of values in bins of equal width.
var binsFormat = format{
	kind: cli.Type{
		Name: "bins",
		What: "bins of equal width",
	},
	unitStyle: bare,
	options:   valueOptions,
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
	writeSummary: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		return output.Bins(w, s, q.page.details.bucket)
	},
}

// doublingFormat is counts of values in bins of which each is twice as wide as the one before.
var doublingFormat = format{
	kind: cli.Type{
		Name:   "bins2",
		What:   "bins that double",
		Others: "csve",
		Hidden: true,
	},
	unitStyle: bare,
	options:   slices.Concat([]string{"obs"}, valueOptions),
	extension: binsExtension,
	writeSummary: func(w io.Writer, q *question, s *output.Summary, _ bool) error {
		return output.DoublingBins(w, s, q.page.details.bucket)
	},
}

// valuesFormat is the recorded values with their counts.
var valuesFormat = format{
	kind: cli.Type{
		Name:   "values",
		What:   "recorded values",
		Others: "csvr",
		Hidden: true,
	},
	unitStyle:    bare,
	options:      valueOptions,
	extension:    binsExtension,
	writeSummary: func(w io.Writer, q *question, s *output.Summary, _ bool) error { return output.RecordedValues(w, s) },
}

// binsExtension is the extension of each tag's file of bins or values.
const binsExtension = ".csv"

// jsonFormat is a JSON document with everything that is known of the summaries, also with -sla.
var jsonFormat = format{
	kind: cli.Type{
		Name: "json",
		What: "one JSON document",
	},
	ending:         ".json",
	options:        slices.Concat([]string{"p", "tz", "ci"}, arrangeOptions, valueOptions, periodOptions),
	printsFindings: true,
	writeAnswer: func(w io.Writer, q *question, a *answer) error {
		from := &q.source
		figures := &q.figures.printed
		doc := output.StreamDocument(a.printed, figures.Percentiles, figures.Shares, q.page.zone)
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
