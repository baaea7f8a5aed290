package confidence

import (
	"cmp"
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

// Unlike logs are slower than all others, by more than these vary.
type Unlike struct {
	// Logs are their indices, the slowest first, and Times how many times as high as the median of
	// the others their figures are, in the middle.
	Logs  []int
	Times float64
	// Share is the part of the time in which one of them is the highest.
	Share float64
}

// Outlier finds the logs, at most a quarter of all, whose figures are far above those of the
// others. Each of them, alone with these, is the highest in more parts of the time than chance lets
// one of equal logs be, whatever the distribution of their values. Levels are how high each log is
// in each part, NaN where it has nothing.
func Outlier(figures []float64, levels [][]float64) (u Unlike, ok bool) {
	var order []int // the highest figure first
	for n, f := range figures {
		if f > 0 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(figures[b], figures[a]) })
	for slow := max(len(order)/4, 1); slow > 0 && len(order)-slow >= LeastLogs-1; slow-- {
		if u, ok = unlike(figures, levels, order[:slow], order[slow:]); ok {
			return u, true
		}
	}
	return u, false
}

// unlike reports whether slow logs are outliers beside others. Both have the highest figure first.
func unlike(figures []float64, levels [][]float64, slow, others []int) (u Unlike, ok bool) {
	logarithms := func(logs []int) (all []float64) {
		for _, n := range logs {
			all = append(all, math.Log(figures[n]))
		}
		return all
	}
	usual := logarithms(others)
	spread := math.Sqrt(variance(usual))
	middle := median(usual)
	u.Logs = slow
	u.Times = math.Exp(median(logarithms(slow)) - middle)
	for _, n := range slow {
		away := math.Log(figures[n]) - middle
		logs := append([]int{n}, others...)
		hits, parts := highest(levels, logs, 1)
		chance := choices(len(slow)+len(others), len(slow)) * atLeast(parts, hits, 1/float64(len(logs)))
		if parts == 0 || chance > outlierLimit || math.Exp(away) < leastOutlier || away < leastApart*spread {
			return u, false
		}
	}
	hits, parts := highest(levels, slices.Concat(slow, others), len(slow))
	u.Share = float64(hits) / float64(parts)
	return u, parts > 0
}

// highest returns in how many parts of the time in which enough logs have something one of the
// first ones is the highest.
func highest(levels [][]float64, logs []int, first int) (hits, parts int) {
	for part := range levels[logs[0]] {
		top, known := -1, 0
		for n, log := range logs {
			if v := levels[log][part]; !math.IsNaN(v) {
				known++
				if top < 0 || v > levels[logs[top]][part] {
					top = n
				}
			}
		}
		if known < min(LeastLogs, len(logs)) {
			continue
		}
		parts++
		if top < first {
			hits++
		}
	}
	return hits, parts
}

// choices returns in how many ways so many of n things can be chosen.
func choices(n, some int) float64 {
	ways := 1.0
	for k := range some {
		ways *= float64(n-k) / float64(k+1)
	}
	return ways
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
