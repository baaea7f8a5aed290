package main

import (
	"fmt"
	"io"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/output"
)

// maxTicks is the largest number of steps in each half of hgrm. There are about thirty halves, and
// all lines are kept until they are written: 270,000 lines, 15 MB.
const maxTicks = 10_000

// hgrmFormat is the percentile distribution that other tools plot.
var hgrmFormat = format{
	name: "hgrm", what: "for plotters", others: "histogram", bare: true, uses: valueOptions,
	flags: func() []urfave.Flag {
		return []urfave.Flag{
			&urfave.IntFlag{Name: "tph", Aliases: []string{"percentilesOutputTicksPerHalf", "ticks-per-half"}, Value: 5, Category: cli.GroupRare,
				Usage: fmt.Sprintf("print this number of `STEPS` in each half of the distance to 100%%, in hgrm, up to %d", maxTicks)},
		}
	},
	check: func(o *options) error {
		switch ticks := o.c.Int("tph"); {
		case ticks < 1:
			return cli.Usagef("-tph %d: at least one step is needed", ticks)
		case ticks > maxTicks:
			return cli.Usagef("-tph %d: at most %d steps are printed in each half", ticks, maxTicks)
		}
		return nil
	},
	write: func(r *report) error {
		return r.apart(".hgrm", func(w io.Writer, s *output.Summary) error {
			return output.HGRM(w, s, r.options.scale, r.c.Int("tph"))
		})
	},
}

// percentilesFormat is that of HdrLogProcessing, one figure in a line.
var percentilesFormat = format{
	name: "percentiles", what: "a figure a line", others: "percentile quantiles", bare: true, uses: slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions), overs: true,
	write: func(r *report) error {
		return r.together(func(w io.Writer, s *output.Summary) error {
			return output.Percentiles(w, s, r.options.scale, r.options.percentiles)
		})
	},
}
