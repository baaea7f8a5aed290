package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/output"
)

// mostLines is the number of lines that csv writes if nobody chose the width of bins. More are of
// no use to a spreadsheet, and seldom what was meant.
const mostLines = 1_000_000

// csvFormat counts values in bins of equal width.
var csvFormat = format{
	name: "csv", what: "bins of equal width", bare: true, uses: valueOptions,
	flags: func() []urfave.Flag {
		return []urfave.Flag{
			&urfave.Float64Flag{Name: "obs", Aliases: []string{"outputBucketSize", "output-bucket-size"}, Value: 100, Category: cli.GroupRare,
				Usage: "the `SIZE` of a bin of csv, and of the first bin of csve, in printed units"},
		}
	},
	check: checkBins,
	write: func(r *report) error {
		width := r.c.Float64("obs")
		if lines := output.Bins(r.summaries, r.options.scale, width); lines > mostLines && !cli.Given(r.c, "obs") {
			return fmt.Errorf("-st csv would write %.0f lines: -obs makes bins wider than %v, -st csvr writes the recorded values only, and -st timeline is for spreadsheets",
				lines, width)
		}
		return r.apart(".csv", func(w io.Writer, s *output.Summary) error { return output.CSV(w, s, r.options.scale, width) })
	},
}

// csveFormat counts values in bins that double in width.
var csveFormat = format{
	name: "csve", what: "bins that double", bare: true, uses: slices.Concat([]string{"obs"}, valueOptions), check: checkBins,
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

func checkBins(o *options) error {
	if width := o.c.Float64("obs"); !(width > 0) || math.IsInf(width, 1) {
		return cli.Usagef("-obs %v: a bin's size must be a positive number", width)
	}
	return nil
}
