package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeap compares a heap with a sorted slice.
func TestHeap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		h := New(func(a, b *int) bool { return *a < *b })
		var want []int
		for range 200 {
			switch n := random.IntN(100); {
			case len(want) == 0 || random.IntN(5) > 1:
				want = append(want, n)
				h.Push(&n)
			case random.IntN(2) == 0:
				if got := *h.Pop(); got != want[0] {
					t.Fatalf("%d comes out, want %d", got, want[0])
				}
				want = want[1:]
			default:
				*h.First() = n
				h.Fix()
				want[0] = n
			}
			slices.Sort(want)
			if h.Len() != len(want) || len(want) > 0 && *h.First() != want[0] {
				t.Fatalf("%d items, want %v", h.Len(), want)
			}
		}
	}
}
