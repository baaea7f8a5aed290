// Package confidence computes confidence intervals for the figures of a run. A run is one tag of
// one test, cut into windows of time of the same length, such as seconds. The interval of a
// percentile or rate contains the true figure with a chosen probability. The true figure is the
// figure of an endless run under the same conditions. [Compare] and [CompareRuns] compute such
// intervals for the change between runs.
//
// # Method
//
// Textbook intervals assume that values are independent. Latencies of the same second are not
// independent: they share a pause, a queue, a cache. So the windows are the unit here. Window i =
// 1..n has n_i values, c_i of them at most the percentile's value. With q = sum(c_i) / sum(n_i),
// the residuals are r_i = c_i - q n_i. The variance of their sum is estimated from the eight
// slowest cosines, so it includes the correlation of neighbouring windows:
//
//	L_j = sqrt(2/n) sum_i r_i cos(pi j (i - 1/2) / n), j = 1..8
//	h   = t sqrt(n mean(L_j^2) + max_i r_i^2)
//
// Here t is the quantile of Student's distribution with eight degrees of freedom. The largest
// residual counts once more than it occurs: a run with two pauses could have had three. The
// interval goes from the value of rank pN-h to the value of rank pN+h, where p is the percentile as
// a share and N the number of values. If the run does not have one of these ranks, the interval has
// no limit on this side. The residuals of the rate are n_i - rate T_i, where T_i is the length of
// the window. The mean has no interval: in a queue with Pareto service, only 71% of the intervals
// contain the true mean, and the values of a run do not show that it is such a run.
//
// If many values are equal to the percentile's value, both ranks can lie among them. Then h is
// computed twice, with c_i the values up to this value and with c_i the values clearly below it,
// and the larger h counts.
//
// # Comparisons
//
// [Compare] cuts both runs into the same number k of parts of equal time, and compares the shares
// of values above x, which is the percentile of both runs together. With I the smaller number of
// independent windows (see below), k is I/4, but at least 5 and at most 20. Part i has n_i values,
// e_i of them above x. The share s is sum(e_i) / sum(n_i), and its variance
//
//	k/(k-1) sum((e_i - s n_i)^2) / sum(n_i)^2 (1 + k/I (1 + 4/I))
//
// The last factor is for the correlation of neighbouring parts. The term 4/I corrects the estimate
// of I, which is too large because the residuals of a run add up to zero. Welch's t compares the
// shares, each side with k-1 degrees of freedom. To test a ratio, Compare multiplies all values
// before by the ratio. The interval has the ratios that the test does not reject. Compare refuses
// runs shorter than [MinSeconds], runs with fewer than five parts that have values, and runs with
// fewer than [MinBeyond] values above the percentile.
//
// Values without times have no parts. Compare assumes that the number of values above x is
// binomial.
//
// [CompareRuns] compares the logarithms of the figures of runs by Welch's t. If runs of the two
// sides alternated, it fits the change and a drift together, by least squares. The drift is a line
// in the order of the runs, or a parabola from five runs a side on.
//
// # Assumptions
//
// The run is steady, and longer than the slowest fluctuation of the system. The number of
// independent windows is n divided by the autocorrelation time: of the residuals, or of the
// residuals at the median, where slow fluctuation shows first, whichever is longer. The number is
// at most the number of windows with values, and at most eight times the number of windows with
// values beyond the percentile, so one pause is not evidence for many. A run that is too short has
// no interval, see [Estimate.TooShort]. docs/statistics.md lists what an interval cannot include.
//
// # Sources
//
// Woodruff 1952 (inverted ranks); Lazarus, Lewis, Stock and Watson 2018 (cosines); Geyer 1992
// (autocorrelation time); Wolff 2004 (its bias); Welch 1947; Hochberg 1988.
package confidence

import (
	"math"
	"slices"
	"sort"

	"hdrkit/hdrlog/histogram"
)

// A run with fewer windows, independent windows or values beyond the percentile is too short for an
// interval. Runs that are just long enough are often wrong: of the ten-minute runs of AR(1) 0.98,
// 9% are long enough, and 77% of their intervals contain the true p99. Higher limits do not help.
// See TestModels and bench/confidence.md.
const (
	MinWindows     = 100
	MinIndependent = 20
	// MinBeyond is the number of values that must lie beyond a percentile.
	MinBeyond = 10
)

