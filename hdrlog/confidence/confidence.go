// Package confidence says how far the figures of a run can be believed. A run is one tag of one
// test, cut into windows of time of the same length, such as seconds. For a percentile and the
// rate, it computes an interval that has the true figure in it with a chosen probability. The true
// figure is the one of an endless run under the same conditions. [Compare] and [CompareRuns] do the
// same for the change between runs.
//
// # Method
//
// Textbook intervals assume that values are independent. Latencies of one second are not: they
// share a pause, a queue, a cache. So the windows are the unit here. Window i = 1..n has n_i
// values, c_i of them at most the percentile's value. With q = sum(c_i) / sum(n_i), the residuals
// are r_i = c_i - q n_i. The variance of their sum is estimated from the eight slowest cosines, so
// that it includes what neighbouring windows have in common:
//
//	L_j = sqrt(2/n) sum_i r_i cos(pi j (i - 1/2) / n), j = 1..8
//	h   = t sqrt(n mean(L_j^2) + max_i r_i^2)
//
// Here t is the quantile of Student's distribution with eight degrees of freedom. The largest
// residual counts once more than it occurs: a run with two pauses could have had three. The
// interval goes from the value of rank pN-h to the value of rank pN+h, where p is the percentile as
// a share and N the number of values. If the run has no such rank, the interval has no limit on
// that side. The residuals of the rate are n_i - rate T_i, where T_i is the length of the window.
// The mean has no interval: in a queue with Pareto service, 71% of such intervals have the true
// mean in them, and nothing tells such runs from others.
//
// If many values are equal to the percentile's value, so that both ranks would lie among them, h is
// the larger one of those from the values at most that value and from the values clearly below it.
//
// # Comparisons
//
// [Compare] cuts both runs into the same number k of parts of equal time, and compares the shares
// of values above x, which is the percentile of both together. With I the smaller number of
// independent windows (see below), k is I/4, but at least 5 and at most 20. Part i has n_i values,
// e_i of them above x. The share s is sum(e_i) / sum(n_i), and its variance
//
//	k/(k-1) sum((e_i - s n_i)^2) / sum(n_i)^2 (1 + k/I (1 + 4/I))
//
// The last factor is for what neighbouring parts have in common. The 4/I in it is for I, which
// comes out too large, since residuals of a run add up to zero. Welch's t compares the shares, each
// side with k-1 degrees of freedom. To test a ratio, all values before are multiplied by it. The
// interval has the ratios that the test does not reject. Runs of less than [MinSeconds], or with
// fewer than five parts that have values, or [MinBeyond] values above the percentile are refused.
//
// Values without times have no parts. [Compare] takes their number above x for binomial.
//
// [CompareRuns] compares the logarithms of the figures of runs by Welch's t. If the sides took
// turns, it fits the change and a drift together, by least squares. The drift is a line in the
// order of the runs, or a parabola from five runs a side on.
//
// # Assumptions
//
// The run is steady, and longer than the slowest fluctuation of the system. The number of
// independent windows is n divided by the autocorrelation time of the residuals, or that of the
// residuals at the median, where slow fluctuation shows first. There are at most as many as windows
// with values, and at most eight times as many as windows with values beyond the percentile, so
// that one pause is not evidence for many. A run that is too short has no interval, see
// [Estimate.TooShort]. docs/statistics.md says what else an interval does not know.
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

// Limits below which a run is too short. A run that is just long enough is often wrong: of the 9%
// of ten-minute runs of AR(1) 0.98 that are long enough, 77% are right about p99. Higher limits do
// not help. See TestModels and bench/confidence.md.
const (
	MinWindows     = 100
	MinIndependent = 20
	// MinBeyond is the number of values that must lie beyond a percentile.
	MinBeyond = 10
)

// tailWeight is the weight of an independent window with values beyond a percentile. So these
// values must lie in [MinIndependent]/tailWeight separate windows: a queue under high load can have
// its highest percentiles from one or two busy times.
const tailWeight = 8

// A Window is what was recorded in a span of time.
type Window interface {
	// Count sets counts[n] to the number of values in slots up to the slot of upTo[n], for each n.
	// The values of upTo ascend, in units of the histogram that is the sum of all windows. Count
	// returns the number of all values.
	Count(upTo, counts []int64) (total int64)
	// Seconds returns the length of the window.
	Seconds() float64
}

