// Package detect finds changes in a run. It cuts the time of the run into equal parts, and looks at
// how a figure of the parts moves beyond chance.
//
// All of it has one idea of chance, that of package confidence: parts that follow each other are
// alike, so n of them tell as much as n/T independent ones. T is estimated from what a model of the
// parts leaves over.
package detect

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
)

// A Kind says how a level changes.
type Kind int

// The kinds.
const (
	Constant Kind = iota
	Step          // to another level, for good
	Drift         // all the time
	Decay         // the begin is higher, and fades
	Phases        // higher for a time, or several times
)

// A Span is the parts from one to before another.
type Span struct{ From, To int }

// A Change is how a level changes. The spans of phases are in order. A step begins with its span,
// and a decay ends with it. By is how far the level of the first span is from the rest.
type Change struct {
	Kind  Kind
	Spans []Span
	By    float64
}

const (
	// Parts is about the number of parts that the time of a run is cut into, and LeastParts the
	// least number that shows a change.
	Parts, LeastParts = 150, 20
	// limit is the nominal probability with which a run seems to change: that of independent parts.
	// Of parts that depend on one another it is more, since a short run does not tell how long they
	// do. Logs whose truth is known say how often a finding is wrong (docs/statistics.md).
	limit = 0.00003
	// differLimit is the nominal probability with which the mean of numbers seems to be above zero.
	differLimit = 0.01
	// leastSide is the least number of parts on a side of a step, and of a phase.
	leastSide = 3
	// mostPhases is the largest number of phases. A run with more has beats, or no level.
	mostPhases = 4
	// faded is the part of the level by which a begin is still higher when it counts as over.
	faded = 0.15
)

