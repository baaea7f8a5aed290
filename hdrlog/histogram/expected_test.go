package histogram_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// TestExpectedInterval compares with the reference. A row of expected.tsv has digits, lowest value,
// recorded values, expected interval, and the number of slots with a count and a hash of their
// values and counts.
func TestExpectedInterval(t *testing.T) {
	rows := 0
	readLines(t, "testdata/expected.tsv", func(fields []string) {
		recorder := newRecorder(t, histogram.Layout{Digits: int(integer(t, fields[0])), Lowest: integer(t, fields[1])})
		for value := range strings.SplitSeq(fields[2], ",") {
			if value == "" {
				continue
			}
			if err := recorder.RecordWithExpectedInterval(integer(t, value), integer(t, fields[3])); err != nil {
				t.Fatal(err)
			}
		}
		h := new(histogram.Histogram)
		if err := recorder.Take(h); err != nil {
			t.Fatal(err)
		}
		slots, hash := 0, uint64(fnvStart)
		for slot := range h.Recorded() {
			slots++
			hash = fnv(fnv(hash, uint64(slot.High)), uint64(slot.Count))
		}
		want, err := strconv.ParseUint(fields[5], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if hash != want || slots != int(integer(t, fields[4])) {
			t.Errorf("%q: %d slots, hash %x", fields, slots, hash)
		}
		rows++
	})
	if rows < 120 {
		t.Errorf("%d rows only", rows)
	}
}

// TestRecordWithExpectedInterval checks limits; TestExpectedInterval has the counts.
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
