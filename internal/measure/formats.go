package measure

import "hdrkit/internal/base/unit"

// jtl is the CSV that JMeter writes (-l results.jtl), with a header and any delimiter:
// https://jmeter.apache.org/usermanual/listeners.html#csvlogformat. The time is that of the start,
// as jmeter.properties sets it (sampleresult.timestamp.start). A transaction controller has a row
// beside those of its requests.
var jtl = Format{
	Name: "jtl",
	columns: Columns{
		Time:  "timeStamp",
		Value: "elapsed",
		OK:    "success",
		Tags:  []string{"label"},
		whole: "responseMessage",
	},
	wholes: "Number of samples in transaction : ",
	unit:   unit.Millisecond,
	header: []string{"timeStamp", "elapsed"},
	open:   openTable,
}

// k6CSV and k6JSON are what k6 writes with --out csv and --out json:
// https://grafana.com/docs/k6/latest/results-output/real-time/csv/ and
// https://grafana.com/docs/k6/latest/results-output/real-time/json/. A row is one value of one of
// many metrics. Its time is that of the end of the request.
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
		unit:   unit.Millisecond,
		end:    true,
		metric: "http_req_duration",
		header: []string{"metric_name", "timestamp", "metric_value"},
		open:   openTable,
	}
	k6JSON = Format{
		Name: "k6",
		columns: Columns{
			Time:   ".data.time",
			Value:  ".data.value",
			OK:     "expected_response",
			Tags:   []string{"name"},
			metric: ".metric",
		},
		unit:   unit.Millisecond,
		end:    true,
		metric: "http_req_duration",
		marks:  []string{".metric", ".data."},
		open:   openObjects,
		prefix: ".data.tags.",
		only:   [2]string{".type", "Point"}, // other lines define metrics
	}
)

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
		marks:   []string{".timestamp", ".latency", ".code", ".seq"},
		open:    openObjects,
	}
)

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

// gatling is the text that Gatling wrote as simulation.log up to version 3.10. A line REQUEST has
// the groups around the request, its name, its start and its end:
// https://github.com/gatling/gatling/blob/v3.9.5/gatling-core/src/main/scala/io/gatling/core/stats/writer/LogFileDataWriter.scala.
var gatling = Format{
	Name:    "gatling",
	columns: Columns{Time: "start", End: "end", OK: "status", Tags: []string{"name"}},
	line:    expression(`^(ASSERTION\t[\w+/=]+|RUN\t.*\t3\.\d+\..*)$`),
	pattern: "REQUEST\t$groups\t$name\t$start\t$end\t$status\t$message",
	others:  expression(`^(ASSERTION|RUN|USER|GROUP|ERROR)\t`),
	open:    openPattern,
}

// These are the logs that proxies write if nobody configures another form. Those of nginx and
// Apache lack the time that a request took: see [accessLog].
var (
	// caddy is https://caddyserver.com/docs/logging. A line is written at the end of its request.
	caddy = Format{
		Name:    "caddy",
		columns: Columns{Time: ".ts", Value: ".duration", OK: ".status"},
		unit:    unit.Second,
		end:     true,
		marks:   []string{".ts", ".logger=http.log.access", ".duration"},
		open:    openObjects,
		only:    [2]string{".msg", "handled request"},
	}
	// envoy is https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#default-format-string.
	// The time is that of the start.
	envoy = Format{
		Name:    "envoy",
		columns: Columns{Time: "start", Value: "duration", OK: "status"},
		unit:    unit.Millisecond,
		line:    expression(`^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] ".*" \d+ \S+ \d+ \d+ \d+ (\d+|-) "`),
		pattern: `[$start] "$request" $status $flags $received $sent $duration $upstream_time "$forwarded_for" "$user_agent" "$id" "$host" "$upstream"`,
		open:    openPattern,
	}
	// haproxy is option httplog: https://docs.haproxy.org/2.6/configuration.html#8.2.3. The time is
	// that of the start, without a zone. Syslog puts more before the client.
	haproxy = Format{
		Name:    "haproxy",
		columns: Columns{Time: "accept", Value: "total", OK: "status"},
		unit:    unit.Millisecond,
		line:    expression(`\S+:\d+ \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\] \S+ \S+/\S+ (-?\d+/){4}\+?\d+ -?\d+ `),
		pattern: `$client [$accept] $frontend $backend/$server $idle/$queue/$connect/$response/$total $status $bytes $detail "$request`,
		open:    openPattern,
	}
)

