package confidence

import "slices"

const (
	// shiftLimit is what the statistic of steady runs exceeds in one run of a hundred. (Shao and
	// Zhang 2010 have 68.6 for an endless run; 100 and 600 independent windows have 70.)
	shiftLimit = 70
	// leastSide is the least part of the windows on each side of a shift.
	leastSide = 0.1
	// leastTimes is how many times as many values must be above the percentile on one side as on
	// the other one. Smaller shifts can be significant, and nobody would see them.
	leastTimes = 1.5
)

// levelChange finds out whether the level of numbers changes for good, and returns the first number
// of the new level. At least so many numbers are on each side, and the statistic is above a limit.
//
// The statistic is that of Shao and Zhang 2010. With S_k the sum of the first k residuals, it is
// the largest value of
//
//	n S_k^2 / (sum_{t<=k} (S_t - t/k S_k)^2 + the same of the others, from the last one back)
//
// over all k. The denominator grows with how much neighbouring windows have in common, so nothing
// needs to be estimated. The change is where S_k is farthest away from zero, for its place.
func levelChange(residuals []float64, side int, limit float64) (at int, ok bool) {
	n := len(residuals)
	sums, before := spreads(residuals)
	slices.Reverse(residuals)
	_, after := spreads(residuals)
	slices.Reverse(residuals)
	largest, farthest := 0.0, 0.0
	for k := side; k <= n-side; k++ {
		square := sums[k-1] * sums[k-1]
		if square > 0 {
			largest = max(largest, float64(n)*square/max(before[k-1]+after[n-k-1], 0))
		}
		if far := square / (float64(k) * float64(n-k)); far > farthest {
			at, farthest = k, far
		}
	}
	return at, largest > limit
}

// spreads returns the sums S_k of the first k numbers, and the sums of (S_t - t/k S_k)^2 for t up
// to k.
func spreads(x []float64) (sums, spreads []float64) {
	var sum, squares, weighted, weights float64
	for i, v := range x {
		t := float64(i + 1)
		sum += v
		squares = squares + sum*sum
		weighted = weighted + t*sum
		weights = weights + t*t
		slope := sum / t
		sums, spreads = append(sums, sum), append(spreads, squares-2*slope*weighted+slope*slope*weights)
	}
	return sums, spreads
}

// Shift finds out whether the level of a percentile shifts for good, and returns the first window
// of the new level. It returns false if there is no such window, or if the run is too short to
// tell.
func (r *Run) Shift(percentile float64) (window int, ok bool) {
	n := len(r.windows)
	if n < MinWindows || r.total == 0 {
		return 0, false
	}
	_, at := r.rank(percentile)
	r.look([]int{at})
	_, residuals := ratioOf(r.seen[at], r.counts)
	if window, ok = levelChange(residuals, int(leastSide*float64(n)), shiftLimit); !ok {
		return 0, false
	}
	// Without the shift, are there independent windows on both sides?
	var above [2]float64
	for side, span := range [][2]int{{0, window}, {window, n}} {
		seen, counts := r.seen[at][span[0]:span[1]], r.counts[span[0]:span[1]]
		share, part := ratioOf(seen, counts)
		above[side] = 1 - share
		if float64(len(part))/autocorrelationTime(part) < MinIndependent {
			return 0, false
		}
	}
	times := above[1] / above[0]
	return window, max(times, 1/times) >= leastTimes
}
