package collect

import (
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page"
)

// Live gathers windows for the page of hdrlive, which changes while logs are written. Data returns
// the whole page, and Update what is new. Old windows are merged, which bounds the memory. Live is
// not safe for concurrent use.
type Live struct {
	// Collector gathers the windows. Its options, with Step and without Aggregate, are set before
	// the first window.
	Collector Collector
	// Dress sets the looks and texts of a picture.
	Dress func(p *chart.Picture)
	// Type is the type of the chart over time.
	Type *chart.Type

	origin  int64              // time 0 of the page, in milliseconds since the epoch
	started bool               // there was an interval, so that origin is known
	ends    map[string]int64   // when the last window of each series ends, by label
	highest map[string]float64 // the highest value of each series, by label
	page    livePage
	pending page.Rows // what was added since Data or Update was called
	stale   bool      // the page needs all data anew: there is a new series, or windows were merged
}

// A livePage is the layout of the page that Data returned last. Rows of Update fit this layout.
type livePage struct {
	width, recent int64              // see [Collector.Widths]
	index         map[string]int     // places of series by label
	layouts       []histogram.Layout // by series
	isRest        []bool             // by series: it has no line of its own
	lowest        float64            // the lowest maximum of the series that have lines
	lines         []int              // the measures that have lines, as indexes
	to            int64              // when the last window ends
}

// Add adds an interval to the series with a label. The options of l.Collector have measured it. The
// first interval makes logStart, in milliseconds since the epoch, time 0 of the page.
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
		if v > l.highest[label] { // false for NaN
			l.highest[label] = v
		}
	}
	n, known := l.page.index[label]
	if known && l.page.isRest[n] && l.highest[label] > l.page.lowest {
		l.stale = true // the series gets the line of another one
	}
	if width, recent := l.Collector.Widths(); l.stale || !known || width != l.page.width || recent != l.page.recent {
		l.stale = true
		return nil
	}
	w.Start = w.Start - l.origin
	w.Begin = w.Begin - l.origin
	w.End = w.End - l.origin
	l.page.to = max(l.page.to, w.End)
	layout := w.Counts.Layout()
	rows := &l.pending
	if layout != l.page.layouts[n] {
		rows.LayoutOf(n, layout, l.Collector.UnitOf(label, layout))
	}
	rows.Window(n, &w, w.AppendCounts(nil))
	for line, measure := range l.page.lines {
		if v := i.Values()[measure]; !math.IsNaN(v) {
			rows.Point(n, line, w.Start, w.Length(), v, gap)
		}
	}
	l.page.layouts[n] = layout
	return nil
}

// Forget drops windows that end at or before a time. The page then begins at that time.
func (l *Live) Forget(time int64) {
	if l.started && l.Collector.Forget(time) {
		l.origin, l.stale = max(l.origin, time), true
		clear(l.highest)
	}
}

// Stale reports whether the page needs all data again: then the caller must call Data, not Update.
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
	d.Step = c.Options.Step
	d.Live, d.Heat = true, l.Type.Chart.Marks == chart.Cells || len(d.Series) <= page.MaxLines
	if recent > d.From && width > c.Options.Step {
		d.Recent = &page.Recent{From: recent, Window: c.Options.Step}
	}
	l.page.lines = nil
	for _, name := range d.Measures {
		l.page.lines = append(l.page.lines, slices.IndexFunc(c.Options.Measures, func(m chart.Measure) bool { return m.Name == name }))
	}
	l.page.index, l.page.layouts = map[string]int{}, make([]histogram.Layout, len(d.Series))
	l.page.isRest = make([]bool, len(d.Series))
	l.page.lowest = math.Inf(1)
	for n, s := range d.Series {
		l.page.index[s.Label] = n
		l.page.isRest[n] = s.Rest
		if !s.Rest {
			l.page.lowest = min(l.page.lowest, l.highest[s.Label])
		}
	}
	l.page.width = width
	l.page.recent = before
	l.stale = false
	l.page.to = d.To
	l.pending = page.Rows{}
	return d, nil
}

// Update returns the rows that were added since the last call of Data or Update, and whether there
// are any.
func (l *Live) Update() (u *page.Update, some bool) {
	rows := l.pending
	l.pending = page.Rows{}
	return &page.Update{To: l.page.to, Rows: &rows, Marks: []chart.Mark{}}, !rows.Empty()
}

// Origin returns time 0 of the page, in milliseconds since the epoch. Started is false before the
// first interval.
func (l *Live) Origin() (origin int64, started bool) { return l.origin, l.started }
