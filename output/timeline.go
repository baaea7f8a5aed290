package output

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hdrkit/tags"
)

// Timeline returns a writer of CSV with a header, quoted as in RFC 4180. The columns are the start
// of the row as RFC 3339 in the zone, where nil is UTC, and in seconds from the start of the log,
// its length in seconds, its tag, the count, values per second, and figures.
//
// A cell is empty if there is no such figure, and for the tag of untagged intervals. The tag is
// [tags.Text]. An apostrophe comes before a tag that a spreadsheet would evaluate as a formula, and
// before a tag that begins with an apostrophe.
func Timeline(w io.Writer, scale Scale, zone *time.Location) RowWriter {
	return timeline(w, scale, zone, false)
}

// TimelineIn is [Timeline] whose heads name the unit of values, if it is known: p99_ms.
func TimelineIn(w io.Writer, scale Scale, zone *time.Location) RowWriter {
	return timeline(w, scale, zone, true)
}

func timeline(w io.Writer, scale Scale, zone *time.Location, units bool) RowWriter {
	out := csv.NewWriter(w)
	var fields []string
	return &rowFormat{scale: scale, write: func(r *Row, columns []column, first bool) error {
		if first {
			fields = []string{"start", "relative_start", "length", "tag"}
			for _, c := range columns {
				fields = append(fields, c.head(units))
			}
			out.Write(fields) // out keeps its error
		}
		fields = append(fields[:0], rfc3339(r.Start, zone), seconds(r.Relative), seconds(r.Length), csvTag(r.Tag))
		for n := range columns {
			fields = append(fields, columns[n].text(r, ""))
		}
		out.Write(fields)
		out.Flush()
		return out.Error()
	}}
}

// SummaryCSV writes a summary as a line of CSV, after a header if it is the first one. The columns
// are those of [TimelineIn] without times, and the period in seconds.
func SummaryCSV(w io.Writer, s *Summary, scale Scale, percentiles []float64, shares []Figure, first bool) error {
	percentiles = slices.DeleteFunc(slices.Clone(percentiles), func(p float64) bool { return p == 100 }) // max is there
	period := float64(s.Period) / 1000
	r := &Row{Tag: s.Tag, Factor: s.Factor, Covered: period, Stats: StatsOf(s.Counts(), percentiles, Stats{}), Counts: s.Counts(), Shares: shares}
	r.Moved = s.Moved
	out, columns := csv.NewWriter(w), columns(r, scale)
	if first {
		fields := []string{"tag", "period"}
		for _, c := range columns {
			fields = append(fields, c.head(true))
		}
		out.Write(fields) // out keeps its error
	}
	fields := []string{csvTag(r.Tag), seconds(period)}
	for n := range columns {
		fields = append(fields, columns[n].text(r, ""))
	}
	out.Write(fields)
	out.Flush()
	return out.Error()
}

// csvTag returns a tag as a cell of CSV.
func csvTag(tag []byte) string {
	if tag == nil {
		return ""
	}
	return csvText(tags.Text(tag))
}

// csvText returns a text from outside as a cell of CSV. Spreadsheets evaluate a cell that begins
// with one of = + - @, also in their full-width forms. OWASP's advice against [CSV injection] is an
// apostrophe before it.
//
// [CSV injection]: https://owasp.org/www-community/attacks/CSV_Injection
func csvText(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("=+-@＝＋－＠'", first) {
		return "'" + text
	}
	return text
}
