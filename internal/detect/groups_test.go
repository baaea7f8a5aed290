package detect

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// groupsOf returns the groups of values as a histogram of three digits has them.
func groupsOf(values []float64) []Group {
	counts := make(map[float64]int64)
	for _, v := range values {
		if v > 0 {
			_, exponent := math.Frexp(v)
			slot := math.Ldexp(1, exponent-11)
			v = math.Floor(v/slot) * slot
		}
		counts[v]++
	}
	return Groups(func(yield func(float64, int64) bool) {
		for _, v := range slices.Sorted(maps.Keys(counts)) {
			if !yield(v, counts[v]) {
				return
			}
		}
	})
}

// gamma returns a value of a gamma distribution (Marsaglia and Tsang).
func gamma(random *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(random, shape+1) * math.Pow(random.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		x := random.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(random.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

var (
	manyRuns = flag.Int("runs", 0, "logs of each cell, for the table of bench/confidence.md")
	seed     = flag.Uint64("seed", 0, "other logs are simulated for each seed")
)

// TestGroups measures both errors: of values with one group at most 1% of logs have two, also if
// two groups lie close together, tails are heavy, a clock is coarse or the level of each second
// varies. Two groups eight times apart are found in 90% if the smaller one has 50 values, and their
// middles and shares are right. The figures of bench/confidence.md take -runs 1000.
func TestGroups(t *testing.T) {
	runs := cmp.Or(*manyRuns, 20)
	random := rand.New(rand.NewPCG(7+*seed, 8))
	log := func(middle, deviation float64) float64 { return middle * math.Exp(deviation*random.NormFloat64()) }
	ticks := func(v float64) float64 { return math.Floor(v) }
	level := 0.0
	for _, model := range []struct {
		name string
		next func(n int) float64
	}{
		{"lognormal, 0.1", func(int) float64 { return log(2e6, 0.1) }},
		{"lognormal, 0.5", func(int) float64 { return log(2e6, 0.5) }},
		{"lognormal, 2", func(int) float64 { return log(2e6, 2) }},
		{"gamma, shape 0.5", func(int) float64 { return 2e6 * gamma(random, 0.5) }},
		{"gamma, shape 2", func(int) float64 { return 2e6 * gamma(random, 2) }},
		{"gamma, shape 20", func(int) float64 { return 2e6 * gamma(random, 20) }},
		{"Pareto, 1.1", func(int) float64 { return 1e6 * math.Pow(random.Float64(), -1/1.1) }},
		{"lognormal with a tail of 5%", func(int) float64 {
			v := log(2e6, 0.3)
			if random.Float64() < 0.05 {
				v *= math.Pow(random.Float64(), -1/1.5)
			}
			return v
		}},
		{"nine decades", func(int) float64 { return math.Pow(10, 2+8.8*random.Float64()) }},
		{"half, twice as high", func(int) float64 { return log(1e6, 0.3) * float64(1+random.IntN(2)) }},
		{"10%, three times as high", func(int) float64 {
			v := log(1e6, 0.4)
			if random.Float64() < 0.1 {
				v *= 3
			}
			return v
		}},
		{"2% a hundred times as high", func(int) float64 {
			v := log(1e6, 0.3)
			if random.Float64() < 0.02 {
				v *= 100
			}
			return v
		}},
		{"a tick is the median", func(int) float64 { return 1e6 * ticks(log(1, 0.5)) }},
		{"a tick is half the median", func(int) float64 { return 1e6 * ticks(log(2, 0.5)) }},
		{"a tick is a tenth of the median", func(int) float64 { return 1e6 * ticks(log(10, 1)) }},
		{"ticks of 15.6", func(int) float64 { return 15.625e6 * ticks(log(1.3, 1)) }},
		{"seconds vary", func(n int) float64 {
			if n%100 == 0 {
				level = 0.9*level + 0.3*random.NormFloat64()
			}
			return log(2e6*math.Exp(level), 0.3)
		}},
	} {
		for _, count := range []int{100, 1000, 10_000} {
			wrong := 0
			for range runs {
				values := make([]float64, count)
				for n := range values {
					values[n] = model.next(n)
				}
				if len(groupsOf(values)) > 1 {
					wrong++
				}
			}
			t.Logf("%s, %d values: %.1f%% wrong", model.name, count, 100*float64(wrong)/float64(runs))
			if wrong > max(1, runs/100) {
				t.Errorf("%s, %d values: %d of %d wrong", model.name, count, wrong, runs)
			}
		}
	}
	for _, apart := range []float64{5, 8, 20, 100} {
		for _, deviation := range []float64{0.1, 0.3, 0.4} {
			for _, share := range []float64{0.05, 0.1, 0.5} {
				for _, count := range []int{500, 1000, 10_000} {
					found := 0
					for range runs {
						values := make([]float64, count)
						for n := range values {
							values[n] = log(1e6, deviation)
							if float64(n) < share*float64(count) {
								values[n] *= apart
							}
						}
						g := groupsOf(values)
						if len(g) == 2 && math.Abs(g[1].Share/share-1) < 0.15 && math.Abs(math.Log(g[1].Middle/apart/1e6)) < 0.2 && math.Abs(math.Log(g[0].Middle/1e6)) < 0.2 {
							found++
						}
					}
					what := fmt.Sprintf("%v times apart, deviation %v, %.0f%% of %d", apart, deviation, 100*share, count)
					t.Logf("%s: %.1f%% found", what, 100*float64(found)/float64(runs))
					if apart >= 8 && deviation <= 0.3 && share*float64(count) >= 50 && 10*found < 9*runs {
						t.Errorf("%s: %d of %d found", what, found, runs)
					}
				}
			}
		}
	}
}

// TestGroupFrom: a group begins in the middle of the octaves before it that have no values.
func TestGroupFrom(t *testing.T) {
	var values []float64
	for range 1000 {
		values = append(values, 1, 1.1, 64, 70)
	}
	groups := groupsOf(values)
	if len(groups) != 2 || math.Abs(math.Log2(groups[1].From)-3) > 0.5 || groups[1].Share != 0.5 {
		t.Errorf("%+v, want two, the second from about 8 on", groups)
	}
}
