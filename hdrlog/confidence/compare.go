package confidence

import (
	"math"
	"slices"
)

// Limits of the comparison of two runs, see [Compare].
const (
	// MinSeconds is the smallest length of both runs: a minute, less the few seconds that many logs
	// lack.
	MinSeconds  = 57
	minParts    = 5
	maxParts    = 20
	partWindows = 4 // independent windows of a part
)

// A Comparison is the change of a figure between two sides of runs: before and after. What cannot
// be computed is NaN.
type Comparison struct {
	// Ratio is the figure after divided by the figure before. Low and High are the limits of its
	// interval. If Low is 0, the ratio has no lower limit; if High is infinite, no upper limit.
	Ratio, Low, High float64
	// P is 1 - level/100 for the level of confidence at which the interval would just touch a ratio
	// of 1. The smaller P is, the less likely chance explains the change.
	P float64
	// Seconds is the length of the shorter of two runs, 0 for several runs a side.
	Seconds float64
	// Paired is set if the comparison removes variation that both sides share: two runs at the same
	// time are compared window by window, and a drift is removed from several runs that alternated.
	Paired bool
	// Untimed is set if values have no times. The interval is right if the values are independent.
	Untimed bool
	// Before and After are the figures that Ratio compares. For several runs, they are geometric
	// means. If the runs alternated, the means are without the drift.
	Before, After float64

	// deviation is the standard error of the logarithm of the ratio, and freedom its degrees of
	// freedom.
	deviation, freedom float64
}

// unknown is a comparison without figures.
var unknown = Comparison{
	Ratio:     none,
	Low:       none,
	High:      none,
	P:         none,
	Before:    none,
	After:     none,
	deviation: none,
	freedom:   none,
}

// Compare compares the same figure of two runs, each cut into parts of equal time: see the package
// comment. The interval includes only variation within the runs. If a figure is zero, there is no
// interval. If both runs have no windows, Compare assumes independent values. The level of
// confidence is in percent.
func Compare(before, after Estimate, level float64) Comparison {
	c := unknown
	c.Before, c.After = before.Value, after.Value
	if ratio := after.Value / before.Value; before.Value > 0 && after.Value > 0 && !math.IsInf(ratio, 1) {
		c.Ratio = ratio
	}
	if before.run == nil || after.run == nil || math.IsNaN(c.Ratio) {
		return c
	}
	s := pairOf(before, after)
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
	k := int(min(max(independent/partWindows, minParts), maxParts))
	filled := min(before.run.filledParts(s.before, k), after.run.filledParts(s.after, k))
	if c.Seconds < MinSeconds || min(before.beyond, after.beyond) < MinBeyond || filled < minParts {
		return c
	}
	c.setInterval(level, func(bound float64) (p, freedom float64) {
		a, b := s.parts(k, bound)
		compare := welchT
		if s.paired {
			compare = pairedT
		}
		t, freedom := compare(a, b, independent)
		return Tail(t, freedom), freedom
	})
	return c
}

