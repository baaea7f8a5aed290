package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/loggen"
)

// BenchmarkHdrsplit runs the whole command on the log of ten minutes of cassandra-stress. To run it
// on another log, name a folder with a node1.hdr in HDRKIT_BENCH_LOGS.
func BenchmarkHdrsplit(b *testing.B) {
	folder := os.Getenv("HDRKIT_BENCH_LOGS")
	if folder == "" {
		folder = b.TempDir()
		var log bytes.Buffer
		if err := loggen.Write(&log, loggen.Options{Seconds: 600, Rate: 10000, Seed: 1, Start: 1468800000137, Distinct: 60}); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "node1.hdr"), log.Bytes(), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(folder, "node1.hdr")
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		args []string
	}{
		{"verify=no/j=1", []string{"-j", "1"}},
		{"verify=no/j=2", []string{"-j", "2"}},
		{"verify=yes/j=2", []string{"-j", "2", "-verify"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			out := b.TempDir()
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				if stderr, status := hdrsplit(b, append(bench.args, path, "-od", out)...); status != message.OK {
					b.Fatalf("exit status %d: %s", status, stderr)
				}
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		out := filepath.Join(b.TempDir(), "copy")
		b.SetBytes(info.Size())
		for b.Loop() {
			text, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(out, text, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	})
}
