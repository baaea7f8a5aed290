package output

import (
	"fmt"
	"io"
	"strings"
	"time"

	"hdrkit/tags"
)

// rowTable writes rows for people.
type rowTable struct {
	w       io.Writer
	scale   Scale
	zone    *time.Location
	columns []column
	layout  string // of times
}

// RowTable returns a writer of a table with a line for each row, which a terminal shows as it is
// written. The tag comes last, since it may be long. Nil is UTC.
func RowTable(w io.Writer, scale Scale, zone *time.Location) RowWriter {
	if zone == nil {
		zone = time.UTC
	}
	return &rowTable{w: w, scale: scale, zone: zone}
}

// rowDigits is the number of significant digits of figures.
const rowDigits = 4

func (t *rowTable) Row(r *Row) error {
	var b strings.Builder
	if t.columns == nil {
		t.columns = columns(r, t.scale)
		if t.layout = time.DateTime; r.Start%1000 != 0 || r.Length < 1 {
			t.layout += ".000"
		}
		fmt.Fprintf(&b, "%s, times in %s\n\n%-*s%11s", t.scale.about(), t.zone, len(t.layout), "start", "count")
		for _, c := range t.columns {
			name := strings.Replace(c.name, "per_second", "/s", 1)
			fmt.Fprintf(&b, "  %*s", cellWidth(name), name)
		}
		b.WriteString("  tag\n")
	}
	fmt.Fprintf(&b, "%s%11s", time.UnixMilli(r.Start).In(t.zone).Format(t.layout), thousands(fmt.Sprint(r.Count)))
	for _, c := range t.columns {
		text := c.text(r, "-")
		if text != "-" {
			text = significant(c.scaleOf(r).of(c.value(r).float), rowDigits)
		}
		fmt.Fprintf(&b, "  %*s", cellWidth(strings.Replace(c.name, "per_second", "/s", 1)), text)
	}
	fmt.Fprintf(&b, "  %s\n", tags.Text(r.Tag))
	_, err := io.WriteString(t.w, b.String())
	return err
}

// cellWidth returns the width of a column.
func cellWidth(name string) int { return max(len(name), 8) }

func (t *rowTable) Close() error { return nil }
