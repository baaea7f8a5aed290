package chart

import (
	"math"
	"slices"
)

// maxFigures is the largest number of figures, such as p99, that get a chart each in a trend.
const maxFigures = 6

// minSpan is the length of the axis of a figure, as a part of its highest value, or more. On a
// shorter axis, noise would look like a change.
const minSpan = 0.4

// LineFacets returns a facet for each line of a trend. Each has an axis of values for its line
// alone, so that readers see a percentile that rises by 18% beside a maximum that varies.
// LineFacets returns nil if one chart shows all lines.
func (p *Picture) LineFacets() (facets []Facet) {
	if p.Type != Trend || p.Looks.Facets || p.Values.Low != 0 || p.Values.High != 0 {
		return nil
	}
	for _, s := range p.Series {
		for _, line := range s.Lines {
			facet := *p
			one := s
			one.Lines = []Line{line}
			facet.Series = []Series{one}
			isOther := func(l Limit) bool { return l.Name() != line.Name }
			facet.Values.Limits = slices.DeleteFunc(slices.Clone(p.Values.Limits), isOther)
			facet.Values.Low, facet.Values.High = line.span()
			facet.Values.Log = false
			facet.Events.Worst = slices.Clone(p.Events.Worst)
			for n := range facet.Events.Worst {
				if m := &facet.Events.Worst[n]; m.Line != line.Name || m.Label != s.Label {
					m.Elsewhere = true
				}
			}
			title := "" // the axis has the name of the line
			if s.Label != "" || len(p.Series) > 1 {
				title = Named(s.Label)
			}
			facets = append(facets, Facet{&facet, title})
		}
	}
	if len(facets) < 2 || len(facets) > maxFigures {
		return nil
	}
	return facets
}

// span returns the ends of an axis of values for a line, 0 and 0 for a line without values.
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
	half := max(0.6*(high-low), minSpan/2*high)
	return max(middle-half, 0), middle + half
}
