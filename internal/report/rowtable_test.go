package report

import (
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// TestRowTable checks the columns of a table with a row for each window.
func TestRowTable(t *testing.T) {
	h, err := histogram.New(histogram.Layout{Digits: 3})
	if err != nil {
		t.Fatal(err)
	}
	for v := range int64(2000) {
		if err := h.Record(v * 1000); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	w := RowTable(&b, time.FixedZone("UTC+2", 7200))
	full := output.Row{Tag: []byte("read"), Start: 1468800000000, Length: 10, Covered: 10, Stats: output.StatsOf(h, []float64{50, 99.9}, output.Stats{})}
	short := output.Row{Start: 1468800010000, Length: 10, Covered: 10, Stats: output.StatsOf(new(histogram.Histogram), []float64{50, 99.9}, output.Stats{})}
	for _, r := range []*output.Row{&full, &short} {
		r.Scale = hdrlog.Scale{Ratio: 1e3, Unit: "us"}
		if err := w.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	want := `values in us, times in UTC+2

start                    count        /s       min      mean       p50     p99.9       max  tag
2016-07-18 02:00:00      2,000       200         0     999.5     999.4     1,998     2,000  read
2016-07-18 02:00:10          0         0         -         -         -         -         -  default
`
	if err := w.Close(); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}
