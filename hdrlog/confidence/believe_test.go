package confidence

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
)

// The tables of bench/confidence.md are those of
//
//	go test ./hdrlog/confidence -run TestModels -v -runs 2000 -timeout 0
var (
	manyRuns   = flag.Int("runs", 0, "pairs of runs of each model, for the table of bench/confidence.md")
	windowSize = flag.Int("window", 1, "seconds of a window of TestModels, a divisor of the length of runs")
	someModels = flag.String("models", "", "models whose names match this expression")
	seed       = flag.Uint64("seed", 0, "other runs are simulated for each seed")
)

// figures are what a table has a column for: percentiles, the rate and the mean.
var figures = []float64{50, 90, 99, 99.9, ofRate, ofMean}

const ofMean = -2

// changes are factors of the second run of a pair.
var changes = []float64{1, 1.1, 1.2}

// A tally counts what became of the runs of a model.
type tally struct {
	model   *model
	runs    int
	figures []tallied // by figure

}

// tallied counts the runs by one figure.
type tallied struct {
	truth          float64
	shown, covered int
	widths         []float64 // half of the intervals, as parts of the figure
	different      []int     // by change
	worse          int       // equal runs that fail <=+0%
}

// simulate makes pairs of runs of a model.
func (m *model) simulate(runs int) *tally {
	t := &tally{model: m, runs: runs}
	for _, f := range figures {
		truth := m.mean
		if f == ofRate {
			truth = m.rate
		} else if f >= 0 {
			truth = m.truth(f)
		}
		t.figures = append(t.figures, tallied{truth: truth, different: make([]int, len(changes))})
	}
	for n := range runs {
		r := rand.New(rand.NewPCG(*seed+uint64(m.seconds), uint64(n)))
		before, after := m.record(r), m.record(r)
		a, b := estimates(before), estimates(after)
		for n := range figures {
			t.figures[n].add(a[n], b[n])
		}
	}
	return t
}

// estimates returns the figures with their intervals. That of the mean is what hdrkit does not
// show.
func estimates(r *Run) (all []Estimate) {
	for n, f := range figures {
		switch {
		case f >= 0 && n == 0:
			all = r.Percentiles(figures[:len(figures)-2], 95)
		case f == ofRate:
			all = append(all, r.Rate(95))
		case f == ofMean:
			sums := make([]float64, len(r.windows))
			for i, w := range r.windows {
				sums[i] = sumOf(w)
			}
			mean, residuals := ratioOf(sums, r.cache.counts)
			h := quantile(95, cosines) * r.longRunDeviation(residuals) / total(r.cache.counts)
			all = append(all, r.estimate(mean, mean-h, mean+h, residuals, nil, math.Inf(1)).Times(r.sum.ratio))
		}
	}
	return all
}

func (t *tallied) add(before, after Estimate) {
	for n, factor := range changes {
		c := Compare(before, after.Times(factor), 95)
		if c.Low > 1 || c.High < 1 {
			t.different[n]++
		}
		if factor == 1 && c.Low > 1 {
			t.worse++
		}
	}
	if before.TooShort {
		return
	}
	t.shown++
	// A slot is a thousandth wide, and its highest value stands for it.
	if !(before.Low > t.truth*1.001 || before.High < t.truth) {
		t.covered++
	}
	width := math.Inf(1)
	if !math.IsNaN(before.Low) && !math.IsNaN(before.High) {
		width = (before.High - before.Low) / before.Value / 2
	}
	t.widths = append(t.widths, width)
}

// record makes a run.
func (m *model) record(r *rand.Rand) *Run {
	const unit = 1e6
	sum, _ := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
	var windows []Window
	second := m.run(r)
	var w rawWindow
	for n := range m.seconds {
		for _, v := range second() {
			w = append(w, int64(v*unit))
			sum.Record(w[len(w)-1])
		}
		if (n+1)%*windowSize == 0 {
			windows = append(windows, w)
			w = nil
		}
	}
	run := NewRun(sum, windows)
	run.sum.ratio /= unit
	return run
}

// A rawWindow is the values of a window.
type rawWindow []int64

func (w rawWindow) Count(upTo, counts []int64) (total int64) {
	clear(counts)
	for _, v := range w {
		if n, _ := slices.BinarySearch(upTo, v); n < len(upTo) {
			counts[n]++
		}
	}
	for n := 1; n < len(counts); n++ {
		counts[n] += counts[n-1]
	}
	return int64(len(w))
}

func (w rawWindow) Seconds() float64 { return float64(*windowSize) }

