package main

import (
	"io"
	"slices"

	"hdrkit/output"
)

// ndjsonFormat is a JSON object in each line.
var ndjsonFormat = format{
	name: "ndjson", what: "JSON over time", others: "jsonl", bare: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) { return output.NDJSON(w, o.scale, o.zone), nil },
}
