package summary

import (
	"math/rand/v2"
	"testing"
)

// TestGaps: a gap is longer than five intervals and three times as long as the longest other one.
func TestGaps(t *testing.T) {
	const second = 1000
	random := rand.New(rand.NewPCG(1, 1))
	history := func(has func(n int) bool) *history {
		h := &history{key: string(appendHistory(nil, 0, []byte("read"))), input: "a", tag: []byte("read")}
		for n := range 300 {
			if has(n) {
				h.pieces = append(h.pieces, &piece{history: h, Start: int64(n) * second, End: int64(n+1) * second, count: 5})
			}
		}
		return h
	}
	for _, c := range []struct {
		name       string
		has        func(n int) bool
		start, end int64
	}{
		{"no gap", func(int) bool { return true }, 0, 0},
		{"an outage", func(n int) bool { return n < 100 || n >= 120 }, 100 * second, 120 * second},
		{"five intervals", func(n int) bool { return n < 100 || n >= 105 }, 0, 0},
		{"two alike", func(n int) bool { return n%150 < 100 || n%150 >= 120 }, 0, 0},
		{"the end", func(n int) bool { return n < 280 }, 0, 0},
		{"few values", func(n int) bool { return n%20 == 0 }, 0, 0},
	} {
		h := history(c.has)
		start, end, ok := h.gap()
		if ok != (c.end > 0) || ok && (start != c.start || end != c.end) {
			t.Errorf("%s: %d to %d, %v", c.name, start, end, ok)
		}
	}
	// Values that come by chance, one interval of ten, have no gap.
	wrong := 0
	for range 1000 {
		h := history(func(int) bool { return random.IntN(10) == 0 })
		if _, _, ok := h.gap(); ok {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 1000 sparse logs have a gap", wrong)
	}
}
