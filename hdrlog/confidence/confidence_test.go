package confidence

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
)

// oracle is testdata/oracle.json, which testdata/oracle.py writes with scipy and statsmodels.
type oracle struct {
	Runs []struct {
		Windows     [][]int64
		Percentiles []struct {
			figure
			Percentile float64
		}
		Rate figure
	}
	Welch []struct {
		Before, After       []float64
		Ratio, Low, High, P float64
	}
	Hochberg []struct {
		P           []float64
		Significant []bool
	}
	Quantiles []struct{ Level, Freedom, T float64 }
}

type figure struct {
	Value, Deviation, Time float64
	Low, High              *float64
}

func readOracle(t *testing.T) (o oracle) {
	t.Helper()
	text, err := os.ReadFile("testdata/oracle.json")
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

var layout = histogram.Layout{Lowest: 1, Digits: 3}

// newRun returns a run of windows of a second. A window without values is nil.
func newRun(t *testing.T, values [][]int64) *Run { return coarseRun(t, values, layout.Digits) }

// coarseRun is newRun for windows of fewer digits.
func coarseRun(t *testing.T, values [][]int64, digits int) *Run {
	t.Helper()
	sum, err := histogram.New(layout)
	if err != nil {
		t.Fatal(err)
	}
	var windows []Window
	for _, w := range values {
		h, _ := histogram.New(layout)
		for _, v := range w {
			if err := h.Record(v); err != nil {
				t.Fatal(err)
			}
		}
		if len(w) == 0 {
			windows = append(windows, nil)
			continue
		}
		coarse := new(histogram.Histogram)
		h.CoarsenInto(coarse, digits)
		windows = append(windows, HistogramWindow{coarse, 1})
		if err := sum.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	run := NewRun(sum, windows)
	run.SetDigits(digits)
	return run
}

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-6)
}

// check compares an estimate with that of the oracle, which never refuses a run.
func check(t *testing.T, name string, e Estimate, want figure, exact bool) {
	t.Helper()
	if !near(e.Value, want.Value) {
		t.Errorf("%s is %v, want %v", name, e.Value, want.Value)
	}
	low, high := e.Low, e.High
	for _, limit := range []struct {
		got  float64
		want *float64
	}{{low, want.Low}, {high, want.High}} {
		if limit.want == nil && !math.IsNaN(limit.got) || limit.want != nil && !near(limit.got, *limit.want) {
			t.Errorf("%s has the interval [%v, %v], want [%v, %v]", name, low, high, text(want.Low), text(want.High))
		}
	}
	if most := float64(e.Windows) / want.Time; e.Independent > most*(1+1e-9) || exact && !near(e.Independent, most) {
		t.Errorf("%s has %v independent windows, want %v", name, e.Independent, most)
	}
}

func text(v *float64) any {
	if v == nil {
		return "none"
	}
	return *v
}

func TestEstimatesOfOracle(t *testing.T) {
	for n, o := range readOracle(t).Runs {
		run := newRun(t, o.Windows)
		for _, p := range o.Percentiles {
			run.Percentile(p.Percentile, 95)
			check(t, "a percentile", run.percentile(p.Percentile, quantile(95, cosines)), p.figure, p.Percentile == 50 && n < 2)
		}
		check(t, "the rate", run.rate(95), o.Rate, false)
	}
}

// figuresOf returns the figures of runs, all of them with the same slot.
func figuresOf(slot float64, values ...float64) (all []RunFigure) {
	for _, v := range values {
		all = append(all, RunFigure{Value: v, Slot: slot})
	}
	return all
}

// TestCompareRunsOfSlots checks that equal runs, one slot away from the others, are not certain of
// a change, unless nearly all figures say so.
func TestCompareRunsOfSlots(t *testing.T) {
	const slot = 0.001
	c := CompareRuns(figuresOf(slot, 1, 1, 1), figuresOf(slot, 1+slot, 1+slot, 1+slot), 95)
	if !(c.P > 0.01) || !(c.High-c.Low > slot) || Significant(slices.Repeat([]float64{c.P, 1}, 30), 95)[0] {
		t.Errorf("one slot gives %+v", c)
	}
	if c := CompareRuns(figuresOf(slot, 1, 1, 1), figuresOf(slot, 1.01, 1.01, 1.01), 95); !(c.P < 1e-4) {
		t.Errorf("ten slots give %+v", c)
	}
}

