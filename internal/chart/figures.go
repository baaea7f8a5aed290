package chart

import (
	"math"
	"slices"
)

// mostFigures is the number of figures of runs that have a chart of their own.
const mostFigures = 6

// leastSpan is the part of its highest value that the axis of a figure of runs shows at least, so
// that its noise does not look like a change.
const leastSpan = 0.4

// FiguresOf returns a picture for each line of a chart of runs, the one that leads first. Its axis
// of values is that of the line, so that a level that rises by 18% can be seen beside a maximum
// that varies. It returns nil if p shows all in one chart.
func (p *Picture) FiguresOf() (parts []Facet) {
	if p.Type != Trend || p.Looks.Facets || p.Values.Low != 0 || p.Values.High != 0 {
		return nil
	}
	for _, s := range p.Series {
		for _, line := range s.Lines {
			part := *p
			one := s
			one.Lines = []Line{line}
			part.Series = []Series{one}
			other := func(l Limit) bool { return l.Name() != line.Name }
			part.Values.Limits = slices.DeleteFunc(slices.Clone(p.Values.Limits), other)
			part.Values.Low, part.Values.High = line.span()
			part.Values.Log = false
			part.Events.Worst = slices.Clone(p.Events.Worst)
			for n := range part.Events.Worst {
				if m := &part.Events.Worst[n]; m.Line != line.Name || m.Label != s.Label {
					m.Elsewhere = true
				}
			}
			title := "" // the axis has the name of the line
			if s.Label != "" || len(p.Series) > 1 {
				title = Named(s.Label)
			}
			parts = append(parts, Facet{&part, title})
		}
	}
	if len(parts) < 2 || len(parts) > mostFigures {
		return nil
	}
	return parts
}

// span returns the ends of an axis that has the points of a line, of which it shows leastSpan.
func (l *Line) span() (low, high float64) {
	low = math.Inf(1)
	for _, p := range l.Points {
		if !math.IsNaN(p.Value) {
			low, high = min(low, p.Value), max(high, p.Value)
		}
	}
	if math.IsInf(low, 1) {
		return 0, 0
	}
	middle := (low + high) / 2
	half := max(0.6*(high-low), leastSpan/2*high)
	return max(middle-half, 0), middle + half
}
