package detect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// always takes any change.
func always(Change) bool { return true }

// TestFindExact: with little noise, the spans of a change are exact, and by how much the first one
// differs, too.
func TestFindExact(t *testing.T) {
	within := func(i int, spans ...Span) bool {
		return slices.ContainsFunc(spans, func(s Span) bool { return i >= s.From && i < s.To })
	}
	phases := func(by float64, spans ...Span) func(i int) float64 {
		return func(i int) float64 { return by * above(within(i, spans...)) }
	}
	for _, test := range []struct {
		name string
		y    func(i int) float64
		want Change
	}{
		{"a step", phases(0.5, Span{60, 150}), Change{Step, []Span{{60, 150}}, 0.5}},
		{"a step down", phases(0.5, Span{0, 60}), Change{Step, []Span{{60, 150}}, -0.5}},
		{"a step at the third part", phases(0.5, Span{3, 150}), Change{Step, []Span{{3, 150}}, 0.5}},
		{"a step at the third last part", phases(0.5, Span{147, 150}), Change{Step, []Span{{147, 150}}, 0.5}},
		{"a small phase", phases(0.2, Span{20, 25}), Change{Phases, []Span{{20, 25}}, 0.2}},
		{"the shortest phase", phases(0.5, Span{20, 23}), Change{Phases, []Span{{20, 23}}, 0.5}},
		{"two parts", phases(0.5, Span{20, 22}), Change{}},
		{"a phase near the begin", phases(0.5, Span{10, 17}), Change{Phases, []Span{{10, 17}}, 0.5}},
		{"a phase near the end", phases(0.5, Span{133, 140}), Change{Phases, []Span{{133, 140}}, 0.5}},
		{"four phases", phases(0.5, Span{20, 25}, Span{50, 55}, Span{80, 85}, Span{110, 115}),
			Change{Phases, []Span{{20, 25}, {50, 55}, {80, 85}, {110, 115}}, 0.5}},
		{"phases, the last one higher", func(i int) float64 {
			return 0.3*above(within(i, Span{20, 25})) + 0.6*above(within(i, Span{50, 55}))
		}, Change{Phases, []Span{{20, 25}, {50, 55}}, 0.3}},
		{"a low time is no phase", phases(-0.5, Span{60, 70}), Change{}},
	} {
		y := make([]float64, Parts)
		for i, noise := range steady(rand.New(rand.NewPCG(8, 8)), Parts, 0, 0.02) {
			y[i] = test.y(i) + noise
		}
		got := FindChange(y, 1, always)
		if got.Kind != test.want.Kind || !slices.Equal(got.Spans, test.want.Spans) || math.Abs(got.By-test.want.By) > 0.03 {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestDrift: a level that grows to fifty times or falls to a fiftieth is a drift.
func TestDrift(t *testing.T) {
	for _, times := range []float64{1.0 / 40, 0.5, 1.3, 3, 40} {
		y := make([]float64, Parts)
		for i, noise := range steady(rand.New(rand.NewPCG(8, 8)), Parts, 0, 0.05) {
			y[i] = math.Log1p((times-1)*(float64(i)+0.5)/Parts) + noise
		}
		if got := FindChange(y, 1, always); got.Kind != Drift || got.Spans[0] != (Span{0, Parts}) {
			t.Errorf("%v times: %+v", times, got)
		}
	}
}

// TestDecay: a begin that fades ends where it is 15% above the rest.
func TestDecay(t *testing.T) {
	for _, test := range []struct{ height, time float64 }{{1, 10}, {4, 10}, {4, 20}, {20, 5}} {
		y := make([]float64, Parts)
		for i, noise := range steady(rand.New(rand.NewPCG(8, 8)), Parts, 0, 0.05) {
			y[i] = math.Log1p(test.height*math.Exp(-(float64(i)+0.5)/test.time)) + noise
		}
		end := int(math.Ceil(test.time * math.Log(test.height/0.15)))
		got := FindChange(y, 1, always)
		if got.Kind != Decay || got.Spans[0].From != 0 || abs(got.Spans[0].To-end) > 4 || math.Abs(got.By-y[0]) > 0.25 {
			t.Errorf("%+v: %+v, want an end at %d and a height of %.2f", test, got, end, y[0])
		}
	}
}

// TestDiffersFew: a mean of 20 numbers can differ from zero, that of 19 does not.
func TestDiffersFew(t *testing.T) {
	y := make([]float64, MinParts)
	for i := range y {
		y[i] = 1 + 0.1*float64(i%3)
	}
	if !Differs(y, 1) || Differs(y[1:], 1) {
		t.Errorf("%v, %v", Differs(y, 1), Differs(y[1:], 1))
	}
}

// TestBeatsExact: period, first beat and the numbers of beats are exact where spikes are regular.
func TestBeatsExact(t *testing.T) {
	spiky := func(n int, at ...int) []Interval {
		maxima := make([]float64, n)
		for i := range maxima {
			maxima[i] = 1 + 0.1*float64(i*7%5)
		}
		for _, i := range at {
			maxima[i] = 50
		}
		return seconds(maxima)
	}
	every := func(first, period, beats int, missing ...int) (at []int) {
		for n := range beats {
			if !slices.Contains(missing, n) {
				at = append(at, first+n*period)
			}
		}
		return at
	}
	for _, test := range []struct {
		name string
		at   []int
		want Rhythm // none if it is zero
	}{
		{"ten beats", every(7, 30, 10), Rhythm{30_000, 7000, 10, 10}},
		{"nine beats", every(7, 30, 9), Rhythm{}},
		{"twenty, two are missing", every(7, 30, 20, 5, 11), Rhythm{30_000, 7000, 18, 20}},
		{"twenty, one of two is missing at the end", every(7, 30, 20, 13, 15, 17), Rhythm{30_000, 7000, 17, 20}},
		{"three intervals apart", every(7, 3, 60), Rhythm{}},
		{"four intervals apart", every(7, 4, 60), Rhythm{4000, 7000, 60, 60}},
		{"at random", []int{3, 10, 31, 77, 90, 141, 200, 222, 230, 311, 350, 399, 470, 533, 570}, Rhythm{}},
	} {
		got, found := Beats(spiky(640, test.at...), 1)
		if !found {
			got = Rhythm{}
		}
		near := math.Abs(got.Period-test.want.Period) < 1 && math.Abs(got.First-test.want.First) < 1
		if !near || got.Found != test.want.Found || got.Expected != test.want.Expected {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	if _, found := Beats(nil, 1); found {
		t.Error("no intervals have a rhythm")
	}
}

// TestNarrowExact: of maxima on two levels, times and ratio are exact. Intervals without values
// count for nothing.
func TestNarrowExact(t *testing.T) {
	maxima := make([]float64, 100)
	for i := range maxima {
		maxima[i] = 1 + 2*above(i >= 40 && i < 60)
	}
	intervals := seconds(maxima)
	intervals[50].Count, intervals[50].Max = 0, 0
	intervals[10].Count, intervals[10].Max = 0, 1000
	for _, about := range []Span{{40, 60}, {38, 62}, {36, 61}} {
		got := Narrow(intervals, int64(about.From)*1000, int64(about.To)*1000, 6000)
		if math.Abs(got.More-19) > 1e-9 || got.Start != 40_000 || got.End != 60_000 || got.Times != 3 {
			t.Errorf("about %v: %+v, want from 40000 to 60000, 3 times, 19 more", about, got)
		}
	}
}

// TestRates: values count on the side on which their interval begins.
func TestRates(t *testing.T) {
	intervals := []Interval{{0, 1000, 10, 1}, {1000, 3000, 60, 1}, {3000, 4000, 20, 1}}
	for _, test := range []struct {
		from, to        int64
		inside, outside float64
	}{{1000, 3000, 30, 15}, {0, 3000, 70 / 3.0, 20}, {999, 1000, 0, 22.5}, {0, 4000, 22.5, 0}} {
		if in, out := Rates(intervals, test.from, test.to); math.Abs(in-test.inside) > 1e-9 || math.Abs(out-test.outside) > 1e-9 {
			t.Errorf("from %d to %d: %v and %v, want %v and %v", test.from, test.to, in, out, test.inside, test.outside)
		}
	}
}

// TestMedian: the middle of an even number of values is between two, and intervals without values
// have no maximum.
func TestMedian(t *testing.T) {
	for want, x := range map[float64][]float64{3: {5, 3, 1}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := Median(x); got != want {
			t.Errorf("the median of %v is %v, want %v", x, got, want)
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("no values have a median")
	}
	all := []Interval{{Count: 1, Max: 4}, {Max: 100}, {Count: 1, Max: 6}}
	if got := MedianMax(all); got != 5 {
		t.Errorf("the median of maxima is %v, want 5", got)
	}
}

// TestBoundTight: the bound of maxima is not far above the one that their distribution has. Nine
// maxima are too few for one.
func TestBoundTight(t *testing.T) {
	maxima := make([]float64, 1000)
	for i := range maxima { // quantiles of a normal distribution, as logarithms
		maxima[i] = math.Exp(0.25 * math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/1000-1))
	}
	// One of a hundred logs has a maximum above 2.91, the quantile of 1 - 1/100,000.
	if got := Bound(maxima); math.Abs(got-4.964) > 0.002 {
		t.Errorf("the bound is %v", got)
	}
	if got := Bound(maxima[:9]); !math.IsInf(got, 1) {
		t.Errorf("nine maxima have a bound of %v", got)
	}
	if got := Bound(maxima[:10]); math.IsInf(got, 1) {
		t.Error("ten maxima have no bound")
	}
}

// TestGroupsExact: shares and middles of groups are those of their values, and a group has at least
// 4% of all.
func TestGroupsExact(t *testing.T) {
	values := func(low, high int) (all []float64) {
		for n := range low {
			all = append(all, 1+float64(n%3)/16)
		}
		for n := range high {
			all = append(all, 32+float64(n%2))
		}
		return all
	}
	for _, test := range []struct {
		low, high int
		want      []Group
	}{
		{900, 300, []Group{{Share: 0.75, Middle: 1.0625, From: 1}, {Share: 0.25, Middle: 32.5, From: 5.5}}},
		{960, 40, []Group{{Share: 0.96, Middle: 1.0625, From: 1}, {Share: 0.04, Middle: 32.5, From: 5.5}}},
		{961, 39, []Group{{Share: 1, Middle: 1.0625, From: 1}}},
	} {
		got := groupsOf(values(test.low, test.high))
		same := func(a, b Group) bool {
			return math.Abs(a.Share-b.Share) < 1e-9 && math.Abs(a.Middle/b.Middle-1) < 0.01 && math.Abs(math.Log2(a.From/b.From)) < 0.3
		}
		if !slices.EqualFunc(got, test.want, same) {
			t.Errorf("%d and %d values: %+v, want %+v", test.low, test.high, got, test.want)
		}
	}
	if got := groupsOf([]float64{0, 0}); got != nil {
		t.Errorf("zeros have groups: %+v", got)
	}
}

// TestBeatsBetween: the period of beats that fall between intervals is that of all together.
func TestBeatsBetween(t *testing.T) {
	maxima := make([]float64, 900)
	for i := range maxima {
		maxima[i] = 1 + 0.1*float64(i*7%5)
	}
	for n := range 24 {
		maxima[int(5+37.3*float64(n))] = 50
	}
	got, found := Beats(seconds(maxima), 1)
	if !found || math.Abs(got.Period-37_300) > 20 || got.Found != 24 {
		t.Errorf("%+v, want 24 beats of 37.3 s", got)
	}
}

// TestApart: two runs of numbers are apart if the gap between most of them is wider than the range
// of most of the first ones.
func TestApart(t *testing.T) {
	from := func(first, step float64) (all []float64) {
		for n := range 11 {
			all = append(all, first+step*float64(n))
		}
		return all
	}
	for _, test := range []struct {
		a, b []float64
		want bool
	}{
		{from(0, 1), from(30, 1), true},
		{from(30, 1), from(0, 1), true},
		{from(0, 1), from(17, 1), true},
		{from(0, 1), from(15, 1), false},
		{from(17, 1), from(0, 1), true},
		{from(15, 1), from(0, 1), false},
		{from(0, 1), from(5, 1), false},
		{append(from(0, 1), 100), from(30, 1), true}, // one of twelve is far away
	} {
		if got := apart(test.a, test.b); got != test.want {
			t.Errorf("%v and %v: %v", test.a, test.b, got)
		}
	}
}

// TestChanceOfFew: the bound of how likely it is that one of two halves has few values.
func TestChanceOfFew(t *testing.T) {
	for _, test := range []struct{ few, many, want float64 }{
		{0, 20, -20 * math.Ln2},
		{10, 10, 0},
		{5, 15, -(20*math.Ln2 + 5*math.Log(0.25) + 15*math.Log(0.75))},
	} {
		if got := chance(test.few, test.many); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%v and %v values: %v, want %v", test.few, test.many, got, test.want)
		}
	}
}
