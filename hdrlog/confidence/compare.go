package confidence

import (
	"math"
	"slices"
)

// Limits below which two runs are not compared.
const (
	// MinSeconds is the length of the shorter one: a minute, of which logs often lack a little.
	MinSeconds  = 57
	leastParts  = 5
	mostParts   = 20
	partWindows = 4 // independent windows of a part
)

// A Comparison is how a figure changed. What cannot be computed is not a number.
type Comparison struct {
	// Ratio is the figure after divided by the figure before. Low and High are the limits of its
	// interval: both, or none. Low is 0 and High infinite where any change is possible.
	Ratio, Low, High float64
	// P is 1 - level/100 for the level of confidence at which the interval would just touch 1,
	// which is no change. The smaller it is, the less the change looks like chance.
	P float64
	// Seconds is the length of the shorter one of two runs, 0 for several runs a side.
	Seconds float64
	// Paired is set if what both sides share cancels: two runs ran at the same time, and are
	// compared window by window, or several runs took turns, and a drift is taken out.
	Paired bool
	// Untimed is set if values have no times: the interval is right if they do not depend on each
	// other.
	Untimed bool
	// Before and After are the figures that Ratio compares. Those of several runs are geometric
	// means, without the drift of runs that took turns.
	Before, After float64

	// deviation is the standard error of the logarithm of the ratio, and freedom its degrees of
	// freedom.
	deviation, freedom float64
}

var nothing = Comparison{
	Ratio:     none,
	Low:       none,
	High:      none,
	P:         none,
	Before:    none,
	After:     none,
	deviation: none,
	freedom:   none,
}

// Compare compares one run with another, each cut into parts of equal time: see the package
// comment. The interval knows only what varies within the runs. Ratios with zero have no interval.
// Of two runs without windows it compares independent values.
func Compare(before, after Estimate, level float64) Comparison {
	c := nothing
	c.Before, c.After = before.Value, after.Value
	if ratio := after.Value / before.Value; before.Value > 0 && after.Value > 0 && !math.IsInf(ratio, 1) {
		c.Ratio = ratio
	}
	if before.run == nil || after.run == nil || math.IsNaN(c.Ratio) {
		return c
	}
	s := bothOf(before, after)
	if len(before.run.windows)+len(after.run.windows) == 0 {
		c.Untimed = true
		if min(before.beyond, after.beyond) >= MinBeyond {
			c.setInterval(level, s.testValues)
		}
		return c
	}
	c.Seconds = min(before.run.length(), after.run.length())
	c.Paired = s.paired
	if s.isPartial() {
		c.Ratio = s.ratio(c.Ratio)
	}
	independent := min(before.Independent, after.Independent)
	if s.paired {
		independent = s.independent(c.Ratio)
	}
	k := int(min(max(independent/partWindows, leastParts), mostParts))
	filled := min(before.run.filledParts(s.before, k), after.run.filledParts(s.after, k))
	if c.Seconds < MinSeconds || min(before.beyond, after.beyond) < MinBeyond || filled < leastParts {
		return c
	}
	c.setInterval(level, func(bound float64) (p, freedom float64) {
		a, b := s.parts(k, bound)
		compare := welch
		if s.paired {
			compare = pairs
		}
		t, freedom := compare(a, b, independent)
		return Tail(t, freedom), freedom
	})
	return c
}

// setInterval gives the comparison the ratios that a test does not reject. A test returns how
// likely chance is as an explanation, if the true ratio is a bound.
func (c *Comparison) setInterval(level float64, test func(bound float64) (p, freedom float64)) {
	// turn returns the farthest ratio up or down that chance explains, as a logarithm from Ratio.
	turn := func(sign float64) float64 {
		explains := func(by float64) bool { p, _ := test(c.Ratio * math.Exp(sign*by)); return p > 1-level/100 }
		in, out := 0.0, 0.01
		for explains(out) {
			if in, out = out, 2*out; out > 12 {
				return math.Inf(1)
			}
		}
		for range 25 {
			if middle := (in + out) / 2; explains(middle) {
				in = middle
			} else {
				out = middle
			}
		}
		return in
	}
	down, up := turn(-1), turn(1)
	if width := min(down, up); !math.IsInf(width, 1) {
		c.Low, c.High = c.Ratio*math.Exp(-down), c.Ratio*math.Exp(up)
		c.P, _ = test(1)
		_, c.freedom = test(c.Ratio)
		if !math.IsInf(down+up, 1) {
			width = (down + up) / 2
		}
		c.deviation = width / quantile(level, c.freedom)
	}
}

