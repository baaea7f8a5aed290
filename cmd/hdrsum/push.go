package main

import (
	"fmt"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/internal/scan"
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
	there := prom.ReceiverOf(o.push).Format
	switch {
	case o.format.receiver == nil:
		able := names(func(f *format) bool { return f.receiver != nil })
		return cli.Usagef("-push sends the rows of -st %s, not those of -st %s", strings.Join(able, " or -st "), o.format.name)
	case o.format == &otlpFormat != (there == otlpFormat.name):
		return cli.Usagef("-push %shttp://... sends the rows of -st otlp, and only those", push.OTLP)
	}
	return nil
}

// checkPush checks the options of the rows that -push sends.
func checkPush(o *options) error {
	if o.push == nil {
		return nil
	}
	o.series.Counts = o.series.Counts || o.format.receiver.native
	return o.format.receiver.check(o)
}

// promOptions returns the options of what Prometheus gets.
func (o *options) promOptions() prom.Options {
	return prom.Options{
		Metric: o.metric, Schema: prom.DefaultSchema, Percentiles: o.percentiles, Memory: o.memory, Service: "hdrsum",
		Ratio: func(tag []byte) float64 {
			scale, _ := o.scaleOf(tag) // whoever brings the values has seen the error
			return scale.Ratio
		},
	}
}

// pushRows sends the rows to a receiver.
func pushRows(c *urfave.Context, s *scan.Scan, d *cli.Diagnostics, o *options) error {
	pusher := prom.ReceiverNamed(o.format.name).Pusher(o.push, "hdrsum", push.Options{Notice: d.Notice})
	defer pusher.GiveUp()
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q"))
	err := writeRows(s, d, o, func() (output.RowWriter, error) { return o.format.receiver.rows(pusher, o) })
	stop()
	if err == nil {
		result := pusher.Close()
		if d.LeftOut(result.Refused); result.Unsent > 0 {
			err = fmt.Errorf("the receiver did not take the last rows: %d are lost", result.Unsent)
		}
	}
	return endRows(s, d, err)
}

// A rowReceiver takes the rows of -push.
type rowReceiver struct {
	rows  func(p *push.Pusher, o *options) (output.RowWriter, error)
	check func(o *options) error
	// native reports that it takes native histograms, and so all counts of a row.
	native bool
}
