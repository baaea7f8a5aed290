package confidence

import (
	"math"
	"slices"
)

const (
	// MinSteady is the least number of windows that can tell where a warm-up ends.
	MinSteady = 20
	// leastWarmup is the least number of windows on both sides of the end of a warm-up.
	leastWarmup = 5
	// warmupLimit is that of the statistic. It is higher than shiftLimit, since several parts are
	// looked at. A warm-up that begins 50% higher and ends after a minute is found in 51% of runs
	// of AR(1) 0.5, and 1.3% of such steady runs seem unsteady.
	warmupLimit = 100
	// leastRate is the least rate, as a part of the mean, that has a logarithm.
	leastRate = 0.01
	// leastStep is the least change of the median, as a part of the level. Where load generators
	// keep their rate exactly, a change of nothing is significant.
	leastStep = 0.05
)

// A Load is how many values were recorded in a window, their sum, and its length in seconds. The
// zero value is a window without values.
type Load struct{ Count, Sum, Seconds float64 }

// SteadyFrom returns the number of windows at the begin of a run that belong to its warm-up: up to
// where the level of the mean (as a logarithm) or of the rate changes for the last time, by the
// statistic of [Run.Shift], or where a warm-up that fades is over. It returns false if that is in
// the second half, or a fading one takes most of the run, so that no part is steady. With fewer
// than [MinSteady] windows, it finds no warm-up.
func SteadyFrom(windows []Load) (int, bool) {
	var means, rates []float64
	last := math.NaN()
	for _, w := range windows {
		if w.Sum > 0 {
			last = math.Log(w.Sum / w.Count)
		}
		if w.Seconds > 0 {
			w.Count /= w.Seconds
		}
		rates = append(rates, w.Count)
		means = append(means, last) // a window without values is as the one before
	}
	for i := len(means) - 2; i >= 0; i-- {
		if math.IsNaN(means[i]) {
			means[i] = means[i+1]
		}
	}
	mean := total(rates) / float64(len(rates))
	for i := range rates {
		rates[i] /= mean
	}
	step := max(change(means), change(rates))
	for i := range rates {
		rates[i] = math.Log(max(rates[i], leastRate))
	}
	fade := max(decayEnd(means), decayEnd(rates))
	if 2*step > len(windows) {
		return step, false
	}
	most := int(mostDecay * float64(len(windows)))
	return max(step, min(fade, most)), fade <= len(windows)
}

// change returns the index from which on the level of numbers is another one for good, 0 if it is
// the same all the time.
func change(x []float64) int {
	if len(x) < MinSteady {
		return 0
	}
	mean := total(x) / float64(len(x))
	residuals := slices.Clone(x)
	for i := range residuals {
		residuals[i] -= mean
	}
	at, ok := levelChange(residuals, leastWarmup, warmupLimit)
	if !ok || math.Abs(median(slices.Clone(x[:at]))-median(slices.Clone(x[at:]))) < leastStep {
		return 0
	}
	return at
}

// median returns the median of numbers, and sorts them.
func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
