package confidence

import (
	"math"
	"slices"
)

const (
	// LeastLogs is the least number of logs among which one can be an outlier.
	LeastLogs = 5
	// outlierLimit bounds the probability with which one of equal logs seems to be an outlier.
	outlierLimit = 0.005
	// leastOutlier is how many times as high as the median of the others an outlier is, and
	// leastApart by how many deviations of the others.
	leastOutlier, leastApart = 1.3, 4
)

// An Unlike log is one that is slower than all others, by more than these vary.
type Unlike struct {
	// Log is its index, and Times how many times as high as the median of the others its figure is.
	Log   int
	Times float64
	// Share is the part of the time in which it is the highest.
	Share float64
}

// Outlier finds the log whose figure is far above those of the others, and that is the highest one
// in more parts of the time than chance lets one of equal logs be, whatever the distribution of
// their values. Levels are how high each log is in each part, NaN where it has nothing.
func Outlier(figures []float64, levels [][]float64) (u Unlike, ok bool) {
	if len(figures) < LeastLogs {
		return u, false
	}
	for n, f := range figures {
		if f > figures[u.Log] {
			u.Log = n
		}
	}
	others := make([]float64, 0, len(figures))
	for n, f := range figures {
		if n != u.Log && f > 0 {
			others = append(others, math.Log(f))
		}
	}
	if len(others) < LeastLogs-1 {
		return u, false
	}
	middle := median(others)
	spread := math.Sqrt(variance(others))
	away := math.Log(figures[u.Log]) - middle
	u.Times = math.Exp(away)
	parts, highest := 0, 0
	for part := range levels[u.Log] {
		top, known := -1, 0
		for n := range levels {
			if v := levels[n][part]; !math.IsNaN(v) {
				known++
				if top < 0 || v > levels[top][part] {
					top = n
				}
			}
		}
		if known < LeastLogs {
			continue
		}
		parts++
		if top == u.Log {
			highest++
		}
	}
	if parts == 0 {
		return u, false
	}
	u.Share = float64(highest) / float64(parts)
	logs := float64(len(figures))
	chance := logs * atLeast(parts, highest, 1/logs)
	return u, chance <= outlierLimit && u.Times >= leastOutlier && away >= leastApart*spread
}

// variance returns the variance of numbers.
func variance(x []float64) (v float64) {
	mean := total(x) / float64(len(x))
	for _, x := range x {
		v += (x - mean) * (x - mean)
	}
	return v / float64(len(x)-1)
}

// atLeast returns the probability of at least so many of n independent events that have a
// probability each.
func atLeast(n, least int, each float64) (p float64) {
	for k := least; k <= n; k++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		p += math.Exp(a - b - c + float64(k)*math.Log(each) + float64(n-k)*math.Log1p(-each))
	}
	return p
}

// Parts divides the times of values into parts of equal length, and returns the mean of the
// logarithms of those in each part, NaN where there are none. Times are in order, from 0 to span.
func Parts(times, values []float64, span float64, parts int) []float64 {
	sums, counts := make([]float64, parts), make([]float64, parts)
	for n, t := range times {
		if values[n] > 0 {
			part := min(int(t/span*float64(parts)), parts-1)
			sums[part] += math.Log(values[n])
			counts[part]++
		}
	}
	for n := range sums {
		sums[n] /= counts[n]
	}
	return slices.Clip(sums)
}