// A Rated window knows how many values were recorded in its seconds. Its counts may have another
// number: an interval can lie in several windows, and only one of them counts it.
type Rated interface{ Values(count float64) float64 }

// A Run is what one tag recorded in one run.
type Run struct {
	windows []Window
	slots   []slot // those with a count, ascending
	total   int64
	ratio   float64          // from units of the histogram to values
	sum     histogram.Layout // of the sum of all windows
	layout  histogram.Layout // of the windows

	// What was counted so far, by window. Seen has the number of values up to a slot.
	counts []float64
	filled int // number of windows with values
	seen   map[int][]float64
	// medianTime is the autocorrelation time at the median. There, fewest values hide by chance
	// what is slow.
	medianTime float64
	waves      [][cosines]float64 // see longRunDeviation
	segments   *segments          // if it was compared
	start      int64              // see SetTime
	size       int64
	values     []float64 // see rates
	seconds    []float64
}

// A slot is a slot of the sum of all windows, whose highest value is value. UpTo is the number of
// values up to it. There are thousands in each run, so it has nothing that can be computed.
type slot struct{ value, upTo int64 }

// lowest returns the lowest value of a slot.
func (r *Run) lowest(s slot) int64 { return r.sum.LowestAt(r.sum.IndexOf(s.value)) }

// NewRun returns a run. The histogram is the sum of the windows, which are in the order of time. A
// window without values may be nil, but must be there. NewRun does not keep the histogram. An
// interval takes time proportional to the number of windows, but to its square if the figure drifts
// during the whole run: 10,000 windows are plenty. A run without windows is values without times,
// which have no intervals. [Compare] takes them for independent of each other.
func NewRun(sum *histogram.Histogram, windows []Window) *Run {
	r := &Run{
		windows: windows,
		ratio:   sum.Ratio(),
		sum:     sum.Layout(),
		layout:  sum.Layout(),
		seen:    make(map[int][]float64),
	}
	filled := 0
	for range sum.Recorded() {
		filled++
	}
	r.slots = make([]slot, 0, filled) // to grow again and again takes three times as long
	for b := range sum.Recorded() {
		r.total += b.Count
		r.slots = append(r.slots, slot{b.High, r.total})
	}
	return r
}

// SetDigits says that the windows have at most so many significant digits, to take less memory.
// What they count in a slot is then divided as in the sum. Limits hardly move with one digit.
func (r *Run) SetDigits(digits int) { r.layout.Digits = min(digits, r.layout.Digits) }

// SetTime says when the first window starts, in milliseconds since the epoch, and how long windows
// are, in milliseconds. [Compare] then compares runs that ran at the same time window by window.
func (r *Run) SetTime(start, size int64) {
	r.start = start
	r.size = size
}

// An Estimate is a figure with its interval. It keeps its [Run] with all windows in memory, since
// [Compare] looks at them.
type Estimate struct {
	// Value is the figure, not a number if there are no values.
	Value float64
	// Low and High are the limits of the interval. Each is not a number if there is none.
	Low, High float64
	// Windows is the number of windows, and Independent the number of independent windows that tell
	// as much.
	Windows     int
	Independent float64
	// TooShort reports that the run is too short for an interval.
	TooShort bool

	// What [Compare] looks at: the percentile, or ofRate, of a run, times a factor. It is nil if
	// the figure has no interval. So many values rank beyond the figure.
	run                        *Run
	percentile, factor, beyond float64
}

const ofRate = -1

var none = math.NaN()

// Percentile returns the value at a percentile (0 to 100) with its interval at a level of
// confidence (such as 95). The minimum and the maximum have no limits.
func (r *Run) Percentile(percentile, level float64) Estimate {
	return r.Percentiles([]float64{percentile}, level)[0]
}

// Percentiles does the same for several percentiles. It looks at the windows once.
func (r *Run) Percentiles(percentiles []float64, level float64) []Estimate {
	var slots []int
	if r.total > 0 {
		for _, p := range percentiles {
			_, at := r.rank(p)
			slots = append(slots, max(r.clearlyBelow(at), 0), at)
		}
	}
	r.look(slots)
	t := quantile(level, cosines)
	var all []Estimate
	for _, p := range percentiles {
		all = append(all, r.percentile(p, t).shown())
	}
	return all
}

