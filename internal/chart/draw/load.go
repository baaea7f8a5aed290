package draw

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// loadPanel returns a chart of values against the measured rate.
func (c *pen) loadPanel(p *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(chart.Load, p, p, outer)
	groups, names := chart.GroupsOf(p.Series)
	styles := chart.Styles(groups, names)
	pn.x.low, pn.x.high = 0, 0
	for _, s := range p.Series {
		for _, point := range s.Lines[0].Points {
			pn.x.high = max(pn.x.high, point.Start)
		}
	}
	pn.values = func(add func(float64)) {
		for _, s := range p.Series {
			for _, line := range s.Lines {
				for _, point := range line.Points {
					add(point.Value)
				}
			}
		}
	}
	pn.across, pn.headroom = p.Labelled(), noteSize+10*pixel
	pn.paint = func() {
		for i, s := range p.Series {
			for n, line := range s.Lines {
				pn.drawDots(c.styled(styles[i][n]), line.Points)
			}
		}
		var taken []vg.Rectangle
		for _, s := range p.Series {
			taken = pn.nameDots(s, taken)
		}
	}
	return pn
}

// loadLegend draws the legend of a chart of load, and returns the area that is left.
func (c *pen) loadLegend(p *chart.Picture, area vg.Rectangle) vg.Rectangle {
	groups, names := chart.GroupsOf(p.Series)
	var labels []string
	for _, s := range p.Series {
		if s.Label != "" || len(p.Series) > 1 {
			labels = append(labels, chart.Named(s.Label))
		}
	}
	entries := c.entries(labels, chart.Styles(groups, names), names)
	for i := range entries {
		entries[i].style.area = false // which only lines over time have
	}
	return c.legend(area, entries)
}

// drawDots draws a dot for each run, and a pale line that joins them in the order of load.
func (pn *panel) drawDots(st style, points []chart.Point) {
	var path []vg.Point
	for _, p := range points {
		path = append(path, vg.Point{X: pn.X(p.Start), Y: pn.inside(p.Value)})
	}
	pn.stroke(style{colour: pale(st.colour, 0.6), dashes: st.dashes}, 1.6*pixel, path...)
	for _, at := range path {
		pn.dot(st.colour, 3.5*pixel, at)
	}
}

// nameDots names the runs at the highest of their dots, where a name hides no other.
func (pn *panel) nameDots(s chart.Series, taken []vg.Rectangle) []vg.Rectangle {
	font := pn.font(noteSize)
	font.Color, font.XAlign = pn.Faint, text.XCenter
	for i, name := range s.Names {
		highest := 0.0
		for _, line := range s.Lines {
			highest = max(highest, line.Points[i].Value)
		}
		half := font.Width(name) / 2
		at := vg.Point{X: pn.X(s.Lines[0].Points[i].Start), Y: pn.inside(highest) + 6*pixel}
		at.X = min(max(at.X, pn.frame.Min.X+half), pn.frame.Max.X-half)
		own := vg.Rectangle{Min: vg.Point{X: at.X - half - 2*pixel, Y: at.Y}, Max: vg.Point{X: at.X + half + 2*pixel, Y: at.Y + noteSize}}
		overlaps := func(r vg.Rectangle) bool {
			return own.Min.X < r.Max.X && r.Min.X < own.Max.X && own.Min.Y < r.Max.Y && r.Min.Y < own.Max.Y
		}
		if name == "" || slices.ContainsFunc(taken, overlaps) {
			continue
		}
		pn.put(font, at.X, at.Y, name)
		taken = append(taken, own)
	}
	return taken
}

// rateRuler sets up the horizontal axis of rates, from 0 to a little beyond the highest.
func (pn *panel) rateRuler() {
	const beyond = 0.02
	pn.x.ticks, pn.x.title = nil, "values per second, as measured"
	high := cmp.Or(pn.x.high, 1) // without runs
	pn.x.ticks, _ = axis.ScaleFor("", high).Linear(0, high, true, most(pn.frame.Max.X-pn.frame.Min.X, 90))
	pn.x.low, pn.x.high = -beyond*high, (1+beyond)*high
}
