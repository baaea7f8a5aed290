package histogram_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// latencies returns a histogram of 10000 log-normal values around a million, as a load test has in
// nanoseconds.
func latencies(b *testing.B, digits int) *histogram.Histogram {
	random := rand.New(rand.NewPCG(1, 2))
	h := newHistogram(b, digits, 1)
	for range 10000 {
		record(b, h, int64(1e6*math.Exp(random.NormFloat64())), 1)
	}
	return h
}

func BenchmarkRecord(b *testing.B) {
	for _, digits := range []int{2, 3, 5} {
		b.Run(fmt.Sprintf("digits=%d", digits), func(b *testing.B) {
			h := latencies(b, digits)
			value := int64(1)
			for b.Loop() {
				if err := h.Record(value); err != nil {
					b.Fatal(err)
				}
				value = (value*5 + 1) & 0xffffff
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, digits := range []int{2, 3, 5} {
		for _, sum := range []int{3, 5} {
			b.Run(fmt.Sprintf("digits=%d/sum=%d", digits, sum), func(b *testing.B) {
				h, to := latencies(b, digits), latencies(b, sum)
				for b.Loop() {
					if err := to.Add(h); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkValueAtPercentile(b *testing.B) {
	for _, digits := range []int{2, 3, 5} {
		for _, percentile := range []float64{50, 99.9} {
			b.Run(fmt.Sprintf("digits=%d/percentile=%v", digits, percentile), func(b *testing.B) {
				h := latencies(b, digits)
				for b.Loop() {
					h.ValueAtPercentile(percentile)
				}
			})
		}
	}
}

func BenchmarkAppendValuesAtPercentiles(b *testing.B) {
	h := latencies(b, 3)
	var values []int64
	for b.Loop() {
		values = h.AppendValuesAtPercentiles(values[:0], []float64{50, 90, 99, 99.9, 100})
	}
}

func BenchmarkPercentiles(b *testing.B) {
	for _, digits := range []int{2, 3, 5} {
		b.Run(fmt.Sprintf("digits=%d", digits), func(b *testing.B) {
			h := latencies(b, digits)
			for b.Loop() {
				for range h.Percentiles(5) {
				}
			}
		})
	}
}

func BenchmarkMean(b *testing.B) {
	h := latencies(b, 3)
	for b.Loop() {
		h.Mean()
	}
}

// BenchmarkCorrect corrects for coordinated omission: with 3, nearly every value would be missing.
func BenchmarkCorrect(b *testing.B) {
	for _, digits := range []int{2, 3, 5} {
		for _, expected := range []float64{3, 100, 1000, 10000, 100000} {
			b.Run(fmt.Sprintf("digits=%d/expected=%v", digits, expected), func(b *testing.B) {
				h := latencies(b, digits)
				var corrected histogram.Histogram
				for b.Loop() {
					if err := h.CorrectInto(&corrected, expected); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
