package confidence

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// cosines is the number of cosines that a variance is estimated from, and the degrees of freedom of
// that estimate. With more, intervals of correlated windows are too narrow. Nine batches of
// windows, which also have eight degrees of freedom, are easier to explain and wrong more often: of
// the intervals of p99, 93.8 and 92.0% are right in AR(1) 0.9, 77 and 71% in AR(1) 0.98 (2,000 runs
// of TestModels, the same for both).
const cosines = 8

// longRunDeviation estimates the standard deviation of the sum of residuals, which may be
// correlated. The largest residual counts once more than it occurs: what is rare may be more
// frequent than the run shows. Without that, 18% of the intervals of p99.9 are wrong in M/G/1 with
// Pareto service, with it 4% (TestModels).
func longRunDeviation(residuals []float64, waves [][cosines]float64) float64 {
	var sums [cosines]float64
	farthest := 0.0
	for i, residual := range residuals {
		if residual == 0 {
			continue
		}
		farthest = max(farthest, math.Abs(residual))
		wave := &waves[i]
		for j := range sums {
			sums[j] += float64(residual * wave[j])
		}
	}
	squares := 0.0
	for _, sum := range sums {
		squares += sum * sum
	}
	return math.Hypot(math.Sqrt(2*squares/cosines), farthest)
}

// longRunDeviation is [longRunDeviation] with the cosines of the run, which are the same each time.
func (r *Run) longRunDeviation(residuals []float64) float64 {
	if len(r.waves) != len(residuals) {
		r.waves = wavesOf(len(residuals))
	}
	return longRunDeviation(residuals, r.waves)
}

// wavesOf returns the cosines of n windows.
func wavesOf(n int) [][cosines]float64 {
	all := make([][cosines]float64, n)
	for i := range all {
		// cos(j a) = 2 cos(a) cos((j-1) a) - cos((j-2) a)
		one := math.Cos(math.Pi * (float64(i) + 0.5) / float64(n))
		before, cosine := 1.0, one
		for j := range all[i] {
			all[i][j] = cosine
			before, cosine = cosine, float64(2*one*cosine)-before
		}
	}
	return all
}

// Dependence returns the number of windows that tell as much as one independent window, at
// least 1. It adds up the autocorrelations in pairs until a pair is not positive. In a trend that
// is after half the residuals, and the time is quadratic.
func Dependence(residuals []float64) float64 {
	covariance := func(lag int) (sum float64) {
		for i := lag; i < len(residuals); i++ {
			sum += residuals[i] * residuals[i-lag]
		}
		return sum
	}
	variance := covariance(0)
	if variance == 0 {
		return 1
	}
	sum := 0.0
	for lag := 0; lag+1 < len(residuals); lag += 2 {
		pair := covariance(lag) + covariance(lag+1)
		if pair <= 0 {
			break
		}
		sum += pair
	}
	return max(2*sum/variance-1, 1)
}

// RatioTails returns how likely chance makes the ratio of two sums as high as it is, or as low, if
// the true ratio is a bound. The terms are those of windows that follow each other. Of few
// independent windows, what varies slowly is mostly unseen: a term of the square of their number is
// for that. It is 0.5 for both if there is nothing to tell.
func RatioTails(of, to []float64, bound float64) (above, below float64) {
	if total(of) == 0 {
		return 1, math.Exp(-bound * total(to)) // as of values that do not depend on each other
	}
	ratio, residuals := ratioOf(of, to)
	independent := float64(len(of)) / Dependence(residuals)
	deviation := longRunDeviation(residuals, wavesOf(len(residuals))) / total(of)
	deviation *= math.Sqrt(1 + cosines/independent*(1+2*cosines/independent))
	t := math.Log(ratio/bound) / deviation
	if math.IsNaN(t) {
		return 0.5, 0.5
	}
	tail := Tail(t, cosines) / 2
	if t > 0 {
		return tail, 1 - tail
	}
	return 1 - tail, tail
}

// Tail returns the probability that Student's t is at least t away from zero.
func Tail(t, freedom float64) float64 {
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+t*t))
}

// quantile returns how many standard errors an interval of Student's t goes to both sides: where
// Tail is what the level leaves.
func quantile(level, freedom float64) float64 {
	share := mathext.InvRegIncBeta(freedom/2, 0.5, 1-level/100)
	return math.Sqrt(freedom * (1 - share) / share)
}
