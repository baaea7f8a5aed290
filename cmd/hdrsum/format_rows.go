package main

import (
	"io"
	"slices"

	"hdrkit/output"
)

// rowsFormat is a table with a line for each window, for people.
var rowsFormat = format{
	name: "rows", what: "a table over time", readable: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) {
		return output.RowTable(w, o.scale, o.zone), nil
	},
}
