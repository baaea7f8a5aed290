package detect

import "math"

// An Interval is an interval or window of a row: the number of values recorded from Start to End,
// in milliseconds since the epoch, and their maximum.
type Interval struct {
	Start, End, Count int64
	Max               float64
}

// minMaxima is the smallest number of maxima for [Bound].
const minMaxima = 10

// Bound returns the value that the highest of so many maxima exceeds by chance in one of a hundred
// logs, or infinity for fewer than minMaxima. The maxima of independent values have a Gumbel
// distribution: the values themselves if their tail is exponential, and their logarithms if it is a
// power law. Bound uses fourth roots, which lie between. It fits the distribution to the quantiles
// 0.5 and 0.9, which a few bad moments do not change.
func Bound(sorted []float64) float64 {
	if len(sorted) < minMaxima {
		return math.Inf(1)
	}
	root := func(part float64) float64 { return math.Sqrt(math.Sqrt(sorted[int(part*float64(len(sorted)-1))])) }
	half, most := root(0.5), root(0.9)
	gumbel := func(part float64) float64 { return -math.Log(-math.Log(part)) }
	scale := (most - half) / (gumbel(0.9) - gumbel(0.5))
	return math.Pow(half+scale*(math.Log(100*float64(len(sorted)))-gumbel(0.5)), 4)
}

// MedianMax returns the median of the maxima of all intervals with values, NaN if none has values.
func MedianMax(intervals []Interval) float64 {
	var maxima []float64
	for _, i := range intervals {
		if i.Count > 0 {
			maxima = append(maxima, i.Max)
		}
	}
	return Median(maxima)
}

// A Higher is a time in which the maxima of intervals are higher than in the rest of the run.
type Higher struct {
	Start, End int64 // milliseconds since the epoch
	// Times is the median maximum in this time divided by the median maximum outside.
	Times float64
	// More is about how many more maxima of this time are high than are low.
	More float64
}

// Narrow returns the exact time in which maxima are higher, given its approximate start and end in
// milliseconds since the epoch. It searches from margin milliseconds before from to margin
// milliseconds after to. The intervals outside give the usual level of the maxima.
func Narrow(intervals []Interval, from, to, margin int64) Higher {
	var otherwise []Interval
	for _, i := range intervals {
		if i.End <= from-margin || i.Start >= to+margin {
			otherwise = append(otherwise, i)
		}
	}
	low := MedianMax(otherwise)
	h := Higher{Start: from, End: to}
	high := func() float64 {
		var inside []Interval
		for _, i := range intervals {
			if i.Start >= h.Start && i.End <= h.End {
				inside = append(inside, i)
			}
		}
		return MedianMax(inside)
	}
	for range 2 { // at first, the approximate time can be too long for a right median
		h.Start, h.End, h.More = highestRun(intervals, from-margin, to+margin, low, high())
	}
	h.Times = high() / low
	return h
}

// highestRun returns the start and end of the intervals between from and to in which most maxima
// are nearer to the level high than to the level low, and [Higher.More].
func highestRun(intervals []Interval, from, to int64, low, high float64) (start, end int64, more float64) {
	middle, gap := math.Log(high*low)/2, math.Log(high/low)
	sum, most := 0.0, 0.0
	first := from
	for _, i := range intervals {
		if i.Count == 0 || i.Start < from || i.End > to {
			continue
		}
		if sum == 0 {
			first = i.Start
		}
		// A maximum at the high level adds 0.5, at the low level -0.5, and between in proportion.
		sum = max(sum+min(max((math.Log(i.Max)-middle)/gap, -0.5), 0.5), 0)
		if sum > most {
			most = sum
			start = first
			end = i.End
		}
	}
	return start, end, 2 * most
}

// Rates returns the values per second of the intervals that start from from to before to, and of
// all other intervals. A rate without intervals is 0.
func Rates(intervals []Interval, from, to int64) (inside, outside float64) {
	var count, millis [2]int64
	for _, i := range intervals {
		side := 1
		if i.Start >= from && i.Start < to {
			side = 0
		}
		count[side] += i.Count
		millis[side] += i.End - i.Start
	}
	rate := func(side int) float64 { return 1000 * float64(count[side]) / float64(max(millis[side], 1)) }
	return rate(0), rate(1)
}
