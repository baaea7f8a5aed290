//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
)

// TestUnits merges a log in microseconds and one in nanoseconds. Each output has the values of both
// in its unit, from the first window on.
func TestUnits(t *testing.T) {
	t.Parallel()
	logs := []string{"../../testdata/dialects/ycsb-read.hdr", "../../testdata/dialects/cassandra-stress.hdr"}
	for format, want := range map[string][]string{
		"ndjson":      {`"tag":"READ","count":165,"per_second":244.96774193548387,"min":0.038,`, `"p99":2.451,`, `"tag":"insert-rt","count":77,"per_second":77,"min":0.380672,`},
		"timeline":    {",READ,165,244.96774193548387,0.038,", ",insert-rt,77,77,0.380672,"},
		"influx":      {"latency,tag=READ length=1,count=165i,per_second=244.96774193548387,min=0.038,", "latency,tag=insert-rt length=1,count=77i,per_second=77,min=0.380672,"},
		"openmetrics": {`latency_seconds{tag="READ",quantile="1.0"} 0.002451 1.700000001e+09`, `latency_seconds{tag="insert-rt",quantile="1.0"} 0.002609151 1.700000001e+09`},
		"otlp":        {`"min":0.000038,"max":0.002451`, `"min":0.000380672,"max":0.002609151`},
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{{logs[0], logs[1]}, {logs[1], logs[0]}} {
				stdout, stderr, status := hdrlive(t, append(args, "-unit", "ms", "-for", "300ms", "-st", format, "-sla", "READ:max<=2451us,insert-rt:p99<=5472255ns")...)
				for _, text := range want {
					if !strings.Contains(strings.ReplaceAll(stdout, "3.8e-05", "0.000038"), text) {
						t.Errorf("%q: no %s in\n%s", args, text, stdout)
					}
				}
				if status != 0 {
					t.Errorf("%q: status %d: %s", args, status, stderr)
				}
			}
		})
	}
	r := clitest.Receive(t, func(int) int { return http.StatusNoContent })
	name := "influx " + r.URL + "/write"
	p := clitest.Start(t, nil, patient, append(logs, "-s", "start", "-idle", "100ms", "-unit", "ms", "-serve", "127.0.0.1:0", "-push", r.URL+"/write", "-push", r.URL+"/write?db=b")...)
	at := p.Serves()
	p.Await("a scrape", func() bool {
		text := clitest.Fetch("http://" + at + "/metrics")
		return strings.Contains(text, `latency_seconds_sum{tag="READ"} 0.57694`) && strings.Contains(text, `latency_seconds_sum{tag="insert-rt"} 0.48475392`) &&
			strings.Count(text, "\nhdrkit_push_sent_rows_total{receiver=\""+name+"\"} ") == 1 && strings.Contains(text, "\nhdrkit_push_sent_rows_total{receiver=\""+name+"?db=b\"} ")
	})
	p.Interrupt(os.Interrupt, 0)
	for _, want := range []string{"tag=READ length=1,count=165i,per_second=244.96774193548387,min=0.038,", "tag=insert-rt length=1,count=77i,per_second=77,min=0.380672,"} {
		if !strings.Contains(r.Text(), want) {
			t.Errorf("no %s in\n%s", want, r.Text())
		}
	}
}

// TestUnknownUnit: a limit whose result depends on the unit of the values needs it of each log: at
// the start, and of one that comes later, which is not taken.
func TestUnknownUnit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	known := clitest.NewLogWriter(t, filepath.Join(dir, "node1.hdr"), 0, "known")
	known.Line("#UNITS:NANOSECONDS\n")
	for second := range 3 {
		known.Second(second, 1000, 10)
	}
	args := []string{"-agg", "1", "-idle", "1h", "-ip", dir, "-if", `node\d\.hdr`, "-sla", "max<=1s", "-st", "ndjson"}
	p := clitest.Start(t, nil, "hdrlive", args...)
	p.Await("a window", func() bool { return strings.Contains(p.Stdout(), `"tag":"known"`) })
	unknown := clitest.NewLogWriter(t, filepath.Join(dir, "node2.hdr"), 0, "unknown")
	for second := range 5 {
		unknown.Second(second, 1000, 10)
		known.Second(3+second, 1000, 10)
	}
	p.Await("a message", func() bool {
		return strings.Contains(p.Stderr(), "node2.hdr is unknown: add -in node2.hdr=UNIT, or -in UNIT for all logs; the log is not taken")
	})
	p.Interrupt(os.Interrupt, 3)
	if strings.Contains(p.Stdout(), "unknown") || !strings.Contains(p.Stderr(), "HOLDS: max is 3.031 us of 1 s") {
		t.Errorf("%s%s", p.Stdout(), p.Stderr())
	}
	stdout, stderr, status := hdrlive(t, args...)
	if status != 2 || stdout != "" || !strings.Contains(stderr, "-sla max<=1s: the unit of the values of ") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}
