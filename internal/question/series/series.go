// Package series makes time series of logs: rows, one for each interval as it is read, or one for
// each tag and window of time. Its memory does not grow with the log.
package series

import (
	"bytes"
	"fmt"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/flow"
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
	// Rows show the values at Percentiles, and Shares, which need all counts.
	Percentiles []float64
	Shares      []output.Figure
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
	m := &maker{
		options: o,
		sink:    sink,
		start:   &s.Start,
		tags:    make(map[string]*tag),
		account: Account(s.Memory),
	}
	figures := []output.Figure{{Name: output.Mean}}
	for _, p := range o.Percentiles {
		figures = append(figures, output.Figure{Percentile: p})
	}
	if o.Window == 0 {
		return flow.Run(s, &flow.Intervals{Figures: figures, Counts: o.Moving > 0 || o.Shares != nil, Emit: m.interval})
	}
	return flow.Run(s, &flow.Windows{
		Size:    o.Window,
		Figures: figures,
		Account: m.account,
		Emit:    m.window,
	})
}

// Account returns the account of tags with windows.
func Account(memory *ledger.Ledger) *ledger.Account {
	return memory.Open("tags, with their windows,", "choose some with -incT")
}

// A maker turns the results of a flow into rows, and hands these to a sink.
type maker struct {
	options *Options
	sink    Sink
	tags    map[string]*tag // by [merge.AppendKey]
	key     []byte
	start   *float64            // see [scan.Scan.Start]
	counts  histogram.Histogram // counts of a moving window
	shared  histogram.Histogram // of a row, for shares
	out     output.Row
	account *ledger.Account
	charge  ledger.Charge
	moving  int // bytes of moving windows
}

// tag is the state of a tag: its total and its moving window.
type tag struct {
	name   []byte
	total  output.Total
	moving *merge.Moving
	kinds  scan.Kinds
}

// tag returns the state of a tag, which it makes if needed.
func (m *maker) tag(name []byte) *tag {
	m.key = merge.AppendKey(m.key[:0], name)
	t := m.tags[string(m.key)]
	if t == nil {
		t = &tag{name: bytes.Clone(name), moving: merge.NewMoving(m.options.Moving)}
		m.tags[string(m.key)] = t
	}
	return t
}

// tagBytes is about what a tag takes beside its windows.
const tagBytes = 500

// interval makes a row of an interval.
func (m *maker) interval(r *flow.Result) (err error) {
	v := r.Visit
	m.out = output.Row{
		Start:    v.StartMillis(),
		End:      v.EndMillis(),
		Relative: v.Absolute() - *m.start,
		Length:   v.Length,
		Covered:  v.Length,
	}
	if m.options.Shares != nil {
		if m.out.Counts, err = r.Sum.Histogram(&m.shared); err != nil {
			return err
		}
	}
	return m.row(r, nil)
}

// window makes a row of a window.
func (m *maker) window(w *flow.Window) error {
	m.out = output.Row{Start: w.Window.Start, End: w.Window.End}
	if !w.Late {
		m.out.Relative = seconds(w.Window.Start) - *m.start
		m.out.Length = seconds(m.options.Window)
		m.out.Covered = seconds(w.Rate.Millis)
	}
	if m.options.Shares != nil {
		m.out.Counts = w.Counts
	}
	return m.row(&w.Result, w.TooLate())
}

// row completes a row, and hands it out.
func (m *maker) row(r *flow.Result, late error) (err error) {
	t, o := m.tag(r.Row), m.options
	if err := m.charge.Set(m.account, len(m.tags), m.moving+tagBytes*len(m.tags)); err != nil {
		return err
	}
	t.kinds.Merge(r.Kinds)
	if o.Window > 0 || o.Moving > 0 {
		if err := t.kinds.Err(); err != nil {
			return fmt.Errorf("tag %s: %w", tags.Text(t.name), err)
		}
	}
	m.out.Stats, m.out.Shares = r.Stats, o.Shares
	if err := m.add(t, r, late != nil); err != nil {
		return fmt.Errorf("%s: tag %s: %w", r.Visit.Place, tags.Text(t.name), err)
	}
	return m.sink(&m.out, r.Visit.Place, late)
}

// add adds the totals and the moving window of its tag to m.out.
func (m *maker) add(t *tag, r *flow.Result, late bool) (err error) {
	if err := t.total.Add(&m.out.Stats); err != nil {
		return err
	}
	m.out.Tag, m.out.Total = t.name, t.total
	if o := m.options; o.Moving > 0 && !late {
		before := t.moving.Size()
		if err := t.moving.Add(m.out.End, &r.Sum); err != nil {
			return err
		}
		h, err := t.moving.Histogram(&m.counts)
		if err != nil {
			return err
		}
		m.moving += t.moving.Size() - before
		stats := output.RanksOf(h, []float64{o.MovingPercentile}, output.Stats{})
		m.out.Moving = &stats
	}
	return nil
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }
