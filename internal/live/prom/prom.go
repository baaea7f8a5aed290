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
	// Metric is the name of the histogram, and the beginning of the names of gauges.
	Metric string
	// Scale converts values into the unit of the metrics.
	Scale hdrlog.Scale
	// Percentiles are the percentiles of the last window that become gauges.
	Percentiles []float64
	// Service is the name of the service for OpenTelemetry, unless the environment has a name.
	Service string
	// Memory, if set, limits the memory of the totals.
	Memory *ledger.Ledger
}

// In returns the options for a format, with the name and the scale of [metric.NameAndScale].
func (o Options) In(format string, s hdrlog.Scale) (_ Options, err error) {
	o.Metric, o.Scale, err = metric.NameAndScale(format, o.Metric, s)
	return o, err
}

// Rows returns a writer of rows in a format. It writes text or, for a receiver, encodes each row
// into one Write.
func (o Options) Rows(format string, w io.Writer, receiver bool) (output.RowWriter, error) {
	switch {
	case format == metric.OpenTelemetry:
		return NewOTLP(w, o, os.Getenv, !receiver)
	case format == metric.OpenMetrics && receiver:
		return NewRemote(w, o), nil
	}
	return metric.Rows(format, w, o.Metric)
}

// Credentials is the environment variable with the Authorization field of pushes. On a command
// line, other users of the machine could read it.
const Credentials = "HDRKIT_PUSH_AUTHORIZATION"

// ReceiverOf returns the format of the rows for a receiver, as its address suggests.
func ReceiverOf(u *url.URL) (format string) {
	switch {
	case strings.HasPrefix(u.Scheme, push.OTLP):
		return metric.OpenTelemetry
	case strings.Contains(u.Path, "/api/v1/"):
		return metric.OpenMetrics
	}
	return metric.Influx
}

// isOutOfOrder reports whether an answer of Prometheus, Mimir, Thanos or VictoriaMetrics says that
// a point is not newer than the points that its series already has.
func isOutOfOrder(answer []byte) bool {
	return regexp.MustCompile(`(?i)out.of.order|duplicate sample|too old sample|sample.duplicate.timestamp`).Match(answer)
}

// ReceiverName returns the name of a receiver in messages, without secrets.
func ReceiverName(u *url.URL) string {
	name := ReceiverOf(u)
	if name == metric.OpenMetrics {
		name = "remote write"
	}
	return name + " " + push.Key(u)
}

// NewPusher returns a pusher that sends rows in a format to an address. It sets the options that
// depend on the format.
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
		o.Encode, o.Had = Snappy, isOutOfOrder
	case metric.Influx:
		o.Header.Set("Content-Type", "text/plain; charset=utf-8")
		if query := address.Query(); query.Has("precision") { // without this parameter, times are in nanoseconds
			query.Del("precision")
			address.RawQuery = query.Encode()
		}
	}
	if secret := os.Getenv(Credentials); secret != "" {
		o.Header.Set("Authorization", secret)
	}
	return push.New(o)
}
