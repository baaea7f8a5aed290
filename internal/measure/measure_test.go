package measure

import (
	"bytes"
	stdbase64 "encoding/base64"
	stdcsv "encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/clitest"
)

const jtlHeader = "timeStamp,elapsed,label,success\n"

const ghzHead = `{"endReason":"timeout","options":{"call":"x"},"fastest":1,` + "\n" + `"details":`

// TestMalformed has input that is partly bad. Each row is in the log or reported.
func TestMalformed(t *testing.T) {
	csvMillis := Options{Unit: hdrlog.Millisecond}
	for _, test := range []struct {
		name, text string
		options    Options
		recorded   int64
		messages   []string
	}{
		{"half a line", jtlHeader + "1700000000000,5,a,true\n1700000000001,7", Options{}, 1,
			[]string{`file0:3: line: the number of columns differs from that of the first line: 2, not 4: "1700000000001,7"`}},
		{"an open quote at the end", jtlHeader + "1700000000000,5,a,true\n1700000000001,7,\"b", Options{}, 1,
			[]string{"file0:3: line: a quote is not closed"}},
		{"an open quote costs its line", jtlHeader + "1700000000000,5,\"a,true\n1700000000001,7,b,true\n", Options{}, 1,
			[]string{"file0:2: line: a quote is not closed"}},
		{"a line break in quotes", jtlHeader + "1700000000000,5,\"a\n\"\"b\"\"\",true\n1700000000001,x,b,true\n", Options{}, 1,
			[]string{`file0:4: elapsed: not a number: "x"`}},
		{"byte-order mark, CRLF, blank lines, a second header", "\xef\xbb\xbf" + strings.ReplaceAll(jtlHeader+"1700000000000,5,a,true\n\n"+jtlHeader+
			"1700000000001,7,b,false\n", "\n", "\r\n"), Options{}, 2, nil},
		{"a comma in a label without quotes", jtlHeader + "1700000000000,5,a,b,true\n", Options{}, 0,
			[]string{`file0:2: line: the number of columns differs from that of the first line: 5, not 4: "1700000000000,5,a,b,true"`}},
		{"numbers", "time,value\n1700000000,NaN\n1700000000,-1\n1700000000,\n1700000000,1e30\n1700000000,-0.0\n1700000000,1e-3\n1700000000,Inf\n1700000000,0x10\n1700000000,1_0\n",
			csvMillis, 2, []string{
				`file0:2: value: not a number: "NaN"`, `file0:3: value: the number is negative: "-1"`, `file0:4: value: not a number: ""`,
				`file0:5: value: the number is too large: "1e30"`, `file0:8: value: not a number: "Inf"`, `file0:9: value: not a number: "0x10"`,
				`file0:10: value: not a number: "1_0"`,
			}},
		{"times", "time,value\n1700000000000,1\n1700000000,1\n12,1\nnever,1\n2023-02-30T00:00:00Z,1\n1969-12-31T23:59:59Z,1\n", csvMillis, 1, []string{
			`file0:3: time: the time has another unit than those before; -time-in names one unit for all: "1700000000"`,
			`file0:4: time: the time is not long after 1970 in any unit; -time-in names its unit: s, ms, us or ns: "12"`,
			`file0:5: time: not a time: "never"`, `file0:6: time: not a time: "2023-02-30T00:00:00Z"`,
			`file0:7: time: the time is not between the years 1970 and 2262: "1969-12-31T23:59:59Z"`,
		}},
		{"times with exponents", "time,value\n1.79349e9,1\n1.795526030306074E9,1\n17.9552603e8,1\n1e3,1\n1.79349e12,1\n", csvMillis, 3, []string{
			`file0:5: time: the time is not long after 1970 in any unit; -time-in names its unit: s, ms, us or ns: "1e3"`,
			`file0:6: time: the time has another unit than those before; -time-in names one unit for all: "1.79349e12"`,
		}},
		{"times of a unit", "time,value\n0.5,1\n12,1\n", Options{Unit: hdrlog.Second, TimeUnit: hdrlog.Second}, 2, nil},
		{"too late", "time,value\n1700000100,1\n1700000100,1\n1700000041,1\n1700000039,1\n", csvMillis, 3,
			[]string{"file0:5: time: the row comes too late: it ended 1m1s before others"}},
		{"one time in the future", "time,value\n1700000000,1\n1700000001,1\n1900000000,1\n1700000002,1\n1700000003,1\n", csvMillis, 5, nil},
		{"the first time in the future", "time,value\n1900000000,1\n1700000001,1\n1700000002,1\n", csvMillis, 3, nil},
		{"a pause of a day", "time,value\n1700000000,1\n1700086400,1\n1700086401,1\n1700000001,1\n", csvMillis, 3,
			[]string{"file0:5: time: the row comes too late: it ended 24h0m0s before others"}},
		{"success", "time,value,ok\n1700000000,1,true\n1700000000,1,KO\n1700000000,1,404\n1700000000,1,maybe\n1700000000,1,\n",
			Options{Unit: hdrlog.Second, Columns: Columns{OK: "ok"}}, 3, []string{
				`file0:5: ok: neither success nor failure: "maybe"`, `file0:6: ok: neither success nor failure: ""`,
			}},
		{"lines of JSON", "{\"time\":1700000000,\"value\":1}\n{\"time\":1700000000,\"value\":1\n\n{\"time\":1700000000}\n{\"time\":1700000000,\"value\":null}\n" +
			"{\"time\":1700000000,\"value\":[1]}\nnull\n{\"time\":1700000000,\"value\":\"2\"}\n[1,2}\n{\"time\":1700000000,\"value\":1}x\n", csvMillis, 2, []string{
			`file0:2: line: not a JSON value, or cut short: "{\"time\":1700000000,\"value\":1"`, "file0:4: .value: field is missing", "file0:5: .value: field is missing",
			"file0:6: .value: field is missing", "file0:7: .time: field is missing", `file0:9: line: not a JSON value, or cut short: "[1,2}"`,
			`file0:10: line: not a JSON value, or cut short: "{\"time\":1700000000,\"value\":1}x"`,
		}},
		{"pgbench", "0 1 2065 0 1795525979 627215 72\n0 2 skipped 0 1795525979 650845\n0 3 failed 0 1795525979 650846 1\n0 4 2 0 1795525980 104\n0 5 x2 0 1795525980 104\n", Options{}, 2,
			[]string{`file0:5: latency: not a number: "x2"`}},
		{"h2load", "1795526030306074\t200\t5458\n1795526030306074\t-1\t5458\n1795526030306074\t99\t5458\n", Options{}, 2,
			[]string{`file0:3: status: neither success nor failure: "99"`}},
		{"ghz", ghzHead + "[{\n\"timestamp\":\"2026-11-24T13:14:29Z\",\"latency\":5,\n\"error\":\"\"},\n{},\n{\"timestamp\":\"2026-11-24T13:14:29Z\",\"latency\":5}]}", Options{}, 2,
			[]string{"file0:5: .timestamp: field is missing"}},
		{"ghz, cut short", ghzHead + "[{\"timestamp\":\"2026-11-24T13:14:29Z\",\"latency\":5},\n\n{\"times", Options{}, 1,
			[]string{"file0:3: line: the file is cut short"}},
		{"ghz without requests", ghzHead + "null}", Options{}, 0, []string{"file0:2: line: details is no array"}},
		{"access log", `1.2.3.4 - - [10/Oct/2023:13:55:36 -0700] "GET / HTTP/1.1" 200 2 "-" "x" 0.005` + "\n" + `1.2.3.4 - - [10/Oct/2023:13:55:36 -0700] "GET / HTTP/1.1" 200` + "\n" +
			`1.2.3.4 - - [10/Oct/2023:13:55:36 -0700] "GET / HTTP/1.1" 200 2 "-" "x" -` + "\n", Options{}, 1, []string{
			`file0:2: line: the line does not fit the pattern: no " " after status`, `file0:3: request_time: not a number: "-"`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, text := range []string{test.text, strings.TrimSuffix(test.text, "\n")} {
				rec := recording{options: test.options, size: 1000, late: 60_000}
				rec.record(t, []byte(text))
				for n, message := range rec.messages {
					rec.messages[n] = uncut(message)
					if cut := message != rec.messages[n]; cut && (n < len(rec.messages)-1 || strings.HasSuffix(text, "\n")) {
						t.Errorf("the line has an end: %s", message)
					}
				}
				if rec.counts.Recorded != test.recorded || !slices.Equal(rec.messages, test.messages) {
					t.Errorf("%d rows, want %d\n%s\nwant\n%s", rec.counts.Recorded, test.recorded, strings.Join(rec.messages, "\n"), strings.Join(test.messages, "\n"))
				}
			}
		})
	}
}