// Versions returns what one run each says about two versions, whose runs vary by noise: the
// standard deviation of the logarithm of the figure from run to run. The interval of [Compare]
// knows only these two runs. A limit looks at one side, so each side has the probability of
// versionTail.
func (c Comparison) Versions(noise float64) Comparison {
	between := versionTail * math.Sqrt2 * noise
	down, up := math.Log(c.Ratio/c.Low), math.Log(c.High/c.Ratio)
	c.Low = c.Ratio * math.Exp(-math.Hypot(down, between))
	c.High = c.Ratio * math.Exp(math.Hypot(up, between))
	return c
}

// Calm reports whether less varies within two runs than between runs of one version.
func (c Comparison) Calm(noise float64) bool {
	return max(c.Ratio/c.Low, c.High/c.Ratio) <= math.Exp(versionTail*math.Sqrt2*noise)
}

// ShownBetween returns about the least change, as a part, that one run each shows of versions whose
// runs vary by noise.
func ShownBetween(noise float64) float64 { return 1.96 * math.Sqrt2 * noise }

// versionTail is the quantile of the normal distribution that 4% exceed. Of equal versions that
// vary by 4%, a limit of +2% then fails in 1.7%, and +25% is found in 96% (TestVersions).
const versionTail = 1.75

// mostFreedom stands for as many degrees of freedom as anybody needs.
const mostFreedom = 1000

// testValues compares the shares of values above the percentile of both sides, if the true ratio is
// a bound. The values do not depend on each other, so their number above it is binomial.
func (s *both) testValues(bound float64) (p, freedom float64) {
	before, after := s.parts(1, bound)
	a, b := before[0], after[0]
	variance := 0.0
	for _, side := range []part{a, b} {
		share := side.above / side.all
		variance += share * (1 - share) / side.all
	}
	t := (b.above/b.all - a.above/a.all) / math.Sqrt(max(variance, leastVariance))
	freedom = min(a.all+b.all-2, mostFreedom)
	return Tail(t, freedom), freedom
}

// A part is how many values of a part of a run are above a value, and how many there are. For a
// rate, it is the number of values, and the seconds.
type part struct{ above, all float64 }

// A stretch is windows of a run, from one to before another.
type stretch struct{ from, to int }

func (s stretch) windows() int { return s.to - s.from }

// whole returns all windows.
func (r *Run) whole() stretch { return stretch{0, len(r.windows)} }

// togetherLeast is the part of the longer run that two runs must have run at the same time to be
// compared window by window.
const togetherLeast = 0.8

// both are two runs, and the windows of them that are compared.
type both struct {
	a, b          Estimate
	before, after stretch
	paired        bool
}

// bothOf returns the windows at which both runs ran, if these are most, and otherwise all.
func bothOf(before, after Estimate) both {
	a, b := before.run, after.run
	s := both{a: before, b: after, before: a.whole(), after: b.whole()}
	if a.size == 0 || a.size != b.size {
		return s
	}
	later := int((b.start - a.start) / a.size) // windows by which b starts later
	from := max(later, 0)
	to := min(len(a.windows), later+len(b.windows))
	if float64(to-from) < togetherLeast*float64(max(len(a.windows), len(b.windows))) {
		return s
	}
	s.before = stretch{from, to}
	s.after = stretch{from - later, to - later}
	s.paired = true
	return s
}

