package sides

import (
	"fmt"
	"math"
	"testing"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// TestNext: the text of a verdict says what such runs prove beyond a bound, and what more would.
func TestNext(t *testing.T) {
	t.Parallel()
	runs := func(values ...float64) (all []confidence.RunFigure) {
		for _, v := range values {
			all = append(all, confidence.RunFigure{Value: v})
		}
		return all
	}
	several := &PairChange{Level: 95, RunsBefore: make([]*output.Summary, 3), RunsAfter: make([]*output.Summary, 3)}
	calm := confidence.CompareRuns(runs(10, 10.1, 10.2), runs(11, 11.2, 11.1), 95)
	single := calm
	single.Seconds = 120
	for _, test := range []struct {
		c       *PairChange
		of      confidence.Comparison
		bound   float64
		atLeast bool
		want    string
	}{
		{several, calm, 1.1, false, "3 + 3 runs like these prove +13.2%; 6 + 6 would prove +11.9%"},
		{several, calm, 0.9, true, "3 + 3 runs like these prove -12.6%; 6 + 6 would prove -11.5%"},
		{&PairChange{Level: 95}, single, 1.1, false, "Runs as long as these prove +13.2%; four times as long, +11.6%"},
	} {
		if got := test.c.Next(test.of, test.bound, test.atLeast); got != test.want {
			t.Errorf("bound %v: %q, want %q", test.bound, got, test.want)
		}
	}
}

// summaryOf returns a second that begins at a time in seconds since the epoch, with a value so many
// times.
func summaryOf(t *testing.T, start, value, count int64) *output.Summary {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.RecordN(value, count); err != nil {
		t.Fatal(err)
	}
	return &output.Summary{Histogram: h, Start: 1000 * start, End: 1000 * (start + 1), Period: 1000}
}

// TestUnits: runs in several units are compared in that of both sides.
func TestUnits(t *testing.T) {
	t.Parallel()
	runs := func(value int64, factor float64) (all []*output.Summary) {
		for n := range int64(3) {
			s := summaryOf(t, 0, value+n, 5000)
			s.Scale = s.Scale.Times(factor)
			all = append(all, s)
		}
		return all
	}
	nanos, micros := runs(100_000, 1), runs(110, 1000)
	c := CompareRuns(Pair{Before: nanos[0], After: micros[0]}, nanos, micros, []float64{99}, 95)
	for name, f := range map[string]*FigureChange{"p99": c.Percentiles[99], "the mean": c.Mean} {
		if math.Abs(f.Ratio-1.11) > 0.002 {
			t.Errorf("%s is %v times as high, not 1.11", name, f.Ratio)
		}
	}
	if c.Rate.Ratio != 1 {
		t.Errorf("the rate is %v times as high, not 1", c.Rate.Ratio)
	}
}

// TestTurns: what rises all the time hides no change of runs that took turns, as it does in other
// orders.
func TestTurns(t *testing.T) {
	t.Parallel()
	const epoch = 1_700_000_000
	for _, test := range []struct {
		name          string
		before, after []int64 // when runs begin
		turns         bool
		oneSideFirst  bool
	}{
		{"in turns", []int64{epoch, epoch + 2, epoch + 4}, []int64{epoch + 1, epoch + 3, epoch + 5}, true, false},
		{"after first", []int64{epoch + 1, epoch + 3, epoch + 5}, []int64{epoch, epoch + 2, epoch + 4}, true, false},
		{"two of a side between", []int64{epoch, epoch + 1, epoch + 4}, []int64{epoch + 2, epoch + 3, epoch + 5}, false, false},
		{"before first", []int64{epoch, epoch + 1}, []int64{epoch + 2, epoch + 3}, false, true},
		{"after all first", []int64{epoch + 2, epoch + 3}, []int64{epoch, epoch + 1}, false, true},
		{"at the same time", []int64{epoch, epoch + 2, epoch + 4}, []int64{epoch, epoch + 2, epoch + 4}, false, false},
		{"two together", []int64{epoch, epoch + 2}, []int64{epoch + 2, epoch + 3}, false, false},
		{"no dates", []int64{0, 2}, []int64{5, 7}, false, false},
		{"one run", []int64{epoch}, []int64{epoch + 1, epoch + 2}, false, false},
	} {
		of := func(starts []int64, factor float64) (all []*output.Summary) {
			for _, start := range starts {
				all = append(all, summaryOf(t, start, int64(1e6*factor*math.Exp(0.1*float64(start%epoch))), 5000))
			}
			return all
		}
		before, after := of(test.before, 1), of(test.after, 1.02)
		c := CompareRuns(Pair{Before: before[0], After: after[0]}, before, after, []float64{99}, 95)
		f := c.Percentiles[99]
		if turns := f.High/f.Low < 1.2; turns != test.turns || c.OneSideFirst() != test.oneSideFirst {
			t.Errorf("%s: from %v to %v, one side first %v", test.name, f.Low, f.High, c.OneSideFirst())
		}
	}
}

// TestKnown: one run against one is compared if both last two minutes, of which logs lack a little.
func TestKnown(t *testing.T) {
	t.Parallel()
	comparison := func(low, high float64, seconds float64) *FigureChange {
		return &FigureChange{Comparison: confidence.Comparison{Low: low, High: high, Seconds: seconds}}
	}
	for _, test := range []struct {
		name string
		c    *FigureChange
		want bool
	}{
		{"none", nil, false},
		{"several runs", comparison(0.9, 1.1, 0), true},
		{"nearly two minutes", comparison(0.9, 1.1, 114), true},
		{"less", comparison(0.9, 1.1, 113), false},
		{"no low end", comparison(math.NaN(), 1.1, 120), false},
		{"no high end", comparison(0.9, math.NaN(), 120), false},
	} {
		if got := test.c.Known(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestProve: what one run a side, several runs, or values without times would prove.
func TestProve(t *testing.T) {
	t.Parallel()
	several := &PairChange{RunsBefore: make([]*output.Summary, 3), RunsAfter: make([]*output.Summary, 4)}
	untimed := &PairChange{Percentiles: map[float64]*FigureChange{99: {Comparison: confidence.Comparison{Untimed: true}}}}
	proves := func(times float64) string { return fmt.Sprintf("%v%%", 8/times) }
	none := func(times float64) string { // but twice as many, or four times as long, would
		if times > 1 {
			return proves(times)
		}
		return NoChange
	}
	for _, test := range []struct {
		c      *PairChange
		proves func(float64) string
		want   string
	}{
		{several, proves, "3 + 4 runs like these prove 8%; 6 + 8 would prove 4%"},
		{several, none, "3 + 4 runs like these cannot show a change of any size"},
		{untimed, proves, "As many values as these prove 8%; four times as many, 2%"},
		{untimed, none, "So few values cannot show a change of any size"},
		{new(PairChange), proves, "Runs as long as these prove 8%; four times as long, 2%"},
		{new(PairChange), none, "Runs this long cannot show a change of any size"},
	} {
		if got := test.c.Prove(test.proves); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestCorrect: a change is less sure if more are looked at, and what none can prove takes no part.
func TestCorrect(t *testing.T) {
	t.Parallel()
	change := func(p float64) *FigureChange {
		runs := []confidence.RunFigure{{Value: 10}, {Value: 10.1}, {Value: 10.2}}
		c := &FigureChange{Comparison: confidence.CompareRuns(runs, runs, 95)}
		c.P = p
		return c
	}
	for _, test := range []struct {
		p    []float64 // of the rate, the mean and p99
		want []bool
	}{
		{[]float64{0.001, 0.9, 0.9}, []bool{true, false, false}},
		{[]float64{0.04, 0.9, 0.9}, []bool{false, false, false}},
		{[]float64{0.04, 0.03, 0.02}, []bool{true, true, true}},
		{[]float64{0.9, 0.9, 0.01}, []bool{false, false, true}},
	} {
		c := &PairChange{Level: 95, Rate: change(test.p[0]), Mean: change(test.p[1]), Percentiles: map[float64]*FigureChange{99: change(test.p[2])}}
		Correct([]Pair{{}, {Change: c}}, []float64{99})
		for n, f := range []*FigureChange{c.Rate, c.Mean, c.Percentiles[99]} {
			if f.Significant != test.want[n] {
				t.Errorf("p of %v: change %d is significant: %v", test.p, n, f.Significant)
			}
		}
	}
	alone := &PairChange{Level: 95, Rate: change(0.04), Percentiles: map[float64]*FigureChange{99: change(0.01)}}
	alone.Percentiles[99].Low = math.NaN()
	if Correct([]Pair{{Change: alone}}, []float64{99}); !alone.Rate.Significant || alone.Percentiles[99].Significant {
		t.Errorf("%+v", alone)
	}
}

// TestRunFigure: a run without values has a rate, and one without a time has none.
func TestRunFigure(t *testing.T) {
	t.Parallel()
	empty, timeless, some := summaryOf(t, 0, 5, 0), summaryOf(t, 0, 5, 3), summaryOf(t, 0, 5, 3)
	timeless.Period = 0
	nan := math.NaN()
	for name, want := range map[string][]float64{"p99": {nan, 5, 5}, "mean": {nan, 5, 5}, "throughput": {0, nan, 3}, "count": {0, 3, 3}} {
		f, err := output.ParseFigure(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, s := range []*output.Summary{empty, timeless, some} {
			got := RunFigureOf(s, f)
			if got.Value != want[n] && !(math.IsNaN(got.Value) && math.IsNaN(want[n])) {
				t.Errorf("%s of run %d: %v, want %v", name, n, got.Value, want[n])
			}
		}
	}
	// The slot of a rank is as wide as values that the histogram does not tell apart.
	if got := RunFigureOf(summaryOf(t, 0, 4097, 1), output.Figure{Percentile: 50}); got.Slot < 0.9*4/4097 || got.Slot > 1.1*4/4097 {
		t.Errorf("a slot of %v", got.Slot)
	}
}

// TestFew: a percentile with fewer than ten values above it in one of the runs takes part in
// nothing.
func TestFew(t *testing.T) {
	t.Parallel()
	run := func(values int64) *output.Summary {
		h, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(100, values)
		return &output.Summary{Histogram: h, Period: 1000}
	}
	before := []*output.Summary{run(2000), run(2000), run(2000)}
	for values, few := range map[int64]bool{1000: false, 999: true} {
		after := []*output.Summary{run(2000), run(values), run(2000)}
		c := CompareRuns(Pair{Before: before[0], After: after[0]}, before, after, []float64{99}, 95)
		if got := math.IsNaN(c.Percentiles[99].Ratio); got != few {
			t.Errorf("%d values: %v, want %v", values, got, few)
		}
	}
}

// TestChangeText: a change has its interval, and a sign if it is not proven.
func TestChangeText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ratio, low, high float64
		significant      bool
		want             string
	}{
		{1.2, 1.17, 1.23, true, "+20% (+17..+23)"},
		{0.98, 0.97, 0.99, true, "-2.0% (-3.0..-1.0)"},
		{1.17, 0.97, 1.3, false, "~+17% (-3..+30)"},
		{1.0001, 0.8, 1.2, false, "~+0% (-20..+20)"},
		{0.9999, 0.8, 1.2, false, "~+0% (-20..+20)"},
		{1.7, 1.05, math.Inf(1), true, "+70% (+5..no end)"},
		{0.7, 0, 0.95, true, "-30% (-100..-5)"},
		{1.7, 0.95, math.Inf(1), false, "~+70% (-5..no end)"},
		{1, math.NaN(), math.NaN(), false, ""},
		{0.0004, 0.0003, 0.0005, true, "-99.96% (-99.97..-99.95)"}, // something is left
		{0.004, 0.001, 0.06, true, "-99.6% (-99.9..-94.0)"},
		{0.01, 0.001, 0.06, true, "-99.0% (-99.9..-94.0)"},
	} {
		c := FigureChange{Comparison: confidence.Comparison{Ratio: test.ratio, Low: test.low, High: test.high}, Significant: test.significant}
		if got := c.Text(); got != test.want {
			t.Errorf("%v in [%v, %v] is %q, want %q", test.ratio, test.low, test.high, got, test.want)
		}
	}
}

// TestPercent: a fall that leaves something is none by 100%.
func TestPercent(t *testing.T) {
	t.Parallel()
	for after, want := range map[float64]string{850: "15", 60: "94", 3.7: "99.6", 0.5: "99.95", 1e-12: "100", 0: "100", 1500: "50", 2000: "100", 12345: "1,100"} {
		c := TrendChange{Before: TrendLevel{Value: 1000}, After: TrendLevel{Value: after}}
		if got := c.Percent(); got != want {
			t.Errorf("from 1000 to %v: %s%%, want %s%%", after, got, want)
		}
	}
}
