// Package detect finds changes, rhythms, groups and coincidences in a run. [FindChange] gets a
// series: one figure, such as the logarithm of a percentile, for each of the equal parts of the
// run's time. It returns a change that chance does not explain.
//
// Neighbouring parts are correlated, so n parts have the information of n/T independent parts. As
// in package confidence, T is the autocorrelation time of the residuals of a model of the series.
package detect

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
)

// A Kind is a model of how the level of a series changes.
type Kind int

// Kinds of changes.
const (
	Constant Kind = iota
	Step          // the level changes once, for good
	Drift         // the level rises or falls during the whole run
	Decay         // the level is higher at the start, and falls to a constant
	Phases        // the level is higher for one or more spans
)

// A Span is the parts from From to To-1 of a run.
type Span struct{ From, To int }

// A Change says how the level of a series changes. Spans are ascending. The span of a step goes
// from the step to the end of the run, and the span of a decay from the start to the end of the
// decay. By is the level of the first span minus the level of the rest, and 0 for
// a drift.
type Change struct {
	Kind  Kind
	Spans []Span
	By    float64
}

const (
	// Parts is the approximate number of parts of a run. MinParts is the smallest number of parts
	// for [FindChange] and [Differs].
	Parts, MinParts = 150, 20
	// limit is the nominal probability of a change in a run without a change. It is exact only for
	// independent parts: a short run does not show how long its parts are correlated.
	// docs/statistics.md has the measured probabilities.
	limit = 0.00003
	// differLimit is the nominal probability with which [Differs] is wrong.
	differLimit = 0.01
	// minSide is the smallest number of parts before and after a step, and in a phase.
	minSide = 3
	// maxPhases is the largest number of phases. A run with more phases has a rhythm, or no level.
	maxPhases = 4
	// faded is the excess over the final level, as a share of this level, at which a decay ends.
	faded = 0.15
)

// A fit is a model that was fitted to a series.
type fit struct {
	Change
	residuals []float64
	squares   float64 // sum of the squares of residuals
	// parameters is the number of parameters of the model.
	parameters float64
	// gain is the sum of squares that the change explains, computed from medians, so that one
	// moment does not make a level. For several phases, it is the smallest gain of a phase.
	gain float64
}

func newFit(kind Kind, residuals []float64, parameters float64, spans ...Span) *fit {
	f := &fit{
		Change:     Change{Kind: kind, Spans: spans},
		residuals:  residuals,
		parameters: parameters,
	}
	for _, r := range residuals {
		f.squares += r * r
	}
	return f
}

// FindChange returns the model that describes a series best: the lowest information criterion (BIC)
// among the models that chance does not explain and that accept accepts. If there is none, it
// returns the zero Change. The numbers of the series are finite. Tries is the number of series in
// which the caller looks for changes.
func FindChange(y []float64, tries int, accept func(Change) bool) Change {
	if len(y) < MinParts {
		return Change{}
	}
	y = withoutMoments(y)
	constant := newFit(Constant, centred(y), 1)
	fits := slices.Concat(steps(y), []*fit{drift(y)}, bestFit(decays(y)), phases(y))
	time := confidence.Dependence(constant.residuals)
	for _, f := range fits {
		time = min(time, confidence.Dependence(f.residuals))
	}
	parts := float64(len(y)) / time
	score := func(f *fit) float64 {
		return parts*math.Log(f.squares+float64(len(y))*grain*grain) + f.parameters*math.Log(parts)
	}
	slices.SortStableFunc(fits, func(a, b *fit) int { return cmp.Compare(score(a), score(b)) })
	for _, f := range fits {
		if f.beyondChance(constant, tries) && accept(f.Change) {
			return f.Change
		}
	}
	return Change{}
}

// grain is the smallest standard deviation of a part, on logarithms. Figures are hardly more
// precise.
const grain = 0.01

// beyondChance reports whether the change explains more of the series than chance does, by
// Student's t with Bonferroni's correction.
func (f *fit) beyondChance(constant *fit, tries int) bool {
	gain := f.gain
	if f.Kind == Drift || f.Kind == Decay {
		gain = constant.squares - f.squares
	}
	parts, deviation := independent(f.residuals, f.parameters)
	t := math.Sqrt(max(gain, 0)) / deviation
	freedom := parts - f.parameters
	return freedom >= 1 && confidence.Tail(t, freedom)*f.places(parts)*float64(tries) < limit
}

// places returns the number of places where the change could be, given the number of independent
// parts.
func (f *fit) places(parts float64) float64 {
	switch f.Kind {
	case Drift:
		return 1
	case Phases:
		return parts * parts / 2
	default:
		return parts
	}
}

// independent returns the effective number of independent parts of residuals, and the standard
// deviation of the sum of n residuals divided by the square root of n.
func independent(residuals []float64, parameters float64) (parts, deviation float64) {
	n := float64(len(residuals))
	squares := 0.0
	for _, r := range residuals {
		squares += r * r
	}
	fine := n * grain * grain
	time := confidence.Dependence(residuals)
	time *= 1 + 4*time/n                            // the estimate is too small, as residuals add up to zero
	time = (squares*time + fine) / (squares + fine) // residuals below the grain are independent
	return n / time, math.Sqrt((squares + fine) / (n - parameters) * time)
}

