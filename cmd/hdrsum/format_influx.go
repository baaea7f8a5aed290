package main

import (
	"errors"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
)

// influxFormat is the line protocol of InfluxDB.
var influxFormat = format{
	name: prom.Influx, what: "for InfluxDB", others: "influxdb lineprotocol", uses: rowOptions,
	flags: func() []urfave.Flag {
		return []urfave.Flag{
			&urfave.StringFlag{Name: "metric", DefaultText: prom.DefaultMetric, Category: cli.GroupSeries,
				Usage: "the `NAME` of the metric, whose values are seconds in openmetrics and otlp if their unit is known, without -ovr"},
		}
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
	receiver: func(*options) error { return nil },
}
