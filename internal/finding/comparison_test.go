package finding_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/finding"
	"hdrkit/internal/sides"
	"hdrkit/internal/sides/sidestest"
	"hdrkit/output"
)

// TestCompared: what is proven leads, p99 before the median before others, worse before better;
// then what looks so, with what would prove it; then within what sides are the same.
func TestCompared(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		factors map[float64]float64
		spread  float64
		want    string
		weight  output.Weight
	}{
		{"p99 first", map[float64]float64{50: 1.4, 99: 1.3}, 0.01, "SLOWER: p99 of read by 30% (27..33): 1.10 to 1.43 us; p50 by 40%.", output.Warns},
		{"the median before others", map[float64]float64{50: 1.2, 90: 1.5, sidestest.Mean: 1.5}, 0.01, "SLOWER: p50 of read by 20% (17..23): 1.05 to 1.26 us; p90 by 50%, and 1 more.", output.Warns},
		{"worse before better", map[float64]float64{50: 1.2, 99: 0.5}, 0.01, "SLOWER: p50 of read by 20% (17..23): 1.05 to 1.26 us; but faster: p99 of read by 50.0%.", output.Warns},
		{"better", map[float64]float64{50: 0.5}, 0.01, "FASTER: p50 of read by 50.0% (48.9..51.1): 1.05 to 0.525 us.", output.Notes},
		{"a rate", map[float64]float64{sidestest.Rate: 0.5}, 0.01, "LESS THROUGHPUT: read by 50.0% (48.9..51.1): 100 to 50.0/s.", output.Warns},
		{"a rate behind", map[float64]float64{50: 1.2, sidestest.Rate: 0.5}, 0.01, "SLOWER: p50 of read by 20% (17..23): 1.05 to 1.26 us; throughput 50.0% lower.", output.Warns},
		{"not proven", map[float64]float64{50: 1.1}, 0.04, "NOT PROVEN: p50 of read looks 10% higher (0..20). 3 + 3 runs like these prove 20%; 6 + 6 would prove 11%.", output.Notes},
		{"a fall not proven", map[float64]float64{50: 0.91}, 0.04, "NOT PROVEN: p50 of read looks 9% lower (0..17). 3 + 3 runs like these prove -17%; 6 + 6 would prove -10%.", output.Notes},
		{"a fall in noise", map[float64]float64{99: 0.7, 50: 0.7, 90: 0.7}, 0.3, "NOT PROVEN: p50 of read -30% (-65..+42) is within the noise. 3 + 3 runs like these prove -76%; 6 + 6 would prove -53%. Too little data to compare p99.9.", output.Notes},
		{"the same", nil, 0.01, "SAME within 2.3% (p99) and 2.3% (p50). A change of 4.7% would mostly have been seen. Too little data to compare p99.9.", output.Notes},
		{"noise", nil, 0.2, "NOT PROVEN: p99 of read +0% (-37..+58) is within the noise. 3 + 3 runs like these prove 151%; 6 + 6 would prove 63%. Too little data to compare p99.9.", output.Notes},
		{"noise that hides all", nil, 0.6, "NOT PROVEN: p99 of read +0% (-80..+394) is within the noise. 3 + 3 runs like these cannot show a change of any size. Too little data to compare p99.9.", output.Notes},
	} {
		pairs := []sides.Pair{sidestest.Pair(t, "read", test.factors, test.spread)}
		pairs[0].Before.Scale = hdrlog.Scale{Ratio: 1000, Unit: "us"}
		pairs[0].After.Scale = hdrlog.Scale{Ratio: 1000, Unit: "us"}
		sides.Correct(pairs, []float64{50, 90, 99, 99.9})
		c := finding.Comparison{Pairs: pairs, Percentiles: []float64{50, 90, 99, 99.9}, Tolerance: sides.UsualTolerance()}
		f := c.Conclusion()
		if f.Sentence != test.want || f.Weight != test.weight {
			t.Errorf("%s: %s %s, want %s", test.name, f.Weight, f.Sentence, test.want)
		}
	}
}

