package histogram

import (
	"iter"
	"math"
	"slices"
)

// Min returns the lowest value of the lowest slot with a count, or 0 if nothing was recorded. It is
// not above the Min of any histogram that was added.
func (h *Histogram) Min() int64 {
	first := h.firstIndex()
	if first < 0 {
		return 0
	}
	return h.lowestAt(first)
}

// lowestAt returns the minimum if the lowest count is in the slot at index. After
// [Histogram.LowerMin], the minimum may be lower than that slot.
func (h *Histogram) lowestAt(index int) int64 {
	lowest := h.layout.LowestAt(index)
	if h.minPlusOne > 0 {
		return min(lowest, h.minPlusOne-1)
	}
	return lowest
}

// LowerMin makes [Histogram.Min] return at most value, until Reset. It is for counts that come from
// a coarser histogram and are in slots above their minimum. It does nothing if h has no values.
func (h *Histogram) LowerMin(value int64) {
	if h.total > 0 && value >= 0 && value < math.MaxInt64 && (h.minPlusOne == 0 || value < h.minPlusOne-1) {
		h.minPlusOne = value + 1
	}
}

// Max returns the highest value of the highest slot with a count, or 0 if nothing was recorded.
func (h *Histogram) Max() int64 {
	last := h.lastIndex()
	if last < 0 {
		return 0
	}
	return h.layout.HighestAt(last)
}

// MaxFloat returns the highest float64 that the highest slot with a count can stand for. In a
// histogram of integers, that is [Histogram.Max]. In a double histogram, it is the last float64
// below the next slot, which no recorded value exceeds.
func (h *Histogram) MaxFloat() float64 {
	highest := h.Float(h.Max())
	if h.Double() && h.total > 0 {
		return math.Nextafter(highest+h.layout.Ratio, 0)
	}
	return highest
}

// Mean returns the mean of all recorded values, or 0 if nothing was recorded. Each value counts as
// the middle of its slot. For a double histogram, the mean is a float64 as [Histogram.Float]
// returns it.
func (h *Histogram) Mean() float64 { return h.mean() * h.Ratio() }

func (h *Histogram) mean() float64 {
	if h.total == 0 {
		return 0
	}
	if highest := float64(h.Max()); highest*float64(h.total) < 1<<52 {
		var sum int64
		if len(h.sparse) > 0 {
			return float64(h.layout.sumSparse(h.sparse)) / float64(h.total)
		}
		for r := range h.uniform() {
			sum += r.sum()
		}
		return float64(sum) / float64(h.total)
	}
	var sum float64
	for r := range h.uniform() {
		for i, n := range r.counts {
			// The conversion prevents the compiler from fusing multiplication and addition.
			// That would round once; the reference rounds twice.
			sum += float64(float64(r.median+int64(i)*r.step) * float64(n))
		}
	}
	return sum / float64(h.total)
}

// sum returns the sum of the values in the slots. Below 2^53, a float64 holds each sum of the
// reference exactly, so integers have the same result. They take half of the time (BenchmarkMean),
// since an addition does not wait several cycles for the addition before.
func (r uniformSlots) sum() int64 {
	var total, weighted int64 // weighted has the second count once, the third one twice, and so on
	counts, at := r.counts, int64(0)
	if steps := len(counts) / 8; useVectors && steps > 0 {
		total, weighted = weighEights(counts, steps)
		counts, at = counts[8*steps:], int64(8*steps)
	}
	for ; len(counts) >= 8; counts, at = counts[8:], at+8 {
		c := (*[8]int64)(counts)
		c13 := c[1] + c[3]
		c57 := c[5] + c[7]
		c26 := c[2] + c[6]
		c37, c45 := c[3]+c[7], c[4]+c[5]
		upper := c45 + c[6] + c[7]
		all := c[0] + c[2] + c13 + upper
		total += all
		weighted += at*all + c13 + c57 + 2*(c26+c37) + 4*upper
	}
	for _, n := range counts {
		total += n
		weighted += at * n
		at++
	}
	return r.median*total + r.step*weighted
}

// weighEights returns total and weighted, see [uniformSlots.sum], of the first 8*steps counts.
func weighEights(counts []int64, steps int) (total, weighted int64) {
	var sums, passed [8]int64
	weigh8(&counts[0], steps, &sums, &passed)
	for i, sum := range sums {
		total += sum
		weighted += 8*(int64(steps)*sum-passed[i]) + int64(i)*sum
	}
	return total, weighted
}

