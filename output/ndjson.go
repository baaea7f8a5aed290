package output

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"hdrkit/tags"
)

// NDJSON returns a writer of JSON objects, one in each line, with times in a zone; nil is UTC.
// Their members are the columns of [Timeline], and the start and end in milliseconds since the
// epoch. The tag is [tags.Text], null for untagged intervals. A figure is null if there is none.
func NDJSON(w io.Writer, scale Scale, zone *time.Location) RowWriter {
	var line []byte
	// member appends a member. The name needs no escaping, and the value is JSON.
	member := func(name, value string) {
		line = append(append(append(line, ',', '"'), name...), '"', ':')
		line = append(line, value...)
	}
	return &rowFormat{scale: scale, write: func(r *Row, columns []column, _ bool) error {
		tag := []byte("null")
		if r.Tag != nil {
			var err error
			if tag, err = json.Marshal(tags.Text(r.Tag)); err != nil {
				return err
			}
		}
		line = line[:0]
		member("start", strconv.Quote(rfc3339(r.Start, zone)))
		member("start_ms", strconv.FormatInt(r.Start, 10))
		member("end_ms", strconv.FormatInt(r.End, 10))
		member("relative_start", seconds(r.Relative))
		member("length", seconds(r.Length))
		member("tag", string(tag))
		for n := range columns {
			member(columns[n].name, columns[n].text(r, "null"))
		}
		line[0] = '{'
		line = append(line, "}\n"...)
		_, err := w.Write(line)
		return err
	}}
}
