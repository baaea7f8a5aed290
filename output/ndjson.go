package output

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"hdrkit/tags"
)

// ndjson writes rows as lines of JSON.
type ndjson struct {
	w       io.Writer
	o       *Options
	columns []column
	line    []byte
}

// NDJSON returns a writer of JSON objects, one a line, with the columns of [Timeline] for members, and the start
// and end in milliseconds since the epoch. The tag of untagged intervals is null, and so is a figure that there is none of.
func NDJSON(w io.Writer, o *Options) RowWriter {
	return &ndjson{w: w, o: o, columns: valueColumns(o)}
}

func (j *ndjson) Row(r *Row) error {
	tag := []byte("null")
	if r.Tag != nil {
		var err error
		if tag, err = json.Marshal(tags.Text(r.Tag)); err != nil {
			return err
		}
	}
	j.line = j.line[:0]
	j.member("start", strconv.Quote(rfc3339(r.Start)))
	j.member("start_ms", strconv.FormatInt(r.Start, 10))
	j.member("end_ms", strconv.FormatInt(r.End, 10))
	j.member("relative_start", seconds(r.Relative))
	j.member("length", seconds(r.Length))
	j.member("tag", string(tag))
	j.member("count", strconv.FormatInt(r.Count, 10))
	for _, c := range j.columns {
		text := "null"
		if v := c.value(r); !math.IsNaN(v) && !math.IsInf(v, 0) {
			text = shortest(v)
		}
		j.member(c.name, text)
	}
	if j.o.Moving {
		j.member(windowCount, strconv.FormatInt(r.Window.Count, 10))
	}
	j.line = append(j.line, "}\n"...)
	_, err := j.w.Write(j.line)
	return err
}

// member appends a member, whose name needs no escaping and whose value is JSON already.
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
