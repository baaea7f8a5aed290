// Package influx writes rows in [InfluxDB line protocol].
//
// [InfluxDB line protocol]: https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/
package influx

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hdrkit/output"
	"hdrkit/tags"
)

// New returns a writer of points. Each row becomes a point of the measurement, whose time is the
// end of the row in nanoseconds. The fields are the figures of [output.Timeline]; counts are
// integers. A figure that the row does not have has no field.
//
// The tag of the row is the value of the InfluxDB tag named "tag". It is [tags.Text], but a
// backslash at its end becomes %5C, because it would escape the character after it.
func New(w io.Writer, measurement string) (output.RowWriter, error) {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case strings.HasPrefix(measurement, "#"):
		return nil, errors.New("InfluxDB ignores a line that begins with #: it is a comment")
	case measurement == "" || !utf8.ValidString(measurement) || strings.ContainsFunc(measurement,
		control) || strings.HasSuffix(measurement, `\`):
		return nil, fmt.Errorf("invalid measurement %q", measurement)
	}
	begin := strings.NewReplacer(",", `\,`, " ", `\ `).Replace(measurement)
	escape := strings.NewReplacer(",", `\,`, " ", `\ `, "=", `\=`)
	var line []byte
	return output.Points(func(r *output.Row, fields []output.Field) error {
		line = append(line[:0], begin...)
		if r.Tag != nil {
			text := tags.Text(r.Tag)
			if text == "" {
				return fmt.Errorf(`%w: invalid tag value tag=""`, output.ErrPoint)
			}
			if short, ok := strings.CutSuffix(text, `\`); ok {
				text = short + "%5C"
			}
			line = append(append(line, ",tag="...), escape.Replace(text)...)
		}
		line = strconv.AppendFloat(append(line, " length="...), r.Length, 'g', -1, 64)
		for _, f := range fields {
			switch {
			case f.Count:
				line = append(strconv.AppendInt(appendKey(line, f.Name), f.Whole, 10), 'i')
			case !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0):
				line = strconv.AppendFloat(appendKey(line, f.Name), f.Value, 'g', -1, 64)
			}
		}
		const most = math.MaxInt64 / 1_000_000
		if r.End > most || r.End < -most {
			return fmt.Errorf("%w: InfluxDB has times from 1677 to 2262, and not %s", output.ErrPoint,
				time.UnixMilli(r.End).UTC().Format(time.RFC3339))
		}
		line = strconv.AppendInt(append(line, ' '), r.End*1e6, 10)
		_, err := w.Write(append(line, '\n'))
		return err
	}), nil
}

// appendKey appends the name of a field, which needs no escaping.
func appendKey(line []byte, name string) []byte {
	return append(append(append(line, ','), name...), '=')
}
