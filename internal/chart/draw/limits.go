package draw

import (
	"cmp"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart/axis"
)

// limitLabel returns the text of a service level.
func (s *sheet) limitLabel(l Limit) string {
	value := axis.Handy(s.what.Unit, l.Value)
	if !s.what.Log {
		value = s.scale.Label(l.Value / s.scale.Divide)
		if s.scale.Unit != "" {
			value += " " + s.scale.Unit
		}
	}
	if l.Percentile == 0 {
		return value
	}
	return axis.Number(l.Percentile) + "% ≤ " + value
}

func (s *sheet) limitStyle() style { return style{colour: s.limit, dashes: []vg.Length{5, 3}} }

// limitEntry returns an entry of a legend for limits.
func (s *sheet) limitEntry(limits []Limit) entry {
	var labels []string
	for _, l := range limits {
		labels = append(labels, s.limitLabel(l))
	}
	return entry{label: "SLA: " + strings.Join(labels, ", "), style: s.limitStyle(), whole: true}
}

// An ending is a label to the right of the chart, at the end of a line.
type ending struct {
	value float64
	label string
	style style
	short string // the label where there is no room for it, if it is not empty
}

// leader is the length of the line that leads to an ending's label.
const leader = 22 * pixel

// withLimits returns endings and those of limits. Facets have none: the legend says it.
func (s *sheet) withLimits(endings []ending, limits []Limit) []ending {
	if s.Facets {
		return nil
	}
	endings = slices.Clone(endings)
	for _, l := range limits {
		endings = append(endings, ending{l.Value, "SLA: " + s.limitLabel(l), s.limitStyle(), "SLA"})
	}
	return endings
}

// reserveEndings keeps room for labels to the right of the chart: at most a third of it.
func (s *sheet) reserveEndings(endings []ending, limits []Limit) {
	width := vg.Length(0)
	for _, e := range s.withLimits(endings, limits) {
		width = max(width, s.endingText().Width(e.label)+leader+6*pixel)
	}
	s.endings = min(width, s.area.Size().X/3)
	if s.right > 0 {
		s.endings = s.area.Max.X - s.right
	}
	s.area.Max.X -= s.endings
}

func (s *sheet) endingText() text.Style {
	style := s.textStyle(tickSize)
	style.Color, style.YAlign = s.colours.text, text.YCenter
	return style
}

// drawEndings draws the lines of limits, and the labels of all that reaches the right edge. Labels
// that would overlap move apart, and lines lead to them.
func (s *sheet) drawEndings(c draw.Canvas, y func(float64) vg.Length, endings []ending, limits []Limit) {
	const row = tickSize * lineSpace
	for _, l := range limits {
		if at := y(l.Value); at <= c.Max.Y {
			s.stroke(c, s.limitStyle(), 1.3*pixel, []vg.Point{{X: c.Min.X, Y: at}, {X: c.Max.X, Y: at}})
		}
	}
	style, room := s.endingText(), s.endings-leader-4*pixel
	lines := len(endings)
	if endings = s.withLimits(endings, limits); endings != nil {
		tellApart(style, endings[:lines], room)
	}
	slices.SortStableFunc(endings, func(a, b ending) int { return cmp.Compare(a.value, b.value) })
	places := make([]vg.Length, len(endings))
	for i, e := range endings {
		if places[i] = min(max(y(e.value), c.Min.Y), c.Max.Y); i > 0 {
			places[i] = max(places[i], places[i-1]+row)
		}
	}
	highest := c.Max.Y
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], highest)
		highest = places[i] - row
	}
	for i, e := range endings {
		x, from := c.Max.X, min(max(y(e.value), c.Min.Y), c.Max.Y)
		s.stroke(s.area, e.style, 1.3*pixel, []vg.Point{{X: x, Y: from}, {X: x + 6*pixel, Y: from}, {X: x + leader - 8*pixel, Y: places[i]}, {X: x + leader - 2*pixel, Y: places[i]}})
		if e.short != "" && style.Width(e.label) > room {
			e.label = e.short
		}
		s.area.FillText(style, vg.Point{X: x + leader + 2*pixel, Y: places[i]}, shorten(style, e.label, room))
	}
}