// A fit is a model of numbers, with what it leaves over.
type fit struct {
	Change
	residuals []float64
	squares   float64
	// parameters is the number of numbers that it was fitted with.
	parameters float64
	// gain is the least sum of squares by which a level differs from what is around it, by the
	// middle ones of its parts: one moment makes no level.
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

// Find returns which model describes numbers best, of those that are beyond chance and that accept
// takes: the one whose residuals are smallest for the parameters that it has. Numbers are finite.
// Tries is the number of series that the caller looks at.
func Find(y []float64, tries int, accept func(Change) bool) Change {
	if len(y) < LeastParts {
		return Change{}
	}
	y = withoutMoments(y)
	constant := newFit(Constant, centred(y), 1)
	fits := slices.Concat(steps(y), []*fit{drift(y)}, closest(decays(y)), phases(y))
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

// grain is the least deviation of a part: figures are hardly finer than that.
const grain = 0.01

// beyondChance reports whether a fit explains more of the numbers than it would of constant ones,
// by Student's t.
func (f *fit) beyondChance(constant *fit, tries int) bool {
	gain := f.gain
	if f.Kind == Drift || f.Kind == Decay {
		gain = constant.squares - f.squares
	}
	parts, error := independent(f.residuals, f.parameters)
	t := math.Sqrt(max(gain, 0)) / error
	freedom := parts - f.parameters
	return freedom >= 1 && confidence.Tail(t, freedom)*f.places(parts)*float64(tries) < limit
}

// places returns in how many places a fit could have been, of so many independent parts.
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

// independent returns the number of independent parts that residuals tell as much as, and the
// deviation of one of them.
func independent(residuals []float64, parameters float64) (parts, deviation float64) {
	n := float64(len(residuals))
	squares := 0.0
	for _, r := range residuals {
		squares += r * r
	}
	fine := n * grain * grain
	time := confidence.Dependence(residuals)
	time *= 1 + 4*time/n                            // residuals add up to zero, so it comes out too small
	time = (squares*time + fine) / (squares + fine) // residuals below the grain are independent
	return n / time, math.Sqrt((squares + fine) / (n - parameters) * time)
}

// Differs reports whether the mean of numbers is beyond chance above zero.
func Differs(y []float64, tries int) bool {
	if len(y) < LeastParts {
		return false
	}
	parts, deviation := independent(centred(y), 1)
	t := max(Mean(y), 0) * math.Sqrt(float64(len(y))) / deviation
	return parts >= 2 && confidence.Tail(t, parts-1)*float64(tries) < differLimit
}

// withoutMoments returns numbers without outliers: each one that is far from the median of the five
// around it moves closer. One moment is no level, and must not hide one.
func withoutMoments(y []float64) []float64 {
	middle, away := make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		from := min(max(i-2, 0), len(y)-5)
		middle[i] = Median(y[from : from+5])
		away[i] = math.Abs(y[i] - middle[i])
	}
	most := farAway * max(Median(away), grain)
	r := slices.Clone(y)
	for i := range r {
		r[i] = min(max(r[i], middle[i]-most), middle[i]+most)
	}
	return r
}

// farAway limits how far a number may be from the middle of those around it: so many times the
// median of all such distances.
const farAway = 6

// closest returns the fit with the smallest sum of squares, nothing if there is no fit.
func closest(fits []*fit) []*fit {
	if len(fits) == 0 {
		return nil
	}
	return []*fit{slices.MinFunc(fits, func(a, b *fit) int { return cmp.Compare(a.squares, b.squares) })}
}

// steps fits a level before and one after, and a trend on both sides, such as that of a queue that
// grows from a moment on.
func steps(y []float64) []*fit {
	before, after := squaresLeft(y), squaresLeft(reversed(y))
	least := left{math.Inf(1), math.Inf(1)}
	var atLevel, atTrend int
	for k := leastSide; k <= len(y)-leastSide; k++ {
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
	trend := newFit(Step, append(centred(y[:atTrend]), straight(y[atTrend:])...), 4, Span{atTrend, len(y)})
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

// apart reports whether the gap between most of a and most of b is wider than the range of most of
// a. Most are those between the first and the last tenth.
func apart(a, b []float64) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	low, high := func(x []float64) float64 { return x[len(x)/10] }, func(x []float64) float64 { return x[(len(x)-1)*9/10] }
	return max(low(b)-high(a), low(a)-high(b)) > high(a)-low(a)
}

// left is the sums of the squares that a level and a line leave of some numbers.
type left struct{ level, trend float64 }

// squaresLeft returns what levels and lines leave of the first n numbers, for each n.
func squaresLeft(y []float64) []left {
	all := make([]left, len(y)+1)
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
		all[i+1] = left{max(level, 0), max(trend, 0)}
	}
	return all
}

// straight returns what a line leaves of numbers.
func straight(y []float64) []float64 {
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

// drift fits a level that grows or falls all the time, to some times as high at the end. A search
// by golden section needs 16 fits. One fit at each tenth needs 82, which takes 8% of a minute's
// table.
func drift(y []float64) *fit {
	toEnd := func(by float64) *fit {
		times := math.Exp(by)
		r := make([]float64, len(y))
		for i, v := range y {
			r[i] = v - math.Log1p((times-1)*(float64(i)+0.5)/float64(len(y)))
		}
		return newFit(Drift, centred(r), 2, Span{0, len(y)})
	}
	low, high := -math.Log(mostDrift), math.Log(mostDrift)
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

// mostDrift is the largest ratio of the levels at the end and at the begin of a drift, or of begin
// to end.
const mostDrift = 50.0

// decays fits levels that begin higher and fade, some faster than others. Numbers are logarithms.
func decays(y []float64) (all []*fit) {
	n := float64(len(y))
	usual := Median(y[len(y)/2:])
	levels := make([]float64, len(y))
	for i, v := range y {
		levels[i] = math.Exp(v - usual)
	}
	for time := 0.5; time < n; time *= 1.2 {
		// The regression of levels on an exponential, whose values fall by a factor.
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

// phases fits one phase that is higher than the rest, two and so on.
func phases(y []float64) (all []*fit) {
	in := make([]bool, len(y))
	var spans []Span
	for range mostPhases {
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

// highest returns the span between the first part and the last one that is highest above what is in
// none.
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
			if b-a+1 >= leastSide && sum > 0 && gain > most {
				most = gain
				best = Span{a, b + 1}
				found = true
			}
		}
	}
	return best, found
}

// outside returns the numbers that are in no phase.
func outside(y []float64, in []bool) (rest []float64) {
	for i, v := range y {
		if !in[i] {
			rest = append(rest, v)
		}
	}
	return rest
}

// Mean returns the mean of numbers.
func Mean(x []float64) (m float64) {
	for _, v := range x {
		m += v
	}
	return m / float64(len(x))
}

// centred returns numbers without their mean.
func centred(x []float64) []float64 {
	r := slices.Clone(x)
	m := Mean(x)
	for i := range r {
		r[i] -= m
	}
	return r
}

// Median returns the middle of numbers: NaN if there are none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
