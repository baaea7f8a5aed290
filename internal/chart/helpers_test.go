package chart

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
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// collect returns the picture of intervals made by step, which returns an interval's series and its
// values.
func collect(t testing.TB, kind *Type, c *Collector, intervals int, step func(i int) (label string, start, length float64, values []int64)) *Picture {
	t.Helper()
	if c.Ratio == 0 {
		c.Ratio = 1
	}
	sums := map[string]*histogram.Histogram{}
	var known []Series // in the order of the log
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	h := histogramOf(t, 3, nil)
	for i := range intervals {
		label, start, length, values := step(i)
		h.Reset(h.Layout())
		for _, v := range values {
			if err := h.Record(v, 1); err != nil {
				t.Fatal(err)
			}
		}
		w.Interval(tagOf(label), start, length, h)
		if sums[label] == nil {
			known = append(known, Series{Label: label})
			sums[label] = histogramOf(t, 3, nil)
		}
		if err := sums[label].Add(h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	if err := gather(c, log.Bytes()); err != nil {
		t.Fatal(err)
	}
	p, err := c.Picture(New(kind), 0, known)
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Series {
		p.Series[n].Curve = CurveOf(sums[p.Series[n].Label], c.Ratio)
	}
	return p
}

// tagOf returns a label as a tag: the series without a name has none.
func tagOf(label string) []byte {
	if label == "" {
		return nil
	}
	return fmt.Appendf(nil, "label-%x", label) // tags have no spaces
}

// gather lets c gather logs, whose tags are labels.
func gather(c *Collector, logs ...[]byte) error {
	s := &scan.Scan{Workers: 2, Report: func(err *hdrlog.SyntaxError, malformed bool) error { return nil }}
	for n, log := range logs {
		s.Inputs = append(s.Inputs, scan.Input{Name: fmt.Sprint("log", n), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil }})
	}
	var interval Interval
	return flow.Run(s, c.Plan(func(r *flow.Result) error {
		c.Measure(r, &interval)
		label := string(r.Row)
		if code, ok := strings.CutPrefix(label, "label-"); ok {
			text, err := hex.DecodeString(code)
			if err != nil {
				return err
			}
			label = string(text)
		}
		return c.Add("", label, &interval)
	}))
}

// measure takes from an interval what c needs, which has no windows. Start and length are in
// seconds.
func measure(c *Collector, start, length float64, h *histogram.Histogram, into *Interval) {
	i := &hdrlog.Interval{Start: start, Length: length}
	plan := c.Plan(nil)
	r := &flow.Result{First: start, Stats: output.FiguresOf(h, append(plan.Figures, output.Figure{Name: output.Mean}), output.Stats{}), Visit: scan.Visit{Interval: i}}
	if err := r.Coarse.AddCoarse(i.StartMillis(), i.EndMillis(), h, 2); err != nil {
		panic(err)
	}
	c.Measure(r, into)
}

func histogramOf(t testing.TB, digits int, values []int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: digits, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := h.Record(v, 1); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func timeline(percentiles ...float64) *Collector {
	c := &Collector{}
	for _, p := range percentiles {
		c.Measures = append(c.Measures, AtPercentile(p))
	}
	return c
}

// latencies returns n values around scale, the same for the same seed.
func latencies(seed int64, n int, scale float64) (values []int64) {
	r := rand.New(rand.NewSource(seed))
	for range n {
		values = append(values, int64(scale*math.Exp(r.NormFloat64())))
	}
	return values
}
