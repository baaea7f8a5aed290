package pagetest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/rand"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// A Step returns the interval with the number i: its label, its start and length in seconds, and
// its values.
type Step func(i int) (label string, start, length float64, values []int64)

// Collect writes a log of intervals that step returns, lets c collect it, and returns the picture.
func Collect(t testing.TB, kind *chart.Type, c *collect.Collector, intervals int, step Step) *chart.Picture {
	t.Helper()
	if c.Options.Ratio == 0 {
		c.Options.Ratio = 1
	}
	sums := map[string]*histogram.Histogram{}
	var known []chart.Series // in the order of the log
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	h := HistogramOf(t, 3, nil)
	for i := range intervals {
		label, start, length, values := step(i)
		h.Reset(h.Layout())
		for _, v := range values {
			if err := h.Record(v); err != nil {
				t.Fatal(err)
			}
		}
		w.Interval(tagOf(label), start, length, h)
		if sums[label] == nil {
			known = append(known, chart.Series{Label: label})
			sums[label] = HistogramOf(t, 3, nil)
		}
		if err := sums[label].Add(h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	if err := Gather(c, log.Bytes()); err != nil {
		t.Fatal(err)
	}
	p, err := c.Picture(chart.New(kind), 0, known)
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Series {
		p.Series[n].Curve = chart.CurveOf(sums[p.Series[n].Label], c.Options.Ratio)
	}
	return p
}

// tagOf returns the tag of a series with a label. An empty label has no tag.
func tagOf(label string) []byte {
	if label == "" {
		return nil
	}
	return fmt.Appendf(nil, "label-%x", label) // tags have no spaces
}

// Gather lets c collect logs whose tags are those of [tagOf]. It has little memory, so batches are
// small.
func Gather(c *collect.Collector, logs ...[]byte) error {
	s := &scan.Scan{
		Workers: 2,
		Memory:  ledger.New(8 << 20),
		Report:  func(err *hdrlog.SyntaxError, malformed bool) error { return nil },
	}
	for n, log := range logs {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil }
		s.Inputs = append(s.Inputs, scan.Input{Name: fmt.Sprint("log", n), Open: open})
	}
	var interval collect.Interval
	p := c.Flow(s.Memory, func(r *flow.Result, w *flow.Window) error {
		c.Options.Measure(r, w, &interval)
		return c.Add("", labelOf(r.Row), &interval)
	}, func(w *flow.Window) error { return c.AddCounts(labelOf(w.Row), w) })
	return flow.Run(s, new(flow.Rows), p)
}

// labelOf returns the label from which tagOf made a tag. It returns other tags unchanged.
func labelOf(tag []byte) string {
	code, ok := strings.CutPrefix(string(tag), "label-")
	if label, err := hex.DecodeString(code); ok && err == nil {
		return string(label)
	}
	return string(tag)
}

// Measure fills in what c needs of an interval. C must not need windows. Start and length are in
// seconds.
func Measure(c *collect.Collector, start, length float64, h *histogram.Histogram, into *collect.Interval) {
	i := &hdrlog.Interval{Start: start, Length: length}
	var figures []output.Figure
	switch f := c.Flow(nil, nil, nil).(type) {
	case *flow.Intervals:
		figures = f.Figures
	case *flow.Wide:
		figures = f.Intervals.Figures
	}
	figures = append(figures, output.Figure{Name: output.Mean})
	r := &flow.Result{
		First: start,
		Stats: output.FiguresOf(h, figures, output.Stats{}),
		Visit: scan.Visit{Interval: i},
	}
	if err := r.Coarse.AddCoarse(i.StartMillis(), i.EndMillis(), h, 2); err != nil {
		panic(err)
	}
	c.Options.Measure(r, nil, into)
}

// HistogramOf returns a histogram of values.
func HistogramOf(t testing.TB, digits int, values []int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: digits, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// Timeline returns a collector that measures percentiles.
func Timeline(percentiles ...float64) *collect.Collector {
	c := &collect.Collector{}
	for _, p := range percentiles {
		c.Options.Measures = append(c.Options.Measures, chart.AtPercentile(p))
	}
	return c
}

// Latencies returns n random values around scale. The same seed gives the same values.
func Latencies(seed int64, n int, scale float64) (values []int64) {
	r := rand.New(rand.NewSource(seed))
	for range n {
		values = append(values, int64(scale*math.Exp(r.NormFloat64())))
	}
	return values
}