// TestDurations reads values with their units.
func TestDurations(t *testing.T) {
	for text, want := range map[string]int64{
		"1.5ms": 1_500_000, "350µs": 350_000, "350μs": 350_000, "1m2.5s": 62_500_000_000, "PT0.35S": 350_000_000, "PT1H2M3S": 3_723_000_000_000, "2 min": 120_000_000_000,
		"0.1ns": 0, "1h": 3_600_000_000_000, "12 ms": 12_000_000, "3 seconds": 3_000_000_000, "1 hour 2 minutes": 3_720_000_000_000, "5us": 5000, "7msec": 7_000_000,
		"9223372036.854775807s": math.MaxInt64, "": -1, "5": -1, "ms": -1, "-5ms": -1, "1.2.3ms": -1, "1,5ms": -1, "5ms,": -1, "5 x": -1, "9223372037s": -1, "300y": -1,
		"2562048h": -1, "1e3ms": -1, "P1D": -1, "PT": -1,
	} {
		got, ok := parseDuration([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d %v, want %d", text, got, ok, want)
		}
	}
	rec := recording{size: 1000}
	rec.record(t, []byte("time,latency\n1700000000,1.5ms\n1700000000,7\n1700000000,x\n1700000000,2s\n1700000000,3s\n"))
	want := []string{`file0:3: latency: a number without a unit; -in says which one all have: "7"`, `file0:4: latency: not a number: "x"`}
	if rec.counts.Recorded != 3 || !slices.Equal(rec.messages, want) {
		t.Errorf("%+v %q", rec.counts, rec.messages)
	}
	rec = recording{size: 1000}
	rec.record(t, []byte("time,latency_us\n1700000000,1.5ms\n1700000000,7\n"))
	if rec.counts.Recorded != 2 {
		t.Errorf("%+v %q", rec.counts, rec.messages)
	}
}

// TestNames finds the columns of the time and the value, and their units.
func TestNames(t *testing.T) {
	for header, want := range map[string]string{
		"timestamp_us,latencyMicros":               "timestamp_us is the time of the start, latencyMicros the value in us",
		"id,startTime,responseTimeMs":              "startTime is the time of the start, responseTimeMs the value in ms",
		"ts,Latency (microseconds)":                "ts is the time of the start, Latency (microseconds) the value in us",
		"@timestamp,took_msec":                     "@timestamp is the time of the start, took_msec the value in ms",
		"Start Time,Elapsed Time [sec]":            "Start Time is the time of the start, Elapsed Time [sec] the value in s",
		"unix-time;time-taken.ns":                  "unix-time is the time of the start, time-taken.ns the value in ns",
		"DateTime,REQUEST_TIME_S,requestTimeLimit": "DateTime is the time of the start, REQUEST_TIME_S the value in s",
	} {
		r, err := NewReader(strings.NewReader(header+"\n"), "f", "", Options{})
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		if got := r.Interpretation(); got != "csv: "+want {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
	// A number with few digits has the unit that the name says.
	rec := recording{size: 1000}
	if log := rec.record(t, []byte("start_ms,latency_ms\n5,1\n1500,1\n")); rec.counts.Recorded != 2 || !strings.Contains(log, "\n0.000,0.995,") {
		t.Errorf("%+v %q\n%s", rec.counts, rec.messages, log)
	}
}

// TestValues reads values without times: one interval of no length.
func TestValues(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, test := range []struct {
		text    string
		options Options
		want    string
		count   int64
	}{
		{ten, Options{Unit: hdrlog.Microsecond}, "values: column 1 is the value in us, without a time", 10},
		{"latency_us\n" + ten, Options{}, "values: latency_us is the value in us, without a time", 10},
		{"1us\n10us\n", Options{}, "values: column 1 is the value with its unit, without a time", 2},
		{"1us\n\n10us\nx\n", Options{}, "values: column 1 is the value with its unit, without a time", 2},
		{"time,latency_us\nx,1\ny,10\n", Options{NoTime: true}, "csv: latency_us is the value in us, without a time", 2},
		{`{"latency_us":1}` + "\n" + `{"latency_us":10}` + "\n", Options{NoTime: true}, "ndjson: .latency_us is the value in us, without a time", 2},
		{"ms,n\n0.001,4\n0.01,2\n0.02,0\n", Options{Columns: Columns{Count: "n"}, Unit: hdrlog.Millisecond}, "csv: ms is the value in ms, without a time, as often as n says", 6},
		{"le,count\n0.000001,4\n0.00001,9\n+Inf,9\n", Options{Columns: Columns{Count: "count"}, Unit: hdrlog.Second}, "csv: le is the value in s, without a time, as often as count says", 9},
	} {
		rec := recording{size: 1000, options: test.options}
		log := rec.record(t, []byte(test.text))
		r, err := NewReader(strings.NewReader(test.text), "f", "", test.options)
		if err != nil || r.Interpretation() != test.want {
			t.Errorf("%q: %s, want %s; %v", test.text, r.Interpretation(), test.want, err)
		}
		h := intervals(t, log)[" 0"]
		if h == nil || h.TotalCount() != test.count || h.ValueAtPercentile(100)/1000 != 10 || h.Min()/1000 > 1 || !strings.Contains(log, "\n0.000,0.000,0.010,") {
			t.Errorf("%q: %v\n%s", test.text, h, log)
		}
	}
}

// TestCounts has tables of counts that are partly bad.
func TestCounts(t *testing.T) {
	rec := recording{size: 1000, options: Options{Columns: Columns{Count: "n", Tags: []string{"op"}}}}
	rec.record(t, []byte("op,le,n\na,1s,5\nb,1s,1\na,2s,4\na,3s,7\nb,2s,1\nb,3s,1\na,4s,x\na,4s,\na,4s,-1\nb,4s,1\nb,+Inf,1\n"))
	want := []string{
		"file0:4: n: fewer values than up to the edge before: 4",
		`file0:8: n: not a number: "x"`, `file0:9: n: not a number: ""`, `file0:10: n: the number is negative: "-1"`,
	}
	if !slices.Equal(rec.messages, want) || rec.counts.Recorded != 7 || rec.mostly != nil {
		t.Errorf("%d rows, %q, want %q", rec.counts.Recorded, rec.messages, want)
	}
	for header, want := range map[string]string{
		"le": "all values of a bucket are taken as its value; the widest is from 1ms to 2ms, so a percentile there may be 100% off",
		"ms": "if its rows are buckets, all values of a bucket are taken as its value", // or exact
	} {
		r, err := NewReader(strings.NewReader(header+",n\n1,5\n2,6\n2.5,7\n"), "f", "", Options{Columns: Columns{Count: "n"}, Unit: hdrlog.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		for r.Scan() {
		}
		if got := r.Inexactness(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSeries has cumulative counts of several series, and of those that cannot be right.
func TestSeries(t *testing.T) {
	for _, test := range []struct{ rows, above, want string }{
		{"0.1,10\n0.5,20\n0.1,100\n0.5,120\n", "", "100ms:110 500ms:30"},
		{"0.1,10\n0.5,20\n0.5,20\n", "", "100ms:10 500ms:10"}, // as redis-benchmark has it
		{"0.5,3\n+Inf,3\n0.1,1\nInf,1\n", "", "100ms:1 500ms:3"},
		{"0.1,5\n0.5,10\n+Inf,1000\n", "", "990 of 1000 values are above the highest edge, and nobody knows what they are; -above VALUE records them as VALUE"},
		{"0.1,5\n0.5,10\n+Inf,1000\n0.1,1\n+Inf,2\n", "10s", "100ms:6 500ms:5 10s:991"},
		{"0.1,5\n0.5,10\n+Inf,1000\n", "0.5", "-above is not above the highest edge, which is 500ms"},
		{"0.1,5\n0.5,10\n+Inf,10\n", "0.5", "100ms:5 500ms:5"}, // there is none
		{"1,5\n0.1,10\n", "", "a series has one edge alone; sort the rows of a series by their edges"},
		{"0.1,5\n0.5,6\n0.1,3\n", "", "a series has one edge alone; sort the rows of a series by their edges"},
		{"0.1,5\n", "", "a series has one edge alone; sort the rows of a series by their edges"},
		{"0.1,0\n", "", ""},
		{"0.1,5\n0.1,7\n0.5,6\n0.5,8\n", "", "an edge comes twice with different counts; -tag names columns that tell series apart"},
		{"0.1,5\n0.5,6\n", "x", `-above: not a number: "x"`},
	} {
		o := Options{Columns: Columns{Count: "count"}, Unit: hdrlog.Second, Above: test.above}
		r, err := NewReader(strings.NewReader("le,count\n"+test.rows), "f", "", o)
		if err != nil {
			if !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%q: %v, want %s", test.rows, err, test.want)
			}
			continue
		}
		counts := make(map[time.Duration]int64)
		for r.Scan() {
			if r.bad != nil && !strings.HasPrefix(test.want, "an edge comes twice") {
				t.Error(r.bad)
			}
			counts[time.Duration(r.parser.row.Value)] += r.parser.row.Count
		}
		got := ""
		for _, value := range slices.Sorted(maps.Keys(counts)) {
			if counts[value] > 0 {
				got += fmt.Sprintf(" %v:%d", value, counts[value])
			}
		}
		if err := r.checkTally(); err != nil {
			got = err.Error()
		}
		if got = strings.TrimSpace(got); got != test.want {
			t.Errorf("%q: %s, want %s", test.rows, got, test.want)
		}
	}
}

// TestTaken reads patterns with several times of a request, lists of times, and none.
func TestTaken(t *testing.T) {
	for _, test := range []struct{ pattern, line, value, want string }{
		{"%t %T %D", "[23/Oct/2014:19:16:23 -0200] 3 3076001", "", "3.076001s"},
		{"%t %{ms}T %T", "[23/Oct/2014:19:16:23 -0200] 3076 3", "", "3.076s"},
		{"%t %T", "[23/Oct/2014:19:16:23 -0200] 3", "", "3s; all values are whole seconds, rounded down; %D logs microseconds"},
		{"$time_local $request_time", "23/Oct/2014:19:16:23 -0200 0.050", "", "50ms"},
		{"$msec $upstream_response_time $request_time", "1414099000.123 0.036, 0.010 : 0.002 0.050", "", "50ms"},
		{"$msec $upstream_response_time $request_time", "1414099000.123 0.036, 0.010 : 0.002 0.050", "upstream_response_time", "48ms"},
		{"$msec $upstream_response_time", "1414099000.123 0.036, -", "$upstream_response_time", "36ms"},
		{"$msec $upstream_response_time", "1414099000.123 -", "upstream_response_time", "no row is one that -where chooses"},
		{"$msec $upstream_response_time", "1414099000.123 0.036,", "upstream_response_time", "36ms"},
		{"$msec $upstream_response_time", "1414099000.123 x, 0.010", "upstream_response_time", `f:1: upstream_response_time: not a number: "x" in the list "x, 0.010"`},
		{"$msec $upstream_addr $request_time", "1414099000.123 10.0.0.1:80, 10.0.0.2:80 : 10.0.0.3:80 0.050", "", "50ms"},
		{"", `{"time":1414099000,"upstream_response_time":"0.036, 0.010"}`, ".upstream_response_time", "46ms"},
		{"", `{"time":1414099000,"upstream_response_time":""}`, ".upstream_response_time", "no row is one that -where chooses"},
	} {
		o := Options{Pattern: test.pattern, Columns: Columns{Value: test.value}}
		if test.pattern == "" {
			o.Unit = hdrlog.Second
		}
		r, err := NewReader(strings.NewReader(test.line+"\n"), "f", "", o)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		got := r.NothingChosen().Error()
		if r.Scan() {
			got = time.Duration(r.parser.row.Value).String()
		}
		switch {
		case r.bad != nil:
			got = r.bad.Error()
		case r.Inexactness() != "":
			got += "; " + r.Inexactness()
		}
		if got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.pattern, test.line, got, test.want)
		}
	}
}

// TestLines reads lines of any log, with a regular expression or by their keys.
func TestLines(t *testing.T) {
	const app = `^(?P<time>\S+ \S+) \w+ +\[(?P<tag>[^]]+)\] handled (?P<path>\S+) in (?<value>[\d.]+) (?P<unit>ms|s)$`
	const log = "2024-05-01 10:00:00,123 INFO  [worker-1] handled /a in 12 ms\n2024-05-01 10:00:01.5 WARN [worker-2] handled /b in 1.5 s\n"
	for _, test := range []struct {
		text    string
		options Options
		want    string // times in seconds of 2024-05-01 10:00, tags and values
	}{
		{log, Options{Pattern: app}, "0.123 worker-1 12ms; 1.5 worker-2 1.5s"},
		{log, Options{Pattern: app, Columns: Columns{Tags: []string{"path"}}}, "0.123 /a 12ms; 1.5 /b 1.5s"},
		{log + "2024-05-01 10:00:02 INFO idle\n", Options{Pattern: app}, `0.123 worker-1 12ms; 1.5 worker-2 1.5s; f:3: line: the line does not fit the pattern: "2024-05-01 10:00:02 INFO idle"`},
		{"took 12ms\ntook 1.5s\n", Options{Pattern: `took (?P<value>\S+)`}, "-  12ms; -  1.5s"},
		{"took 12\n", Options{Pattern: `took (?P<value>\S+)`}, "f: the unit of the values in column value is unknown: add -in ns, -in us, -in ms or -in s"},
		{"took 12 in x\n", Options{Pattern: `took (?P<value>\S+) in (?P<unit>\S+)`}, `f:1: value: "x" is no unit of time`},
		{"took 12\n", Options{Pattern: `took (?P<took>\S+)`, Unit: hdrlog.Second}, "f: -pattern has no group (?P<value>...)"},
		{"took 12\n", Options{Pattern: `took (?P<took>\S+)`, Unit: hdrlog.Second, Columns: Columns{Value: "took"}}, "-  12s"},
		{"took 12\n", Options{Pattern: `took (?P<took>`}, "f: -pattern: error parsing regexp: missing closing ): `took (?P<took>`"},
		// several blanks are one
		{"1714557600.5     12 GET  /a\n1714557600.5  12345 POST /b\n", Options{Pattern: "$msec $ms $method $path", Columns: Columns{Value: "ms", Tags: []string{"method"}}, Unit: hdrlog.Millisecond}, "0.5 GET 12ms; 0.5 POST 12.345s"},
		{"1714557600.5     12 GET\n1714557600.5  12345 POST\n", Options{Delimiter: ' ', Columns: Columns{Time: "1", Value: "2", Tags: []string{"3"}}, Unit: hdrlog.Millisecond}, "0.5 GET 12ms; 0.5 POST 12.345s"},
		// a column that has the name of a unit
		{"when;ms\n2024-05-01 10:00:00.5;12\n", Options{Columns: Columns{Time: "when", Value: "ms"}}, "0.5  12ms"},
		// logfmt
		{"time=2024-05-01T10:00:00.5Z level=INFO msg=\"GET /a\" duration=1.2ms path=/a\n", Options{Columns: Columns{Tags: []string{"path", "msg"}}}, "0.5 /a/GET /a 1.2ms"},
		{"ts=2024-05-01T10:00:00.5Z msg=\"say \\\"a\\\" x=1\" latency_ms=3\n", Options{Columns: Columns{Tags: []string{"msg"}}}, `0.5 say "a" x=1 3ms`},
		{`ts=2024-05-01T10:00:00.5Z msg="say \"hi\"" latency_ms=3` + "\n", Options{Columns: Columns{Tags: []string{"msg"}}}, `0.5 say "hi" 3ms`},
		{`ts=2024-05-01T10:00:00.5Z msg="C:\\a\x41\\" latency_ms=3` + "\n", Options{Columns: Columns{Tags: []string{"msg"}}}, `0.5 C:\aA\ 3ms`},
		{`ts=2024-05-01T10:00:00.5Z latency_ms=3 msg="a\"` + "\n", Options{Columns: Columns{Tags: []string{"msg"}}}, `0.5 a\ 3ms`},
		{"2024-05-01T10:00:00.5Z app[web.1]: took=3s x=1\n", Options{}, "0.5  3s"},
		{"4 KiB <<< .: request=1 time=3.5 ms (warmup)\n4 KiB <<< .: request=2 time=250 us\n", Options{Columns: Columns{Value: "time"}, NoTime: true}, "-  3.5ms; -  250µs"},
		{"time=5 ms request=1\ntime=7 mss request=2\n", Options{Columns: Columns{Value: "time"}, NoTime: true, Unit: hdrlog.Second}, "-  5ms; -  7s"},
		{"a=1 b=2\n", Options{}, "f: no usual names of a time and a value: add -time KEY, or -time '' if there is none, and -value KEY; the keys of the first line are a, b"},
		{"a=1 b=2\n", Options{Columns: Columns{Value: "b"}, NoTime: true, Unit: hdrlog.Second}, "-  2s"},
		{"ts=2024-05-01T10:00:00.5Z took=3s\nts=2024-05-01T10:00:00.5Z msg=x\n", Options{}, "0.5  3s; f:2: took: field is missing"},
	} {
		r, err := NewReader(strings.NewReader(test.text), "f", "", test.options)
		if err != nil {
			if err.Error() != test.want {
				t.Errorf("%q: %v, want %s", test.text, err, test.want)
			}
			continue
		}
		var all []string
		for r.Scan() {
			if r.bad != nil {
				all = append(all, r.bad.Error())
				continue
			}
			at := "-"
			if r.parser.row.Time != 0 {
				at = fmt.Sprint(float64(r.parser.row.Time-1714557600e9) / 1e9)
			}
			all = append(all, fmt.Sprint(at, " ", string(r.parser.row.Tag), " ", time.Duration(r.parser.row.Value)))
		}
		if got := strings.Join(all, "; "); got != test.want {
			t.Errorf("%q of %q: %s, want %s", test.options.Pattern, test.text, got, test.want)
		}
	}
}

// TestFirstRow has tables whose first line may be a header or a row, and rows that are equal to it.
func TestFirstRow(t *testing.T) {
	numbers := Options{Columns: Columns{Time: "1", Value: "2"}, Unit: hdrlog.Millisecond}
	for _, test := range []struct {
		text    string
		options Options
		want    string // values
	}{
		{"2024-05-01T10:00:01Z,90s\n2024-05-01T10:00:02Z,7ms\n2024-05-01T10:00:01Z,90s\n", numbers, "1m30s 7ms 1m30s"},
		{"a,90s\nb,7ms\n", Options{Columns: Columns{Value: "2"}, NoTime: true}, "1m30s 7ms"},
		{"2024-05-01 10:00:01,-1\n2024-05-01 10:00:02,7\n2024-05-01 10:00:02,7\n", numbers, `f:1: 2: the number is negative: "-1" 7ms 7ms`},
		{"2024-05-01 10:00:01,-\n2024-05-01 10:00:02,7\n", numbers, `f:1: 2: not a number: "-" 7ms`},
		{"2024-05-01 10:00:01,99999999999999999999\n", numbers, `f:1: 2: the number is too large: "99999999999999999999"`},
		{"at,took\n2024-05-01T10:00:02Z,7\nat,took\n2024-05-01T10:00:02Z,7\n", numbers, "7ms 7ms"}, // two files in one
		{"at,1m\n2024-05-01T10:00:02Z,7\n", Options{Columns: Columns{Time: "at", Value: "1m"}, Unit: hdrlog.Millisecond}, "7ms"},
		{"90s\n90s\n7ms\n", Options{}, "1m30s 1m30s 7ms"},
		{"-5\n7\n7\n", Options{Unit: hdrlog.Millisecond}, `f:1: 1: the number is negative: "-5" 7ms 7ms`},
	} {
		r, err := NewReader(strings.NewReader(test.text), "f", "", test.options)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		var got []string
		for r.Scan() {
			if r.bad != nil {
				got = append(got, r.bad.Error())
				continue
			}
			got = append(got, time.Duration(r.parser.row.Value).String())
		}
		if all := strings.Join(got, " "); all != test.want {
			t.Errorf("%q: %s, want %s", test.text, all, test.want)
		}
	}
}

// TestMostlyMalformed has tables of which less than half of the rows is read. That is an error of
// the file, and not a row less.
func TestMostlyMalformed(t *testing.T) {
	const head = "time,latency_ms\n"
	for rows, want := range map[string]string{
		head + "1700000000,1\n1700000000,x\n": "<nil>",
		head:                                  "<nil>",
		head + "1700000000,x\n1700000000,y\n1700000000,1\n": `file0: 1 of 3 rows can be read, so none is taken; line 2: latency_ms: not a number: "x"`,
		"RUN\tsim.Shop\tshop\t1718035200000\t \t3.11.0\nREQUEST\tg\tn\t1718035200000\t1718035200020\n": `file0: 0 of 1 rows can be read, so none is taken; ` +
			`line 2: line: neither OK nor KO stands behind a start and an end: "REQUEST\tg\tn\t1718035200000\t1718035200020"`,
	} {
		rec := recording{size: 1000}
		rec.record(t, []byte(rows))
		if got := fmt.Sprint(rec.mostly); got != want {
			t.Errorf("%q: %s, want %s", rows, got, want)
		}
	}
	// Text with histograms has other lines, too.
	rec := recording{format: "hist", size: 1000}
	rec.record(t, []byte("a\nb\nHISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA\nc\n"))
	if rec.mostly != nil || rec.counts.Recorded != 1 {
		t.Errorf("%v %v", rec.mostly, rec.messages)
	}
}

// uncut returns a message without that a line has no end.
func uncut(message string) string {
	return strings.Replace(message, hdrlog.ErrCutOff.Error()+": ", "", 1)
}

// TestCutOff: a bad line without an end is called cut off. A good one may be, too.
func TestCutOff(t *testing.T) {
	for text, want := range map[string]string{
		"1700000000000,5,a,true\n17000000": "f:3: line: the line is cut off: the number of columns differs from that of the first line: 1, not 4",
		"1700000000000,5,a,tr":             `f:2: success: the line is cut off: neither success nor failure: "tr"`,
		"1700000000000,5,a,true":           "",
	} {
		r, err := NewReader(strings.NewReader(jtlHeader+text), "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for r.Scan() {
			if r.bad != nil {
				got = r.bad.Error()
			}
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") || r.Unterminated() != (want == "") {
			t.Errorf("%q: %s, want %s; unended: %v", text, got, want, r.Unterminated())
		}
	}
}

// TestRefused has files that cannot be read as they are. The message says what to do.
func TestRefused(t *testing.T) {
	combinedLine := `1.2.3.4 - - [10/Oct/2023:13:55:36 -0700] "GET / HTTP/1.1" 200 2 "-" "x"`
	for _, test := range []struct {
		text, format string
		options      Options
		want         string
	}{
		{"hello\n", "", Options{}, `f: the format is not known from the first line "hello"; -pattern says where lines have a time and a value, and -format names a format of hdrrec --help`},
		{"\n  \nhello\n", "", Options{}, `f: the format is not known from the first line "hello"; -pattern says where lines have a time and a value, and -format names a format of hdrrec --help`},
		{"hello\n", "k6", Options{}, `f: this is not k6: the first line is "hello"`},
		{"time,latency\n", "", Options{}, "f: the unit of the values in column latency is unknown: add -in ns, -in us, -in ms or -in s"},
		{"time,latency\n", "", Options{Columns: Columns{Value: "lat"}}, "f: there is no column lat; the columns are time, latency"},
		{"1700000000,\"a b\",1\n", "", Options{Unit: hdrlog.Millisecond}, `f: the first line is no header: add -time NUMBER and -value NUMBER; the first row is 1 "1700000000", 2 "a b", 3 "1"`},
		{"1700000000,1\n", "", Options{Columns: Columns{Time: "1", Value: "3"}}, "f: the first line is no header, so columns have numbers, from 1 to 2; there is no column 3"},
		{"time,latency\n", "", Options{Metric: "x"}, "f: -metric is for files with a column of metrics, and this is csv"},
		{"time,latency\n", "csv", Options{Pattern: "x"}, "f: -pattern is for access logs and other lines, and this is csv"},
		{combinedLine + "\n", "", Options{}, "f: -pattern says what the fields of an access log are: the log_format of nginx or the LogFormat of Apache, with the time of a request, such as $request_time or %D"},
		{combinedLine + " 5\n", "", Options{}, "f: -pattern says what the fields of an access log are: the log_format of nginx or the LogFormat of Apache, with the time of a request, such as $request_time or %D"},
		{"x\n", "", Options{Pattern: "$msec$status"}, "f: -pattern has nothing between msec and status"},
		{"x\n", "", Options{Pattern: "$status"}, "f: -pattern has no time such as $time_local, $msec or %t; -time '' says that there is none"},
		{"x\n", "", Options{Pattern: "%t"}, "f: -pattern has no time that a request took, such as $request_time or %D"},
		{"x\n", "", Options{Pattern: "%t %D", Columns: Columns{Tags: []string{"$"}}}, "f: -pattern has no $"},
		{`{"start":"2026-11-24T12:45:09.622Z","duration":10.08,"errors":0}`, "", Options{Unit: hdrlog.Second},
			"f: one JSON object is a measurement only if -value .KEY names its value; its keys are start, duration, errors"},
		{"{\"a\":1}\n{}\n", "", Options{}, "f: no list of measurements: its first line has no usual names of a time and a value, and -time .KEY and -value .KEY do not name them; its keys are a"},
		{"Timestamp,User Count,Type,Name\n1700000000,8,,Aggregated\n", "", Options{Unit: hdrlog.Millisecond},
			"f: no usual name of a value: add -value COLUMN; the columns are Timestamp, User Count, Type, Name"},
		{"when,millis\n", "", Options{},
			"f: no usual names of a time and a value: add -time COLUMN and -value COLUMN; the columns are when, millis"},
		{"when,millis\n", "", Options{Columns: Columns{Value: "millis"}},
			"f: no usual name of a time: add -time COLUMN, or -time '' if there is none; the columns are when, millis"},
		{"when,millis\n", "", Options{Columns: Columns{Time: "when"}},
			"f: no usual name of a value: add -value COLUMN; the columns are when, millis"},
		{"time,end\n", "", Options{Columns: Columns{Value: "time", End: "end"}}, "f: -value has the value, and -end makes it of two times: give one of them"},
		{"#[Histogram log format version 1.3]\n", "", Options{}, "f: this is a HdrHistogram log already; hdrsum, hdrplot, hdrunion and hdrsplit read it"},
	} {
		_, err := NewReader(strings.NewReader(test.text), "f", test.format, test.options)
		if err == nil || err.Error() != test.want {
			t.Errorf("%q: %v, want %s", test.text, err, test.want)
		}
	}
}

// TestFormatsDocumented: the documents describe each format.
func TestFormatsDocumented(t *testing.T) { clitest.Documented(t, "hdrrec.md", Names()...) }

// TestOrder records files side by side and one after another, with rows out of order: every row
// goes to its interval. The order of the files does not matter.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var texts [3]bytes.Buffer
	want := make(map[int64]int64)
	for n := range texts {
		texts[n].WriteString("time,value\n")
		at := 1_700_000_000_000 + int64(n)*20_000
		for range 3000 {
			at += random.Int64N(20)
			row := at - random.Int64N(5_000)
			fmt.Fprintf(&texts[n], "%d,%d\n", row, random.IntN(1000))
			want[row/500]++
		}
	}
	rec := recording{options: Options{Unit: hdrlog.Millisecond}, size: 500, late: 5_000}
	first := rec.record(t, texts[0].Bytes(), texts[1].Bytes(), texts[2].Bytes())
	if rec.counts.Recorded != 9000 || len(rec.messages) > 0 {
		t.Errorf("%+v %v", rec.counts, rec.messages)
	}
	got := intervals(t, first)
	for key, count := range want {
		if h := got[fmt.Sprintf(" %d", key)]; h == nil || h.TotalCount() != count {
			t.Errorf("interval %d: %v, want %d", key, h, count)
		}
	}
	if second := rec.record(t, texts[2].Bytes(), texts[1].Bytes(), texts[0].Bytes()); second != first {
		t.Error("the order of the files matters")
	}
}

// TestHeader checks the whole head of a log, and that rows with and without tags go apart.
func TestHeader(t *testing.T) {
	rec := recording{size: 1000, options: Options{Unit: hdrlog.Millisecond}}
	log := rec.record(t, []byte("time,value,tag\n1700000000.25,1,\n1700000000.5,1,a b\n1700000001.5,1,\"a,b\"\n"))
	want := "#[Histogram log format version 1.3]\n#[Written by hdrkit: START and LENGTH are seconds]\n" +
		"#[Recorded by hdrrec from csv, values at their start]\n#UNITS:NANOSECONDS\n" +
		"#[BaseTime: 1700000000.250 (seconds since epoch)]\n#[StartTime: 1700000000.250 (seconds since epoch), Tue Nov 14 22:13:20 UTC 2023]\n" +
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
	if !strings.HasPrefix(log, want) || strings.Count(log, "#") != 6 {
		t.Errorf("got\n%s\nwant\n%s", log, want)
	}
	rec.options.Columns.Tags = []string{"tag"}
	log = rec.record(t, []byte("time,value,tag\n1700000000.25,1,\n1700000000.5,1,a b\n1700000001.5,1,\"a,b\"\n"))
	var got []string
	for line := range strings.Lines(strings.TrimPrefix(log, want)) {
		got = append(got, line[:strings.LastIndexByte(line, ',')])
	}
	if want := []string{"0.000,0.750,1.000", "Tag=a_b,0.000,0.750,1.000", "Tag=a_b,0.750,0.501,1.000"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRate checks that the time of a log is that of its values: the rate of requests is the one
// that vegeta reports. Whole seconds stand for a second.
func TestRate(t *testing.T) {
	vegeta, err := os.ReadFile(filepath.Join(folder(), "vegeta.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var whole strings.Builder
	whole.WriteString("time,latency_ms\n")
	for n := range 2000 {
		fmt.Fprintf(&whole, "%d,1\n", 1_700_000_003+n/200)
	}
	rows := records(t, vegeta, ',')
	first, _ := strconv.ParseInt(rows[0][0], 10, 64)
	last, _ := strconv.ParseInt(rows[len(rows)-1][0], 10, 64)
	for _, size := range []int64{100, 250, 300, 1000, 7000, 10_000, 3600_000} {
		for _, test := range []struct {
			text string
			want float64 // seconds
		}{{string(vegeta), float64(last-first) / 1e9}, {whole.String(), 10}} {
			rec := recording{size: size, late: 60_000}
			begin, end, before := int64(math.MaxInt64), int64(0), int64(0)
			r := hdrlog.NewReader(strings.NewReader(rec.record(t, []byte(test.text))), "log")
			for record := range r.All() {
				if i := &record.Interval; record.Kind == hdrlog.IntervalRecord {
					begin, end = min(begin, i.StartMillis()), max(end, i.EndMillis())
					if size >= 1000 && i.StartMillis() > before && before > 0 && i.StartMillis()%size != 0 {
						t.Errorf("an interval of %d ms starts at %d", size, i.StartMillis())
					}
					before = i.StartMillis()
				}
			}
			if got := float64(end-begin) / 1e3; math.Abs(got/test.want-1) > 0.005 {
				t.Errorf("intervals of %d ms take %v s, want %v", size, got, test.want)
			}
		}
	}
	// No interval is shorter than what a stamp stands for.
	rec := recording{size: 2000, late: 60_000, options: Options{Columns: Columns{Value: "latency_ms"}}, atEnd: new(bool)}
	log := rec.record(t, []byte("time,latency_ms\n1700000003.123,1\n"))
	for record := range hdrlog.NewReader(strings.NewReader(log), "log").All() {
		if i := &record.Interval; record.Kind == hdrlog.IntervalRecord && i.EndMillis() <= i.StartMillis() {
			t.Error(log)
		}
	}
	log = rec.record(t, []byte("time,latency_ms\n1700000003,1\n"))
	if !strings.Contains(log, "\n0.000,1.000,") || !strings.Contains(log, "#[StartTime: 1700000003.000 ") {
		t.Error(log)
	}
}

// TestManyKeys has lines of JSON that took minutes and gigabytes: with many keys, and with keys in
// an object of a long name. The allocations are less than a hundred times the text.
func TestManyKeys(t *testing.T) {
	var keys strings.Builder
	for n := range 25_000 {
		fmt.Fprintf(&keys, `,"%d":1`, n)
	}
	for _, text := range []string{
		`{"time":1700000000,"latency_ms":5` + keys.String() + "}\n",
		`{"time":1700000000,"latency_ms":5,"` + strings.Repeat("k", 100_000) + `":{"a":1` + keys.String() + "}}\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rec := recording{options: Options{Columns: Columns{Value: ".latency_ms"}}, size: 1000}
		rec.record(t, []byte(text))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; rec.counts.Recorded != 1 || took > 100*uint64(len(text)) {
			t.Errorf("%d rows, %d bytes for %d", rec.counts.Recorded, took, len(text))
		}
	}
}

// TestLogs takes no log for a table, and no table for a log.
func TestLogs(t *testing.T) {
	logs, random := 0, rand.New(rand.NewPCG(3, 4))
	for _, folder := range []string{"logs", "dialects"} {
		root := filepath.Join(clitest.Root(), "testdata", folder)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !regexp.MustCompile(`\.(hdr|hlog)(\.|$)`).MatchString(path) {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			logs++
			looksLikeLog(t, path, text)
			for range clitest.Rounds(4) { // damaged
				bad := bytes.Clone(text[random.IntN(min(len(text), 1000)):])
				for range random.IntN(10) {
					bad[random.IntN(min(len(bad), 1000))] = byte(random.IntN(256))
				}
				looksLikeLog(t, path, bad)
			}
			_, err = NewReader(bytes.NewReader(text), path, "", Options{Unit: hdrlog.Second})
			if err == nil || !strings.Contains(err.Error(), "a HdrHistogram log already") {
				t.Errorf("%s: %v", path, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if logs < 20 {
		t.Errorf("%d logs", logs)
	}
}

// looksLikeLog checks that Look takes a text for a log and changes nothing.
func looksLikeLog(t *testing.T, name string, text []byte) {
	t.Helper()
	measured, rest, _, _ := Detect(bytes.NewReader(text), name, 0)
	if measured != nil {
		t.Fatalf("%s is read as %s: %.200q", name, measured.Interpretation(), text)
	}
	if got, err := io.ReadAll(rest); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%s: %d bytes, want %d; %v", name, len(got), len(text), err)
	}
}

// TestLook reads the samples that need no options, whole and a byte at a time.
func TestLook(t *testing.T) {
	for _, s := range samples {
		text, err := os.ReadFile(filepath.Join(folder(), s.file))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			measured, _, _, why := Detect(file, s.file, 0)
			if needs := s.options.Pattern != "" || s.options.Unit != 0; needs != (measured == nil) || !needs && why != nil {
				t.Errorf("%s: %v", s.file, why)
			} else if !needs && measured.Format() != s.format {
				t.Errorf("%s is read as %s", s.file, measured.Interpretation())
			}
		}
	}
}

// TestSpaces reads JSON that another program has written again, with spaces.
func TestSpaces(t *testing.T) {
	for _, s := range samples {
		text, err := os.ReadFile(filepath.Join(folder(), s.file))
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := bytes.Cut(text, []byte("\n")); !bytes.HasPrefix(first, []byte("{\"")) || !json.Valid(first) {
			continue // not an object on each line
		}
		var spaced bytes.Buffer
		for line := range bytes.Lines(text) {
			var indented bytes.Buffer
			if err := json.Indent(&indented, line, "", " "); err != nil {
				t.Fatal(err)
			}
			spaced.Write(bytes.ReplaceAll(bytes.TrimSpace(indented.Bytes()), []byte("\n"), nil))
			spaced.WriteByte('\n')
		}
		r, err := NewReader(bytes.NewReader(spaced.Bytes()), s.file, "", s.options)
		if err != nil || r.Format() != s.format {
			t.Errorf("%s: %v", s.file, err)
			continue
		}
		if got, want := rows(t, &spaced, s.options), rows(t, bytes.NewReader(text), s.options); got != want {
			t.Errorf("%s differs with spaces", s.file)
		}
	}
}

// TestLongElement has an element of a JSON array that is longer than what is kept of it.
func TestLongElement(t *testing.T) {
	for _, long := range []string{`"details":[{"a":"`, `"other":"`} {
		begin := strings.TrimSuffix(ghzHead, `"details":`) + long
		text := io.MultiReader(strings.NewReader(begin), io.LimitReader(zeros{}, 1<<40))
		r, err := NewReader(text, "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Scan() || r.bad == nil || r.Scan() || r.Err() != nil {
			t.Errorf("%v, %v", r.bad, r.Err())
		}
	}
}

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for n := range p {
		p[n] = '0'
	}
	return len(p), nil
}

// TestFailed records failed requests in three ways.
func TestFailed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder(), "jmeter.jtl"))
	if err != nil {
		t.Fatal(err)
	}
	for failed, want := range map[Failed]string{
		KeepFailed: "Home_Page:40 item__\"slow\":40 missing:40", DropFailed: "Home_Page:40 item__\"slow\":40",
		TagFailed: "Home_Page:40 item__\"slow\":40 missing/failed:40",
	} {
		rec := recording{size: 3600_000, failed: failed}
		var got []string
		for key, h := range intervals(t, rec.record(t, text)) {
			tag, _, _ := strings.Cut(key, " ")
			got = append(got, fmt.Sprintf("%s:%d", tag, h.TotalCount()))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%d: %v, want %s", failed, got, want)
		}
	}
}

// TestRequests: a row is as many requests as its count says.
func TestRequests(t *testing.T) {
	for failed, want := range map[Failed]Requests{
		KeepFailed: {All: 1003, Failed: 3},
		DropFailed: {All: 1003, Failed: 3, Dropped: 3},
		TagFailed:  {All: 1003, Failed: 3},
	} {
		rec := recording{size: 1000, failed: failed, options: Options{Columns: Columns{Count: "count", OK: "status"}}}
		rec.record(t, []byte("time,latency_ms,count,status\n1700000000,5,1000,200\n1700000001,7,3,500\n"))
		if rec.counts.Requests != want {
			t.Errorf("%d: %+v, want %+v", failed, rec.counts.Requests, want)
		}
	}
}

// TestMetrics reads several metrics of k6. Each is a part of the tag.
func TestMetrics(t *testing.T) {
	for _, name := range []string{"k6.csv", "k6.json"} {
		text, err := os.ReadFile(filepath.Join(folder(), name))
		if err != nil {
			t.Fatal(err)
		}
		rec := recording{options: Options{Metric: "http_req_(waiting|sending)"}, size: 3600_000}
		got := intervals(t, rec.record(t, text))
		tags := make(map[string]bool)
		for key := range got {
			tag, _, _ := strings.Cut(key, " ")
			tags[tag] = true
		}
		for _, tag := range []string{"http_req_waiting/item", "http_req_waiting/home_page", "http_req_sending/item", "http_req_sending/home_page"} {
			if !tags[tag] || len(tags) != 4 {
				t.Errorf("%s: tags %v", name, tags)
			}
		}
		if lines := int64(bytes.Count(text, []byte("\n"))); rec.counts.Recorded+rec.counts.Unchosen > lines || rec.counts.Recorded == 0 {
			t.Errorf("%s: %+v of %d lines", name, rec.counts, lines)
		}
	}
}

// TestDeepKeys finds keys of JSON at any depth by their names, although the first rows lack them.
func TestDeepKeys(t *testing.T) {
	tags := func(file string) string {
		text, err := os.ReadFile(filepath.Join(folder(), file))
		if err != nil {
			t.Fatal(err)
		}
		rec := recording{options: Options{Columns: Columns{Tags: []string{"method", "status"}}}, size: 3600_000}
		var all []string
		for key, h := range intervals(t, rec.record(t, text)) {
			tag, _, _ := strings.Cut(key, " ")
			all = append(all, fmt.Sprint(tag, " ", h.TotalCount()))
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	if got, want := tags("k6.json"), tags("k6.csv"); got != want || !strings.Contains(got, "GET/200 ") {
		t.Errorf("%s, want %s", got, want)
	}
	r, err := NewReader(strings.NewReader(`{"time":1700000000,"latency_ms":1,"a":{"b":1}}
{"time":1700000000,"latency_ms":1,"a":{"op":"x"}}
{"time":1700000000,"latency_ms":1,"a":{"op":"y"},"op":"z"}
`), "f", "", Options{Columns: Columns{Tags: []string{"op"}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r.Scan() {
		got = append(got, string(r.parser.row.Tag))
	}
	if fmt.Sprint(got) != "[ x z]" {
		t.Errorf("%q", got)
	}
}

// TestMemtier compares the histograms with the figures beside them.
func TestMemtier(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder(), "memtier.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		All map[string]json.RawMessage `json:"ALL STATS"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	var runtime map[string]float64
	json.Unmarshal(report.All["Runtime"], &runtime)
	rec := recording{size: 1000}
	r := hdrlog.NewReader(strings.NewReader(rec.record(t, text)), "log")
	n := 0
	for record := range r.All() {
		if record.Kind != hdrlog.IntervalRecord {
			continue
		}
		n++
		i := record.Interval
		if i.StartMillis() != int64(runtime["Start time"]) || i.EndMillis() != int64(runtime["Finish time"]) {
			t.Errorf("from %d to %d", i.StartMillis(), i.EndMillis())
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(string(i.Tag), "ALL_STATS/"), "/")
		var figures struct {
			Count       int64
			Percentiles map[string]any `json:"Percentile Latencies"`
		}
		json.Unmarshal(report.All[name], &figures)
		h := intervals(t, "Tag=x,"+string(i.AppendFields(nil))+string(i.Payload)+"\n")
		for _, h := range h {
			if rest != "Percentile_Latencies/Histogram_log_format/Compressed_Histogram" || h.TotalCount() != figures.Count {
				t.Errorf("%s: %d values, want %d", i.Tag, h.TotalCount(), figures.Count)
			}
			// The C library rounds the rank of a percentile.
			p99, ok := figures.Percentiles["p99.00"].(float64)
			if us := int64(p99*1000 + 0.5); ok && figures.Count > 0 && (us < h.ValueAtPercentile(98.9) || us > h.ValueAtPercentile(99.1)) {
				t.Errorf("%s: p99 is %d, want %v ms", i.Tag, h.ValueAtPercentile(99), p99)
			}
		}
	}
	if n != 4 || rec.counts.Recorded != 4 {
		t.Errorf("%d histograms", n)
	}
}

// TestHistograms finds histograms in texts that are no JSON, or more than one value.
func TestHistograms(t *testing.T) {
	const payload = "HISTFAAAACB42pNpmSzMwMDAwgABTFCaEca3/wBhCGnxyAAARYwC4w=="
	for _, test := range []struct{ text, tags, messages string }{
		{"latency: " + payload + ", HISTORY is " + payload + "\n", "[nil nil]", ""},
		{`{"a":{"b c":"` + payload + `"},"list":[1,{"x":"` + payload + `"}]}` + "\n" + `{"a":"` + payload + "\"}\n", "[a/b_c list/x a]", ""},
		{"{\n\"a\": nan, \"b\":\"" + payload + "\"\n}\n", "[b]", ""},
		{"{\"a\": oops\n\"b\":\"" + payload + "\"}\n{\"c\":\"" + payload + "\"}\n", "[nil c]", ""},
		{`{"log":[{"a":"` + payload + "\",\n\"b\":\"" + payload + "\"oops\n", "[log/a nil]", ""},
		{`{"a":"` + payload[:40] + `"}` + "\n", "[]", "file0:1: payload: payload is cut short: 22 of 32 compressed bytes"},
	} {
		rec := recording{format: "hist", size: 1000}
		var tags []string
		r := hdrlog.NewReader(strings.NewReader(rec.record(t, []byte(test.text))), "log")
		for record := range r.All() {
			if record.Kind == hdrlog.IntervalRecord {
				tag := "nil"
				if record.Interval.Tag != nil {
					tag = string(record.Interval.Tag)
				}
				tags = append(tags, tag)
			}
		}
		if fmt.Sprint(tags) != test.tags || strings.Join(rec.messages, "\n") != test.messages {
			t.Errorf("%s: %v %q", test.text, tags, rec.messages)
		}
	}
}

// TestHistogramTimes finds the times of histograms: before the payload, as in a log, or in the
// object of JSON around it.
func TestHistogramTimes(t *testing.T) {
	const payload = "HISTFAAAACB42pNpmSzMwMDAwgABTFCaEca3/wBhCGnxyAAARYwC4w=="
	for _, test := range []struct{ text, path, want string }{
		{"x Tag=a b,0.5,1.25,2.0," + payload + "\n", "", "a b 500 1250"},
		{`{"lines":["Tag=a,1700000000.5,1,2.0,` + payload + `","2.5,1,2.0,` + payload + `"]}`, "", "a 1700000000500 1000; lines 2500 1000"},
		{`{"start_time":"2024-06-10T16:00:00Z","end_time":"2024-06-10T16:00:02Z","log":[{"time_s":3,"h":"` + payload + `","duration_s":2}, {"h":"` + payload + `"}],"all":"` + payload + `"}`, "",
			"log/h 1718035203000 2000; log/h 1718035200000 2000; all 1718035200000 2000"},
		{`[{"h":"` + payload + `","duration_s":2,"time_s":1700000000}]`, "", "h 1700000000000 2000"},
		{`{"runs":[{"at":1700000000,"h":"` + payload + `"},{"h":"` + payload + `"}]}`, ".runs.at", "runs/h 1700000000000 0; runs/h 0 0"},
		{`{"t":{"at":1700000000},"h":"` + payload + `"}`, "t.at", "h 1700000000000 0"},
		{`{"h":"` + payload + `"}`, ".at", "h 0 0; f: -time .at is the path of no time"},
	} {
		r, err := NewReader(strings.NewReader(test.text), "f", "hist", Options{Columns: Columns{Time: test.path}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r.Scan() {
			got = append(got, fmt.Sprint(string(r.parser.row.Tag), " ", r.parser.row.Time/1e6, " ", r.parser.row.Length/1e6))
		}
		if r.Err() != nil {
			got = append(got, "f: "+r.Err().Error())
		}
		if all := strings.Join(got, "; "); all != test.want {
			t.Errorf("%s: %s, want %s", test.text, all, test.want)
		}
	}
}

// TestBinaryHistograms reads payloads that are not in base64, one after another.
func TestBinaryHistograms(t *testing.T) {
	const payload = "HISTFAAAACB42pNpmSzMwMDAwgABTFCaEca3/wBhCGnxyAAARYwC4w=="
	one, err := stdbase64.StdEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	for size := 4; size <= 2*len(one); size++ {
		r, err := NewReader(bytes.NewReader(append(one, one...)[:size]), "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		good, bad := 0, 0
		for r.Scan() {
			if r.bad == nil && string(r.parser.row.Payload) == payload {
				good++
			} else {
				bad++
			}
		}
		if good != size/len(one) || bad > 1 || bad == 0 && size%len(one) >= 15 || r.Err() != nil {
			t.Errorf("%d bytes: %d right, %d wrong, %v", size, good, bad, r.Err())
		}
	}
}

// TestPieces reads a byte at a time, and with a limit of the record.
func TestPieces(t *testing.T) {
	for _, s := range samples {
		text, err := os.ReadFile(filepath.Join(folder(), s.file))
		if err != nil {
			t.Fatal(err)
		}
		whole, pieces := rows(t, bytes.NewReader(text), s.options), rows(t, iotest.OneByteReader(bytes.NewReader(text)), s.options)
		if whole != pieces {
			t.Errorf("%s differs in pieces", s.file)
		}
	}
	quotes := "time,value\n1700000000,\"1\n\n\"\n1700000000,\"1\n1700000000,2\n\"\"\n1700000000,\"3"
	if whole, pieces := rows(t, strings.NewReader(quotes), Options{Unit: hdrlog.Second}), rows(t, iotest.OneByteReader(strings.NewReader(quotes)), Options{Unit: hdrlog.Second}); whole != pieces {
		t.Errorf("lines in quotes differ in pieces:\n%s\nwhole:\n%s", pieces, whole)
	}
	long := "time,value\n1700000000,1\n1700000000," + strings.Repeat("1", 3<<20) + "\n1700000000,1\n"
	rec := recording{options: Options{Unit: hdrlog.Second}, size: 1000}
	rec.record(t, []byte(long))
	if rec.counts.Recorded != 2 || fmt.Sprint(rec.messages) != "[file0:3: line: line is too long]" {
		t.Errorf("%+v %v", rec.counts, rec.messages)
	}
	r, err := NewReader(strings.NewReader(long[:2<<20]), "f", "", Options{Unit: hdrlog.Second})
	for err == nil && r.Scan() {
	}
	if err != nil || r.Unterminated() {
		t.Errorf("a last line that is too long is one without an end; %v", err)
	}
}

func rows(t *testing.T, r io.Reader, o Options) string {
	t.Helper()
	reader, err := NewReader(r, "f", "", o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for reader.Scan() {
		fmt.Fprintf(&b, "%+v %v %d\n", reader.parser.row, reader.bad, reader.Line())
	}
	return b.String()
}

// TestCutInQuotes cuts a file short in a field with quotes, wherever that lies in the buffer.
func TestCutInQuotes(t *testing.T) {
	for size := 1; size < 1<<13; size += 37 {
		text := jtlHeader
		for len(text) < size {
			text += "1700000000000,5,a,true\n"
		}
		want := strings.Count(text, "\n") - 1
		all := rows(t, strings.NewReader(text+"1700000000000,5,\""+strings.Repeat("b", 20)), Options{})
		if got := strings.Count(all, "\n"); got != want+1 || strings.Count(all, "not closed") != 1 {
			t.Fatalf("%d bytes: %d rows, want %d and an error\n%.300s", size, got, want, all)
		}
	}
}

// counting counts how often a record, or a part of one, is parsed.
type counting struct {
	fieldFinder
	times int
}

func (c *counting) find(record []byte, places [][]byte) (skip bool, err error) {
	c.times++
	return c.fieldFinder.find(record, places)
}

// TestOpenQuoteInPieces: a record that goes on is not parsed again for each piece that is read.
func TestOpenQuoteInPieces(t *testing.T) {
	const lines = 100
	text := jtlHeader + "1700000000000,5,\"a" + strings.Repeat("\nb", lines) + "\",true\n"
	r, err := NewReader(iotest.OneByteReader(strings.NewReader(text)), "f", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := &counting{fieldFinder: r.parser.fields}
	r.parser.fields = count
	for r.Scan() {
	}
	if r.splitter.line+r.splitter.lines != lines+3 || count.times > lines+10 {
		t.Errorf("%d lines, parsed %d times", r.splitter.line+r.splitter.lines, count.times)
	}
}

// TestManyQuotes has files of open quotes, and of quotes that close and open again. Each line is
// parsed a few times, and looked at a bounded number of times: 93 kB took 5 s.
func TestManyQuotes(t *testing.T) {
	for _, line := range []string{"\"a\n", "1,\"\n", "\"\",\"\n", "x\",\"" + strings.Repeat("y", 100) + "\n", "\"\"\n"} {
		const lines = 31_000
		text := jtlHeader + strings.Repeat(line, lines)
		r, err := NewReader(strings.NewReader(text), "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		count := &counting{fieldFinder: r.parser.fields}
		r.parser.fields = count
		read := 0
		for r.Scan() {
			read += r.splitter.lines
			if r.bad == nil {
				t.Fatalf("%q is a row", line)
			}
		}
		if read != lines || count.times > 4*lines || r.splitter.reparsed > spareAgain+timesAgain*len(text)+maxRecord {
			t.Errorf("%.9q: %d of %d lines, parsed %d times, %d bytes again", line, read, lines, count.times, r.splitter.reparsed)
		}
	}
}

// TestReadError reports an error of reading. What comes before is recorded, but for half a line.
func TestReadError(t *testing.T) {
	failure := errors.New("the disk is gone")
	r, err := NewReader(io.MultiReader(strings.NewReader("time,value\n1700000000,1\n1700000000,12"), iotest.ErrReader(failure)), "f", "", Options{Unit: hdrlog.Second})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r.Scan() {
		got = append(got, fmt.Sprint(r.bad))
	}
	if fmt.Sprint(got) != "[<nil> f:3: line: the line is cut short]" || r.Err() != failure || r.Unterminated() {
		t.Errorf("%v %v, unended: %v", got, r.Err(), r.Unterminated())
	}
}

// longExponent matches exponents that take big.Rat long or that have more than 16 bits.
var longExponent = regexp.MustCompile(`[eE].{4}`)

// FuzzDecimal compares decimal with exact arithmetic.
func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"0", "1.5", "-0", "123456789.123456789", "1e-7", "9223372036854775807", "9223372036854775808", "0.0000000005", "12345678901234567890123", ".5", "5.", "+1", "1e400", "0e41400", "0e70000A", "0.9", "1.0000000006"} {
		f.Add(text, 9)
		f.Add(text, 0)
	}
	f.Fuzz(func(t *testing.T, text string, scale int) {
		scale = (scale%10 + 10) % 10
		got, err := parseDecimal([]byte(text), scale)
		want, ok := new(big.Rat).SetString(strings.Trim(text, " "))
		if strings.ContainsAny(text, "/_xXpPoObBiInN\t\n\v\f\r\u0085\u00a0") || len(text) > 40 || longExponent.MatchString(text) {
			return // other notations
		}
		if !ok {
			if err == nil {
				t.Fatalf("%q is %d", text, got)
			}
			return
		}
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
		difference := new(big.Rat).Sub(want, new(big.Rat).SetInt64(got))
		exact := new(big.Rat).Abs(difference).Cmp(big.NewRat(1, 2)) <= 0
		digits := len(strings.Trim(text, "0.+- eE"))
		switch {
		case err == nil && !exact && digits < 19:
			t.Errorf("%q times 10^%d is %d", text, scale, got)
		case err != nil && want.Sign() >= 0 && want.Cmp(new(big.Rat).SetInt64(1<<62)) < 0:
			t.Errorf("%q: %v", text, err)
		case err == nil && want.Sign() < 0 && got != 0:
			t.Errorf("%q is %d", text, got)
		}
	})
}

// FuzzTable writes a table with the standard library and reads it: every field must be the same.
func FuzzTable(f *testing.F) {
	f.Add("a", "b,c", "d\"e", byte(0))
	f.Add("", "\n\"", " x ", byte(2))
	f.Fuzz(func(t *testing.T, a, b, c string, d byte) {
		delimiter := delimiters[int(d)%len(delimiters)]
		row := []string{"1700000000", a, b, "0.25", c}
		for n := range row {
			row[n] = strings.ReplaceAll(row[n], "\r", "") // the standard library drops them
		}
		var text bytes.Buffer
		w := stdcsv.NewWriter(&text)
		w.Comma = rune(delimiter)
		w.WriteAll([][]string{{"time", "a", "b", "value", "c"}, row, row})
		r, err := NewReader(&text, "f", "csv", Options{Unit: hdrlog.Second, Delimiter: delimiter, Columns: Columns{Tags: []string{"a", "b", "c"}}})
		if err != nil {
			t.Fatal(err)
		}
		want := row[1] + "/" + row[2] + "/" + row[4]
		n := 0
		for ; r.Scan(); n++ {
			if r.bad != nil || r.parser.row.Value != 250_000_000 || string(r.parser.row.Tag) != want && want != "//" {
				t.Fatalf("%v %+v %q, want %q", r.bad, r.parser.row, r.parser.row.Tag, want)
			}
		}
		if n != 2 {
			t.Errorf("%d rows", n)
		}
	})
}

// FuzzWalker compares the walker with the standard library on what that takes for JSON.
func FuzzWalker(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"c\"\u00e9"},[],{}],"":null}`, `"x"`, `[[1],[2,3]]`, `{"a":{"b":1e5,"c":true}}`, `1`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
		var got []string
		w := walker{separator: '.'}
		err := w.walk(text, func(path, value []byte) { got = append(got, fmt.Sprintf("%s=%s", path, value)) })
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var value any
		if d.Decode(&value) != nil || !json.Valid(text) || bytes.Count(text, []byte("[")) > 500 || bytes.Count(text, []byte("{")) > 500 {
			return
		}
		if err != nil || !w.done() {
			t.Fatalf("%s: %v", text, err)
		}
		var want []string
		flatten("", value, &want)
		slices.Sort(got)
		slices.Sort(want)
		// Of several members with one name, the standard library keeps the last one. It replaces
		// what is not UTF-8.
		if len(got) == len(want) && bytes.Equal(text, bytes.ToValidUTF8(text, nil)) && !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if len(got) < len(want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	})
}

func flatten(path string, value any, all *[]string) {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			flatten(path+"."+key, value, all)
		}
	case []any:
		for n, value := range v {
			flatten(fmt.Sprintf("%s.%d", path, n), value, all)
		}
	case nil:
		*all = append(*all, path+"=")
	default:
		*all = append(*all, fmt.Sprintf("%s=%v", path, v))
	}
}

// fuzz reads any text as one of the formats. Every row is recorded or reported, and the log can be
// read.
func fuzz(f *testing.F, format string, o Options, files ...string) {
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder(), file))
		if err != nil {
			f.Fatal(err)
		}
		lines := bytes.SplitAfterN(text, []byte("\n"), 6)
		f.Add(bytes.Join(lines[:min(5, len(lines))], nil))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := NewReader(bytes.NewReader(text), "f", format, o)
		if err != nil {
			return
		}
		var log bytes.Buffer
		w := hdrlog.NewWriter(&log)
		reported := int64(0)
		o := UsualRecording()
		o.Report = func(*hdrlog.SyntaxError) error {
			reported++
			return nil
		}
		rec := NewRecorder(w, o)
		if err := rec.Run([]*Reader{r}); err != nil {
			if !errors.Is(err, ErrMostly) && !errors.As(err, new(refusedError)) {
				t.Fatal(err)
			}
			rec.intervals.write(math.MaxInt64)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		c := rec.Counts
		most := int64(bytes.Count(text, []byte("\n"))) + 1
		if r.parser.multiRow != nil {
			most *= 2
		}
		if reported != c.Malformed+c.Late || r.parser.payloads == nil && r.format != nil && r.format.source == nil && c.Recorded+c.Malformed+c.Late+c.Unchosen > most {
			t.Errorf("%+v, %d reported", c, reported)
		}
		if r.parser.payloads == nil {
			total := int64(0)
			for _, h := range intervals(t, log.String()) {
				total += h.TotalCount()
			}
			if total != c.Recorded {
				t.Errorf("%d values in the log, %d recorded", total, c.Recorded)
			}
		}
	})
}

func FuzzJTL(f *testing.F)    { fuzz(f, "jtl", Options{}, "jmeter.jtl", "jmeter-semicolon.jtl") }
func FuzzK6(f *testing.F)     { fuzz(f, "k6", Options{}, "k6.csv", "k6.json") }
func FuzzVegeta(f *testing.F) { fuzz(f, "vegeta", Options{}, "vegeta.csv", "vegeta.json") }
func FuzzCSV(f *testing.F) {
	fuzz(f, "csv", Options{Unit: hdrlog.Millisecond, Columns: Columns{Time: "1", Value: "2", Tags: []string{"3"}}}, "jmeter-bare.jtl", "jmeter.jtl")
}
func FuzzNDJSON(f *testing.F) {
	fuzz(f, "ndjson", Options{Unit: hdrlog.Second, Columns: Columns{Value: "request_time"}}, "nginx.ndjson")
}
func FuzzAccessLog(f *testing.F) { fuzz(f, "accesslog", Options{}, "nginx.log", "apache.log") }
func FuzzGatling(f *testing.F)   { fuzz(f, "gatling", Options{}, "gatling.log") }
func FuzzProxies(f *testing.F) {
	fuzz(f, "", Options{}, "caddy.log", "envoy.log", "haproxy.log", "hey.csv", "ab.tsv")
}
func FuzzLoad(f *testing.F) {
	fuzz(f, "", Options{}, "fio.log", "pgbench.log", "h2load.log", "oha.csv", "fortio.log")
}
func FuzzW3C(f *testing.F)       { fuzz(f, "w3c", Options{}, "iis.log", "cloudfront.log") }
func FuzzCockroach(f *testing.F) { fuzz(f, "cockroach", Options{}, "cockroach-workload-stats.json") }
func FuzzXML(f *testing.F)       { fuzz(f, "jtl", Options{}, "jmeter.xml") }
func FuzzRecords(f *testing.F) {
	f.Add(gatlingRecords())
	fuzz(f, "gatling", Options{})
}
func FuzzExpression(f *testing.F) {
	fuzz(f, "lines", Options{Pattern: `(?P<time>\d\S+) .* (?P<value>\d+) (?P<unit>\w+)`}, "uwsgi.log", "squid.log")
}
func FuzzLogfmt(f *testing.F) { fuzz(f, "heroku", Options{}, "heroku.log") }
func FuzzDocument(f *testing.F) {
	fuzz(f, "vllm", Options{}, "vllm.json", "sglang.jsonl")
}
func FuzzElements(f *testing.F) { fuzz(f, "ghz", Options{}, "ghz.json") }
func FuzzHist(f *testing.F)     { fuzz(f, "hist", Options{}, "memtier.json") }

// FuzzPattern compiles any pattern and reads a line.
func FuzzPattern(f *testing.F) {
	for _, s := range samples {
		if s.options.Pattern != "" {
			f.Add(s.options.Pattern, "a b c")
		}
	}
	f.Fuzz(func(t *testing.T, text, line string) {
		r, err := NewReader(strings.NewReader(line+"\n"), "f", "accesslog", Options{Pattern: text, Unit: hdrlog.Second})
		if err == nil {
			for r.Scan() {
			}
		}
	})
}