// tailWeight limits the number of independent windows to tailWeight times the number of independent
// windows that have values beyond the percentile. So these values must lie in at least
// [MinIndependent]/tailWeight such windows: one or two busy times of a queue are not enough.
const tailWeight = 8

// A Window has the counts of a run in a span of time.
type Window interface {
	// Count sets counts[n] to the number of values in slots up to the slot of upTo[n], for each n.
	// The values of upTo ascend, in units of the histogram that is the sum of all windows. Count
	// returns the number of all values.
	Count(upTo, counts []int64) (total int64)
	// Seconds returns the length of the window.
	Seconds() float64
}

// A Rated window can have recorded more or fewer values than it counts: an interval can reach into
// other windows, but only one window counts it. Values returns the number of values that the window
// recorded, given the number that it counts.
type Rated interface{ Values(count float64) float64 }

// A Run has the windows of one tag in one run of a test, and their sum.
type Run struct {
	windows []Window
	sum     distribution
	layout  histogram.Layout // of the windows
	// start is the start of the first window, in milliseconds since the epoch, and size the length
	// of a window, in milliseconds. Both are 0 without SetTime.
	start, size int64
	cache       runCache
}

// A runCache has what the methods of a [Run] computed, for reuse.
type runCache struct {
	counts []float64         // values of each window
	filled int               // number of windows with values
	upTo   map[int][]float64 // by slot: values of each window up to the slot
	// medianTime is the autocorrelation time, in windows, of the residuals at the median. Slow
	// fluctuation shows best there, since half of the values lie on each side.
	medianTime float64
	waves      [][cosines]float64 // see wavesOf
	segments   *segments          // see cut
	values     []float64          // see rates
	seconds    []float64          // see rates
}

// A distribution has the counts of all windows of a run together.
type distribution struct {
	slots  []slot // with at least one value, ascending
	total  int64  // number of values
	layout histogram.Layout
	ratio  float64 // value of one unit of the histogram
}

// A slot is a slot of a distribution. Value is its highest value, in units of the histogram, and
// upTo the number of values up to value. A run has thousands of slots, so methods compute the rest.
type slot struct{ value, upTo int64 }

// lowest returns the lowest value of a slot.
func (d *distribution) lowest(s slot) int64 { return d.layout.LowestAt(d.layout.IndexOf(s.value)) }

// NewRun returns a run of windows in the order of time, and their sum. NewRun does not keep the
// histogram. A window without values can be nil. An interval takes time in proportion to the number
// of windows, or to its square if the figure drifts during the whole run; 10,000 windows are
// plenty. A run without windows has values without times: it has no intervals, and [Compare]
// assumes that the values are independent of each other.
func NewRun(sum *histogram.Histogram, windows []Window) *Run {
	d := distribution{layout: sum.Layout(), ratio: sum.Ratio()}
	filled := 0
	for range sum.Recorded() {
		filled++
	}
	d.slots = make([]slot, 0, filled) // without the capacity, the loop takes three times as long
	for b := range sum.Recorded() {
		d.total += b.Count
		d.slots = append(d.slots, slot{b.High, d.total})
	}
	return &Run{
		windows: windows,
		sum:     d,
		layout:  sum.Layout(),
		cache:   runCache{upTo: make(map[int][]float64)},
	}
}

// SetDigits sets the number of significant digits of the windows, if it is smaller than that of the
// sum. Coarser windows take less memory. A count in one of their slots is then divided among the
// slots of the sum in proportion to the counts of the sum. Even one digit hardly changes intervals.
func (r *Run) SetDigits(digits int) { r.layout.Digits = min(digits, r.layout.Digits) }

// SetTime sets the start of the first window, in milliseconds since the epoch, and the size of each
// window, in milliseconds. [Compare] then compares runs that ran at the same time window by window.
func (r *Run) SetTime(start, size int64) {
	r.start = start
	r.size = size
}

// An Estimate is a figure of a run with its interval. It refers to the [Run] with all its windows,
// which [Compare] needs.
type Estimate struct {
	// Value is the figure, NaN if the run has no values.
	Value float64
	// Low and High are the limits of the interval. A limit that does not exist is NaN.
	Low, High float64
	// Windows is the number of windows. Independent is the number of independent windows that would
	// have the same information.
	Windows     int
	Independent float64
	// TooShort is set if the run is too short for an interval.
	TooShort bool

	// run is the run of the figure for [Compare], nil if the figure has no interval.
	run *Run
	// percentile is the percentile of the figure, 0 to 100, or ofRate.
	percentile float64
	// factor is the factor between the figure and the figure of run, see [Estimate.Times].
	factor float64
	// beyond is the number of values that rank beyond the figure.
	beyond float64
}

