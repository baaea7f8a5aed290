package logs

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
)

func TestKindOf(t *testing.T) {
	for _, test := range []struct{ name, text, kind string }{
		{"a payload", "Tag=a,0.000,1.000,0.000,HISTFAAA", ""},
		{"a payload of doubles after JSON", "{}\nTag=a,0.000,1.000,0.000,DHISTwAA", ""},
		{"UTF-16", "0\x00,\x00H\x00I\x00S\x00T\x00", ""},
		{"gzip", "\x1f\x8b\x08\x00", ""},
		{"zstd", "\x28\xb5\x2f\xfd\x00", ""},
		{"a distribution", "       Value     Percentile TotalCount 1/(1-Percentile)\n", "a percentile distribution; hdrplot -type percentiles draws it"},
		{"a picture", "\x89PNG\r\n\x1a\n", picture},
		{"a page", "\n<!DOCTYPE html>", "a page"},
		{"JSON", "{\n", "a JSON document"},
		{"an array", "[1,\n", "a JSON document; it has numbers at []: hdrrec -value '[]' -in UNIT reads some"},
		{"arrays", `{"runs":[{"warmups":[[1,2]],"values":[3]}],`, "a JSON document; it has numbers at runs[].warmups[][], runs[].values[]: hdrrec -value 'runs[].values[]' -in UNIT reads some"},
		{"an array without a name", `[[1]`, "a JSON document; it has numbers at [][]: hdrrec -value '[][]' -in UNIT reads some"},
		{"a line in brackets", "[2024-05-01T10:00:00Z] GET /a 200 0.123\n", ""},
		{"wrk2", "Running 30s test @ https://foo.org/\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n  Detailed Percentile spectrum:\n", "the output of wrk2; hdrplot -type percentiles draws the distribution in it"},
		{"a distribution below its mean", "66.501\n       Value   Percentile   TotalCount 1/(1-Percentile)\n", "a percentile distribution; hdrplot -type percentiles draws it"},
		{"k6", `{"metrics":{"http_req_duration":{"avg":12.3}}}`, "a summary of k6; k6 run --out csv=k6.csv records its requests"},
		{"k6, exported", "{\n  \"root_group\": {},\n  \"metrics\": {\n    \"vus_max\": {", "a summary of k6; k6 run --out csv=k6.csv records its requests"},
		{"k6, for people", "\n     execution: local\n\n     http_req_duration..............: avg=12.3ms min=1ms\n", "a summary of k6; k6 run --out csv=k6.csv records its requests"},
		{"ab", "This is ApacheBench, Version 2.3\n", "a summary of ab; ab -g FILE records its requests"},
		{"ab -e", "Percentage served,Time in ms\n0,0.546\n", "a summary of ab; ab -g FILE records its requests"},
		{"vegeta report", "Requests      [total, rate, throughput]         150, 50.33, 49.42\n", "a report of vegeta; vegeta encode -to csv writes its requests"},
		{"vegeta report -type json", `{"latencies":{"total":5269546265,"mean":35130308`, "a report of vegeta; vegeta encode -to csv writes its requests"},
		{"vegeta report -type hist", "Bucket         #    %       Histogram\n", "a report of vegeta; vegeta encode -to csv writes its requests"},
		{"vegeta report -type hdrplot", "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n", "a percentile distribution; hdrplot -type percentiles draws it"},
		{"locust --csv", "Type,Name,Request Count,Failure Count,Median Response Time\n", "a table of locust; locust --json or --json-file writes the counts of its response times"},
		{"its history", "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%\n", "a table of locust; locust --json or --json-file writes the counts of its response times"},
		{"fio", "a: (g=0): rw=randread, bs=(R) 4096B-4096B\n", "a summary of fio; fio --write_lat_log without --log_avg_msec records its requests"},
		{"fio --log_avg_msec", "500, 154674, 0, 0, 0\n", "a summary of fio; fio --write_lat_log without --log_avg_msec records its requests"},
		{"fio --output-format json", "{\n  \"fio version\" : \"fio-3.33\",\n", "a summary of fio; fio --write_lat_log records its requests, and hdrrec -value 'jobs[].read.clat_ns.bins{}' -in ns reads the counts of json+"},
		{"redis-benchmark", " SET: rps=0.0 (overall: 0.0)\r====== SET ======\n  5000 requests completed in 0.14 seconds\n", "a summary of redis-benchmark; without --csv it prints a distribution, which a recipe of docs/cookbook.md reads"},
		{"bombardier", "Bombarding http://127.0.0.1/ for 3s using 4 connection(s)\n", "a summary of bombardier, which records no requests"},
		{"autocannon", "Running 3s test @ http://127.0.0.1/\n4 connections\n", "a summary of autocannon, which records no requests"},
		{"siege", "\n{\t\"transactions\":\t38,\n", "a summary of siege, which records no requests"},
		{"sysbench", "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n", "a summary of sysbench, which records no requests"},
		{"httperf", "httperf --verbose --client=0/1\n", "a summary of httperf, which records no requests"},
		{"xz", "\xfd7zXZ\x00", "compressed by xz; give it to xzcat first"},
		{"zeros", "ab\x00c", "binary data"},
		{"hey", "\nSummary:\n  Total:\t0.0361 secs\n  Slowest:\t0.0113 secs\n", "a summary of hey; hey -o csv records its requests"},
		{"oha", "Summary:\n  Success rate:\t100.00%\n  Total:\t2.1 sec\n", "a summary of oha; oha --output-format csv records its requests"},
		{"ghz", "\nSummary:\n  Count:\t200\n  Total:\t181.57 ms\n", "a summary of ghz; ghz -O json records its requests"},
		{"ghz with a name", "\nSummary:\n  Name:\t\ta b\n  Count:\t200\n", "a summary of ghz; ghz -O json records its requests"},
		{"wrk", "Running 30s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n", "a summary of wrk, which records no requests; wrk2 --latency prints a distribution that hdrplot draws"},
		{"pgbench, aggregated", "1345828501 5601 1542744 483552416 61 2573\n1345828503 7884 1979812 565806736 60 1479\n", "aggregates of pgbench; pgbench -l without --aggregate-interval records its transactions"},
		{"pgbench", "pgbench (15.14)\nstarting vacuum...end.\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nlatency average = 11.0 ms\n", "a summary of pgbench; pgbench -l records its transactions"},
		{"text", "histogram\n", ""},
		{"nothing", "", ""},
	} {
		if kind := KindOf([]byte(test.text)); kind != test.kind {
			t.Errorf("%s: %q, want %q", test.name, kind, test.kind)
		}
	}
}

// TestNoLog checks that an input that is no log gets one message.
func TestNoLog(t *testing.T) {
	var out bytes.Buffer
	d := NewDiagnostics(&message.Streams{Name: "test", Err: &out}, false)
	inputs := []scan.Input{{Name: "picture", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("\x89PNG")), nil }}}
	d.convertMeasurements(inputs, nil, nil)
	file, err := inputs[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(file); err != nil || string(text) != "\x89PNG" {
		t.Errorf("%q, %v", text, err)
	}
	for n, name := range []string{"picture", "log", "picture"} {
		if err := d.Report(&hdrlog.SyntaxError{File: name, Line: n + 1, Field: "start", Err: errors.New("bad")}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != message.Status(message.Skipped) {
		t.Error(err)
	}
	if want := "test: picture is no log, but " + picture + "\ntest: log:2: start: bad\ntest: skipped 1 malformed line\n"; out.String() != want {
		t.Errorf("printed\n%swant\n%s", out.String(), want)
	}
}
