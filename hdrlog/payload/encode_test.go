package payload

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// TestAppendCounts compares the counts encoded with what encoding them one at a time gives.
func TestAppendCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	for range 3000 {
		h, err := histogram.New(histogram.Layout{Digits: random.IntN(4), Lowest: 1})
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
				h.Record(h.Layout().LowestAt(index%len(counts)), n)
			}
		}
		var want []byte
		gap := 0
		for _, n := range counts {
			if n == 0 {
				gap++
				continue
			}
			want = appendZigZag(appendGap(want, gap), n)
			gap = 0
		}
		if h.TotalCount() == 0 {
			want = []byte{0}
		}
		if got := appendCounts(nil, h); !bytes.Equal(got, want) {
			t.Fatalf("%d slots:\ngot  % x\nwant % x", slots, got, want)
		}
	}
}
