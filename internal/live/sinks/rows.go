package sinks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/output"
	"hdrkit/tags"
)

// Names of formats of rows.
const (
	ndjson      = "ndjson"
	timeline    = "timeline"
	influx      = "influx"
	OpenMetrics = "openmetrics"
	otlp        = "otlp"
)

// Formats are the formats of rows.
var Formats = []string{ndjson, timeline, influx, OpenMetrics, otlp}

// Rows writes a row for each tag and window. In formats with totals since the start, a late
// interval counts in a point between this window and the next. In others it has no place.
type Rows struct {
	options *Options
	// make makes the writer when the first row comes: the unit is known then.
	make   func() (output.RowWriter, error)
	flush  func() error
	totals bool
	late   func(tag []byte, h *histogram.Histogram) error // nil, or adds to the totals of the writer
	out    output.RowWriter                               // nil before the first row
	first  float64                                        // when the first log starts, in seconds since the epoch
	end    int64                                          // of the last point
	tags   map[string]*rowTag
	row    output.Row
}

// A rowTag is what rows keep of a tag.
type rowTag struct {
	tag    []byte
	factor float64
	total  output.Total
	late   bool // the total has more than the last point
}

// NewRows returns rows that are written to w.
func NewRows(o *Options, format string, w io.Writer) *Rows {
	return newRows(o, format, w, func() (output.RowWriter, error) {
		name, seconds, err := o.metric()
		if err != nil {
			return nil, err
		}
		switch format {
		case OpenMetrics:
			return output.OpenMetrics(w, seconds, name)
		case otlp:
			return o.newOTLP(w, true)
		}
		return o.plain(format, w)
	})
}

func newRows(o *Options, format string, w io.Writer, make_ func() (output.RowWriter, error)) *Rows {
	flush := func() error { return nil }
	if buffered, ok := w.(interface{ Flush() error }); ok {
		flush = buffered.Flush
	}
	return &Rows{options: o, make: make_, flush: flush, totals: format == OpenMetrics, tags: make(map[string]*rowTag)}
}

// plain returns a writer of rows without totals.
func (o *Options) plain(format string, w io.Writer) (output.RowWriter, error) {
	scale, err := o.scale()
	switch {
	case err != nil:
		return nil, err
	case format == timeline:
		return output.Timeline(w, scale, o.Zone), nil
	case format == ndjson:
		return output.NDJSON(w, scale, o.Zone), nil
	}
	return output.Influx(w, scale, o.measurement(), "ns")
}

// measurement is what a metric is called in InfluxDB, whose points have no unit in their names.
func (o *Options) measurement() string {
	if o.Metric != "" {
		return o.Metric
	}
	return metricPlain
}

// prom returns the options of metrics, and how to print their values.
func (o *Options) prom() (options prom.Options, scale output.Scale, err error) {
	name, scale, err := o.metric()
	return o.promOptions(name), scale, err
}

func (o *Options) promOptions(name string) prom.Options {
	return prom.Options{Metric: name, Schema: prom.DefaultSchema, Percentiles: o.Percentiles, Memory: o.Memory, Service: "hdrlive", Ratio: o.ratio}
}

// ratio returns what the values of a tag are divided by in metrics.
func (o *Options) ratio(tag []byte) float64 {
	_, scale, _ := o.metric() // whoever brings the values has seen the error
	factor, _ := o.Units.Factor(tag)
	return scale.By(factor).Ratio
}

func (o *Options) newOTLP(w io.Writer, json bool) (output.RowWriter, error) {
	options, scale, err := o.prom()
	if err != nil {
		return nil, err
	}
	options.Schema = prom.MaxScale // the digits of the log decide
	return prom.NewOTLP(w, options, scale.Unit, os.Getenv, json)
}

