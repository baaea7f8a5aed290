package chart

import (
	"cmp"
	"math"
	"slices"
)

// Stretches splits points, which are in order of time, at gaps, and thins them to columns of a
// width in milliseconds. Of each column it keeps the first, the lowest, the highest and the last
// point, so that no spike is lost. Gaps narrower than a column do not split, since nobody can see
// them.
func Stretches(points []Point, width float64) [][]Point {
	slack := math.Max(TypicalLength(points)/2, width)
	var (
		all     [][]Point
		stretch []Point
		column  []Point // the points of one column that are not in stretch yet
		end     = math.Inf(-1)
	)
	flush := func() {
		stretch = append(stretch, extremes(column)...)
		column = column[:0]
	}
	for _, p := range points {
		if math.IsNaN(p.Value) {
			continue
		}
		if p.Start > end+slack {
			flush()
			if stretch != nil {
				all = append(all, stretch)
			}
			stretch = nil
		}
		if len(column) > 0 && math.Floor(p.Middle()/width) != math.Floor(column[0].Middle()/width) {
			flush()
		}
		column = append(column, p)
		end = math.Max(end, p.End)
	}
	flush()
	if stretch != nil {
		all = append(all, stretch)
	}
	return all
}

// extremes returns the first, lowest, highest and last point in order of time, without duplicates.
func extremes(points []Point) []Point {
	if len(points) < 3 {
		return slices.Clone(points)
	}
	low, high := 0, 0
	for i, p := range points {
		if p.Value < points[low].Value {
			low = i
		}
		if p.Value > points[high].Value {
			high = i
		}
	}
	at := []int{0, low, high, len(points) - 1}
	slices.Sort(at)
	var kept []Point
	for _, i := range slices.Compact(at) {
		kept = append(kept, points[i])
	}
	return kept
}

// TypicalLength returns the median length of points in milliseconds. For points without length it
// returns three times the median of the times between them.
func TypicalLength(points []Point) float64 {
	lengths := make([]float64, 0, len(points))
	for _, p := range points {
		lengths = append(lengths, p.End-p.Start)
	}
	if m := median(lengths); m > 0 {
		return m
	}
	lengths = lengths[:0]
	for i := 1; i < len(points); i++ {
		lengths = append(lengths, points[i].Start-points[i-1].Start)
	}
	// A point without length ends where it starts. The slack between two points of a stretch is
	// half of the typical length, and must be longer than the time to the next point.
	return 3 * median(lengths)
}

// median sorts values and returns their median, 0 if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// timeRange returns when the first point or window of series starts and when the last one ends. Ok
// is false if there is none.
func timeRange(series []Series) (from, to float64, ok bool) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, line := range append(slices.Clone(s.Lines), Line{Points: s.Maxima()}) {
			for _, p := range line.Points {
				from, to = math.Min(from, p.Start), math.Max(to, p.End)
			}
		}
	}
	return from, to, from <= to
}

// Highest returns the elements with the highest values, in descending order, and the rest. Limit is
// the number of elements with the highest values. If there are no more elements, Highest returns
// all in their own order.
func Highest[T any](all []T, value func(*T) float64, limit int) (shown, rest []T) {
	if len(all) <= limit {
		return all, nil
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b T) int { return cmp.Compare(value(&b), value(&a)) })
	return sorted[:limit], sorted[limit:]
}

// PageColumns is the number of columns to which the lines of a page are thinned. It is several
// times the width of a screen, so that readers can zoom in.
const PageColumns = 4000

// SplitAt splits points, which are in order of time, at a start: into points that start earlier,
// and the rest.
func SplitAt(points []Point, start int64) (before, after []Point) {
	byStart := func(p Point, start float64) int { return cmp.Compare(p.Start, start) }
	n, _ := slices.BinarySearchFunc(points, float64(start), byStart)
	return points[:n], points[n:]
}

// Thinned thins the points of a line, which are in order of time, to four in each column of a width
// in milliseconds.
func Thinned(points []Point, width float64) []Point {
	return slices.Concat(Stretches(points, width)...)
}
