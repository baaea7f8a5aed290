package histogram

import (
	"iter"
	"math"
	"slices"
)

// Min returns the lowest value equivalent to the lowest recorded one, 0 if nothing was recorded.
func (h *Histogram) Min() int64 {
	low, counts := h.filled()
	for i, n := range counts {
		if n != 0 {
			return h.layout.LowestAt(low + i)
		}
	}
	return 0
}

// Max returns the highest value equivalent to the highest recorded one, 0 if nothing was recorded.
func (h *Histogram) Max() int64 {
	last := h.lastIndex()
	if last < 0 {
		return 0
	}
	return h.layout.HighestAt(last)
}

// Mean returns the mean of all recorded values, each taken as the middle of its slot, 0 if nothing was recorded. Of a
// double histogram it is the mean of what the values stand for.
func (h *Histogram) Mean() float64 { return h.mean() * h.Ratio() }

func (h *Histogram) mean() float64 {
	if h.total == 0 {
		return 0
	}
	var sum float64
	for r := range h.runs() {
		for _, n := range r.counts {
			if n != 0 {
				// The conversion keeps the compiler from fusing multiplication and addition, which would round once
				// where the reference rounds twice.
				sum += float64(float64(r.median) * float64(n))
			}
			r.median += r.apart
		}
	}
	return sum / float64(h.total)
}

// StdDev returns the standard deviation of all recorded values, in the units of [Histogram.Mean].
func (h *Histogram) StdDev() float64 {
	if h.total == 0 {
		return 0
	}
	mean := h.mean()
	var sum float64
	for r := range h.runs() {
		for _, n := range r.counts {
			if n != 0 {
				deviation := float64(r.median) - mean
				sum += float64(float64(deviation*deviation) * float64(n))
			}
			r.median += r.apart
		}
	}
	return math.Sqrt(sum/float64(h.total)) * h.Ratio()
}

// A run is the counts of successive slots of a size: the middle of the first one's values, and how far apart those of two are.
type run struct {
	counts        []int64
	median, apart int64
}

// runs iterates over the counts by slots of a size: to reckon the middle of each slot takes three times as long as to go from one to the next (BenchmarkMean).
func (h *Histogram) runs() iter.Seq[run] {
	return func(yield func(run) bool) {
		low, counts := h.filled()
		for len(counts) > 0 {
			bucket, _ := h.layout.split(low)
			size := min((bucket+2)<<h.layout.halfMagnitude()-low, len(counts))
			if !yield(run{counts[:size], h.layout.medianAt(low), h.layout.sizeAt(low)}) {
				return
			}
			low, counts = low+size, counts[size:]
		}
	}
}

// ValueAtPercentile returns the highest value equivalent to the one at percentile (0 to 100), 0 if nothing was
// recorded. At percentile 0 it is the lowest value equivalent to the lowest recorded one. Of more than 2^53 values, where
// roundoff can make the reference look for more of them than there are and tell 0, it is the highest.
func (h *Histogram) ValueAtPercentile(percentile float64) int64 {
	rank := h.rank(percentile)
	var seen int64
	low, counts := h.filled()
	for i, n := range counts {
		seen += n
		if seen >= rank {
			if percentile == 0 {
				return h.layout.LowestAt(low + i)
			}
			return h.layout.HighestAt(low + i)
		}
	}
	return 0
}

// AppendValuesAtPercentiles appends what [Histogram.ValueAtPercentile] returns for each of the percentiles. Where they ascend
// it takes one pass over the counts for all of them.
func (h *Histogram) AppendValuesAtPercentiles(values []int64, percentiles []float64) []int64 {
	if !slices.IsSorted(percentiles) {
		for _, p := range percentiles {
			values = append(values, h.ValueAtPercentile(p))
		}
		return values
	}
	if h.total == 0 {
		return append(values, make([]int64, len(percentiles))...)
	}
	var seen int64
	low, counts := h.filled()
	i := -1 // the slot that seen goes up to
	for _, p := range percentiles {
		rank := h.rank(p)
		for seen < rank && i < len(counts)-1 {
			i++
			seen += counts[i]
		}
		if p == 0 {
			values = append(values, h.layout.LowestAt(low+i))
		} else {
			values = append(values, h.layout.HighestAt(low+i))
		}
	}
	return values
}