// rank returns the rank of a percentile, and its slot.
func (r *Run) rank(percentile float64) (rank float64, slot int) {
	whole := histogram.Rank(percentile, r.total)
	return float64(whole), r.find(whole)
}

func (r *Run) percentile(percentile, t float64) Estimate {
	if r.total == 0 {
		return r.nothing()
	}
	whole, at := r.rank(percentile)
	if percentile <= 0 || percentile >= 100 {
		e := r.nothing()
		e.Value, e.TooShort = r.value(at), false
		return e
	}
	if len(r.windows) == 0 {
		return r.untimed(percentile, whole, at)
	}
	rank, upTo := percentile*float64(r.total)/100, r.seen[at]
	_, residuals := ratioOf(upTo, r.counts)
	deviation := r.longRunDeviation(residuals)
	tail, beyond := upTo, whole-1
	if percentile >= 50 {
		tail, beyond = make([]float64, len(upTo)), float64(r.total)-whole
		for i := range tail {
			tail[i] = r.counts[i] - upTo[i]
		}
	}
	if clear := r.clearlyBelow(at); clear >= 0 && (at == 0 || rank-t*deviation > float64(r.slots[at-1].upTo)) {
		_, below := ratioOf(r.seen[clear], r.counts)
		deviation = max(deviation, r.longRunDeviation(below))
	}
	low, high := none, none
	if from := math.Floor(rank - t*deviation); from >= 1 {
		low = r.value(r.find(int64(from)))
	}
	if to := math.Ceil(rank + t*deviation); to <= float64(r.total) {
		high = r.value(r.find(int64(to)))
	}
	e := r.estimate(r.value(at), low, high, residuals, tail, beyond)
	e.percentile = percentile
	return e
}

// untimed returns a percentile of values without times, given its rank and its slot.
func (r *Run) untimed(percentile, rank float64, at int) Estimate {
	e := r.nothing()
	e.Value = r.value(at)
	e.run = r
	e.factor = 1
	e.percentile = percentile
	e.beyond = rank - 1
	if percentile >= 50 {
		e.beyond = float64(r.total) - rank
	}
	return e
}

// nothing returns an estimate without a figure.
func (r *Run) nothing() Estimate {
	return Estimate{Value: none, Low: none, High: none, Windows: len(r.windows), TooShort: true}
}

// find returns the index of the slot of a rank, which counts from 1.
func (r *Run) find(rank int64) int {
	n := sort.Search(len(r.slots), func(n int) bool { return r.slots[n].upTo >= rank })
	return min(n, len(r.slots)-1)
}

// clearlyBelow returns the highest slot whose values every window tells from those of a slot, -1 if
// there is none.
func (r *Run) clearlyBelow(slot int) int {
	limit := r.slots[slot].value - r.slots[slot].value/8
	return sort.Search(slot, func(n int) bool { return r.slots[n].value > limit }) - 1
}

func (r *Run) value(slot int) float64 { return float64(r.slots[slot].value) * r.ratio }

// look counts the values up to slots in each window. When it looks first, it also counts all values
// and those up to the median.
func (r *Run) look(slots []int) {
	first, median := r.counts == nil, r.find((r.total+1)/2)
	if first && r.total > 0 {
		slots = append(slots, median)
	}
	slots = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(slots))),
		func(slot int) bool { return r.seen[slot] != nil })
	if len(slots) == 0 && !first {
		return
	}
	s := r.count(r.whole(), len(r.windows), slots, r.layout)
	r.counts = s.all
	for _, slot := range slots {
		seen := make([]float64, len(r.windows))
		r.seen[slot] = seen
		n, inside := s.at(r, float64(r.slots[slot].value))
		for i := range r.windows {
			below, upTo := s.between(i, n)
			seen[i] = below + inside*(upTo-below)
		}
	}
	if first && r.total > 0 {
		for _, count := range r.counts {
			if count > 0 {
				r.filled++
			}
		}
		_, residuals := ratioOf(r.seen[median], r.counts)
		r.medianTime = Dependence(residuals)
	}
}

// segments are a run in segments of equal time: how many values are up to edges, which are the
// highest values of slots, ascending.
type segments struct {
	of    stretch
	edges []int64
	run   []float64   // values up to an edge in the run
	upTo  [][]float64 // in each segment
	all   []float64   // values in each segment
}

