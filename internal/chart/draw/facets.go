package draw

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page"
)

// mostFacets is the number of small charts that are drawn: those with the highest values.
const mostFacets = 24

// mostTogether is the number of series, or lines with labels at their ends, that one chart has.
// Nobody can distinguish more.
const mostTogether = 8

// together returns the number of lines, or curves, that one chart would have for each measure.
func (p *Picture) together() int {
	switch p.Type.Chart.Marks {
	case page.Lines:
		return len(p.Series)
	case page.Curves:
		return len(p.Curves)
	}
	return 0 // a heat map adds them up
}

// A facet is the picture of a tag.
type facet struct {
	*Picture
	tag string
}

// facets returns a picture for each tag, the highest first. Runs that are compared share the
// pictures of their tags, unless they are too many. It returns nil if p shows all in one chart.
func (p *Picture) facets() []facet {
	if !p.Facets && p.together() <= mostTogether {
		return nil
	}
	parts := p.allFacets(tagOf)
	if slices.ContainsFunc(parts, func(part facet) bool { return part.together() > mostTogether }) {
		parts = p.allFacets(func(label, _ string) string { return label })
	}
	slices.SortStableFunc(parts, func(a, b facet) int { return cmp.Compare(b.max(), a.max()) })
	return parts
}

// roomFor returns how many of so many small charts have room, at most mostFacets.
func (p *Picture) roomFor(n int) int {
	const least, around = 85 * pixel, 100 * pixel // the height of a chart, and what is around all
	width, height := p.size()
	height -= around
	for n = min(n, mostFacets); n > 1; n-- {
		columns, rows := facetGrid(n, vg.Point{X: width, Y: height})
		if height/vg.Length(rows) >= least && width/vg.Length(columns) >= 1.5*least {
			break
		}
	}
	return n
}

// max returns the highest value in a picture.
func (p *Picture) max() (highest float64) {
	for i := range p.Series {
		highest = max(highest, p.Series[i].max())
	}
	for i := range p.Curves {
		highest = max(highest, p.Curves[i].max())
	}
	for _, ws := range p.Windows {
		for _, w := range ws.Windows {
			highest = max(highest, w.Max)
		}
	}
	return highest
}

// allFacets returns a picture for each key of labels and groups.
func (p *Picture) allFacets(key func(label, group string) string) (parts []facet) {
	at := map[string]*Picture{}
	part := func(label, group string) *Picture {
		tag := key(label, group)
		if at[tag] == nil {
			own := *p
			own.Facets = true
			own.Series, own.Curves, own.Windows = nil, nil, nil
			at[tag] = &own
			parts = append(parts, facet{&own, named(tag)})
		}
		return at[tag]
	}
	for _, series := range p.Series {
		own := part(series.Label, series.Group)
		own.Series = append(own.Series, series)
	}
	for _, ws := range p.Windows {
		own := part(ws.Label, ws.Group)
		own.Windows = append(own.Windows, ws)
	}
	for _, curve := range p.Curves {
		own := part(curve.Label, curve.Group)
		own.Curves = append(own.Curves, curve)
	}
	return parts
}

