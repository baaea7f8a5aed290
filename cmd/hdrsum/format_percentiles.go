package main

import (
	"io"
	"slices"

	"hdrkit/output"
)

// percentilesFormat is that of HdrLogProcessing, one figure in a line.
var percentilesFormat = format{
	name: "percentiles", what: "a figure a line", others: "percentile quantiles", bare: true, uses: slices.Concat([]string{"p"}, arrangeOptions, valueOptions, periodOptions), overs: true,
	write: func(r *report) error {
		return r.together(func(w io.Writer, s *output.Summary) error {
			return output.Percentiles(w, s, r.options.scale, r.options.percentiles)
		})
	},
}