func TestCompareRunsOfOracle(t *testing.T) {
	for _, o := range readOracle(t).Welch {
		c := CompareRuns(figuresOf(0, o.Before...), figuresOf(0, o.After...), 95)
		if !near(c.Ratio, o.Ratio) || !near(c.Low, o.Low) || !near(c.High, o.High) || !near(c.P, o.P) {
			t.Errorf("%v to %v gives %+v, want %+v", o.Before, o.After, c, o)
		}
	}
}

func TestSignificantOfOracle(t *testing.T) {
	for _, o := range readOracle(t).Hochberg {
		if got := Significant(o.P, 95); !slices.Equal(got, o.Significant) {
			t.Errorf("of %v, %v are significant, want %v", o.P, got, o.Significant)
		}
		// One that is not a number does not count.
		if got := Significant(append([]float64{none}, o.P...), 95); got[0] || !slices.Equal(got[1:], o.Significant) {
			t.Errorf("with one that is not a number, of %v %v are significant", o.P, got)
		}
	}
}

func TestQuantilesOfOracle(t *testing.T) {
	for _, o := range readOracle(t).Quantiles {
		if got := quantile(o.Level, o.Freedom); !near(got, o.T) {
			t.Errorf("the quantile of %v%% with %v degrees of freedom is %v, want %v", o.Level, o.Freedom, got, o.T)
		}
		if got := Tail(o.T, o.Freedom); math.Abs(got-(1-o.Level/100)) > 1e-9 {
			t.Errorf("%v with %v degrees of freedom has a tail of %v, want that of %v%%", o.T, o.Freedom, got, o.Level)
		}
	}
	if got := Tail(none, 8); !math.IsNaN(got) {
		t.Errorf("what is not a number has a tail of %v", got)
	}
}

// TestQuantile: Tail of a quantile is what the level leaves, for more freedom than runs have. From
// 100,000 on, gonum's inverse is wrong at a level of 99.999999.
func TestQuantile(t *testing.T) {
	for freedom := 1.0; freedom < 2000; freedom *= 1.1 {
		for left := 0.9; left > 1e-6; left /= 1.5 {
			q := quantile(100*(1-left), freedom)
			if got := Tail(q, freedom); math.Abs(got-left) > 1e-7*left {
				t.Errorf("the quantile %v with %v degrees of freedom has a tail of %v, want %v", q, freedom, got, left)
			}
		}
	}
}

// steadyRun returns windows of values around 1000, slower by a factor.
func steadyRun(r *rand.Rand, windows, values int, factor float64) [][]int64 {
	all := make([][]int64, windows)
	for i := range all {
		level := 0.1 * r.NormFloat64()
		for range values {
			all[i] = append(all[i], int64(1000*factor*math.Exp(level+0.3*r.NormFloat64())))
		}
	}
	return all
}

func TestTooShort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name       string
		values     [][]int64
		percentile float64
		short      bool
	}{
		{"100 windows", steadyRun(r, 100, 50, 1), 90, false},
		{"99 windows", steadyRun(r, 99, 50, 1), 90, true},
		{"one window", steadyRun(r, 1, 50, 1), 90, true},
		{"nothing", make([][]int64, 200), 90, true},
		{"no windows", nil, 90, true},
		{"ten values above", steadyRun(r, 200, 50, 1), 99.9, false},
		{"nine values above", steadyRun(r, 199, 50, 1), 99.9, true},
		{"nine values below", steadyRun(r, 199, 50, 1), 0.05, true},
		{"19 windows with values", append(make([][]int64, 181), steadyRun(r, 19, 500, 1)...), 50, true},
		{"a step", append(steadyRun(r, 100, 50, 1), steadyRun(r, 100, 50, 2)...), 50, true},
	} {
		e := newRun(t, c.values).Percentile(c.percentile, 95)
		if e.TooShort != c.short {
			t.Errorf("%s: too short is %v", c.name, e.TooShort)
		}
		if limits := !math.IsNaN(e.Low) && !math.IsNaN(e.High); limits == c.short {
			t.Errorf("%s: the interval is [%v, %v]", c.name, e.Low, e.High)
		}
	}
}

// TestPauses checks that two pauses are not evidence for a percentile that lies in them, however
// many values they have.
func TestPauses(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	values := steadyRun(r, 600, 100, 1)
	for _, at := range []int{200, 400} {
		for i := range values[at] {
			values[at][i] *= 10
		}
	}
	run := newRun(t, values)
	if e := run.Percentile(99.9, 95); !e.TooShort {
		t.Errorf("p99.9 is in two pauses, and has the interval [%v, %v]", e.Low, e.High)
	}
	if e := run.Percentile(90, 95); e.TooShort {
		t.Error("p90 is outside of the pauses, and too short")
	}
}

