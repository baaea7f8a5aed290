package draw

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

const (
	// cellSize is the width and height of a cell in pixels.
	cellSize = 4
	// changeSize is the size of a cell in the difference of two heat maps. Most smaller cells would
	// differ by chance alone.
	changeSize = 9
	// stripe is the distance in pixels of the stripes in cells with values in one log only.
	stripe = 3
)

// barWidth is the width of the scale of colours to the right of a heat map, with its labels.
const barWidth = 110 * pixel

// A heatScale is the scale of colours that the heat maps of a picture share. Their panels set it
// up.
type heatScale struct {
	least, most float64 // the rates at the ends of the scale
	hasLower    bool    // some cells have rates below least
	// length is the length of an interval in milliseconds. Labels are numbers of values in this
	// time, so that one value in a cell of this length is labelled 1.
	length float64
}

// heatPanel returns a panel with the heat map of p, on axes for the windows of whole. If before is
// not nil, the map shows the rates of p divided by those of before. The panel adds its rates to
// colours.
func (c *pen) heatPanel(p, whole *chart.Picture, before []chart.Series, outer vg.Rectangle, colours *heatScale) *panel {
	pn := c.newPanel(chart.Heatmap, p, whole, outer)
	pn.content.values = func(add func(v float64)) { chart.WindowExtremes(whole.Series, add) }
	pn.around.across, pn.around.headroom = p.LabelledLimits(), 4*pixel
	if len(p.Events.Worst) > 0 {
		pn.around.headroom = 2*numberRadius + 6*pixel
	}
	lines := p.Total.Lines
	if len(lines) > 0 && before == nil {
		lines = lines[:len(lines)-1] // the last one is a rate
		pn.around.endings = c.endingsOverHeat(lines)
	}
	from, to := pn.x.low, pn.x.high
	grid, old := &chart.Grid{From: from, To: to, Ran: p.Ran, Folded: whole.Time.Fold > 0}, &chart.Grid{}
	pn.content.prepare = func() {
		length := 0.0 // typical length of a window, of the series with the longest ones
		for _, s := range whole.Series {
			length = math.Max(length, chart.TypicalLength(s.Maxima()))
		}
		size := float64(cellSize)
		if before != nil {
			size = changeSize
		}
		grid.Low, grid.High = pn.y.lowest, pn.y.high
		grid.Columns = chart.GridColumns(length, from, to, float64((pn.frame.Max.X-pn.frame.Min.X)/pixel)/size)
		grid.Rows = max(int(float64((pn.frame.Max.Y-pn.Y(grid.Low))/pixel)/size), 1)
		grid.Fill(p.Series)
		if before != nil {
			*old = *grid
			old.Fill(before)
			return
		}
		// The scale goes from the rate of one value in a cell to the highest rate.
		colours.length = cmp.Or(length, grid.Longest)
		least := 1000 / math.Max(length, grid.Longest)
		for _, rate := range grid.Rate {
			colours.most = max(colours.most, rate)
			colours.hasLower = colours.hasLower || rate > 0 && rate < least*0.99
		}
		colours.least = min(cmp.Or(colours.least, least), least)
	}
	pn.content.paint = func() {
		if before != nil {
			pn.drawCells(grid, c.changeCells(old.Rate, grid.Rate))
			return
		}
		pn.drawCells(grid, c.heatCells(grid.Rate, colours))
		pn.drawBreaches([]chart.Series{p.Total})
		for i, line := range lines[:min(len(lines), len(pn.around.endings))] {
			pn.drawLineOverHeat(pn.around.endings[i].style, line.Points)
		}
		pn.drawNumbers(p.HasSeries)
	}
	return pn
}

// endingsOverHeat returns the labels at the ends of lines over a heat map.
func (c *pen) endingsOverHeat(lines []chart.Line) (endings []ending) {
	var names []string
	for _, line := range lines {
		names = append(names, line.Name)
	}
	for _, line := range lines {
		for _, point := range slices.Backward(line.Points) {
			if !math.IsNaN(point.Value) {
				endings = append(endings, ending{
					value: point.Value,
					label: line.Name,
					style: c.styleOverHeat(line.Name, names),
				})
				break
			}
		}
	}
	return endings
}

// styleOverHeat returns the style of a line over a heat map. Names are the names of all lines.
func (c *pen) styleOverHeat(name string, names []string) style {
	st := c.styleOf(chart.StyleOf(name, names))
	if st.area {
		st = style{colour: c.Text, area: true}
	}
	return st
}

// drawLineOverHeat draws a line with an edge in the colour of the background.
func (pn *panel) drawLineOverHeat(st style, points []chart.Point) {
	width := (pn.x.high - pn.x.low) / float64(max(pn.pen.dots(pn.frame.Max.X-pn.frame.Min.X), 50))
	edge := style{colour: pn.pen.Background}
	for _, stretch := range chart.Stretches(points, width) {
		path := stepPath(stretch, pn.X, pn.inside)
		if st.area {
			pn.pen.strokeParts(edge, 3*pixel, path)
			pn.pen.strokeParts(style{colour: st.colour}, 1.6*pixel, path)
			continue
		}
		pn.pen.stroke(edge, 3*pixel, path...)
		pn.pen.stroke(st, 1.5*pixel, path...)
	}
}

