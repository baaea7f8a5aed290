package openmetrics

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
	"hdrkit/tags"
)

// someRow returns a row of a tag, with four values.
func someRow(tag []byte, percentiles ...float64) *output.Row {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.Record(1000, 3)
	h.Record(123456, 1)
	r := &output.Row{Tag: tag, Start: 1468800401076, End: 1468800411074, Relative: 0.002, Length: 9.998, Covered: 9.998, Stats: output.StatsOf(h, percentiles, output.Stats{})}
	r.Total.Add(&r.Stats)
	return r
}

// movingRow returns an empty row with a moving window of four values.
func movingRow() *output.Row {
	return &output.Row{Length: 1, Covered: 1, Moving: &output.Stats{Count: 4, Percentiles: []output.PercentileValue{{Percentile: 99, Value: output.FloatValue(1000)}}, Max: output.FloatValue(123519)}}
}

// write writes rows.
func write(to io.Writer, scale output.Scale, metric string, rows ...*output.Row) error {
	w, err := New(to, scale, metric)
	for n := 0; n < len(rows) && err == nil; n++ {
		err = w.Row(rows[n])
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// format returns rows as text.
func format(t testing.TB, scale output.Scale, metric string, rows ...*output.Row) string {
	t.Helper()
	var text strings.Builder
	if err := write(&text, scale, metric, rows...); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

var errFull = errors.New("device full")

// A fullWriter fails once it has room bytes.
type fullWriter struct {
	written []byte
	room    int
}

func (w *fullWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room-len(w.written))
	if w.written = append(w.written, p[:n]...); n < len(p) {
		return n, errFull
	}
	return n, nil
}

// TestWriteErrors writes rows to a writer that fails at every byte position in turn.
func TestWriteErrors(t *testing.T) {
	rows := []*output.Row{someRow(nil, 50), someRow([]byte("a"), 50), movingRow()}
	whole := format(t, output.Scale{Ratio: 10}, "latency", rows[:2]...)
	for room := range whole {
		w := fullWriter{room: room}
		if err := write(&w, output.Scale{Ratio: 10}, "latency", rows[:2]...); !errors.Is(err, errFull) || !strings.HasPrefix(whole, string(w.written)) {
			t.Fatalf("room for %d of %d bytes: %v, %q", room, len(whole), err, w.written)
		}
	}
}

// TestFactor: microseconds with a factor of 1000 are the same as without a factor.
func TestFactor(t *testing.T) {
	for _, row := range []*output.Row{someRow([]byte("a"), 50), movingRow()} {
		want := format(t, output.Scale{Ratio: 1e3}, "latency", row)
		row.Factor = 1000
		if got := format(t, output.Scale{Ratio: 1e6}, "latency", row); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// FuzzTags writes a row of any tag, and reads it with Prometheus' own reader.
func FuzzTags(f *testing.F) {
	for _, tag := range []string{"insert-rt", "", `back\slash\`, `quo"te`, "eq=ual", "größe", "99%", "\xff\xfe%", "line\vtab", `\`, "a{b}", "#x", "\u2028", "'=1"} {
		f.Add([]byte(tag))
	}
	f.Fuzz(func(t *testing.T, tag []byte) {
		if bytes.ContainsAny(tag, ", \r\n") {
			return // no log has such a tag
		}
		row, label := someRow(tag, 50), tags.Text(tag)
		// The reader of the older format reads this one without its times.
		var plain strings.Builder
		text := format(t, output.Scale{}, "latency", row)
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

// TestEncoder compares rows with what Prometheus' own encoder makes of them.
func TestEncoder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	number := func() float64 {
		return []float64{0, 1, -1, float64(random.IntN(1000)), random.Float64(), random.ExpFloat64() * 1e-9, random.ExpFloat64() * 1e22, math.NaN()}[random.IntN(8)]
	}
	for range 1000 {
		name := []string{"latency", "rt_seconds", "a:b_bytes"}[random.IntN(3)]
		row := &output.Row{End: random.Int64N(2e12), Total: output.Total{Count: random.Int64(), Sum: number()}}
		metric := &dto.Metric{TimestampMs: &row.End, Summary: &dto.Summary{SampleSum: &row.Total.Sum}}
		count := uint64(row.Total.Count)
		metric.Summary.SampleCount = &count
		if random.IntN(2) == 0 {
			key, value := "tag", []string{"x", `a\"b`, "größe", ""}[random.IntN(4)]
			row.Tag = []byte(value)
			value = tags.Text(row.Tag)
			metric.Label = []*dto.LabelPair{{Name: &key, Value: &value}}
		}
		row.Stats = output.Stats{Count: 1, Max: output.FloatValue(number())}
		quantile := func(level, v float64) {
			metric.Summary.Quantile = append(metric.Summary.Quantile, &dto.Quantile{Quantile: &level, Value: &v})
		}
		for _, p := range []float64{0, 50, 99.9} {
			if random.IntN(2) == 0 {
				v := number()
				row.Stats.Percentiles = append(row.Stats.Percentiles, output.PercentileValue{Percentile: p, Value: output.FloatValue(v)})
				quantile(map[float64]float64{0: 0, 50: 0.5, 99.9: 0.999}[p], v)
			}
		}
		quantile(1, row.Stats.Max.Float())
		help, kind := "Values recorded in HdrHistogram intervals, by tag.", dto.MetricType_SUMMARY
		family := &dto.MetricFamily{Name: &name, Help: &help, Type: &kind, Metric: []*dto.Metric{metric}}
		if unit := metricUnit(name); unit != "" {
			family.Unit = &unit
		}
		var want strings.Builder
		if _, err := expfmt.MetricFamilyToOpenMetrics(&want, family, expfmt.WithUnit()); err != nil {
			t.Fatal(err)
		}
		if got := format(t, output.Scale{}, name, row); got != want.String()+"# EOF\n" {
			t.Fatalf("%s\nwant\n%s", got, want.String())
		}
	}
}

// TestMoving: the quantiles are those of the moving window, if there is one.
func TestMoving(t *testing.T) {
	if text, want := format(t, output.Scale{Ratio: 10}, "latency", movingRow()), "latency{quantile=\"0.99\"} 100.0 0.0\nlatency{quantile=\"1.0\"} 12351.9 0.0\n"; !strings.Contains(text, want) {
		t.Errorf("no %s in %s", want, text)
	}
}

// TestMetadata checks that the metadata comes once, at the beginning, and that the text
// ends with # EOF.
func TestMetadata(t *testing.T) {
	seconds := output.Scale{Ratio: 1e9}
	text := format(t, seconds, "rt_seconds", someRow(nil, 99.9), someRow([]byte("a"), 99.9))
	if !strings.HasPrefix(text, "# HELP rt_seconds ") || strings.Count(text, "# ") != 4 || !strings.HasSuffix(text, "\n# EOF\n") {
		t.Error(text)
	}
	if text := format(t, seconds, "rt_seconds"); text != "" {
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
		if _, err := New(io.Discard, output.Scale{}, name); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{"seconds": "", "rt_seconds": "seconds", "rt_milliseconds": "milliseconds", "rt": "", "size_bytes": "bytes"} {
		if got := metricUnit(name); got != want {
			t.Errorf("unit of %s: %q, want %q", name, got, want)
		}
	}
}
