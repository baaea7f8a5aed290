package draw

import (
	"image"
	"image/color"
	imagedraw "image/draw"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page"
)

// Heatmap is a chart of how many values there were, by time and value.
var Heatmap = &Type{
	Name:    "heatmap",
	Options: []string{"agg", "time", "compare", "mark", "tz"},
	Chart: page.Chart{
		Marks: page.Cells, Name: "value", Log: true, Empty: "no values were recorded", EmptyView: "no interval with values starts in this time",
	},
	Worst: true,
	draw:  (*sheet).heatmap,
}

// A grid is a heat map: values per second by column of time and row of value. Row 0 is for zeros.
// The others divide the logarithms of the values.
type grid struct {
	from, to      float64 // milliseconds
	low, high     float64 // values
	columns, rows int
	rate          []float64
}

// A span is a range of cells, both ends included.
type span struct{ first, last int }

// cellSize is the width and height of a cell in pixels.
const cellSize = 3

func newGrid(from, to, low, high float64, columns, rows int) *grid {
	return &grid{from: from, to: to, low: low, high: high, columns: columns, rows: rows, rate: make([]float64, columns*(rows+1))}
}

// add spreads the counts of windows over time and values. One goroutine for each processor fills
// some of the columns. All of them add in the same order, so that the sums do not depend on their
// number.
func (g *grid) add(all []WindowSeries) {
	workers := min(runtime.GOMAXPROCS(0), g.columns)
	var running sync.WaitGroup
	for n := range workers {
		f := filler{grid: g, columns: span{n * g.columns / workers, (n+1)*g.columns/workers - 1}}
		running.Go(func() {
			for i := range all {
				f.add(&all[i])
			}
		})
	}
	running.Wait()
}

// A filler fills some columns of a grid.
type filler struct {
	*grid
	columns span

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
func (f *filler) add(ws *WindowSeries) {
	var (
		at     stretch
		counts []float64 // by slot
		layout histogram.Layout
	)
	for i := range ws.Windows {
		w := &ws.Windows[i]
		if next := f.stretchOf(w); next != at || w.counts.Layout() != layout {
			f.spread(at, layout, counts, ws.Unit)
			at, layout = next, w.counts.Layout()
		}
		if at.columns.last < f.columns.first || at.columns.first > f.columns.last {
			continue
		}
		for index, n := range w.histogram(&f.scratch).Slots() {
			if index >= len(counts) {
				counts = append(counts, make([]float64, index+1-len(counts))...)
			}
			counts[index] += float64(n)
		}
	}
	f.spread(at, layout, counts, ws.Unit)
}

// A stretch is the columns of a window, and the factor for its counts.
type stretch struct {
	columns   span
	perSecond float64
}

func (g *grid) stretchOf(w *Window) stretch {
	width := (g.to - g.from) / float64(g.columns)
	start, length := float64(w.Start), float64(w.length())
	first, last := cells((start-g.from)/width, (start+length-g.from)/width, g.columns)
	return stretch{span{first, last}, 1000 / math.Max(length, width)}
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
			for column := max(at.columns.first, f.columns.first); column <= min(at.columns.last, f.columns.last); column++ {
				f.rate[column*(f.rows+1)+row] += share
			}
		}
	}
}

// rowsOf returns the rows of a slot.
func (f *filler) rowsOf(layout histogram.Layout, index int, unit float64) extent {
	if f.layout != layout || f.unit != unit {
		f.layout, f.unit, f.taken = layout, unit, nil
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
		taken.low = 1 + min(max(f.row(float64(low)*unit), 0), float64(f.rows)-least)
		taken.high = 1 + min(max(f.row(high*unit), taken.low-1+least), float64(f.rows))
	}
	return *taken
}

