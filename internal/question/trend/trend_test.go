package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/gate"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// nights returns 30 figures whose deviation is sd. Those from and before to are by ratio higher.
func nights(r *rand.Rand, sd, ratio float64, from, to int) []confidence.RunFigure {
	points := make([]confidence.RunFigure, 30)
	for n := range points {
		v := 6.2 * math.Exp(sd*r.NormFloat64())
		if n >= from && n < to {
			v *= ratio
		}
		points[n].Value = v
	}
	return points
}

// share returns in how many percent of 1,000 series something is true.
func share(r *rand.Rand, f func(*rand.Rand) bool) float64 {
	found := 0
	for range 1000 {
		if f(r) {
			found++
		}
	}
	return float64(found) / 10
}

func TestSimulated(t *testing.T) {
	r := rand.New(rand.NewPCG(1+*seed, 2))
	for _, c := range []struct {
		name          string
		sd, ratio     float64
		from, to      int
		lowest, most  float64 // percent of series with a change
		near, changes int     // a change is there if it is at most so many nights off
	}{
		{"no change at 3%", 0.03, 1, 0, 0, 0, 4, 30, 1},
		{"no change at 6%", 0.06, 1, 0, 0, 0, 5.5, 30, 1},
		{"+10% at 3%", 0.03, 1.1, 15, 30, 95, 100, 3, 1},
		{"+10% at 6%", 0.06, 1.1, 15, 30, 70, 90, 30, 1},
		{"ten slow nights at 3%", 0.03, 1.1, 10, 20, 83, 100, 30, 2},
	} {
		got := share(r, func(r *rand.Rand) bool {
			s, _ := Find(nights(r, c.sd, c.ratio, c.from, c.to))
			if len(s) <= c.changes {
				return false
			}
			return math.Abs(float64(s[1].From-c.from)) <= float64(c.near)
		})
		t.Logf("%s: %.1f%%", c.name, got)
		if got < c.lowest || got > c.most {
			t.Errorf("%s: changes in %.1f%% of series, want %v to %v", c.name, got, c.lowest, c.most)
		}
	}
}

// TestResembling has nights that resemble the night before.
func TestResembling(t *testing.T) {
	r := rand.New(rand.NewPCG(5+*seed, 6))
	for _, c := range []struct {
		nights       int
		correlation  float64
		ratio        float64
		lowest, most float64 // percent of series with a change
	}{
		{30, 0, 1, 0, 2},
		{30, 0.3, 1, 0, 7},
		{30, 0.5, 1, 0, 10},
		{30, 0.7, 1, 0, 12},
		{90, 0.5, 1, 0, 10},
		{30, 0, 1.1, 85, 100},
		{30, 0.3, 1.1, 65, 100},
		{90, 0.5, 1.1, 65, 100},
	} {
		unlike := 0 // series with a change, if nights are taken for unlike those before
		got := share(r, func(r *rand.Rand) bool {
			points := make([]confidence.RunFigure, c.nights)
			deviation := 0.03 * r.NormFloat64()
			for n := range points {
				deviation = c.correlation*deviation + 0.03*math.Sqrt(1-c.correlation*c.correlation)*r.NormFloat64()
				points[n].Value = 6.2 * math.Exp(deviation)
				if n >= c.nights/2 {
					points[n].Value *= c.ratio
				}
			}
			s := newSeries(points)
			if starts, _ := s.independentStarts(); len(starts) > 1 {
				unlike++
			}
			levels, _ := Find(points)
			return len(levels) > 1
		})
		t.Logf("%d nights, correlation %v, x%v: %.1f%%, without the correlation %.1f%%", c.nights, c.correlation, c.ratio, got,
			float64(unlike)/10)
		if c.correlation >= 0.5 && c.ratio == 1 && float64(unlike)/10 < 2*got {
			t.Errorf("%d nights, correlation %v: the correlation changes little", c.nights, c.correlation)
		}
		if got < c.lowest || got > c.most {
			t.Errorf("%d nights, correlation %v, x%v: changes in %.1f%% of series, want %v to %v",
				c.nights, c.correlation, c.ratio, got, c.lowest, c.most)
		}
	}
}

