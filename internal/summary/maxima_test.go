package summary

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// highestBetween returns the highest value of the intervals that overlap with a span of time, for the test.
func highestBetween(intervals [][3]float64, from, to float64) float64 {
	highest := math.NaN()
	for _, i := range intervals {
		if i[0] < to && max(i[1], i[0]+1) > from && !(i[2] <= highest) {
			highest = i[2]
		}
	}
	return highest
}

// TestMaxima compares the maxima of random intervals with the intervals, in any order and distribution over workers.
func TestMaxima(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var intervals [][3]float64 // start, end, maximum
		origin := int64(random.IntN(2)) * 1468800400137
		span := int64(1) << (1 + random.IntN(34))
		for range 1 + random.IntN(100) {
			start := origin + random.Int64N(span) - span/3
			end := start + random.Int64N(1<<random.IntN(20))
			intervals = append(intervals, [3]float64{float64(start), float64(end), float64(random.IntN(1000))})
		}
		var all maxima
		parts := make([]maxima, 3)
		for _, n := range random.Perm(len(intervals)) {
			i := intervals[n]
			all.add(int64(i[0]), int64(i[1]), i[2])
			parts[random.IntN(3)].add(int64(i[0]), int64(i[1]), i[2])
		}
		if len(all.values) > mostSpans || cap(all.values) > 2*mostSpans {
			t.Fatalf("%d spans", len(all.values))
		}
		for n, got := range all.values {
			from := float64((all.first + int64(n)) * all.step)
			want := highestBetween(intervals, from, from+float64(all.step))
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("span of %d ms at %v: %v, want %v", all.step, from, got, want)
			}
		}
		for n := range parts[1:] {
			parts[0].merge(&parts[n+1])
		}
		clean := func(m *maxima) []float64 { // NaN does not equal itself
			values := []float64{float64(m.first), float64(m.step)}
			for _, v := range m.values {
				if math.IsNaN(v) {
					v = -1
				}
				values = append(values, v)
			}
			return values
		}
		if got, want := clean(&parts[0]), clean(&all); !reflect.DeepEqual(got, want) {
			t.Fatalf("merged: %v, want %v", got, want)
		}
	}
}
