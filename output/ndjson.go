package output

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"hdrkit/internal/base/people"
	"hdrkit/tags"
)

// NDJSON returns a writer of rows as JSON objects, one in each line. An object has the columns of
// [Timeline], and the start and end in milliseconds since the epoch. Other times are in zone, or in
// UTC if zone is nil. The tag is [tags.Text], or null for untagged intervals. A figure that a row
// does not have is null.
func NDJSON(w io.Writer, zone *time.Location) RowWriter {
	var line []byte
	return &rowFormat{write: func(r *Row, columns []column, _ bool) error {
		tag := []byte("null")
		if r.Tag != nil {
			var err error
			if tag, err = json.Marshal(tags.Text(r.Tag)); err != nil {
				return err
			}
		}
		line = append(people.AppendRFC3339(append(line[:0], `{"start":"`...), r.Start, zone), '"')
		line = strconv.AppendInt(append(line, `,"start_ms":`...), r.Start, 10)
		line = strconv.AppendInt(append(line, `,"end_ms":`...), r.End, 10)
		line = appendSeconds(append(line, `,"relative_start":`...), r.Relative)
		line = appendSeconds(append(line, `,"length":`...), r.Length)
		line = append(append(line, `,"tag":`...), tag...)
		for n := range columns { // names of columns need no escaping
			line = append(append(append(line, `,"`...), columns[n].name...), `":`...)
			line = columns[n].append(line, r, "null")
		}
		line = append(line, "}\n"...)
		_, err := w.Write(line)
		return err
	}}
}
