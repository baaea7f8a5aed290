package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCountUpTo compares with a count of the raw values.
func TestCountUpTo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		layout := Layout{Lowest: 1 << r.IntN(4), Digits: r.IntN(4)}
		h, err := New(layout)
		if err != nil {
			t.Fatal(err)
		}
		var values, upTo []int64
		for range r.IntN(300) {
			v := r.Int64N(1 << (1 + r.IntN(40)))
			values = append(values, v)
			if err := h.Record(v, 1); err != nil {
				t.Fatal(err)
			}
		}
		for range r.IntN(8) {
			upTo = append(upTo, r.Int64N(1<<(1+r.IntN(41))))
		}
		slices.Sort(upTo)
		counts := make([]int64, len(upTo))
		sum := h.CountUpTo(upTo, counts)
		var want float64
		for _, v := range values {
			want += float64(layout.medianAt(layout.IndexOf(v)))
		}
		if math.Abs(sum-want) > 1e-9*want {
			t.Errorf("run %d: the sum is %v, want %v", n, sum, want)
		}
		for i, limit := range upTo {
			count := int64(0)
			for _, v := range values {
				if layout.IndexOf(v) <= layout.IndexOf(limit) {
					count++
				}
			}
			if counts[i] != count {
				t.Errorf("run %d: %d values up to %d, want %d", n, counts[i], limit, count)
			}
		}
	}
}