// These are the logs of load generators without a header, or with times since the start of the run.
var (
	// fio is what fio --write_lat_log writes: https://fio.readthedocs.io/en/latest/fio_doc.html#log-file-formats.
	// The time is that of the end. A block size of 0 would say that values are averages.
	fio = Format{
		Name:     "fio",
		columns:  Columns{Time: "time", Value: "latency", Tags: []string{"direction"}},
		unit:     unit.Nanosecond,
		timeUnit: unit.Millisecond,
		end:      true,
		line:     expression(`^\d+, \d+, [012], [1-9]\d*, \d+(, .*)?$`),
		names:    []string{"time", "latency", "direction", "size", "offset", "priority"},
		words:    map[string]string{"0": "read", "1": "write", "2": "trim"},
		open:     openTable,
	}
	// pgbench is what pgbench -l writes: https://www.postgresql.org/docs/15/pgbench.html. The time is
	// that of the end. A transaction that failed or was skipped has no latency.
	pgbench = Format{
		Name:    "pgbench",
		columns: Columns{Time: "end", Value: "latency"},
		unit:    unit.Microsecond,
		end:     true,
		line:    expression(`^\d+ \d+ (\d+|[a-z]+) \d+ \d{9,10} \d{1,6}( \d+)*$`),
		pattern: "$client $transaction $latency $script $stamp",
		others:  expression(`^\d+ \d+ [a-z]+ `),
		open:    openPattern,
	}
	// h2load is what h2load --log-file writes: https://nghttp2.org/documentation/h2load.1.html. The
	// time is that of the start. Status -1 is a stream that failed.
	h2load = Format{
		Name:    "h2load",
		columns: Columns{Time: "start", Value: "duration", OK: "status"},
		unit:    unit.Microsecond,
		line:    expression(`^\d{16}\t(-1|\d{3})\t\d+$`),
		names:   []string{"start", "status", "duration"},
		open:    openTable,
	}
	// oha is what oha --output-format csv writes: https://github.com/hatoo/oha. The time is that of the
	// start, since the start of the run.
	oha = Format{
		Name:      "oha",
		columns:   Columns{Time: "request-start", Value: "request-duration", OK: "status"},
		unit:      unit.Second,
		timeUnit:  unit.Second,
		unordered: true,
		header:    []string{"request-start", "Response-delay", "request-duration"},
		open:      openTable,
	}
	// fortio is what fortio load -access-log-file writes: https://github.com/fortio/fortio. The time is
	// that of the start.
	fortio = Format{
		Name:    "fortio",
		columns: Columns{Time: ".timestamp", Value: ".latency", OK: ".ok"},
		unit:    unit.Second,
		marks:   []string{".latency", ".timestamp", ".thread", ".iter", ".ok"},
		open:    openObjects,
	}
	// ghz is the report that ghz -O json or pretty writes: https://ghz.sh/docs/output. The time is that
	// of the start.
	ghz = Format{
		Name:    "ghz",
		columns: Columns{Time: ".timestamp", Value: ".latency", OK: "!.error"},
		unit:    unit.Nanosecond,
		detect: func(h *head) bool {
			if h.isJSON() && !h.isObject() {
				return hasPaths(h.more(16<<10, nil), []string{".endReason", ".options.", ".fastest"})
			}
			return h.has([]string{".endReason", ".options.", ".fastest"})
		},
		list: "details",
		open: openObjects,
	}
)
