package chart

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
)

// A Grid has the cells of a heat map: the rate of values by column of time and row of value. Row 0
// has the zeros. The other rows divide the values from Low to High on a logarithmic scale.
type Grid struct {
	From, To      float64 // times in milliseconds from the origin
	Low, High     float64 // values
	Columns, Rows int
	// Folded says that windows that end behind the last column continue in the first column.
	Folded bool
	// Ran are the times in which logs ran, see [Picture].
	Ran map[string][][2]int64
	// Rate has the number of values per second of each cell. A column has Rows+1 cells.
	Rate []float64
	// Longest is the longest time in milliseconds in which logs ran in a column.
	Longest float64

	ran []float64 // how long logs ran in each column, in milliseconds
}

// Fill computes the rates of all cells from the windows of series.
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

// A filler spreads the counts of windows over the cells of a grid.
type filler struct {
	*Grid

	// rows caches the rows of each slot of a layout and unit, since logarithms take most of the
	// time.
	layout histogram.Layout
	unit   float64
	rows   []extent

	scratch histogram.Histogram
}

// An extent is the range of rows that a slot of a histogram covers: row 2 goes from 2 to 3. High is
// 0 in an extent that was not computed yet.
type extent struct{ low, high float64 }

// add adds the windows of a series. It first adds up windows that lie in the same columns, since
// one column may show several windows.
func (f *filler) add(s *Series) {
	var (
		at     columnRange
		counts []float64 // counts of each slot
		layout histogram.Layout
	)
	for i := range s.Windows {
		w := &s.Windows[i]
		next := f.columnsOf(w)
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

// A columnRange is the columns that a window covers.
type columnRange struct {
	first, last int
	perSecond   float64 // factor from counts of the window to rates
}

func (g *Grid) columnsOf(w *Window) columnRange {
	width := (g.To - g.From) / float64(g.Columns)
	start, length := float64(w.Start), float64(w.Length())
	columns := g.Columns
	if g.Folded {
		columns *= 2
	}
	first, last := cellsBetween((start-g.From)/width, (start+length-g.From)/width, columns)
	ran := width
	if first == last {
		ran = g.ran[first%g.Columns]
	}
	return columnRange{first, last, 1000 / math.Max(length, ran)}
}

// spread adds counts by slot to the cells of a range of columns, and clears them.
func (f *filler) spread(at columnRange, layout histogram.Layout, counts []float64, unit float64) {
	for index, n := range counts {
		if n == 0 {
			continue
		}
		counts[index] = 0
		rows := f.rowsOf(layout, index, unit)
		rate := n * at.perSecond / (rows.high - rows.low)
		for row := int(rows.low); float64(row) < rows.high; row++ {
			share := rate * (min(rows.high, float64(row+1)) - max(rows.low, float64(row)))
			for column := at.first; column <= at.last; column++ {
				f.Rate[column%f.Columns*(f.Rows+1)+row] += share
			}
		}
	}
}

// rowsOf returns the rows that the slot at an index of a layout covers. Unit is the value in the
// picture of the value 1 of the layout.
func (f *filler) rowsOf(layout histogram.Layout, index int, unit float64) extent {
	if f.layout != layout || f.unit != unit {
		f.layout = layout
		f.unit = unit
		f.rows = nil
	}
	for len(f.rows) <= index {
		f.rows = append(f.rows, extent{})
	}
	rows := &f.rows[index]
	if rows.high > 0 {
		return *rows
	}
	if low := layout.LowestAt(index); low == 0 {
		rows.high = 1
	} else {
		// Both ends lie inside the rows, and at least a thousandth of a row apart.
		const least = 0.001
		high := float64(layout.HighestAt(index)) + 1
		rows.low = 1 + min(max(f.row(float64(low)*unit), 0), float64(f.Rows)-least)
		rows.high = 1 + min(max(f.row(high*unit), rows.low-1+least), float64(f.Rows))
	}
	return *rows
}

// row returns the place of a value above 0 on the scale of rows, from 0 at Low to Rows at High.
func (g *Grid) row(v float64) float64 {
	return math.Log(v/g.Low) / math.Log(g.High/g.Low) * float64(g.Rows)
}

// cellsBetween returns the first and the last of most cells between two places, at least one cell.
// It rounds the places: a cell that belonged to two windows would show as a seam.
func cellsBetween(from, to float64, most int) (first, last int) {
	first, last = int(math.Round(from)), int(math.Round(to))-1
	if last < first {
		first = int(from + (to-from)/2)
		last = first
	}
	return min(max(first, 0), most-1), min(max(last, 0), most-1)
}

// GridColumns returns the number of columns, about most or fewer, for a time from from to to. A
// column is as long as a whole number of windows of a length, or a window is as long as a whole
// number of columns. With other numbers, stripes would show.
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

// slotWidth is an upper bound for the width of a slot in the counts of windows, as a part of the
// lowest value of the slot.
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
				continue // no need to decode the counts
			}
			for slot := range w.Histogram(&scratch).Recorded() {
				low := float64(slot.Low) * s.Unit
				add(low)
				if low > 0 {
					lowest = min(lowest, low)
					break // later slots are higher
				}
			}
		}
	}
}

// Maxima returns the maximum of each window as a point.
func (s *Series) Maxima() (points []Point) {
	for _, w := range s.Windows {
		points = append(points, Point{float64(w.Start), float64(w.Start + w.Length()), w.Max})
	}
	return points
}
