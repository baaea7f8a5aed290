package summary

import (
	"math"
	"path/filepath"
	"testing"

	"hdrkit/internal/flow"
	"hdrkit/tags"
)

// highestBetween returns the highest value of the intervals whose middle is in a span of time, for
// the test.
func highestBetween(intervals [][3]float64, from, to float64) float64 {
	highest := math.NaN()
	for _, i := range intervals {
		if middle := i[0] + math.Floor((i[1]-i[0])/2); middle >= from && middle < to && !(i[2] <= highest) {
			highest = i[2]
		}
	}
	return highest
}

// TestCollectMaxima compares the maxima of each log and tag with its intervals, on several workers.
func TestCollectMaxima(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../../testdata/logs/*.hdr")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d logs, %v", len(paths), err)
	}
	compared := 0
	for _, path := range paths {
		intervals := make(map[string][][3]float64)
		result, err := Collect(newScan(t, 3, path), Options{Maxima: true}, &flow.Plan{Window: flow.Each, Emit: func(r *flow.Result) error {
			if highest := r.Stats.Max.Float(); highest > 0 {
				key := tags.Text(r.Tag)
				intervals[key] = append(intervals[key], [3]float64{float64(r.Visit.StartMillis()), float64(r.Visit.EndMillis()), highest})
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range result.Summaries {
			m := s.Maxima
			if len(m.Values) > 128 {
				t.Errorf("%s: %d spans", path, len(m.Values))
			}
			for n, got := range m.Values {
				from := float64(m.Start + int64(n)*m.Step)
				want := highestBetween(intervals[tags.Text(s.Tag)], from, from+float64(m.Step))
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s, tag %s: span %d has %v, want %v", path, s.Tag, n, got, want)
				}
				compared++
			}
		}
	}
	if compared < 500 {
		t.Errorf("compared only %d spans", compared)
	}
}
