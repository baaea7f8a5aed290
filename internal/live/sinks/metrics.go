package sinks

import (
	"bytes"
	"cmp"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/metric"
)

// Metrics are what Prometheus scrapes. With a state, scrapes show only what the state has: a
// counter never falls.
type Metrics struct {
	*prom.Collector
	options *Options
	keeps   bool
	most    time.Duration // that the end waits for a scrape
	metric  prom.Options
	started bool // a window has come, so metric is known
	waiting []waitingSum
	scratch histogram.Histogram
}

// A metricState is what a state has of metrics.
type metricState struct {
	Name   string
	Totals []prom.Total
}

// A waitingSum is what a tag has in a window, or what came late.
type waitingSum struct {
	prom.Total
	factor float64
	end    int64
	late   bool
}

// NewMetrics returns metrics that go on where those were that saved state. Keeps says that there is
// a state. At the end they wait for a scrape, at most for a time.
func NewMetrics(o *Options, keeps bool, state []byte, most time.Duration) (*Metrics, error) {
	m := &Metrics{options: o, keeps: keeps, most: most}
	var s metricState
	if err := decode(state, &s); err != nil {
		return nil, err
	}
	m.metric = prom.Options{Metric: s.Name, Percentiles: o.Percentiles, Memory: o.Memory}
	m.Collector = prom.NewCollector(m.metric)
	return m, m.Load(s.Totals)
}

// Window shows a window, or keeps it until a state has it. The first one gives the name and the
// scale: before it no log is read that may state its unit.
func (m *Metrics) Window(w *live.Window) error {
	if !m.started {
		metric, err := m.options.metrics(metric.OpenMetrics)
		if err != nil {
			return err
		}
		metric.Metric = cmp.Or(m.metric.Metric, metric.Metric)
		m.metric, m.started = metric, true
		m.SetMetric(metric.Metric, metric.Scale)
	}
	h, err := w.Counts()
	if err != nil {
		return err
	}
	if !m.keeps {
		return m.Collector.Window(w.Tag, w.Factor, w.Window.End, w.Late, h)
	}
	sum, err := w.AppendBinary(nil)
	total := prom.Total{
		Tag:    bytes.Clone(w.Tag),
		All:    sum,
		Values: h.Mean() * float64(h.TotalCount()),
		Ratio:  m.metric.Scale.By(w.Factor).Ratio,
	}
	m.waiting = append(m.waiting, waitingSum{total, w.Factor, w.Window.End, w.Late})
	return err
}

// Flush does nothing.
func (m *Metrics) Flush() error { return nil }

// Save returns the totals, and what waits to be shown.
func (m *Metrics) Save() (state any, saved func() error, err error) {
	s := metricState{Name: m.metric.Metric}
	s.Totals, err = m.Collector.Save()
	waiting := m.waiting
	m.waiting = nil
	for n := range waiting {
		s.Totals = append(s.Totals, waiting[n].Total)
	}
	return s, func() error { return m.show(waiting) }, err
}

// show shows what has waited.
func (m *Metrics) show(all []waitingSum) error {
	for _, w := range all {
		var sum merge.Sum
		err := sum.UnmarshalBinary(w.All)
		if err != nil {
			return err
		}
		h, err := sum.Histogram(&m.scratch)
		if err == nil {
			err = m.Collector.Window(w.Tag, w.factor, w.end, w.late, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// End waits for a last scrape.
func (m *Metrics) End() error {
	m.LastScrape(m.options.ScrapeTime, m.most)
	return nil
}
