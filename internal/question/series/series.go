// Package series makes time series of logs: a row for each interval in the order of reading, or a
// row for each tag and window of time. Its memory does not grow with the log.
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

// Options say which rows to make, and which figures they have.
type Options struct {
	// Window is the length of the windows that intervals are merged into, in milliseconds, see
	// package merge. If it is 0, each interval is a row.
	Window int64
	// Moving is the length of moving windows in milliseconds, 0 for none. A row has the maximum of
	// its moving window, and the value at MovingPercentile.
	Moving           int64
	MovingPercentile float64
	// Percentiles and Shares are figures of each row. With Shares, the counts of each row are kept
	// until the row is made.
	Percentiles []float64
	Shares      []output.Figure
}

// A Sink gets the rows in the order of the scan, or of windows. The visit is the interval of the
// row, or the interval that completed the window. The row is valid until the sink returns.
//
// If late is not nil, the interval came after its window was complete, so the figures of the row
// have no place in the series. The totals of the row are right.
type Sink func(r *output.Row, v scan.Visit, late error) error

// Run makes rows of the intervals of a scan, and calls sink for each. It merges the inputs by time.
// The scan's BatchDone may flush the rows.
func Run(s *scan.Scan, o *Options, sink Sink) error {
	s.ByTime = true
	m := &maker{
		options: o,
		sink:    sink,
		start:   &s.Seen.Start,
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

// Account opens the account for the memory of tags and their windows.
func Account(memory *ledger.Ledger) *ledger.Account {
	return memory.Open("tags, with their windows,", "choose some with -incT")
}

// A maker turns the results of a flow into rows, and hands these to a sink.
type maker struct {
	options *Options
	sink    Sink
	tags    map[string]*tag // by [merge.AppendKey]
	key     []byte
	start   *float64            // see [scan.Seen]
	counts  histogram.Histogram // counts of a moving window
	shared  histogram.Histogram // counts of a row, for shares
	out     output.Row          // the row that is being made
	account *ledger.Account
	charge  ledger.Charge
	moving  int // bytes of moving windows
}

// A tag is the state of a tag: its total so far and its moving window.
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

// tagBytes is the approximate memory of a tag without its windows.
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

// row completes the row of a result, and calls the sink.
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
	return m.sink(&m.out, r.Visit, late)
}

// add adds the totals and the moving window of the tag t to m.out. A late row has no moving window.
func (m *maker) add(t *tag, r *flow.Result, late bool) (err error) {
	if err := t.total.Add(&m.out.Stats); err != nil {
		return err
	}
	m.out.Tag, m.out.Total = t.name, t.total
	if o := m.options; o.Moving > 0 && !late {
		sizeBefore := t.moving.Size()
		if err := t.moving.Add(m.out.End, &r.Sum); err != nil {
			return err
		}
		h, err := t.moving.Histogram(&m.counts)
		if err != nil {
			return err
		}
		m.moving += t.moving.Size() - sizeBefore
		stats := output.RanksOf(h, []float64{o.MovingPercentile}, output.Stats{})
		m.out.Moving = &stats
	}
	return nil
}

// seconds converts milliseconds to seconds.
func seconds(ms int64) float64 { return float64(ms) / 1000 }
