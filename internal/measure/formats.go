package measure

import (
	"bytes"

	"hdrkit/hdrlog"
)

// Formats are all formats that a [Reader] reads. If the user names none, the first format that
// detects a file reads it.
var Formats = []Format{
	jtl, jtlXML, k6CSV, k6JSON, vegetaCSV, vegetaJSON, hey, ab, gatling, tsung, goYCSB, cockroach,
	oha, fortio, ghz, h2load, fio, pgbench, caddy, envoy, istio, haproxy, uwsgi, squid, accessLog, w3c,
	hyperfine, llm, aiperf, guidellm, jmh, locust, jsonArray, hist, ndjson, jvm, gctrace, traceGC, heroku, logfmt, csv, values, lines,
}

// k6CSV and k6JSON are what k6 writes with [--out csv] and [--out json]. A row is a value of one
// of many metrics. Times are ends of requests.
//
// [--out csv]: https://grafana.com/docs/k6/latest/results-output/real-time/csv/
// [--out json]: https://grafana.com/docs/k6/latest/results-output/real-time/json/
var (
	k6CSV = Format{
		Name: "k6",
		columns: Columns{
			Time:   "timestamp",
			Value:  "metric_value",
			OK:     "expected_response",
			Tags:   []string{"name"},
			metric: "metric_name",
		},
		unit:    hdrlog.Millisecond,
		atEnd:   true,
		metric:  "http_req_duration",
		detects: hasHeader("metric_name", "timestamp", "metric_value"),
		open:    openTable,
	}
	k6JSON = Format{
		Name: "k6",
		columns: Columns{
			Time:   ".data.time",
			Value:  ".data.value",
			OK:     ".data.tags.expected_response",
			Tags:   []string{".data.tags.name"},
			metric: ".metric",
		},
		unit:    hdrlog.Millisecond,
		atEnd:   true,
		metric:  "http_req_duration",
		detects: hasPaths(".metric", ".data."),
		open:    openObjects,
		where:   []Condition{{Column: ".type", Value: "Point"}}, // other lines define metrics
	}
)

// vegetaCSV and vegetaJSON are what [vegeta encode] writes. Times are starts of requests. The CSV
// has no header.
//
// [vegeta encode]: https://github.com/tsenart/vegeta#encode-command
var (
	vegetaCSV = Format{
		Name:    "vegeta",
		columns: Columns{Time: "timestamp", Value: "latency", OK: "code", Tags: []string{"code"}},
		unit:    hdrlog.Nanosecond,
		detects: isVegeta,
		open: func(s *setup, h *head) (fieldFinder, error) {
			return newTable(s, h, vegetaColumns[:len(h.columns)], nil)
		},
	}
	vegetaJSON = Format{
		Name:    "vegeta",
		columns: vegetaCSV.columns,
		unit:    hdrlog.Nanosecond,
		detects: hasPaths(".timestamp", ".latency", ".code", ".seq"),
		open:    openObjects,
	}
)

// vegetaColumns are the columns in the newest version of vegeta. Version 6 has the first six
// columns, and each later version some more.
var vegetaColumns = []string{
	"timestamp", "code", "latency", "bytes_out", "bytes_in", "error", "body", "attack",
	"seq", "method", "url", "headers",
}

func isVegeta(h *head) bool {
	if len(h.columns) < 6 || len(h.columns) > len(vegetaColumns) || h.delimiter != ',' {
		return false
	}
	code, latency := []byte(h.columns[1]), []byte(h.columns[2])
	return timeUnitOf([]byte(h.columns[0])) == hdrlog.Nanosecond && isDigits(code) && len(code) <= 3 && isDigits(latency)
}

// hey is what [hey] -o csv writes. Times are starts of requests, in seconds since the start of the
// run, which the file does not have. Rows are in the order of the requests' ends.
//
// [hey]: https://github.com/rakyll/hey
var hey = Format{
	Name:      "hey",
	columns:   Columns{Time: "offset", Value: "response-time", OK: "status-code"},
	unit:      hdrlog.Second,
	timeUnit:  hdrlog.Second,
	unordered: true,
	detects:   hasHeader("response-time", "status-code", "offset"),
	open:      openTable,
}

// ab is what [ab -g] writes. Times are starts of requests, in whole seconds. Rows are in the order
// of their values.
//
// [ab -g]: https://httpd.apache.org/docs/2.4/programs/ab.html
var ab = Format{
	Name:      "ab",
	columns:   Columns{Time: "seconds", Value: "ttime"},
	unit:      hdrlog.Millisecond,
	unordered: true,
	detects:   hasHeader("starttime", "seconds", "ctime", "dtime", "ttime", "wait"),
	open:      openTable,
}

