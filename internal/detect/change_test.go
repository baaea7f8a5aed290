package detect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// steady returns parts whose level is AR(1) with a correlation and a deviation.
func steady(r *rand.Rand, n int, correlation, deviation float64) []float64 {
	y := make([]float64, n)
	last := r.NormFloat64()
	for i := range y {
		last = correlation*last + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
		y[i] = deviation * last
	}
	return y
}

// TestFind: each model is found where it is true, with its time, and steady parts have none, also
// if those that follow each other are alike. Moments neither hide what is there nor seem to be a
// level.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		correlation float64
		moments     float64 // share of parts that are far higher
		add         func(i int) float64
		want        Kind
		from, to    int // of the first span; a step ends with the parts
		about       int // by how many parts its ends may be beside
	}{
		{"steady", 0, 0, func(int) float64 { return 0 }, Constant, 0, 0, 0},
		{"steady, AR(1) 0.8", 0.8, 0, func(int) float64 { return 0 }, Constant, 0, 0, 0},
		{"moments", 0, 0.02, func(int) float64 { return 0 }, Constant, 0, 0, 0},
		{"a step", 0, 0, func(i int) float64 { return 0.2 * above(i >= 90) }, Step, 90, Parts, 4},
		{"a step among moments", 0, 0.02, func(i int) float64 { return 0.25 * above(i >= 90) }, Step, 90, Parts, 5},
		{"a step down, AR(1) 0.8", 0.8, 0, func(i int) float64 { return 0.8 * above(i < 50) }, Step, 50, Parts, 6},
		{"a drift", 0, 0, func(i int) float64 { return math.Log1p(2 * float64(i) / Parts) }, Drift, 0, Parts, 0},
		{"a queue", 0, 0, func(i int) float64 { return math.Log1p(5 * max(float64(i-75), 0)) }, Step, 75, Parts, 3},
		{"a begin that fades", 0, 0, func(i int) float64 { return math.Log1p(4 * math.Exp(-float64(i)/10)) }, Decay, 0, 32, 6},
		{"a phase", 0, 0, func(i int) float64 { return 0.8 * above(i >= 20 && i < 23) }, Phases, 20, 23, 0},
		{"a level for most of the time", 0, 0, func(i int) float64 { return 0.5 * above(i >= 20 && i < 140) }, Constant, 0, 0, 0},
		{"two phases", 0, 0, func(i int) float64 { return 0.5 * above(i >= 10 && i < 15 || i >= 30 && i < 36) }, Phases, 10, 15, 1},
	} {
		r := rand.New(rand.NewPCG(7, 7))
		right := 0
		const rounds = 200
		for range rounds {
			y := steady(r, Parts, test.correlation, 0.1)
			for i := range y {
				y[i] += test.add(i) + 3*above(r.Float64() < test.moments)
			}
			c := FindChange(y, 1, func(Change) bool { return true })
			switch {
			case c.Kind != test.want:
			case c.Kind == Constant:
				right++
			case (c.Kind == Decay || c.Kind == Phases) && math.Abs(c.By-test.add(c.Spans[0].From)) > 0.2:
			case abs(c.Spans[0].From-test.from) <= test.about && abs(c.Spans[0].To-test.to) <= test.about:
				right++
			}
		}
		if right < rounds*95/100 {
			t.Errorf("%s: %d of %d are right", test.name, right, rounds)
		}
	}
}

// TestChance: of steady parts, one of two thousand or fewer seem to change, and a change that is
// hardly beyond chance is found in most.
func TestChance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		step        float64
		least, most int // found of a thousand
	}{
		{"steady", 0, 0, 5},
		{"a step", 0.22, 500, 1000},
	} {
		r := rand.New(rand.NewPCG(9, 9))
		found := 0
		for range 1000 {
			y := steady(r, Parts, 0.6, 0.1)
			for i := range y {
				y[i] += test.step * above(i >= 60)
			}
			if FindChange(y, 1, func(Change) bool { return true }).Kind != Constant {
				found++
			}
		}
		if found < test.least || found > test.most {
			t.Errorf("%s: %d of 1000 change", test.name, found)
		}
	}
}

// TestChanceShort: of short runs whose parts depend on one another, few seem to change, though more
// than the nominal probability says: 2% of 20 parts with a correlation of 0.8.
func TestChanceShort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		correlation float64
		most        int // of 2000
	}{{0, 0}, {0.5, 9}, {0.8, 50}} {
		r := rand.New(rand.NewPCG(9, 9))
		found := 0
		for range 2000 {
			if FindChange(steady(r, MinParts, test.correlation, 0.1), 1, always).Kind != Constant {
				found++
			}
		}
		if found > test.most {
			t.Errorf("a correlation of %v: %d of 2000 change", test.correlation, found)
		}
	}
}

// TestFine: a change that is finer than figures are is none, however constant they are otherwise,
// and so few parts as there are show none.
func TestFine(t *testing.T) {
	for _, test := range []struct {
		parts int
		by    float64
		want  Kind
	}{
		{Parts, 0.001, Constant},
		{Parts, 0.1, Step},
		{20, 0.1, Step},
		{19, 0.1, Constant},
	} {
		y := make([]float64, test.parts)
		for i := range y {
			y[i] = test.by * above(2*i >= test.parts)
		}
		if got := FindChange(y, 1, func(Change) bool { return true }); got.Kind != test.want {
			t.Errorf("%d parts, by %v: %+v", test.parts, test.by, got)
		}
	}
}

