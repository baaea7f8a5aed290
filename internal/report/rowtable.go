package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/output"
	"hdrkit/tags"
)

// RowTable returns a writer of a table with a line for each row of a time series. It writes each
// row at once, so the widths of columns do not depend on the rows. The tag comes last, since it may
// be long. A nil zone is UTC.
func RowTable(w io.Writer, zone *time.Location) output.RowWriter {
	if zone == nil {
		zone = time.UTC
	}
	layout := time.DateTime
	var widths []int
	return output.Points(func(r *output.Row, fields []output.Field) error {
		var b strings.Builder
		if widths == nil {
			if r.Start%1000 != 0 || r.Length < 1 {
				layout += ".000"
			}
			fmt.Fprintf(&b, "%s, times in %s\n\n%-*s", unit.About(r.Scale), zone, len(layout), "start")
			for n, f := range fields {
				name := strings.Replace(strings.Replace(f.Name, "per_second", "/s", 1), "percent_", "% ", 1)
				widths = append(widths, max(len(name), 8))
				if n == 0 {
					widths[n] = 9 // a count with separators
				}
				fmt.Fprintf(&b, "  %*s", widths[n], name)
			}
			b.WriteString("  tag\n")
		}
		b.WriteString(time.UnixMilli(r.Start).In(zone).Format(layout))
		for n, f := range fields {
			fmt.Fprintf(&b, "  %*s", widths[n], fieldText(f))
		}
		fmt.Fprintf(&b, "  %s\n", tags.Text(r.Tag))
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// fieldText returns a field of a row as text.
func fieldText(f output.Field) string {
	switch {
	case f.Count:
		return people.Whole(f.Whole)
	case math.IsNaN(f.Value) || math.IsInf(f.Value, 0):
		return "-"
	}
	return people.Digits(f.Value, 4)
}
