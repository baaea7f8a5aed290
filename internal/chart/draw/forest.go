package draw

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/report"
	"hdrkit/internal/sides"
)

// drawForest draws a forest plot of the changes with intervals, at the upper edge of an area: a row
// for each change, and a line where nothing changes. It returns the height of the plot.
func (c *pen) drawForest(p *chart.Picture, area vg.Rectangle) vg.Length {
	if len(p.Comparison.Effects) == 0 {
		return 0
	}
	height := min(vg.Length(chart.ForestHeight(len(p.Comparison.Effects)))*pixel, area.Size().Y*0.4)
	outer := area
	outer.Min.Y = outer.Max.Y - height
	drawPanels(c.forestPanel(p, outer))
	return height
}

// forestPanel returns the panel of a forest plot.
func (c *pen) forestPanel(p *chart.Picture, outer vg.Rectangle) *panel {
	pn := &panel{pen: c, picture: p, outer: outer}
	font := pn.pen.font(tickSize)
	rows := p.Comparison.Effects
	pn.around.title = "changes with their intervals"
	pn.around.aside = fmt.Sprintf("orange: worse   blue: better   grey: may be chance   shaded: within %g%%",
		100*sides.UsualSame)
	pn.x.title = "change"
	pn.x.log = true
	pn.x.low, pn.x.high = effectRange(rows)
	pn.x.zero = pn.x.low
	for _, e := range rows {
		pn.around.right = max(pn.around.right, font.Width(e.Text)+12*pixel)
	}
	pn.content.least = vg.Length(len(rows)) * tickSize * 0.8
	pn.content.values = func(add func(float64)) { add(1) }
	pn.content.ruler = func(vg.Length) {
		pn.y.low, pn.y.high = 0, float64(len(rows))
		for n, e := range rows {
			label := e.Tag + "  " + e.Figure
			if n > 0 && rows[n-1].Tag == e.Tag || rows[0].Tag == rows[len(rows)-1].Tag { // the row above or the table names the tag
				label = e.Figure
			}
			label = chart.Cut(label, within(font, outer.Size().X/3))
			pn.y.ticks = append(pn.y.ticks, axis.Tick{Value: pn.y.high - float64(n) - 0.5, Label: label})
		}
	}
	pn.content.horizontal = func() { pn.x.ticks = effectTicks(pn.x.low, pn.x.high, ticksIn(pn.frame.Size().X, 80)) }
	pn.content.paint = func() {
		f := pn.frame
		noChange := pn.X(1)
		left, right := pn.X(1/(1+sides.UsualSame)), pn.X(1+sides.UsualSame)
		pn.pen.FillPolygon(c.Faint.Mixed(0.15, c.Background), []vg.Point{
			{X: left, Y: f.Min.Y}, {X: right, Y: f.Min.Y}, {X: right, Y: f.Max.Y}, {X: left, Y: f.Max.Y},
		})
		pn.pen.stroke(style{colour: pn.pen.Text}, pixel, vg.Point{X: noChange, Y: f.Min.Y}, vg.Point{X: noChange, Y: f.Max.Y})
		for n := range rows {
			pn.drawEffect(&rows[n], pn.Y(pn.y.high-float64(n)-0.5))
		}
	}
	return pn
}

// drawEffect draws a change at a height: its interval, a dot at its ratio, and its text at the
// right. An end of the interval beyond the axis is an arrow.
func (pn *panel) drawEffect(e *report.Effect, y vg.Length) {
	const end, arrow = 4 * pixel, 6 * pixel
	f, colour := pn.frame, pn.pen.effectColour(e)
	left, right := max(pn.X(e.Low), f.Min.X), min(pn.X(e.High), f.Max.X)
	pn.pen.stroke(style{colour: colour}, 2*pixel, vg.Point{X: left, Y: y}, vg.Point{X: right, Y: y})
	for _, side := range []struct {
		x, inwards vg.Length
		beyond     bool
	}{{left, arrow, e.Low < pn.x.low}, {right, -arrow, e.High > pn.x.high}} {
		if side.beyond {
			pn.pen.FillPolygon(colour, []vg.Point{{X: side.x, Y: y}, {X: side.x + side.inwards, Y: y - end}, {X: side.x + side.inwards, Y: y + end}})
			continue
		}
		pn.pen.stroke(style{colour: colour}, 1.5*pixel, vg.Point{X: side.x, Y: y - end}, vg.Point{X: side.x, Y: y + end})
	}
	pn.pen.fillDot(colour, 4*pixel, vg.Point{X: min(max(pn.X(e.Ratio), f.Min.X), f.Max.X), Y: y})
	font := pn.pen.font(tickSize)
	font.YAlign = text.YCenter
	pn.pen.drawText(font, f.Max.X+8*pixel, y, e.Text)
}

// effectColour returns the colour of a change: orange if it is worse, blue if it is better, and
// grey if it may be chance.
func (c *pen) effectColour(e *report.Effect) chart.Colour {
	switch {
	case !e.Proven:
		return c.Faint.Mixed(0.7, c.Background)
	case e.Worse:
		return chart.At(c.Change, 0.8)
	}
	return chart.At(c.Change, 0.2)
}

// effectRange returns the ends of an axis of ratios, which is symmetric around the ratio 1. The
// axis shows all changes with their intervals, but for infinite ends, and the range that counts as
// equal.
func effectRange(effects []report.Effect) (low, high float64) {
	const beyond, most = 1.05, 100 // factor for the logarithm of a change, and the largest ratio
	away := 2 * math.Log(1+sides.UsualSame)
	for _, e := range effects {
		for _, ratio := range []float64{e.Ratio, e.Low, e.High} {
			if far := math.Abs(math.Log(ratio)); !math.IsInf(far, 1) && !math.IsNaN(far) {
				away = max(away, beyond*far)
			}
		}
	}
	away = min(away, math.Log(most))
	return math.Exp(-away), math.Exp(away)
}

// effectTicks returns the ticks of an axis of ratios, with labels in percent. Room is the number of
// ticks that fit.
func effectTicks(low, high float64, room int) (ticks []axis.Tick) {
	add := func(ratio float64, label string) {
		if ratio >= low*(1-1e-9) && ratio <= high*(1+1e-9) {
			ticks = append(ticks, axis.Tick{Value: ratio, Label: label})
		}
	}
	percent := func(ratio float64) string {
		if ratio == 1 {
			return "0%"
		}
		return fmt.Sprintf("%+.4g%%", math.Round((ratio-1)*1e6)/1e4)
	}
	if high > 4 {
		for _, times := range []float64{50, 20, 10, 5, 2} {
			add(1/times, percent(1/times))
		}
		add(1, "0%")
		for _, times := range []float64{2, 5, 10, 20, 50} {
			add(times, "×"+strconv.FormatFloat(times, 'f', -1, 64))
		}
		return ticks
	}
	step := 0.001
	for n := 0; (high-low)/step > float64(room); n++ {
		step *= []float64{2, 2.5, 2}[n%3]
	}
	for n := math.Ceil((low - 1) / step); n <= (high-1)/step; n++ {
		add(1+n*step, percent(1+n*step))
	}
	return ticks
}