// StdDev returns the standard deviation of all recorded values, in the unit of [Histogram.Mean].
func (h *Histogram) StdDev() float64 {
	if h.total == 0 {
		return 0
	}
	mean := h.mean()
	var sum float64
	for r := range h.uniform() {
		for begin := 0; begin < len(r.counts); begin += 8 {
			eight := r.counts[begin:min(begin+8, len(r.counts))]
			if len(eight) == 8 && sumEight((*[8]int64)(eight)) == 0 { // most blocks are empty
				continue
			}
			for i, n := range eight {
				if n != 0 {
					deviation := float64(r.median+int64(begin+i)*r.step) - mean
					sum += float64(float64(deviation*deviation) * float64(n))
				}
			}
		}
	}
	return math.Sqrt(sum/float64(h.total)) * h.Ratio()
}

// uniformSlots are the counts of successive slots of one size. median is the middle of the first
// slot, and step is the distance to the middle of the next slot.
type uniformSlots struct {
	counts       []int64
	median, step int64
}

// uniform iterates over the counts in parts of slots of one size. Computing the middle of each slot
// takes three times as long as adding the distance (BenchmarkMean).
func (h *Histogram) uniform() iter.Seq[uniformSlots] {
	return func(yield func(uniformSlots) bool) {
		for low, counts := range h.segments() {
			for len(counts) > 0 {
				bucket, _ := h.layout.split(low)
				size := min((bucket+2)<<h.layout.halfMagnitude()-low, len(counts))
				if !yield(uniformSlots{counts[:size], h.layout.medianAt(low), h.layout.sizeAt(low)}) {
					return
				}
				low, counts = low+size, counts[size:]
			}
		}
	}
}

// ValueAtPercentile returns the highest value of the slot at percentile (0 to 100), or 0 if nothing
// was recorded. At percentile 0 it returns the lowest value of the lowest slot with a count. For
// more than 2^53 values, roundoff can make the reference look for more values than there are, and
// return 0. ValueAtPercentile then returns the highest value.
func (h *Histogram) ValueAtPercentile(percentile float64) int64 {
	var value [1]int64
	return h.AppendValuesAtPercentiles(value[:0], []float64{percentile})[0]
}

// AppendValuesAtPercentiles appends the results of [Histogram.ValueAtPercentile] for several
// percentiles, in any order. It makes one pass over the counts for all of them.
func (h *Histogram) AppendValuesAtPercentiles(values []int64, percentiles []float64) []int64 {
	if !slices.IsSorted(percentiles) {
		sorted := slices.Sorted(slices.Values(percentiles))
		sortedValues := h.AppendValuesAtPercentiles(nil, sorted)
		for _, p := range percentiles {
			at, _ := slices.BinarySearch(sorted, p)
			values = append(values, sortedValues[at])
		}
		return values
	}
	if h.total == 0 || len(percentiles) == 0 {
		return append(values, make([]int64, len(percentiles))...)
	}
	var seen int64
	rank := h.rank(percentiles[0])
	for _, s := range h.sparse {
		for seen += s.n; seen >= rank; rank = h.rank(percentiles[0]) {
			values = append(values, h.valueAt(s.index, percentiles[0]))
			if percentiles = percentiles[1:]; len(percentiles) == 0 {
				return values
			}
		}
	}
	for low, counts := range h.segments() {
		for begin := 0; begin < len(counts); begin += 8 {
			var passed int
			passed, seen = addBelow(counts[begin:], seen, rank)
			begin += passed
			if begin == len(counts) {
				break
			}
			for i, n := range counts[begin : begin+8] {
				for seen += n; seen >= rank; rank = h.rank(percentiles[0]) {
					values = append(values, h.valueAt(low+begin+i, percentiles[0]))
					if percentiles = percentiles[1:]; len(percentiles) == 0 {
						return values
					}
				}
			}
		}
	}
	return values
}

// addBelow adds counts to seen, in groups of 8, as long as the sum stays below rank. It returns the
// number of counts added, and the sum. Four sums that do not wait for each other are 1.6 times as
// fast as one: 3% of rows over time. Vectors would save 2% more.
func addBelow(counts []int64, seen, rank int64) (passed int, sum int64) {
	left := counts
	for len(left) >= 32 {
		group := (*[32]int64)(left)
		low := sumEight((*[8]int64)(group[:8])) + sumEight((*[8]int64)(group[8:16]))
		high := sumEight((*[8]int64)(group[16:24])) + sumEight((*[8]int64)(group[24:]))
		if seen+low+high >= rank {
			break
		}
		seen += low + high
		left = left[32:]
	}
	for len(left) >= 8 {
		eight := sumEight((*[8]int64)(left))
		if seen+eight >= rank {
			break
		}
		seen += eight
		left = left[8:]
	}
	return len(counts) - len(left), seen
}

