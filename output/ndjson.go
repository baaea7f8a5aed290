package output

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"hdrkit/tags"
)

// ndjson writes rows as lines of JSON.
type ndjson struct {
	w       io.Writer
	scale   Scale
	zone    *time.Location
	columns []column
	line    []byte
}

// NDJSON returns a writer of JSON objects, one in each line, with times in a zone; nil is UTC.
// Their members are the columns of [Timeline], and the start and end in milliseconds since the
// epoch. The tag is [tags.Text], null for untagged intervals. A figure is null if there is none.
func NDJSON(w io.Writer, scale Scale, zone *time.Location) RowWriter {
	return &ndjson{w: w, scale: scale, zone: zone}
}

func (j *ndjson) Row(r *Row) error {
	if j.columns == nil {
		j.columns = columns(r, j.scale)
	}
	tag := []byte("null")
	if r.Tag != nil {
		var err error
		if tag, err = json.Marshal(tags.Text(r.Tag)); err != nil {
			return err
		}
	}
	j.line = j.line[:0]
	j.member("start", strconv.Quote(rfc3339(r.Start, j.zone)))
	j.member("start_ms", strconv.FormatInt(r.Start, 10))
	j.member("end_ms", strconv.FormatInt(r.End, 10))
	j.member("relative_start", seconds(r.Relative))
	j.member("length", seconds(r.Length))
	j.member("tag", string(tag))
	j.member("count", strconv.FormatInt(r.Count, 10))
	for n := range j.columns {
		j.member(j.columns[n].name, j.columns[n].text(r, "null"))
	}
	if r.Moving != nil {
		j.member(movingCount, strconv.FormatInt(r.Moving.Count, 10))
	}
	j.line = append(j.line, "}\n"...)
	_, err := j.w.Write(j.line)
	return err
}

// member appends a member. The name needs no escaping, and the value is JSON.
func (j *ndjson) member(name, value string) {
	separator := byte(',')
	if len(j.line) == 0 {
		separator = '{'
	}
	j.line = append(j.line, separator, '"')
	j.line = append(j.line, name...)
	j.line = append(j.line, '"', ':')
	j.line = append(j.line, value...)
}

func (j *ndjson) Close() error { return nil }
