package detect

import "math"

// An Interval has the number of values that were recorded from Start to End, in milliseconds, and
// the highest one.
type Interval struct {
	Start, End, Count int64
	Max               float64
}

// leastMaxima is the least number of maxima that tell what chance makes of them.
const leastMaxima = 10

// Bound returns what the highest of sorted maxima exceeds in one of a hundred logs by chance. The
// maxima of independent values have Gumbel's distribution, on a scale that depends on their tail:
// on that of values if it is exponential, on that of logarithms if it is a power. This takes the
// fourth root, which lies between, and the quantiles of a half and nine tenths, which a few bad
// moments do not move.
func Bound(sorted []float64) float64 {
	if len(sorted) < leastMaxima {
		return math.Inf(1)
	}
	root := func(part float64) float64 { return math.Sqrt(math.Sqrt(sorted[int(part*float64(len(sorted)-1))])) }
	half, most := root(0.5), root(0.9)
	gumbel := func(part float64) float64 { return -math.Log(-math.Log(part)) }
	scale := (most - half) / (gumbel(0.9) - gumbel(0.5))
	return math.Pow(half+scale*(math.Log(100*float64(len(sorted)))-gumbel(0.5)), 4)
}

// MedianMax returns the median of the maxima of intervals that have values.
func MedianMax(intervals []Interval) float64 {
	var maxima []float64
	for _, i := range intervals {
		if i.Count > 0 {
			maxima = append(maxima, i.Max)
		}
	}
	return Median(maxima)
}

// A Higher is a time in which maxima are higher than otherwise.
type Higher struct {
	Start, End int64 // in milliseconds
	// Times is how many times as high maxima are then as otherwise. More is by how many more of
	// them are high than are not.
	Times, More float64
}

// Narrow finds when maxima began and ceased to be higher that were so about from a time to another
// one, up to a margin: where most of them are above the middle of what they are then and otherwise.
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
	for range 2 { // the first time, they may be higher in a small part of it
		h.Start, h.End, h.More = highestRun(intervals, from-margin, to+margin, low, high())
	}
	h.Times = high() / low
	return h
}

// highestRun returns the time between two times in which most maxima are nearer to a high level
// than to a low one, and by how many more they are than the others.
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
		// How far it is on one side of the middle counts, up to both levels.
		sum = max(sum+min(max((math.Log(i.Max)-middle)/gap, -0.5), 0.5), 0)
		if sum > most {
			most = sum
			start = first
			end = i.End
		}
	}
	return start, end, 2 * most
}

// Rates returns the values per second of intervals that begin from a time to before another one,
// and of the others: 0 if there are none.
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
