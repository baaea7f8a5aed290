package sinks

import (
	"time"

	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/metric"
)

// Metrics are the metrics that Prometheus scrapes.
type Metrics struct {
	*prom.Collector
	options *Options
	most    time.Duration // longest wait for a last scrape
	started bool          // a window has come, so the name and the scale are known
}

// NewMetrics returns metrics. At the end they wait for a scrape, at most for the time most.
func NewMetrics(o *Options, most time.Duration) *Metrics {
	return &Metrics{
		Collector: prom.NewCollector(prom.Options{Percentiles: o.Percentiles, Memory: o.Memory}),
		options:   o,
		most:      most,
	}
}

// Window adds a row to the metrics. The first row decides the name and the scale: before it, no log
// that may state its unit was read.
func (m *Metrics) Window(w *live.Window) error {
	if !m.started {
		o, err := m.options.metrics(metric.OpenMetrics)
		if err != nil {
			return err
		}
		m.started = true
		m.SetMetric(o.Metric, o.Scale)
	}
	h, err := w.Counts()
	if err != nil {
		return err
	}
	return m.Collector.Window(w.Merged.Tag, w.Factor, w.Merged.Window.End, w.Late, h)
}

// Flush returns nil: scrapes read the metrics in memory.
func (m *Metrics) Flush() error { return nil }

// End waits for a last scrape.
func (m *Metrics) End() error {
	m.LastScrape(m.options.ScrapeTime, m.most)
	return nil
}
