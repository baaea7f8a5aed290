package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/internal/cli"
	"hdrkit/internal/loggen"
)

// BenchmarkHdrplot draws the log of ten minutes of cassandra-stress in every way. Compare it with
// BenchmarkHdrsum.
func BenchmarkHdrplot(b *testing.B) {
	path := filepath.Join(b.TempDir(), "node1.hdr")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := loggen.Write(file, loggen.Options{Seconds: 600, Rate: 10000, Seed: 1, Start: 1468800000137, Distinct: 60}); err != nil {
		b.Fatal(err)
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{
		{"timeline", "png"}, {"percentiles", "png"}, {"heatmap", "png"}, {"throughput", "png"}, {"timeline", "svg"}, {"timeline", "pdf"}, {"timeline", "html"},
	} {
		b.Run("type="+args[0]+"/format="+args[1], func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				app := app()
				app.Streams.In, app.Streams.Out, app.Streams.Err = nil, io.Discard, os.Stderr
				if status := cli.Run(app, []string{"-type", args[0], "-format", args[1], "-of", "-", path}); status != 0 {
					b.Fatalf("exit status %d", status)
				}
			}
		})
	}
}
