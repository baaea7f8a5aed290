package histogram

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkSparse decodes payloads of few to many values and computes what a row of hdrsum shows,
// with a list of slots and with pages.
func BenchmarkSparse(b *testing.B) {
	percentiles := []float64{50, 90, 99, 99.9, 99.99, 99.999}
	for _, values := range []int{30, 100, 300, 1000, 3000} {
		random := rand.New(rand.NewPCG(1, 2))
		var payloads [64]*Payload
		for n := range payloads {
			recorded, err := New(Layout{Digits: 3, Lowest: 1})
			if err != nil {
				b.Fatal(err)
			}
			for range values {
				recorded.Record(int64(1e6 * math.Exp(random.NormFloat64())))
			}
			packed, err := recorded.AppendBinary(nil)
			if err != nil {
				b.Fatal(err)
			}
			if payloads[n], err = new(Decoder).OpenBinary(packed); err != nil {
				b.Fatal(err)
			}
		}
		var h Histogram
		var row []int64
		for _, way := range []string{"list", "pages"} {
			b.Run(fmt.Sprintf("values=%d/bytes=%d/%s", values, len(payloads[0].counts), way), func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					p := payloads[n%len(payloads)]
					if h.reset(p.layout); way == "pages" || !p.decodeSparse(&h) {
						if err := p.addTo(&h); err != nil {
							b.Fatal(err)
						}
					}
					row = append(row[:0], h.Min(), h.Max(), int64(h.Mean()))
					row = h.AppendValuesAtPercentiles(row, percentiles)
				}
			})
		}
	}
}
