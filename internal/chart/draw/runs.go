package draw

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// runsPanel returns a [chart.Load] or [chart.Trend] panel with the runs of p, on axes for the runs
// of whole.
func (c *pen) runsPanel(p, whole *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(p.Type, p, whole, outer)
	groups, names := chart.GroupsAndLines(p.Series)
	styles := chart.Styles(groups, names)
	pn.x.low, pn.x.high = 0, 0
	pn.content.values = func(add func(float64)) {
		for _, s := range whole.Series {
			for _, line := range s.Lines {
				for _, point := range line.Points {
					pn.x.high = max(pn.x.high, point.Start)
					add(point.Value)
				}
			}
		}
	}
	pn.around.across, pn.around.headroom = p.LineLimits(), noteSize+10*pixel
	if len(p.Events.Worst) > 0 {
		pn.around.headroom = 2*numberRadius + 6*pixel
	}
	pn.content.paint = func() {
		for i, s := range p.Series {
			for n, line := range s.Lines {
				pn.drawDots(c.styleOf(styles[i][n]), line, s.IsJoined())
			}
		}
		pn.drawNumbers(p.HasSeries)
		if p.Type == chart.Trend {
			return
		}
		var taken []vg.Rectangle
		for _, s := range p.Series {
			taken = pn.drawDotNames(s, taken)
		}
	}
	return pn
}

// drawTrendFacets draws the facets of a trend, one for each figure, one above the other. The lowest
// one has the labels of the horizontal axis.
func (c *pen) drawTrendFacets(parts []chart.Facet, area vg.Rectangle) {
	const labels = tickSize*lineSpace + labelSize*lineSpace + 8*pixel // height of the labels of the horizontal axis
	height := (area.Size().Y - labels) / vg.Length(len(parts))
	var panels []*panel
	for n, part := range parts {
		last := n == len(parts)-1
		outer := area
		outer.Max.Y -= height * vg.Length(n)
		if !last {
			outer.Min.Y = outer.Max.Y - height
		}
		pn := c.runsPanel(part.Picture, part.Picture, outer)
		pn.around.title = part.Tag
		pn.around.inner = !last
		if n > 0 {
			pn.picture.Events.Marks = nil
		}
		panels = append(panels, pn)
	}
	drawPanels(panels...)
}

// drawRunsLegend draws the legend of a load or trend chart, and returns the area that is left.
func (c *pen) drawRunsLegend(p *chart.Picture, area vg.Rectangle) vg.Rectangle {
	groups, names := chart.GroupsAndLines(p.Series)
	var labels []string
	for _, s := range p.Series {
		if s.Label != "" || len(p.Series) > 1 {
			labels = append(labels, chart.Named(s.Label))
		}
	}
	entries := c.entries(labels, chart.Styles(groups, names), names)
	for i := range entries {
		entries[i].style.area = false // only lines over time have areas
		if !slices.ContainsFunc(p.Series, func(s chart.Series) bool { return s.IsJoined() }) {
			entries[i].style.dashes = nil
		}
	}
	return c.drawLegend(area, entries)
}

// drawDots draws a dot for each run and the levels of a trend. If joined is set, a pale line joins
// the dots. Dots of many runs are small and pale.
func (pn *panel) drawDots(st style, line chart.Line, joined bool) {
	const usualLine, besideLevels, manyDots = 0.6, 0.25, 0.5 // opacities
	const usual, least = 3.5 * pixel, 1.5 * pixel
	colour, dots := pale(st.colour, usualLine), pale(st.colour, 1)
	width := 1.6 * pixel
	radius := max(min(0.4*(pn.frame.Max.X-pn.frame.Min.X)/vg.Length(max(len(line.Points), 1)), usual), least)
	if line.Levels != nil {
		colour, width = pale(st.colour, besideLevels), pixel
		if radius < usual {
			dots = pale(st.colour, manyDots)
		}
	}
	var path []vg.Point
	for _, p := range line.Points {
		if math.IsNaN(p.Value) {
			continue // a run without values of the series
		}
		path = append(path, vg.Point{X: pn.X(p.Start), Y: pn.inside(p.Value)})
	}
	if joined {
		pn.pen.stroke(style{colour: colour, dashes: st.dashes}, width, path...)
	}
	for _, at := range path {
		pn.pen.fillDot(dots, radius, at)
	}
	var steps []vg.Point
	for _, l := range line.Levels {
		height := pn.inside(l.Value)
		steps = append(steps, vg.Point{X: pn.X(l.Start), Y: height}, vg.Point{X: pn.X(l.End), Y: height})
	}
	pn.pen.strokeParts(style{colour: st.colour}, 2.4*pixel, steps)
}

