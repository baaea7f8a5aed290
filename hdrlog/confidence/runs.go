package confidence

import "math"

// A RunFigure is the figure of one of several runs.
type RunFigure struct {
	Value float64
	// Slot is the width of the value's slot in its histogram, divided by the value. It is 0 for an
	// exact value.
	Slot float64
	// Turn is the position of the run, from 1, among the runs of both sides, if the sides
	// alternated: a run before, a run after, a run before and so on. Otherwise it is 0.
	Turn int
}

// MinHistory is the smallest number of runs of one side from which [CompareRuns] estimates the
// variance of a single run of the other side.
const MinHistory = 6

// Comparable reports whether [CompareRuns] computes an interval for so many runs of each side.
func Comparable(before, after int) bool {
	return min(before, after) >= 2 || min(before, after) == 1 && max(before, after) >= MinHistory
}

// CompareRuns compares several runs with several others, by the figure of each run. The interval is
// Welch's on logarithms, at a level of confidence in percent. If one side has a single run,
// CompareRuns assumes that it varies as the runs of the other side do, and uses Student's t. If the
// sides alternated, with at least three runs each, CompareRuns removes a drift that all runs share:
// see [RunFigure.Turn]. There is no interval if the runs are not [Comparable], or if a figure is
// not above zero. The true figure can lie anywhere in its slot, which adds slot^2/12 to its
// variance. Otherwise, runs with the same slot would have no variance.
func CompareRuns(before, after []RunFigure, level float64) Comparison {
	c := unknown
	d := unpaired(before, after)
	if all := byTurns(before, after); all != nil && d.variance >= 0 {
		c.Paired = true
		d = withoutDrift(all, before[0].Turn%2 == 0)
	}
	change := math.Log(d.after / d.before)
	c.Before, c.After = d.before, d.after
	c.Ratio, c.deviation = d.after/d.before, math.Sqrt(d.variance)
	if c.deviation == 0 { // the runs of each side are copies
		c.Low = c.Ratio
		c.High = c.Ratio
		c.P = 0
		c.freedom = 1
		if change == 0 {
			c.P = 1
		}
	} else if c.deviation > 0 {
		c.freedom = d.freedom
		half := quantile(level, c.freedom) * c.deviation
		c.Low = math.Exp(change - half)
		c.High = math.Exp(change + half)
		c.P = Tail(change/c.deviation, c.freedom)
	}
	return c
}

// A difference has the geometric means of a figure before and after, the variance of the logarithm
// of their ratio, and the degrees of freedom of this variance. What cannot be computed is NaN.
type difference struct{ before, after, variance, freedom float64 }

// unpaired compares runs that are independent of the runs of the other side.
func unpaired(before, after []RunFigure) (d difference) {
	var va, vb float64
	d.before, va = geometricMean(before)
	d.after, vb = geometricMean(after)
	n, m := float64(len(before)), float64(len(after))
	switch {
	case min(n, m) > 1 || !Comparable(len(before), len(after)):
		d.freedom = (va + vb) * (va + vb) / (va*va/(n-1) + vb*vb/(m-1))
	case m == 1:
		vb = va * n
		d.freedom = n - 1
	default:
		va = vb * m
		d.freedom = m - 1
	}
	d.variance = va + vb
	return d
}

// byTurns returns the runs of both sides in the order of [RunFigure.Turn], or nil if the sides did
// not alternate.
func byTurns(before, after []RunFigure) []RunFigure {
	const least = 3
	n := len(before)
	if n != len(after) || n < least {
		return nil
	}
	all := make([]RunFigure, 2*n)
	for side, runs := range [][]RunFigure{before, after} {
		for _, f := range runs {
			odd := (before[0].Turn + side) % 2
			if f.Turn < 1 || f.Turn > len(all) || f.Turn%2 != odd || all[f.Turn-1].Turn != 0 {
				return nil
			}
			all[f.Turn-1] = f
		}
	}
	return all
}

// parabolaRuns is the smallest number of runs a side for which the drift is a parabola and not a
// line. With fewer runs, a parabola takes too many degrees of freedom: without a drift, 3 + 3 runs
// would find a change of +10% in 35% of cases instead of 48%.
const parabolaRuns = 5

// withoutDrift compares runs in the order of their turns. It removes a line or a parabola that the
// figures of all runs follow over time, such as when the host gets slower. If the drift has another
// shape, the rest raises the variance, so the interval is too wide rather than too narrow: in each
// model of TestTurns, at most 5% of equal sides differ.
func withoutDrift(all []RunFigure, afterFirst bool) (d difference) {
	n := len(all)
	logs := make([]float64, n)
	sides := make([]float64, n)
	mean := 0.0
	slots := 0.0
	for i, f := range all {
		logs[i] = math.Log(f.Value / all[0].Value) // relative, so that the mean of copies is exact
		mean += logs[i] / float64(n)
		slots += f.Slot * f.Slot / 12 / float64(n)
		sides[i] = 0.5
		if (i%2 == 0) != afterFirst {
			sides[i] = -0.5
		}
	}
	degree := 1
	if n >= 2*parabolaRuns {
		degree = 2
	}
	subtractTrend(logs, degree)
	subtractTrend(sides, degree)
	weight := dot(sides, sides)
	change := dot(sides, logs) / weight
	squares := 0.0
	for i := range logs {
		left := logs[i] - float64(change*sides[i])
		squares += left * left
	}
	d.freedom = float64(n - 2 - degree)
	d.variance = (squares/d.freedom + slots) / weight
	d.before = all[0].Value * math.Exp(mean-change/2)
	d.after = all[0].Value * math.Exp(mean+change/2)
	return d
}

// subtractTrend subtracts from terms the mean and a polynomial of a degree up to 2, by least
// squares.
func subtractTrend(terms []float64, degree int) {
	n := float64(len(terms))
	for power := range degree + 1 {
		curve := make([]float64, len(terms))
		for i := range curve {
			at := float64(i) - (n-1)/2
			curve[i] = [...]float64{1, at, at*at - (n*n-1)/12}[power]
		}
		by := dot(terms, curve) / dot(curve, curve)
		for i := range terms {
			terms[i] -= float64(by * curve[i])
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// geometricMean returns the geometric mean of figures, and the variance of its logarithm. Both are
// NaN if there are no figures, or if a figure is not above zero.
func geometricMean(x []RunFigure) (mean, variance float64) {
	if len(x) == 0 {
		return none, none
	}
	n := float64(len(x))
	logs := make([]float64, len(x)) // relative to the first figure, so that the mean of copies is exact
	sum := 0.0
	slots := 0.0
	for i, f := range x {
		if !(f.Value > 0) || math.IsInf(f.Value, 1) {
			return none, none
		}
		logs[i] = math.Log(f.Value / x[0].Value)
		sum += logs[i] / n
		slots += f.Slot * f.Slot / 12 / n
	}
	squares := 0.0
	for _, v := range logs {
		squares += (v - sum) * (v - sum)
	}
	return x[0].Value * math.Exp(sum), (squares/(n-1) + slots) / n
}
