// Package openmetrics writes rows as [OpenMetrics] text.
//
// [OpenMetrics]: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
package openmetrics

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hdrkit/internal/base/unit"
	"hdrkit/output"
	"hdrkit/tags"
)

type writer struct {
	w         io.Writer
	metric    string     // name of the metric family
	quantiles []quantile // of all rows
	text      []byte     // scratch memory for a row
	started   bool       // the header is written
}

// A quantile is a percentile that each row has, with its label.
type quantile struct {
	level  float64 // 0 to 1
	label  string
	figure output.Figure
}

// New returns a writer of [OpenMetrics] text. Each row is a point of the metric family, whose
// timestamp is the end of the row.
//
// The family is a summary. Its quantiles are the percentiles of the row, or of the moving window if
// there is one; the maximum is quantile 1. Its count and sum include all values of the tag since
// the start of the log.
//
// The rows of a tag must be in order of time. The points of different tags alternate as the rows
// do. The specification requires all points of a tag to be together, which a stream cannot provide,
// but Prometheus accepts such text.
//
// [OpenMetrics]: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
func New(w io.Writer, metric string) (output.RowWriter, error) {
	if err := checkMetric(metric); err != nil {
		return nil, err
	}
	return &writer{w: w, metric: metric}, nil
}

// units are the ends of a metric's name that name the unit of its values.
var units = []string{"seconds", "milliseconds", "microseconds", "nanoseconds", "bytes"}

func metricUnit(name string) string {
	last := name[strings.LastIndexByte(name, '_')+1:]
	if slices.Contains(units, last) && last != name {
		return last
	}
	return ""
}

// checkMetric returns an error if an OpenMetrics family cannot have this name.
func checkMetric(name string) error {
	if !regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`).MatchString(name) {
		return fmt.Errorf("%q is not a name of a metric, which has letters, digits, _ and : and "+
			"does not begin with a digit", name)
	}
	for _, suffix := range []string{"_total", "_created", "_count", "_sum", "_bucket", "_info", "_gcount", "_gsum"} {
		if strings.HasSuffix(name, suffix) {
			return fmt.Errorf("%q ends in %s, which OpenMetrics adds itself", name, suffix)
		}
	}
	return nil
}

// statsOf returns the figures of the moving window, or of the row if there is no moving window.
func statsOf(r *output.Row) *output.Stats {
	if r.Moving != nil {
		return r.Moving
	}
	return &r.Stats
}

// quantiles returns the quantiles of the series whose first row is first, ascending and without
// duplicates.
func quantiles(first *output.Row) []quantile {
	all := []quantile{}
	add := func(percentile float64, f output.Figure) {
		// Move the decimal point instead of dividing, so that 99.9 becomes exactly 0.999.
		level, _ := strconv.ParseFloat(strconv.FormatFloat(percentile, 'f', -1, 64)+"e-2", 64)
		all = append(all, quantile{level, `quantile="` + string(appendFloat(nil, level)) + `"`, f})
	}
	for _, p := range statsOf(first).Percentiles {
		add(p.Percentile, output.Figure{Percentile: p.Percentile})
	}
	add(100, output.Figure{Name: output.Max})
	slices.SortStableFunc(all, func(a, b quantile) int { return cmp.Compare(a.level, b.level) })
	return slices.CompactFunc(all, func(a, b quantile) bool { return a.level == b.level })
}

func (w *writer) Row(r *output.Row) error {
	w.text = w.text[:0]
	if !w.started {
		w.quantiles = quantiles(r)
		w.text = fmt.Appendf(w.text, "# HELP %s Values recorded in HdrHistogram intervals, by "+
			"tag.\n# TYPE %s summary\n", w.metric, w.metric)
		if unit := metricUnit(w.metric); unit != "" {
			w.text = fmt.Appendf(w.text, "# UNIT %s %s\n", w.metric, unit)
		}
		w.started = true
	}
	label := ""
	if r.Tag != nil {
		label = `tag="` + escape.Replace(tags.Text(r.Tag)) + `"`
	}
	ratio := r.Scale.Divisor()
	for _, q := range w.quantiles {
		if r.TotalsOnly {
			break
		}
		w.sample("", appendFloat(nil, unit.Divide(q.figure.Of(statsOf(r), 0).Float(), ratio)), r.End, label, q.label)
	}
	w.sample("_sum", appendFloat(nil, unit.Divide(r.Total.Sum, ratio)), r.End, label)
	w.sample("_count", strconv.AppendUint(nil, uint64(r.Total.Count), 10), r.End, label)
	_, err := w.w.Write(w.text)
	return err
}

// escape escapes the value of a label.
var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// sample appends a sample of the metric with a suffix. Its time is in milliseconds since the epoch.
// Empty labels are omitted.
func (w *writer) sample(suffix string, value []byte, at int64, labels ...string) {
	w.text = append(append(w.text, w.metric...), suffix...)
	if labels = slices.DeleteFunc(labels, func(l string) bool { return l == "" }); len(labels) > 0 {
		w.text = fmt.Appendf(w.text, "{%s}", strings.Join(labels, ","))
	}
	w.text = append(append(append(w.text, ' '), value...), ' ')
	w.text = append(appendFloat(w.text, float64(at)/1000), '\n')
}

// appendFloat appends a number with a decimal point or an exponent, since OpenMetrics distinguishes
// floats from integers.
func appendFloat(text []byte, v float64) []byte {
	number := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(number, ".eIN") {
		number += ".0"
	}
	return append(text, number...)
}

func (w *writer) Close() error {
	if !w.started {
		return nil
	}
	_, err := io.WriteString(w.w, "# EOF\n")
	return err
}
