package picture

import "hdrkit/internal/picture/page"

// Timeline is a chart of values over time.
var Timeline = &Type{
	Name:    "timeline",
	Options: []string{"p", "mwp", "agg", "time", "compare", "mark", "tz"},
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
		if len(p.Series) == 0 || len(p.Series[0].Lines) != 1 {
			return "value"
		}
		if name := p.Series[0].Lines[0].Name; name != "max" {
			return name + " of " + p.Span
		}
		return "maximum of " + p.Span
	},
	draw: (*sheet).overTime,
}
