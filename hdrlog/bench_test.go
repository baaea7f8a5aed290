package hdrlog

import (
	"bytes"
	"fmt"
	"testing"

	"hdrkit/hdrlog/histogram"
)

func BenchmarkReader(b *testing.B) {
	log := readLog(b, "logs/node1.hdr")
	log = bytes.Repeat(log, 20)
	for _, encoding := range []string{"utf-8", "gzip", "zstd", "utf-16le with mark"} {
		encoded := encodings(b, log)[encoding]
		b.Run(fmt.Sprintf("encoding=%.6s", encoding), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			var batch Batch
			for b.Loop() {
				r := NewReader(bytes.NewReader(encoded), "log")
				for r.ReadBatch(&batch) {
				}
			}
		})
	}
}

// BenchmarkSum reads a log, decodes all of it and adds it up.
func BenchmarkSum(b *testing.B) {
	for _, name := range []string{"node1", "digits2", "digits5"} {
		log := bytes.Repeat(readLog(b, "logs/"+name+".hdr"), 10)
		b.Run("log="+name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			var batch Batch
			var decoder histogram.Decoder
			for b.Loop() {
				r := NewReader(bytes.NewReader(log), "log")
				first := true
				sum := newSum(b)
				for r.ReadBatch(&batch) {
					for i := range batch.Records {
						if batch.Records[i].Kind != IntervalRecord {
							continue
						}
						p, err := decoder.Open(batch.Records[i].Interval.Payload)
						if err != nil {
							b.Fatal(err)
						}
						if first {
							sum.Reset(p.Layout())
							first = false
						}
						if err := p.AddTo(sum); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	r := NewReader(bytes.NewReader(readLog(b, "logs/node1.hdr")), "log")
	h := decodePayload(b, nextInterval(r).Payload)
	w := NewWriter(writerFunc(func(p []byte) (int, error) { return len(p), nil }))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Interval(nil, 1, 1, h); err != nil {
			b.Fatal(err)
		}
	}
}
