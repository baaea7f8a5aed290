// Package metric has the names and units of metrics in the formats of monitoring systems.
package metric

import (
	"cmp"
	"fmt"
	"io"
	"regexp"

	"hdrkit/hdrlog"
	"hdrkit/output"
	"hdrkit/output/influx"
	"hdrkit/output/openmetrics"
)

// Formats of rows, as the commands name them.
const (
	Influx        = "influx"
	OpenMetrics   = "openmetrics"
	OpenTelemetry = "otlp"
)

// Default is the text in the help of commands for the name of a metric that the user does not
// choose, see [NameAndScale].
const Default = "latency_seconds, or latency if the unit is unknown; latency in InfluxDB"

// otherTime matches names that end in a unit of time other than seconds.
const otherTime = `[_.](milli|micro|nano)seconds$`

// NameAndScale returns the name of a metric in a format, and the scale of its values. Name is the
// choice of the user, or empty. In OpenMetrics and OpenTelemetry, values with a known unit are in
// seconds, as monitoring systems expect. Otherwise the scale is s.
func NameAndScale(format, name string, s hdrlog.Scale) (string, hdrlog.Scale, error) {
	if (format != OpenMetrics && format != OpenTelemetry) || s.In == 0 {
		return cmp.Or(name, "latency"), s, nil
	}
	if other, _ := regexp.MatchString(otherTime, name); other {
		return "", hdrlog.Scale{}, fmt.Errorf("-metric %s: values of metrics are in seconds", name)
	}
	return cmp.Or(name, "latency_seconds"), hdrlog.Scale{Ratio: s.In.Per(hdrlog.Second), Unit: hdrlog.Second.String(), In: s.In}, nil
}

// Check returns an error if a metric of a format cannot have this name. An empty name is valid,
// since [NameAndScale] replaces it.
func Check(format, name string) (err error) {
	switch {
	case name == "":
	case format == OpenTelemetry && (len(name) > 255 || !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.\-/]*$`).MatchString(name)):
		err = fmt.Errorf("%q is not a name of a metric: a letter, and up to 254 letters, digits and _.-/", name)
	case format == Influx || format == OpenMetrics:
		_, err = Rows(format, io.Discard, name)
	}
	return err
}

// Rows returns a writer of rows as text in the format [Influx] or [OpenMetrics]. Name is the name
// of the metric.
func Rows(format string, w io.Writer, name string) (output.RowWriter, error) {
	if format == Influx {
		return influx.New(w, name)
	}
	return openmetrics.New(w, name)
}
