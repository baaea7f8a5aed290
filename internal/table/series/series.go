// Package series makes time series of logs: rows, one for each interval as it is read, or one for
// each tag and window of time. Its memory does not grow with the log.
package series

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// Options say what to make of the intervals.
type Options struct {
	// Window is the size of the windows that intervals are merged into, in milliseconds; see
	// package merge. Zero makes a row of each interval.
	Window int64
	// Moving is the length of moving windows in milliseconds. Zero means no moving windows. Rows
	// show their maximum and their value at MovingPercentile.
	Moving           int64
	MovingPercentile float64
	// Rows show the values at Percentiles.
	Percentiles []float64
	// Rows have their counts if Counts is set.
	Counts bool
}

// A Sink takes the rows in the order of the scan, or of windows. The place is that of the row's
// interval, or of the one that completed the window. The row is valid until the sink returns.
//
// Late is nil, or says why the row's own figures have no place in the series: the window of an
// interval was complete before. Its totals are right all the same.
type Sink func(r *output.Row, at scan.Place, late error) error

// Run makes rows of the intervals of a scan, whose inputs are merged by time. The scan's BatchDone
// may flush the rows.
func Run(s *scan.Scan, o *Options, sink Sink) error {
	s.ByTime = true
	m := newWindows(o, s.Memory, sink, &s.Start)
	if err := scan.Run(s, m.decode, m.interval); err != nil {
		return err
	}
	return m.Close()
}

// result is what a worker makes of an interval.
type result struct {
	stats  output.Stats // for a row of the interval
	sum    merge.Sum    // for a window
	double bool
}

// Windows make rows of intervals that come in the order of time.
type Windows struct {
	options *Options
	sink    Sink
	tags    map[string]*tag // by [merge.AppendKey]
	key     []byte
	start   *float64            // see [scan.Scan.Start]
	counts  histogram.Histogram // of a row or of a moving window
	row     output.Row

	account *ledger.Account // of tags and windows
	charge  ledger.Charge
	moving  int // bytes of moving windows

	windows *merge.Windows
	done    int64      // the end of the last window that is complete
	last    scan.Place // of the interval taken last
}

// tag is what is kept of a tag.
type tag struct {
	name   []byte
	total  output.Total
	moving *merge.Moving
	kinds  scan.Kinds
}

func newWindows(o *Options, memory *ledger.Ledger, sink Sink, start *float64) *Windows {
	return &Windows{
		options: o, sink: sink, start: start, tags: make(map[string]*tag), windows: merge.NewWindows(o.Window), done: math.MinInt64,
		account: memory.Open("tags, with their windows,", "choose some with -incT"),
	}
}

// NewWindows returns windows of size milliseconds, 0 for each interval. Their rows have counts, and
// no percentiles.
func NewWindows(memory *ledger.Ledger, size int64, sink Sink) *Windows {
	return newWindows(&Options{Window: size, Counts: true}, memory, sink, new(float64))
}

// Add adds an interval and its counts.
func (m *Windows) Add(v scan.Visit, s *merge.Sum) error { return m.add(m.tag(v.Row), v, s, nil) }

// add adds an interval. Stats are its figures, nil if they are not known yet or not needed.
func (m *Windows) add(t *tag, v scan.Visit, s *merge.Sum, stats *output.Stats) error {
	m.last = v.Place
	if err := m.charge.Set(m.account, len(m.tags), m.moving+m.windows.Bytes()+tagBytes*len(m.tags)); err != nil {
		return err
	}
	if m.options.Window > 0 {
		return m.merge(t, v, s)
	}
	m.row = output.Row{
		Start: v.StartMillis(), End: v.EndMillis(),
		Relative: v.Absolute() - *m.start, Length: v.Length, Covered: v.Length, Stats: m.row.Stats,
	}
	if stats == nil {
		return m.measure(t, s, nil)
	}
	m.row.Stats = *stats
	return m.emit(t, s, nil)
}

// tag returns what is kept of a tag.
func (m *Windows) tag(name []byte) *tag {
	m.key = merge.AppendKey(m.key[:0], name)
	t := m.tags[string(m.key)]
	if t == nil {
		t = &tag{name: bytes.Clone(name), moving: merge.NewMoving(m.options.Moving)}
		m.tags[string(m.key)] = t
	}
	return t
}

