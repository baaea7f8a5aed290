package output

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"hdrkit/tags"
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
// second, and their figures. A figure that there is none of is empty, and so is the tag of untagged intervals. The tag is
// [tags.Text]. An apostrophe comes before a tag that a spreadsheet would evaluate as a formula, and before a tag that
// begins with an apostrophe.
func Timeline(w io.Writer, o *Options) RowWriter {
	return &timeline{w: csv.NewWriter(w), o: o, columns: valueColumns(o)}
}

// csvTag returns a tag as a cell of CSV. Spreadsheets evaluate a cell that begins with one of = + - @, also in their full-width
// forms. OWASP's advice against [CSV injection] is an apostrophe before it.
//
// [CSV injection]: https://owasp.org/www-community/attacks/CSV_Injection
func csvTag(tag []byte) string {
	if tag == nil {
		return ""
	}
	text := tags.Text(tag)
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("=+-@＝＋－＠'", first) {
		return "'" + text
	}
	return text
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
	t.fields = append(t.fields[:0], rfc3339(r.Start), seconds(r.Relative), seconds(r.Length), csvTag(r.Tag), strconv.FormatInt(r.Count, 10))
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
