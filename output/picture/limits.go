package picture

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/output/picture/axis"
)

// limitLabel returns what a service level demands.
func (s *sheet) limitLabel(l Limit) string {
	value := axis.Handy(s.Unit, l.Value)
	if !s.LogValues || s.Type == Throughput {
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

func (s *sheet) limitText() text.Style {
	style := textStyle(tickSize)
	style.Color, style.YAlign = s.limit, text.YCenter
	return style
}

func (s *sheet) limitStyle() style { return style{colour: s.limit, dashes: []vg.Length{5, 3}} }

// reserveLimits keeps room for the labels of limits to the right of the chart, where they cover nothing.
func (s *sheet) reserveLimits(limits []Limit) {
	width := vg.Length(0)
	for _, l := range limits {
		width = max(width, s.limitText().Width("SLA: "+s.limitLabel(l))+8*pixel)
	}
	s.area.Max.X -= width
}

// drawLimits draws a labelled line across the chart for each limit.
func (s *sheet) drawLimits(c draw.Canvas, y func(float64) vg.Length, limits []Limit) {
	limits = slices.Clone(limits)
	slices.SortFunc(limits, func(a, b Limit) int { return cmp.Compare(a.Value, b.Value) })
	lowest := vg.Length(math.Inf(-1)) // where the next label may stand
	for _, l := range limits {
		at := y(l.Value)
		s.stroke(c, s.limitStyle(), 1.3*pixel, []vg.Point{{X: c.Min.X, Y: at}, {X: c.Max.X, Y: at}})
		label := max(at, lowest)
		c.FillText(s.limitText(), vg.Point{X: c.Max.X + 8*pixel, Y: label}, "SLA: "+s.limitLabel(l))
		lowest = label + tickSize*lineSpace
	}
}