// valueAt returns the value at percentile if it lies in the slot at index.
func (h *Histogram) valueAt(index int, percentile float64) int64 {
	if percentile == 0 {
		return h.lowestAt(index)
	}
	return h.layout.HighestAt(index)
}

// Rank returns how many of total values are at or below a percentile, from 1 to total. It rounds
// up, from a percentile one ulp lower, so that roundoff does not make the rank one too high.
func Rank(percentile float64, total int64) int64 {
	requested := min(max(math.Nextafter(percentile, math.Inf(-1)), 0), 100)
	count := math.Ceil(requested * float64(total) / 100)
	switch {
	case count >= 1<<63: // float64(math.MaxInt64) is 1<<63
		return total
	case count > 1:
		return min(int64(count), total)
	}
	return 1 // also if percentile is NaN
}

func (h *Histogram) rank(percentile float64) int64 { return Rank(percentile, h.total) }

// CountBetween returns the number of values from low to high, both included. It counts whole slots.
func (h *Histogram) CountBetween(low, high int64) int64 {
	if high < low || high < 0 {
		return 0
	}
	var count int64
	for _, counts := range h.between(h.layout.IndexOf(max(low, 0)), h.layout.IndexOf(high)) {
		count += sumOf(counts)
	}
	return count
}

// PercentileAtOrBelow returns the percentage of values at or below value, from 0 to 100: the
// inverse of [Histogram.ValueAtPercentile]. It counts whole slots. As in the reference, it returns
// 100 if nothing was recorded.
func (h *Histogram) PercentileAtOrBelow(value int64) float64 {
	if h.total == 0 {
		return 100
	}
	return float64(100*float64(h.CountBetween(0, value))) / float64(h.total)
}

// A Bucket is a slot with a count: Count values from Low to High, both included.
type Bucket struct {
	Low, High int64
	Count     int64
}

// Recorded iterates over the slots with a count, lowest first. High is the "value iterated to" of
// the RecordedValuesIterator of the reference.
func (h *Histogram) Recorded() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		for index, n := range h.Slots() {
			if !yield(Bucket{h.layout.LowestAt(index), h.layout.HighestAt(index), n}) {
				return
			}
		}
	}
}

// Slots iterates over the index and the count of each slot with a count, lowest first.
// [Layout.LowestAt] and [Layout.HighestAt] return the values of a slot.
func (h *Histogram) Slots() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for low, counts := range h.segments() {
			for i, n := range counts {
				if n != 0 && !yield(low+i, n) {
					return
				}
			}
		}
	}
}

// A Step is one step of the iteration of [Histogram.Percentiles].
type Step struct {
	// Value is the highest value of the slot at Percentile.
	Value int64
	// Percentile is the level of this step, 0 to 100.
	Percentile float64
	// TotalCount is the number of values at or below Value.
	TotalCount int64
}

// Percentiles iterates from 0 to 100%. There are as many steps as ticks from 0 to 50%, as many from
// 50% to 75%, and so on: each time the distance to 100% has halved, the steps halve too, as in the
// PercentileIterator of the reference. Ticks below 1 count as 1.
//
// The iteration always ends. The reference repeats a step forever if a float64 cannot hold the
// difference between a level and the next level. Percentiles then continues at 100%.
func (h *Histogram) Percentiles(ticks int) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		var level float64
		var seen int64
		for index, n := range h.Slots() {
			seen += n
			here := float64(100*float64(seen)) / float64(h.total)
			for seen < h.total && here >= level {
				if !yield(Step{h.layout.HighestAt(index), level, seen}) {
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
				h.lastSteps(yield, index, level)
				return
			}
		}
	}
}

// lastSteps yields the step that reaches the last value, at index, and the last step, at 100%.
func (h *Histogram) lastSteps(yield func(Step) bool, index int, level float64) {
	high := h.layout.HighestAt(index)
	if level < 100 && !yield(Step{high, level, h.total}) {
		return
	}
	yield(Step{high, 100, h.total})
}

// stepAfter returns the distance from level to the next level. The reference computes the exponent
// as a quotient of logarithms, rounded down. That is slower, and gives the same exponent for every
// level that occurs: see the levels in testdata.
func stepAfter(level float64, ticks int) float64 {
	halves := math.Ilogb(100/(100-level)) + 1
	return 100 / float64(int64(max(ticks, 1))<<halves)
}
