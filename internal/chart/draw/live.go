package draw

import (
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/page"
)

// Live gathers windows for a page that is shown while logs are written. Its memory has a bound,
// since older windows are merged. It is not safe for concurrent use.
type Live struct {
	// Collector gathers. Its fields, Step among them, are set before the first window. Aggregate
	// is 0.
	Collector Collector
	// Dress gives a picture its looks.
	Dress func(p *Picture)
	// Type is the type of the chart over time.
	Type *Type

	origin  int64
	started bool
	ends    map[string]int64 // of the last window, by label

	// What Data returned last, and what came since then, and since Update.
	width, recent  int64
	index          map[string]int
	layouts        []histogram.Layout // by series
	lines          int                // of a series
	since, pending page.Rows
	to             int64
	// stale is set if the page needs all data anew: there is a new series, or windows were merged.
	stale bool

	scratch histogram.Histogram
}

// Add adds an interval, measured with l.Collector, to the series with a label. LogStart, in
// milliseconds since the epoch, is time 0 of the page if the interval is the first.
func (l *Live) Add(label string, logStart int64, i *Interval) error {
	if !l.started {
		l.origin, l.started, l.ends = logStart, true, map[string]int64{}
	}
	if err := l.Collector.Add("", label, i); err != nil {
		return err
	}
	w := i.window
	last, known := l.ends[label]
	gap := !known || w.Start > last+w.length()/2
	l.ends[label] = max(last, w.End)
	n, known := l.index[label]
	if l.stale || !known || l.Collector.width != l.width || l.Collector.recent != l.recent {
		l.stale = true
		return nil
	}
	w.Start, w.Begin, w.End, w.counts = w.Start-l.origin, w.Begin-l.origin, w.End-l.origin, &i.rough
	l.to = max(l.to, w.End)
	layout := w.counts.Layout()
	h := w.histogram(&l.scratch)
	for _, rows := range []*page.Rows{&l.since, &l.pending} {
		if layout != l.layouts[n] {
			addLayout(rows, n, layout, l.Collector.series[label].unit(layout))
		}
		w.addTo(rows, n, h)
		for measure, v := range i.values[len(i.values)-l.lines:] {
			switch {
			case math.IsNaN(v):
			case measure == l.lines-1 && v == w.Max:
				rows.Top(gap)
			default:
				rows.Point(n, measure, w.Start, w.length(), v, gap)
			}
		}
	}
	l.layouts[n] = layout
	return nil
}

// Stale reports whether the page needs all data anew, with Data, before Update.
func (l *Live) Stale() bool { return l.stale }

// Data returns all data of the page.
func (l *Live) Data() (*page.Data, error) {
	c := &l.Collector
	p, err := c.Picture(l.Type, l.origin, slices.Sorted(slices.Values(c.order)))
	if err != nil {
		return nil, err
	}
	l.Dress(p)
	recent := c.recent
	if recent > math.MinInt64 {
		recent -= l.origin
	}
	d := p.pageOf(&page.Rows{Quick: true}, p.Windows, c.width, pageColumns, recent)
	d.Live, d.Heat = true, l.Type.Chart.Marks == page.Cells || len(d.Series) <= mostLines
	if recent > d.From && c.width > c.Step {
		d.Recent = &page.Recent{From: recent, Window: c.Step}
	}
	l.lines = len(d.Measures)
	l.index, l.layouts = map[string]int{}, make([]histogram.Layout, len(d.Series))
	for n, s := range d.Series {
		l.index[s.Label] = n
	}
	l.width, l.recent, l.stale, l.to = c.width, c.recent, false, d.To
	l.since, l.pending = page.Rows{Quick: true}, page.Rows{}
	return d, nil
}

// Update returns what was added since Data or Update was called last. It is false if that is
// nothing.
func (l *Live) Update() (u *page.Update, some bool) {
	rows := l.pending
	l.pending = page.Rows{}
	return l.update(&rows), !rows.Empty()
}

// Since returns what was added since Data was called last.
func (l *Live) Since() *page.Update { return l.update(&l.since) }

func (l *Live) update(rows *page.Rows) *page.Update {
	return &page.Update{To: l.to, Rows: rows, Marks: []page.Mark{}, Inputs: []page.Input{}}
}

// Origin returns time 0 of the page, in milliseconds since the epoch. It is false before the first
// interval.
func (l *Live) Origin() (origin int64, started bool) { return l.origin, l.started }
