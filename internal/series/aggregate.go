package series

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

var inf = math.Inf(1)

// windows are those that intervals are merged into. A window is complete, and its rows are made, when an interval starts
// at least its own length after the window ends: so lines may be out of order by as much.
type windows struct {
	open []*window
	// first is when the first of them ends, in seconds since the epoch.
	first float64
	// done is the end of the last window that is complete, in seconds since the epoch.
	done float64
	any  bool  // whether one is
	last Place // of the interval read last
	free []*window
}

// window is what a tag has in a window.
type window struct {
	tag        *tag
	start      float64 // seconds since the epoch, a multiple of the length
	relative   float64 // from the start of the log
	begin, end float64 // of the first and the last interval
	sum        histogram.Histogram
}

// aggregate adds an interval to its window.
func (m *maker) aggregate(t *tag, v scan.Visit, r *result, at Place) error {
	ws, length := &m.windows, m.options.Aggregate
	ws.last = at
	begin, end := v.Absolute(), v.Absolute()+v.Length
	if err := m.emitBefore(begin-v.Length, at); err != nil {
		return err
	}
	start := math.Floor((begin+v.Length/2)/length) * length
	r.counts.Unpack(&m.own)
	if ws.any && start < ws.done {
		return m.late(t, start, at)
	}
	w := t.window(start)
	if w == nil {
		w = ws.add(t, start, &m.own)
		w.begin, w.end = begin, end
		w.relative = start - v.LogStart
		ws.first = min(ws.first, start+length)
	}
	w.begin, w.end = min(w.begin, begin), max(w.end, end)
	if err := w.sum.Add(&m.own); err != nil {
		return fmt.Errorf("%s:%d: tag %s: %w", at.Name, at.Line, tags.Text(t.name), err)
	}
	return nil
}

// late counts an interval, which is in m.own, whose window is complete, in the totals of its tag.
func (m *maker) late(t *tag, start float64, at Place) error {
	m.row = output.Row{
		Tag: t.name, Start: millis(start), End: millis(start + m.options.Aggregate),
		Stats: output.StatsOf(&m.own, m.options.Percentiles, m.options.Buckets, m.row.Stats),
	}
	if err := t.total.Add(&m.row.Stats, m.own.Double()); err != nil {
		return fmt.Errorf("%s:%d: tag %s: %w", at.Name, at.Line, tags.Text(t.name), err)
	}
	m.row.Total = t.total
	return m.sink(&m.row, at, fmt.Errorf("too late for its window of %v s, at %s, which is written already; hdrunion puts logs in order",
		m.options.Aggregate, time.UnixMilli(m.row.Start).UTC().Format(time.RFC3339Nano)))
}

// window returns the window that starts then, nil if it is not open.
func (t *tag) window(start float64) *window {
	for _, w := range t.open {
		if w.start == start {
			return w
		}
	}
	return nil
}

// add opens a window, for histograms like h.
func (ws *windows) add(t *tag, start float64, h *histogram.Histogram) *window {
	w := &window{}
	if n := len(ws.free); n > 0 {
		w, ws.free = ws.free[n-1], ws.free[:n-1]
	}
	w.tag, w.start = t, start
	w.sum.Reset(h.Layout())
	if len(ws.open) == 0 {
		ws.first = inf
	}
	ws.open, t.open = append(ws.open, w), append(t.open, w)
	return w
}

// emitBefore makes rows of the windows that end up to then, in order of time and tags.
func (m *maker) emitBefore(then float64, at Place) error {
	ws, length := &m.windows, m.options.Aggregate
	if len(ws.open) == 0 || ws.first > then {
		return nil
	}
	var complete []*window
	ws.first = inf
	ws.open = slices.DeleteFunc(ws.open, func(w *window) bool {
		if w.start+length > then {
			ws.first = min(ws.first, w.start+length)
			return false
		}
		complete = append(complete, w)
		return true
	})
	slices.SortFunc(complete, func(a, b *window) int {
		return cmp.Or(cmp.Compare(a.start, b.start), bytes.Compare(a.tag.name, b.tag.name))
	})
	for _, w := range complete {
		ws.done, ws.any = w.start+length, true
		m.row = output.Row{
			Tag: w.tag.name, Start: millis(w.start), End: millis(w.start + length),
			Relative: w.relative, Length: length, Covered: w.end - w.begin,
			Stats: output.StatsOf(&w.sum, m.options.Percentiles, m.options.Buckets, m.row.Stats),
		}
		var counts histogram.Packed
		if m.options.Moving > 0 {
			counts.Pack(&w.sum, histogram.MaxDigits)
			counts.Unpack(&m.own)
		}
		double := w.sum.Double()
		ws.free = append(ws.free, w)
		w.tag.open = slices.DeleteFunc(w.tag.open, func(open *window) bool { return open == w })
		if err := m.emit(w.tag, &counts, double, at); err != nil {
			return err
		}
	}
	return nil
}

// millis rounds, since a window starts at a whole multiple of its length.
func millis(seconds float64) int64 {
	return int64(math.Round(max(min(seconds*1000, math.MaxInt64/2), math.MinInt64/2)))
}
