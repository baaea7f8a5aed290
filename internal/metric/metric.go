// Package metric says what monitoring systems call the values of logs, and in which unit they get
// them.
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

// Formats of rows.
const (
	Influx        = "influx"
	OpenMetrics   = "openmetrics"
	OpenTelemetry = "otlp"
)

// Default is the help for names of metrics that nobody chose, see [In].
const Default = "latency_seconds, or latency if the unit is unknown; latency in InfluxDB"

// otherTime matches names that say that values are in another unit of time than seconds.
const otherTime = `[_.](milli|micro|nano)seconds$`

// In returns the name of a metric in a format, and how to print its values. If their unit is known,
// metrics are in seconds, as monitoring systems want, and their usual name says so. Other formats
// print values as s says.
func In(format, name string, s hdrlog.Scale) (string, hdrlog.Scale, error) {
	if (format != OpenMetrics && format != OpenTelemetry) || s.In == 0 {
		return cmp.Or(name, "latency"), s, nil
	}
	if other, _ := regexp.MatchString(otherTime, name); other {
		return "", hdrlog.Scale{}, fmt.Errorf("-metric %s: values of metrics are in seconds", name)
	}
	return cmp.Or(name, "latency_seconds"), hdrlog.Scale{Ratio: s.In.Per(hdrlog.Second), Unit: hdrlog.Second.String(), In: s.In}, nil
}

// Check returns an error if a name, which may be empty, is none of a metric in a format.
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

// Rows returns a writer of rows as text, in the format of InfluxDB or in OpenMetrics.
func Rows(format string, w io.Writer, name string) (output.RowWriter, error) {
	if format == Influx {
		return influx.New(w, name)
	}
	return openmetrics.New(w, name)
}
