package confidence

import (
	"cmp"
	"math"
	"slices"
)

// A Comparison is how a figure changed. What cannot be computed is not a number.
type Comparison struct {
	// Ratio is the figure after divided by the figure before. Low and High are the limits of its
	// interval: both, or none.
	Ratio, Low, High float64
	// P is 1 - level/100 for the level of confidence at which the interval would just touch 1,
	// which is no change. The smaller it is, the less the change looks like chance.
	P float64

	// deviation is the standard error of the logarithm of the ratio of several runs, and freedom
	// its degrees of freedom.
	deviation, freedom float64
}

var nothing = Comparison{none, none, none, none, none, none}

// Compare compares one run with another. The interval (MOVER, on logarithms) knows only what varies
// within the runs. Ratios with zero have no interval, nor has a figure that lacks a limit.
func Compare(before, after Estimate, level float64) Comparison {
	c := nothing
	if ratio := after.Value / before.Value; before.Value > 0 && after.Value > 0 && !math.IsInf(ratio, 1) {
		c.Ratio = ratio
	}
	if before.TooShort || after.TooShort || before.limits == nil || after.limits == nil || math.IsNaN(c.Ratio) {
		return c
	}
	change := math.Log(c.Ratio)
	// between returns the limits of the change that are t standard errors away.
	between := func(t float64) (low, high float64) {
		downBefore, upBefore := distances(before, t)
		downAfter, upAfter := distances(after, t)
		return change - math.Hypot(downAfter, upBefore), change + math.Hypot(upAfter, downBefore)
	}
	low, high := between(quantile(level, cosines))
	if math.IsNaN(low) || math.IsNaN(high) {
		return c
	}
	c.Low, c.High = math.Exp(low), math.Exp(high)
	// The interval grows with t. Search for the largest one that excludes 1, or has limits at all.
	excluded, included := 0.0, 1e6
	for range 60 {
		t := (excluded + included) / 2
		if low, high := between(t); low > 0 || high < 0 {
			excluded = t
		} else {
			included = t
		}
	}
	c.P = Tail(excluded, cosines)
	return c
}

// distances returns how far the limits of an estimate are away on a logarithmic scale.
func distances(e Estimate, t float64) (down, up float64) {
	low, high := e.limits(t)
	if low <= 0 {
		return none, none
	}
	return math.Log(e.Value / low), math.Log(high / e.Value)
}

// A RunFigure is the figure of one of several runs. Slot is the width of its slot as a part of the
// figure, 0 if the figure is exact.
type RunFigure struct{ Value, Slot float64 }

// CompareRuns compares several runs with several others, by the figure of each run. The interval is
// Welch's on logarithms. There is none if a side has fewer than two runs, or a figure that is not
// above zero. The true figure lies anywhere in its slot, which adds slot^2/12 to its variance:
// without that, runs that all have one slot are certain of a change to the next one.
func CompareRuns(before, after []RunFigure, level float64) Comparison {
	c := nothing
	a, va := logMean(before)
	b, vb := logMean(after)
	change := b - a
	c.Ratio, c.deviation = math.Exp(change), math.Sqrt(va+vb)
	if c.deviation == 0 { // as of runs that are copies
		c.Low, c.High, c.P, c.freedom = c.Ratio, c.Ratio, 0, 1
		if change == 0 {
			c.P = 1
		}
	} else if c.deviation > 0 {
		c.freedom = (va + vb) * (va + vb) / (va*va/float64(len(before)-1) + vb*vb/float64(len(after)-1))
		half := quantile(level, c.freedom) * c.deviation
		c.Low, c.High, c.P = math.Exp(change-half), math.Exp(change+half), Tail(change/c.deviation, c.freedom)
	}
	return c
}

// logMean returns the mean of the logarithms of figures, and the variance of that mean. They are
// not numbers if there is nothing to compute them from, or if a figure is not above zero.
func logMean(x []RunFigure) (mean, variance float64) {
	n, squares, slots := float64(len(x)), 0.0, 0.0
	for _, f := range x {
		if !(f.Value > 0) || math.IsInf(f.Value, 1) {
			return none, none
		}
		mean += math.Log(f.Value) / n
		slots += f.Slot * f.Slot / 12 / n
	}
	for _, f := range x {
		squares += (math.Log(f.Value) - mean) * (math.Log(f.Value) - mean)
	}
	if len(x) == 0 {
		mean = none
	}
	return mean, (squares/(n-1) + slots) / n
}

// Least returns the change, as a ratio above 1, that such runs find in four of five cases, where
// Holm corrects for so many comparisons. It is not a number if one run was compared with one.
func (c Comparison) Least(level float64, comparisons int) float64 {
	if math.IsNaN(c.deviation) {
		return none
	}
	t := quantile(100-(100-level)/float64(comparisons), c.freedom) + quantile(60, c.freedom)
	return math.Exp(t * c.deviation)
}

// Significant returns which of several comparisons are significant at a level of confidence, after
// Holm's correction: if nothing changed anywhere, even one of them is significant with a
// probability of at most 1 - level/100. Pass the P of all comparisons that are shown together. One
// that is not a number does not count.
func Significant(p []float64, level float64) []bool {
	significant := make([]bool, len(p))
	var order []int
	for n := range p {
		if !math.IsNaN(p[n]) {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	for n, at := range order {
		if p[at]*float64(len(order)-n) > 1-level/100 {
			break
		}
		significant[at] = true
	}
	return significant
}
