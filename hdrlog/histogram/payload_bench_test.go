package histogram

import (
	"testing"
)

var benchLogs = []string{"node1", "digits2", "digits3", "digits5", "double"}

func benchPayloads(b *testing.B, name string, do func(b *testing.B, texts [][]byte)) {
	b.Run("log="+name, func(b *testing.B) {
		texts := logPayloads(b, name+".hdr")
		bytes := 0
		for _, text := range texts {
			bytes += len(text)
		}
		b.SetBytes(int64(bytes / len(texts)))
		b.ReportAllocs()
		do(b, texts)
	})
}

// BenchmarkOpen opens a payload.
func BenchmarkOpen(b *testing.B) {
	for _, name := range benchLogs {
		benchPayloads(b, name, func(b *testing.B, texts [][]byte) {
			var d Decoder
			for n := 0; b.Loop(); n++ {
				if _, err := d.Open(texts[n%len(texts)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAddTo adds the counts of an open payload.
func BenchmarkAddTo(b *testing.B) {
	for _, name := range benchLogs {
		benchPayloads(b, name, func(b *testing.B, texts [][]byte) {
			var d Decoder
			p, err := d.Open(texts[0])
			if err != nil {
				b.Fatal(err)
			}
			sum := newHistogram(b, p.layout)
			for b.Loop() {
				if err := p.AddTo(sum); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck checks the counts of an open payload.
func BenchmarkCheck(b *testing.B) {
	for _, name := range benchLogs {
		benchPayloads(b, name, func(b *testing.B, texts [][]byte) {
			var d Decoder
			p, err := d.Open(texts[0])
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				p.end = 0 // as if it were open only
				if err := p.Check(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
