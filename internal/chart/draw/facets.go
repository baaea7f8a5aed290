package draw

import (
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
)

// maxFacets is the largest number of facets in a picture.
const maxFacets = 24

// facetsThatFit returns how many of n facets fit into an area of a size, at most maxFacets. A
// label of the time axis has a number of lines.
func facetsThatFit(n int, area vg.Point, lines int) int {
	const frame, around = 67 * pixel, 60 * pixel // heights of a facet without labels, and of the texts around all facets
	least := frame + tickSize*lineSpace*vg.Length(lines)
	area.Y -= around
	for n = min(n, maxFacets); n > 1; n-- {
		columns, rows := facetGrid(n, area)
		if area.Y/vg.Length(rows) >= least && area.X/vg.Length(columns) >= 1.5*least {
			break
		}
	}
	return n
}

// facetGrid returns the numbers of columns and rows for n facets in an area of a size, so that
// facets are about twice as wide as high. An area without height has one column.
func facetGrid(n int, size vg.Point) (columns, rows int) {
	columns = 1
	rows = n
	best := math.Inf(1)
	for c := 1; c <= n; c++ {
		r := (n + c - 1) / c
		shape := math.Abs(math.Log(float64(size.X/vg.Length(c)) / float64(size.Y/vg.Length(r)) / 2))
		if shape < best-1e-9 {
			best = shape
			columns = c
			rows = r
		}
	}
	return (n + rows - 1) / rows, rows // leave no column empty
}

// drawFacets draws a grid of facets, which share a legend, the titles of their axes and the ranges
// of their axes.
func (c *pen) drawFacets(p *chart.Picture, area vg.Rectangle, parts []chart.Facet) {
	described := p.Describe(p.Type)
	area = c.drawLegend(area, c.facetLegend(p, described, parts[0].Picture))
	if described.Marks == chart.Cells {
		area.Max.X -= barWidth
	}
	const axisTitle = labelSize*lineSpace + 4*pixel
	whole := area
	whole.Min = whole.Min.Add(vg.Point{X: axisTitle, Y: axisTitle})
	columns, rows := facetGrid(len(parts), whole.Size())
	width, height := whole.Size().X/vg.Length(columns), whole.Size().Y/vg.Length(rows)
	font := c.font(labelSize)
	var tags, asides []string
	for _, part := range parts {
		tags, asides = append(tags, part.Tag), append(asides, "")
	}
	var panels []*panel
	var colours heatScale
	for i, part := range parts {
		at := vg.Point{X: whole.Min.X + width*vg.Length(i%columns), Y: whole.Max.Y - height*vg.Length(i/columns)}
		outer := vg.Rectangle{
			Min: vg.Point{X: at.X, Y: at.Y - height + 4*pixel},
			Max: vg.Point{X: at.X + width - 8*pixel, Y: at.Y},
		}
		var pn *panel
		switch described.Marks {
		case chart.Lines:
			pn = c.linesPanel(part.Picture, p, outer)
		case chart.Dots:
			pn = c.runsPanel(part.Picture, p, outer)
		case chart.Curves:
			pn = c.curvesPanel(part.Picture, p, outer)
		default:
			heat := *part.Picture
			heat.Total = chart.Series{}
			pn = c.heatPanel(&heat, p, nil, outer, &colours)
		}
		pn.around.untitled = true
		panels = append(panels, pn)
		asides[i] = pn.facetMax()
	}
	room := width - 70*pixel
	for i, tag := range chart.Distinct(tags, within(font, room)) {
		panels[i].around.title, panels[i].around.aside = tag, asides[i]
	}
	drawPanels(panels...)
	font.XAlign = text.XCenter
	c.drawText(font, (whole.Min.X+whole.Max.X)/2, area.Min.Y, panels[0].x.title)
	font.Rotation, font.YAlign = math.Pi/2, text.YTop
	c.drawText(font, area.Min.X, (whole.Min.Y+whole.Max.Y)/2, fittingTitle(font, panels[0].y.title, whole.Size().Y))
	if described.Marks == chart.Cells {
		c.drawHeatBar(whole, area.Max.X+20*pixel, &colours)
	}
}

// facetMax returns a text with the highest value of a facet, such as "max 5 ms". Readers cannot see
// it on the axis, which has the range of all facets.
func (pn *panel) facetMax() string {
	if pn.what.Marks == chart.Lines || pn.what.Marks == chart.Dots {
		top, line, _ := highest(pn.picture.Series)
		return pn.highestText(line, top.Value)
	}
	text := pn.highestText("", pn.picture.Max())
	if len(pn.picture.Series) == 1 {
		text += " of " + chart.Counted(pn.picture.Series[0].Curve.Count, "value")
	}
	return text
}

// facetLegend returns the entries of the legend of all facets: groups of series, names of lines,
// the curve of corrected values, and limits.
func (c *pen) facetLegend(p *chart.Picture, what chart.Chart, part *chart.Picture) (entries []entry) {
	groups, names := chart.GroupsAndLines(part.Series)
	if len(groups) > 0 && what.Marks != chart.Cells {
		labels := groups
		if len(groups) == 1 {
			labels = nil
		}
		entries = c.entries(labels, chart.Styles(groups, names), names)
	}
	corrected := func(s chart.Series) bool { return s.Corrected.Count > 0 }
	if what.Marks == chart.Curves && slices.ContainsFunc(p.Series, corrected) {
		st := c.correctedStyle(chart.Style{})
		st.colour = c.Faint
		entries = append(entries, entry{label: withDue, style: st})
	}
	limits := p.LabelledLimits()
	if what.Marks == chart.Lines {
		limits = p.LineLimits()
	}
	for _, l := range limits {
		if !what.Rate {
			entries = append(entries, entry{label: l.Label, style: c.limitStyle()})
		}
	}
	return entries
}