// TestOptimal compares PELT with a search that leaves out no start.
func TestOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		values := make([]float64, 2+r.IntN(30))
		for n := range values {
			values[n] = r.NormFloat64() + float64(r.IntN(2)*(n/7))
		}
		cost := 3 * r.Float64()
		total := func(starts []int) (sum float64) {
			for k, from := range starts {
				to := len(values)
				if k+1 < len(starts) {
					to = starts[k+1]
				}
				if to-from < least {
					t.Fatalf("a segment has %d runs: %v of %d", to-from, starts, len(values))
				}
				m := mean(values[from:to])
				for _, v := range values[from:to] {
					sum += (v - m) * (v - m)
				}
				sum += cost
			}
			return sum - cost
		}
		best := make([]float64, len(values)+1)
		best[0] = -cost
		for to := 1; to <= len(values); to++ {
			best[to] = math.Inf(1)
			for from := 0; from <= to-least; from++ {
				m, sum := mean(values[from:to]), 0.0
				for _, v := range values[from:to] {
					sum += (v - m) * (v - m)
				}
				best[to] = min(best[to], best[from]+sum+cost)
			}
		}
		if got, want := total(pelt(values, cost)), best[len(values)]; math.Abs(got-want) > 1e-9 {
			t.Fatalf("PELT costs %v, the best %v: %v", got, want, values)
		}
	}
}

// inMilliseconds is the scale of the figures of tests.
var inMilliseconds = hdrlog.Scale{Ratio: 1, Unit: "ms", In: hdrlog.Millisecond}

// limitsOf returns limits of runs whose names are their numbers.
func limitsOf(limits []gate.Limit) ChangeLimits {
	return ChangeLimits{Limits: limits, When: strconv.Itoa, Name: strconv.Itoa}
}

