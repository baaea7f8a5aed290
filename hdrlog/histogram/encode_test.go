package histogram

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// TestAppendCounts compares AppendCounts with its plain version.
func TestAppendCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	for range 3000 {
		h, err := New(Layout{Digits: random.IntN(4), Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		slots := 1 + random.IntN(3000)
		counts := make([]int64, h.Layout().SlotsFor(1<<60))
		dense := random.IntN(8)
		for index := range slots {
			if random.IntN(8) < dense || random.IntN(100) == 0 {
				n := 1 + random.Int64N(1<<(1+random.IntN(9)))
				counts[index%len(counts)] += n
				h.RecordN(h.Layout().LowestAt(index%len(counts)), n)
			}
		}
		want, _ := appendPlainly(nil, counts, 0)
		if h.TotalCount() == 0 {
			want = []byte{0}
		}
		if got := h.AppendCounts(nil); !bytes.Equal(got, want) {
			t.Fatalf("%d slots:\ngot  % x\nwant % x", slots, got, want)
		}
	}
}

// BenchmarkAppendCounts encodes counts as in a few merged intervals: most are 1 or 2, some of them
// alone.
func BenchmarkAppendCounts(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 6))
	var all []*Histogram // too many for the branch predictor to learn
	for range 30 {
		h, err := New(Layout{Digits: 3, Lowest: 1})
		if err != nil {
			b.Fatal(err)
		}
		for range 5000 {
			if err := h.Record(int64(1e6 * math.Exp(random.NormFloat64()))); err != nil {
				b.Fatal(err)
			}
		}
		all = append(all, h)
	}
	var raw []byte
	b.Run("impl=runs", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			raw = all[n%len(all)].AppendCounts(raw[:0])
		}
	})
	b.Run("impl=plain", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			h := all[n%len(all)]
			raw, _ = appendPlainly(raw[:0], h.counts, h.base)
		}
	})
}