// A cell is the colour of a cell of a heat map. A cell without values is transparent.
type cell struct {
	colour  color.NRGBA
	striped bool
}

// heatCells returns the cells of a heat map for their rates.
func (c *pen) heatCells(rates []float64, colours *heatScale) []cell {
	cells := make([]cell, len(rates))
	for i, rate := range rates {
		if rate > 0 {
			cells[i].colour = pale(chart.At(c.Heat, logPart(rate, colours.least, colours.most)), 1)
		}
	}
	return cells
}

// changeCells returns the cells of the difference of two heat maps for their rates before and
// after. A cell that has values in one log only has stripes in the colour of that end of the scale.
func (c *pen) changeCells(before, after []float64) []cell {
	cells := make([]cell, len(after))
	for i, rate := range after {
		switch {
		case rate > 0 && before[i] > 0:
			cells[i] = cell{pale(chart.At(c.Change, chart.ChangePart(rate/before[i])), 1), false}
		case rate > 0:
			cells[i] = cell{pale(chart.At(c.Change, 1), 1), true}
		case before[i] > 0:
			cells[i] = cell{pale(chart.At(c.Change, 0), 1), true}
		}
	}
	return cells
}

// drawCells draws the cells of a grid as an image, dot by dot, so that nothing blurs the cells. The
// image contains the background and the grid lines, since some programs draw an outline around
// transparent parts. The row of zeros is at the bottom.
func (pn *panel) drawCells(g *chart.Grid, cells []cell) {
	f := pn.frame
	width := max(pn.pen.dots(f.Max.X-f.Min.X), 1)
	height := max(pn.pen.dots(f.Max.Y-f.Min.Y), 1)
	thick := max(pn.pen.dots(pixel), 1)
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	fill := func(r image.Rectangle, c color.Color) {
		imagedraw.Draw(img, r, image.NewUniform(c), image.Point{}, imagedraw.Src)
	}
	fill(img.Rect, pn.pen.Background)
	shades, shade := pn.shades()
	for _, r := range shades {
		fill(image.Rect(pn.pen.dots(r.Min.X-f.Min.X), 0, pn.pen.dots(r.Max.X-f.Min.X), height), shade)
	}
	for _, t := range pn.x.ticks {
		at := pn.pen.dots(pn.X(t.Value) - f.Min.X)
		if t.Label != "" {
			fill(image.Rect(at-thick/2, 0, at-thick/2+thick, height), pn.pen.Grid)
		}
	}
	for _, t := range pn.y.ticks {
		at := height - pn.pen.dots(pn.Y(t.Value)-f.Min.Y)
		if t.Label != "" {
			fill(image.Rect(0, at-thick/2, width, at-thick/2+thick), pn.pen.Grid)
		}
	}
	gap := pn.pen.dots(pn.Y(g.Low) - f.Min.Y)
	for y := range height {
		row := 0
		if up := height - gap - 1 - y; up >= 0 {
			row = 1 + up*g.Rows/(height-gap)
		} else if height-y > gap/2 {
			continue
		}
		for x := range width {
			if cell := &cells[x*g.Columns/width*(g.Rows+1)+row]; cell.colour.A > 0 && (!cell.striped || y/thick%stripe == 0) {
				img.SetNRGBA(x, y, cell.colour)
			}
		}
	}
	pn.pen.DrawImage(f, img)
}

// logPart returns the place of v on a logarithmic scale, from 0 at least to 1 at most.
func logPart(v, least, most float64) float64 {
	if most <= least {
		return 1
	}
	return math.Log(v/least) / math.Log(most/least)
}

// drawHeatBar draws the scale of colours of heat maps next to a frame, at x.
func (c *pen) drawHeatBar(frame vg.Rectangle, x vg.Length, s *heatScale) {
	if s.most == 0 {
		return
	}
	var ticks []chart.Tick
	isSingle := s.most <= s.least // all cells have about the same rate
	seconds := s.length / 1000
	least, most := s.least*seconds, s.most*seconds
	if s.hasLower && !isSingle {
		ticks = append(ticks, chart.Tick{Part: 0, Label: "≤ " + fmt.Sprintf("%.2g", least)})
	}
	counts, _, _ := axis.Log("", least, most, true, 9)
	for _, t := range counts {
		if isSingle {
			break
		}
		if t.Label != "" && t.Value >= least*(1-1e-9) && t.Value <= most*(1+1e-9) {
			ticks = append(ticks, chart.Tick{Part: logPart(t.Value, least, most), Label: t.Label})
		}
	}
	if n := len(ticks); n == 0 || ticks[n-1].Part < 0.5 { // the upper half of the scale has no label
		ticks = append(ticks, chart.Tick{Part: 1, Label: axis.Value("", most)})
	}
	colours := c.Heat
	if isSingle {
		top := chart.At(c.Heat, 1)
		colours = []chart.Colour{top, top}
	}
	length := s.length
	if length >= 1000 { // recorders write intervals a few milliseconds late
		length = math.Round(length/100) * 100
	}
	c.drawColourBar(frame, x, colours, ticks, "values", "in "+axis.Length(int64(length)))
}

