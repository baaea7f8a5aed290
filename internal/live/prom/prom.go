// Package prom writes histograms for monitoring systems. Prometheus scrapes native histograms or
// classic buckets ([Collector]), and gets native histograms by remote write ([Remote]). Receivers
// of OpenTelemetry get exponential histograms ([OTLP]), which have the same buckets.
//
// A native histogram of schema s has buckets whose bounds are the powers of 2^(2^-s). See
// https://prometheus.io/docs/specs/native_histograms/.
package prom

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/live/push"
	"hdrkit/output"
)

// Formats of rows.
const (
	Influx        = "influx"
	OpenMetrics   = "openmetrics"
	OpenTelemetry = "otlp"
)

// Options say how values become metrics.
type Options struct {
	// Metric is the name of the histogram. The gauges of the last window begin with it.
	Metric string
	// Scale is how to print values.
	Scale output.Scale
	// Percentiles are those of the last window that are shown.
	Percentiles []float64
	// Service is the name of the service that OpenTelemetry gets, if the environment has none.
	Service string
	// Memory, if set, limits what the totals may take.
	Memory *ledger.Ledger
}

// DefaultMetric is the help for names of metrics that nobody chose, see [Options.In].
const DefaultMetric = "latency_seconds, or latency if the unit is unknown; latency in InfluxDB"

// otherTime matches names that say that values are in another unit of time than seconds.
const otherTime = `[_.](milli|micro|nano)seconds$`

// In returns the options for a format. If the unit of values is known, metrics are in seconds, as
// monitoring systems want, and their usual name says so. Other formats print values as s says.
func (o Options) In(format string, s unit.Scale) (Options, error) {
	name := "latency"
	o.Scale = output.Scale{Ratio: s.Ratio, Unit: s.Name}
	if (format == OpenMetrics || format == OpenTelemetry) && s.In != (unit.Unit{}) {
		if other, _ := regexp.MatchString(otherTime, o.Metric); other {
			return o, fmt.Errorf("-metric %s: values of metrics are in seconds", o.Metric)
		}
		name, o.Scale = "latency_seconds", output.Scale{Ratio: s.In.Per(unit.Second), Unit: unit.Second.String()}
	}
	o.Metric = cmp.Or(o.Metric, name)
	return o, nil
}

// CheckMetric returns an error if a name, which may be empty, is none of a metric in a format.
func CheckMetric(format, name string) (err error) {
	switch {
	case name == "":
	case format == Influx:
		_, err = output.Influx(io.Discard, output.Scale{}, name)
	case format == OpenTelemetry && (len(name) > 255 || !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.\-/]*$`).MatchString(name)):
		err = fmt.Errorf("%q is not a name of a metric: a letter, and up to 254 letters, digits and _.-/", name)
	case format == OpenMetrics:
		_, err = output.OpenMetrics(io.Discard, output.Scale{}, name)
	}
	return err
}

// Rows returns a writer of rows: as text, or for a receiver, by one Write for each.
func (o Options) Rows(format string, w io.Writer, receiver bool) (output.RowWriter, error) {
	switch {
	case format == Influx:
		return output.Influx(w, o.Scale, o.Metric)
	case format == OpenTelemetry:
		return NewOTLP(w, o, os.Getenv, !receiver)
	case receiver:
		return NewRemote(w, o), nil
	}
	return output.OpenMetrics(w, o.Scale, o.Metric)
}

// Credentials is the environment variable with the Authorization field of pushes. A command line
// would show it to others.
const Credentials = "HDRKIT_PUSH_AUTHORIZATION"

// ReceiverOf returns the format of the rows for the receiver at an address, as far as it shows.
func ReceiverOf(u *url.URL) (format string) {
	switch {
	case strings.HasPrefix(u.Scheme, push.OTLP):
		return OpenTelemetry
	case strings.Contains(u.Path, "/api/v1/"):
		return OpenMetrics
	}
	return Influx
}

// newer reports whether an answer of Prometheus, Mimir, Thanos or VictoriaMetrics says that a point
// is not newer than others of its series.
func newer(answer []byte) bool {
	return regexp.MustCompile(`(?i)out.of.order|duplicate sample|too old sample|sample.duplicate.timestamp`).Match(answer)
}

// ReceiverName returns what messages call the receiver at an address.
func ReceiverName(u *url.URL) string {
	name := ReceiverOf(u)
	if name == OpenMetrics {
		name = "remote write"
	}
	return name + " " + u.Host
}

// NewPusher returns what sends rows in a format to an address. The options say more.
func NewPusher(format string, u *url.URL, agent string, o push.Options) *push.Pusher {
	address := *u
	address.Scheme = strings.TrimPrefix(address.Scheme, push.OTLP)
	o.URL, o.Header = &address, http.Header{"User-Agent": {agent}}
	switch format {
	case OpenTelemetry:
		o.Header.Set("Content-Type", "application/x-protobuf")
		o.Header.Set("Content-Encoding", "gzip")
		o.Encode, o.Rejected = Gzip, Rejected
	case OpenMetrics:
		o.Header.Set("Content-Type", "application/x-protobuf")
		o.Header.Set("Content-Encoding", "snappy")
		o.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
		o.Encode, o.Had = Snappy, newer
	case Influx:
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