// parts cuts both sides into k parts each. What is compared is the share of values above the
// percentile of both together, after those of before were multiplied by a bound.
func (s *both) parts(k int, bound float64) (a, b []part) {
	before, after := s.a, s.b
	if before.percentile == ofRate {
		a, b = before.run.rateParts(s.before, k), after.run.rateParts(s.after, k)
		for i := range a {
			a[i].above *= bound
		}
		return a, b
	}
	scale := bound * before.factor * before.run.ratio / (after.factor * after.run.ratio)
	of := func(e Estimate) (low, high float64) {
		_, at := e.run.rank(e.percentile)
		slot := e.run.slots[at]
		return float64(e.run.lowest(slot) - 1), float64(slot.value)
	}
	lowBefore, highBefore := of(before)
	low, high := of(after)
	low, high = min(low, lowBefore*scale), max(high, highBefore*scale)
	rank := before.percentile / 100 * (before.run.countIn(s.before) + after.run.countIn(s.after))
	if s.isPartial() {
		low, high = 0, high*math.Exp(mostApart)
	}
	for range 50 {
		middle := (low + high) / 2
		if before.run.belowIn(s.before, middle/scale)+after.run.belowIn(s.after, middle) < rank {
			low = middle
		} else {
			high = middle
		}
	}
	return before.run.above(s.before, k, high/scale), after.run.above(s.after, k, high)
}

// isPartial reports whether windows of a run are left out, since the other one did not run then.
func (s *both) isPartial() bool {
	return s.before != s.a.run.whole() || s.after != s.b.run.whole()
}

// mostApart is how far, on logarithms, the ratio of what ran together may be from that of both
// runs.
const mostApart = 4

