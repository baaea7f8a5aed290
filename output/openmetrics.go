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
	scale     Scale
	family    dto.MetricFamily
	quantiles []quantile
	head      int // the length of the family's metadata, which only the first row has
	text      bytes.Buffer
	started   bool
}

// A quantile is a percentile and its value in a row.
type quantile struct {
	level float64 // 0 to 1
	value func(r *Row) Value
}

// OpenMetrics returns a writer of [OpenMetrics] text with timestamps: a point of the metric family
// at the end of each row.
//
// The family is a summary. Its quantiles are the percentiles of the row, or of the moving window if
// there is one; the maximum is quantile 1. Its count and sum are of everything that was recorded
// with the tag since the start of the log.
//
// The points of a tag must be in order of time. Points of different tags alternate as the rows do.
// Prometheus accepts that. The specification wants all points of a tag together, but a stream
// cannot provide that.
//
// [OpenMetrics]: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
func OpenMetrics(w io.Writer, scale Scale, metric string) (RowWriter, error) {
	if err := checkMetric(metric); err != nil {
		return nil, err
	}
	m := &openMetrics{w: w, scale: scale}
	m.family.Name, m.family.Type = &metric, dto.MetricType_SUMMARY.Enum()
	help := "Values recorded in HdrHistogram intervals, by tag."
	m.family.Help = &help
	if unit := metricUnit(metric); unit != "" {
		m.family.Unit = &unit
	}
	return m, nil
}

// units are the units that a metric's name may end in.
var units = []string{"seconds", "milliseconds", "microseconds", "nanoseconds", "bytes"}

func metricUnit(name string) string {
	last := name[strings.LastIndexByte(name, '_')+1:]
	if slices.Contains(units, last) && last != name {
		return last
	}
	return ""
}

// checkMetric returns nil if name can be the name of an OpenMetrics family.
func checkMetric(name string) error {
	if !regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`).MatchString(name) {
		return fmt.Errorf("%q is not a name of a metric, which has letters, digits, _ and : and does not begin with a digit", name)
	}
	for _, suffix := range []string{"_total", "_created", "_count", "_sum", "_bucket", "_info", "_gcount", "_gsum"} {
		if strings.HasSuffix(name, suffix) {
			return fmt.Errorf("%q ends in %s, which OpenMetrics adds itself", name, suffix)
		}
	}
	return nil
}

// quantiles returns the quantiles of a series that begins with a row, in ascending order, each
// once.
func quantiles(first *Row) []quantile {
	of := func(r *Row) *Stats { return &r.Stats }
	if first.Moving != nil {
		of = func(r *Row) *Stats { return r.Moving }
	}
	var all []quantile
	for _, f := range of(first).figures() {
		at := f.Percentile
		if f.Name == Max {
			at = 100
		}
		all = append(all, quantile{level(at), func(r *Row) Value { return f.Of(of(r), 0) }})
	}
	slices.SortStableFunc(all, func(a, b quantile) int { return int(math.Copysign(1, a.level-b.level)) })
	return slices.CompactFunc(all, func(a, b quantile) bool { return a.level == b.level })
}

// level returns a percentile as a quantile. It moves the decimal point instead of dividing: 99.9 is
// 0.999.
func level(percentile float64) float64 {
	q, _ := strconv.ParseFloat(shortest(percentile)+"e-2", 64)
	return q
}

func (m *openMetrics) Row(r *Row) error {
	if !m.started {
		m.quantiles = quantiles(r)
		// The encoder writes the metadata before each family, but only the first row may have it.
		if err := m.encode(); err != nil {
			return err
		}
		m.head = m.text.Len()
	}
	metric := &dto.Metric{TimestampMs: &r.End}
	if r.Tag != nil {
		name, label := "tag", tags.Text(r.Tag)
		metric.Label = []*dto.LabelPair{{Name: &name, Value: &label}}
	}
	scale := m.scale.By(r.Factor)
	count, sum := uint64(r.Total.Count), scale.of(r.Total.Sum)
	metric.Summary = &dto.Summary{SampleCount: &count, SampleSum: &sum}
	for _, q := range m.quantiles {
		if r.TotalsOnly {
			break
		}
		value := scale.of(q.value(r).float)
		metric.Summary.Quantile = append(metric.Summary.Quantile, &dto.Quantile{Quantile: &q.level, Value: &value})
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

func (m *openMetrics) Close() error {
	if !m.started {
		return nil
	}
	_, err := expfmt.FinalizeOpenMetrics(m.w)
	return err
}
