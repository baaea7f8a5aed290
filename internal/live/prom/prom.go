// Package prom writes histograms for monitoring systems. Prometheus scrapes native histograms or
// classic buckets ([Collector]), and gets native histograms by remote write ([Remote]). Receivers
// of OpenTelemetry get exponential histograms ([OTLP]), which have the same buckets.
//
// A native histogram of schema s has buckets whose bounds are the powers of 2^(2^-s). See
// https://prometheus.io/docs/specs/native_histograms/.
package prom

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/live/push"
	"hdrkit/internal/metric"
	"hdrkit/output"
)

// Options say how values become metrics.
type Options struct {
	// Metric is the name of the histogram. The gauges of the last window begin with it.
	Metric string
	// Scale is how to print values.
	Scale hdrlog.Scale
	// Percentiles are those of the last window that are shown.
	Percentiles []float64
	// Service is the name of the service that OpenTelemetry gets, if the environment has none.
	Service string
	// Memory, if set, limits what the totals may take.
	Memory *ledger.Ledger
}

// In returns the options for a format, see [metric.In].
func (o Options) In(format string, s hdrlog.Scale) (_ Options, err error) {
	o.Metric, o.Scale, err = metric.In(format, o.Metric, s)
	return o, err
}

// Rows returns a writer of rows: as text, or for a receiver, by one Write for each.
func (o Options) Rows(format string, w io.Writer, receiver bool) (output.RowWriter, error) {
	switch {
	case format == metric.OpenTelemetry:
		return NewOTLP(w, o, os.Getenv, !receiver)
	case format == metric.OpenMetrics && receiver:
		return NewRemote(w, o), nil
	}
	return metric.Rows(format, w, o.Metric)
}

// Credentials is the environment variable with the Authorization field of pushes. A command line
// would show it to others.
const Credentials = "HDRKIT_PUSH_AUTHORIZATION"

// ReceiverOf returns the format of the rows for the receiver at an address, as far as it shows.
func ReceiverOf(u *url.URL) (format string) {
	switch {
	case strings.HasPrefix(u.Scheme, push.OTLP):
		return metric.OpenTelemetry
	case strings.Contains(u.Path, "/api/v1/"):
		return metric.OpenMetrics
	}
	return metric.Influx
}

// newer reports whether an answer of Prometheus, Mimir, Thanos or VictoriaMetrics says that a point
// is not newer than others of its series.
func newer(answer []byte) bool {
	return regexp.MustCompile(`(?i)out.of.order|duplicate sample|too old sample|sample.duplicate.timestamp`).Match(answer)
}

// ReceiverName returns what messages call the receiver at an address, without secrets.
func ReceiverName(u *url.URL) string {
	name := ReceiverOf(u)
	if name == metric.OpenMetrics {
		name = "remote write"
	}
	return name + " " + push.Key(u)
}

// NewPusher returns what sends rows in a format to an address, as options say.
func NewPusher(format string, u *url.URL, agent string, o push.Options) *push.Pusher {
	address := *u
	address.Scheme = strings.TrimPrefix(address.Scheme, push.OTLP)
	o.URL, o.Header = &address, http.Header{"User-Agent": {agent}}
	switch format {
	case metric.OpenTelemetry:
		o.Header.Set("Content-Type", "application/x-protobuf")
		o.Header.Set("Content-Encoding", "gzip")
		o.Encode, o.Rejected = Gzip, Rejected
	case metric.OpenMetrics:
		o.Header.Set("Content-Type", "application/x-protobuf")
		o.Header.Set("Content-Encoding", "snappy")
		o.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
		o.Encode, o.Had = Snappy, newer
	case metric.Influx:
		o.Header.Set("Content-Type", "text/plain; charset=utf-8")
		if query := address.Query(); query.Has("precision") { // without it, times are in nanoseconds
			query.Del("precision")
			address.RawQuery = query.Encode()
		}
	}
	if secret := os.Getenv(Credentials); secret != "" {
		o.Header.Set("Authorization", secret)
	}
	return push.New(o)
}