// tellApart takes from labels what all of them share if one has no room: else nothing but that may
// be left of them.
func tellApart(style text.Style, endings []ending, room vg.Length) {
	var labels []string
	wide := false
	for _, e := range endings {
		labels = append(labels, e.label)
		wide = wide || e.short == "" && style.Width(e.label) > room
	}
	if !wide {
		return
	}
	for i, label := range withoutAffixes(labels) {
		endings[i].label = label
	}
}

// drawBreaches shades the times in which a line is above a limit that holds for it.
func (s *sheet) drawBreaches(c draw.Canvas, x func(float64) vg.Length, series []Series, width float64) {
	var spans []Point
	for _, l := range s.Limits {
		for _, line := range linesOf(series) {
			for _, p := range line.Points {
				if l.holdsFor(line.Name) && p.Value > l.Value {
					spans = append(spans, p)
				}
			}
		}
	}
	slices.SortFunc(spans, func(a, b Point) int { return cmp.Compare(a.Start, b.Start) })
	for i := 0; i < len(spans); {
		from, to := spans[i].Start, max(spans[i].End, spans[i].Start+width)
		for ; i < len(spans) && spans[i].Start <= to+width; i++ {
			to = max(to, spans[i].End)
		}
		s.plate(c, vg.Rectangle{Min: vg.Point{X: max(x(from), c.Min.X), Y: c.Min.Y}, Max: vg.Point{X: min(x(to), c.Max.X), Y: c.Max.Y}}, s.breach())
	}
}

// breach returns the colour of shades: that of limits, as light as the background allows.
func (s *sheet) breach() color.Color { return s.mixed(s.limit, 0.14) }

// mixed returns a share of a colour, and the background for the rest.
func (s *sheet) mixed(c color.Color, share float64) color.Color {
	r, g, b, _ := c.RGBA()
	r0, g0, b0, _ := s.background.RGBA()
	mix := func(a, b uint32) uint8 { return uint8((share*float64(a) + (1-share)*float64(b)) / 257) }
	return color.RGBA{mix(r, r0), mix(g, g0), mix(b, b0), 255}
}

func linesOf(series []Series) (lines []Line) {
	for _, s := range series {
		lines = append(lines, s.Lines...)
	}
	return lines
}

// reserveMarks keeps room above the chart for the texts of marks.
func (s *sheet) reserveMarks() {
	rows := min(len(s.Marks), 3)
	if s.Facets {
		rows = min(rows, 2)
	}
	s.marks = noteSize * lineSpace * vg.Length(rows)
	s.area.Max.Y -= s.marks
}

// drawMarks draws a line for each mark, and its text above the chart, in the first row that has
// room.
func (s *sheet) drawMarks(c draw.Canvas, x func(float64) vg.Length) {
	const row = noteSize * lineSpace
	font := s.textStyle(noteSize)
	font.Color = s.colours.text
	free := make([]vg.Length, int(s.marks/row+0.5)) // where each row is free from, from below
	for i := range free {
		free[i] = c.Min.X - 1
	}
	marks := slices.Clone(s.Marks)
	slices.SortStableFunc(marks, func(a, b Mark) int { return cmp.Compare(a.Time, b.Time) })
	for _, m := range marks {
		at := x(m.Time)
		if at < c.Min.X || at > c.Max.X {
			continue
		}
		top := c.Max.Y
		text := shorten(font, m.Text, (c.Max.X-c.Min.X)*2/3)
		left := min(at, c.Max.X-font.Width(text))
		for i := range free {
			if free[i] < left {
				top += row * vg.Length(i)
				s.area.FillText(font, vg.Point{X: left, Y: top + 2*pixel}, text)
				free[i] = left + font.Width(text) + 8*pixel
				break
			}
		}
		s.stroke(s.area, style{colour: s.faint}, pixel, []vg.Point{{X: at, Y: c.Min.Y}, {X: at, Y: top}})
	}
}
