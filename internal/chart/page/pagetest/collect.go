package pagetest

import (
	"encoding/base64"
	"math"
	"math/rand"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
)

// Collect returns the picture of intervals made by step, which returns an interval's series and its
// values.
func Collect(t testing.TB, kind *chart.Type, c *chart.Collector, intervals int, step func(i int) (label string, start, length float64, values []int64)) *chart.Picture {
	t.Helper()
	if c.Ratio == 0 {
		c.Ratio = 1
	}
	sums := map[string]*histogram.Histogram{}
	var interval chart.Interval
	h := HistogramOf(t, 3, nil)
	for i := range intervals {
		label, start, length, values := step(i)
		h.Reset(h.Layout())
		for _, v := range values {
			if err := h.Record(v, 1); err != nil {
				t.Fatal(err)
			}
		}
		Measure(c, start, length, h, &interval)
		if err := c.Add("", label, &interval); err != nil {
			t.Fatal(err)
		}
		if sums[label] == nil {
			sums[label] = HistogramOf(t, 3, nil)
		}
		if err := sums[label].Add(h); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Picture(chart.New(kind), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Series {
		p.Series[n].Curve = chart.CurveOf(sums[p.Series[n].Label], c.Ratio)
	}
	return p
}

// Measure takes from an interval what c needs. Start and length are in seconds.
func Measure(c *chart.Collector, start, length float64, h *histogram.Histogram, into *chart.Interval) {
	plain, err := h.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	i := &hdrlog.Interval{Start: start, Length: length, Payload: base64.StdEncoding.AppendEncode(nil, plain)}
	if !c.InSteps() {
		c.Measure(i, h, into)
	} else if err := new(chart.Parts).Sum(c, true, nil, i, into).Add(i); err != nil {
		panic(err)
	}
}

// HistogramOf returns a histogram of values.
func HistogramOf(t testing.TB, digits int, values []int64) *histogram.Histogram {
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

// Timeline returns a collector of percentiles.
func Timeline(percentiles ...float64) *chart.Collector {
	c := &chart.Collector{}
	for _, p := range percentiles {
		c.Measures = append(c.Measures, chart.AtPercentile(p))
	}
	return c
}

// Latencies returns n values around scale, the same for the same seed.
func Latencies(seed int64, n int, scale float64) (values []int64) {
	r := rand.New(rand.NewSource(seed))
	for range n {
		values = append(values, int64(scale*math.Exp(r.NormFloat64())))
	}
	return values
}
