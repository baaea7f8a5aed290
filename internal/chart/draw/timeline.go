package draw

import (
	"strings"

	"hdrkit/internal/chart/page"
)

// Timeline is a chart of values over time.
var Timeline = &Type{
	Name:    "timeline",
	Options: []string{"p", "agg", "linear", "time", "compare", "mark", "tz"},
	Measures: func(percentiles []float64) (all []Measure) {
		for _, percentile := range percentiles {
			all = append(all, AtPercentile(percentile))
		}
		return all
	},
	Chart: page.Chart{
		Marks: page.Lines, Breaches: true, Empty: "no values were recorded", EmptyView: "no interval with values starts in this time",
	},
	name: func(p *Picture) string {
		if len(p.Series) == 0 {
			return "value"
		}
		var names []string
		for _, line := range p.Series[0].Lines {
			names = append(names, strings.Replace(shortName(line.Name), "max", "maximum", 1))
		}
		last := len(names) - 1
		if last > 0 {
			names = []string{strings.Join(names[:last], ", "), names[last]}
		}
		return strings.Join(names, " and ") + " of " + p.Span
	},
	steep: true,
	Worst: true,
	draw:  (*sheet).overTime,
}

// shortName returns the name of a line: p99 for 99%.
func shortName(line string) string {
	if percentile, ok := strings.CutSuffix(line, "%"); ok {
		return "p" + percentile
	}
	return line
}

// steep is how many times the median of the maxima the highest one is at least on an axis that is
// logarithmic if nobody chose.
const steep = 50

// Steep reports whether a few high values leave most of a linear axis empty.
func (p *Picture) Steep() bool {
	var values []float64
	series := p.Series
	if len(p.Total.Lines) > 0 {
		series = []Series{p.Total}
	}
	for _, s := range series {
		line := s.Lines[len(s.Lines)-1]
		for _, l := range s.Lines {
			if l.Name == "max" {
				line = l
			}
		}
		for _, point := range line.Points {
			if point.Value > 0 {
				values = append(values, point.Value)
			}
		}
	}
	middle := median(values) // which sorts them
	return p.Type.steep && len(values) > 0 && p.Low == 0 && p.High == 0 && values[len(values)-1] > steep*middle
}

// mostNarrow is the number of series in one chart up to which each has several lines by default.
const mostNarrow = 4

// KeepMaxima drops all lines but the maxima where they would be too many in one chart.
func (p *Picture) KeepMaxima() {
	if p.facets() != nil || len(p.Series) <= mostNarrow {
		return
	}
	for i := range p.Series {
		lines := p.Series[i].Lines
		p.Series[i].Lines = lines[len(lines)-1:]
	}
}
