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
		{"a line in brackets", "[2024-05-01T10:00:00Z] GET /a 200 0.123\n", ""},
		{"wrk2", "Running 30s test @ https://foo.org/\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n  Detailed Percentile spectrum:\n", "the output of wrk2; hdrplot -type percentiles draws the distribution in it"},
		{"a distribution below its mean", "66.501\n       Value   Percentile   TotalCount 1/(1-Percentile)\n", "a percentile distribution; hdrplot -type percentiles draws it"},
		{"k6", `{"metrics":{"http_req_duration":{"avg":12.3}}}`, "a summary of k6; k6 run --out csv=k6.csv records its requests"},
		{"k6, exported", "{\n  \"root_group\": {},\n  \"metrics\": {\n    \"vus_max\": {", "a summary of k6; k6 run --out csv=k6.csv records its requests"},
		{"k6, for people", "\n     execution: local\n\n     http_req_duration..............: avg=12.3ms min=1ms\n", "a summary of k6; k6 run --out csv=k6.csv records its requests"},
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
	d.lookAt(inputs, nil, nil)
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