// setInterval sets the interval to the ratios that a test does not reject. The test returns the
// probability of a difference as large as that of the two runs if the true ratio is bound, and the
// degrees of freedom.
func (c *Comparison) setInterval(level float64, test func(bound float64) (p, freedom float64)) {
	// distance returns the logarithmic distance from Ratio to the limit above (sign 1) or below
	// (-1).
	distance := func(sign float64) float64 {
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
	down, up := distance(-1), distance(1)
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

// Versions widens the interval from two runs to the two versions that they measured. Noise is the
// standard deviation of the logarithm of the figure between runs of the same version. The interval
// is for limits of one side, such as "at most 5% more": by noise alone, 4% of figures lie beyond
// Low, and 4% beyond High.
func (c Comparison) Versions(noise float64) Comparison {
	between := versionTail * math.Sqrt2 * noise
	down, up := math.Log(c.Ratio/c.Low), math.Log(c.High/c.Ratio)
	c.Low = c.Ratio * math.Exp(-math.Hypot(down, between))
	c.High = c.Ratio * math.Exp(math.Hypot(up, between))
	return c
}

// Calm reports whether the interval of two runs is narrower than the variation between runs of the
// same version. Noise is that of [Comparison.Versions].
func (c Comparison) Calm(noise float64) bool {
	return max(c.Ratio/c.Low, c.High/c.Ratio) <= math.Exp(versionTail*math.Sqrt2*noise)
}

// ShownBetween returns the approximate smallest change between two versions, as a share, that one
// run of each version can show. Noise is that of [Comparison.Versions].
func ShownBetween(noise float64) float64 { return 1.96 * math.Sqrt2 * noise }

// versionTail is the number of standard deviations that 4% of a normal distribution exceed. With
// it, 1.7% of comparisons of equal versions with a noise of 4% fail a limit of +2%, and 96% of
// changes of +25% are found (TestVersions).
const versionTail = 1.75

// maxFreedom limits degrees of freedom. Student's t with more is normal.
const maxFreedom = 1000

// testValues is the test of [Comparison.setInterval] for values without times. It assumes that
// values are independent, so the number of values above the common percentile is binomial.
func (s *runPair) testValues(bound float64) (p, freedom float64) {
	before, after := s.parts(1, bound)
	a, b := before[0], after[0]
	variance := 0.0
	for _, side := range []part{a, b} {
		share := side.above / side.all
		variance += share * (1 - share) / side.all
	}
	t := (b.above/b.all - a.above/a.all) / math.Sqrt(max(variance, minVariance))
	freedom = min(a.all+b.all-2, maxFreedom)
	return Tail(t, freedom), freedom
}

// A part is a part of a run: the number of its values above a threshold, and of all its values. For
// a rate, above is the number of values and all is the number of seconds.
type part struct{ above, all float64 }

// A stretch is the windows of a run with the indexes from to to-1.
type stretch struct{ from, to int }

func (s stretch) windows() int { return s.to - s.from }

func (r *Run) whole() stretch { return stretch{0, len(r.windows)} }

// minOverlap is the smallest overlap of two runs that are compared window by window, as a share
// of the longer run.
const minOverlap = 0.8

// runPair has the same figure of two runs, and the windows of each run that are compared.
type runPair struct {
	a, b          Estimate
	before, after stretch
	paired        bool // windows at the same time are compared with each other
}

// pairOf selects the windows in which both runs ran, if these are most windows. Otherwise it
// selects all windows.
func pairOf(before, after Estimate) runPair {
	a, b := before.run, after.run
	s := runPair{a: before, b: after, before: a.whole(), after: b.whole()}
	if a.size == 0 || a.size != b.size {
		return s
	}
	later := int((b.start - a.start) / a.size) // windows by which b starts later
	from := max(later, 0)
	to := min(len(a.windows), later+len(b.windows))
	if float64(to-from) < minOverlap*float64(max(len(a.windows), len(b.windows))) {
		return s
	}
	s.before = stretch{from, to}
	s.after = stretch{from - later, to - later}
	s.paired = true
	return s
}

// parts cuts each side into k parts, and counts the values above the common percentile of both
// sides in each part. It multiplies the values of the first side by bound before it compares them.
func (s *runPair) parts(k int, bound float64) (a, b []part) {
	before, after := s.a, s.b
	if before.percentile == ofRate {
		a, b = before.run.rateParts(s.before, k), after.run.rateParts(s.after, k)
		for i := range a {
			a[i].above *= bound
		}
		return a, b
	}
	scale := bound * before.factor * before.run.sum.ratio / (after.factor * after.run.sum.ratio)
	slotOf := func(e Estimate) (low, high float64) {
		_, at := e.run.sum.rank(e.percentile)
		slot := e.run.sum.slots[at]
		return float64(e.run.sum.lowest(slot) - 1), float64(slot.value)
	}
	lowBefore, highBefore := slotOf(before)
	low, high := slotOf(after)
	low, high = min(low, lowBefore*scale), max(high, highBefore*scale)
	rank := before.percentile / 100 * (before.run.countIn(s.before) + after.run.countIn(s.after))
	if s.isPartial() {
		low, high = 0, high*math.Exp(maxLogDistance)
	}
	for range 50 {
		middle := (low + high) / 2
		if before.run.countUpToIn(s.before, middle/scale)+after.run.countUpToIn(s.after, middle) < rank {
			low = middle
		} else {
			high = middle
		}
	}
	return before.run.above(s.before, k, high/scale), after.run.above(s.after, k, high)
}

// isPartial reports whether windows of a run are left out because the other run has no such
// windows.
func (s *runPair) isPartial() bool {
	return s.before != s.a.run.whole() || s.after != s.b.run.whole()
}

// maxLogDistance limits the logarithmic distance between the ratio of the compared windows and the
// ratio of the whole runs.
const maxLogDistance = 4

// ratio returns the ratio of the figures of the compared windows: the bound at which both sides
// have the same share of values above their common percentile. Whole is the ratio of the whole
// runs.
func (s *runPair) ratio(whole float64) float64 {
	low, high := math.Log(whole)-maxLogDistance, math.Log(whole)+maxLogDistance
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

// independent returns the number of independent differences between windows at the same time, if
// the true ratio is bound.
func (s *runPair) independent(bound float64) float64 {
	n := min(s.before.windows(), maxSegments)
	differences := residuals(s.parts(n, bound))
	return float64(n) / Dependence(differences)
}

// residuals returns a number for each pair of parts at the same time: the residual of the part
// after minus the residual of the part before. The residual of a part is the distance of its share
// from the share of all parts of its side.
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

// pairedT compares the shares of two sides, whose parts are of the same times, by Student's t of
// the differences between them.
func pairedT(before, after []part, independent float64) (t, freedom float64) {
	k := float64(len(before))
	a, _ := shareOf(before)
	b, _ := shareOf(after)
	squares := 0.0
	for _, d := range residuals(before, after) {
		squares += d * d
	}
	variance := max(k/(k-1)*squares, minVariance)
	return (b - a) / math.Sqrt(variance*correlationFactor(k, independent)), k - 1
}

// shareOf returns the share of values above the threshold in all parts, and the number of values.
func shareOf(parts []part) (share, all float64) {
	above := 0.0
	for _, p := range parts {
		above += p.above
		all += p.all
	}
	return above / all, all
}

// minVariance avoids division by zero. If the parts do not vary, any difference is significant.
const minVariance = 1e-300

// correlationFactor returns the factor by which the correlation of neighbouring parts raises the
// variance, for k parts of so many independent windows. Of equal runs of AR(1) 0.9, 4.8% differ
// after two minutes, and 6.7% without the term 4/independent (TestModels).
func correlationFactor(k, independent float64) float64 { return 1 + k/independent*(1+4/independent) }

// welchT compares the shares of two sides, cut into parts of equal time, by Welch's t.
func welchT(before, after []part, independent float64) (t, freedom float64) {
	k := float64(len(before))
	a, va := shareAbove(before)
	b, vb := shareAbove(after)
	variance := max(va+vb, minVariance)
	freedom = max((va+vb)*(va+vb)/max(va*va+vb*vb, minVariance), 1) * (k - 1)
	return (b - a) / math.Sqrt(variance*correlationFactor(k, independent)), freedom
}

// shareAbove returns the share of values above the threshold in all parts, and its variance.
func shareAbove(parts []part) (share, variance float64) {
	share, all := shareOf(parts)
	squares := 0.0
	for _, p := range parts {
		squares += (p.above - share*p.all) * (p.above - share*p.all)
	}
	k := float64(len(parts))
	return share, k / (k - 1) * squares / (all * all)
}

// Least returns the smallest change, as a ratio above 1, that runs like these usually find if it is
// the only change in so many comparisons. Times is the number of runs, or for one run a side its
// length, divided by that of this comparison. Least computes the change that four of five
// comparisons find with a known standard error. Since the standard error is an estimate, 66% of 3 +
// 3 and 73% of 5 + 5 runs find it (TestRuns). Least returns NaN if there is no interval.
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

// Significant reports which of several comparisons are significant at a level of confidence in
// percent, after Hochberg's correction: if nothing changed, the probability that any comparison is
// significant is at most 1 - level/100. This holds for independent comparisons, and for figures of
// the same runs, which are positively correlated. Pass the P of all comparisons that are shown
// together. NaN does not count.
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

// maxSegments is the largest number of segments of a run. Parts are made of whole segments.
const maxSegments = 120

// cut returns the segments of a stretch, with the counts of all slots.
func (r *Run) cut(of stretch) *segments {
	if r.cache.segments == nil || r.cache.segments.of != of {
		slots := make([]int, len(r.sum.slots))
		for n := range slots {
			slots[n] = n
		}
		layout := r.layout
		layout.Digits = min(layout.Digits, 1) // more digits do not help, see TestCoarseWindows
		r.cache.segments = r.count(of, min(of.windows(), maxSegments), slots, layout)
	}
	return r.cache.segments
}

// countIn returns the number of values in a stretch.
func (r *Run) countIn(of stretch) float64 {
	if of == r.whole() {
		return float64(r.sum.total)
	}
	return r.above(of, 1, 0)[0].all
}

// countUpToIn returns the number of values in a stretch that are at most value.
func (r *Run) countUpToIn(of stretch, value float64) float64 {
	if of == r.whole() {
		return r.sum.countUpTo(value)
	}
	p := r.above(of, 1, value)[0]
	return p.all - p.above
}

// filledParts returns the number of parts that have values, if a stretch is cut into k parts.
func (r *Run) filledParts(of stretch, k int) (filled int) {
	for _, p := range r.above(of, k, 0) {
		if p.all > 0 {
			filled++
		}
	}
	return filled
}

// above cuts a stretch into k parts, and counts the values above value in each. A run without
// windows is one part.
func (r *Run) above(of stretch, k int, value float64) []part {
	if len(r.windows) == 0 {
		all := float64(r.sum.total)
		return []part{{above: all - r.sum.countUpTo(value), all: all}}
	}
	s, parts := r.cut(of), make([]part, k)
	n, inside := s.edgeOf(&r.sum, value)
	for i, all := range s.all {
		p := &parts[i*k/len(s.all)]
		below, upTo := s.countsAt(i, n)
		p.above, p.all = p.above+all-below-inside*(upTo-below), p.all+all
	}
	return parts
}

// rateParts cuts a stretch into k parts, with the values and seconds of each.
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
