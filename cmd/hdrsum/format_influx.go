package main

import (
	"errors"
	"io"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/output"
)

// influxFormat is the line protocol of InfluxDB.
var influxFormat = format{
	name: "influx", what: "for InfluxDB", others: "influxdb lineprotocol", uses: rowOptions,
	flags: func() []urfave.Flag {
		return []urfave.Flag{
			&urfave.StringFlag{Name: "metric", Value: "latency", Category: cli.GroupSeries,
				Usage: "the `NAME` of the metric of openmetrics, and of the measurement of influx"},
			&urfave.StringFlag{Name: "precision", Value: "ns", Category: cli.GroupRare,
				Usage: "the `UNIT` of times in influx: " + strings.Join(unit.Names, ", ")},
		}
	},
	choices: map[string][]string{"precision": unit.Names},
	check: func(o *options) (err error) {
		if o.precision, err = cli.OneOf(o.c, "precision"); err != nil {
			return err
		}
		if _, err := output.Influx(io.Discard, o.scale, o.metric, o.precision); err != nil {
			return cli.Usagef("-metric: %w", err)
		}
		return nil
	},
	rows: func(w io.Writer, o *options) (output.RowWriter, error) {
		return output.Influx(w, o.scale, o.metric, o.precision)
	},
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
	receiver: &rowReceiver{
		rows: func(p *push.Pusher, o *options) (output.RowWriter, error) {
			return output.Influx(p, o.scale, o.metric, o.precision)
		},
		// The address has the precision.
		check: func(o *options) error {
			there := prom.Precision(o.push)
			if cli.Given(o.c, "precision") && o.precision != there {
				return cli.Usagef("-precision is %s, but the URL of -push has %s", o.precision, there)
			}
			o.precision = there
			return nil
		},
	},
}
