package main

import (
	"fmt"
	"io"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/output"
)

// pushOption is the option that sends rows to other programs.
func (o *options) pushOption() cli.Option {
	return cli.Option{Name: "push", Group: cli.GroupSeries, Not: "of", Why: "the rows go to one place", Value: cli.Parsed(&o.push, "", push.ParseURL),
		Usage: "send the rows of -st influx to an InfluxDB, those of -st openmetrics to a receiver of Prometheus remote write, or those of -st otlp to one of OpenTelemetry (otlp+http://...), at `URL`; credentials are read from " + prom.Credentials}
}

// checkPush checks that the receiver of -push takes the rows.
func (o *options) checkPush() error {
	if o.push != nil && o.format == &otlpFormat != (prom.ReceiverOf(o.push) == otlpFormat.name) {
		return message.Usagef("-push %shttp://... sends the rows of -st otlp, and only those", push.OTLP)
	}
	return nil
}

// checkMetric checks -metric, and -unit for metrics.
func checkMetric(o *options) error {
	if u := o.units.Options; o.format.name != prom.Influx && u.Ratio == 0 && u.Unit != "" && u.Unit != unit.Second.String() {
		return message.Usagef("-unit %s: values of -st %s are in seconds; -ovr divides them by a number instead", u.Unit, o.format.name)
	}
	if err := prom.CheckMetric(o.format.name, o.metric); err != nil {
		return message.Usagef("-metric: %w", err)
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
	metrics, err := prom.Options{Metric: o.metric, Percentiles: o.percentiles, Service: "hdrsum", Memory: o.Ledger()}.In(o.format.name, scale)
	if err != nil {
		return nil, message.Usagef("%w", err)
	}
	rows, err := metrics.Rows(o.format.name, w, o.push != nil)
	if err != nil {
		return nil, message.Usagef("%w", err)
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
