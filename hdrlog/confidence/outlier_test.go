package confidence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOutlier measures both errors: of equal logs at most 1% have an outlier, also if their values
// have heavy tails or follow each other, and a log that is three times as slow as the others is
// found in 90%, also if that is only so for 60% of the time, and so are two of eight or more logs.
func TestOutlier(t *testing.T) {
	const runs, seconds, parts = 200, 120, 20
	random := rand.New(rand.NewPCG(3, 4))
	models := []struct {
		name string
		next func(last float64) float64 // the logarithm of a maximum, from the one before
	}{
		{"normal", func(float64) float64 { return 0.3 * random.NormFloat64() }},
		{"heavy", func(float64) float64 { return 0.5 * random.ExpFloat64() }},
		{"correlated", func(last float64) float64 { return 0.8*last + 0.2*random.NormFloat64() }},
	}
	times := make([]float64, seconds)
	for n := range times {
		times[n] = float64(n)
	}
	for _, logs := range []int{5, 10, 40} {
		for _, model := range models {
			wrong, found, both := 0, 0, 0
			for range runs {
				values := make([][]float64, logs)
				for n := range values {
					last := 0.0
					for range seconds {
						last = model.next(last)
						values[n] = append(values[n], math.Exp(last))
					}
				}
				look := func() (Unlike, bool) {
					var figures []float64
					var levels [][]float64
					for _, v := range values {
						sorted := slices.Sorted(slices.Values(v))
						figures = append(figures, sorted[seconds/2])
						levels = append(levels, Parts(times, v, seconds, parts))
					}
					return Outlier(figures, levels)
				}
				if _, ok := look(); ok {
					wrong++
				}
				for second := range seconds * 6 / 10 {
					values[3][second] *= 3
				}
				if u, ok := look(); ok && slices.Equal(u.Logs, []int{3}) {
					found++
				}
				for second := range seconds {
					values[2][second] *= 3
				}
				if u, ok := look(); ok && len(u.Logs) == 2 && slices.Contains(u.Logs, 2) && slices.Contains(u.Logs, 3) {
					both++
				}
			}
			t.Logf("%d logs, %s: %.1f%% wrong, %.1f%% found", logs, model.name, 100*float64(wrong)/runs, 100*float64(found)/runs)
			t.Logf("two of them: %.1f%% found", 100*float64(both)/float64(runs))
			if wrong > 5 || found < 180 || logs >= 8 && both < 180 {
				t.Errorf("%d logs, %s: %d of %d wrong, %d found, %d both", logs, model.name, wrong, runs, found, both)
			}
		}
	}
}
