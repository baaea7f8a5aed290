package draw

import (
	"math"

	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// mostRows is the number of logs that have a row.
const mostRows = 400

// fleet draws the rows of many logs, and their scale of colours.
func (c *pen) fleet(p *chart.Picture, area vg.Rectangle) {
	outer := area
	outer.Max.X -= barWidth
	pn := c.fleetPanel(p, outer)
	drawPanels(pn)
	c.fleetBar(p.Fleet, pn.frame, area.Max.X-barWidth+20*pixel)
}

// fleetPanel returns a chart of the rows of many logs over time, the highest at the top.
func (c *pen) fleetPanel(p *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(chart.Fleet, p, p, outer)
	rows := p.Fleet.Rows[:min(len(p.Fleet.Rows), mostRows)]
	pn.content.values = func(add func(float64)) {
		for _, row := range rows {
			add(row.Value)
		}
	}
	pn.content.ruler = func(height vg.Length) { pn.rowsRuler(rows, height) }
	pn.content.paint = func() {
		grid := &chart.Grid{
			Columns: max(pn.pen.dots(pn.frame.Max.X-pn.frame.Min.X), 1),
			Rows:    max(pn.pen.dots(pn.frame.Max.Y-pn.frame.Min.Y), 1),
		}
		pn.drawCells(grid, pn.rowCells(grid, rows))
	}
	return pn
}

// rowsRuler sets up the vertical axis of rows: the name of each log and its value, of as many as
// have room.
func (pn *panel) rowsRuler(rows []chart.RatioRow, height vg.Length) {
	const widest = 0.3 // part of the panel
	fleet := pn.picture.Fleet
	r := &pn.y
	font := pn.pen.font(tickSize)
	r.low, r.high = 0, float64(max(len(rows), 1))
	r.title = "logs by " + fleet.Line
	var names []string
	for _, row := range rows {
		names = append(names, chart.Named(row.Label))
	}
	names = chart.Distinct(names, within(font, widest*(pn.outer.Max.X-pn.outer.Min.X)))
	every := int(math.Ceil(float64(tickSize * vg.Length(len(rows)) / max(height, pixel))))
	for n := 0; n < len(rows); n += max(every, 1) {
		r.ticks = append(r.ticks, axis.Tick{
			Value: r.high - float64(n) - 0.5,
			Label: names[n] + "  " + axis.Value(pn.what.Unit, rows[n].Value),
		})
	}
}

// rowCells returns the looks of the dots of rows. Those without values have no colour, nor has the
// lowest dot of a row that is high enough.
func (pn *panel) rowCells(grid *chart.Grid, rows []chart.RatioRow) []cell {
	const leastApart = 6 * pixel
	fleet, cells := pn.picture.Fleet, make([]cell, grid.Columns*(grid.Rows+1))
	begin := func(n int) int { return grid.Rows - grid.Rows*n/len(rows) } // from below
	seam := 0
	if grid.Rows >= len(rows)*pn.pen.dots(leastApart) {
		seam = max(pn.pen.dots(pixel), 1)
	}
	for x := range grid.Columns {
		time := pn.x.low + (float64(x)+0.5)/float64(grid.Columns)*(pn.x.high-pn.x.low)
		column := int(math.Floor((time - fleet.From) / fleet.Width))
		for n, row := range rows {
			if column < 0 || column >= len(row.Times) || math.IsNaN(row.Times[column]) {
				continue
			}
			colour := pale(chart.At(pn.pen.Change, fleet.Part(row.Times[column])), 1)
			for y := begin(n+1) + seam; y < begin(n); y++ {
				cells[x*(grid.Rows+1)+1+y].colour = colour
			}
		}
	}
	return cells
}

// fleetBar draws the scale of colours of rows next to a frame, at x.
func (c *pen) fleetBar(fleet *chart.Ratios, frame vg.Rectangle, x vg.Length) {
	c.colourBar(frame, x, c.Change, fleet.Ticks(), "times the", "median "+fleet.Line)
}