const ofRate = -1

var none = math.NaN()

// Percentile returns the value at a percentile (0 to 100) with its interval at a level of
// confidence in percent, such as 95. The minimum and the maximum have no limits.
func (r *Run) Percentile(percentile, level float64) Estimate {
	return r.Percentiles([]float64{percentile}, level)[0]
}

// Percentiles returns the values at several percentiles with their intervals. It reads the windows
// once.
func (r *Run) Percentiles(percentiles []float64, level float64) []Estimate {
	var slots []int
	if r.sum.total > 0 {
		for _, p := range percentiles {
			_, at := r.sum.rank(p)
			slots = append(slots, max(r.sum.clearlyBelow(at), 0), at)
		}
	}
	r.countSlots(slots)
	t := quantile(level, cosines)
	var all []Estimate
	for _, p := range percentiles {
		all = append(all, r.percentile(p, t).withoutShort())
	}
	return all
}

// rank returns the rank of a percentile, and the index of its slot.
func (d *distribution) rank(percentile float64) (rank float64, slot int) {
	whole := histogram.Rank(percentile, d.total)
	return float64(whole), d.slotAt(whole)
}

// percentile returns the value at a percentile. T is the number of standard errors from the
// estimate to a limit of the interval. The slots of the percentile must be counted.
func (r *Run) percentile(percentile, t float64) Estimate {
	d := &r.sum
	if d.total == 0 {
		return r.unknown()
	}
	whole, at := d.rank(percentile)
	if percentile <= 0 || percentile >= 100 {
		e := r.unknown()
		e.Value, e.TooShort = d.valueAt(at), false
		return e
	}
	if len(r.windows) == 0 {
		return r.untimed(percentile, whole, at)
	}
	rank, upTo := percentile*float64(d.total)/100, r.cache.upTo[at]
	_, residuals := ratioOf(upTo, r.cache.counts)
	deviation := r.longRunDeviation(residuals)
	tail, beyond := upTo, whole-1
	if percentile >= 50 {
		tail, beyond = make([]float64, len(upTo)), float64(d.total)-whole
		for i := range tail {
			tail[i] = r.cache.counts[i] - upTo[i]
		}
	}
	if slot := d.clearlyBelow(at); slot >= 0 && (at == 0 || rank-t*deviation > float64(d.slots[at-1].upTo)) {
		_, below := ratioOf(r.cache.upTo[slot], r.cache.counts)
		deviation = max(deviation, r.longRunDeviation(below))
	}
	low, high := none, none
	if from := math.Floor(rank - t*deviation); from >= 1 {
		low = d.valueAt(d.slotAt(int64(from)))
	}
	if to := math.Ceil(rank + t*deviation); to <= float64(d.total) {
		high = d.valueAt(d.slotAt(int64(to)))
	}
	e := r.estimate(d.valueAt(at), low, high, residuals, tail, beyond)
	e.percentile = percentile
	return e
}

// untimed returns a percentile of values without times, given its rank and the index of its slot.
func (r *Run) untimed(percentile, rank float64, at int) Estimate {
	e := r.unknown()
	e.Value = r.sum.valueAt(at)
	e.run = r
	e.factor = 1
	e.percentile = percentile
	e.beyond = rank - 1
	if percentile >= 50 {
		e.beyond = float64(r.sum.total) - rank
	}
	return e
}

// unknown returns an estimate without a figure.
func (r *Run) unknown() Estimate {
	return Estimate{Value: none, Low: none, High: none, Windows: len(r.windows), TooShort: true}
}

// slotAt returns the index of the slot of a rank. Ranks begin at 1.
func (d *distribution) slotAt(rank int64) int {
	n := sort.Search(len(d.slots), func(n int) bool { return d.slots[n].upTo >= rank })
	return min(n, len(d.slots)-1)
}

// clearlyBelow returns the index of the highest slot that is at least an eighth below a slot, so
// that the two lie in different slots of even the coarsest window. It returns -1 if no slot is.
func (d *distribution) clearlyBelow(slot int) int {
	limit := d.slots[slot].value - d.slots[slot].value/8
	return sort.Search(slot, func(n int) bool { return d.slots[n].value > limit }) - 1
}

