package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page"
)

// pixel is 1/96 inch.
const pixel = vg.Inch / 96

// Sizes of what surrounds a chart.
const (
	margin    = 14 * pixel
	titleSize = 18 * pixel
	labelSize = 14 * pixel // of legend and axis titles
	tickSize  = 13 * pixel
	noteSize  = 12 * pixel
	lineSpace = 1.35 // distance of lines of text, in font sizes
	swatch    = 34 * pixel
)

// barWidth is the room for the scale of colours to the right of a heat map.
const barWidth = 120 * pixel

// A sheet is a picture, or a part of one, that is being drawn.
type sheet struct {
	*Picture
	colours
	what page.Chart
	// whole is the picture whose values the axes show: that of all facets.
	whole *Picture
	plot  *plot.Plot
	// area is what is left for the chart and its axes.
	area draw.Canvas
	// columns and rows are about the size of the chart in pixels. It is known only once the ticks
	// are.
	columns, rows  int
	scale          axis.Scale
	lowest, zero   float64 // the lowest value on a logarithmic axis, and the place of 0 there
	xTitle, yTitle string
	marks          vg.Length // the height of the texts of marks, above the chart
	headroom       vg.Length // above the highest value, for a label
	// left and right are where the chart is to lie, if right is above 0; then only the last of
	// several charts has a title of the horizontal axis.
	left, right vg.Length
	last        bool
	times       []Series  // whose times the axis has, instead of those of the chart
	endings     vg.Length // the width of the labels to the right of the chart
	bounds      *heatBounds
	before      []WindowSeries // that a heat map is compared with
}

func newSheet(p *Picture, area draw.Canvas) *sheet {
	return &sheet{Picture: p, what: p.describe(p.Type), whole: p, colours: p.colours(), plot: plot.New(), area: area}
}

// plain returns a style of text whose position is its lower left corner.
func plain(size vg.Length) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	return text.Style{Font: f, Handler: foreign{plot.DefaultTextHandler}, XAlign: text.XLeft, YAlign: text.YBottom}
}

// textStyle is the same for the format of the picture.
func (p *Picture) textStyle(size vg.Length) text.Style {
	style := plain(size)
	style.Handler = cmp.Or(p.handler, style.Handler)
	return style
}

// drawOnBackground draws the picture on a canvas that has no background yet.
func (p *Picture) drawOnBackground(canvas draw.Canvas) {
	canvas.SetColor(p.colours().background)
	canvas.Fill(canvas.Rectangle.Path())
	p.draw(canvas)
}

// draw draws the picture on a canvas that has the background of its theme.
func (p *Picture) draw(canvas draw.Canvas) {
	s := newSheet(p, draw.Crop(canvas, margin, -margin, margin, -margin))
	s.drawTitle()
	parts := p.facets()
	if room := p.roomFor(len(parts)); room < len(parts) {
		own := *p
		own.Notes = append(slices.Clone(p.Notes), fmt.Sprintf("Of %d tags, the %d with the highest values have a chart.", len(parts), room))
		s.Picture, parts = &own, parts[:room]
	}
	s.drawNotes()
	own := *s.Picture
	own.Facets = len(parts) > 0
	s.Picture, s.whole = &own, &own
	if own.Facets {
		s.drawFacets(parts)
		return
	}
	s.Type.draw(s)
}

func (s *sheet) text(style text.Style, x, y vg.Length, str string) {
	s.area.FillText(style, vg.Point{X: x, Y: y}, str)
}

func (s *sheet) drawTitle() {
	if s.Title == "" {
		return
	}
	style := s.textStyle(titleSize)
	style.Color = s.colours.text
	s.area.Max.Y -= titleSize
	s.text(style, s.area.Min.X, s.area.Max.Y, shorten(style, s.Title, s.area.Max.X-s.area.Min.X))
	s.area.Max.Y -= titleSize * (lineSpace - 1) * 1.6
}

func (s *sheet) drawNotes() {
	style := s.textStyle(noteSize)
	style.Color = s.faint
	for _, note := range slices.Backward(s.notes()) {
		s.text(style, s.area.Min.X, s.area.Min.Y, shorten(style, note, s.area.Max.X-s.area.Min.X))
		s.area.Min.Y += noteSize * lineSpace
	}
}