// These are the default logs of proxies. The default logs of nginx and Apache lack the duration of
// requests: see [accessLog].
var (
	// caddy is the access log of Caddy: https://caddyserver.com/docs/logging. A line is written at the end of its request.
	caddy = Format{
		Name:    "caddy",
		columns: Columns{Time: ".ts", Value: ".duration", OK: ".status"},
		unit:    hdrlog.Second,
		atEnd:   true,
		detects: hasPaths(".ts", ".logger=http.log.access", ".duration"),
		open:    openObjects,
		where:   []Condition{{Column: ".msg", Value: "handled request"}},
	}
	// envoy is the [access log of Envoy]. Times are starts of requests.
	//
	// [access log of Envoy]: https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#default-format-string
	envoy = Format{
		Name:    "envoy",
		columns: Columns{Time: "start", Value: "duration", OK: "status"},
		unit:    hdrlog.Millisecond,
		detects: matches(`^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] ".*" \d+ \S+ \d+ \d+ \d+ (\d+|-) "`),
		open: patternOf(`[$start] "$request" $status $flags $received $sent $duration $upstream_time ` +
			`"$forwarded_for" "$user_agent" "$id" "$host" "$upstream"`),
	}
	// istio is the [access log of Istio's proxies], which are Envoys.
	//
	// [access log of Istio's proxies]: https://istio.io/latest/docs/tasks/observability/logs/access-log/#default-access-log-format
	istio = Format{
		Name:    "istio",
		columns: envoy.columns,
		unit:    hdrlog.Millisecond,
		detects: matches(`^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] ".*" \d+ \S+ \S+ \S+ ".*" \d+ \d+ \d+ (\d+|-) "`),
		open: patternOf(`[$start] "$request" $status $flags $details $termination "$failure" $received $sent ` +
			`$duration $upstream_time "$forwarded_for" "$user_agent" "$id" "$host" "$upstream" $rest`),
	}
	// uwsgi is the [default log of uWSGI]. Times are starts of requests, without a time zone.
	//
	// [default log of uWSGI]: https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html
	uwsgi = Format{
		Name:    "uwsgi",
		columns: Columns{Time: "time", Value: "value", OK: "status", unit: "unit"},
		detects: matches(`^\[pid: \d+\|app: -?\d+\|req: [-\d/]+\] .* => generated \d+ bytes in \d+ \w+ `),
		open: expressionOf(`\} \[(?P<time>[^]]+)\] (?P<method>\S+) (?P<path>\S*) => generated \d+ bytes in ` +
			`(?P<value>\d+) (?P<unit>\w+) .*?\(\S+ (?P<status>\d+)\)`),
	}
	// squid is the native log of Squid: https://wiki.squid-cache.org/Features/LogFormat. Times are ends of requests.
	squid = Format{
		Name:    "squid",
		columns: Columns{Time: "time", Value: "elapsed", OK: "status"},
		unit:    hdrlog.Millisecond,
		atEnd:   true,
		detects: matches(`^\d{10}\.\d{3} +\d+ \S+ [A-Z_]+/\d{3} \d+ \S+ \S+ \S+ \S+/\S+ \S+$`),
		open:    patternOf("$time $elapsed $client $result/$status $bytes $method $uri $rest"),
	}
	// heroku is the [log of Heroku's router]. A line is written at the end of its request.
	//
	// [log of Heroku's router]: https://devcenter.heroku.com/articles/http-routing#heroku-router-log-format
	heroku = Format{
		Name:    "heroku",
		columns: Columns{Time: "time", Value: "service", OK: "status"},
		atEnd:   true,
		detects: matches(`heroku[\[ ]router\]?[: -]+ ?.*\bat=.* service=\d+ms `),
		open:    func(s *setup, _ *head) (fieldFinder, error) { return newPairs(s), nil },
	}
	// haproxy is what HAProxy writes with [option httplog]. Times are starts of requests, without
	// a time zone. Syslog may put text before the client.
	//
	// [option httplog]: https://docs.haproxy.org/2.6/configuration.html#8.2.3
	haproxy = Format{
		Name:    "haproxy",
		columns: Columns{Time: "accept", Value: "total", OK: "status"},
		unit:    hdrlog.Millisecond,
		detects: matches(`\S+:\d+ \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\] \S+ \S+/\S+ (-?\d+/){4}\+?\d+ -?\d+ `),
		open:    patternOf(`$client [$accept] $frontend $backend/$server $idle/$queue/$connect/$response/$total $status $bytes $detail "$request`),
	}
)

