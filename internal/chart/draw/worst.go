package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart/axis"
)

// A Moment is a time that was bad: from Start to End, in milliseconds from the origin, with the
// maximum Value at Peak.
type Moment struct {
	Start, End, Peak float64
	Value            float64
	// Label is that of the series that was bad, and Name what the list below the chart calls it.
	Label, Name string
}

// worstNotes returns the list of the worst moments, whose numbers stand in the chart.
func (p *Picture) worstNotes() (notes []string) {
	unit := axis.Spelled(p.Unit)
	from, to, ok := p.span()
	if !ok { // a heat map has no lines
		series, _ := p.windowRange()
		from, to, _ = timeRange(series)
	}
	furthest := max(math.Abs(from), math.Abs(to)) / 1000
	for i, m := range p.Worst {
		precise := 1.0
		if m.End-m.Start >= 1000 { // timers are late
			precise = 100
		}
		rounded := func(ms float64) float64 { return math.Round(ms/precise) * precise }
		at := axis.Since(rounded(m.Start)/1000, furthest)
		if p.Absolute {
			at = axis.ClockTime((m.Start+float64(p.Origin))/1000, p.zone())
		}
		parts := []string{fmt.Sprintf("%d  at %s for %s", i+1, at, axis.Length(max(int64(rounded(m.End-m.Start)), 1))), axis.Value(unit, m.Value)}
		if m.Name != "" {
			parts = append(parts, m.Name)
		}
		notes = append(notes, strings.Join(parts, " · "))
	}
	return notes
}

// drawWorst numbers the worst moments above their maxima. Numbers that would overlap stand side by
// side.
func (s *sheet) drawWorst(c draw.Canvas, x, y func(float64) vg.Length) {
	const radius = 8 * pixel
	style, number := style{colour: s.colours.text}, s.textStyle(noteSize)
	number.Color, number.XAlign, number.YAlign = s.background, text.XCenter, text.YCenter
	var taken []vg.Point
	for i, m := range s.Worst {
		own := slices.ContainsFunc(s.Series, func(own Series) bool { return own.Label == m.Label }) ||
			slices.ContainsFunc(s.Windows, func(own WindowSeries) bool { return own.Label == m.Label })
		if s.whole != s.Picture && !own {
			continue
		}
		at := vg.Point{X: min(max(x(m.Peak), c.Min.X+radius), c.Max.X-radius), Y: min(y(m.Value)+radius+2*pixel, c.Max.Y-radius)}
		if x(m.Peak) < c.Min.X-pixel || x(m.Peak) > c.Max.X+pixel {
			continue
		}
		for slices.ContainsFunc(taken, func(p vg.Point) bool { return max(p.X-at.X, at.X-p.X) < 2*radius && max(p.Y-at.Y, at.Y-p.Y) < 2*radius }) {
			if at.X += 2*radius + pixel; at.X > c.Max.X-radius {
				at = vg.Point{X: c.Min.X + radius, Y: at.Y - 2*radius}
			}
		}
		taken = append(taken, at)
		s.dot(c, style, radius, at)
		c.FillText(number, at, fmt.Sprint(i+1))
	}
}
