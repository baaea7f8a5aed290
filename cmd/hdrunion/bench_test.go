package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/loggen"
)

// BenchmarkHdrunion runs the whole command on the logs of three machines, ten minutes of
// cassandra-stress each. To run it on other logs, name a folder of node*.hdr in HDRKIT_BENCH_LOGS.
func BenchmarkHdrunion(b *testing.B) {
	folder := os.Getenv("HDRKIT_BENCH_LOGS")
	if folder == "" {
		folder = b.TempDir()
		for n := range 3 {
			var log bytes.Buffer
			o := loggen.Options{Seconds: 600, Rate: 10000, Seed: uint64(n + 1), Start: 1468800000137 + int64(n)*137, Distinct: 60}
			if err := loggen.Write(&log, o); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("node%d.hdr", n+1)), log.Bytes(), 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, bench := range []struct {
		name string
		args []string
	}{
		{"rules=overlap/j=1", []string{"-j", "1"}},
		{"rules=overlap/j=2", []string{"-j", "2"}},
		{"rules=grid1/j=2", []string{"-grid", "1", "-j", "2"}},
		{"rules=grid60/j=2", []string{"-grid", "60", "-j", "2"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			out := filepath.Join(b.TempDir(), "all.hdr")
			b.ReportAllocs()
			for b.Loop() {
				if _, stderr, status := hdrunion(b, append(bench.args, "-ip", folder, "-if", `node.*\.hdr`, "-of", out)...); status != message.OK {
					b.Fatalf("exit status %d: %s", status, stderr)
				}
			}
			info, err := os.Stat(out)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/1e6, "outMB")
		})
	}
}