func (d *distribution) valueAt(slot int) float64 { return float64(d.slots[slot].value) * d.ratio }

// countSlots counts the values of each window up to each slot, and stores them in the cache. The
// first call also counts all values of each window, and the values up to the median.
func (r *Run) countSlots(slots []int) {
	c := &r.cache
	first, median := c.counts == nil, r.sum.slotAt((r.sum.total+1)/2)
	if first && r.sum.total > 0 {
		slots = append(slots, median)
	}
	slots = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(slots))),
		func(slot int) bool { return c.upTo[slot] != nil })
	if len(slots) == 0 && !first {
		return
	}
	s := r.count(r.whole(), len(r.windows), slots, r.layout)
	c.counts = s.all
	for _, slot := range slots {
		counts := make([]float64, len(r.windows))
		c.upTo[slot] = counts
		n, inside := s.edgeOf(&r.sum, float64(r.sum.slots[slot].value))
		for i := range r.windows {
			below, upTo := s.countsAt(i, n)
			counts[i] = below + inside*(upTo-below)
		}
	}
	if first && r.sum.total > 0 {
		for _, count := range c.counts {
			if count > 0 {
				c.filled++
			}
		}
		_, residuals := ratioOf(c.upTo[median], c.counts)
		c.medianTime = Dependence(residuals)
	}
}

// segments have the counts of a stretch of a run, cut into segments of equal time. Each segment has
// the number of values up to each edge. Edges are ascending values in units of the histogram.
type segments struct {
	of    stretch
	edges []int64
	run   []float64   // values of the whole run up to each edge
	upTo  [][]float64 // by segment: values up to each edge
	all   []float64   // values of each segment
}

// count cuts a stretch of windows into n segments. The edges are the two ends of each slot in a
// layout; slots are ascending indexes.
func (r *Run) count(of stretch, n int, slots []int, layout histogram.Layout) *segments {
	s := &segments{of: of, upTo: make([][]float64, n), all: make([]float64, n)}
	last := int64(-1)
	for _, slot := range slots {
		index := layout.IndexOf(r.sum.slots[slot].value)
		for _, edge := range []int64{layout.LowestAt(index) - 1, layout.HighestAt(index)} {
			if edge > last {
				s.edges = append(s.edges, edge)
				s.run = append(s.run, r.sum.countUpTo(float64(edge)))
				last = edge
			}
		}
	}
	for i := range s.upTo {
		s.upTo[i] = make([]float64, len(s.edges))
	}
	counts := make([]int64, len(s.edges))
	for i, w := range r.windows[of.from:of.to] {
		if w == nil || r.cache.counts != nil && r.cache.counts[of.from+i] == 0 {
			continue
		}
		at := i * n / of.windows()
		s.all[at] += float64(w.Count(s.edges, counts))
		for e, count := range counts {
			s.upTo[at][e] += float64(count)
		}
	}
	return s
}

// edgeOf returns the index of the lowest edge that is not below a value. Inside is the share of the
// values between the edge before and this edge that are at most value, in the sum of the run.
func (s *segments) edgeOf(d *distribution, value float64) (edge int, inside float64) {
	n := sort.Search(len(s.edges), func(n int) bool { return float64(s.edges[n]) >= value })
	if n == len(s.edges) {
		return n, 1
	}
	before := 0.0
	if n > 0 {
		before = s.run[n-1]
	}
	if s.run[n] == before {
		return n, 0
	}
	return n, (d.countUpTo(value) - before) / (s.run[n] - before)
}

// countsAt returns the number of values of a segment up to the edge before an edge, and up to the
// edge itself.
func (s *segments) countsAt(segment, edge int) (below, upTo float64) {
	if edge > 0 {
		below = s.upTo[segment][edge-1]
	}
	if edge == len(s.edges) {
		return below, s.all[segment]
	}
	return below, s.upTo[segment][edge]
}

// countUpTo returns the number of values that are at most value, which is in units of the
// histogram. It assumes that the values of a slot are spread evenly over the slot.
func (d *distribution) countUpTo(value float64) float64 {
	n := sort.Search(len(d.slots), func(n int) bool { return float64(d.slots[n].value) >= value })
	if n == len(d.slots) {
		return float64(d.total)
	}
	slot, before := d.slots[n], int64(0)
	if n > 0 {
		before = d.slots[n-1].upTo
	}
	low := d.lowest(slot)
	inside := max(value-float64(low-1), 0) / float64(slot.value-low+1)
	return float64(before) + inside*float64(slot.upTo-before)
}

