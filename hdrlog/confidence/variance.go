package confidence

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// cosines is the number of cosines that a variance is estimated from, and the degrees of freedom of
// that estimate. With more, intervals of correlated windows are too narrow.
const cosines = 8

// longRunDeviation estimates the standard deviation of the sum of residuals, which may be
// correlated. The largest residual counts once more than it occurs: what is rare may be more
// frequent than the run shows. Without that, 12% of intervals of p99 are wrong with a stall in 100
// seconds, with it 7% (go run ./believe in bench).
func longRunDeviation(residuals []float64) float64 {
	n := float64(len(residuals))
	var sums [cosines]float64
	farthest := 0.0
	for i, r := range residuals {
		if r == 0 {
			continue
		}
		farthest = max(farthest, math.Abs(r))
		// cos(j a) = 2 cos(a) cos((j-1) a) - cos((j-2) a)
		one := math.Cos(math.Pi * (float64(i) + 0.5) / n)
		before, cosine := 1.0, one
		for j := range sums {
			sums[j] += r * cosine
			before, cosine = cosine, 2*one*cosine-before
		}
	}
	squares := 0.0
	for _, sum := range sums {
		squares += sum * sum
	}
	return math.Hypot(math.Sqrt(2*squares/cosines), farthest)
}

// autocorrelationTime returns the number of windows that tell as much as one independent window, at
// least 1. It adds up the autocorrelations in pairs until a pair is not positive.
func autocorrelationTime(residuals []float64) float64 {
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

// quantile returns how many standard errors an interval of Student's t goes to both sides.
func quantile(level, freedom float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.5 + level/200)
}

// tail returns the probability that Student's t is at least t away from zero.
func tail(t, freedom float64) float64 {
	return 2 * distuv.StudentsT{Sigma: 1, Nu: freedom}.Survival(math.Abs(t))
}
