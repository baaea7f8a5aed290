package gate

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

var seed = flag.Uint64("seed", 1, "other runs are simulated for each seed")

// TestVersions simulates pairs of one run each, whose percentiles vary by 4% from run to run and by
// 1% within a run. It prints both errors of a limit of +2% for bench/confidence.md.
func TestVersions(t *testing.T) {
	t.Parallel()
	const pairs = 4000
	limits, err := Parse("p99<=+2%")
	if err != nil {
		t.Fatal(err)
	}
	s := summaryOf("", 1000)
	random := rand.New(rand.NewPCG(*seed, 4))
	naive := 0.0 // limits that fail if only what varies within runs counts
	share := func(change float64) (of map[output.Weight]float64) {
		of = make(map[output.Weight]float64)
		naive = 0
		for range pairs {
			const within = 0.01
			log := math.Log1p(change) + math.Sqrt2*(0.04*random.NormFloat64()+within*random.NormFloat64())
			half := 1.96 * math.Sqrt2 * within
			c := confidence.Comparison{
				Ratio:   math.Exp(log),
				Low:     math.Exp(log - half),
				High:    math.Exp(log + half),
				Seconds: 600,
			}
			change := &sides.PairChange{Percentiles: map[float64]*sides.FigureChange{99: {Comparison: c}}}
			v := Verdict{Limit: &limits[0], Value: 1000 * c.Ratio}
			v.judgeChange(s, &Measured{
				Baseline:  []*output.Summary{s},
				Pairs:     []sides.Pair{{Tag: s.Tag, Before: s, After: s, Change: change}},
				Tolerance: sides.Tolerance{Noise: 0.04},
			})
			of[v.Result] += 100. / pairs
			if c.Low > 1.02 {
				naive += 100. / pairs
			}
		}
		return of
	}
	slower := share(0.25)
	equal := share(0)
	t.Logf("| equal versions: FAILS %.1f%%, NOT PROVEN %.1f%% | without noise between runs: FAILS %.1f%% | +25%%: FAILS %.1f%% |",
		equal[output.Fails], equal[output.Undecided], naive, slower[output.Fails])
	if equal[output.Fails] > 2 || equal[output.Undecided] > 40 || naive < 15 || slower[output.Fails] < 95 {
		t.Error("a limit of versions errs too often")
	}
}
