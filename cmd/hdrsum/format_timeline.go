package main

import (
	"io"
	"slices"

	"hdrkit/output"
)

// timelineFormat is CSV.
var timelineFormat = format{
	name: "timeline", what: "CSV over time", others: "series", bare: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) {
		return output.Timeline(w, o.scale, o.zone), nil
	},
}
