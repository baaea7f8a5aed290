package output

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/influxdata/line-protocol/v2/lineprotocol"

	"hdrkit/tags"
)

// Precisions are the units of time that [Influx] can write.
var Precisions = []string{"ns", "us", "ms", "s"}

var precisions = map[string]lineprotocol.Precision{
	"ns": lineprotocol.Nanosecond,
	"us": lineprotocol.Microsecond,
	"ms": lineprotocol.Millisecond,
	"s":  lineprotocol.Second,
}

// ErrPoint is the error for a row that a format cannot hold; others can follow.
var ErrPoint = errors.New("cannot be a point")

// CheckMeasurement returns nil if name can be that of a measurement of InfluxDB.
func CheckMeasurement(name string) error {
	if strings.HasPrefix(name, "#") {
		return errors.New("a line that begins with # is a comment to InfluxDB") // which it passes over without a word
	}
	var e lineprotocol.Encoder
	e.StartLine(name)
	return e.Err()
}

// InfluxTime returns the time of a row's point in [Options.Precision] since the epoch.
func InfluxTime(r *Row, o *Options) int64 {
	return time.UnixMilli(r.End).UnixNano() / int64(precisions[o.Precision].Duration())
}

// influx writes rows as InfluxDB line protocol.
type influx struct {
	w       io.Writer
	o       *Options
	columns []column
	encoder lineprotocol.Encoder
}

// Influx returns a writer of [InfluxDB line protocol]: a point a row, at its end, in the measurement [Options.Metric],
// with the tag as tag, if there is one, and the figures of [Timeline] as fields, of which counts are integers. A figure
// that there is none of is left out. The tag is [tags.Text], but a backslash at its end becomes %5C, since it would escape
// the character after it.
//
// [InfluxDB line protocol]: https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/
func Influx(w io.Writer, o *Options) RowWriter {
	i := &influx{w: w, o: o, columns: valueColumns(o)}
	i.encoder.SetPrecision(precisions[o.Precision])
	return i
}

func (i *influx) Row(r *Row) error {
	e := &i.encoder
	e.Reset()
	e.StartLine(i.o.Metric)
	if r.Tag != nil {
		label := tags.Text(r.Tag)
		if short, ok := strings.CutSuffix(label, `\`); ok {
			label = short + "%5C"
		}
		e.AddTag("tag", label)
	}
	e.AddField("length", lineprotocol.MustNewValue(r.Length))
	e.AddField("count", lineprotocol.IntValue(r.Count))
	for _, c := range i.columns {
		if value, ok := lineprotocol.FloatValue(c.value(r)); ok {
			e.AddField(c.name, value)
		}
	}
	if i.o.Moving {
		e.AddField(windowCount, lineprotocol.IntValue(r.Window.Count))
	}
	e.EndLine(time.UnixMilli(r.End))
	if err := e.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrPoint, err)
	}
	_, err := i.w.Write(e.Bytes())
	return err
}

func (i *influx) Close() error { return nil }
