package output

import (
	"io"
	"slices"
	"time"

	"hdrkit/internal/base/csvcell"
	"hdrkit/internal/base/people"
	"hdrkit/tags"
)

// Timeline returns a writer of rows as CSV with a header, quoted as in RFC 4180. The columns are
// the start of the row as RFC 3339, its start in seconds from the start of the log, its length in
// seconds, its tag, the count, values per second, and figures. Times are in zone, or in UTC if zone
// is nil.
//
// The cell of a figure that the row does not have is empty, and so is the tag of untagged
// intervals. The tag is [tags.Text]. An apostrophe comes before a tag that a spreadsheet would
// evaluate as a formula, and before a tag that begins with an apostrophe.
func Timeline(w io.Writer, zone *time.Location) RowWriter {
	return timeline(w, zone, false)
}

// TimelineIn is [Timeline] with a header that names the unit of values, if it is known: p99_ms.
func TimelineIn(w io.Writer, zone *time.Location) RowWriter {
	return timeline(w, zone, true)
}

func timeline(w io.Writer, zone *time.Location, units bool) RowWriter {
	var line []byte
	return &rowFormat{write: func(r *Row, columns []column, first bool) error {
		line = line[:0]
		if first {
			line = appendNames(append(line, "start,relative_start,length,tag"...), columns, units)
		}
		line = append(people.AppendRFC3339(line, r.Start, zone), ',')
		line = append(appendSeconds(line, r.Relative), ',')
		line = append(appendSeconds(line, r.Length), ',')
		line = appendFigures(csvcell.Append(line, csvTag(r.Tag)), columns, r)
		_, err := w.Write(line)
		return err
	}}
}

// SummaryCSV writes a summary as a line of CSV. First says whether to write the header, too. The
// columns are the tag, the period in seconds, and the figures of [TimelineIn].
func SummaryCSV(w io.Writer, s *Summary, percentiles []float64, shares []Figure, first bool) error {
	percentiles = slices.DeleteFunc(slices.Clone(percentiles), func(p float64) bool { return p == 100 }) // max is there
	period := float64(s.Period) / 1000
	r := &Row{
		Tag:     s.Tag,
		Scale:   s.Scale,
		Covered: period,
		Stats:   StatsOf(s.Counts(), percentiles, Stats{}),
		Counts:  s.Counts(),
		Shares:  shares,
	}
	r.Moved = s.Moved
	columns := columns(r)
	var line []byte
	if first {
		line = appendNames(append(line, "tag,period"...), columns, true)
	}
	line = append(csvcell.Append(line, csvTag(r.Tag)), ',')
	_, err := w.Write(appendFigures(appendSeconds(line, period), columns, r))
	return err
}

// appendNames appends the names of columns to the header, and ends the line.
func appendNames(line []byte, columns []column, units bool) []byte {
	for n := range columns {
		line = csvcell.Append(append(line, ','), columns[n].head(units))
	}
	return append(line, '\n')
}

// appendFigures appends the figures of a row, and ends the line.
func appendFigures(line []byte, columns []column, r *Row) []byte {
	for n := range columns {
		line = columns[n].append(append(line, ','), r, "")
	}
	return append(line, '\n')
}

// csvTag returns the cell for a tag, see [Timeline].
func csvTag(tag []byte) string {
	if tag == nil {
		return ""
	}
	return csvcell.Foreign(tags.Text(tag))
}