// decode makes of an interval what a row or a window takes of it. Workers call it.
func (m *Windows) decode(_ int, v scan.Visit, r *result) (err error) {
	var sums []*merge.Sum
	if m.options.Window > 0 || m.options.Moving > 0 || m.options.Counts {
		r.sum.Reset()
		sums = append(sums, &r.sum)
	}
	took, err := v.Take(scan.Want{Counts: m.options.Window == 0}, sums...)
	if err == nil && m.options.Window == 0 {
		r.stats = output.StatsOf(took.Counts, m.options.Percentiles, r.stats)
	}
	r.double = took.Double
	return err
}

// interval takes the next interval.
func (m *Windows) interval(v scan.Visit, r *result) error {
	t := m.tag(v.Row)
	if m.options.Window > 0 || m.options.Moving > 0 {
		t.kinds.Add(r.double, v.Place)
		if err := t.kinds.Err(); err != nil {
			return fmt.Errorf("tag %s: %w", tags.Text(t.name), err)
		}
	}
	return m.add(t, v, &r.sum, &r.stats)
}

// tagBytes is about what a tag takes beside its windows.
const tagBytes = 500

// fail returns an error of adding up intervals of t. The place is that of the last interval.
func (t *tag) fail(at scan.Place, err error) error {
	return fmt.Errorf("%s: tag %s: %w", at, tags.Text(t.name), err)
}

// merge adds an interval to its window. A window is complete, and its rows are made, when an
// interval starts at least its own length after the window ends. So lines may be out of order by as
// much.
func (m *Windows) merge(t *tag, v scan.Visit, s *merge.Sum) error {
	if err := m.completeBefore(2*s.Start - s.End); err != nil {
		return err
	}
	if w := merge.WindowOf(s.Start, s.End, m.options.Window); w.End <= m.done {
		return m.late(t, w, s)
	}
	if err := m.windows.Merge(t.name, v.LogStart, s); err != nil {
		return t.fail(v.Place, err)
	}
	return nil
}

// late counts an interval whose window is complete in the totals of its tag.
func (m *Windows) late(t *tag, w merge.Window, s *merge.Sum) error {
	m.row = output.Row{Start: w.Start, End: w.End, Stats: m.row.Stats}
	return m.measure(t, s, fmt.Errorf("too late for its window of %v s, at %s, which is written already; hdrunion puts logs in order",
		seconds(m.options.Window), time.UnixMilli(w.Start).UTC().Format(time.RFC3339Nano)))
}

// completeBefore makes rows of the windows that end by then.
func (m *Windows) completeBefore(then int64) error {
	for w := range m.windows.Before(then) {
		m.done = w.Window.End
		m.row = output.Row{
			Start: w.Window.Start, End: w.Window.End,
			Relative: seconds(w.Window.Start) - *m.start, Length: seconds(m.options.Window), Covered: seconds(w.Recorded()), Stats: m.row.Stats,
		}
		if err := m.measure(m.tag(w.Tag), &w.Sum, nil); err != nil {
			return err
		}
	}
	return nil
}

// measure completes m.row with the figures of s, and emits it.
func (m *Windows) measure(t *tag, s *merge.Sum, late error) error {
	h, err := s.Histogram(&m.counts)
	if err != nil {
		return t.fail(m.last, err)
	}
	m.row.Stats = output.StatsOf(h, m.options.Percentiles, m.row.Stats)
	return m.emit(t, s, late)
}

// emit hands on m.row, whose counts are those of s, with the totals and the moving window of its
// tag.
func (m *Windows) emit(t *tag, s *merge.Sum, late error) (err error) {
	if err := t.total.Add(&m.row.Stats); err != nil {
		return t.fail(m.last, err)
	}
	m.row.Tag, m.row.Total = t.name, t.total
	if m.options.Moving > 0 && late == nil {
		before := t.moving.Size()
		if err := t.moving.Add(m.row.End, s); err != nil {
			return t.fail(m.last, err)
		}
		h, err := t.moving.Histogram(&m.counts)
		if err != nil {
			return t.fail(m.last, err)
		}
		m.moving += t.moving.Size() - before
		at := h.ValueAtPercentile(m.options.MovingPercentile)
		m.row.Moving = &output.Moving{
			Count:           h.TotalCount(),
			PercentileValue: output.PercentileValue{Percentile: m.options.MovingPercentile, Value: output.ValueOf(h, at)},
			Max:             output.ValueOf(h, h.Max()),
		}
	}
	if m.options.Counts {
		if m.row.Counts, err = s.Histogram(&m.counts); err != nil {
			return t.fail(m.last, err)
		}
	}
	return m.sink(&m.row, m.last, late)
}

// Close makes rows of the windows that are not complete when the logs end.
func (m *Windows) Close() error { return m.completeBefore(math.MaxInt64) }

func seconds(ms int64) float64 { return float64(ms) / 1000 }
