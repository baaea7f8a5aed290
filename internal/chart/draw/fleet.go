package draw

import (
	"math"

	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// maxRows is the largest number of logs with a row.
const maxRows = 400

// drawFleet draws a fleet chart: the rows of many logs, and their scale of colours.
func (c *pen) drawFleet(p *chart.Picture, area vg.Rectangle) {
	outer := area
	outer.Max.X -= barWidth
	pn := c.fleetPanel(p, outer)
	drawPanels(pn)
	c.drawFleetBar(p.Fleet, pn.frame, area.Max.X-barWidth+20*pixel)
}

// fleetPanel returns a panel with the rows of many logs over time. The log with the highest value
// is at the top.
func (c *pen) fleetPanel(p *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(chart.Fleet, p, p, outer)
	rows := p.Fleet.Rows[:min(len(p.Fleet.Rows), maxRows)]
	pn.content.values = func(add func(float64)) {
		for _, row := range rows {
			add(row.Value)
		}
	}
	pn.content.ruler = func(height vg.Length) { pn.setRowsRuler(rows, height) }
	pn.content.paint = func() {
		grid := &chart.Grid{
			Columns: max(pn.pen.dots(pn.frame.Max.X-pn.frame.Min.X), 1),
			Rows:    max(pn.pen.dots(pn.frame.Max.Y-pn.frame.Min.Y), 1),
		}
		pn.drawCells(grid, pn.rowCells(grid, rows))
	}
	return pn
}

// setRowsRuler sets up the vertical axis of a fleet chart. A label is the name of a log with its
// value. If labels would overlap, only every n-th row has one.
func (pn *panel) setRowsRuler(rows []chart.RatioRow, height vg.Length) {
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

// rowCells returns a cell for each dot of a fleet chart. A dot without values has no colour. The
// lowest dots of a row have no colour either, which separates rows, if the rows are high enough.
func (pn *panel) rowCells(grid *chart.Grid, rows []chart.RatioRow) []cell {
	const minApart = 6 * pixel
	fleet, cells := pn.picture.Fleet, make([]cell, grid.Columns*(grid.Rows+1))
	top := func(n int) int { return grid.Rows - grid.Rows*n/len(rows) } // of the n-th row, from below
	seam := 0
	if grid.Rows >= len(rows)*pn.pen.dots(minApart) {
		seam = max(pn.pen.dots(pixel), 1)
	}
	for x := range grid.Columns {
		time := pn.x.low + (float64(x)+0.5)/float64(grid.Columns)*(pn.x.high-pn.x.low)
		column := int(math.Floor((time - fleet.From) / fleet.Width))
		for n, row := range rows {
			if column < 0 || column >= len(row.Ratios) || math.IsNaN(row.Ratios[column]) {
				continue
			}
			colour := pale(chart.At(pn.pen.Change, fleet.Part(row.Ratios[column])), 1)
			for y := top(n+1) + seam; y < top(n); y++ {
				cells[x*(grid.Rows+1)+1+y].colour = colour
			}
		}
	}
	return cells
}

// drawFleetBar draws the scale of colours of a fleet chart next to a frame, at x.
func (c *pen) drawFleetBar(fleet *chart.Ratios, frame vg.Rectangle, x vg.Length) {
	c.drawColourBar(frame, x, c.Change, fleet.Ticks(), "times the", "median "+fleet.Line)
}
