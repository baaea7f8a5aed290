package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"hdrkit/hdrlog/histogram"
	"hdrkit/tags"
)

// someRow returns a row of a tag.
func someRow(tag []byte, percentiles ...float64) *Row {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.Record(1000, 3)
	h.Record(123456, 1)
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
	for _, tag := range []string{"insert-rt", "", `back\slash\`, `quo"te`, "eq=ual", "größe", "99%", "\xff\xfe%", "line\vtab", `\`, "a{b}", "#x", "\u2028", "\ufffd", "'", "'=1", "=1", "＝1"} {
		f.Add([]byte(tag))
	}
	f.Fuzz(func(t *testing.T, tag []byte) {
		if bytes.ContainsAny(tag, ", \r\n") {
			return // no log has such a tag
		}
		row := someRow(tag, 50)

		records, err := csv.NewReader(strings.NewReader(format(t, func(w *bytes.Buffer) RowWriter { return Timeline(w, Scale{}, nil) }, row))).ReadAll()
		if err != nil || len(records) != 2 || strings.TrimPrefix(records[1][3], "'") != tags.Text(tag) || strings.ContainsRune("=+-@", rune(records[1][3][0])) {
			t.Errorf("timeline: %q, %v", records, err)
		}

		var member struct{ Tag string }
		line := format(t, func(w *bytes.Buffer) RowWriter { return NDJSON(w, Scale{}, nil) }, row)
		if err := json.Unmarshal([]byte(line), &member); err != nil || member.Tag != tags.Text(tag) || strings.Count(line, "\n") != 1 {
			t.Errorf("ndjson: %q, %v", line, err)
		}

		label := tags.Text(tag)
		decoder := lineprotocol.NewDecoderWithBytes([]byte(format(t, func(w *bytes.Buffer) RowWriter { return must(Influx(w, Scale{}, "latency")) }, row)))
		if !decoder.Next() {
			t.Fatal("influx: no point")
		}
		if _, err := decoder.Measurement(); err != nil {
			t.Error(err)
		}
		key, value, err := decoder.NextTag()
		want := label
		if short, ok := strings.CutSuffix(label, `\`); ok {
			want = short + "%5C"
		}
		if err != nil || string(value) != want || string(key) != "tag" {
			t.Errorf("influx: tag %q, want %q, %v", value, want, err)
		}

		// The reader of the older format reads this one without its times.
		var plain strings.Builder
		text := format(t, func(w *bytes.Buffer) RowWriter { return must(OpenMetrics(w, Scale{}, "latency")) }, row)
		for line := range strings.Lines(text) {
			if line[0] != '#' {
				line = line[:strings.LastIndexByte(line, ' ')] + "\n"
			}
			plain.WriteString(line)
		}
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(plain.String()))
		if err != nil || len(families) != 1 {
			t.Fatalf("openmetrics: %v: %s", err, text)
		}
		labels := families["latency"].Metric[0].Label
		if len(labels) != 1 || labels[0].GetValue() != label {
			t.Errorf("openmetrics: labels %v, want %q", labels, label)
		}
	})
}

// TestOpenMetricsMetadata checks that the metadata comes once, at the beginning, and that the text
// ends with # EOF.
func TestOpenMetricsMetadata(t *testing.T) {
	seconds := Scale{Ratio: 1e9}
	text := format(t, func(w *bytes.Buffer) RowWriter { return must(OpenMetrics(w, seconds, "rt_seconds")) }, someRow(nil, 99.9), someRow([]byte("a"), 99.9))
	if !strings.HasPrefix(text, "# HELP rt_seconds ") || strings.Count(text, "# ") != 4 || !strings.HasSuffix(text, "\n# EOF\n") {
		t.Error(text)
	}
	if text := format(t, func(w *bytes.Buffer) RowWriter { return must(OpenMetrics(w, seconds, "rt_seconds")) }); text != "" {
		t.Errorf("of no rows: %q", text)
	}
}

func TestCheckMetric(t *testing.T) {
	for name, want := range map[string]string{
		"request_latency_seconds": "",
		"a:b_9":                   "",
		"9a":                      `"9a" is not a name of a metric, which has letters, digits, _ and : and does not begin with a digit`,
		"a-b":                     `"a-b" is not a name of a metric, which has letters, digits, _ and : and does not begin with a digit`,
		"a_total":                 `"a_total" ends in _total, which OpenMetrics adds itself`,
	} {
		if _, err := OpenMetrics(io.Discard, Scale{}, name); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{"seconds": "", "rt_seconds": "seconds", "rt_milliseconds": "milliseconds", "rt": "", "size_bytes": "bytes"} {
		if got := metricUnit(name); got != want {
			t.Errorf("unit of %s: %q, want %q", name, got, want)
		}
	}
}

func TestTotal(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.Record(10, math.MaxInt64/2)
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
