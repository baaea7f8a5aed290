package output

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hdrkit/tags"
)

// timeline writes rows as CSV.
type timeline struct {
	w       *csv.Writer
	scale   Scale
	zone    *time.Location
	columns []column
	fields  []string
}

// Timeline returns a writer of CSV with a header, quoted as in RFC 4180. The columns are the start
// of the row as RFC 3339 in the zone, where nil is UTC, and in seconds from the start of the log,
// its length in seconds, its tag, the count, values per second, and figures.
//
// A cell is empty if there is no such figure, and for the tag of untagged intervals. The tag is
// [tags.Text]. An apostrophe comes before a tag that a spreadsheet would evaluate as a formula, and
// before a tag that begins with an apostrophe.
func Timeline(w io.Writer, scale Scale, zone *time.Location) RowWriter {
	return &timeline{w: csv.NewWriter(w), scale: scale, zone: zone}
}

// csvTag returns a tag as a cell of CSV. Spreadsheets evaluate a cell that begins with one of = + -
// @, also in their full-width forms. OWASP's advice against [CSV injection] is an apostrophe before
// it.
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
	if t.columns == nil {
		t.columns = columns(r, t.scale)
		t.fields = []string{"start", "relative_start", "length", "tag", "count"}
		for _, c := range t.columns {
			t.fields = append(t.fields, c.name)
		}
		if r.Moving != nil {
			t.fields = append(t.fields, movingCount)
		}
		if err := t.w.Write(t.fields); err != nil {
			return err
		}
	}
	t.fields = append(t.fields[:0], rfc3339(r.Start, t.zone), seconds(r.Relative), seconds(r.Length), csvTag(r.Tag), strconv.FormatInt(r.Count, 10))
	for n := range t.columns {
		t.fields = append(t.fields, t.columns[n].text(r, ""))
	}
	if r.Moving != nil {
		t.fields = append(t.fields, strconv.FormatInt(r.Moving.Count, 10))
	}
	if err := t.w.Write(t.fields); err != nil {
		return err
	}
	t.w.Flush()
	return t.w.Error()
}

func (t *timeline) Close() error { return nil }
