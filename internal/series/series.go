// Package series makes time series of logs: rows, one for each interval as it is read, or for windows of time that
// intervals were merged into. What it keeps does not grow with the log.
package series

import (
	"fmt"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/decode"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// Options say what to make of the intervals.
type Options struct {
	// Aggregate merges the intervals of windows of so many seconds of absolute time, if above 0. An interval belongs to
	// the window that its middle lies in.
	Aggregate float64
	// Moving is the length of moving windows in milliseconds. Zero means no moving windows. Rows show their maximum and
	// their value at MovingPercentile.
	Moving           int64
	MovingPercentile float64
	// IgnoreTags merges all tags.
	IgnoreTags bool
	// Rows show the values at Percentiles and, if Buckets is set, buckets.
	Percentiles []float64
	Buckets     bool
}

// A Place is where an interval stands.
type Place struct {
	Name string
	Line int
}

// A Sink is given the rows in the order of the log, or of windows. The place is that of the row's interval, or of the
// one that completed the window. The row is valid until it returns.
//
// Late is nil, or why the row's own figures have no place in the series, because the window of an interval was complete
// before; its totals are right all the same.
type Sink func(r *output.Row, at Place, late error) error

// Run runs a scan, whose BatchDone may flush what is written of the rows.
func Run(s *scan.Scan, o *Options, sink Sink) error {
	workers := make([]worker, s.Workers)
	for n := range workers {
		workers[n].decoder.Expected = s.Expected
	}
	m := maker{options: o, sink: sink, tags: make(map[string]*tag)}
	whole := o.Aggregate > 0 || o.Moving > 0
	work := func(n int, v scan.Visit, r *result) error {
		w := &workers[n]
		if err := w.decoder.Into(&w.own, v.Payload); err != nil {
			return err
		}
		if o.Aggregate == 0 {
			r.stats = output.StatsOf(&w.own, o.Percentiles, o.Buckets, r.stats)
		}
		if whole {
			r.counts.Pack(&w.own, histogram.MaxDigits)
		}
		r.double = w.own.Double()
		return nil
	}
	if err := scan.Run(s, work, m.interval); err != nil {
		return err
	}
	return m.close()
}

type worker struct {
	decoder decode.Decoder
	own     histogram.Histogram // the interval's
}

// result is what a worker makes of an interval.
type result struct {
	stats  output.Stats
	counts histogram.Packed
	double bool
}

// maker makes rows of results.
type maker struct {
	options *Options
	sink    Sink
	tags    map[string]*tag
	none    *tag    // untagged intervals
	windows windows // if intervals are merged
	own     histogram.Histogram
	row     output.Row
}

// tag is what is kept of a tag.
type tag struct {
	name   []byte
	total  output.Total
	moving moving
	open   []*window
}

func (m *maker) tag(name []byte) *tag {
	if name == nil || m.options.IgnoreTags {
		if m.none == nil {
			m.none = &tag{}
		}
		return m.none
	}
	t := m.tags[string(name)]
	if t == nil {
		t = &tag{name: append([]byte{}, name...)}
		m.tags[string(name)] = t
	}
	return t
}

// interval takes the next interval in the order of the log.
func (m *maker) interval(v scan.Visit, r *result) error {
	t, at := m.tag(v.Tag), Place{v.Name, v.Line}
	if m.options.Aggregate > 0 {
		return m.aggregate(t, v, r, at)
	}
	m.row = output.Row{
		Tag: t.name, Start: v.StartMillis(), End: v.EndMillis(),
		Relative: v.Relative(), Length: v.Length, Covered: v.Length, Stats: r.stats,
	}
	if m.options.Moving > 0 {
		r.counts.Unpack(&m.own)
	}
	return m.emit(t, &r.counts, r.double, at)
}

// emit completes m.row, whose histogram is m.own and packed in counts where there are moving windows, and hands it on.
func (m *maker) emit(t *tag, counts *histogram.Packed, double bool, at Place) error {
	fail := func(err error) error {
		return fmt.Errorf("%s:%d: tag %s: %w", at.Name, at.Line, tags.Text(t.name), err)
	}
	if err := t.total.Add(&m.row.Stats, double); err != nil {
		return fail(err)
	}
	m.row.Total = t.total
	if m.options.Moving > 0 {
		window, err := t.moving.add(&m.own, counts, m.row.End, m.options)
		if err != nil {
			return fail(err)
		}
		m.row.Moving = &window
	}
	return m.sink(&m.row, at, nil)
}

// close makes rows of the windows that are not complete when the log ends.
func (m *maker) close() error { return m.emitBefore(inf, m.windows.last) }
