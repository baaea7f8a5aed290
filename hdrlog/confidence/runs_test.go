package confidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog/internal/logtest"
)

// A host has a level that runs follow in the course of time, beside their own noise.
type host struct {
	name  string
	level func(r *rand.Rand, runs int) func() float64
	noise float64
	least [2]float64 // percent of +10% that 3 + 3 runs in turns find, and of +5% that 5 + 5 do
}

var hosts = []host{
	{"none", wandering(0, 0), 0.04, [2]float64{45, 32}},
	{"AR(1) 0.8, 0.035", wandering(0.8, 0.035), 0.02, [2]float64{75, 62}},
	{"AR(1) 0.95, 0.06", wandering(0.95, 0.06), 0.02, [2]float64{78, 67}},
	{"AR(1) 0.95, 0.06", wandering(0.95, 0.06), 0.01, [2]float64{94, 92}},
	{"up by 10%", rising, 0.02, [2]float64{90, 83}},
	{"a step of 10%", stepping, 0.02, [2]float64{36, 42}},
	{"a day of 10%", waving, 0.02, [2]float64{80, 68}},
}

func wandering(correlation, deviation float64) func(*rand.Rand, int) func() float64 {
	return func(r *rand.Rand, _ int) func() float64 { return level(r, correlation, deviation) }
}

func rising(_ *rand.Rand, runs int) func() float64 {
	now := 0.0
	return func() float64 {
		now += 0.1 / float64(runs)
		return now
	}
}

func stepping(r *rand.Rand, runs int) func() float64 {
	at := 1 + r.IntN(runs-1)
	return func() float64 {
		at--
		if at < 0 {
			return 0.1
		}
		return 0
	}
}

// waving is a day of twelve runs that begins at any time.
func waving(r *rand.Rand, _ int) func() float64 {
	at := 2 * math.Pi * r.Float64()
	return func() float64 {
		at += 2 * math.Pi / 12
		return 0.05 * math.Sin(at)
	}
}

// runs returns runs of two sides, before, after, before, after.
func (d *host) runs(r *rand.Rand, side int) (before, after []RunFigure) {
	next := d.level(r, 2*side)
	for turn := 1; turn <= 2*side; turn++ {
		f := RunFigure{Value: math.Exp(next() + d.noise*r.NormFloat64()), Turn: turn}
		if turn%2 == 1 {
			before = append(before, f)
		} else {
			after = append(after, f)
		}
	}
	return before, after
}

// scaled returns figures times a factor. They have no turns if these do not count.
func scaled(figures []RunFigure, factor float64, turns bool) (all []RunFigure) {
	for _, f := range figures {
		f.Value *= factor
		if !turns {
			f.Turn = 0
		}
		all = append(all, f)
	}
	return all
}

// firstOf returns the first half of runs that took turns, and the second half.
func firstOf(before, after []RunFigure) (first, second []RunFigure) {
	all := slices.Concat(before, after)
	slices.SortFunc(all, func(a, b RunFigure) int { return a.Turn - b.Turn })
	return all[:len(before)], all[len(before):]
}

