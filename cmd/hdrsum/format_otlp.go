package main

import (
	"slices"

	"hdrkit/internal/live/prom"
)

// otlpFormat is the protocol of OpenTelemetry: lines of its JSON, or protocol buffers for a
// receiver.
var otlpFormat = format{
	name: prom.OpenTelemetry, what: "for OpenTelemetry", others: "opentelemetry otel", uses: slices.Concat([]string{"agg", "metric"}, valueOptions),
	check: func(o *options) error {
		o.series.Counts = true
		return checkMetric(o)
	},
	rows:     metricRows,
	receiver: func(*options) error { return nil },
}
