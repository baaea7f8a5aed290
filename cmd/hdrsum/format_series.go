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

// rowsFormat is a table with a line for each window, for people.
var rowsFormat = format{
	Type: cli.Type{
		Name: "rows",
		What: "a table over time",
	},
	values: readable,
	uses:   slices.Concat([]string{"tz"}, rowOptions),
	rows:   inZone(report.RowTable),
}

// timelineFormat is CSV whose heads have no units.
var timelineFormat = format{
	Type: cli.Type{
		Name:   "timeline",
		What:   "CSV over time",
		Others: "series",
		Hidden: true,
	},
	values: bare,
	uses:   slices.Concat([]string{"tz"}, rowOptions),
	rows:   inZone(output.Timeline),
}

// csvRows is what csv is with -agg.
var csvRows = format{
	Type: cli.Type{
		Name: timelineFormat.Name,
	},
	uses: timelineFormat.uses,
	rows: inZone(output.TimelineIn),
}

// ndjsonFormat is a JSON object in each line.
var ndjsonFormat = format{
	Type: cli.Type{
		Name:   "ndjson",
		What:   "JSON over time",
		Others: "jsonl",
	},
	ending: ".ndjson",
	values: bare,
	uses:   slices.Concat([]string{"tz"}, rowOptions),
	rows:   inZone(output.NDJSON),
}

// influxFormat is the line protocol of InfluxDB.
var influxFormat = format{
	Type: cli.Type{
		Name:   metric.Influx,
		What:   "for InfluxDB",
		Others: "influxdb lineprotocol",
	},
	uses: metricOptions,
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
	points: points{
		// InfluxDB replaces a point by one of the same time.
		clash: func(last, now int64) error {
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
	Type: cli.Type{
		Name:   metric.OpenMetrics,
		What:   "for Prometheus",
		Others: "prometheus prom",
	},
	uses: metricOptions,
	check: func(f *flags, of *format) error {
		if f.moves() && f.given.percentiles {
			return message.Usagef("-p and -mwp do not go together: the percentile of the moving " +
				"window replaces those of -p")
		}
		return checkMetric(f, of)
	},
	rows: metricRows,
	points: points{
		// Prometheus drops points that are no later than the last one.
		clash: func(last, now int64) error {
			if now > last {
				return nil
			}
			return errors.New("does not end after the last interval of its tag; only the counters " +
				"include it, a millisecond later; hdrunion puts logs in order")
		},
		totals: true,
	},
}

// inZone returns what makes a writer of rows with times in the zone of a question.
func inZone(
	of func(w io.Writer, zone *time.Location) output.RowWriter,
) func(io.Writer, *question, hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error) {
	return func(w io.Writer, q *question, scale hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error) {
		return of(w, q.page.zone), scale, nil
	}
}

// checkMetric checks -metric, and -unit for metrics.
func checkMetric(f *flags, of *format) error {
	u := &f.units
	other := u.Unit != "" && u.Unit != hdrlog.Second.String()
	if of.Name != metric.Influx && u.Ratio == 0 && other {
		return message.Usagef("-unit %s: values of -st %s are in seconds: leave out -unit",
			u.Unit, of.Name)
	}
	if err := metric.Check(of.Name, f.format.metric); err != nil {
		return message.Usagef("-metric: %w", err)
	}
	return nil
}

// metricRows writes rows for monitoring systems. Values that -ovr divides have no known unit.
func metricRows(w io.Writer, q *question, _ hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error) {
	units := q.source.units
	scale, err := units.Scale(false)
	if err != nil {
		return nil, scale, err
	}
	if units.Options.Ratio != 0 {
		scale.In = 0
	}
	name, scale, err := metric.In(q.format.Name, q.page.details.metric, scale)
	if err != nil {
		return nil, scale, message.Usagef("%w", err)
	}
	rows, err := metric.Rows(q.format.Name, w, name)
	if err != nil {
		return nil, scale, message.Usagef("%w", err)
	}
	return rows, scale, nil
}