// TestTurns compares sides that took turns on a host that drifts, the same without their turns, and
// sides one of which ran first.
func TestTurns(t *testing.T) {
	t.Parallel()
	pairs := logtest.Rounds(2000)
	if *manyRuns > 0 {
		pairs = *manyRuns
		fmt.Println("| drift | noise | runs a side | in turns: equal | +5% | +10% | as Welch: equal | +5% | +10% | one side first: equal |\n" +
			"| --- | --: |" + strings.Repeat(" --: |", 8))
	}
	for n, d := range hosts {
		for _, side := range []int{3, 5, 8} {
			var differ [2][3]int // in turns and without
			first := 0
			for pair := range pairs {
				r := rand.New(rand.NewPCG(4600+*seed+uint64(100*n+side), uint64(pair)))
				before, after := d.runs(r, side)
				if a, b := firstOf(before, after); CompareRuns(a, b, 95).P < 0.05 {
					first++
				}
				for k, turns := range []bool{true, false} {
					for i, factor := range []float64{1, 1.05, 1.1} {
						if CompareRuns(scaled(before, 1, turns), scaled(after, factor, turns), 95).P < 0.05 {
							differ[k][i]++
						}
					}
				}
			}
			in, out := &differ[0], &differ[1]
			if *manyRuns > 0 {
				fmt.Printf("| %s | %.0f%% | %d |", d.name, 100*d.noise, side)
				for _, found := range append(in[:], out[:]...) {
					fmt.Printf(" %s |", share(found, pairs))
				}
				fmt.Printf(" %s |\n", share(first, pairs))
			}
			percent := func(n int) float64 { return 100 * float64(n) / float64(pairs) }
			least := map[int]float64{3: percent(in[2]) - d.least[0], 5: percent(in[1]) - d.least[1]}[side]
			if chance := 150 / math.Sqrt(float64(pairs)); least < -chance || percent(in[0]) > 5.5+chance/2 {
				t.Errorf("%s, %d + %d: of %d sides, %d equal ones differ, and +5%%, +10%% is found in %d, %d",
					d.name, side, side, pairs, in[0], in[1], in[2])
			}
		}
	}
}

// TestInTurns: the change between sides that took turns is that without the drift, whichever side
// began.
func TestInTurns(t *testing.T) {
	const change, perRun = 1.1, 1.05
	for first, ratio := range []float64{change, 1 / change} {
		var sides [2][]RunFigure
		value := 100.0
		for n := range 8 {
			by := 1.0
			if n%2 == 1 {
				by = change
			}
			noise := 1 + 0.001*float64(n*n%5)
			sides[n%2] = append(sides[n%2], RunFigure{Value: value * by * noise, Turn: n + 1})
			value *= perRun
		}
		c := CompareRuns(sides[first], sides[1-first], 95)
		if !c.Paired || math.Abs(c.Ratio/ratio-1) > 0.002 || !(c.Low < ratio && ratio < c.High) || c.High/c.Low > 1.01 {
			t.Errorf("%+v, want a ratio of %v", c, ratio)
		}
		if math.Abs(c.After/c.Before/c.Ratio-1) > 1e-12 {
			t.Errorf("%v to %v has the ratio %v", c.Before, c.After, c.Ratio)
		}
	}
}

// TestNoTurns: turns count only if each run has one, and sides alternate.
func TestNoTurns(t *testing.T) {
	for _, turns := range [][2][]int{
		{{0, 0, 0}, {0, 0, 0}},
		{{1, 2, 3}, {4, 5, 6}},
		{{1, 3, 5}, {2, 4, 4}},
		{{1, 3, 5}, {2, 4, 8}},
		{{1, 3, 5}, {2, 4, 0}},
		{{1, 3, 6}, {2, 4, 5}},
		{{1, 3}, {2, 4}},
		{{1, 3, 5, 7}, {2, 4, 6}},
	} {
		var sides [2][]RunFigure
		for side := range sides {
			for n, turn := range turns[side] {
				sides[side] = append(sides[side], RunFigure{Value: 10 + float64(n), Turn: turn})
			}
		}
		if c := CompareRuns(sides[0], sides[1], 95); c.Paired {
			t.Errorf("%v are in turns", turns)
		}
	}
	copies := []RunFigure{{Value: 3, Turn: 1}, {Value: 3, Turn: 3}, {Value: 3, Turn: 5}}
	others := []RunFigure{{Value: 3, Turn: 2}, {Value: 3, Turn: 4}, {Value: 3, Turn: 6}}
	if c := CompareRuns(copies, others, 95); c.P != 1 || c.Ratio != 1 || c.Low != 1 {
		t.Errorf("copies give %+v", c)
	}
}
