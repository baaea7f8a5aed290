package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/internal/cli"
	"hdrkit/internal/loggen"
)

// BenchmarkHdrsum runs the whole command on the log of ten minutes of cassandra-stress.
func BenchmarkHdrsum(b *testing.B) {
	const seconds, intervals = 600, 600 * 6
	var log bytes.Buffer
	if err := loggen.Write(&log, loggen.Options{Seconds: seconds, Rate: 10000, Seed: 1, Start: 1468800000137, Distinct: 60}); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "node1.hdr")
	if err := os.WriteFile(path, log.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		args []string
	}{
		{"type=percentiles/j=1", []string{"-j", "1"}},
		{"type=percentiles/j=2", []string{"-j", "2"}},
		{"type=json/j=1", []string{"-j", "1", "-st", "json"}},
		{"type=hgrm/j=1", []string{"-j", "1", "-st", "hgrm"}},
		{"type=timeline/j=1", []string{"-j", "1", "-st", "timeline"}},
		{"type=openmetrics/j=1", []string{"-j", "1", "-st", "openmetrics"}},
		{"type=timeline/agg=10/j=1", []string{"-j", "1", "-st", "timeline", "-agg", "10"}},
		{"type=timeline/mwpl=60/j=1", []string{"-j", "1", "-st", "timeline", "-mwpl", "60"}},
		{"type=percentiles/co=1e6/j=1", []string{"-j", "1", "-co", "1e6"}},
		{"type=none/j=1", []string{"-j", "1", "-incT", "insert-rt", "-e", "1"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(log.Len()))
			b.ReportAllocs()
			for b.Loop() {
				app := app()
				app.Streams.In, app.Streams.Out, app.Streams.Err = nil, io.Discard, os.Stderr
				if status := cli.Run(app, append(bench.args, path)); status != 0 {
					b.Fatalf("exit status %d", status)
				}
			}
			b.ReportMetric(intervals*float64(b.N)/b.Elapsed().Seconds(), "intervals/s")
		})
	}
}