// shorten returns str, without its end if it is wider than width.
func shorten(style text.Style, str string, width vg.Length) string {
	if len(str) <= mostLetters && style.Width(str) <= width {
		return str
	}
	ends := []int{0} // of the beginnings of str that may fit
	for end := range str {
		if end > 0 && len(ends) < mostLetters {
			ends = append(ends, end)
		}
	}
	keep := sort.Search(len(ends), func(n int) bool { return style.Width(str[:ends[n]]+"…") > width })
	return str[:ends[max(keep-1, 0)]] + "…"
}

// mostLetters is more than any picture has room for in a line.
const mostLetters = 4096

// fitting returns the title of an axis, such as "maximum of each interval (ms)". If it is wider
// than width, it lacks the words from "of" on, and "per second" is "/s".
func fitting(style text.Style, title string, width vg.Length) string {
	if begin, rest, found := strings.Cut(title, " of "); found && style.Width(title) > width {
		title = begin
		if i := strings.LastIndex(rest, " ("); i >= 0 {
			title += rest[i:]
		}
	}
	if style.Width(title) > width {
		title = strings.Replace(title, " per second", "/s", 1)
	}
	return shorten(style, title, width)
}

// An entry of a legend.
type entry struct {
	label string
	style style
	plain bool // no line, only the label
	whole bool // shortened only where a row has no room for it
}

// withoutAffixes returns labels without the beginning and the end that all of them share, which
// says least. It keeps at least one letter of each, and short labels whole.
func withoutAffixes(labels []string) []string {
	const least = 4 // letters that are worth an ellipsis
	shared := func(runes [][]rune, reverse bool) int {
		for n := range runes[0] {
			at := func(r []rune) rune {
				if reverse {
					return r[len(r)-1-n]
				}
				return r[n]
			}
			for _, r := range runes {
				if n >= len(r)-1 || at(r) != at(runes[0]) {
					return n
				}
			}
		}
		return len(runes[0])
	}
	if len(labels) < 2 {
		return labels
	}
	runes := make([][]rune, len(labels))
	for i, label := range labels {
		runes[i] = []rune(label)
	}
	if n := shared(runes, false); n >= least {
		for i, r := range runes {
			runes[i] = append([]rune("…"), r[n:]...)
		}
	}
	if n := shared(runes, true); n >= least {
		for i, r := range runes {
			runes[i] = append(r[:len(r)-n], '…')
		}
	}
	out := make([]string, len(labels))
	for i, r := range runes {
		out[i] = string(r)
	}
	return out
}

// drawLegend draws entries in rows above the chart. If they would take more than a third of the
// area, it shortens their labels.
func (s *sheet) drawLegend(entries []entry) {
	if len(entries) == 0 {
		return
	}
	size := s.area.Size()
	fits := func(placed []placedEntry) bool {
		return vg.Length(placed[len(placed)-1].row+1)*labelSize*lineSpace <= size.Y/3
	}
	placed := s.placeLegend(entries, size.X, size.X)
	if !fits(placed) || slices.ContainsFunc(placed, func(e placedEntry) bool { return e.cut }) {
		entries = slices.Clone(entries)
		var labels []string
		for _, e := range entries {
			labels = append(labels, e.label)
		}
		for i, label := range withoutAffixes(labels) {
			entries[i].label = label
		}
	}
	for columns := vg.Length(1); columns <= 6; columns++ {
		if placed = s.placeLegend(entries, size.X, size.X/columns); fits(placed) {
			break
		}
	}
	label := s.textStyle(labelSize)
	label.Color = s.colours.text
	y := s.area.Max.Y
	for _, e := range placed {
		x := s.area.Min.X + e.x
		y = s.area.Max.Y - labelSize*(1+lineSpace*vg.Length(e.row))
		if e.plain {
			s.text(label, x, y, e.label)
			continue
		}
		s.drawSwatch(e.entry, x, y+labelSize*0.36)
		s.text(label, x+swatch+6*pixel, y, e.label)
	}
	s.area.Max.Y = y - 10*pixel
}

type placedEntry struct {
	entry
	x   vg.Length
	row int
	cut bool // the label is shortened
}

// placeLegend places entries in rows of a width. No entry is wider than most.
func (s *sheet) placeLegend(entries []entry, width, most vg.Length) (placed []placedEntry) {
	const apart = 20 * pixel
	x, row := vg.Length(0), 0
	for _, e := range entries {
		label := s.textStyle(labelSize)
		room := most - apart
		if e.whole {
			room = width
		}
		long := e.label
		e.label = shorten(label, long, room-swatch-6*pixel)
		size := swatch + 6*pixel + label.Width(e.label)
		if x > 0 && x+size > width {
			x, row = 0, row+1
		}
		placed = append(placed, placedEntry{e, x, row, e.label != long})
		x += size + apart
	}
	return placed
}