// drawFacets draws a chart for each tag, in rows, with shared axes, one legend and one title for
// each axis.
func (s *sheet) drawFacets(parts []facet) {
	cells := s.what.Marks == page.Cells
	s.drawLegend(s.facetLegend(parts[0].Picture))
	if cells {
		s.area.Max.X -= barWidth
	}
	title := s.textStyle(labelSize)
	title.Color, title.XAlign = s.colours.text, text.XCenter
	whole := s.area
	whole.Min = whole.Min.Add(vg.Point{X: labelSize*lineSpace + 4*pixel, Y: labelSize * lineSpace})
	columns, rows := facetGrid(len(parts), whole.Size())
	var bounds heatBounds
	charts := func(canvas vg.Canvas) (last *sheet) {
		for i, part := range parts {
			size := whole.Size()
			width, height := size.X/vg.Length(columns), size.Y/vg.Length(rows)
			x, y := whole.Min.X+width*vg.Length(i%columns), whole.Max.Y-height*vg.Length(i/columns)
			cell := draw.Canvas{Canvas: canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y - height + 4*pixel}, Max: vg.Point{X: x + width - 8*pixel, Y: y}}}
			last = newSheet(part.Picture, cell)
			last.whole, last.bounds = s.Picture, &bounds
			last.area.Max.Y -= labelSize
			style := s.textStyle(labelSize)
			style.Color = s.colours.text
			high := last.facetHigh()
			if style.Width(high) > width*2/3 {
				high = ""
			}
			name := shorten(style, part.tag, width-style.Width(high)-24*pixel)
			last.text(style, x, last.area.Max.Y, name)
			faint := style
			faint.Color = s.faint
			last.text(faint, x+style.Width(name)+12*pixel, last.area.Max.Y, high)
			last.area.Max.Y -= 4 * pixel
			last.Type.draw(last)
		}
		return last
	}
	if cells {
		charts(&recorder.Canvas{}) // to find the bounds of the scale, which all of them share
		bounds.known = true
	}
	last := charts(s.area.Canvas)
	s.area.FillText(title, vg.Point{X: (whole.Min.X + whole.Max.X) / 2, Y: s.area.Min.Y}, last.xTitle)
	title.Rotation, title.YAlign = math.Pi/2, text.YTop
	s.area.FillText(title, vg.Point{X: s.area.Min.X, Y: (whole.Min.Y + whole.Max.Y) / 2}, fitting(title, last.yTitle, whole.Size().Y))
	if cells && bounds.most > 0 {
		s.drawColourBar(whole.Rectangle, s.area.Max.X+20*pixel, s.heatBar(bounds.least, bounds.most))
	}
}

// facetHigh says what the highest value of a facet is. The axes are those of all facets.
func (s *sheet) facetHigh() string {
	if s.what.Marks != page.Lines {
		text := s.highestText("", s.max())
		if len(s.Curves) == 1 {
			text += " of " + axis.Value("", float64(s.Curves[0].Count)) + " values"
		}
		return text
	}
	top, line, _ := highest(s.Series)
	return s.highestText(line, top.Value)
}

// facetGrid returns how many columns and rows of charts fill an area, with charts about twice as
// wide as high.
func facetGrid(n int, size vg.Point) (columns, rows int) {
	best := math.Inf(1)
	for c := 1; c <= n; c++ {
		r := (n + c - 1) / c
		shape := math.Abs(math.Log(float64(size.X/vg.Length(c)) / float64(size.Y/vg.Length(r)) / 2))
		if shape < best-1e-9 {
			best, columns, rows = shape, c, r
		}
	}
	return columns, rows
}

// facetLegend names what the lines of all facets are: the runs, the measures and the service
// levels.
func (s *sheet) facetLegend(part *Picture) (entries []entry) {
	groups, lines := groupsOf(part.Series)
	if s.what.Marks == page.Curves {
		groups, lines = groupsOfCurves(part.Curves), []string{""}
	}
	labels := groups
	if len(groups) == 1 || s.what.Marks == page.Cells {
		labels = nil
	}
	entries = s.legend(labels, s.colours.stylesFor(groups, len(lines)), lines)
	if len(s.Limits) > 0 {
		s.scale = axis.ScaleFor(s.what.Unit, s.Limits[0].Value)
		entries = append(entries, s.limitEntry(s.Limits))
	}
	return entries
}

// groupsOf returns the group of each series, and the names of the lines that each has.
func groupsOf(series []Series) (groups, lines []string) {
	for _, s := range series {
		groups = append(groups, s.Group)
		lines = lines[:0]
		for _, line := range s.Lines {
			lines = append(lines, line.Name)
		}
	}
	return groups, lines
}

// groupsOfCurves returns the group of each curve.
func groupsOfCurves(curves []Curve) (groups []string) {
	for _, curve := range curves {
		groups = append(groups, curve.Group)
	}
	return groups
}