// ratioOf returns the ratio of the sums of two series, and the residuals of[i] - ratio*to[i].
func ratioOf(of, to []float64) (ratio float64, residuals []float64) {
	ratio = total(of) / total(to)
	residuals = make([]float64, len(of))
	for i := range of {
		residuals[i] = of[i] - float64(ratio*to[i])
	}
	return ratio, residuals
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// Times returns the estimate in another unit: figure and limits multiplied by a factor above zero.
func (e Estimate) Times(factor float64) Estimate {
	e.Value = e.Value * factor
	e.Low = e.Low * factor
	e.High = e.High * factor
	e.factor = e.factor * factor
	return e
}

// rates returns the number of values of each window, and its length in seconds. A window that is
// nil has the length of the longest window. The cache keeps both, since [Compare] needs them dozens
// of times.
func (r *Run) rates() (values, seconds []float64) {
	if r.cache.seconds != nil {
		return r.cache.values, r.cache.seconds
	}
	r.countSlots(nil)
	values, seconds = slices.Clone(r.cache.counts), make([]float64, len(r.windows))
	longest := 0.0
	for _, w := range r.windows {
		if w != nil {
			longest = max(longest, w.Seconds())
		}
	}
	for i, w := range r.windows {
		seconds[i] = longest
		if w != nil {
			seconds[i] = w.Seconds()
		}
		if w, ok := w.(Rated); ok {
			values[i] = w.Values(values[i])
		}
	}
	r.cache.values, r.cache.seconds = values, seconds
	return values, seconds
}

// length returns the length of the run in seconds.
func (r *Run) length() float64 { _, seconds := r.rates(); return total(seconds) }

// Rate returns the number of values per second with its interval at a level of confidence in
// percent.
func (r *Run) Rate(level float64) Estimate { return r.rate(level).withoutShort() }

func (r *Run) rate(level float64) Estimate {
	if len(r.windows) == 0 {
		return r.unknown()
	}
	values, seconds := r.rates()
	value, residuals := ratioOf(values, seconds)
	if r.sum.total == 0 || math.IsInf(value, 0) {
		return r.unknown()
	}
	h := quantile(level, cosines) * r.longRunDeviation(residuals) / total(seconds)
	e := r.estimate(value, max(value-h, 0), value+h, residuals, nil, math.Inf(1))
	e.percentile = ofRate
	return e
}

// withoutShort returns the estimate, without its interval if the run is too short.
func (e Estimate) withoutShort() Estimate {
	if e.TooShort {
		e.Low, e.High = none, none
	}
	return e
}

// estimate returns a figure with the limits of its interval, and computes [Estimate.Independent]
// and [Estimate.TooShort]. Tail has the number of values beyond the figure in each window, and
// beyond is the number of values that rank beyond the figure.
func (r *Run) estimate(value, low, high float64, residuals, tail []float64, beyond float64) Estimate {
	e := Estimate{
		Value:   value,
		Low:     low,
		High:    high,
		Windows: len(r.windows),
		run:     r,
		factor:  1,
		beyond:  beyond,
	}
	n, time := float64(len(residuals)), Dependence(residuals)
	e.Independent = min(n/time, n/r.cache.medianTime, float64(r.cache.filled))
	if sum := total(tail); sum > 0 {
		squares := 0.0
		for _, v := range tail {
			squares += v * v
		}
		e.Independent = min(e.Independent, tailWeight*sum*sum/squares/time)
	}
	e.TooShort = beyond < MinBeyond || e.Windows < MinWindows || e.Independent < MinIndependent
	return e
}

// A HistogramWindow is a [Window] that has a histogram, in units of the sum of all windows, and a
// length in seconds.
type HistogramWindow struct {
	*histogram.Histogram
	Length float64
}

// Count implements [Window].
func (w HistogramWindow) Count(upTo, counts []int64) (total int64) {
	layout := w.Layout()
	n := 0
	seen := int64(0)
	for slot, count := range w.Slots() {
		for n < len(upTo) && layout.IndexOf(upTo[n]) < slot {
			counts[n] = seen
			n++
		}
		seen += count
	}
	for ; n < len(upTo); n++ {
		counts[n] = seen
	}
	return w.TotalCount()
}

// Seconds implements [Window].
func (w HistogramWindow) Seconds() float64 { return w.Length }