// count counts values up to some slots, which ascend, in n segments of some windows. The edges are
// of a layout.
func (r *Run) count(of stretch, n int, slots []int, layout histogram.Layout) *segments {
	s := &segments{of: of, upTo: make([][]float64, n), all: make([]float64, n)}
	last := int64(-1)
	for _, slot := range slots {
		index := layout.IndexOf(r.slots[slot].value)
		for _, edge := range []int64{layout.LowestAt(index) - 1, layout.HighestAt(index)} {
			if edge > last {
				s.edges = append(s.edges, edge)
				s.run = append(s.run, r.below(float64(edge)))
				last = edge
			}
		}
	}
	for i := range s.upTo {
		s.upTo[i] = make([]float64, len(s.edges))
	}
	counts := make([]int64, len(s.edges))
	for i, w := range r.windows[of.from:of.to] {
		if w == nil || r.counts != nil && r.counts[of.from+i] == 0 {
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

// at returns the edge from which on all values up to one count, and which part of those between it
// and the edge before do: as many as in the run.
func (s *segments) at(r *Run, value float64) (edge int, inside float64) {
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
	return n, (r.below(value) - before) / (s.run[n] - before)
}

// between returns the number of values of a segment up to the edge before one, and up to that.
func (s *segments) between(segment, edge int) (below, upTo float64) {
	if edge > 0 {
		below = s.upTo[segment][edge-1]
	}
	if edge == len(s.edges) {
		return below, s.all[segment]
	}
	return below, s.upTo[segment][edge]
}

// below returns the number of values up to one, in units of the histogram. The values of a slot
// fill it evenly.
func (r *Run) below(value float64) float64 {
	n := sort.Search(len(r.slots), func(n int) bool { return float64(r.slots[n].value) >= value })
	if n == len(r.slots) {
		return float64(r.total)
	}
	slot, before := r.slots[n], int64(0)
	if n > 0 {
		before = r.slots[n-1].upTo
	}
	low := r.lowest(slot)
	inside := max(value-float64(low-1), 0) / float64(slot.value-low+1)
	return float64(before) + inside*float64(slot.upTo-before)
}

// ratioOf returns the ratio of two sums, and the residuals of the terms of the first.
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

// Times returns the estimate in another unit: the figure times a factor above zero.
func (e Estimate) Times(factor float64) Estimate {
	e.Value = e.Value * factor
	e.Low = e.Low * factor
	e.High = e.High * factor
	e.factor = e.factor * factor
	return e
}

// rates returns the number of values of each window, and its seconds. Windows that are nil have the
// length of the longest one. It computes them once: [Compare] asks dozens of times.
func (r *Run) rates() (values, seconds []float64) {
	if r.seconds != nil {
		return r.values, r.seconds
	}
	r.look(nil)
	values, seconds = slices.Clone(r.counts), make([]float64, len(r.windows))
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
	r.values, r.seconds = values, seconds
	return values, seconds
}

// length returns the length of the run in seconds.
func (r *Run) length() float64 { _, seconds := r.rates(); return total(seconds) }

// Rate returns the number of values per second with its interval.
func (r *Run) Rate(level float64) Estimate { return r.rate(level).shown() }

func (r *Run) rate(level float64) Estimate {
	if len(r.windows) == 0 {
		return r.nothing()
	}
	values, seconds := r.rates()
	value, residuals := ratioOf(values, seconds)
	if r.total == 0 || math.IsInf(value, 0) {
		return r.nothing()
	}
	h := quantile(level, cosines) * r.longRunDeviation(residuals) / total(seconds)
	e := r.estimate(value, max(value-h, 0), value+h, residuals, nil, math.Inf(1))
	e.percentile = ofRate
	return e
}

// shown returns the estimate without the interval of a run that is too short.
func (e Estimate) shown() Estimate {
	if e.TooShort {
		e.Low, e.High = none, none
	}
	return e
}

// estimate returns a figure with its interval. Tail are the numbers of values beyond the figure, by
// window, and beyond how many values rank beyond it.
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
	e.Independent = min(n/time, n/r.medianTime, float64(r.filled))
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

// A HistogramWindow is a [Window] of a histogram, whose units are those of the sum, and a length in
// seconds.
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