// Differs reports whether the mean of a series is above zero, and chance does not explain that.
// Tries is the number of series that the caller tests.
func Differs(y []float64, tries int) bool {
	if len(y) < MinParts {
		return false
	}
	parts, deviation := independent(centred(y), 1)
	t := max(Mean(y), 0) * math.Sqrt(float64(len(y))) / deviation
	return parts >= 2 && confidence.Tail(t, parts-1)*float64(tries) < differLimit
}

// withoutMoments returns a series without outliers. A number far from the median of the five
// numbers around it moves closer to the median, so that one bad moment neither makes nor hides a
// change.
func withoutMoments(y []float64) []float64 {
	middle, distance := make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		from := min(max(i-2, 0), len(y)-5)
		middle[i] = Median(y[from : from+5])
		distance[i] = math.Abs(y[i] - middle[i])
	}
	most := maxDistance * max(Median(distance), grain)
	r := slices.Clone(y)
	for i := range r {
		r[i] = min(max(r[i], middle[i]-most), middle[i]+most)
	}
	return r
}

// maxDistance is the largest distance of a number from the median around it, divided by the median
// of all such distances. See withoutMoments.
const maxDistance = 6

// bestFit returns the fit with the smallest sum of squares, or no fit if there is none.
func bestFit(fits []*fit) []*fit {
	if len(fits) == 0 {
		return nil
	}
	return []*fit{slices.MinFunc(fits, func(a, b *fit) int { return cmp.Compare(a.squares, b.squares) })}
}

// steps fits a constant level before the step, and after it a constant level or a line, such as
// that of a queue that begins to grow.
func steps(y []float64) []*fit {
	before, after := squaresLeft(y), squaresLeft(reversed(y))
	least := leftSquares{math.Inf(1), math.Inf(1)}
	var atLevel, atTrend int
	for k := minSide; k <= len(y)-minSide; k++ {
		rest := len(y) - k
		if squares := before[k].level + after[rest].level; squares < least.level {
			least.level = squares
			atLevel = k
		}
		if squares := before[k].level + after[rest].trend; squares < least.trend {
			least.trend = squares
			atTrend = k
		}
	}
	level := newFit(Step, append(centred(y[:atLevel]), centred(y[atLevel:])...), 3, Span{atLevel, len(y)})
	trend := newFit(Step, append(centred(y[:atTrend]), lineResiduals(y[atTrend:])...), 4, Span{atTrend, len(y)})
	for _, f := range []*fit{level, trend} {
		at := float64(f.Spans[0].From)
		n := float64(len(y))
		difference := Median(y[f.Spans[0].From:]) - Median(y[:f.Spans[0].From])
		f.By = difference
		f.gain = difference * difference * at * (n - at) / n
	}
	if !apart(y[:atTrend], y[atTrend:]) {
		return []*fit{level}
	}
	return []*fit{level, trend}
}

// apart reports whether the gap between the ranges of a and b is wider than the range of a. A range
// goes from the quantile 0.1 to the quantile 0.9.
func apart(a, b []float64) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	low, high := func(x []float64) float64 { return x[len(x)/10] }, func(x []float64) float64 { return x[(len(x)-1)*9/10] }
	return max(low(b)-high(a), low(a)-high(b)) > high(a)-low(a)
}

// leftSquares has the sums of squared residuals of a constant level and of a line, fitted to some
// numbers.
type leftSquares struct{ level, trend float64 }

// squaresLeft returns the sums of squared residuals of the first n numbers, for each n.
func squaresLeft(y []float64) []leftSquares {
	all := make([]leftSquares, len(y)+1)
	var sx, sy, sxx, sxy, syy float64
	for i, v := range y {
		x := float64(i)
		sx += x
		sy += v
		sxx += x * x
		sxy += x * v
		syy += v * v
		n := float64(i + 1)
		level := syy - sy*sy/n
		trend := level
		if spread := sxx - sx*sx/n; spread > 0 {
			cross := sxy - sx*sy/n
			trend -= cross * cross / spread
		}
		all[i+1] = leftSquares{max(level, 0), max(trend, 0)}
	}
	return all
}

// lineResiduals returns the residuals of a line that is fitted to numbers.
func lineResiduals(y []float64) []float64 {
	middle := float64(len(y)-1) / 2
	r := centred(y)
	var xy, xx float64
	for i, v := range r {
		x := float64(i) - middle
		xy += x * v
		xx += x * x
	}
	for i := range r {
		r[i] -= xy / max(xx, 1) * (float64(i) - middle)
	}
	return r
}

func reversed(x []float64) []float64 {
	x = slices.Clone(x)
	slices.Reverse(x)
	return x
}

