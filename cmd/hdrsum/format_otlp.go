package main

import (
	"io"
	"os"
	"regexp"
	"slices"

	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/output"
)

// otlpFormat is the protocol of OpenTelemetry: lines of its JSON, or protocol buffers for a
// receiver.
var otlpFormat = format{
	name: "otlp", what: "for OpenTelemetry", others: "opentelemetry otel", uses: slices.Concat([]string{"agg", "metric"}, valueOptions),
	check: func(o *options) error {
		o.series.Counts = true
		if len(o.metric) > 255 || !regexp.MustCompile(otlpName).MatchString(o.metric) {
			return cli.Usagef("-metric: %q is not a name of a metric: a letter, and up to 254 letters, digits and _.-/", o.metric)
		}
		return nil
	},
	rows: func(w io.Writer, o *options) (output.RowWriter, error) { return newOTLPRows(w, o, true) },
	receiver: &rowReceiver{
		rows:  func(p *push.Pusher, o *options) (output.RowWriter, error) { return newOTLPRows(p, o, false) },
		check: func(*options) error { return nil },
	},
}

const otlpName = `^[A-Za-z][A-Za-z0-9_.\-/]*$`

func newOTLPRows(w io.Writer, o *options, json bool) (output.RowWriter, error) {
	options := o.promOptions()
	options.Schema = prom.MaxScale // the digits of the log decide
	rows, err := prom.NewOTLP(w, options, o.scale.Unit, os.Getenv, json)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return rows, nil
}