// TestAccept: what the caller does not take gives way to the next model, and more series to look at
// make chance more likely.
func TestAccept(t *testing.T) {
	y := steady(rand.New(rand.NewPCG(2, 2)), Parts, 0, 0.1)
	for i := range y {
		y[i] += 0.3 * above(i >= 90)
	}
	if c := FindChange(y, 1, func(Change) bool { return true }); c.Kind != Step {
		t.Errorf("%+v, want a step", c)
	}
	if c := FindChange(y, 1, func(c Change) bool { return c.Kind == Phases }); c.Kind != Phases {
		t.Errorf("%+v, want phases", c)
	}
	for i := range y {
		y[i] -= 0.2 * above(i >= 90)
	}
	if c := FindChange(y, 1_000_000, func(Change) bool { return true }); c.Kind != Constant {
		t.Errorf("%+v of a million series", c)
	}
}

// TestDiffers: numbers around zero do not differ from it, but for one of a hundred runs, and higher
// ones do.
func TestDiffers(t *testing.T) {
	for mean, want := range map[float64][2]int{0: {0, 20}, 0.5: {900, 1000}, -0.5: {0, 0}} {
		r := rand.New(rand.NewPCG(6, 6))
		differ := 0
		for range 1000 {
			y := steady(r, 100, 0, 1)
			for i := range y {
				y[i] += mean
			}
			if Differs(y, 1) {
				differ++
			}
		}
		if differ < want[0] || differ > want[1] {
			t.Errorf("a mean of %v: %d of 1000 differ", mean, differ)
		}
	}
	if Differs(make([]float64, MinParts), 1) {
		t.Error("zeros differ from zero")
	}
}

func above(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func abs(n int) int { return max(n, -n) }

// seconds returns intervals of a second with some maxima.
func seconds(maxima []float64) (all []Interval) {
	for n, v := range maxima {
		all = append(all, Interval{Start: int64(n) * 1000, End: int64(n+1) * 1000, Count: 100, Max: v})
	}
	return all
}

// lognormal returns maxima of values without anything else.
func lognormal(r *rand.Rand, n int) []float64 {
	maxima := make([]float64, n)
	for i := range maxima {
		maxima[i] = math.Exp(0.25 * r.NormFloat64())
	}
	return maxima
}

// TestBeats: spikes at about even times have a rhythm, also if some are missing or small ones come
// between. Half of the period has none, and spikes at random neither.
func TestBeats(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		missing, small float64
		random         bool
		least          int // right, in percent
	}{
		{"beats", 0, 0, false, 95},
		{"beats, some are missing", 0.2, 0, false, 90},
		{"beats, and small spikes", 0, 1, false, 90},
		{"random", 0, 0, true, 98},
	} {
		r := rand.New(rand.NewPCG(5, 5))
		right := 0
		const rounds = 200
		for range rounds {
			maxima := lognormal(r, 900)
			period := 30 + 20*r.Float64()
			for at := period * r.Float64(); at < 900; at += period {
				time := at + period*(r.Float64()-0.5)/10
				if test.random {
					time = 900 * r.Float64()
				}
				if r.Float64() >= test.missing && time >= 0 && time < 900 {
					maxima[int(time)] = 20 * (1 + r.Float64())
				}
				if r.Float64() < test.small {
					maxima[r.IntN(900)] += 5
				}
			}
			rhythm, found := Beats(seconds(maxima), 1)
			if found == !test.random && (!found || math.Abs(rhythm.Period/1000/period-1) < 0.006) {
				right++
			}
		}
		if right < rounds*test.least/100 {
			t.Errorf("%s: %d of %d are right", test.name, right, rounds)
		}
	}
}

// TestBeatsBounded: however many spikes a log has, few are looked at. Twice as long a log takes no
// more spikes.
func TestBeatsBounded(t *testing.T) {
	for _, n := range []int{2000, 100_000} {
		maxima := make([]float64, n)
		for i := range maxima {
			maxima[i] = float64(1 + i%7%2 + 1000*(i%20/19))
		}
		if spikes, _ := spikesOf(seconds(maxima)); len(spikes) > maxSpikes {
			t.Errorf("%d intervals have %d spikes", n, len(spikes))
		}
	}
}

// TestBound: of maxima without anything else, the highest is above the bound in few cases. One that
// is ten times as high always is.
func TestBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	wrong := 0
	const rounds = 500
	for range rounds {
		maxima := lognormal(r, 600)
		slices.Sort(maxima)
		bound := Bound(maxima)
		highest := 0.0
		for _, v := range maxima {
			highest = max(highest, v)
		}
		if highest > bound {
			wrong++
		}
		if bound > 10 {
			t.Fatalf("a bound of %v", bound)
		}
	}
	if wrong > rounds/50 {
		t.Errorf("%d of %d logs have a moment", wrong, rounds)
	}
}

// TestNarrow: when maxima were higher is found to the interval, though only a part is known in
// which they were for a while.
func TestNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	maxima := lognormal(r, 600)
	for i := 207; i < 251; i++ {
		maxima[i] *= 4
	}
	for _, to := range []int64{252_000, 330_000} {
		h := Narrow(seconds(maxima), 204_000, to, 12_000)
		if abs(int(h.Start-207_000)) > 1000 || abs(int(h.End-251_000)) > 1000 || math.Abs(h.Times-4) > 0.8 || h.More < 30 {
			t.Errorf("to %d: %+v", to, h)
		}
	}
}
