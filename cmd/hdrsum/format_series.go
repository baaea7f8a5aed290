package main

import (
	"errors"
	"io"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/output"
)

// rowsFormat is a table with a line for each window, for people.
var rowsFormat = format{
	name: "rows", what: "a table over time", readable: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) {
		return output.RowTable(w, o.scale, o.Zone), nil
	},
}

// timelineFormat is CSV.
var timelineFormat = format{
	name: "timeline", what: "CSV over time", ending: ".csv", others: "series", bare: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) {
		return output.Timeline(w, o.scale, o.Zone), nil
	},
}

// ndjsonFormat is a JSON object in each line.
var ndjsonFormat = format{
	name: "ndjson", what: "JSON over time", ending: ".ndjson", others: "jsonl", bare: true, uses: slices.Concat([]string{"tz"}, rowOptions),
	rows: func(w io.Writer, o *options) (output.RowWriter, error) { return output.NDJSON(w, o.scale, o.Zone), nil },
}

// influxFormat is the line protocol of InfluxDB.
var influxFormat = format{
	name: prom.Influx, what: "for InfluxDB", others: "influxdb lineprotocol", uses: metricOptions,
	option: func(o *options) cli.Option {
		return cli.Option{Name: "metric", Default: prom.DefaultMetric, Group: cli.GroupSeries, Value: cli.Text(&o.metric, ""),
			Usage: "the `NAME` of the metric, whose values are seconds in openmetrics and otlp if their unit is known, without -ovr"}
	},
	check: checkMetric,
	rows:  metricRows,
	// InfluxDB replaces a point by one of the same time.
	clash: func(last, now int64) error {
		if now != last {
			return nil
		}
		return errors.New("ends at the same time as the last interval of its tag, and would replace it; use -agg or hdrunion")
	},
}

// openMetricsFormat is the text format of Prometheus. To a receiver go native histograms by remote
// write.
var openMetricsFormat = format{
	name: prom.OpenMetrics, what: "for Prometheus", others: "prometheus prom", uses: metricOptions,
	check: func(o *options) error {
		if o.series.Moving > 0 && o.given.percentiles {
			return message.Usagef("-p and -mwp do not go together: the percentile of the moving window replaces those of -p")
		}
		return checkMetric(o)
	},
	rows: metricRows,
	// Prometheus drops points that are no later than the last one.
	clash: func(last, now int64) error {
		if now > last {
			return nil
		}
		return errors.New("does not end after the last interval of its tag; only the counters include it, a millisecond later; hdrunion puts logs in order")
	},
	totals: true,
	receiver: func(o *options) error { // it takes native histograms
		o.series.Counts = true
		if o.series.Moving > 0 {
			return message.Usagef("-push and -mwp do not go together with -st openmetrics: Prometheus computes percentiles of any span")
		}
		return nil
	},
}

// otlpFormat is the protocol of OpenTelemetry: lines of its JSON, or protocol buffers for a
// receiver.
var otlpFormat = format{
	name: prom.OpenTelemetry, what: "for OpenTelemetry", others: "opentelemetry otel", uses: slices.Concat([]string{"agg", "metric", "push"}, valueOptions),
	check: func(o *options) error {
		o.series.Counts = true
		return checkMetric(o)
	},
	rows: metricRows,
}
