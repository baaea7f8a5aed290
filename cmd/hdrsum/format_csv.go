package main

import (
	"io"
	"math"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/output"
)

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
		return r.apart(".csv", func(w io.Writer, s *output.Summary) error {
			return output.CSV(w, s, r.options.scale, r.c.Float64("obs"))
		})
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