// ratio returns the ratio of the figures of the windows that are compared, given that of both runs:
// the bound at which both sides have the same share of values above their common percentile.
func (s *both) ratio(whole float64) float64 {
	low, high := math.Log(whole)-mostApart, math.Log(whole)+mostApart
	for range 40 {
		middle := (low + high) / 2
		a, b := s.parts(1, math.Exp(middle))
		before, _ := shareOf(a)
		after, _ := shareOf(b)
		if after > before {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// independent returns the number of independent differences between runs that ran at the same time,
// if the true ratio is a bound.
func (s *both) independent(bound float64) float64 {
	n := min(s.before.windows(), mostSegments)
	differences := residuals(s.parts(n, bound))
	return float64(n) / Dependence(differences)
}

// residuals returns the differences between the shares of two sides in parts of the same times,
// less that of all parts.
func residuals(before, after []part) []float64 {
	a, allBefore := shareOf(before)
	b, allAfter := shareOf(after)
	differences := make([]float64, len(before))
	for i := range before {
		ofBefore := (before[i].above - a*before[i].all) / allBefore
		ofAfter := (after[i].above - b*after[i].all) / allAfter
		differences[i] = ofAfter - ofBefore
	}
	return differences
}

// pairs compares the shares of two sides, cut into parts of the same times, by Student's t of their
// differences.
func pairs(before, after []part, independent float64) (t, freedom float64) {
	k := float64(len(before))
	a, _ := shareOf(before)
	b, _ := shareOf(after)
	squares := 0.0
	for _, d := range residuals(before, after) {
		squares += d * d
	}
	variance := max(k/(k-1)*squares, leastVariance)
	return (b - a) / math.Sqrt(variance*inCommon(k, independent)), k - 1
}

// shareOf returns the share of values above a value in all parts together, and how many there are.
func shareOf(parts []part) (share, all float64) {
	above := 0.0
	for _, p := range parts {
		above += p.above
		all += p.all
	}
	return above / all, all
}

// leastVariance is for parts of which nothing varies: every difference is one.
const leastVariance = 1e-300

// inCommon returns by how much a variance grows since neighbours of k parts have more in common the
// fewer windows are independent. Without the second term, 6.7% of equal runs of AR(1) 0.9 differ
// after two minutes, with it 4.8% (TestModels).
func inCommon(k, independent float64) float64 { return 1 + k/independent*(1+4/independent) }

// welch compares the shares of two sides, cut into parts of equal time, by Welch's t.
func welch(before, after []part, independent float64) (t, freedom float64) {
	k := float64(len(before))
	a, va := shareAbove(before)
	b, vb := shareAbove(after)
	variance := max(va+vb, leastVariance)
	freedom = max((va+vb)*(va+vb)/max(va*va+vb*vb, leastVariance), 1) * (k - 1)
	return (b - a) / math.Sqrt(variance*inCommon(k, independent)), freedom
}

// shareAbove returns the share of values above a value in all parts together, and its variance.
func shareAbove(parts []part) (share, variance float64) {
	share, all := shareOf(parts)
	squares := 0.0
	for _, p := range parts {
		squares += (p.above - share*p.all) * (p.above - share*p.all)
	}
	k := float64(len(parts))
	return share, k / (k - 1) * squares / (all * all)
}

// Least returns the change, as a ratio above 1, that such runs mostly find if it is the only one of
// so many comparisons: in four of five cases, if the standard error were no estimate. 66% of 3 + 3
// and 73% of 5 + 5 runs find it (TestRuns). Runs are so many times as many, or as long, as those
// that were compared. It is not a number if there is no interval.
func (c Comparison) Least(level float64, comparisons int, times float64) float64 {
	if math.IsNaN(c.deviation) {
		return none
	}
	freedom := c.freedom
	if c.Seconds == 0 {
		freedom = freedom*times + times - 1
	}
	errors := quantile(100-(100-level)/float64(comparisons), freedom) + quantile(60, freedom)
	return math.Exp(errors * c.deviation / math.Sqrt(times))
}

// Significant returns which of several comparisons are significant at a level of confidence, after
// Hochberg's correction: if nothing changed anywhere, even one of them is significant with a
// probability of at most 1 - level/100. That holds for comparisons that do not depend on each
// other, and for figures of runs, which move together. Pass the P of all comparisons that are shown
// together. One that is not a number does not count.
func Significant(p []float64, level float64) []bool {
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(p)), math.IsNaN)
	most := -1.0
	for n, v := range sorted {
		if v*float64(len(sorted)-n) <= 1-level/100 {
			most = v
		}
	}
	significant := make([]bool, len(p))
	for n, v := range p {
		significant[n] = v <= most
	}
	return significant
}

// mostSegments is the largest number of segments that a run is kept in, to make parts of them.
const mostSegments = 120

// cut returns the segments of windows of a run.
func (r *Run) cut(of stretch) *segments {
	if r.segments == nil || r.segments.of != of {
		slots := make([]int, len(r.slots))
		for n := range slots {
			slots[n] = n
		}
		layout := r.layout
		layout.Digits = min(layout.Digits, 1) // as TestCoarseWindows shows, more do not help
		r.segments = r.count(of, min(of.windows(), mostSegments), slots, layout)
	}
	return r.segments
}

// countIn returns the number of values of windows.
func (r *Run) countIn(of stretch) float64 {
	if of == r.whole() {
		return float64(r.total)
	}
	return r.above(of, 1, 0)[0].all
}

// belowIn returns the number of values of windows that are not above one.
func (r *Run) belowIn(of stretch, value float64) float64 {
	if of == r.whole() {
		return r.below(value)
	}
	p := r.above(of, 1, value)[0]
	return p.all - p.above
}

// filledParts returns how many of k parts have values.
func (r *Run) filledParts(of stretch, k int) (filled int) {
	for _, p := range r.above(of, k, 0) {
		if p.all > 0 {
			filled++
		}
	}
	return filled
}

// above returns k parts of windows, with the values above one.
func (r *Run) above(of stretch, k int, value float64) []part {
	if len(r.windows) == 0 {
		all := float64(r.total)
		return []part{{above: all - r.below(value), all: all}}
	}
	s, parts := r.cut(of), make([]part, k)
	n, inside := s.at(r, value)
	for i, all := range s.all {
		p := &parts[i*k/len(s.all)]
		below, upTo := s.between(i, n)
		p.above, p.all = p.above+all-below-inside*(upTo-below), p.all+all
	}
	return parts
}

// rateParts returns k parts of windows with their values and seconds.
func (r *Run) rateParts(of stretch, k int) []part {
	parts := make([]part, k)
	values, seconds := r.rates()
	for i := range of.windows() {
		p := &parts[i*k/of.windows()]
		p.above += values[of.from+i]
		p.all += seconds[of.from+i]
	}
	return parts
}
