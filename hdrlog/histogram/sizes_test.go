package histogram

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// BenchmarkEncodeLogs encodes the histograms of logs.
func BenchmarkEncodeLogs(b *testing.B) {
	for _, name := range []string{"many-tags", "straddle-a", "digits2", "digits3", "digits5", "node1"} {
		var histograms []*Histogram
		var raw []byte
		for _, payload := range logPayloads(b, name+".hdr") {
			var d Decoder
			p, err := d.Open(payload)
			if err != nil {
				b.Fatal(err)
			}
			h, err := p.Histogram()
			if err != nil {
				b.Fatal(err)
			}
			histograms = append(histograms, h)
			raw = appendRaw(raw, h, p.highest)
		}
		b.Run(fmt.Sprintf("log=%s/raw=%d", name, len(raw)/len(histograms)), func(b *testing.B) {
			var e Encoder
			var text []byte
			size := 0
			b.SetBytes(int64(len(raw) / len(histograms)))
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				var err error
				if text, err = e.AppendBase64(text[:0], histograms[n%len(histograms)]); err != nil {
					b.Fatal(err)
				}
				size += len(text)
			}
			b.ReportMetric(float64(size)/float64(b.N), "B/payload")
		})
	}
}

// TestSizes encodes the payloads of logs of the reference again and compares the sizes. With -v it
// prints the table in bench/compression.md. HDRKIT_BENCH_LOGS names a folder of more logs.
func TestSizes(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/logs/*.hdr")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(os.Getenv("HDRKIT_BENCH_LOGS"), "node*.hdr"))
	if err != nil {
		t.Fatal(err)
	}
	var allReference, allOurs int
	for _, path := range append(paths, more...) {
		var d Decoder
		var e Encoder
		var text []byte
		payloads, reference, ours := 0, 0, 0
		for _, payload := range logtest.Payloads(t, path) {
			p, err := d.Open(payload)
			if err != nil {
				continue
			}
			h, err := p.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			if text, err = e.AppendBase64(text[:0], h); err != nil {
				t.Fatal(err)
			}
			payloads++
			reference += len(payload)
			ours += len(text)
		}
		if payloads > 0 {
			t.Logf("| %s | %d | %d | %d | %+.1f%% |", filepath.Base(path), payloads, reference, ours, float64(ours-reference)*100/float64(reference))
		}
		if ours > reference*110/100 {
			t.Errorf("%s: %d bytes, where the reference takes %d", path, ours, reference)
		}
		allReference, allOurs = allReference+reference, allOurs+ours
	}
	if allOurs > allReference*95/100 {
		t.Errorf("%d bytes in all, where the reference takes %d", allOurs, allReference)
	}
}
