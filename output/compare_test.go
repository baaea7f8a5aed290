package output

import (
	"bytes"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// TestLowRates proves that a throughput of a few values an hour is not rounded before it is
// compared.
func TestLowRates(t *testing.T) {
	summary := func(values int64) *Summary {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(7, values)
		return &Summary{Histogram: h, Period: 1_500_000}
	}
	pairs := []Pair{{Before: summary(10), After: summary(3)}, {Before: summary(2_000_000), After: summary(1_000_000)}}
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
