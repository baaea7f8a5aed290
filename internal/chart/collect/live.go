package collect

import (
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page"
)

// Live gathers windows for a page that is shown while logs are written. Its memory has a bound,
// since older windows are merged. It is not safe for concurrent use.
type Live struct {
	// Collector gathers. Its fields, Step among them, are set before the first window. Aggregate
	// is 0.
	Collector Collector
	// Dress gives a picture its looks.
	Dress func(p *chart.Picture)
	// Type is the type of the chart over time.
	Type *chart.Type

	origin  int64
	started bool
	ends    map[string]int64   // of the last window, by label
	highest map[string]float64 // by label

	// What Data returned last, and what came since then or Update.
	width, recent int64
	index         map[string]int
	layouts       []histogram.Layout // by series
	rest          []bool             // which series have no line
	least         float64            // the lowest maximum of those that have one
	lines         []int              // which measures have one
	pending       page.Rows
	to            int64
	// stale is set if the page needs all data anew: there is a new series, or windows were merged.
	stale bool
}

// Add adds an interval, measured with l.Collector, to the series with a label. LogStart, in
// milliseconds since the epoch, is time 0 of the page if the interval is the first.
func (l *Live) Add(label string, logStart int64, i *Interval) error {
	if !l.started {
		l.origin = logStart
		l.started = true
		l.ends = map[string]int64{}
		l.highest = map[string]float64{}
	}
	if err := l.Collector.Add("", label, i); err != nil {
		return err
	}
	w := i.Window()
	last, known := l.ends[label]
	gap := !known || w.Start > last+w.Length()/2
	l.ends[label] = max(last, w.End)
	for _, v := range i.Values() {
		if v > l.highest[label] { // not if it is NaN
			l.highest[label] = v
		}
	}
	n, known := l.index[label]
	if known && l.rest[n] && l.highest[label] > l.least {
		l.stale = true // it has a line now, and another one has none
	}
	if width, recent := l.Collector.Widths(); l.stale || !known || width != l.width || recent != l.recent {
		l.stale = true
		return nil
	}
	w.Start = w.Start - l.origin
	w.Begin = w.Begin - l.origin
	w.End = w.End - l.origin
	l.to = max(l.to, w.End)
	layout := w.Counts.Layout()
	rows := &l.pending
	if layout != l.layouts[n] {
		rows.LayoutOf(n, layout, l.Collector.UnitOf(label, layout))
	}
	rows.Window(n, &w, w.AppendCounts(nil))
	for line, measure := range l.lines {
		if v := i.Values()[measure]; !math.IsNaN(v) {
			rows.Point(n, line, w.Start, w.Length(), v, gap)
		}
	}
	l.layouts[n] = layout
	return nil
}

// Forget drops what ends at or before a time.
func (l *Live) Forget(time int64) {
	if l.started && l.Collector.Forget(time) {
		l.origin, l.stale = max(l.origin, time), true
		clear(l.highest)
	}
}

// Stale reports whether the page needs all data anew, with Data, before Update.
func (l *Live) Stale() bool { return l.stale }

// Data returns all data of the page.
func (l *Live) Data() (*page.Data, error) {
	c := &l.Collector
	var sorted []chart.Series
	for _, label := range slices.Sorted(slices.Values(c.Labels())) {
		sorted = append(sorted, chart.Series{Label: label})
	}
	p, err := c.Picture(chart.New(l.Type), l.origin, sorted)
	if err != nil {
		return nil, err
	}
	l.Dress(p)
	width, before := c.Widths()
	recent := before
	if recent > math.MinInt64 {
		recent -= l.origin
	}
	d := page.DataOf(p, width, chart.PageColumns, recent, 0)
	d.Step = c.Step
	d.Live, d.Heat = true, l.Type.Chart.Marks == chart.Cells || len(d.Series) <= page.MostLines
	if recent > d.From && width > c.Step {
		d.Recent = &page.Recent{From: recent, Window: c.Step}
	}
	l.lines = nil
	for _, name := range d.Measures {
		l.lines = append(l.lines, slices.IndexFunc(c.Measures, func(m chart.Measure) bool { return m.Name == name }))
	}
	l.index, l.layouts = map[string]int{}, make([]histogram.Layout, len(d.Series))
	l.rest = make([]bool, len(d.Series))
	l.least = math.Inf(1)
	for n, s := range d.Series {
		l.index[s.Label] = n
		l.rest[n] = s.Rest
		if !s.Rest {
			l.least = min(l.least, l.highest[s.Label])
		}
	}
	l.width = width
	l.recent = before
	l.stale = false
	l.to = d.To
	l.pending = page.Rows{}
	return d, nil
}

// Update returns what was added since Data or Update was called last. It is false if that is
// nothing.
func (l *Live) Update() (u *page.Update, some bool) {
	rows := l.pending
	l.pending = page.Rows{}
	return &page.Update{To: l.to, Rows: &rows, Marks: []chart.Mark{}}, !rows.Empty()
}

// Origin returns time 0 of the page, in milliseconds since the epoch. It is false before the first
// interval.
func (l *Live) Origin() (origin int64, started bool) { return l.origin, l.started }
