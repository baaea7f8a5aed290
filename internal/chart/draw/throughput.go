package draw

import "hdrkit/internal/chart/page"

// Throughput is a chart of values a second over time.
var Throughput = &Type{
	Name:     "throughput",
	Options:  []string{"agg", "time", "compare", "mark", "tz"},
	Measures: func([]float64) []Measure { return []Measure{PerSecond()} },
	Chart: page.Chart{
		Marks: page.Lines, Name: "values per second", Rate: true,
		Empty: "no interval has both values and a length", EmptyView: "no interval with values and a length starts in this time",
	},
	draw: (*sheet).overTime,
}