// tsung is tsung.dump, which Tsung writes with [dumptraffic="protocol"]. Times are ends of
// requests. Several machines write the rows, in no order.
//
// [dumptraffic="protocol"]: http://tsung.erlang-projects.org/user_manual/conf-file.html
var tsung = Format{
	Name:      "tsung",
	columns:   Columns{Time: "#date", Value: "duration", OK: "HTTP status"},
	unit:      hdrlog.Millisecond,
	atEnd:     true,
	unordered: true,
	detects:   hasHeader("#date", "pid", "id", "HTTP status", "duration"),
	open:      openTable,
}

// goYCSB is what go-ycsb writes with [measurementtype=csv]. All rows of an operation stand
// together.
//
// [measurementtype=csv]: https://github.com/pingcap/go-ycsb/blob/master/pkg/measurement/csv.go
var goYCSB = Format{
	Name:      "go-ycsb",
	columns:   Columns{Time: "timestamp_us", Value: "latency_us", Tags: []string{"operation"}},
	unit:      hdrlog.Microsecond,
	timeUnit:  hdrlog.Microsecond,
	unordered: true,
	detects:   hasHeader("operation", "timestamp_us", "latency_us"),
	open:      openTable,
}

// ghzPaths are paths in the report of ghz, before its requests.
var ghzPaths = []string{".endReason", ".options.", ".fastest"}

// These are the logs of load generators that have no header, or times since the start of the run.
var (
	// fio is what fio [--write_lat_log] writes. Times are ends of operations. A file whose block
	// size is 0 has averages, and is not detected.
	//
	// [--write_lat_log]: https://fio.readthedocs.io/en/latest/fio_doc.html#log-file-formats
	fio = Format{
		Name:     "fio",
		columns:  Columns{Time: "time", Value: "latency", Tags: []string{"operation"}},
		unit:     hdrlog.Nanosecond,
		timeUnit: hdrlog.Millisecond,
		atEnd:    true,
		detects:  matches(`^\d+, \d+, [012], [1-9]\d*, \d+(, .*)?$`),
		open:     patternOf("$time, $latency, $direction, $size, $rest"),
	}
	// pgbench is what [pgbench -l] writes. Times are ends of transactions. If a transaction failed
	// or was skipped, a word stands in place of its latency.
	//
	// [pgbench -l]: https://www.postgresql.org/docs/15/pgbench.html
	pgbench = Format{
		Name:        "pgbench",
		columns:     Columns{Time: "end", Value: "latency"},
		unit:        hdrlog.Microsecond,
		atEnd:       true,
		failedValue: expression(`^[a-z]+$`),
		detects:     matches(`^\d+ \d+ (\d+|[a-z]+) \d+ \d{9,10} \d{1,6}( \d+)*$`),
		open:        patternOf("$client $transaction $latency $script $stamp"),
	}
	// h2load is what [h2load --log-file] writes. Times are starts of requests. The status of a
	// stream that failed is -1.
	//
	// [h2load --log-file]: https://nghttp2.org/documentation/h2load.1.html
	h2load = Format{
		Name:    "h2load",
		columns: Columns{Time: "start", Value: "duration", OK: "status"},
		unit:    hdrlog.Microsecond,
		detects: matches(`^\d{16}\t(-1|\d{3})\t\d+$`),
		open:    tableOf("start", "status", "duration"),
	}
	// oha is what [oha] --output-format csv writes. Times are starts of requests, in seconds since
	// the start of the run.
	//
	// [oha]: https://github.com/hatoo/oha
	oha = Format{
		Name:      "oha",
		columns:   Columns{Time: "request-start", Value: "request-duration", OK: "status"},
		unit:      hdrlog.Second,
		timeUnit:  hdrlog.Second,
		unordered: true,
		detects:   hasHeader("request-start", "Response-delay", "request-duration"),
		open:      openTable,
	}
	// fortio is what fortio load -access-log-file writes: https://github.com/fortio/fortio. Times are starts of requests.
	fortio = Format{
		Name:    "fortio",
		columns: Columns{Time: ".timestamp", Value: ".latency", OK: ".ok"},
		unit:    hdrlog.Second,
		detects: hasPaths(".latency", ".timestamp", ".thread", ".iter", ".ok"),
		open:    openObjects,
	}
	// ghz is the report of ghz -O json or -O pretty: https://ghz.sh/docs/output. Times are starts of requests.
	ghz = Format{
		Name:    "ghz",
		columns: Columns{Time: ".timestamp", Value: ".latency", OK: "!.error"},
		unit:    hdrlog.Nanosecond,
		detects: func(h *head) bool {
			if h.isJSON() && !h.isObject() {
				return textHas(h.more(16<<10, nil), ghzPaths)
			}
			return hasPaths(ghzPaths...)(h)
		},
		source: elementsOf("details"),
		open:   openObjects,
	}
)

