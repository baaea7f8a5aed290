package histogram_test

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// TestBins compares with the reference. A row of steps.tsv has what is done, digits, lowest value,
// recorded values, width or first bin or expected interval, base, and the number of steps and a
// hash of their values and counts.
func TestBins(t *testing.T) {
	rows := 0
	readLines(t, "testdata/steps.tsv", func(fields []string) {
		layout := histogram.Layout{Digits: int(integer(t, fields[1])), Lowest: integer(t, fields[2])}
		h, recorder := new(histogram.Histogram), newRecorder(t, layout)
		if err := h.Reset(layout); err != nil {
			t.Fatal(err)
		}
		param, base := integer(t, fields[4]), float(t, fields[5])
		for value := range strings.SplitSeq(fields[3], ",") {
			if value == "" {
				continue
			}
			record(t, h, integer(t, value), 1)
			if err := recorder.RecordWithExpectedInterval(integer(t, value), param); err != nil {
				t.Fatal(err)
			}
		}
		var bins iter.Seq[histogram.Bucket]
		switch fields[0] {
		case "linear":
			bins = h.Linear(param)
		case "logarithmic":
			bins = h.Logarithmic(param, base)
		case "expected":
			if err := recorder.Take(h); err != nil {
				t.Fatal(err)
			}
			bins = h.Recorded()
		}
		steps, hash := 0, uint64(fnvStart)
		for bin := range bins {
			steps++
			hash = fnv(fnv(hash, uint64(bin.High)), uint64(bin.Count))
		}
		want, err := strconv.ParseUint(fields[7], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if hash != want || steps != int(integer(t, fields[6])) {
			t.Errorf("%q: %d steps, hash %x", fields, steps, hash)
		}
		rows++
	})
	if rows < 300 {
		t.Errorf("%d rows only", rows)
	}
}

// TestBinsEnd checks that iterations end and count everything, whatever the parameters are.
func TestBinsEnd(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 5, 2)
	record(t, h, math.MaxInt64, 3)
	for name, bins := range map[string]iter.Seq[histogram.Bucket]{
		"linear": h.Linear(1 << 60), "widest": h.Linear(math.MaxInt64), "logarithmic": h.Logarithmic(1, 2),
		"no base": h.Logarithmic(-1, math.NaN()), "one bin": h.Logarithmic(math.MaxInt64, 1e300),
	} {
		all := slices.Collect(bins)
		count, low := int64(0), int64(0)
		for _, bin := range all {
			if bin.Low != low || bin.High < bin.Low {
				t.Errorf("%s: bin %v does not begin at %d", name, bin, low)
			}
			count, low = count+bin.Count, bin.High+1
		}
		if count != 5 || len(all) > 70 {
			t.Errorf("%s: %d values in %d bins", name, count, len(all))
		}
		for range bins { // again, and only the first one
			break
		}
	}
	for bin := range newHistogram(t, 3, 1).Linear(10) {
		t.Errorf("an empty histogram has a bin %v", bin)
	}
}

// TestRecordWithExpectedInterval checks limits; TestBins has the counts.
func TestRecordWithExpectedInterval(t *testing.T) {
	r := newRecorder(t, histogram.Layout{Digits: 3, Lowest: 1})
	for _, test := range []struct{ value, expected, total int64 }{
		{100, 10, 10}, {100, 0, 1}, {100, -1, 1}, {100, 100, 1}, {199, 100, 1}, {200, 100, 2}, {0, 1, 1}, {-1, 1, -1},
		{math.MaxInt64, 1, -1}, {1 << 40, 1 << 12, 1 << 28},
	} {
		var h histogram.Histogram
		err := r.RecordWithExpectedInterval(test.value, test.expected)
		if takeErr := r.Take(&h); takeErr != nil {
			t.Fatal(takeErr)
		}
		if test.total < 0 && (err == nil || h.TotalCount() != 0) || test.total >= 0 && (err != nil || h.TotalCount() != test.total) {
			t.Errorf("%d every %d: %d values, %v", test.value, test.expected, h.TotalCount(), err)
		}
	}
}
