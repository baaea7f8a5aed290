package output

import (
	"fmt"
	"io"
	"strings"
	"time"

	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/tags"
)

// RowTable returns a writer of a table with a line for each row, which a terminal shows as it is
// written. The tag comes last, since it may be long. Nil is UTC.
func RowTable(w io.Writer, zone *time.Location) RowWriter {
	if zone == nil {
		zone = time.UTC
	}
	layout, widths := time.DateTime, []int(nil)
	return &rowFormat{write: func(r *Row, columns []column, first bool) error {
		var b strings.Builder
		if first {
			if r.Start%1000 != 0 || r.Length < 1 {
				layout += ".000"
			}
			fmt.Fprintf(&b, "%s, times in %s\n\n%-*s", unit.About(r.Scale), zone, len(layout), "start")
			for n, c := range columns {
				name := strings.Replace(strings.Replace(c.name, "per_second", "/s", 1), "percent_", "% ", 1)
				widths = append(widths, max(len(name), 8))
				if n == 0 {
					widths[n] = 9 // a count with separators
				}
				fmt.Fprintf(&b, "  %*s", widths[n], name)
			}
			b.WriteString("  tag\n")
		}
		b.WriteString(time.UnixMilli(r.Start).In(zone).Format(layout))
		for n, c := range columns {
			text := string(c.append(nil, r, "-"))
			if c.counts(r) {
				text = people.Grouped(text)
			} else if text != "-" {
				text = people.Digits(c.scaleOf(r).Of(c.value(r).float), 4)
			}
			fmt.Fprintf(&b, "  %*s", widths[n], text)
		}
		fmt.Fprintf(&b, "  %s\n", tags.Text(r.Tag))
		_, err := io.WriteString(w, b.String())
		return err
	}}
}
