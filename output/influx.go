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
	var e lineprotocol.Encoder
	if e.StartLine(measurement); e.Err() != nil {
		return nil, e.Err()
	}
	return &rowFormat{scale: scale, write: func(r *Row, columns []column, _ bool) error {
		e.Reset()
		e.StartLine(measurement)
		if r.Tag != nil {
			text := tags.Text(r.Tag)
			if short, ok := strings.CutSuffix(text, `\`); ok {
				text = short + "%5C"
			}
			e.AddTag("tag", text)
		}
		e.AddField("length", lineprotocol.MustNewValue(r.Length))
		for _, c := range columns {
			if c.counts(r) {
				e.AddField(c.name, lineprotocol.IntValue(c.value(r).integer))
			} else if value, ok := lineprotocol.FloatValue(c.scaleOf(r).of(c.value(r).float)); ok {
				e.AddField(c.name, value)
			}
		}
		e.EndLine(time.UnixMilli(r.End))
		if err := e.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrPoint, err)
		}
		_, err := w.Write(e.Bytes())
		return err
	}}, nil
}