// drawDotNames writes the names of runs above their highest dots. It leaves out names that would
// overlap those at the taken places, and returns all taken places.
func (pn *panel) drawDotNames(s chart.Series, taken []vg.Rectangle) []vg.Rectangle {
	font := pn.pen.font(noteSize)
	font.Color, font.XAlign = pn.pen.Faint, text.XCenter
	for i, name := range chart.Distinct(s.Names, within(font, (pn.frame.Max.X-pn.frame.Min.X)/6)) {
		highest := 0.0
		for _, line := range s.Lines {
			highest = max(highest, line.Points[i].Value)
		}
		half := font.Width(name) / 2
		at := vg.Point{X: pn.X(s.Lines[0].Points[i].Start), Y: pn.inside(highest) + 6*pixel}
		at.X = min(max(at.X, pn.frame.Min.X+half), pn.frame.Max.X-half)
		box := vg.Rectangle{
			Min: vg.Point{X: at.X - half - 2*pixel, Y: at.Y},
			Max: vg.Point{X: at.X + half + 2*pixel, Y: at.Y + noteSize},
		}
		overlaps := func(r vg.Rectangle) bool {
			return box.Min.X < r.Max.X && r.Min.X < box.Max.X && box.Min.Y < r.Max.Y && r.Min.Y < box.Max.Y
		}
		if name == "" || slices.ContainsFunc(taken, overlaps) {
			continue
		}
		pn.pen.fillRectangle(box, pale(pn.pen.Background, 0.85)) // lines pass below the name
		pn.pen.drawText(font, at.X, at.Y, name)
		taken = append(taken, box)
	}
	return taken
}

// setRunsRuler sets up the horizontal axis for rates, for the dates of runs, or for the names of
// runs.
func (pn *panel) setRunsRuler() {
	switch {
	case pn.picture.Type == chart.Load:
		pn.setRateRuler()
	case pn.picture.Time.Absolute:
		beyond := max(0.02*pn.x.high, 1)
		pn.x.low, pn.x.high = -beyond, pn.x.high+beyond
		pn.setTimeRuler()
	default:
		pn.setNameRuler()
	}
}

// setNameRuler sets up the horizontal axis for names of runs. Names without room are left out.
func (pn *panel) setNameRuler() {
	pn.x.low = -0.5
	pn.x.high = pn.x.high + 0.5
	pn.x.title = "run"
	if len(pn.picture.Series) == 0 {
		return
	}
	room, font := pn.frame.Max.X-pn.frame.Min.X, pn.pen.font(tickSize)
	end := pn.frame.Min.X - room
	for n, name := range pn.picture.Series[0].Names {
		label := chart.Cut(name, within(font, room/3))
		at := pn.X(float64(n))
		half := font.Width(label) / 2
		if at-half < end {
			label = ""
		} else {
			end = at + half + 8*pixel
		}
		pn.x.ticks = append(pn.x.ticks, axis.Tick{Value: float64(n), Label: label})
	}
}

// setRateRuler sets up the horizontal axis for rates, from 0 to a round number above the highest
// rate.
func (pn *panel) setRateRuler() {
	const beyond = 0.02
	pn.x.ticks, pn.x.title = nil, "values per second, as measured"
	high := cmp.Or(pn.x.high, 1) // without runs
	pn.x.ticks, high = axis.ScaleFor("", high).Linear(0, high, false, ticksIn(pn.frame.Max.X-pn.frame.Min.X, 90))
	pn.x.low, pn.x.high = -beyond*high, (1+beyond)*high
}