// TestCalmest: of figures within the noise, the one leads of which the runs prove most.
func TestCalmest(t *testing.T) {
	t.Parallel()
	pairs := []sides.Pair{sidestest.Pair(t, "read", nil, 0.2)}
	pairs[0].Change.Percentiles[99] = sidestest.Pair(t, "read", nil, 0.4).Change.Percentiles[99]
	sides.Correct(pairs, []float64{50, 99})
	c := finding.Comparison{Pairs: pairs, Percentiles: []float64{50, 99}, Tolerance: sides.UsualTolerance()}
	if got, want := c.Conclusion().Sentence, "NOT PROVEN: p50 of read "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOpen: a change whose interval has one end leads only if there is no other, and says no change
// that such runs prove.
func TestOpen(t *testing.T) {
	t.Parallel()
	pairs := []sides.Pair{sidestest.Pair(t, "read", nil, 0.2)}
	pairs[0].Change.Percentiles[99].High = math.Inf(1)
	pairs[0].Change.Percentiles[50].Low = 0
	for _, test := range []struct {
		percentiles []float64
		want        string
	}{
		{[]float64{50}, "NOT PROVEN: p50 of read +0% (-100..+58) is within the noise. Give longer runs, or three or more a side."},
		{[]float64{99}, "NOT PROVEN: p99 of read +0% (-37..no end) is within the noise. Give longer runs, or three or more a side."},
	} {
		sides.Correct(pairs, test.percentiles)
		c := finding.Comparison{Pairs: pairs, Percentiles: test.percentiles, Tolerance: sides.UsualTolerance()}
		if got := c.Conclusion().Sentence; got != test.want {
			t.Errorf("%v: %q, want %q", test.percentiles, got, test.want)
		}
	}
	pairs[0].Change.Percentiles[50] = sidestest.Pair(t, "read", nil, 0.4).Change.Percentiles[50]
	sides.Correct(pairs, []float64{50, 99})
	c := finding.Comparison{Pairs: pairs, Percentiles: []float64{50, 99}, Tolerance: sides.UsualTolerance()}
	if got, want := c.Conclusion().Sentence, "NOT PROVEN: p50 of read "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAlone: what one run a side says is about these two runs. Longer runs would not tell more
// about versions if runs of one version vary by more than what varies within them.
func TestAlone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		factors map[float64]float64
		spread  float64
		noise   float64
		want    string
	}{
		{"proven", map[float64]float64{99: 1.08}, 0.01, sides.UsualNoise, "SLOWER in these two runs: p99 of read by 8.0% (5.6..10.5): 1,000 to 1,000. Another run of the same version may differ by up to 11%. Several runs, or -noise, tell whether it is the version."},
		{"beyond noise", map[float64]float64{99: 1.08}, 0.01, 0.01, "SLOWER in these two runs: p99 of read by 8.0% (5.6..10.5): 1,000 to 1,000. Another run of the same version may differ by up to 2.8%, which does not explain it. Several runs, or -noise, tell whether it is the version."},
		{"a rate", map[float64]float64{sidestest.Rate: 0.5}, 0.01, sides.UsualNoise, "LESS THROUGHPUT in these two runs: read by 50.0% (48.9..51.1): 1,670 to 1,670/s. Several runs, or -noise, tell whether it is the version."},
		{"not proven", map[float64]float64{99: 1.05}, 0.02, sides.UsualNoise, "NOT PROVEN: p99 of read looks 5% higher (0..10). Another run of the same version may differ by up to 11%. Several runs, or -noise, tell whether it is the version."},
		{"short runs", map[float64]float64{99: 1.2}, 0.08, sides.UsualNoise, "NOT PROVEN: p99 of read looks 20% higher (0..44). Runs as long as these prove 42%; four times as long, 19%."},
		{"the same", nil, 0.01, sides.UsualNoise, "SAME in these two runs: within 2.3% (p99) and 2.3% (p50). Another run of the same version may differ by up to 11%. Several runs tell whether the versions are the same."},
	} {
		pairs := []sides.Pair{sidestest.Pair(t, "read", test.factors, test.spread)}
		c := pairs[0].Change
		c.RunsBefore, c.RunsAfter = nil, nil
		c.Mean = nil
		for _, f := range append(slices.Collect(maps.Values(c.Percentiles)), c.Rate) {
			f.Seconds = 600
		}
		sides.Correct(pairs, []float64{50, 90, 99})
		comparison := finding.Comparison{
			Pairs:       pairs,
			Percentiles: []float64{50, 90, 99},
			Tolerance:   sides.Tolerance{Noise: test.noise, Same: sides.UsualSame},
		}
		if got := comparison.Conclusion().Sentence; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
