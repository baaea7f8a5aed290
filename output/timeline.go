package output

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// timeline writes rows as CSV.
type timeline struct {
	w       *csv.Writer
	o       *Options
	columns []column
	fields  []string
}

// Timeline returns a writer of CSV, quoted as in RFC 4180, with a header: when an interval started, as RFC 3339 and in
// seconds from the start of the log, how long it is in seconds, its tag, how many values it has and how many a
// second, and their figures. A figure that there is none of is empty, and so is the tag of untagged intervals.
func Timeline(w io.Writer, o *Options) RowWriter {
	return &timeline{w: csv.NewWriter(w), o: o, columns: valueColumns(o)}
}

func (t *timeline) Row(r *Row) error {
	if t.fields == nil {
		t.fields = []string{"start", "relative_start", "length", "tag", "count"}
		for _, c := range t.columns {
			t.fields = append(t.fields, c.name)
		}
		if t.o.Moving {
			t.fields = append(t.fields, windowCount)
		}
		if err := t.w.Write(t.fields); err != nil {
			return err
		}
	}
	t.fields = append(t.fields[:0], rfc3339(r.Start), seconds(r.Relative), seconds(r.Length), string(r.Tag), strconv.FormatInt(r.Count, 10))
	for _, c := range t.columns {
		text := ""
		if v := c.value(r); !math.IsNaN(v) && !math.IsInf(v, 0) {
			text = shortest(v)
		}
		t.fields = append(t.fields, text)
	}
	if t.o.Moving {
		t.fields = append(t.fields, strconv.FormatInt(r.Window.Count, 10))
	}
	if err := t.w.Write(t.fields); err != nil {
		return err
	}
	t.w.Flush()
	return t.w.Error()
}

func (t *timeline) Close() error { return nil }