// sumOf returns the sum of the values of a window.
func sumOf(w Window) (sum float64) {
	switch w := w.(type) {
	case rawWindow:
		for _, v := range w {
			sum += float64(v)
		}
	case HistogramWindow:
		sum = w.Mean() * float64(w.TotalCount())
	}
	return sum
}

// share returns a share in percent.
func share(k, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(k)/float64(of))
}

// width returns half of the median width in percent. An interval without a limit is infinite.
func (t *tallied) width() string {
	if len(t.widths) == 0 {
		return "-"
	}
	slices.Sort(t.widths)
	if w := t.widths[len(t.widths)/2]; !math.IsInf(w, 0) {
		return fmt.Sprintf("±%.1f", 100*w)
	}
	return "open"
}

// TestModels checks intervals and comparisons with runs whose truth is known. A
// few runs of a model are made if -runs is not given, and of two models in CI.
func TestModels(t *testing.T) {
	runs, some := *manyRuns, regexp.MustCompile(*someModels)
	if runs == 0 {
		runs, some = logtest.Rounds(200), regexp.MustCompile("^AR.1. 0.5")
		if logtest.Rounds(1) > 0 {
			some = regexp.MustCompile("^independent|^AR.1. 0.5")
		}
	}
	var all []*tally
	for n := range models {
		if some.MatchString(models[n].name) {
			all = append(all, models[n].simulate(runs))
		}
	}
	if *manyRuns > 0 {
		fmt.Println("| model | seconds | right: p50 | p90 | p99 | p99.9 | rate | mean | refused: p99 | p99.9 | width | equal | fail | +10% | +20% |\n| --- |" + strings.Repeat(" --: |", 14))
		for _, m := range all {
			fmt.Printf("| %s | %d |", m.model.name, m.model.seconds)
			equal, worse := 0, 0
			for _, f := range m.figures {
				fmt.Printf(" %s |", share(f.covered, f.shown))
			}
			for _, f := range m.figures[:5] { // not of the mean
				equal, worse = max(equal, f.different[0]), max(worse, f.worse)
			}
			p99 := m.figures[2]
			fmt.Printf(" %s | %s | %s |", share(runs-p99.shown, runs), share(runs-m.figures[3].shown, runs), p99.width())
			for _, k := range []int{equal, worse, p99.different[1], p99.different[2]} {
				fmt.Printf(" %s |", share(k, runs))
			}
			fmt.Println()
		}
	}
	for _, m := range all {
		m.check(t)
	}
}

// check compares the shares of a model with the demands. A share may be two standard errors beside.
func (m *tally) check(t *testing.T) {
	most := func(what string, f float64, k, of int, demanded float64) {
		if share := float64(k) / float64(of); share > demanded+2*math.Sqrt(demanded*(1-demanded)/float64(of)) {
			t.Errorf("%s, %d s, %v: %s in %.1f%%, at most %.1f%% are demanded", m.model.name, m.model.seconds, f, what, 100*share, 100*demanded)
		}
	}
	for n, f := range m.figures[:5] {
		if f.shown > 0 && m.model.least > 0 && n < 3 {
			most("wrong", figures[n], f.shown-f.covered, f.shown, 1-m.model.least)
		}
		differ := maxDiffer(m.model.name)
		most("equal runs differ", figures[n], f.different[0], m.runs, differ)
		most("equal runs fail a relative limit", figures[n], f.worse, m.runs, differ*0.6)
	}
}

// maxDiffer returns how many equal runs of a model may differ.
func maxDiffer(model string) float64 {
	if model == "AR(1) 0.98" {
		return 0.08 // its weak spot
	}
	return 0.05
}

// pairModels are those of TestPairs: calm ones, and ones that vary as much as a change of 50%.
var pairModels = []model{
	auto("calm", 0, 0.2, 120, 0),
	auto("calm, AR(1) 0.9", 0.9, 0.1, 120, 0),
	auto("AR(1) 0.5", 0.5, 0.6, 120, 0),
	auto("AR(1) 0.9", 0.9, 0.3, 120, 0),
	auto("AR(1) 0.98", 0.98, 0.3, 120, 0),
	queue(0.7),
	levels("good and bad minutes", 120, 60, 0.2, 2, 0),
}