// plate fills a rectangle.
func (s *sheet) plate(c draw.Canvas, r vg.Rectangle, colour color.Color) {
	c.FillPolygon(colour, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
}

func (s *sheet) drawSwatch(e entry, x, y vg.Length) {
	s.stroke(s.area, e.style, 2*pixel, []vg.Point{{X: x, Y: y}, {X: x + swatch, Y: y}})
	if e.style.marked {
		s.square(s.area, e.style, vg.Point{X: x + swatch/2, Y: y})
	}
}

// strokeAtOnce is the number of points that are stroked at once. The rasterizer of PNG takes time
// that grows with the square of the number of strokes that cross a row of pixels: a noisy line of
// 4,000 points takes 1.9 s at once and 0.1 s in pieces (BenchmarkPNG).
const strokeAtOnce = 48

// strokeParts strokes the pairs of points.
func (s *sheet) strokeParts(c draw.Canvas, st style, width vg.Length, points []vg.Point) {
	for len(points) > 1 {
		piece := points[:min(len(points), 2*(strokeAtOnce/2))]
		c.SetLineStyle(draw.LineStyle{Color: st.colour, Width: width, Dashes: st.dashes})
		var path vg.Path
		for i := 0; i+1 < len(piece); i += 2 {
			path.Move(piece[i])
			path.Line(piece[i+1])
		}
		c.Stroke(path)
		points = points[len(piece):]
	}
}

func (s *sheet) stroke(c draw.Canvas, st style, width vg.Length, points []vg.Point) {
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

// dot fills a circle, which consists of curves: not every canvas can fill arcs.
func (s *sheet) dot(c draw.Canvas, st style, radius vg.Length, at vg.Point) {
	const k = 0.5523 // how far the control points of a quarter circle lie from its ends
	r, q := radius, radius*k
	p := func(dx, dy vg.Length) vg.Point { return vg.Point{X: at.X + dx, Y: at.Y + dy} }
	var path vg.Path
	path.Move(p(r, 0))
	path.CubeTo(p(r, q), p(q, r), p(0, r))
	path.CubeTo(p(-q, r), p(-r, q), p(-r, 0))
	path.CubeTo(p(-r, -q), p(-q, -r), p(0, -r))
	path.CubeTo(p(q, -r), p(r, -q), p(r, 0))
	path.Close()
	c.SetColor(st.colour)
	c.Fill(path)
}

// measureArea estimates the size of the chart. The number of ticks and columns depends on it.
func (s *sheet) measureArea() {
	size := s.area.Size()
	s.columns = max(int((size.X-80*pixel)/pixel*vg.Length(s.DPI)/96), 50)
	s.rows = max(int((size.Y-60*pixel)/pixel), 50)
}

// most returns how many ticks fit along a length in pixels.
func most(length, apart int) int { return max(length/apart, 2) }

// valueAxis sets up the vertical axis. It ends a little beyond the values, so that no line lies on
// the frame.
func (s *sheet) valueAxis(values valueRange) {
	const beyond = 0.015 // of the axis
	y, ticksMost := &s.plot.Y, most(s.rows, 45)
	if s.High > 0 {
		values.high = s.High
	}
	s.scale = axis.ScaleFor(s.what.Unit, values.high)
	s.yTitle = s.what.Name
	if s.what.Log {
		s.logAxis(y, values, ticksMost)
	} else {
		ticks, end := s.scale.Linear(s.Low, values.high, s.High > 0, ticksMost)
		y.Min, y.Max, y.Tick.Marker = s.Low, end, marker(ticks)
		s.yTitle = s.scale.Titled(s.what.Name)
	}
	edge := (y.Max - y.Min) * beyond
	y.Min, y.Max = y.Min-edge, y.Max+max(edge, (y.Max-y.Min)*float64(s.headroom/pixel)/float64(s.rows))
}

// marker returns a marker of fixed ticks.
func marker(ticks []axis.Tick) plot.ConstantTicks {
	var marks plot.ConstantTicks
	for _, t := range ticks {
		marks = append(marks, plot.Tick{Value: t.Value, Label: t.Label})
	}
	return marks
}

// logAxis sets up a logarithmic axis, with a place for zero if there are zeros. The values of the
// axis are logarithms.
func (s *sheet) logAxis(y *plot.Axis, values valueRange, ticksMost int) {
	if values.high <= 0 {
		values.lowest, values.high = 1, 10 // nothing but zeros
	}
	if s.Low > 0 {
		values.lowest, values.zero = s.Low, false
	}
	ticks, from, to := axis.Log(s.what.Unit, values.lowest, values.high, s.Low > 0 || s.High > 0, ticksMost)
	s.lowest, s.zero = from, from
	if values.zero {
		// Zero is below the other values, at a distance that no value can have.
		s.zero /= math.Pow(to/from, 0.08)
		ticks = append([]axis.Tick{{Value: s.zero, Label: "0"}}, ticks...)
	}
	for i := range ticks {
		ticks[i].Value = math.Log10(ticks[i].Value)
	}
	y.Min, y.Max, y.Tick.Marker = math.Log10(s.zero), math.Log10(to), marker(ticks)
}

// height returns the place of a value on the vertical axis.
func (s *sheet) height(v float64) float64 {
	if s.what.Log {
		return math.Log10(math.Max(v, s.zero))
	}
	return v
}

// A valueRange is the range of values that an axis must show.
type valueRange struct {
	lowest float64 // above zero
	high   float64
	zero   bool // there are zeros
}

func newRange() valueRange { return valueRange{lowest: math.Inf(1)} }

func (r *valueRange) add(v float64) {
	switch {
	case math.IsNaN(v):
	case v <= 0:
		r.zero = true
	default:
		r.lowest, r.high = math.Min(r.lowest, v), math.Max(r.high, v)
	}
}

// chart draws the axes, the grid behind them, and what paint paints. X and y map times or
// percentiles, and values, to places on the canvas.
func (s *sheet) chart(paint func(c draw.Canvas, x, y func(float64) vg.Length)) {
	p := s.plot
	p.BackgroundColor = nil
	p.TextHandler = s.textStyle(labelSize).Handler
	if !s.Facets { // which have one title each for all of them
		p.X.Label.Text, p.Y.Label.Text = s.xTitle, fitting(s.textStyle(labelSize), s.yTitle, vg.Length(s.rows)*pixel)
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.Color = s.faint
		a.Width = pixel
		a.Label.TextStyle.Font, a.Label.TextStyle.Handler = s.textStyle(labelSize).Font, p.TextHandler
		a.Label.TextStyle.Color = s.colours.text
		a.Label.Padding = 6 * pixel
		a.Tick.Label.Font, a.Tick.Label.Handler = s.textStyle(tickSize).Font, p.TextHandler
		a.Tick.Label.Color = s.colours.text
		a.Tick.Color = s.faint
		a.Tick.Width = pixel
		a.Tick.Length = 6 * pixel
	}
	p.Add(painter(func(c draw.Canvas, p *plot.Plot) {
		x, y := p.Transforms(&c)
		s.drawGrid(c, x, y)
		paint(c, x, func(v float64) vg.Length { return y(s.height(v)) })
	}))
	if s.right > 0 {
		if !s.last {
			p.X.Label.Text = ""
		}
		inside := p.DataCanvas(s.area)
		s.area.Min.X += s.left - inside.Min.X
		s.area.Max.X += s.right - inside.Max.X
	}
	p.Draw(s.area)
}

type painter func(draw.Canvas, *plot.Plot)

func (p painter) Plot(c draw.Canvas, plt *plot.Plot) { p(c, plt) }

func (s *sheet) drawGrid(c draw.Canvas, x, y func(float64) vg.Length) {
	line := draw.LineStyle{Color: s.grid, Width: pixel}
	for _, tick := range s.plot.X.Tick.Marker.Ticks(0, 0) {
		if at := x(tick.Value); !tick.IsMinor() && c.ContainsX(at) {
			c.StrokeLine2(line, at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, tick := range s.plot.Y.Tick.Marker.Ticks(0, 0) {
		if at := y(tick.Value); !tick.IsMinor() && c.ContainsY(at) {
			c.StrokeLine2(line, c.Min.X, at, c.Max.X, at)
		}
	}
}

// message writes a text in the middle of an empty chart.
func (s *sheet) message(c draw.Canvas, str string) {
	style := s.textStyle(labelSize)
	style.Color, style.XAlign, style.YAlign = s.faint, text.XCenter, text.YCenter
	x, y := style.Width(str)/2+labelSize, labelSize // what the grid is to leave free around it
	center := c.Center()
	c.FillPolygon(s.background, []vg.Point{
		center.Add(vg.Point{X: -x, Y: -y}), center.Add(vg.Point{X: x, Y: -y}), center.Add(vg.Point{X: x, Y: y}), center.Add(vg.Point{X: -x, Y: y})})
	c.FillText(style, c.Center(), str)
}