// drawColourBar draws a scale of colours with its labels and a title of two lines.
func (c *pen) drawColourBar(frame vg.Rectangle, x vg.Length, scale []chart.Colour, ticks []chart.Tick, title ...string) {
	const steps = 64
	height, titles := frame.Max.Y-frame.Min.Y, 8*pixel+2*tickSize*lineSpace
	height = max(min(height*0.8, height-titles), 0)
	bottom := frame.Min.Y
	for i := range steps {
		r := vg.Rectangle{
			Min: vg.Point{X: x, Y: bottom + height*vg.Length(i)/steps},
			Max: vg.Point{X: x + 16*pixel, Y: bottom + height*vg.Length(i+1)/steps},
		}
		if i < steps-1 {
			r.Max.Y += 0.5 * pixel // otherwise there are seams
		}
		c.fillRectangle(r, chart.At(scale, (float64(i)+0.5)/steps))
	}
	font := c.font(tickSize)
	font.YAlign = text.YCenter
	last := bottom - tickSize*lineSpace
	for _, tick := range ticks {
		at := bottom + height*vg.Length(tick.Part)
		if at-last < tickSize*lineSpace {
			continue
		}
		last = at
		c.stroke(style{colour: c.Faint}, pixel, vg.Point{X: x + 16*pixel, Y: at}, vg.Point{X: x + 20*pixel, Y: at})
		c.drawText(font, x+24*pixel, at, tick.Label)
	}
	font.YAlign = text.YBottom
	for i, line := range title {
		c.drawText(font, x, bottom+height+8*pixel+tickSize*lineSpace*vg.Length(1-i), line)
	}
}

// drawDifference draws three heat maps on the same axes, one below the other: before, after, and
// the ratio of their rates in each cell.
func (c *pen) drawDifference(p *chart.Picture, area vg.Rectangle, before, after []chart.Series) {
	const apart = 6 * pixel
	bar := area.Max.X - barWidth + 20*pixel
	var colours heatScale
	var panels []*panel
	titled := func(side string, s *chart.Series) string {
		switch {
		case s.Runs > 1:
			return fmt.Sprintf("%s: mean of %d runs", side, s.Runs)
		case s.Group == side:
			return side
		}
		return side + ": " + s.Group
	}
	for i, title := range []string{titled("before", &before[0]), titled("after", &after[0]), "after / before"} {
		part := *p
		part.Series, part.Total = [][]chart.Series{before, after, after}[i], chart.Series{}
		outer := area
		outer.Max.X -= barWidth
		outer.Max.Y -= area.Size().Y * vg.Length(i) / 3
		outer.Min.Y = outer.Max.Y - area.Size().Y/3
		var from []chart.Series
		if i == 2 {
			from = before
		} else {
			outer.Min.Y += apart
		}
		pn := c.heatPanel(&part, p, from, outer, &colours)
		pn.around.title = chart.Cut(title, within(c.font(labelSize), outer.Size().X))
		pn.around.inner = i < 2
		pn.around.laned = i > 0
		pn.around.endings = nil
		panels = append(panels, pn)
	}
	drawPanels(panels...)
	if colours.most == 0 {
		return
	}
	frame := panels[0].frame
	frame.Min.Y = panels[1].frame.Min.Y
	c.drawHeatBar(frame, bar, &colours)
	// Below the scale: samples of cells with values in one log only.
	frame = panels[2].frame
	frame.Min.Y = panels[2].outer.Min.Y
	font := c.font(tickSize)
	font.YAlign = text.YCenter
	for i, only := range []string{"only before", "only after"} {
		y := frame.Min.Y + tickSize*lineSpace*(vg.Length(i)+0.5)
		for n := vg.Length(-2); n < 2; n++ {
			low := y + n*stripe*pixel
			line := vg.Rectangle{Min: vg.Point{X: bar, Y: low}, Max: vg.Point{X: bar + 16*pixel, Y: low + pixel}}
			c.fillRectangle(line, chart.At(c.Change, float64(i)))
		}
		c.drawText(font, bar+24*pixel, y, only)
	}
	frame.Min.Y += 2*tickSize*lineSpace + tickSize
	c.drawColourBar(frame, bar, c.Change, chart.ChangeScale().Ticks, "times as many", "per second")
}