// TestEqualValues checks values that have no variance, or that are mostly at a limit.
func TestEqualValues(t *testing.T) {
	values := make([][]int64, 200)
	for i := range values {
		values[i] = slices.Repeat([]int64{777}, 100)
	}
	if e := newRun(t, values).Percentile(99, 95); e.Low != 777 || e.High != 777 || e.TooShort {
		t.Errorf("equal values give %+v", e)
	}
	if e := newRun(t, values).Rate(95); e.Low != e.Value || e.High != e.Value {
		t.Errorf("the rate of equal numbers is %+v", e)
	}
	// Requests end at 1000 at most. On average 1.1% do, but 3% in one second of three.
	r := rand.New(rand.NewPCG(3, 3))
	for i := range values {
		if r.IntN(3) == 0 {
			copy(values[i], []int64{1000, 1000, 1000})
		}
	}
	values[0][0] = 1000
	e := newRun(t, values).Percentile(99, 95)
	if e.Value != 1000 && e.Low != 777 || e.High != 1000 {
		t.Errorf("p99 at the limit of values is %+v, which denies that it may be 777", e)
	}
}

// TestCoarseWindows proves that limits hardly depend on the digits of windows, and that values that
// many requests share are recognized.
func TestCoarseWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	values := steadyRun(r, 600, 100, 1)
	for i := range values {
		if i%50 == 0 {
			for n := range values[i][:10] {
				values[i][n] *= 5
			}
		}
	}
	fine, coarse := newRun(t, values), coarseRun(t, values, 1)
	for _, p := range []float64{1, 20, 50, 90, 99, 99.5, 99.9} {
		a, b := fine.Percentile(p, 95), coarse.Percentile(p, 95)
		if far := 0.1 * (a.High - a.Low); a.TooShort != b.TooShort || math.Abs(a.Low-b.Low) > far || math.Abs(a.High-b.High) > far {
			t.Errorf("p%v is %v [%v, %v], and with fewer digits [%v, %v]", p, a.Value, a.Low, a.High, b.Low, b.High)
		}
	}
	// One value in a hundred is 1000, with gusts. All others are far below.
	for i := range values {
		for n := range values[i] {
			values[i][n] = 100
		}
		if r.IntN(3) == 0 {
			copy(values[i], []int64{1000, 1000, 1000})
		}
	}
	values[0][0] = 1000
	a, b := newRun(t, values).Percentile(99, 95), coarseRun(t, values, 1).Percentile(99, 95)
	if a.Low != b.Low || a.High != b.High {
		t.Errorf("p99 at equal values: [%v, %v], and with fewer digits [%v, %v]", a.Low, a.High, b.Low, b.High)
	}
}

// TestCount compares with a count of the raw values.
func TestCount(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		layout := histogram.Layout{Lowest: 1 << r.IntN(4), Digits: r.IntN(4)}
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		var values, upTo []int64
		for range r.IntN(300) {
			v := r.Int64N(1 << (1 + r.IntN(40)))
			values = append(values, v)
			if err := h.Record(v); err != nil {
				t.Fatal(err)
			}
		}
		for range r.IntN(8) {
			upTo = append(upTo, r.Int64N(1<<(1+r.IntN(41))))
		}
		slices.Sort(upTo)
		counts := make([]int64, len(upTo))
		if total := (HistogramWindow{h, 1}).Count(upTo, counts); total != int64(len(values)) {
			t.Errorf("run %d: %d values, want %d", n, total, len(values))
		}
		for i, limit := range upTo {
			count := int64(0)
			for _, v := range values {
				if layout.IndexOf(v) <= layout.IndexOf(limit) {
					count++
				}
			}
			if counts[i] != count {
				t.Errorf("run %d: %d values up to %d, want %d", n, counts[i], limit, count)
			}
		}
	}
}