// row returns the place of a value among the rows.
func (g *grid) row(v float64) float64 {
	return math.Log(v/g.low) / math.Log(g.high/g.low) * float64(g.rows)
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

// percentile returns the value below which a share of a column's values are, NaN if it has none. It
// is as precise as the rows.
func (g *grid) percentile(column int, share float64) float64 {
	rates := g.rate[column*(g.rows+1) : (column+1)*(g.rows+1)]
	total := 0.0
	for _, r := range rates {
		total += r
	}
	left := share * total
	for row, r := range rates {
		if r > 0 && left <= r*(1+1e-9) {
			if row == 0 {
				return 0
			}
			return g.low * math.Pow(g.high/g.low, (float64(row-1)+min(left/r, 1))/float64(g.rows))
		}
		left -= r
	}
	return math.NaN()
}

// line returns a percentile over time.
func (g *grid) line(share float64) (points []Point) {
	width := (g.to - g.from) / float64(g.columns)
	for column := range g.columns {
		start := g.from + float64(column)*width
		points = append(points, Point{start, start + width, g.percentile(column, share)})
	}
	return points
}

// heatBounds are the lowest and the highest rate of the scale of colours that facets share. Until
// they are known, heat maps widen them and draw no cells.
type heatBounds struct {
	least, most float64
	known       bool
}

// heatmap draws a heat map of all series together, or the difference of two logs.
func (s *sheet) heatmap() {
	if before, after, ok := s.compared(); ok {
		s.difference(before, after)
		return
	}
	s.reserveMarks()
	s.measureArea()
	series, values := s.whole.windowRange()
	from, to, recorded := s.timeAxis(series)
	recorded = recorded && (values.high > 0 || values.zero)
	for _, l := range s.Limits {
		values.add(l.Value)
	}
	s.valueAxis(values)
	if !s.Facets {
		s.area.Max.X -= barWidth
	}
	bar := s.area.Max.X + 20*pixel
	var endings []ending
	for i, percentile := range heatLines {
		if s.before != nil {
			break
		}
		endings = append(endings, ending{label: shortName(AtPercentile(percentile).Name), style: style{colour: s.colours.text, dashes: dashes[2-2*i]}})
	}
	s.reserveEndings(endings, s.Limits)

	s.chart(func(c draw.Canvas, x, y func(float64) vg.Length) {
		if !recorded {
			s.message(c, s.what.Empty)
			return
		}
		bottom := y(s.lowest)
		size := cellSize
		if s.before != nil {
			size = changeSize
		}
		rows := max(int((c.Max.Y-bottom)/pixel)/size, 1)
		length := 0.0 // of the windows
		for _, s := range series {
			length = math.Max(length, typicalLength(s.Lines[0].Points))
		}
		columns := gridColumns(length, from, to, float64((c.Max.X-c.Min.X)/pixel)/float64(size))
		g := newGrid(from, to, s.lowest, math.Pow(10, s.plot.Y.Max), columns, rows)
		g.add(s.Windows)
		if s.before != nil {
			if s.bounds.known {
				before := newGrid(from, to, g.low, g.high, columns, rows)
				before.add(s.before)
				s.drawCells(c, x, y, g, bottom, s.changes(before.rate, g.rate))
				s.drawEndings(c, y, nil, s.Limits)
				s.drawMarks(c, x)
			}
			return
		}
		// The scale goes from one value in a cell to the most.
		least, most := 1000/math.Max(length, (to-from)/float64(columns)), slices.Max(g.rate)
		if b := s.bounds; b != nil {
			if !b.known {
				if most > 0 && (b.least == 0 || least < b.least) {
					b.least = least
				}
				b.most = max(b.most, most)
				return
			}
			least, most = b.least, b.most
		}
		s.drawCells(c, x, y, g, bottom, s.heats(g.rate, least, most))
		for i := range endings {
			points := g.line(heatLines[i] / 100)
			for _, run := range runs(points, 0.9*(to-from)/float64(columns)) {
				path := stepPath(run, x, y)
				s.stroke(c, style{colour: s.background}, 3*pixel, path)
				s.stroke(c, endings[i].style, 1.2*pixel, path)
				endings[i].value = run[len(run)-1].Value
			}
		}
		s.drawEndings(c, y, endings, s.Limits)
		s.drawMarks(c, x)
		s.drawWorst(c, x, y)
		if s.bounds == nil {
			s.drawColourBar(c.Rectangle, bar, s.heatBar(least, most))
		}
	})
}

// heatLines are the percentiles that have a line over a heat map.
var heatLines = []float64{50, 99}

// gridColumns returns into how many columns to divide the time, at most about so many. Each is as
// long as a whole number of windows of a length, or a window as long as a whole number of columns.
// Otherwise stripes would show.
func gridColumns(length, from, to, most float64) int {
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

// windowRange returns the time and the values of all windows.
func (p *Picture) windowRange() (series []Series, values valueRange) {
	values = newRange()
	var scratch histogram.Histogram
	for _, ws := range p.Windows {
		for _, w := range ws.Windows {
			if w.Count == 0 {
				continue
			}
			values.add(w.Max)
			for slot := range w.histogram(&scratch).Recorded() {
				low := float64(slot.Low) * ws.Unit
				values.add(low)
				if low > 0 {
					break // the others are higher
				}
			}
		}
		series = append(series, Series{Lines: []Line{{Points: ws.maxima()}}})
	}
	return series, values
}

// maxima returns the maximum of each window.
func (ws *WindowSeries) maxima() (points []Point) {
	for _, w := range ws.Windows {
		points = append(points, Point{float64(w.Start), float64(w.Start + w.length()), w.Max})
	}
	return points
}

// A cell is how a cell looks. Without values it has no colour. Stripes are [stripe] pixels apart.
type cell struct {
	colour  color.NRGBA
	striped bool
}

// heats returns the looks of cells by their rates.
func (c *colours) heats(rates []float64, least, most float64) []cell {
	cells := make([]cell, len(rates))
	for i, rate := range rates {
		if rate > 0 {
			cells[i].colour = color.NRGBA(c.heatAt(part(rate, least, most))) // opaque, so that both kinds are the same
		}
	}
	return cells
}

// drawCells draws the grid as an image, dot by dot, so that nothing blurs the cells. The image
// contains the background and the grid of the axes, since some programs draw an outline around
// transparent parts. The row of zeros is at the bottom.
func (s *sheet) drawCells(c draw.Canvas, x, y func(float64) vg.Length, g *grid, bottom vg.Length, cells []cell) {
	dots := func(l vg.Length) int { return int(math.Round(float64(l/pixel) * float64(s.DPI) / 96)) }
	width, height := max(dots(c.Max.X-c.Min.X), 1), max(dots(c.Max.Y-c.Min.Y), 1)
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	imagedraw.Draw(img, img.Rect, image.NewUniform(s.background), image.Point{}, imagedraw.Src)
	line, half := image.NewUniform(s.grid), dots(pixel)/2
	for _, tick := range s.plot.X.Tick.Marker.Ticks(0, 0) {
		if at := dots(x(tick.Value) - c.Min.X); !tick.IsMinor() {
			imagedraw.Draw(img, image.Rect(at-half, 0, at-half+max(dots(pixel), 1), height), line, image.Point{}, imagedraw.Src)
		}
	}
	for _, tick := range s.plot.Y.Tick.Marker.Ticks(0, 0) {
		if at := height - dots(y(math.Pow(10, tick.Value))-c.Min.Y); !tick.IsMinor() {
			imagedraw.Draw(img, image.Rect(0, at-half, width, at-half+max(dots(pixel), 1)), line, image.Point{}, imagedraw.Src)
		}
	}
	gap := dots(bottom - c.Min.Y)
	for y := range height {
		row := 0
		if up := height - gap - 1 - y; up >= 0 {
			row = 1 + up*g.rows/(height-gap)
		} else if height-y > gap/3 {
			continue
		}
		for x := range width {
			if cell := &cells[x*g.columns/width*(g.rows+1)+row]; cell.colour.A > 0 && (!cell.striped || y/max(dots(pixel), 1)%stripe == 0) {
				img.SetNRGBA(x, y, cell.colour)
			}
		}
	}
	c.DrawImage(c.Rectangle, img)
}

// part returns the place of v on a logarithmic scale, from 0 to 1.
func part(v, least, most float64) float64 {
	if most <= least {
		return 1
	}
	return math.Log(v/least) / math.Log(most/least)
}

// colourTicks returns the powers of ten from least to most. If they are few, it adds two and five
// times each.
func colourTicks(least, most float64) (ticks []float64) {
	digits := []float64{1}
	if most/least < 1e3 {
		digits = []float64{1, 2, 5}
	}
	for e := int(math.Floor(math.Log10(least))); e <= int(math.Ceil(math.Log10(most))); e++ {
		for _, digit := range digits {
			if v := digit * axis.Power10(e); v >= least*(1-1e-9) && v <= most*(1+1e-9) {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

// A colourBar is a scale of colours, with labels at parts of it, from 0 to 1, and a title of two
// lines.
type colourBar struct {
	at    func(part float64) color.RGBA
	ticks []barTick
	title [2]string
}

type barTick struct {
	part  float64
	label string
}

// heatBar returns the scale of a heat map.
func (c *colours) heatBar(least, most float64) colourBar {
	bar := colourBar{at: c.heatAt, title: [2]string{"values", "per second"}}
	for _, rate := range colourTicks(least, most) {
		bar.ticks = append(bar.ticks, barTick{part(rate, least, most), axis.Short(rate)})
	}
	return bar
}

// drawColourBar draws a scale of colours to the right of the chart.
func (s *sheet) drawColourBar(r vg.Rectangle, x vg.Length, bar colourBar) {
	const steps = 64
	c := s.area
	c.Rectangle = r
	height, titles := c.Max.Y-c.Min.Y, 8*pixel+2*tickSize*lineSpace
	height = max(min(height*0.8, height-titles), 0)
	bottom := c.Min.Y
	for i := range steps {
		y := bottom + height*vg.Length(i)/steps
		top := bottom + height*vg.Length(i+1)/steps
		if i < steps-1 {
			top += 0.5 * pixel // no seams
		}
		c.FillPolygon(bar.at((float64(i)+0.5)/steps), []vg.Point{
			{X: x, Y: y}, {X: x + 16*pixel, Y: y}, {X: x + 16*pixel, Y: top}, {X: x, Y: top}})
	}
	label := s.textStyle(tickSize)
	label.Color, label.YAlign = s.colours.text, text.YCenter
	last := bottom - tickSize*lineSpace
	for _, tick := range bar.ticks {
		at := bottom + height*vg.Length(tick.part)
		if at-last < tickSize*lineSpace {
			continue
		}
		last = at
		c.StrokeLine2(draw.LineStyle{Color: s.faint, Width: pixel}, x+16*pixel, at, x+20*pixel, at)
		c.FillText(label, vg.Point{X: x + 24*pixel, Y: at}, tick.label)
	}
	label.YAlign = text.YBottom
	for i, title := range bar.title {
		c.FillText(label, vg.Point{X: x, Y: bottom + height + 8*pixel + tickSize*lineSpace*vg.Length(1-i)}, title)
	}
}
