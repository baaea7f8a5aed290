package measure

import "hdrkit/internal/base/unit"

// vegetaCSV and vegetaJSON are what vegeta encode writes: https://github.com/tsenart/vegeta#encode-command.
// The time is that of the start of the request. The CSV has no header.
var (
	vegetaCSV = Format{
		Name:    "vegeta",
		columns: Columns{Time: "timestamp", Value: "latency", OK: "code", Tags: []string{"code"}},
		unit:    unit.Nanosecond,
		detect:  func(h *head) bool { return len(h.columns) == 12 && guess([]byte(h.columns[0])) == unit.Nanosecond },
		names:   []string{"timestamp", "code", "latency", "bytes_out", "bytes_in", "error", "body", "attack", "seq", "method", "url", "headers"},
		open:    openTable,
	}
	vegetaJSON = Format{
		Name:    "vegeta",
		columns: vegetaCSV.columns,
		unit:    unit.Nanosecond,
		marks:   []string{`"timestamp":`, `"latency":`, `"code":`, `"seq":`},
		open:    openObjects,
	}
)
