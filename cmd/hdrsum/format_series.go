package main

import (
	"errors"
	"io"
	"slices"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/metric"
	"hdrkit/internal/report"
	"hdrkit/output"
)

// rowsFormat is a table for people with a line for each window.
var rowsFormat = format{
	kind: cli.Type{
		Name: "rows",
		What: "a table over time",
	},
	unitStyle: readable,
	options:   slices.Concat([]string{"tz"}, rowOptions),
	rows:      inZone(report.RowTable),
}

// timelineFormat is CSV over time without units in its header.
var timelineFormat = format{
	kind: cli.Type{
		Name:   "timeline",
		What:   "CSV over time",
		Others: "series",
		Hidden: true,
	},
	unitStyle: bare,
	options:   slices.Concat([]string{"tz"}, rowOptions),
	rows:      inZone(output.Timeline),
}

// csvRows is the format of -st csv with -agg.
var csvRows = format{
	kind: cli.Type{
		Name: timelineFormat.kind.Name,
	},
	options: timelineFormat.options,
	rows:    inZone(output.TimelineIn),
}

// ndjsonFormat is lines of JSON objects.
var ndjsonFormat = format{
	kind: cli.Type{
		Name:   "ndjson",
		What:   "JSON over time",
		Others: "jsonl",
	},
	ending:    ".ndjson",
	unitStyle: bare,
	options:   slices.Concat([]string{"tz"}, rowOptions),
	rows:      inZone(output.NDJSON),
}

// influxFormat is the line protocol of InfluxDB.
var influxFormat = format{
	kind: cli.Type{
		Name:   metric.Influx,
		What:   "for InfluxDB",
		Others: "influxdb lineprotocol",
	},
	options: metricOptions,
	option: func(f *flags) cli.Option {
		return cli.Option{
			Name:    "metric",
			Default: metric.Default,
			Group:   cli.GroupSeries,
			Value:   cli.Text(&f.format.metric, ""),
			Usage:   "the `NAME` of the metric, whose values are seconds in openmetrics if their unit is known",
		}
	},
	check: checkMetric,
	rows:  metricRows,
	points: pointRules{
		// InfluxDB replaces a point by a later point of the same time.
		conflict: func(last, now int64) error {
			if now != last {
				return nil
			}
			return errors.New("ends at the same time as the last interval of its tag, and would replace " +
				"it; use -agg or hdrunion")
		},
	},
}

// openMetricsFormat is the text format of Prometheus.
var openMetricsFormat = format{
	kind: cli.Type{
		Name:   metric.OpenMetrics,
		What:   "for Prometheus",
		Others: "prometheus prom",
	},
	options: metricOptions,
	check: func(f *flags, of *format) error {
		if f.hasMovingWindow() && f.given.percentiles {
			return message.Usagef("-p and -mwp do not go together: the percentile of the moving " +
				"window replaces those of -p")
		}
		return checkMetric(f, of)
	},
	rows: metricRows,
	points: pointRules{
		// Prometheus drops a point whose time is not after the last point.
		conflict: func(last, now int64) error {
			if now > last {
				return nil
			}
			return errors.New("does not end after the last interval of its tag; only the counters " +
				"include it, a millisecond later; hdrunion puts logs in order")
		},
		hasTotals: true,
	},
}

// inZone returns a [format.rows] for a writer of rows that needs only a time zone.
func inZone(
	of func(w io.Writer, zone *time.Location) output.RowWriter,
) func(io.Writer, *question, hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error) {
	return func(w io.Writer, q *question, scale hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error) {
		return of(w, q.page.zone), scale, nil
	}
}

// checkMetric checks -metric, and -unit for formats of metrics.
func checkMetric(f *flags, of *format) error {
	u := &f.units
	other := u.Unit != "" && u.Unit != hdrlog.Second.String()
	if of.kind.Name != metric.Influx && u.Ratio == 0 && other {
		return message.Usagef("-unit %s: values of -st %s are in seconds: leave out -unit",
			u.Unit, of.kind.Name)
	}
	if err := metric.Check(of.kind.Name, f.format.metric); err != nil {
		return message.Usagef("-metric: %w", err)
	}
	return nil
}

// metricRows returns the writer of rows of a format of metrics. If -ovr divides the values, their
// unit is unknown.
func metricRows(w io.Writer, q *question, _ hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error) {
	units := q.source.units
	scale, err := units.Scale(false)
	if err != nil {
		return nil, scale, err
	}
	if units.Options.Ratio != 0 {
		scale.In = 0
	}
	name, scale, err := metric.NameAndScale(q.format.kind.Name, q.page.details.metric, scale)
	if err != nil {
		return nil, scale, message.Usagef("%w", err)
	}
	rows, err := metric.Rows(q.format.kind.Name, w, name)
	if err != nil {
		return nil, scale, message.Usagef("%w", err)
	}
	return rows, scale, nil
}
