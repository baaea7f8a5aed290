package sinks

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/metric"
	"hdrkit/output"
	"hdrkit/tags"
)

// Formats are the formats of rows.
var Formats = []string{"ndjson", "timeline", metric.Influx, metric.OpenMetrics, metric.OpenTelemetry}

// Rows writes a row for each tag and window. In formats with totals since the start, a late
// interval counts in a point between this window and the next. In others it has no place.
type Rows struct {
	options *Options
	make    makeRows
	flush   func() error
	totals  bool
	out     output.RowWriter // nil before the first row
	scale   hdrlog.Scale
	first   float64            // when the first log starts, in seconds since the epoch
	end     int64              // of the last point
	has     int64              // windows that end by then only count in totals
	tags    map[string]*rowTag // if rows have totals
	kept    *ledger.Account    // of tags
	late    []*rowTag          // those whose totals have more than their last points
	row     output.Row
	moved   float64 // of row, see [output.Stats]
}

// makeRows makes the writer of rows when the first one comes: the unit is known then.
type makeRows func() (output.RowWriter, hdrlog.Scale, error)

// A rowTag is what rows keep of a tag.
type rowTag struct {
	tag    []byte
	factor float64
	total  output.Total
	late   bool // the total has more than the last point
}

// NewRows returns rows that are written to w.
func NewRows(o *Options, format string, w buffered) *Rows {
	return newRows(o, format, w.Flush, func() (rows output.RowWriter, scale hdrlog.Scale, err error) {
		metrics, err := o.metrics(format)
		switch {
		case err != nil:
		case format == "timeline":
			rows = output.Timeline(w, time.UTC)
		case format == "ndjson":
			rows = output.NDJSON(w, time.UTC)
		default:
			rows, err = metrics.Rows(format, w, false)
		}
		return rows, metrics.Scale, err
	})
}

func newRows(o *Options, format string, flush func() error, rows makeRows) *Rows {
	return &Rows{
		options: o,
		make:    rows,
		flush:   flush,
		totals:  format == metric.OpenMetrics,
		has:     math.MinInt64,
		tags:    make(map[string]*rowTag),
		kept:    o.Memory.Open("tags of rows", "choose some with -incT, or add them up with -by all"),
	}
}

// Window writes a row.
func (r *Rows) Window(w *live.Window) error {
	h, err := w.Counts()
	if err != nil {
		return err
	}
	if r.out == nil {
		if r.out, r.scale, err = r.make(); err != nil {
			return err
		}
		r.first = w.LogStart
	}
	t, err := r.tag(w.Tag)
	if err != nil {
		return err
	}
	t.factor = w.Factor
	if w.Late {
		r.end = max(r.end, w.Window.End) // before the first window, too, its point has a time
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
		Start:    w.Window.Start,
		End:      w.Window.End,
		Relative: seconds(w.Window.Start) - r.first,
		Length:   seconds(r.options.Size),
		Covered:  seconds(w.Recorded.Millis),
		Stats:    r.row.Stats,
	}
	r.moved = w.Recorded.Moved
	return r.write(t, h)
}

// rowTagBytes is about what a tag takes beside its text, which a map has, too.
const rowTagBytes = 200

// tag returns what rows keep of a tag: nothing, unless they have totals.
func (r *Rows) tag(tag []byte) (*rowTag, error) {
	if !r.totals {
		return &rowTag{tag: tag}, nil
	}
	key := tags.Text(tag)
	if r.tags[key] == nil {
		r.tags[key] = &rowTag{tag: bytes.Clone(tag)}
		return r.tags[key], r.kept.Add(1, rowTagBytes+2*len(tag))
	}
	return r.tags[key], nil
}

// write writes r.row, whose counts are h.
func (r *Rows) write(t *rowTag, h *histogram.Histogram) error {
	r.row.Tag = t.tag
	r.row.Scale = r.scale.Times(t.factor)
	r.row.Counts = h
	r.row.Stats = output.StatsOf(h, r.options.Percentiles, r.row.Stats)
	r.row.Stats.Moved, r.moved = r.moved, 0
	if err := t.total.Add(&r.row.Stats); err != nil {
		return &merge.SumError{Err: err}
	}
	r.row.Total = t.total
	t.late = false
	if r.row.End <= r.has {
		return r.count(t, h)
	}
	err := r.out.Row(&r.row)
	if errors.Is(err, output.ErrPoint) {
		r.options.Messages.LeftOut(1)
		return nil
	}
	return err
}

// isLate notes that the total of a tag has more than its last point.
func (r *Rows) isLate(t *rowTag) {
	if !t.late {
		t.late = true
		r.late = append(r.late, t)
	}
}

// takeLate adds an interval that came after its window to the totals.
func (r *Rows) takeLate(t *rowTag, h *histogram.Histogram) error {
	if !r.totals {
		r.options.Messages.LeftOut(1)
		return nil
	}
	r.isLate(t)
	stats := output.StatsOf(h, nil, output.Stats{})
	if err := t.total.Add(&stats); err != nil {
		return &merge.SumError{Err: err}
	}
	return r.count(t, h)
}

// count adds counts to a total, which the next row of the tag shows.
func (r *Rows) count(t *rowTag, h *histogram.Histogram) error {
	if remote, ok := r.out.(*prom.Remote); ok {
		return remote.Late(t.tag, t.factor, h)
	}
	return nil
}

// writeLate writes the totals that came late, a millisecond after the last point: a point of
// Prometheus is later than the one before.
func (r *Rows) writeLate() error {
	end := r.end + 1
	late := slices.SortedFunc(slices.Values(r.late), func(a, b *rowTag) int { return tags.Compare(a.tag, b.tag) })
	r.late = nil
	for n, t := range late {
		if !t.late || n > 0 && t == late[n-1] { // a row of the tag has shown the total
			continue
		}
		r.row = output.Row{Start: end - 1, End: end, TotalsOnly: true, Stats: r.row.Stats}
		if err := r.write(t, new(histogram.Histogram)); err != nil {
			return err
		}
		r.end = end
	}
	return nil
}

// Flush hands on the rows.
func (r *Rows) Flush() error { return r.flush() }

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
