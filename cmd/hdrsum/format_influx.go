package main

import (
	"cmp"
	"errors"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/output"
)

// influxFormat is the line protocol of InfluxDB.
var influxFormat = format{
	name: prom.Influx, what: "for InfluxDB", others: "influxdb lineprotocol", uses: rowOptions,
	flags: func() []urfave.Flag {
		return []urfave.Flag{
			&urfave.StringFlag{Name: "metric", DefaultText: prom.DefaultMetric, Category: cli.GroupSeries,
				Usage: "the `NAME` of the metric, whose values are seconds in openmetrics and otlp if their unit is known, without -ovr"},
			&urfave.StringFlag{Name: "precision", Value: "ns", Category: cli.GroupRare,
				Usage: "the `UNIT` of times in influx: " + strings.Join(unit.Names, ", ")},
		}
	},
	choices: map[string][]string{"precision": unit.Names},
	check: func(o *options) (err error) {
		o.precision, err = cli.OneOf(o.c, "precision")
		return cmp.Or(err, checkMetric(o))
	},
	rows: metricRows,
	point: func(r *output.Row, o *options) int64 {
		length, _ := time.ParseDuration("1" + o.precision)
		return time.UnixMilli(r.End).UnixNano() / int64(length)
	},
	// InfluxDB replaces a point by one of the same time.
	clash: func(last, now int64) error {
		if now != last {
			return nil
		}
		return errors.New("ends at the same time as the last interval of its tag, and would replace it; use -agg, hdrunion or a finer -precision")
	},
	// The address has the precision.
	receiver: func(o *options) error {
		there := prom.Precision(o.push)
		if cli.Given(o.c, "precision") && o.precision != there {
			return cli.Usagef("-precision is %s, but the URL of -push has %s", o.precision, there)
		}
		o.precision = there
		return nil
	},
}
