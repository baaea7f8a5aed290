package sinks

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
)

// Metrics are what Prometheus scrapes. With a state, scrapes show only what the state has: a
// counter never falls.
type Metrics struct {
	options   *Options
	collector *prom.Collector
	keeps     bool
	most      time.Duration // that the end waits for a scrape
	name      string        // of the histogram, empty before the first window
	waiting   []waitingSum
	scratch   histogram.Histogram
}

// A metricState is what a state has of metrics.
type metricState struct {
	Name    string
	Totals  []prom.Total
	Waiting []waitingSum
}

// A waitingSum is what a tag has in a window, or what came late.
type waitingSum struct {
	Total prom.Total // without values
	End   int64
	Late  bool
}

// NewMetrics returns metrics that go on where those were that saved own. Keeps says that there is a
// state. At the end they wait for a scrape, at most for a time.
func NewMetrics(o *Options, keeps bool, own []byte, most time.Duration) (*Metrics, error) {
	// The first window gives the name: no log is read yet that may state its unit.
	m := &Metrics{options: o, collector: prom.NewCollector(o.promOptions(metricPlain)), keeps: keeps, most: most}
	var s metricState
	if err := decode(own, &s); err != nil || s.Name == "" {
		return m, err
	}
	m.setName(s.Name)
	// The comments with the unit of these tags are not read yet.
	for _, w := range s.Waiting {
		if !slices.ContainsFunc(s.Totals, func(t prom.Total) bool { return t.Tagged == w.Total.Tagged && bytes.Equal(t.Tag, w.Total.Tag) }) {
			s.Totals = append(s.Totals, prom.Total{Tag: w.Total.Tag, Tagged: w.Total.Tagged, Ratio: w.Total.Ratio})
		}
	}
	if err := m.collector.Load(s.Totals); err != nil {
		return nil, err
	}
	return m, m.show(s.Waiting)
}

func (m *Metrics) setName(name string) {
	m.name = name
	m.collector.SetMetric(name)
}

// Watch lets scrapes ask how far the inputs are, and how the senders do.
func (m *Metrics) Watch(inputs func() []live.Progress, senders ...prom.Sender) {
	m.collector.Watch(inputs, senders...)
}

// Handler answers scrapes, and questions about health.
func (m *Metrics) Handler() http.Handler { return m.collector.Handler() }

// Window shows a window, or keeps it until a state has it.
func (m *Metrics) Window(w *live.Window) error {
	if m.name == "" {
		name, _, err := m.options.metric()
		if err != nil {
			return err
		}
		m.setName(name)
	}
	if m.keeps {
		sum, err := w.AppendBinary(nil)
		total := prom.Total{Tag: bytes.Clone(w.Tag), Tagged: w.Tag != nil, All: sum, Ratio: m.options.ratio(w.Tag)}
		m.waiting = append(m.waiting, waitingSum{total, w.Window.End, w.Late})
		return err
	}
	h, err := w.Counts()
	if err != nil {
		return err
	}
	return m.add(w.Tag, w.Window.End, w.Late, h)
}

func (m *Metrics) add(tag []byte, end int64, late bool, h *histogram.Histogram) error {
	if late {
		return m.collector.Late(tag, h)
	}
	return m.collector.Window(tag, end, h)
}

// show shows what has waited.
func (m *Metrics) show(all []waitingSum) error {
	for n := range all {
		var sum merge.Sum
		if err := sum.UnmarshalBinary(all[n].Total.All); err != nil {
			return err
		}
		h, err := sum.Histogram(&m.scratch)
		if err == nil {
			err = m.add(all[n].Total.Name(), all[n].End, all[n].Late, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Flush does nothing.
func (m *Metrics) Flush() error { return nil }

// Save returns the totals, and what waits to be shown.
func (m *Metrics) Save() (own []byte, saved func() error, err error) {
	s := metricState{Name: m.name, Waiting: m.waiting}
	if s.Totals, err = m.collector.Save(); err != nil {
		return nil, nil, err
	}
	n := len(m.waiting)
	own, err = json.Marshal(&s)
	return own, func() error {
		shown := m.waiting[:n]
		m.waiting = m.waiting[n:]
		return m.show(shown)
	}, err
}

// End waits for a last scrape.
func (m *Metrics) End() error {
	m.collector.LastScrape(m.most)
	return nil
}
