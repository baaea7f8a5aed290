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

// timelineFormat is CSV.
var timelineFormat = format{
	name: "timeline", what: "CSV over time", others: "series", bare: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) {
		return output.Timeline(w, o.scale, o.zone), nil
	},
}

// ndjsonFormat is a JSON object in each line.
var ndjsonFormat = format{
	name: "ndjson", what: "JSON over time", others: "jsonl", bare: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) { return output.NDJSON(w, o.scale, o.zone), nil },
}
