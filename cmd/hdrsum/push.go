package main

import (
	"fmt"
	"io"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/output"
)

// pushFlag is the option that sends rows to other programs.
func pushFlag() urfave.Flag {
	return cli.Option{Not: "of", Why: "the rows go to one place", Flag: &urfave.StringFlag{Name: "push", Category: cli.GroupSeries,
		Usage: "send the rows of -st influx to an InfluxDB, those of -st openmetrics to a receiver of Prometheus remote write, or those of -st otlp to one of OpenTelemetry (otlp+http://...), at `URL`; credentials are read from " + prom.Credentials}}
}

// parsePush checks the address of -push, which decides what -st is if that is not given.
func parsePush(c *urfave.Context, o *options) (err error) {
	if !cli.Given(c, "push") {
		return nil
	}
	if o.push, err = push.ParseURL(c.String("push")); err != nil {
		return cli.Usagef("-push: %w", err)
	}
	if o.format == &otlpFormat != (prom.ReceiverOf(o.push) == otlpFormat.name) {
		return cli.Usagef("-push %shttp://... sends the rows of -st otlp, and only those", push.OTLP)
	}
	return nil
}

// checkMetric checks -metric, and -unit for metrics.
func checkMetric(o *options) error {
	if u := o.units.Options; o.format.name != prom.Influx && u.Ratio == 0 && u.Unit != "" && u.Unit != unit.Second.String() {
		return cli.Usagef("-unit %s: values of -st %s are in seconds; -ovr divides them by a number instead", u.Unit, o.format.name)
	}
	if err := prom.CheckMetric(o.format.name, o.metric); err != nil {
		return cli.Usagef("-metric: %w", err)
	}
	return nil
}

// metricRows writes rows for monitoring systems, as text or for the receiver of -push. Values that
// -ovr divides have no known unit.
func metricRows(w io.Writer, o *options) (output.RowWriter, error) {
	scale, err := o.units.Scale(false)
	if err != nil {
		return nil, err
	}
	if o.units.Options.Ratio != 0 {
		scale.In = unit.Unit{}
	}
	metrics, err := prom.Options{Metric: o.metric, Percentiles: o.percentiles, Service: "hdrsum", Memory: o.memory}.In(o.format.name, scale)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	rows, err := metrics.Rows(o.format.name, w, o.push != nil)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return rows, nil
}

// pushRows sends the rows to a receiver. Stop ends the progress.
func pushRows(o *options, stop func()) error {
	pusher := prom.NewPusher(o.format.name, o.push, "hdrsum", push.Options{Notice: o.diagnostics.Notice})
	defer pusher.GiveUp()
	o.scan.BatchDone = pusher.Flush
	err := writeRows(o, pusher)
	stop()
	if err == nil {
		result := pusher.Close()
		if o.diagnostics.LeftOut(int(result.Refused)); result.Waiting > 0 {
			err = fmt.Errorf("the receiver did not take the last rows: %d are lost", result.Waiting)
		}
	}
	return err
}
