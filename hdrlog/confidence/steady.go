package confidence

import "math"

// SteadyFrom returns the number of windows at the begin of a run that belong to its warm-up: the
// later one of those for the logarithm of the mean and for the rate. It returns false if there is
// no steady part in the first half.
//
// The rule is MSER-5. Of all parts that could be left out, it leaves out the one after which the
// mean of the rest is known best, in steps of five windows.
func SteadyFrom(windows []Window) (int, bool) {
	var means, rates []float64
	last := math.NaN()
	for _, w := range windows {
		rate := 0.0
		if w != nil {
			total, sum := w.Count(nil, nil)
			rate = float64(total)
			if s := w.Seconds(); s > 0 {
				rate /= s
			}
			if total > 0 && sum > 0 {
				last = math.Log(sum / float64(total))
			}
		}
		rates = append(rates, rate)
		means = append(means, last) // a window without values is as the one before
	}
	for i := len(means) - 2; i >= 0; i-- {
		if math.IsNaN(means[i]) {
			means[i] = means[i+1]
		}
	}
	a, okA := mser5(means)
	b, okB := mser5(rates)
	return max(a, b), okA && okB
}

// batch is the number of windows of a step of MSER-5.
const batch = 5

// warmer is how many standard errors the part left out must differ from the rest. MSER-5 alone
// leaves out half of a steady run with rare stalls.
const warmer = 7

// barely is the same for the last windows of the warm-up.
const barely = 2

// mser5 returns how many of the numbers to leave out, and false if that is more than half of them.
func mser5(x []float64) (int, bool) {
	batches := make([]float64, len(x)/batch)
	for b := range batches {
		batches[b] = total(x[b*batch:(b+1)*batch]) / batch
	}
	half := len(batches) / 2
	best := leastError(batches, half)
	steady := variance(batches[best:])
	if !differs(batches, best, steady, warmer) {
		best = 0
	}
	// Rare stalls can move the best part far beyond the warm-up. Keep what does not differ.
	warm := 0
	for warm < best && differs(batches[warm:], best-warm, steady, barely) {
		warm++
	}
	best = warm
	// If something changes after the half, no such part is steady.
	rest := batches[best:]
	if change := largestStep(rest, half-best); change > 0 {
		both := max(variance(rest[:change]), variance(rest[change:]))
		return best * batch, !differs(rest, change, both, warmer)
	}
	return best * batch, true
}

// largestStep returns the index from which on, compared with before, the mean differs most for the
// numbers of values on both sides. It is above least, or 0 if there is none.
func largestStep(x []float64, least int) int {
	sum, all := 0.0, total(x)
	best, largest := 0, 0.0
	for i, v := range x {
		sum += v
		before, after := float64(i+1), float64(len(x)-i-1)
		if i+1 <= least || after < batch {
			continue
		}
		step := sum/before - (all-sum)/after
		if size := before * after * step * step; size > largest {
			best, largest = i+1, size
		}
	}
	return best
}

// leastError returns the index up to most from which on the numbers have the smallest squared
// standard error, as if they were independent.
func leastError(x []float64, most int) int {
	best, least := 0, math.Inf(1)
	var n, mean, squares float64 // of the numbers from i on
	for i := len(x) - 1; i >= 0; i-- {
		n++
		away := x[i] - mean
		mean += away / n
		squares += away * (x[i] - mean)
		if error := squares / (n * n); i <= most && error <= least {
			best, least = i, error
		}
	}
	return best
}

// differs reports whether the mean of the first numbers differs from that of the rest by more than
// their variance explains: by so many standard errors.
func differs(x []float64, first int, variance, errors float64) bool {
	if first <= 0 || first >= len(x) {
		return false
	}
	d, n := float64(first), float64(len(x)-first)
	return math.Abs(total(x[:first])/d-total(x[first:])/n) > errors*math.Sqrt(variance*(1/d+1/n))
}

// variance estimates the variance of numbers that may be correlated: that of their sum, divided by
// their number.
func variance(x []float64) float64 {
	mean, residuals := total(x)/float64(len(x)), make([]float64, len(x))
	for i := range x {
		residuals[i] = x[i] - mean
	}
	deviation := longRunDeviation(residuals)
	return deviation * deviation / float64(len(x))
}