// TestPairs compares p99 of pairs of runs: how many equal ones differ significantly, and how many
// of +50, +72 and +100% are found. Gates are relative limits that equal sides fail. With -runs, it
// prints the table of bench/confidence.md.
func TestPairs(t *testing.T) {
	runs, lengths := logtest.Rounds(100), []int{120}
	if *manyRuns > 0 {
		runs, lengths = *manyRuns, []int{60, 120, 300, 600}
		fmt.Println("| model | seconds | equal | <=+0% | <=+10% | +50% | +72% | +100% |\n| --- |" + strings.Repeat(" --: |", 7))
	}
	some := regexp.MustCompile(*someModels)
	for _, m := range pairModels {
		for _, m.seconds = range lengths {
			if !some.MatchString(m.name) {
				continue
			}
			factors := []float64{1, 1.5, 1.72, 2}
			found := make([]int, len(factors))
			var gates [2]int
			for n := range runs {
				r := rand.New(rand.NewPCG(4600+*seed+uint64(m.seconds), uint64(n)))
				before, after := m.record(r).Percentile(99, 95), m.record(r).Percentile(99, 95)
				for i, factor := range factors {
					c := Compare(before, after.Times(factor), 95)
					if c.P < 0.05 {
						found[i]++
					}
					for g, bound := range []float64{1, 1.1} {
						if i == 0 && c.Low > bound {
							gates[g]++
						}
					}
				}
			}
			if *manyRuns > 0 {
				fmt.Printf("| %s | %d | %s | %s | %s |", m.name, m.seconds, share(found[0], runs), share(gates[0], runs), share(gates[1], runs))
				for _, n := range found[1:] {
					fmt.Printf(" %.0f |", 100*float64(n)/float64(runs))
				}
				fmt.Println()
			}
			if m.seconds < 120 {
				continue
			}
			limit := maxDiffer(m.name)
			if got := float64(found[0]) / float64(runs); got > limit+3*math.Sqrt(limit/float64(runs)) {
				t.Errorf("%s, %d s: %.1f%% of equal pairs differ", m.name, m.seconds, 100*got)
			}
			if m.name == "calm" && found[1] < runs*9/10 {
				t.Errorf("%s: +50%% is found in %d of %d", m.name, found[1], runs)
			}
		}
	}
}

// TestRuns compares several runs a side whose figures vary by 10%: how many equal ones
// differ, and how many find the change that such runs, or twice as many, are said to find.
func TestRuns(t *testing.T) {
	const deviation = 0.1
	runs := logtest.Rounds(2000)
	if *manyRuns > 0 {
		runs = *manyRuns
		fmt.Println("| runs a side | equal | least | of twice as many |\n| --: |" + strings.Repeat(" --: |", 3))
	}
	for _, side := range []int{3, 5} {
		equal, found, twice := 0, 0, 0
		for n := range runs {
			r := rand.New(rand.NewPCG(4600+*seed+uint64(side), uint64(n)))
			compare := func(side int, factor float64) Comparison {
				var figures [2][]RunFigure
				for range side {
					figures[0] = append(figures[0], RunFigure{Value: math.Exp(deviation * r.NormFloat64())})
					figures[1] = append(figures[1], RunFigure{Value: factor * math.Exp(deviation*r.NormFloat64())})
				}
				return CompareRuns(figures[0], figures[1], 95)
			}
			c := compare(side, 1)
			if c.P < 0.05 {
				equal++
			}
			if compare(side, c.Least(95, 1, 1)).P < 0.05 {
				found++
			}
			if compare(2*side, c.Least(95, 1, 2)).P < 0.05 {
				twice++
			}
		}
		if *manyRuns > 0 {
			fmt.Printf("| %d | %s | %s | %s |\n", side, share(equal, runs), share(found, runs), share(twice, runs))
		}
		if equal > runs*7/100 || found < runs*58/100 || found > runs*4/5 || twice < runs*58/100 || twice > runs*4/5 {
			t.Errorf("%d runs a side: of %d, %d equal ones differ, %d find the least change, and %d that of twice as many", side, runs, equal, found, twice)
		}
	}
}

// TestHistory compares one run with runs of the version before, at eight figures that move together
// by 4% and each by 2% of its own.
func TestHistory(t *testing.T) {
	t.Parallel()
	const pairs = 1000
	for _, test := range []struct {
		before       int
		ratio        float64
		lowest, most float64 // percent of runs with a figure that differs
	}{
		{6, 1, 0, 5},
		{11, 1, 0, 5},
		{6, 1.2, 70, 100},
		{11, 1.2, 90, 100},
		{5, 1.2, 0, 0}, // too few to tell
	} {
		r := rand.New(rand.NewPCG(9+*seed, uint64(test.before)))
		differ := 0
		for range pairs {
			var figures [8][]RunFigure
			for range test.before + 1 {
				common := 0.04 * r.NormFloat64()
				for k := range figures {
					value := math.Exp(common + 0.02*r.NormFloat64())
					figures[k] = append(figures[k], RunFigure{Value: value})
				}
			}
			var p []float64
			for _, runs := range figures {
				runs[test.before].Value *= test.ratio
				p = append(p, CompareRuns(runs[:test.before], runs[test.before:], 95).P)
			}
			if slices.Contains(Significant(p, 95), true) {
				differ++
			}
		}
		percent := 100 * float64(differ) / pairs
		t.Logf("%d + 1 runs, x%v: %.1f%% differ", test.before, test.ratio, percent)
		if percent < test.lowest || percent > test.most {
			t.Errorf("%d + 1 runs, x%v: %.1f%% differ, want %v to %v", test.before, test.ratio, percent, test.lowest, test.most)
		}
	}
}