// These are JSON documents with arrays of values, see [document].
var (
	// hyperfine is what hyperfine --export-json writes: https://github.com/sharkdp/hyperfine.
	hyperfine = Format{
		Name:    "hyperfine",
		columns: Columns{Value: "results[].times", Tags: []string{"results[].command"}},
		unit:    hdrlog.Second,
		detects: beginsDocument(".results.0.command", ".results.0.times."),
		source:  newRows,
		open:    openDocument,
	}
	// llm is what the benchmarks of [vLLM] (--save-result --save-detailed) and [SGLang]
	// (--output-file, --output-details) write. The time to the first token of a failed request is
	// 0.
	//
	// [vLLM]: https://docs.vllm.ai/en/latest/cli/bench/serve/
	// [SGLang]: https://docs.sglang.io/developer_guide/bench_serving.html
	llm = Format{
		Name:        "vllm",
		columns:     Columns{Value: "latency=ttfts+itls,ttft=ttfts,itl=itls", OK: "!errors"},
		unit:        hdrlog.Second,
		failedValue: expression(`^0(\.0*)?$`),
		detects:     beginsDocument(".total_input_tokens", ".input_lens."),
		source:      newRows,
		open:        openDocument,
	}
	// aiperf is [profile_export.jsonl] of AIPerf.
	//
	// [profile_export.jsonl]: https://docs.nvidia.com/aiperf/tutorials/metrics-analysis/working-with-profile-export-files
	aiperf = Format{
		Name: "aiperf",
		columns: Columns{
			Time: "metadata.request_start_ns",
			Value: "latency=metrics.request_latency.value,ttft=metrics.time_to_first_token.value," +
				"itl=metrics.inter_chunk_latency.value",
		},
		unit:    hdrlog.Millisecond,
		where:   []Condition{{Column: "metadata.benchmark_phase", Value: "warmup", Not: true}},
		detects: beginsDocument(".metadata.request_start_ns", ".metrics."),
		source:  newRows,
		open:    openDocument,
	}
	// guidellm is benchmarks.json of [GuideLLM]. Its inter-token latency (itl) is the mean of each
	// request.
	//
	// [GuideLLM]: https://github.com/vllm-project/guidellm
	guidellm = Format{
		Name: "guidellm",
		columns: Columns{
			Time: "benchmarks[].requests.successful[].request_start_time",
			Value: "latency=benchmarks[].requests.successful[].request_latency," +
				"ttft=benchmarks[].requests.successful[].time_to_first_token_ms," +
				"itl=benchmarks[].requests.successful[].inter_token_latency_ms",
			Tags: []string{
				"benchmarks[].config.strategy.type_", "benchmarks[].config.strategy.rate",
				"benchmarks[].config.strategy.streams",
			},
			unit: seriesUnit,
		},
		unit:    hdrlog.Second,
		detects: beginsDocument(".metadata.guidellm_version", ".benchmarks."),
		source:  newRows,
		open:    openDocument,
	}
	// jmh is what [JMH] writes with -bm sample -rf json. Values and their counts are in arrays of
	// forks and iterations.
	//
	// [JMH]: https://github.com/openjdk/jmh
	jmh = Format{
		Name: "jmh",
		columns: Columns{
			Value: "[].primaryMetric.rawDataHistogram[][][][0]",
			Count: "[].primaryMetric.rawDataHistogram[][][][1]",
			Tags:  []string{"[].benchmark", "[].params{}"},
			unit:  "[].primaryMetric.scoreUnit",
		},
		detects: func(h *head) bool {
			raw := []byte(`"rawDataHistogram"`)
			return beginsDocument(".0.jmhVersion")(h) &&
				bytes.Contains(h.more(64<<10, func(text []byte) bool { return bytes.Contains(text, raw) }), raw)
		},
		source: newRows,
		open:   openDocument,
	}
	// locust is what [locust --json] prints, and --json-file writes. locust rounds the
	// response times.
	//
	// [locust --json]: https://docs.locust.io/en/stable/configuration.html
	locust = Format{
		Name: "locust",
		columns: Columns{
			Value: "[].response_times{}",
			Tags:  []string{"[].name"},
		},
		unit:    hdrlog.Millisecond,
		detects: beginsDocument(".0.num_none_requests", ".0.response_times."),
		source:  newRows,
		open:    openDocument,
	}
)
