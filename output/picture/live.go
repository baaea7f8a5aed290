package picture

import (
	"slices"

	"hdrkit/output/picture/page"
)

// Live gathers windows for a page that is shown while logs are written. It is not safe for
// concurrent use.
type Live struct {
	// Collector gathers. Its fields are set before the first window, and Aggregate and Moving are
	// 0.
	Collector Collector
	// Dress gives a picture its looks.
	Dress func(p *Picture)
	// Type is the type of the chart over time.
	Type Type

	origin  int64
	started bool
	width   int64 // of the windows, when the page's data were made
	index   map[string]int
	pending *page.Rows
	to      int64
	// stale is set if the page needs all data anew: there is a new series, or windows were merged.
	stale bool
}

// Add adds an interval, measured with l.Collector, to the series with a label.
func (l *Live) Add(label string, i *Interval) error {
	if !l.started {
		l.origin, l.started = i.window.Start, true
	}
	if err := l.Collector.Add("", label, i); err != nil {
		return err
	}
	n, known := l.index[label]
	if !known || l.Collector.width != l.width {
		l.stale = true
		return nil
	}
	w := i.window
	w.Start, w.Begin, w.End, w.counts = w.Start-l.origin, w.Begin-l.origin, w.End-l.origin, i.rough
	one := WindowSeries{Unit: l.unit(i), Windows: []Window{w}}
	one.addTo(l.pending, n)
	for measure, v := range i.values {
		if v == v { // not NaN
			l.pending.Point(n, measure, w.Start, w.length(), v, false)
		}
	}
	l.to = max(l.to, w.End)
	return nil
}

func (l *Live) unit(i *Interval) float64 {
	unit := 1 / l.Collector.Ratio
	if ratio := i.rough.Layout().Ratio; ratio != 0 {
		unit *= ratio
	}
	return unit
}

// Stale reports whether the page needs all data anew, with Data, before Update.
func (l *Live) Stale() bool { return l.stale }

// Origin returns time 0 of the page, in milliseconds since the epoch.
func (l *Live) Origin() int64 { return l.origin }

// Data returns all data of the page.
func (l *Live) Data() (*page.Data, error) {
	labels := slices.Sorted(slices.Values(l.Collector.order))
	p, err := l.Collector.Picture(l.Type, l.origin, labels)
	if err != nil {
		return nil, err
	}
	l.Dress(p)
	d, err := p.Page()
	if err != nil {
		return nil, err
	}
	d.Live = true
	l.index = map[string]int{}
	for n, s := range d.Series {
		l.index[s.Label] = n
	}
	l.width, l.stale, l.pending, l.to = l.Collector.width, false, &page.Rows{}, d.To
	return d, nil
}

// Update returns what was added since Data or Update was called last. It is false if that is
// nothing.
func (l *Live) Update() (u *page.Update, some bool) {
	if l.pending == nil {
		l.pending = &page.Rows{}
	}
	u = &page.Update{To: l.to, Rows: l.pending, Marks: []page.Mark{}, Inputs: []string{}}
	some = !l.pending.Empty()
	l.pending = &page.Rows{}
	return u, some
}
