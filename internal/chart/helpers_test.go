package chart

import (
	"encoding/base64"
	"math"
	"math/rand"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// collect returns the picture of intervals made by step, which returns an interval's series and its
// values.
func collect(t testing.TB, kind *Type, c *Collector, intervals int, step func(i int) (label string, start, length float64, values []int64)) *Picture {
	t.Helper()
	if c.Ratio == 0 {
		c.Ratio = 1
	}
	sums := map[string]*histogram.Histogram{}
	var interval Interval
	h := histogramOf(t, 3, nil)
	for i := range intervals {
		label, start, length, values := step(i)
		h.Reset(h.Layout())
		for _, v := range values {
			if err := h.Record(v, 1); err != nil {
				t.Fatal(err)
			}
		}
		measure(c, start, length, h, &interval)
		if err := c.Add("", label, &interval); err != nil {
			t.Fatal(err)
		}
		if sums[label] == nil {
			sums[label] = histogramOf(t, 3, nil)
		}
		if err := sums[label].Add(h); err != nil {
			t.Fatal(err)
		}
	}
	p, err := c.Picture(New(kind), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Series {
		p.Series[n].Curve = CurveOf(sums[p.Series[n].Label], c.Ratio)
	}
	return p
}

// measure takes from an interval what c needs. Start and length are in seconds.
func measure(c *Collector, start, length float64, h *histogram.Histogram, into *Interval) {
	plain, err := h.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	i := &hdrlog.Interval{Start: start, Length: length, Payload: base64.StdEncoding.AppendEncode(nil, plain)}
	if !c.InSteps() {
		c.Measure(i, h, into)
	} else if err := new(Parts).Sum(c, true, nil, i, into).Add(i); err != nil {
		panic(err)
	}
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
