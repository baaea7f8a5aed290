package measure

import (
	"bytes"

	"hdrkit/internal/base/unit"
)

// vegetaCSV and vegetaJSON are what vegeta encode writes: https://github.com/tsenart/vegeta#encode-command.
// The time is that of the start of the request.
var (
	vegetaCSV = Format{
		Name:    "vegeta",
		columns: Columns{Time: "timestamp", Value: "latency", OK: "code", Tags: []string{"code"}},
		unit:    unit.Nanosecond,
		detect: func(begin []byte) bool {
			columns := splitAll(firstLine(begin), ',')
			return len(columns) == len(vegetaColumns) && guess([]byte(columns[0])) == unit.Nanosecond
		},
		open: func(s *setup, begin []byte) (fields, error) {
			return newTable(s, ',', vegetaColumns, len(vegetaColumns), nil)
		},
	}
	vegetaJSON = Format{
		Name:    "vegeta",
		columns: vegetaCSV.columns,
		unit:    unit.Nanosecond,
		detect: func(begin []byte) bool {
			for _, key := range []string{`"timestamp":`, `"latency":`, `"code":`, `"seq":`} {
				if begin[0] != '{' || !bytes.Contains(firstLine(begin), []byte(key)) {
					return false
				}
			}
			return true
		},
		open: func(s *setup, begin []byte) (fields, error) { return newObjects(s, "."), nil },
	}
)

// vegetaColumns are the columns of vegeta's CSV, which has no header.
var vegetaColumns = []string{
	"timestamp", "code", "latency", "bytes_out", "bytes_in", "error", "body", "attack", "seq", "method", "url", "headers",
}
