package summary

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog/merge"
)

// TestGaps: a gap is longer than five intervals, and three times as long as the longest time
// without values that is none. There are at most three.
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
	span := func(from, to int64) merge.Span { return merge.Span{Start: from * second, End: to * second} }
	for _, c := range []struct {
		name string
		has  func(n int) bool
		want []merge.Span
	}{
		{"no gap", func(int) bool { return true }, nil},
		{"an outage", func(n int) bool { return n < 100 || n >= 120 }, []merge.Span{span(100, 120)}},
		{"five intervals", func(n int) bool { return n < 100 || n >= 105 }, nil},
		{"six intervals", func(n int) bool { return n < 100 || n >= 106 }, []merge.Span{span(100, 106)}},
		{"three times another", func(n int) bool { return (n < 100 || n >= 103) && (n < 200 || n >= 209) }, nil},
		{"more than that", func(n int) bool { return (n < 100 || n >= 103) && (n < 200 || n >= 210) }, []merge.Span{span(200, 210)}},
		{"two alike", func(n int) bool { return n%150 < 100 || n%150 >= 120 }, []merge.Span{span(100, 120), span(250, 270)}},
		{"a short one too", func(n int) bool { return (n < 50 || n >= 60) && (n < 100 || n >= 150) }, []merge.Span{span(100, 150), span(50, 60)}},
		{"three", func(n int) bool { return n%90 < 70 || n%90 >= 80 }, []merge.Span{span(70, 80), span(160, 170), span(250, 260)}},
		{"four", func(n int) bool { return n%70 < 50 || n%70 >= 60 }, nil},
		{"the end", func(n int) bool { return n < 280 }, nil},
		{"19 intervals", func(n int) bool { return n < 10 || n >= 291 }, nil},
		{"20 intervals", func(n int) bool { return n < 10 || n >= 290 }, []merge.Span{span(10, 290)}},
	} {
		if got := history(c.has).gaps(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// Values that come by chance, one interval of ten, have no gap.
	wrong := 0
	for range 1000 {
		h := history(func(int) bool { return random.IntN(10) == 0 })
		if h.gaps() != nil {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 1000 sparse logs have a gap", wrong)
	}
}
