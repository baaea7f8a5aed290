package draw

import (
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page"
)

// A Type is a type of chart. Each is described in a file of its own.
type Type struct {
	Name string
	// Options are the options of hdrplot that this type has and another one lacks.
	Options []string
	// Measures returns what the lines show, by the percentiles that were asked for. It is nil if
	// there are no lines.
	Measures func(percentiles []float64) []Measure
	// Chart describes the chart. A picture adds what depends on its data.
	Chart page.Chart
	// name returns the title of the axis of values, if it depends on the data.
	name func(p *Picture) string
	// steep says that the axis of values is logarithmic by default if [Picture.Steep] holds.
	steep bool
	// Worst says that numbers mark the worst moments.
	Worst bool
	draw  func(s *sheet)
}

// Types are all types of charts.
var Types = []*Type{Timeline, Percentiles, Heatmap, Throughput, Report}

// describe describes a chart of a type, as a picture and on the page of this picture.
func (p *Picture) describe(t *Type) page.Chart {
	c := t.Chart
	if !c.Rate {
		c.Unit = axis.Spelled(p.Unit)
	}
	if t.name != nil {
		c.Name = t.name(p)
	}
	c.Log = c.Log || p.LogValues
	return c
}
