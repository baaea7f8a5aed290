package summary

import (
	"bytes"
	"io"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
)

// BenchmarkBelieve compares summaries with and without intervals of confidence.
func BenchmarkBelieve(b *testing.B) {
	var log bytes.Buffer
	if err := loggen.Write(&log, loggen.Options{Seconds: 600, Rate: 10000, Seed: 1, Distinct: 60}); err != nil {
		b.Fatal(err)
	}
	for _, level := range []float64{0, 95} {
		b.Run(map[float64]string{0: "plain", 95: "believe"}[level], func(b *testing.B) {
			for b.Loop() {
				input := scan.Input{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log.Bytes())), nil }}
				s := &scan.Scan{Inputs: []scan.Input{input}, Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
				var o Options
				if level > 0 {
					o.Runs = new(Runs)
				}
				r, err := Collect(s, o)
				if err != nil {
					b.Fatal(err)
				}
				if level > 0 {
					err = r.Believe(o.Runs, []float64{50, 90, 99, 99.9, 99.99, 99.999}, level, 2)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
