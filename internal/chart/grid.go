package chart

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
)

// A Grid is a heat map: values per second by column of time and row of value. Row 0 is for zeros.
// The others divide the logarithms of the values.
type Grid struct {
	From, To      float64 // milliseconds
	Low, High     float64 // values
	Columns, Rows int
	// Folded says that windows that end behind the last column go on in the first one.
	Folded bool
	// Ran is that of [Picture].
	Ran map[string][][2]int64
	// Rate has rows+1 cells for each column.
	Rate []float64
	// Longest is the longest time in a column in which logs ran, in milliseconds.
	Longest float64

	ran []float64 // for how long logs ran in each column
}

// Fill spreads the counts of windows over time and values.
func (g *Grid) Fill(all []Series) {
	g.Rate = make([]float64, g.Columns*(g.Rows+1))
	g.setRan(all)
	f := filler{Grid: g}
	for i := range all {
		f.add(&all[i])
	}
}

// setRan computes how long logs ran in each column. A column in which no log ran counts as its full
// width.
func (g *Grid) setRan(all []Series) {
	var times [][2]int64
	for n := range all {
		if n == 0 || all[n].Group != all[n-1].Group {
			ran := g.Ran[all[n].Group]
			if ran == nil {
				ran = [][2]int64{{int64(math.Floor(g.From)), int64(math.Ceil(g.To))}}
			}
			times = append(times, ran...)
		}
	}
	slices.SortFunc(times, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	width := (g.To - g.From) / float64(g.Columns)
	g.ran = make([]float64, g.Columns)
	at := g.From
	for _, t := range times {
		at = max(at, float64(t[0]))
		for n := int((at - g.From) / width); at < float64(t[1]) && n < g.Columns; n++ {
			next := min(float64(t[1]), g.From+float64(n+1)*width)
			g.ran[n] += max(next-at, 0)
			at = max(at, next)
		}
	}
	for n := range g.ran {
		if g.ran[n] == 0 || width-g.ran[n] < 1e-6*width {
			g.ran[n] = width
		}
	}
	g.Longest = slices.Max(g.ran)
}

// A filler fills a grid.
type filler struct {
	*Grid

	// taken has the rows of the slots of layout and unit. Logarithms cost more than all else.
	layout histogram.Layout
	unit   float64
	taken  []extent

	scratch histogram.Histogram
}

// An extent is where a slot begins and ends among the rows: row 2 goes from 2 to 3. An extent that
// is not known yet ends at 0.
type extent struct{ low, high float64 }

// add adds a series. It adds up the windows that lie in the same columns first: one column shows
// ten seconds of an hour.
func (f *filler) add(s *Series) {
	var (
		at     stretch
		counts []float64 // counts of each slot
		layout histogram.Layout
	)
	for i := range s.Windows {
		w := &s.Windows[i]
		next := f.stretchOf(w)
		next.perSecond /= float64(max(s.Runs, 1))
		if next != at || w.Counts.Layout() != layout {
			f.spread(at, layout, counts, s.Unit)
			at, layout = next, w.Counts.Layout()
		}
		for index, n := range w.Histogram(&f.scratch).Slots() {
			if index >= len(counts) {
				counts = append(counts, make([]float64, index+1-len(counts))...)
			}
			counts[index] += float64(n)
		}
	}
	f.spread(at, layout, counts, s.Unit)
}

// A stretch is the columns of a window, from first to last, and the factor for its counts.
type stretch struct {
	first, last int
	perSecond   float64
}

func (g *Grid) stretchOf(w *Window) stretch {
	width := (g.To - g.From) / float64(g.Columns)
	start, length := float64(w.Start), float64(w.Length())
	columns := g.Columns
	if g.Folded {
		columns *= 2
	}
	first, last := cells((start-g.From)/width, (start+length-g.From)/width, columns)
	ran := width
	if first == last {
		ran = g.ran[first%g.Columns]
	}
	return stretch{first, last, 1000 / math.Max(length, ran)}
}

// spread moves counts into their cells.
func (f *filler) spread(at stretch, layout histogram.Layout, counts []float64, unit float64) {
	for index, n := range counts {
		if n == 0 {
			continue
		}
		counts[index] = 0
		taken := f.rowsOf(layout, index, unit)
		rate := n * at.perSecond / (taken.high - taken.low)
		for row := int(taken.low); float64(row) < taken.high; row++ {
			share := rate * (min(taken.high, float64(row+1)) - max(taken.low, float64(row)))
			for column := at.first; column <= at.last; column++ {
				f.Rate[column%f.Columns*(f.Rows+1)+row] += share
			}
		}
	}
}

// rowsOf returns the rows of a slot.
func (f *filler) rowsOf(layout histogram.Layout, index int, unit float64) extent {
	if f.layout != layout || f.unit != unit {
		f.layout = layout
		f.unit = unit
		f.taken = nil
	}
	for len(f.taken) <= index {
		f.taken = append(f.taken, extent{})
	}
	taken := &f.taken[index]
	if taken.high > 0 {
		return *taken
	}
	if low := layout.LowestAt(index); low == 0 {
		taken.high = 1
	} else {
		// Both ends lie inside the rows, and at least a thousandth of a row apart.
		const least = 0.001
		high := float64(layout.HighestAt(index)) + 1
		taken.low = 1 + min(max(f.row(float64(low)*unit), 0), float64(f.Rows)-least)
		taken.high = 1 + min(max(f.row(high*unit), taken.low-1+least), float64(f.Rows))
	}
	return *taken
}

// row returns the place of a value among the rows.
func (g *Grid) row(v float64) float64 {
	return math.Log(v/g.Low) / math.Log(g.High/g.Low) * float64(g.Rows)
}

// cells returns the first and the last cell between two places, at least one. The places are
// rounded: cells that belong to two windows would show as seams.
func cells(from, to float64, most int) (first, last int) {
	first, last = int(math.Round(from)), int(math.Round(to))-1
	if last < first {
		first = int(from + (to-from)/2)
		last = first
	}
	return min(max(first, 0), most-1), min(max(last, 0), most-1)
}

// GridColumns returns into how many columns to divide the time, at most about so many. Each is as
// long as a whole number of windows of a length, or a window as long as a whole number of columns.
// Otherwise stripes would show.
func GridColumns(length, from, to, most float64) int {
	columns := (to - from) / length
	if columns > most {
		columns /= math.Ceil(columns / most)
	} else {
		columns *= math.Floor(most / columns)
	}
	if !(columns < most) {
		columns = most
	}
	return max(int(math.Round(columns)), 1)
}

// slotWidth is more than the width of a slot of windows' counts, as a part of its lowest value.
const slotWidth = 0.01

// WindowExtremes calls add with the highest value of each window that has values. It calls add with
// the lowest value, and with the lowest value above 0, only if they may be the lowest of a series.
func WindowExtremes(all []Series, add func(v float64)) {
	var scratch histogram.Histogram
	for _, s := range all {
		lowest := math.Inf(1) // above 0
		for _, w := range s.Windows {
			if w.Count == 0 {
				continue
			}
			add(w.Max)
			if w.Min*(1-slotWidth) > lowest {
				continue // its counts need not be decoded
			}
			for slot := range w.Histogram(&scratch).Recorded() {
				low := float64(slot.Low) * s.Unit
				add(low)
				if low > 0 {
					lowest = min(lowest, low)
					break // the others are higher
				}
			}
		}
	}
}

// Maxima returns the maximum of each window.
func (s *Series) Maxima() (points []Point) {
	for _, w := range s.Windows {
		points = append(points, Point{float64(w.Start), float64(w.Start + w.Length()), w.Max})
	}
	return points
}
