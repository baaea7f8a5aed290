package measure

import "hdrkit/internal/base/unit"

// k6CSV and k6JSON are what k6 writes with --out csv and --out json:
// https://grafana.com/docs/k6/latest/results-output/real-time/csv/ and
// https://grafana.com/docs/k6/latest/results-output/real-time/json/. A row is one value of one of
// many metrics. Its time is that of the end of the request.
var (
	k6CSV = Format{
		Name:    "k6",
		columns: Columns{Time: "timestamp", Value: "metric_value", OK: "expected_response", Tags: []string{"name"}, metric: "metric_name"},
		unit:    unit.Millisecond,
		end:     true,
		metric:  "http_req_duration",
		header:  []string{"metric_name", "timestamp", "metric_value"},
		open:    openTable,
	}
	k6JSON = Format{
		Name:    "k6",
		columns: Columns{Time: ".data.time", Value: ".data.value", OK: "expected_response", Tags: []string{"name"}, metric: ".metric"},
		unit:    unit.Millisecond,
		end:     true,
		metric:  "http_req_duration",
		marks:   []string{`"metric":`, `"data":{`},
		open:    openObjects,
		prefix:  ".data.tags.",
		only:    [2]string{".type", "Point"}, // other lines define metrics
	}
)
