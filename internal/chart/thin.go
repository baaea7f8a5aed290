package chart

import (
	"cmp"
	"math"
	"slices"
)

// Runs splits points, which are in order of time, at gaps, and thins them to columns of a width in
// milliseconds. Of each column it keeps the first point, the lowest, the highest and the last, so
// that no spike is lost. A gap narrower than a column splits nothing, since nobody can see it.
func Runs(points []Point, width float64) [][]Point {
	slack := math.Max(TypicalLength(points)/2, width)
	var (
		all    [][]Point
		run    []Point
		column []Point // the points of one column that are not in run yet
		end    = math.Inf(-1)
	)
	flush := func() {
		run = append(run, extremes(column)...)
		column = column[:0]
	}
	for _, p := range points {
		if math.IsNaN(p.Value) {
			continue
		}
		if p.Start > end+slack {
			flush()
			if run != nil {
				all = append(all, run)
			}
			run = nil
		}
		if len(column) > 0 && math.Floor(p.Middle()/width) != math.Floor(column[0].Middle()/width) {
			flush()
		}
		column = append(column, p)
		end = math.Max(end, p.End)
	}
	flush()
	if run != nil {
		all = append(all, run)
	}
	return all
}

// extremes returns the first, lowest, highest and last of points, in order, each once.
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

// TypicalLength returns the median of the lengths of points, or of the times between them if they
// have none.
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
	// A point without length ends where it starts. So the slack, which is half of this, must be
	// longer than the time to the next point.
	return 3 * median(lengths)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// timeRange returns when the first point starts and the last one ends, and false if there is none.
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

// Highest returns the most things of the highest value, the highest first, and the rest. If they
// are no more, they stay in their order.
func Highest[T any](all []T, highest func(*T) float64, most int) (shown, rest []T) {
	if len(all) <= most {
		return all, nil
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b T) int { return cmp.Compare(highest(&b), highest(&a)) })
	return sorted[:most], sorted[most:]
}

// PageColumns is how many columns the lines of a page are thinned to: several times the width of a
// screen, so that there is something to zoom into.
const PageColumns = 4000

// SplitAt splits points, which are in order of time, into those that start before a time, and the
// others.
func SplitAt(points []Point, start int64) (before, after []Point) {
	byStart := func(p Point, start float64) int { return cmp.Compare(p.Start, start) }
	n, _ := slices.BinarySearchFunc(points, float64(start), byStart)
	return points[:n], points[n:]
}

// Thinned thins the points of a line, which are in order of time, to four in each column of a width
// in milliseconds.
func Thinned(points []Point, width float64) []Point { return slices.Concat(Runs(points, width)...) }