// TestTogether compares p99 of two runs that ran at the same time. A level that both share, such as
// that of the host, cancels; what each has of its own does not.
func TestTogether(t *testing.T) {
	t.Parallel()
	pairs := logtest.Rounds(100)
	if *manyRuns > 0 {
		pairs = *manyRuns
		fmt.Println("| shared | own | seconds | equal | +10% | +10%, unpaired |\n| --- | --- | --: | --: | --: | --: |")
	}
	for _, test := range []struct {
		shared, own [2]float64 // correlation from second to second, and deviation
		seconds     int
		most, least float64 // percent of equal pairs, and of +10%, that differ
	}{
		{[2]float64{0.9, 0.3}, [2]float64{}, 120, 5, 90},
		{[2]float64{0.98, 0.5}, [2]float64{}, 300, 5, 90},
		{[2]float64{0.9, 0.3}, [2]float64{0, 0.2}, 300, 8, 0},
		{[2]float64{}, [2]float64{0.9, 0.2}, 300, 8, 0},
		{[2]float64{0.9, 0.3}, [2]float64{0.9, 0.2}, 600, 8, 0},
	} {
		var differ [3]int
		for n := range pairs {
			r := rand.New(rand.NewPCG(4600+*seed+uint64(test.seconds), uint64(n)))
			levels := make([]float64, test.seconds)
			next := level(r, test.shared[0], test.shared[1])
			for i := range levels {
				levels[i] = next()
			}
			side := func() Estimate {
				own := level(r, test.own[0], test.own[1])
				second := 0
				m := model{seconds: test.seconds, run: func(r *rand.Rand) func() []float64 {
					return func() []float64 {
						now := levels[second] + own()
						second++
						return around(r, perSecond*math.Exp(-now), now)
					}
				}}
				return m.record(r).Percentile(99, 95)
			}
			before, after := side(), side()
			compare := func(factor float64) bool { return Compare(before, after.Times(factor), 95).P < 0.05 }
			unpaired := compare(1.1)
			before.run.SetTime(1_000_000, 1000)
			after.run.SetTime(1_000_000, 1000)
			for k, found := range []bool{compare(1), compare(1.1), unpaired} {
				if found {
					differ[k]++
				}
			}
		}
		percent := func(k int) float64 { return 100 * float64(differ[k]) / float64(pairs) }
		row := fmt.Sprintf("| AR(1) %v, %v | AR(1) %v, %v | %d | %.0f | %.0f | %.0f |", test.shared[0], test.shared[1],
			test.own[0], test.own[1], test.seconds, percent(0), percent(1), percent(2))
		if *manyRuns > 0 {
			fmt.Println(row)
		}
		if chance := 300 * math.Sqrt(0.05/float64(pairs)); percent(0) > test.most+chance || percent(1) < test.least-chance {
			t.Errorf("equal pairs or those of +10%% that differ: %s", row)
		}
	}
}

// TestPartlyTogether: of two runs that overlap, only what ran at the same time counts. Before that,
// one of them was five times as slow.
func TestPartlyTogether(t *testing.T) {
	t.Parallel()
	const late, seconds, factor = 40, 260, 1.1
	r := rand.New(rand.NewPCG(7, 7))
	record := func(warmup int) Estimate {
		second := 0
		m := model{seconds: warmup + seconds, run: func(r *rand.Rand) func() []float64 {
			return func() []float64 {
				second++
				if second <= warmup {
					return around(r, perSecond, math.Log(5))
				}
				return around(r, perSecond, 0)
			}
		}}
		return m.record(r).Percentile(99, 95)
	}
	before, after := record(late), record(0)
	before.run.SetTime(1_000_000, 1000)
	after.run.SetTime(1_000_000+late*1000, 1000)
	c := Compare(before, after.Times(factor), 95)
	if !c.Paired || math.Abs(c.Ratio/factor-1) > 0.05 || !(c.Low < c.Ratio && c.Ratio < c.High) || c.High/c.Low > 1.2 {
		t.Errorf("%+v", c)
	}
	after.run.SetTime(1_000_000+90_000, 1000) // they overlap by less than 80%
	if c := Compare(before, after, 95); c.Paired {
		t.Errorf("paired: %+v", c)
	}
}
