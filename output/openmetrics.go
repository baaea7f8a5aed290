package output

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"hdrkit/tags"
)

// openMetrics writes rows as OpenMetrics text.
type openMetrics struct {
	w         io.Writer
	o         *Options
	family    dto.MetricFamily
	quantiles []quantile
	bounds    map[bool][]float64
	head      int // how long the family's metadata is, which comes before the first row only
	text      bytes.Buffer
	started   bool
}

// A quantile is a percentile and its value in a row.
type quantile struct {
	level float64 // 0 to 1
	of    func(r *Row) float64
}

// OpenMetrics returns a writer of [OpenMetrics] text with timestamps: the metric family [Options.Metric], at the end
// of each row. It is a summary, whose quantiles are those of the row, or of the moving window where there is one, and the
// maximum as quantile 1, while its count and sum are of all that was recorded with the tag since the log began. If
// [Options.Buckets] is set it is a histogram, whose buckets too count since then.
//
// The points of one tag must come in order of time. Those of different tags alternate as the rows do, which Prometheus
// takes, though the specification would have the points of one tag before those of the next: no stream can do that.
//
// [OpenMetrics]: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
func OpenMetrics(w io.Writer, o *Options) RowWriter {
	m := &openMetrics{w: w, o: o, bounds: map[bool][]float64{false: Bounds(false), true: Bounds(true)}}
	m.family.Name = &o.Metric
	help := "Values recorded in HdrHistogram intervals, by tag."
	m.family.Help = &help
	if unit := metricUnit(o.Metric); unit != "" {
		m.family.Unit = &unit
	}
	kind := dto.MetricType_SUMMARY
	if o.Buckets {
		kind = dto.MetricType_HISTOGRAM
	}
	m.family.Type = &kind
	m.quantiles = quantiles(o)
	return m
}

// units are the units that a metric's name may end in to say what its values are.
var units = []string{"seconds", "milliseconds", "microseconds", "nanoseconds", "bytes"}

func metricUnit(name string) string {
	last := name[strings.LastIndexByte(name, '_')+1:]
	if slices.Contains(units, last) && last != name {
		return last
	}
	return ""
}

// CheckMetric returns nil if name can be that of an OpenMetrics family.
func CheckMetric(name string) error {
	if !regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`).MatchString(name) {
		return fmt.Errorf("%q is no name of a metric, which has letters, digits, _ and : and does not begin with a digit", name)
	}
	for _, suffix := range []string{"_total", "_created", "_count", "_sum", "_bucket", "_info", "_gcount", "_gsum"} {
		if strings.HasSuffix(name, suffix) {
			return fmt.Errorf("%q ends in %s, which OpenMetrics adds itself", name, suffix)
		}
	}
	return nil
}

func quantiles(o *Options) []quantile {
	if o.Moving {
		return distinct([]quantile{
			{level(o.MovingPercentile), func(r *Row) float64 { return r.Window.value(r.Window.Value) }},
			{1, func(r *Row) float64 { return r.Window.value(r.Window.Max) }},
		})
	}
	var all []quantile
	for n, p := range o.Percentiles {
		all = append(all, quantile{level(p), func(r *Row) float64 { return r.value(r.Percentiles[n]) }})
	}
	return distinct(append(all, quantile{1, func(r *Row) float64 { return r.value(r.Max) }}))
}

// distinct sorts quantiles and drops those that are there twice.
func distinct(all []quantile) []quantile {
	slices.SortStableFunc(all, func(a, b quantile) int { return int(math.Copysign(1, a.level-b.level)) })
	return slices.CompactFunc(all, func(a, b quantile) bool { return a.level == b.level })
}

// value returns v, or NaN if nothing was recorded.
func (s *Stats) value(v float64) float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return v
}

// value returns v, or NaN if nothing was recorded.
func (w *Window) value(v float64) float64 {
	if w.Count == 0 {
		return math.NaN()
	}
	return v
}

// level returns a percentile as a quantile, the decimal point moved, not divided: 99.9 is 0.999.
func level(percentile float64) float64 {
	q, _ := strconv.ParseFloat(shortest(percentile)+"e-2", 64)
	return q
}

func (m *openMetrics) Row(r *Row) error {
	metric := &dto.Metric{TimestampMs: &r.End}
	if r.Tag != nil {
		name, label := "tag", tags.Text(r.Tag)
		metric.Label = []*dto.LabelPair{{Name: &name, Value: &label}}
	}
	count, sum := uint64(r.Total.Count), r.Total.Sum/m.o.Ratio
	if m.o.Buckets {
		metric.Histogram = &dto.Histogram{SampleCount: &count, SampleSum: &sum, Bucket: m.buckets(&r.Total)}
	} else {
		metric.Summary = &dto.Summary{SampleCount: &count, SampleSum: &sum}
		for _, q := range m.quantiles {
			if r.TotalsOnly {
				break
			}
			value := q.of(r) / m.o.Ratio
			metric.Summary.Quantile = append(metric.Summary.Quantile, &dto.Quantile{Quantile: &q.level, Value: &value})
		}
	}
	if !m.started {
		// The encoder puts the metadata before each family that it is given, but they belong there only once.
		if err := m.encode(); err != nil {
			return err
		}
		m.head = m.text.Len()
	}
	if err := m.encode(metric); err != nil {
		return err
	}
	text := m.text.Bytes()
	if m.started {
		text = text[m.head:]
	}
	m.started = true
	_, err := m.w.Write(text)
	return err
}

// encode makes m.text the family with these metrics.
func (m *openMetrics) encode(metrics ...*dto.Metric) error {
	m.text.Reset()
	m.family.Metric = metrics
	_, err := expfmt.MetricFamilyToOpenMetrics(&m.text, &m.family, expfmt.WithUnit())
	return err
}

func (m *openMetrics) buckets(t *Total) []*dto.Bucket {
	all := make([]*dto.Bucket, 0, bounds)
	for n, bound := range m.bounds[t.Double] {
		upper, count := bound/m.o.Ratio, uint64(t.Buckets[n])
		all = append(all, &dto.Bucket{UpperBound: &upper, CumulativeCount: &count})
	}
	return all
}

func (m *openMetrics) Close() error {
	if !m.started {
		return nil
	}
	_, err := expfmt.FinalizeOpenMetrics(m.w)
	return err
}
