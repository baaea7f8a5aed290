package confidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
)

// valuesOf returns n values without times, as a run. Next returns the logarithm of a value.
func valuesOf(t *testing.T, n int, next func() float64) *Run {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		h.Record(int64(5e6 * math.Exp(next())))
	}
	return NewRun(h, nil)
}

// TestValues compares values without times. The last models break the assumption that values do not
// depend on each other.
func TestValues(t *testing.T) {
	t.Parallel()
	pairs := logtest.Rounds(500)
	if *manyRuns > 0 {
		pairs = *manyRuns
		fmt.Println("| values | a side | p50: equal | +5% | +10% | p99: equal | +5% | +10% |\n| --- | --: | --: | --: | --: | --: | --: | --: |")
	}
	lognormal := func(r *rand.Rand) func() float64 {
		return func() float64 { return spread * r.NormFloat64() }
	}
	pareto := func(r *rand.Rand) func() float64 { return func() float64 { return r.ExpFloat64() / 1.5 } }
	rounded := func(r *rand.Rand) func() float64 {
		return func() float64 { return math.Log(max(math.Round(5*math.Exp(spread*r.NormFloat64())), 1) / 5) }
	}
	dependent := func(correlation float64) func(r *rand.Rand) func() float64 {
		return func(r *rand.Rand) func() float64 { return level(r, correlation, spread) }
	}
	for row, m := range []struct {
		name   string
		next   func(r *rand.Rand) func() float64
		values int
		most   float64 // percent of equal pairs that differ
		p50    float64 // percent of +10% that are found
	}{
		{"log-normal, 0.5", lognormal, 150, 5, 15},
		{"log-normal, 0.5", lognormal, 1000, 5, 85},
		{"log-normal, 0.5", lognormal, 3000, 5, 99},
		{"Pareto 1.5", pareto, 3000, 5, 95},
		{"whole milliseconds, 5 in the middle", rounded, 3000, 5, 0},
		{"log-normal, AR(1) 0.5", dependent(0.5), 3000, 100, 0},
		{"log-normal, AR(1) 0.9", dependent(0.9), 3000, 100, 0},
	} {
		var differ [2][3]int
		for pair := range pairs {
			r := rand.New(rand.NewPCG(500+*seed+uint64(row), uint64(pair)))
			before, after := valuesOf(t, m.values, m.next(r)), valuesOf(t, m.values, m.next(r))
			for k, percentile := range []float64{50, 99} {
				a, b := before.Percentile(percentile, 95), after.Percentile(percentile, 95)
				for i, factor := range []float64{1, 1.05, 1.1} {
					if c := Compare(a, b.Times(factor), 95); c.P < 0.05 {
						differ[k][i]++
					}
				}
			}
		}
		if *manyRuns > 0 {
			fmt.Printf("| %s | %d |", m.name, m.values)
			for _, found := range append(differ[0][:], differ[1][:]...) {
				fmt.Printf(" %s |", share(found, pairs))
			}
			fmt.Println()
		}
		chance := 300 * math.Sqrt(0.05/float64(pairs))
		percent := func(n int) float64 { return 100 * float64(n) / float64(pairs) }
		if max(percent(differ[0][0]), percent(differ[1][0])) > m.most+chance || percent(differ[0][2]) < m.p50-chance {
			t.Errorf("%s, %d a side: of %d pairs, %v differ in p50 and p99", m.name, m.values, pairs, differ)
		}
	}
}

// TestUntimed: values without times have no interval and no rate, and a comparison only with others
// without times, if ten lie beyond the figure.
func TestUntimed(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	next := func() float64 { return spread * r.NormFloat64() }
	before, after := valuesOf(t, 1100, next), valuesOf(t, 900, next)
	a, b := before.Percentile(50, 95), after.Percentile(50, 95)
	if !a.TooShort || !math.IsNaN(a.Low) || !math.IsNaN(before.Rate(95).Value) || math.Abs(a.Value/5e6-1) > 0.1 {
		t.Errorf("%+v, rate %+v", a, before.Rate(95))
	}
	c := Compare(a, b.Times(1.2), 95)
	if !c.Untimed || c.Seconds != 0 || !(c.Low > 1 && c.Low < c.Ratio && c.Ratio < c.High && c.High < 1.4) {
		t.Errorf("%+v", c)
	}
	if least := c.Least(95, 1, 1); !(least > 1.05 && least < 1.3) || !(c.Least(95, 1, 4) < least) {
		t.Errorf("least changes %v, %v", least, c.Least(95, 1, 4))
	}
	if c := Compare(before.Percentile(99, 95), after.Percentile(99, 95), 95); !c.Untimed || !math.IsNaN(c.Low) {
		t.Errorf("of nine values above p99: %+v", c)
	}
	timed := newRun(t, steadyRun(r, 120, 50, 1)).Percentile(50, 95)
	if c := Compare(a, timed, 95); c.Untimed || !math.IsNaN(c.Low) {
		t.Errorf("with a run that has times: %+v", c)
	}
}