func TestHugeCounts(t *testing.T) {
	sum, _ := histogram.New(layout)
	var windows []Window
	for i := range 120 {
		h, _ := histogram.New(layout)
		for v := range int64(20) {
			if err := h.RecordN(100+v, 1<<51+int64(i)<<40); err != nil {
				t.Fatal(err)
			}
		}
		windows = append(windows, HistogramWindow{h, 1})
		if err := sum.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	run := NewRun(sum, windows)
	e := run.Percentile(50, 95)
	if math.IsNaN(e.Value) || math.IsInf(e.Independent, 0) || e.Low > e.Value || e.High < e.Value {
		t.Errorf("the median of 2^59 values is %+v", e)
	}
}

func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	estimate := func(factor float64) Estimate {
		return newRun(t, steadyRun(r, 300, 100, factor)).Percentile(99, 95)
	}
	before := estimate(1)
	for _, c := range []struct{ factor, low, high float64 }{{1, 0.9, 1.1}, {1.3, 1.2, 1.4}, {0.5, 0.4, 0.6}} {
		got := Compare(before, estimate(c.factor), 95)
		if !(c.low < got.Low && got.Low < got.Ratio && got.Ratio < got.High && got.High < c.high) {
			t.Errorf("a factor of %v gives %+v", c.factor, got)
		}
		if different := got.Low > 1 || got.High < 1; different != (c.factor != 1) || different != (got.P < 0.05) {
			t.Errorf("a factor of %v gives %+v", c.factor, got)
		}
		// At the level of P, the interval touches 1.
		touching := Compare(before, estimate(c.factor), 95)
		if c.factor == 1.3 && touching.P > 1e-4 {
			t.Errorf("a change of 30%% has p=%v", touching.P)
		}
	}
	same := Compare(before, before, 95)
	if same.P < 0.99 || same.Low > 1 || same.High < 1 {
		t.Errorf("a run compared with itself gives %+v", same)
	}
	for name, c := range map[string]Comparison{
		"zero":      Compare(newRun(t, make([][]int64, 200)).Percentile(50, 95), before, 95),
		"too short": Compare(before, newRun(t, steadyRun(r, 20, 50, 1)).Percentile(50, 95), 95),
		"maximum":   Compare(before, newRun(t, steadyRun(r, 200, 50, 1)).Percentile(100, 95), 95),
	} {
		if !math.IsNaN(c.Low) || !math.IsNaN(c.High) || !math.IsNaN(c.P) {
			t.Errorf("%s: the change is %+v, want no interval", name, c)
		}
	}
}

// TestP checks that the interval at the level of P just touches 1.
func TestP(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	before, after := newRun(t, steadyRun(r, 300, 100, 1)), newRun(t, steadyRun(r, 300, 100, 1.04))
	compare := func(level float64) Comparison {
		return Compare(before.Percentile(90, level), after.Percentile(90, level), level)
	}
	p := compare(95).P
	if excluded, included := compare(100*(1-p*1.01)), compare(100*(1-p*0.99)); excluded.Low <= 1 || included.Low > 1 {
		t.Errorf("p=%v, but the intervals beside it are %+v and %+v", p, excluded, included)
	}
}

// TestCoverage checks a few runs whose truth is known. The simulation in bench checks many.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	truth := 1000 * math.Exp(1.2815515655*math.Hypot(0.1, 0.3))
	runs := logtest.Rounds(500)
	covered, different := 0, 0
	for range runs {
		e := newRun(t, steadyRun(r, 120, 50, 1)).Percentile(90, 95)
		if e.Low <= truth && truth <= e.High {
			covered++
		}
		c := Compare(e, newRun(t, steadyRun(r, 120, 50, 1)).Percentile(90, 95), 95)
		if c.Low > 1 || c.High < 1 {
			different++
		}
	}
	if covered < runs*92/100 || covered > runs*98/100 || different > runs*7/100 {
		t.Errorf("of %d intervals, %d have the truth; of as many pairs of equal runs, %d differ", runs, covered, different)
	}
}

// TestAnyOrder asks a run for each figure first. It is the one that a run tells that was asked
// before.
func TestAnyOrder(t *testing.T) {
	values := steadyRun(rand.New(rand.NewPCG(1, 9)), 120, 50, 1)
	asked := newRun(t, values)
	for name, figure := range map[string]func(r *Run) Estimate{
		"p99":  func(r *Run) Estimate { return r.Percentile(99, 95) },
		"rate": func(r *Run) Estimate { return r.Rate(95) },
	} {
		figure(asked)
		first, second := figure(newRun(t, values)), figure(asked)
		if first.Value != second.Value || first.Low != second.Low || first.High != second.High || math.IsNaN(first.Low) {
			t.Errorf("%s: %+v, then %+v", name, first, second)
		}
	}
}
