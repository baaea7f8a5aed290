package draw

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart"
)

// pixel is 1/96 inch.
const pixel = vg.Inch / 96

// Sizes of texts and margins.
const (
	margin    = 14 * pixel
	titleSize = 18 * pixel
	labelSize = 14 * pixel // of legends and of titles of axes
	tickSize  = 13 * pixel
	noteSize  = 12 * pixel
	lineSpace = 1.35       // distance of lines of text as a multiple of the font size
	swatch    = 34 * pixel // length of a line in a legend
)

// A pen draws on a canvas in the colours of a theme.
type pen struct {
	draw.Canvas
	*chart.Theme
	handler text.Handler
	dpi     int
	crowded bool // a panel has too little room
}

// font returns the style of texts of a size, with the lower left corner as their place.
func (c *pen) font(size vg.Length) text.Style {
	return text.Style{
		Color:   c.Text,
		Font:    liberation(size),
		Handler: c.handler,
		XAlign:  text.XLeft,
		YAlign:  text.YBottom,
	}
}

func liberation(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// drawText draws a text at a place.
func (c *pen) drawText(style text.Style, x, y vg.Length, str string) {
	c.FillText(style, vg.Point{X: x, Y: y}, str)
}

// within returns a function that reports whether a text fits into a width.
func within(style text.Style, width vg.Length) func(string) bool {
	return func(str string) bool { return style.Width(str) <= width }
}

// dots converts a length to dots of the picture.
func (c *pen) dots(l vg.Length) int { return int(math.Round(float64(l/pixel) * float64(c.dpi) / 96)) }

// A style is the style of a line: a [chart.Style] in the colours of a theme.
type style struct {
	colour color.Color
	dashes []vg.Length
	area   bool // the area below the line is filled
}

// styleOf converts a style to the theme of the pen.
func (c *pen) styleOf(s chart.Style) style {
	return style{c.Lines[s.Colour], lengths(s.Dashes), s.Area}
}

func lengths(pixels []float64) (all []vg.Length) {
	for _, l := range pixels {
		all = append(all, vg.Length(l)*pixel)
	}
	return all
}

// pale returns a colour with an opacity from 0 to 1.
func pale(c color.Color, opacity float64) color.NRGBA {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = uint8(255 * opacity)
	return n
}

// fillRectangle fills a rectangle.
func (c *pen) fillRectangle(r vg.Rectangle, colour color.Color) {
	c.FillPolygon(colour, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
}

// strokeAtOnce is the largest number of points in a path. The time of the PNG rasterizer grows with
// the square of the number of strokes that cross a row of pixels: a noisy line of 4,000 points
// takes 1.9 s in one path and 0.1 s in pieces (BenchmarkPNG).
const strokeAtOnce = 48

// strokeParts draws a separate line between the points of each pair: the first and second point,
// the third and fourth, and so on.
func (c *pen) strokeParts(st style, width vg.Length, points []vg.Point) {
	for piece := range slices.Chunk(points, strokeAtOnce) {
		c.SetLineStyle(draw.LineStyle{Color: st.colour, Width: width, Dashes: st.dashes})
		var path vg.Path
		for i := 0; i+1 < len(piece); i += 2 {
			path.Move(piece[i])
			path.Line(piece[i+1])
		}
		c.Stroke(path)
	}
}

// stroke draws a line through points.
func (c *pen) stroke(st style, width vg.Length, points ...vg.Point) {
	line := draw.LineStyle{Color: st.colour, Width: width, Dashes: st.dashes}
	for len(points) > 1 {
		piece := points[:min(len(points), strokeAtOnce)]
		c.SetLineStyle(line)
		var path vg.Path
		path.Move(piece[0])
		for i, p := range piece[1:] {
			path.Line(p)
			line.DashOffs += vg.Length(math.Hypot(float64(p.X-piece[i].X), float64(p.Y-piece[i].Y)))
		}
		c.Stroke(path)
		points = points[len(piece)-1:]
	}
}

// fillDot fills a circle. It uses cubic curves, since not every canvas can fill arcs.
func (c *pen) fillDot(colour color.Color, radius vg.Length, at vg.Point) {
	const k = 0.5523 // distance of the control points of a quarter circle from its ends, in radii
	r, q := radius, radius*k
	p := func(dx, dy vg.Length) vg.Point { return vg.Point{X: at.X + dx, Y: at.Y + dy} }
	var path vg.Path
	path.Move(p(r, 0))
	path.CubeTo(p(r, q), p(q, r), p(0, r))
	path.CubeTo(p(-q, r), p(-r, q), p(-r, 0))
	path.CubeTo(p(-r, -q), p(-q, -r), p(0, -r))
	path.CubeTo(p(q, -r), p(r, -q), p(r, 0))
	path.Close()
	c.SetColor(colour)
	c.Fill(path)
}

// drawSample draws a piece of a line for a legend, from x on at the height y.
func (c *pen) drawSample(st style, x, y vg.Length) {
	if st.area {
		area := vg.Rectangle{Min: vg.Point{X: x, Y: y - 5*pixel}, Max: vg.Point{X: x + swatch, Y: y + 4*pixel}}
		c.fillRectangle(area, pale(st.colour, areaShare))
		y += 4 * pixel
	}
	c.stroke(st, 2*pixel, vg.Point{X: x, Y: y}, vg.Point{X: x + swatch, Y: y})
}

// An entry is a line of a legend.
type entry struct {
	label string
	style style
	plain bool // no line, only the label
}

// An entryPlace is the place of an entry in a legend. Its label is shortened to the room.
type entryPlace struct {
	entry
	x   vg.Length
	row int
}

// legendGap is the free height below a legend.
const legendGap = 10 * pixel

// legendPlaces returns the places of entries in a legend at the upper edge of an area of a size. If
// the legend would take more than a third of the height, it shortens labels. If that is not enough,
// the last entry counts those that have no room.
func (c *pen) legendPlaces(size vg.Point, entries []entry) []entryPlace {
	maxRows := max(1, int(size.Y/3/(labelSize*lineSpace)))
	for columns := 1; columns <= 6; columns++ {
		places := c.legendRows(size.X, columns, entries)
		if places[len(places)-1].row < maxRows {
			return places
		}
	}
	places := c.legendRows(size.X, 1, entries)
	last := slices.IndexFunc(places, func(p entryPlace) bool { return p.row >= maxRows }) - 1
	places[last].label = fmt.Sprintf("and %d more", len(entries)-last)
	places[last].plain = true
	return places[:last+1]
}

// legendRows returns the places of entries in rows of a width. It shortens labels so that a row has
// room for a number of columns.
func (c *pen) legendRows(width vg.Length, columns int, entries []entry) (places []entryPlace) {
	const apart = 20 * pixel
	font := c.font(labelSize)
	var labels []string
	for _, e := range entries {
		labels = append(labels, e.label)
	}
	x, row := vg.Length(0), 0
	for i, label := range chart.Distinct(labels, within(font, width/vg.Length(columns)-apart-swatch-6*pixel)) {
		entryWidth := swatch + 6*pixel + font.Width(label)
		if x > 0 && x+entryWidth > width {
			x, row = 0, row+1
		}
		place := entryPlace{entry: entries[i], x: x, row: row}
		place.label = label
		places = append(places, place)
		x += entryWidth + apart
	}
	return places
}

// legendHeight returns the height of a legend in an area of a size, with the gap below.
func (c *pen) legendHeight(size vg.Point, entries []entry) vg.Length {
	if len(entries) == 0 {
		return 0
	}
	places := c.legendPlaces(size, entries)
	return labelSize*(1+lineSpace*vg.Length(places[len(places)-1].row)) + legendGap
}

// drawLegend draws a legend at the upper edge of an area, and returns the area that is left.
func (c *pen) drawLegend(area vg.Rectangle, entries []entry) vg.Rectangle {
	if len(entries) == 0 {
		return area
	}
	font := c.font(labelSize)
	y := area.Max.Y
	for _, place := range c.legendPlaces(area.Size(), entries) {
		x := area.Min.X + place.x
		y = area.Max.Y - labelSize*(1+lineSpace*vg.Length(place.row))
		if !place.plain {
			c.drawSample(place.style, x, y+labelSize*0.36)
			x += swatch + 6*pixel
		}
		c.drawText(font, x, y, place.label)
	}
	area.Max.Y = y - legendGap
	return area
}

var plainHandler = plot.DefaultTextHandler
