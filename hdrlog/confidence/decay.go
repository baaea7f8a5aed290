package confidence

import (
	"math"
	"slices"
)

const (
	// decayLimit is the probability with which the begin of a steady run seems to differ from its
	// second half, at one of the lengths that are looked at.
	decayLimit = 0.003
	// leastAgain is how many times as far away from the usual level the begin is as any later part,
	// behind the first third: what comes again is no warm-up.
	leastAgain = 1.5
	// leastHalves is the least number of independent parts of the second half.
	leastHalves = 3
	// decayed is the part of the level by which it still differs when a warm-up is over.
	decayed = 0.08
	// mostLevel is the largest logarithm of a level, as a part of the usual one.
	mostLevel = 3
	// mostDecay is the largest part of a run that is left out.
	mostDecay = 0.7
)

// decayEnd returns the index from which on numbers are those of the second half: where a warm-up
// that fades is over. The begin differs if its mean does from those of parts of the second half
// that are as long, by Student's t. So what neighbours have in common counts, whatever that is.
func decayEnd(x []float64) int {
	n := len(x)
	if n < 2*MinSteady || !begins(x) {
		return 0
	}
	usual := median(slices.Clone(x[n/2:]))
	var levels []float64
	for _, v := range x {
		levels = append(levels, math.Exp(min(v-usual, mostLevel)))
	}
	return fitEnd(levels)
}

// begins reports whether the begin of numbers differs from the second half.
func begins(x []float64) bool {
	n := len(x)
	for size := leastWarmup; size <= n/8; size *= 2 {
		means := meansOf(x[n/2:], size)
		mean := total(means) / float64(len(means))
		away := math.Abs(total(x[:size])/float64(size) - mean)
		again := 0.0
		for _, later := range meansOf(x[n/3:], size) {
			again = math.Max(again, math.Abs(later-mean))
		}
		spread := variance(means)
		for n := range means {
			means[n] -= mean
		}
		parts := float64(len(means)) / autocorrelationTime(means)
		if away < leastStep || away < leastAgain*again || parts < leastHalves {
			continue
		}
		// Parts that follow each other differ less than the begin does from them.
		deviation := math.Max(math.Sqrt(spread*parts/(parts-1)), leastStep/10)
		if Tail(away/(deviation*math.Sqrt(1+1/parts)), parts-1) <= decayLimit {
			return true
		}
	}
	return false
}

// meansOf returns the means of parts of a size.
func meansOf(x []float64, size int) (means []float64) {
	for at := 0; at+size <= len(x); at += size {
		means = append(means, total(x[at:at+size])/float64(size))
	}
	return means
}

// fitEnd returns where numbers that fade to a level have reached it: by the exponential that fits
// best, or the step, if that fits better.
func fitEnd(x []float64) int {
	n := len(x)
	end, least := 0, math.Inf(1)
	sum := 0.0
	squares := 0.0
	for _, v := range x {
		sum += v
		squares += v * v
	}
	before := 0.0
	for k := 1; k < n-MinSteady; k++ {
		before += x[k-1]
		after := sum - before
		if rest := squares - before*before/float64(k) - after*after/float64(n-k); rest < least && k <= n/2 {
			end, least = k, rest
		}
	}
	for tau := 1.0; tau <= float64(n)/2; tau *= 1.1 {
		// The regression of x on the exponential, whose powers fall by a factor.
		e, factor := 1.0, math.Exp(-1/tau)
		var s1, s2, sx float64
		for _, v := range x {
			s1 += e
			s2 += e * e
			sx += e * v
			e *= factor
		}
		slope := (sx - s1*sum/float64(n)) / (s2 - s1*s1/float64(n))
		rest := squares - sum*sum/float64(n) - slope*(sx-s1*sum/float64(n))
		if rest < least {
			least = rest
			end = int(math.Ceil(tau * math.Log(math.Max(math.Abs(slope)/decayed, 1))))
		}
	}
	return end
}
