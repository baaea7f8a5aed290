package confidence

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// A Comparison is how a figure changed. What cannot be computed is not a number.
type Comparison struct {
	// Ratio is the figure after divided by the figure before. Low and High are the limits of its
	// interval: both, or none.
	Ratio, Low, High float64
	// P is 1 - level/100 for the level of confidence at which the interval would just touch 1,
	// which is no change. The smaller it is, the less the change looks like chance.
	P float64
}

// Compare compares one run with another. The interval (MOVER, on logarithms) knows only what varies
// within the runs. Ratios with zero have no interval, nor has a figure that lacks a limit.
func Compare(before, after Estimate, level float64) Comparison {
	c := Comparison{ratioOrNone(before.Value, after.Value), none, none, none}
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
	c.P = tail(excluded, cosines)
	return c
}

// ratioOrNone returns the ratio of two figures above zero.
func ratioOrNone(before, after float64) float64 {
	if ratio := after / before; before > 0 && after > 0 && !math.IsInf(ratio, 1) {
		return ratio
	}
	return none
}

// distances returns how far the limits of an estimate are away on a logarithmic scale.
func distances(e Estimate, t float64) (down, up float64) {
	low, high := e.limits(t)
	if low <= 0 {
		return none, none
	}
	return math.Log(e.Value / low), math.Log(high / e.Value)
}

// CompareRuns compares several runs with several others, by the figure of each run. The interval is
// Welch's on logarithms. Least is the least change, as a ratio above 1, that such runs would have
// shown: a change half a width away from 1. It is not a number if a side has fewer than two runs,
// or a figure that is not above zero.
func CompareRuns(before, after []float64, level float64) (c Comparison, least float64) {
	c = Comparison{none, none, none, none}
	a, b := logarithms(before), logarithms(after)
	if len(a) == 0 || len(b) == 0 {
		return c, none
	}
	change := stat.Mean(b, nil) - stat.Mean(a, nil)
	c.Ratio = math.Exp(change)
	if len(a) < 2 || len(b) < 2 {
		return c, none
	}
	va, vb := stat.Variance(a, nil)/float64(len(a)), stat.Variance(b, nil)/float64(len(b))
	deviation := math.Sqrt(va + vb)
	if deviation == 0 { // as of runs that are copies
		c.Low, c.High = c.Ratio, c.Ratio
		if c.P = 0; change == 0 {
			c.P = 1
		}
		return c, 1
	}
	freedom := (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	half := quantile(level, freedom) * deviation
	c.Low, c.High, c.P = math.Exp(change-half), math.Exp(change+half), tail(change/deviation, freedom)
	return c, math.Exp(half)
}

// logarithms returns the logarithms of numbers, or nil if one of them is not above zero.
func logarithms(x []float64) []float64 {
	var logs []float64
	for _, v := range x {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil
		}
		logs = append(logs, math.Log(v))
	}
	return logs
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
