package report

import (
	"bytes"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// TestLowRates proves that a throughput of a few values an hour is not rounded before it is
// compared.
func TestLowRates(t *testing.T) {
	summary := func(values int64) *output.Summary {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(7, values)
		return &output.Summary{Histogram: h, Period: 1_500_000}
	}
	pairs := []sides.Pair{{Before: summary(10), After: summary(3)}, {Before: summary(2_000_000), After: summary(1_000_000)}}
	var table bytes.Buffer
	if err := (&Table{}).WriteChanges(&table, pairs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.006667", "0.002", "-70.0%"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in\n%s", want, &table)
		}
	}
}

// TestOnePass: the values of a row are of one pass through its counts. A pass for each of them took
// as long as reading a log of ten thousand tags.
func TestOnePass(t *testing.T) {
	of := func(value int64) *histogram.Histogram {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(value, 100)
		return h
	}
	s := &output.Summary{Histogram: of(7), Period: 1000}
	table := &Table{Percentiles: []float64{50, 99, 99.9}}
	for _, f := range table.figures() {
		if f.always {
			continue
		}
		if v := f.of(s); v != 7 {
			t.Errorf("%s is %v: it is not of the first pass", f, v)
		}
		s.Histogram = of(8) // nobody looks again
	}
}
