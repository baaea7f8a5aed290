package openmetrics

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"hdrkit/hdrlog"
	"hdrkit/output"
	"hdrkit/output/internal/rowtest"
	"hdrkit/tags"
)

// TestWriter checks what every writer of rows has to stand.
func TestWriter(t *testing.T) { rowtest.New(New).Check(t, "latency") }

// FuzzTags writes a row of any tag, and reads it with Prometheus' own reader.
func FuzzTags(f *testing.F) {
	for _, tag := range []string{"insert-rt", "", `back\slash\`, `quo"te`, "eq=ual", "größe", "99%", "\xff\xfe%", "line\vtab", `\`, "a{b}", "#x", "\u2028", "'=1"} {
		f.Add([]byte(tag))
	}
	f.Fuzz(func(t *testing.T, tag []byte) {
		if bytes.ContainsAny(tag, ", \r\n") {
			return // no log has such a tag
		}
		row, label := rowtest.Row(tag, 50), tags.Text(tag)
		// The reader of the older format reads this one without its times.
		var plain strings.Builder
		text := rowtest.New(New).Format(t, hdrlog.Scale{}, "latency", row)
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
		if _, err := expfmt.MetricFamilyToOpenMetrics(&want, family); err != nil {
			t.Fatal(err)
		}
		if got := rowtest.New(New).Format(t, hdrlog.Scale{}, name, row); got != want.String()+"# EOF\n" {
			t.Fatalf("%s\nwant\n%s", got, want.String())
		}
	}
}

// TestMoving: the quantiles are those of the moving window, if there is one.
func TestMoving(t *testing.T) {
	if text, want := rowtest.New(New).Format(t, hdrlog.Scale{Ratio: 10}, "latency", rowtest.Moving()), "latency{quantile=\"0.99\"} 100.0 0.0\nlatency{quantile=\"1.0\"} 12351.9 0.0\n"; !strings.Contains(text, want) {
		t.Errorf("no %s in %s", want, text)
	}
}

// TestMetadata checks that the metadata comes once, at the beginning, and that the text
// ends with # EOF.
func TestMetadata(t *testing.T) {
	seconds := hdrlog.Scale{Ratio: 1e9}
	text := rowtest.New(New).Format(t, seconds, "rt_seconds", rowtest.Row(nil, 99.9), rowtest.Row([]byte("a"), 99.9))
	if !strings.HasPrefix(text, "# HELP rt_seconds ") || strings.Count(text, "# ") != 4 || !strings.HasSuffix(text, "\n# EOF\n") {
		t.Error(text)
	}
	if text := rowtest.New(New).Format(t, seconds, "rt_seconds"); text != "" {
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
		if _, err := New(io.Discard, name); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{"seconds": "", "rt_seconds": "seconds", "rt_milliseconds": "milliseconds", "rt": "", "size_bytes": "bytes"} {
		if got := metricUnit(name); got != want {
			t.Errorf("unit of %s: %q, want %q", name, got, want)
		}
	}
}