// drift fits a level that rises or falls linearly during the whole run. Numbers are logarithms. A
// golden-section search for the ratio of the last level to the first needs 16 fits. Trying each
// tenth of the logarithm needs 82 fits, which take 8% of the time of a table of one minute.
func drift(y []float64) *fit {
	toEnd := func(by float64) *fit {
		times := math.Exp(by)
		r := make([]float64, len(y))
		for i, v := range y {
			r[i] = v - math.Log1p((times-1)*(float64(i)+0.5)/float64(len(y)))
		}
		return newFit(Drift, centred(r), 2, Span{0, len(y)})
	}
	low, high := -math.Log(maxDrift), math.Log(maxDrift)
	less, more := high-golden*(high-low), low+golden*(high-low)
	falls, grows := toEnd(less), toEnd(more)
	for high-low > grain {
		if falls.squares < grows.squares {
			high = more
			more, grows = less, falls
			less = high - golden*(high-low)
			falls = toEnd(less)
		} else {
			low = less
			less, falls = more, grows
			more = low + golden*(high-low)
			grows = toEnd(more)
		}
	}
	return falls
}

// golden is the golden section.
const golden = 0.6180339887498949

// maxDrift is the largest ratio of the two levels at the ends of a drift.
const maxDrift = 50.0

// decays fits levels that begin higher and fall exponentially, one for each of many time constants.
// Numbers are logarithms.
func decays(y []float64) (all []*fit) {
	n := float64(len(y))
	usual := Median(y[len(y)/2:])
	levels := make([]float64, len(y))
	for i, v := range y {
		levels[i] = math.Exp(v - usual)
	}
	for time := 0.5; time < n; time *= 1.2 {
		// Fit the levels to a constant plus an exponential that falls by factor from part to part.
		factor := math.Exp(-1 / time)
		e := math.Sqrt(factor)
		var s1, s2, sx, sum float64
		for _, level := range levels {
			s1 += e
			s2 += e * e
			sx += e * level
			sum += level
			e *= factor
		}
		slope := (sx - s1*sum/n) / (s2 - s1*s1/n)
		height := slope / (sum - slope*s1) * n
		end := int(math.Ceil(time * math.Log(height/faded)))
		if !(height > faded) || end > len(y)*3/4 {
			continue
		}
		r := make([]float64, len(y))
		e = math.Sqrt(factor)
		for i, v := range y {
			r[i] = v - math.Log1p(height*e)
			e *= factor
		}
		f := newFit(Decay, centred(r), 3, Span{0, end})
		f.By = math.Log1p(height * math.Sqrt(factor))
		all = append(all, f)
	}
	return all
}

// phases fits a model with one phase, one with two phases and so on. Each has one phase more than
// the model before.
func phases(y []float64) (all []*fit) {
	in := make([]bool, len(y))
	var spans []Span
	for range maxPhases {
		span, found := highest(y, in)
		if !found {
			break
		}
		spans = append(spans, span)
		for i := span.From; i < span.To; i++ {
			in[i] = true
		}
		rest := outside(y, in)
		if 2*len(rest) < len(y) {
			break
		}
		usual := Mean(rest)
		r := make([]float64, len(y))
		for i, v := range y {
			r[i] = v - usual
		}
		for _, s := range spans {
			copy(r[s.From:s.To], centred(y[s.From:s.To]))
		}
		ordered := slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return a.From - b.From })
		f := newFit(Phases, r, float64(1+3*len(spans)), ordered...)
		f.gain = math.Inf(1)
		for n, s := range ordered {
			difference := Median(y[s.From:s.To]) - Median(rest)
			if n == 0 {
				f.By = difference
			}
			l, m := float64(s.To-s.From), float64(len(rest))
			f.gain = min(f.gain, difference*math.Abs(difference)*l*m/(l+m))
		}
		all = append(all, f)
	}
	return all
}

// highest returns the span outside of all phases that explains the most squares by being higher
// than the mean outside. It includes neither the first part nor the last part of the run. In says
// which parts lie in a phase.
func highest(y []float64, in []bool) (best Span, found bool) {
	rest := outside(y, in)
	usual := Mean(rest)
	most := 0.0
	for a := 1; a < len(y)-1; a++ {
		sum := 0.0
		for b := a; b < len(y)-1 && !in[b]; b++ {
			sum += y[b] - usual
			length := float64(b + 1 - a)
			gain := sum * sum / length * float64(len(rest)) / (float64(len(rest)) - length)
			if b-a+1 >= minSide && sum > 0 && gain > most {
				most = gain
				best = Span{a, b + 1}
				found = true
			}
		}
	}
	return best, found
}

// outside returns the numbers of the parts outside of all phases.
func outside(y []float64, in []bool) (rest []float64) {
	for i, v := range y {
		if !in[i] {
			rest = append(rest, v)
		}
	}
	return rest
}

// Mean returns the mean of numbers, NaN if there are none.
func Mean(x []float64) (m float64) {
	for _, v := range x {
		m += v
	}
	return m / float64(len(x))
}

// centred returns numbers minus their mean.
func centred(x []float64) []float64 {
	r := slices.Clone(x)
	m := Mean(x)
	for i := range r {
		r[i] -= m
	}
	return r
}

// Median returns the median of numbers, NaN if there are none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