// Window writes a row.
func (r *Rows) Window(w *live.Window) error {
	h, err := w.Counts()
	if err != nil {
		return err
	}
	if r.out == nil {
		if r.out, err = r.make(); err != nil {
			return err
		}
		r.first = w.LogStart
	}
	t := r.tag(w.Tag)
	t.factor = w.Factor
	if w.Late {
		return r.takeLate(t, h)
	}
	if w.Window.End > r.end {
		if err := r.writeLate(); err != nil {
			return err
		}
		r.end = w.Window.End
	}
	seconds := func(ms int64) float64 { return float64(ms) / 1000 }
	r.row = output.Row{
		Start: w.Window.Start, End: w.Window.End,
		Relative: seconds(w.Window.Start) - r.first, Length: seconds(r.options.Size), Covered: seconds(w.Recorded()), Stats: r.row.Stats,
	}
	return r.write(t, h)
}

func (r *Rows) tag(tag []byte) *rowTag {
	key := tags.Text(tag)
	if r.tags[key] == nil {
		r.tags[key] = &rowTag{tag: bytes.Clone(tag)}
	}
	return r.tags[key]
}

// write writes r.row, whose counts are h.
func (r *Rows) write(t *rowTag, h *histogram.Histogram) error {
	r.row.Tag, r.row.Factor, r.row.Counts = t.tag, t.factor, h
	r.row.Stats = output.StatsOf(h, r.options.Percentiles, false, r.row.Stats)
	if err := t.total.Add(&r.row.Stats); err != nil {
		return &merge.SumError{Err: err}
	}
	r.row.Total, t.late = t.total, false
	err := r.out.Row(&r.row)
	if errors.Is(err, output.ErrPoint) {
		r.options.Messages.LeftOut(1)
		return nil
	}
	return err
}

// takeLate adds an interval that came after its window to the totals.
func (r *Rows) takeLate(t *rowTag, h *histogram.Histogram) error {
	if t.late = r.totals; !r.totals {
		r.options.Messages.LeftOut(1)
		return nil
	}
	stats := output.StatsOf(h, nil, false, output.Stats{})
	if err := t.total.Add(&stats); err != nil {
		return &merge.SumError{Err: err}
	}
	if r.late == nil {
		return nil
	}
	return r.late(t.tag, h)
}

// writeLate writes the totals that came late, a millisecond after the last point: a point of
// Prometheus is later than the one before.
func (r *Rows) writeLate() error {
	end := r.end + 1
	for _, key := range slices.Sorted(maps.Keys(r.tags)) {
		if t := r.tags[key]; t.late {
			r.row = output.Row{Start: end - 1, End: end, TotalsOnly: true, Stats: r.row.Stats}
			if err := r.write(t, new(histogram.Histogram)); err != nil {
				return err
			}
			r.end = end
		}
	}
	return nil
}

// Flush hands on the rows.
func (r *Rows) Flush() error { return r.flush() }

// Save returns nothing: what was written to a pipe cannot be taken back.
func (r *Rows) Save() (own []byte, saved func() error, err error) { return nil, nil, nil }

// End writes what follows the last row.
func (r *Rows) End() error {
	if r.out == nil {
		return nil
	}
	if err := r.writeLate(); err != nil {
		return err
	}
	if err := r.out.Close(); err != nil {
		return err
	}
	return r.flush()
}

// otlpName matches names of metrics of OpenTelemetry.
var otlpName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.\-/]{0,254}$`)

// CheckMetric returns an error if a name, which may be empty, is none of a metric in a format.
func CheckMetric(format, name string) (err error) {
	switch {
	case name == "":
	case format == influx:
		_, err = output.Influx(io.Discard, output.Scale{}, name, "ns")
	case format == otlp && !otlpName.MatchString(name):
		err = fmt.Errorf("%q is not a name of a metric: a letter, and up to 254 letters, digits and _.-/", name)
	case format == OpenMetrics:
		_, err = output.OpenMetrics(io.Discard, output.Scale{}, name)
	}
	return err
}
