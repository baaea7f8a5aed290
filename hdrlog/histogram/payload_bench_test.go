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
				if err := p.Check(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecodeCoarse decodes an open payload with fewer digits, at once and in two steps.
func BenchmarkDecodeCoarse(b *testing.B) {
	var d Decoder
	p, err := d.Open(logPayloads(b, "node1.hdr")[0])
	if err != nil {
		b.Fatal(err)
	}
	var all, coarse Histogram
	for way, decode := range map[string]func() error{
		"once": func() error { return p.DecodeCoarse(&coarse, 1) },
		"steps": func() error {
			err := p.Decode(&all)
			all.CoarsenInto(&coarse, 1)
			return err
		},
	} {
		b.Run("way="+way, func(b *testing.B) {
			for b.Loop() {
				if err := decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