// rank returns how many values lie at or below percentile, at least 1 and at most all. It is rounded up from a percentile
// one ulp lower, so that roundoff does not reach for one value too many.
func (h *Histogram) rank(percentile float64) int64 {
	requested := min(max(math.Nextafter(percentile, math.Inf(-1)), 0), 100)
	count := math.Ceil(requested * float64(h.total) / 100)
	switch {
	case count >= 1<<63: // float64(math.MaxInt64) is one more than it
		return h.total
	case count > 1:
		return min(int64(count), h.total)
	}
	return 1 // NaN too
}

// CountBetween returns how many values lie between low and high, both included, to within the slots that hold them.
func (h *Histogram) CountBetween(low, high int64) int64 {
	if high < low || high < 0 {
		return 0
	}
	first, counts := h.filled()
	from := max(h.layout.IndexOf(max(low, 0)), first)
	to := min(h.layout.IndexOf(high), first+len(counts)-1)
	var count int64
	for i := from; i <= to; i++ {
		count += counts[i-first]
	}
	return count
}

// A Bucket is a slot with a count: Count values between Low and High, both included.
type Bucket struct {
	Low, High int64
	Count     int64
}

// Recorded iterates over the slots that have a count, lowest first: the reference's RecordedValuesIterator, whose "value
// iterated to" is High.
func (h *Histogram) Recorded() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		low, counts := h.filled()
		for i, n := range counts {
			if n != 0 && !yield(Bucket{h.layout.LowestAt(low + i), h.layout.HighestAt(low + i), n}) {
				return
			}
		}
	}
}

// A Step is a step of [Histogram.Percentiles].
type Step struct {
	// Value is the highest value equivalent to the one that Percentile lies at.
	Value int64
	// Percentile is the level of this step, 0 to 100.
	Percentile float64
	// TotalCount is how many values lie at or below Value.
	TotalCount int64
}

// Percentiles iterates from 0 to 100% in steps that halve each time the distance to 100% has halved, ticks of them in
// each half, as the reference's PercentileIterator does. It always ends: where the reference would repeat a step for
// ever, because the next level differs from this one by less than a float64 can tell, it goes on to the last, 100%.
// Ticks below 1 count as 1.
func (h *Histogram) Percentiles(ticks int) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		var level float64
		var seen int64
		low, counts := h.filled()
		for i, n := range counts {
			if n == 0 {
				continue
			}
			seen += n
			here := float64(100*float64(seen)) / float64(h.total)
			for seen < h.total && here >= level {
				if !yield(Step{h.layout.HighestAt(low + i), level, seen}) {
					return
				}
				next := level + stepAfter(level, ticks)
				if next <= level || next >= 100 {
					level = math.Inf(1)
					break
				}
				level = next
			}
			if seen == h.total {
				h.lastSteps(yield, low+i, level, ticks)
				return
			}
		}
	}
}

// lastSteps yields the step that reaches the last value, at index, and the one at 100% that ends the iteration.
func (h *Histogram) lastSteps(yield func(Step) bool, index int, level float64, ticks int) {
	high := h.layout.HighestAt(index)
	if level < 100 && !yield(Step{high, level, h.total}) {
		return
	}
	yield(Step{high, 100, h.total})
}

// stepAfter returns the distance from level to the next one. The reference rounds down a quotient of logarithms, which is
// the exponent at every level that can be reached (the levels in testdata show it) but costs more.
func stepAfter(level float64, ticks int) float64 {
	halves := math.Ilogb(100/(100-level)) + 1
	return 100 / float64(int64(max(ticks, 1))<<halves)
}
