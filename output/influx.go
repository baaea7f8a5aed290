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

// ErrPoint is the error for a row that a format cannot hold. The writer can take other rows after
// it.
var ErrPoint = errors.New("cannot be a point")

// influx writes rows as InfluxDB line protocol.
type influx struct {
	w           io.Writer
	scale       Scale
	measurement string
	columns     []column
	encoder     lineprotocol.Encoder
}

// Influx returns a writer of [InfluxDB line protocol]. Each row is a point of the measurement, at
// the end of the row. The fields are the figures of [Timeline]; counts are integers. A figure is
// left out if there is none. Times are in nanoseconds.
//
// A tag is the value of the tag named tag. It is [tags.Text], but a backslash at its end becomes
// %5C, because it would escape the character after it.
//
// [InfluxDB line protocol]: https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/
func Influx(w io.Writer, scale Scale, measurement string) (RowWriter, error) {
	if strings.HasPrefix(measurement, "#") {
		return nil, errors.New("InfluxDB ignores a line that begins with #: it is a comment")
	}
	i := &influx{w: w, scale: scale, measurement: measurement}
	i.encoder.StartLine(measurement)
	return i, i.encoder.Err()
}

func (i *influx) Row(r *Row) error {
	if i.columns == nil {
		i.columns = columns(r, i.scale)
	}
	e := &i.encoder
	e.Reset()
	e.StartLine(i.measurement)
	if r.Tag != nil {
		text := tags.Text(r.Tag)
		if short, ok := strings.CutSuffix(text, `\`); ok {
			text = short + "%5C"
		}
		e.AddTag("tag", text)
	}
	e.AddField("length", lineprotocol.MustNewValue(r.Length))
	e.AddField("count", lineprotocol.IntValue(r.Count))
	for _, c := range i.columns {
		if value, ok := lineprotocol.FloatValue(c.scaleOf(r).of(c.value(r).float)); ok {
			e.AddField(c.name, value)
		}
	}
	if r.Moving != nil {
		e.AddField(movingCount, lineprotocol.IntValue(r.Moving.Count))
	}
	e.EndLine(time.UnixMilli(r.End))
	if err := e.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrPoint, err)
	}
	_, err := i.w.Write(e.Bytes())
	return err
}

func (i *influx) Close() error { return nil }