// TestVerdicts has series without chance.
func TestVerdicts(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		limit  string
		values []float64
		want   output.Weight
		says   string
	}{
		{"p99<=+10%", []float64{4, 4, 4, 4, 8}, output.Undecided, "4 runs before the newest have it, and a limit needs 5"},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 8}, output.Undecided, "looks worse; only the newest run"},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 4.3}, output.Holds, ""},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 8, 8}, output.Fails, "above its level until 4. To accept it: -accept 5"},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 8, nan, 8}, output.Fails, "above its level until 4. To accept it: -accept 5"},
		{"p99<=+10%", []float64{4, 4.4, 4, 4.4, 4, 4.4, 5.1, 5.1}, output.Undecided, "looks worse; above its level until 5. To accept it: -accept 6"},
		{"p99<=+10%", []float64{4, 4.4, 4, 4.4, 4, 4.4, 5, 5.1, 5}, output.Undecided, "looks worse; above its level until 5. To accept it: -accept 6"},
		{"p99<=+10%", []float64{4, 4.2, 4, 4.2, 4, 4.2, 5.2, 5.2, 5.6}, output.Fails, "above its level until 5. To accept it: -accept 6"},
		{"p99<=+10%", []float64{4, 4.2, 4, 4.2, 4, 4.2, 6, 8}, output.Fails, "above its level until 5. To accept it: -accept 6"},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 8, 4}, output.Holds, ""},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 4, nan}, output.Fails, "the newest run has no values of it"},
		{"p99<=+10%", []float64{4, 5, 4, 5, 4, 5, 5.1, 5.1}, output.Holds, "no more than noise, since runs vary by "},
		// It does not forget, and the level before is the best one of five runs.
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 8.1}, output.Fails, "above its level until 5. To accept it: -accept 6"},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8.5, 8.4, 8.5, 8.4}, output.Fails, "above its level until 4. To accept it: -accept "},
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 2, 2, 2, 4, 4, 4, 4}, output.Holds, "no more than noise"}, // three runs are no level
		{"p99<=+10%", []float64{4, 4, 4, 4, 4, 8, 8, 8, 8, 4, 4, 4}, output.Holds, ""},
		{"throughput>=-10%", []float64{4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 4, 4, 4}, output.Fails, "below its level until 9. To accept it: -accept 10"},
		{"p99<=-10%", []float64{4, 4, 4, 4, 4, 4, 4}, output.Fails, "the run before, too"},
		{"p99<=+3ms", []float64{4, 4, 4, 4, 4, 8, 8}, output.Fails, "above its level until 4. To accept it: -accept 5"},
		{"p99<=+4000us", []float64{4, 4, 4, 4, 4, 8, 8}, output.Holds, ""},
		{"p99<=+3000000ns", []float64{4, 4, 4, 4, 4, 8, 8}, output.Fails, "above its level until 4. To accept it: -accept 5"},
		{"p99<=+4000000ns", []float64{4, 4, 4, 4, 4, 8, 8}, output.Holds, ""},
		{"p99<=+10% or +5ms", []float64{4, 4, 4, 4, 4, 8, 8}, output.Holds, ""},
		{"throughput>=-1/s", []float64{4, 4, 4, 4, 4, 2, 2}, output.Fails, "below its level until 4. To accept it: -accept 5"},
		{"throughput>=-10%", []float64{4, 4, 4, 4, 4, 2, 2}, output.Fails, "below its level until 4. To accept it: -accept 5"},
		{"throughput>=-10%", []float64{4, 4, 4, 4, 4, 8, 8}, output.Holds, ""},
	} {
		limits, err := gate.Parse(c.limit)
		if err != nil {
			t.Fatal(err)
		}
		v := Judge(&sides.Trend{Scale: inMilliseconds, Figures: []sides.TrendFigure{{Figure: limits[0].Figure, Points: points(c.values...)}}}, limitsOf(limits))
		if len(v) != 1 || v[0].Result != c.want || !strings.HasPrefix(v[0].Note+v[0].Missing, c.says) || c.says == "" && v[0].Note != "" {
			t.Errorf("%s of %v: %+v, want %v", c.limit, c.values, v, c.want)
		}
		if worse := c.want == output.Undecided; v[0].Relative.Worse != worse { // all of these are beyond their bounds
			t.Errorf("%s of %v is worse: %v", c.limit, c.values, v[0].Relative.Worse)
		}
	}
	limits, err := gate.Parse("a:p99<=+10%,p50<=+10%")
	if err != nil {
		t.Fatal(err)
	}
	old := points(4, 4, nan, nan, nan, nan, nan, nan, nan)
	f := []sides.TrendFigure{{Figure: limits[1].Figure, Points: old}}
	if v := Judge(&sides.Trend{Scale: inMilliseconds, Figures: f}, limitsOf(limits)); len(v) != 1 || v[0].Missing != "no intervals with this tag" {
		t.Errorf("a tag that ended long ago, and one that never was: %+v", v)
	}
	// A pattern passes over a tag that ended long ago, and fails if all of its tags have.
	f[0].Tag = []byte("x-old")
	for text, want := range map[string]string{
		"p50<=+10%":       "",
		"x-.*:p50<=+10%":  "x-new holds",
		"x-o.*:p50<=+10%": "x-o.* fails the newest 6 runs have no values of it",
		"x-old:p50<=+10%": "x-old fails the newest run has no values of it",
	} {
		limits, err := gate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		figures := f
		if text == "x-.*:p50<=+10%" {
			figures = append(figures, sides.TrendFigure{Figure: f[0].Figure, Tag: []byte("x-new"), Points: points(4, 4, 4, 4, 4, 4, 4, 4, 4)})
		}
		var got []string
		for _, v := range Judge(&sides.Trend{Scale: inMilliseconds, Figures: figures}, limitsOf(limits)) {
			got = append(got, strings.TrimSpace(fmt.Sprint(v.Tag, " ", v.Result, " ", v.Missing)))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func points(values ...float64) (p []confidence.RunFigure) {
	for _, v := range values {
		p = append(p, confidence.RunFigure{Value: v})
	}
	return p
}

func TestEdges(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		points []confidence.RunFigure
		want   []sides.TrendLevel
	}{
		{"no run", nil, nil},
		{"gaps only", points(nan, 0), nil},
		{"one run", points(4), []sides.TrendLevel{{From: 0, To: 1, Runs: 1, Value: 4}}},
		{"two runs", points(4, 4), []sides.TrendLevel{{From: 0, To: 2, Runs: 2, Value: 4}}},
		{"equal runs", points(4, 4, 4, 4), []sides.TrendLevel{{From: 0, To: 4, Runs: 4, Value: 4}}},
		{"a gap where it changes", points(4, 4, 4, 4, 4, 4, 4, 4, nan, 8, 8, 8, 8, 8, 8, 8, 8),
			[]sides.TrendLevel{{From: 0, To: 9, Runs: 8, Value: 4}, {From: 9, To: 17, Runs: 8, Value: 8}}},
		{"a change before a larger one", points(100, 101, 100, 99, 100, 101, 100, 110, 109, 111, 110, 150, 151, 149),
			[]sides.TrendLevel{{From: 0, To: 7, Runs: 7, Value: 100.1408}, {From: 7, To: 11, Runs: 4, Value: 109.9977}, {From: 11, To: 14, Runs: 3, Value: 149.9978}}},
		{"a step below 5%", points(100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 104, 104, 104, 104, 104, 104, 104, 104, 104, 104, 104, 104),
			[]sides.TrendLevel{{From: 0, To: 24, Runs: 24, Value: 100 * math.Sqrt(1.04)}}},
	} {
		got, _ := Find(c.points)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for n := range got {
			g, w := got[n], c.want[n]
			if g.From != w.From || g.To != w.To || g.Runs != w.Runs || math.Abs(g.Value-w.Value) > 1e-3 {
				t.Errorf("%s: %v, want %v", c.name, g, w)
			}
		}
	}
	for n := 1; n < 40; n++ { // equal runs have exactly their level
		equal := make([]confidence.RunFigure, n)
		for k := range equal {
			equal[k].Value = 550
		}
		if got, _ := Find(equal); got[0].Value != 550 {
			t.Errorf("%d runs of 550 have the level %v", n, got[0].Value)
		}
	}
	// Slots of 10% are as wide as the step, so it is none.
	steps := points(100, 100, 100, 110, 110, 110)
	for n := range steps {
		steps[n].Slot = 0.4
	}
	if got, _ := Find(steps); len(got) != 1 {
		t.Errorf("a step within a slot: %v", got)
	}
}

// TestOtava: the sample data of Apache Otava (Apache License 2.0), of which its documents and tests
// say where levels change: metric1 nowhere, metric2 at the seventh run by -12.9%, and the third
// series at its eleventh run.
func TestOtava(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		points []confidence.RunFigure
		change int
		ratio  float64
	}{
		"metric1": {points(154023, 138455, 143112, 149190, 132098, 151344, 155145, 148889, 149466, 148209), 0, 1},
		"metric2": {points(10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03), 6, 0.871},
		"half": {points(1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49, 0.51, 0.50, 0.49),
			10, 0.499},
	} {
		levels, _ := Find(test.points)
		if test.change == 0 {
			if len(levels) != 1 {
				t.Errorf("%s: levels %+v", name, levels)
			}
			continue
		}
		if len(levels) != 2 || levels[1].From != test.change || math.Abs(levels[1].Value/levels[0].Value-test.ratio) > 0.002 {
			t.Errorf("%s: levels %+v", name, levels)
		}
	}
}
