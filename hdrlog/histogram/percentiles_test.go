package histogram_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// plainValueAt is ValueAtPercentile, slot by slot.
func plainValueAt(h *histogram.Histogram, percentile float64) int64 {
	requested := min(max(math.Nextafter(percentile, math.Inf(-1)), 0), 100)
	rank := min(max(int64(math.Ceil(requested*float64(h.TotalCount())/100)), 1), h.TotalCount())
	var seen int64
	for bucket := range h.Recorded() {
		if seen += bucket.Count; seen >= rank {
			if percentile == 0 {
				return bucket.Low
			}
			return bucket.High
		}
	}
	return 0
}

// TestValuesAtPercentiles compares one pass over the counts, eight at a time, with a plain one for
// each percentile.
func TestValuesAtPercentiles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		h, _ := histogram.New(histogram.Layout{Digits: random.IntN(4), Lowest: 1 << random.IntN(5)})
		for range random.IntN(50) {
			h.RecordN(random.Int64N(1<<random.IntN(40)+1), random.Int64N(1<<random.IntN(10)+1))
		}
		if random.IntN(10) == 0 {
			h.RecordN(1000, math.MaxInt64/2-h.TotalCount()-random.Int64N(1000))
		}
		percentiles := []float64{0, 100}
		for range random.IntN(6) {
			percentiles = append(percentiles, 100*random.Float64(), float64(random.IntN(101)))
		}
		if random.IntN(4) > 0 {
			slices.Sort(percentiles)
		}
		got := h.AppendValuesAtPercentiles([]int64{7}, percentiles)
		want := []int64{7}
		for _, p := range percentiles {
			want = append(want, plainValueAt(h, p))
			if one := h.ValueAtPercentile(p); one != want[len(want)-1] {
				t.Fatalf("at %v: %d, want %d", p, one, want[len(want)-1])
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("at %v: %v, want %v", percentiles, got, want)
		}
	}
}
