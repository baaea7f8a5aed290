package measure

import "hdrkit/internal/base/unit"

// ab is what ab -g writes: https://httpd.apache.org/docs/2.4/programs/ab.html. The time is that of
// the start, in whole seconds. Rows are in the order of their values.
var ab = Format{
	Name:      "ab",
	columns:   Columns{Time: "seconds", Value: "ttime"},
	unit:      unit.Millisecond,
	unordered: true,
	header:    []string{"starttime", "seconds", "ctime", "dtime", "ttime", "wait"},
	open:      openTable,
}
