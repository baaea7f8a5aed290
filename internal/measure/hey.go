package measure

import "hdrkit/internal/base/unit"

// hey is what hey -o csv writes: https://github.com/rakyll/hey. The time is that of the start,
// since the start of the run, which the file does not have. Rows are in the order of their ends.
var hey = Format{
	Name:      "hey",
	columns:   Columns{Time: "offset", Value: "response-time", OK: "status-code"},
	unit:      unit.Second,
	timeUnit:  unit.Second,
	unordered: true,
	header:    []string{"response-time", "status-code", "offset"},
	open:      openTable,
}
