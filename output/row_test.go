package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/csvcell"
	"hdrkit/tags"
)

// someRow returns a row of a tag.
func someRow(tag []byte, percentiles ...float64) *Row {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.RecordN(1000, 3)
	h.Record(123456)
	r := &Row{Tag: tag, Start: 1468800401076, End: 1468800411074, Relative: 0.002, Length: 9.998, Covered: 9.998, Stats: StatsOf(h, percentiles, Stats{})}
	r.Total.Add(&r.Stats)
	return r
}

// format formats rows.
func format(t testing.TB, writer func(w *bytes.Buffer) RowWriter, rows ...*Row) string {
	t.Helper()
	var text bytes.Buffer
	w := writer(&text)
	for _, r := range rows {
		if err := w.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// FuzzTags formats rows of any tag and reads them back with the readers of other projects.
func FuzzTags(f *testing.F) {
	for _, tag := range []string{"insert-rt", "", `back\slash\`, `quo"te`, "eq=ual", "größe", "99%", "\xff\xfe%", "line\vtab", `\`, "a{b}", "#x", "\u2028", "\ufffd", "'", "'=1", "=1", "＝1", " a", "a,b", "x;=1", `;"`, "\u00a0a", "\xff\n\"\r", `\.`} {
		f.Add([]byte(tag))
	}
	f.Fuzz(func(t *testing.T, tag []byte) {
		var cell bytes.Buffer
		w := csv.NewWriter(&cell)
		w.Write([]string{string(tag)})
		w.Flush()
		want := strings.TrimSuffix(cell.String(), "\n")
		if bytes.ContainsRune(tag, ';') && want[0] != '"' {
			want = `"` + want + `"`
		}
		if got := string(csvcell.Append(nil, string(tag))); got != want {
			t.Errorf("cell %q, want %q", got, want)
		}
		if bytes.ContainsAny(tag, ", \r\n") {
			return // no log has such a tag
		}
		row := someRow(tag, 50)

		records, err := csv.NewReader(strings.NewReader(format(t, func(w *bytes.Buffer) RowWriter { return Timeline(w, nil) }, row))).ReadAll()
		if err != nil || len(records) != 2 || strings.TrimPrefix(records[1][3], "'") != tags.Text(tag) || strings.ContainsRune("=+-@", rune(records[1][3][0])) {
			t.Errorf("timeline: %q, %v", records, err)
		}

		var member struct{ Tag string }
		line := format(t, func(w *bytes.Buffer) RowWriter { return NDJSON(w, nil) }, row)
		if err := json.Unmarshal([]byte(line), &member); err != nil || member.Tag != tags.Text(tag) || strings.Count(line, "\n") != 1 {
			t.Errorf("ndjson: %q, %v", line, err)
		}
	})
}

func TestTotal(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.RecordN(10, math.MaxInt64/2)
	s := StatsOf(h, nil, Stats{})
	var total Total
	for range 2 {
		if err := total.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(total.Count, total.Sum); got != "9223372036854775806 9.223372036854776e+19" {
		t.Error(got)
	}
	if err := total.Add(&s); err == nil || err.Error() != "total count exceeds the largest int64" {
		t.Error(err)
	}
}
