package confidence

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// scattered returns the times of a Poisson process, in whole intervals of 1, without neighbours:
// two events that follow each other are one.
func scattered(random *rand.Rand, events int, span float64) (times []float64) {
	var all []float64
	for range events {
		all = append(all, math.Floor(random.Float64()*span))
	}
	slices.Sort(all)
	for _, t := range all {
		if n := len(times); n == 0 || t > times[n-1]+1 {
			times = append(times, t)
		}
	}
	return times
}

// beating returns the times of beats with a jitter, of which some are missing. If next is set, a
// beat follows the one before.
func beating(random *rand.Rand, beats int, period, jitter, missing float64, next bool) (times []float64) {
	at := random.Float64() * period
	for range beats {
		t := at + jitter*period*random.NormFloat64()
		if next {
			at = t
		}
		at += period
		if random.Float64() >= missing {
			times = append(times, math.Floor(max(t, 0)))
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// TestRhythm measures both errors: of logs whose events are a Poisson process at most 1% have a
// rhythm, and beats with a jitter of a tenth of the period, a fifth of which are missing, are found
// in 90% with 24 events. Periods are right to 5%. The figures of bench/confidence.md take -runs
// 2000.
func TestRhythm(t *testing.T) {
	runs := cmp.Or(*manyRuns, 100)
	random := rand.New(rand.NewPCG(1, 2))
	for _, events := range []int{12, 24, 100, 300} {
		for _, span := range []float64{600, 3600} {
			found := 0
			for range runs {
				if _, ok := FindRhythm(scattered(random, events, span), 1, 1); ok {
					found++
				}
			}
			t.Logf("%d events in %v: %.2f%%", events, span, 100*float64(found)/float64(runs))
			if found > 1+runs/50 {
				t.Errorf("%d events of a Poisson process in %v: %d of %d have a rhythm", events, span, found, runs)
			}
		}
	}
	for _, cell := range []struct {
		beats  int
		period float64
	}{{15, 6}, {15, 37}, {30, 6}, {30, 12}, {30, 37}, {30, 120}, {97, 37}, {600, 6}} {
		for _, next := range []bool{false, true} {
			found, right := 0, 0
			for range runs {
				r, ok := FindRhythm(beating(random, cell.beats, cell.period, 0.1, 0.2, next), 1, 1)
				if ok {
					found++
				}
				if ok && math.Abs(r.Period/cell.period-1) < 0.05 {
					right++
				}
			}
			percent := 100 / float64(runs)
			t.Logf("%d beats of %v, next %v: %.1f%% found, %.1f%% right", cell.beats, cell.period, next, percent*float64(found), percent*float64(right))
			if least := map[bool]float64{false: 95, true: 85}[next]; cell.beats >= 30 && percent*float64(right) < least { // 100 and 94, but for chance
				t.Errorf("%d beats of %v: %d of %d found, %d of these right", cell.beats, cell.period, found, runs, right)
			}
		}
	}
}
