package main

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/output"
)

// influxFormat is the line protocol of InfluxDB.
var influxFormat = format{
	name: "influx", resumes: true, uses: rowOptions,
	flags: func() []urfave.Flag {
		return []urfave.Flag{
			&urfave.StringFlag{Name: "metric", Value: "latency", Category: cli.GroupSeries,
				Usage: "the `NAME` of the metric of openmetrics, and of the measurement of influx"},
			&urfave.StringFlag{Name: "precision", Value: "ns", Category: cli.GroupSeries,
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
		at:     func(u *url.URL) bool { return !remoteWrite(u) },
		header: func() http.Header { return http.Header{"Content-Type": {"text/plain; charset=utf-8"}} },
		check:  checkPrecision,
	},
}

// checkPrecision takes -precision from the address of -push, which must not have another one.
func checkPrecision(o *options) error {
	there := o.live.push.Query().Get("precision")
	switch there { // the names of InfluxDB 1; without one, both take nanoseconds
	case "", "n":
		there = "ns"
	case "u":
		there = "us"
	}
	if !slices.Contains(unit.Names, there) {
		return nil
	}
	if cli.Given(o.c, "precision") && o.precision != there {
		return cli.Usagef("-precision is %s, but the URL of -push has %s", o.precision, there)
	}
	o.precision = there
	return nil
}
