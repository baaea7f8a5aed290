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

// Rows writes a row for each tag and window, in a format. If the format has totals since the start,
// late intervals count in them: the next row of the tag or, before the next window, a row with
// totals only. In other formats late intervals are left out, and counted as such.
type Rows struct {
	options       *Options
	newWriter     makeRows
	flush         func() error
	totals        bool             // the format has totals since the start
	out           output.RowWriter // nil before the first row
	scale         hdrlog.Scale
	firstLogStart float64            // start of the first log, in seconds since the epoch
	lastPoint     int64              // time of the last point, in milliseconds since the epoch
	sentUntil     int64              // windows that end at or before this time are not written, but count in totals
	tags          map[string]*rowTag // by text of the tag; empty without totals
	account       *ledger.Account    // for tags
	lateTags      []*rowTag          // tags whose totals have more than their last points
	row           output.Row         // memory of the present row
	moved         float64            // Stats.Moved of the present row, see output.Stats
}

// makeRows makes the writer when the first row comes. Before that, the unit of the values is not
// known.
type makeRows func() (output.RowWriter, hdrlog.Scale, error)

// A rowTag is the state of a tag.
type rowTag struct {
	tag    []byte
	factor float64
	total  output.Total
	late   bool // the total has more than the last point
}

// NewRows returns rows in a format that are written to w.
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
		options:   o,
		newWriter: rows,
		flush:     flush,
		totals:    format == metric.OpenMetrics,
		sentUntil: math.MinInt64,
		tags:      make(map[string]*rowTag),
		account:   o.Memory.Open("tags of rows", "choose some with -incT, or add them up with -by all"),
	}
}

// Window writes a row.
func (r *Rows) Window(w *live.Window) error {
	h, err := w.Counts()
	if err != nil {
		return err
	}
	if r.out == nil {
		if r.out, r.scale, err = r.newWriter(); err != nil {
			return err
		}
		r.firstLogStart = w.Merged.LogStart
	}
	t, err := r.tag(w.Merged.Tag)
	if err != nil {
		return err
	}
	t.factor = w.Factor
	if w.Late {
		r.lastPoint = max(r.lastPoint, w.Merged.Window.End) // so that a row with totals has a time also before the first window
		return r.takeLate(t, h)
	}
	if w.Merged.Window.End > r.lastPoint+1 { // there is a time between the last point and this one
		if err := r.writeLate(); err != nil {
			return err
		}
	}
	r.lastPoint = max(r.lastPoint, w.Merged.Window.End)
	seconds := func(ms int64) float64 { return float64(ms) / 1000 }
	r.row = output.Row{
		Start:    w.Merged.Window.Start,
		End:      w.Merged.Window.End,
		Relative: seconds(w.Merged.Window.Start) - r.firstLogStart,
		Length:   seconds(r.options.Size),
		Covered:  seconds(w.Merged.Recorded.Millis),
		Stats:    r.row.Stats,
	}
	r.moved = w.Merged.Recorded.Moved
	return r.write(t, h)
}

// rowTagBytes is the size of the state of a tag, without two copies of its text.
const rowTagBytes = 200

// tag returns the state of a tag. Without totals it returns an empty one.
func (r *Rows) tag(tag []byte) (*rowTag, error) {
	if !r.totals {
		return &rowTag{tag: tag}, nil
	}
	key := tags.Text(tag)
	if r.tags[key] == nil {
		r.tags[key] = &rowTag{tag: bytes.Clone(tag)}
		return r.tags[key], r.account.Add(1, rowTagBytes+2*len(tag))
	}
	return r.tags[key], nil
}

// write writes r.row for a tag, with the counts h.
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
	if r.row.End <= r.sentUntil {
		return r.addTotal(t, h)
	}
	err := r.out.Row(&r.row)
	if errors.Is(err, output.ErrPoint) {
		r.options.Messages.LeftOut(1)
		return nil
	}
	return err
}

// markLate records that the total of a tag has more than its last point.
func (r *Rows) markLate(t *rowTag) {
	if !t.late {
		t.late = true
		r.lateTags = append(r.lateTags, t)
	}
}

// takeLate adds a late interval to the total of its tag.
func (r *Rows) takeLate(t *rowTag, h *histogram.Histogram) error {
	if !r.totals {
		r.options.Messages.LeftOut(1)
		return nil
	}
	r.markLate(t)
	stats := output.StatsOf(h, nil, output.Stats{})
	if err := t.total.Add(&stats); err != nil {
		return &merge.SumError{Err: err}
	}
	return r.addTotal(t, h)
}

// addTotal adds counts to the total that a [prom.Remote] keeps of a tag. The next row of the tag
// shows them.
func (r *Rows) addTotal(t *rowTag, h *histogram.Histogram) error {
	if remote, ok := r.out.(*prom.Remote); ok {
		return remote.AddTotal(t.tag, t.factor, h)
	}
	return nil
}

// writeLate writes rows with the totals that have more than their last points. Their time is one
// millisecond after the last point, because Prometheus takes only points that are newer.
func (r *Rows) writeLate() error {
	end := r.lastPoint + 1
	late := slices.SortedFunc(slices.Values(r.lateTags), func(a, b *rowTag) int { return tags.Compare(a.tag, b.tag) })
	r.lateTags = nil
	for n, t := range late {
		if !t.late || n > 0 && t == late[n-1] { // a later row of the tag has shown the total
			continue
		}
		r.row = output.Row{Start: end - 1, End: end, TotalsOnly: true, Stats: r.row.Stats}
		if err := r.write(t, new(histogram.Histogram)); err != nil {
			return err
		}
		r.lastPoint = end
	}
	return nil
}

// Flush passes on the rows written so far.
func (r *Rows) Flush() error { return r.flush() }

// End writes what the format needs after the last row.
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
