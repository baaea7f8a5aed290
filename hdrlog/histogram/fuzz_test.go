package histogram_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// FuzzHistogram records the values in data, nine bytes each, and compares all answers with those of
// a sorted list of the values.
func FuzzHistogram(f *testing.F) {
	f.Add(uint8(3), int64(1), 50.0, uint8(5), []byte("012345678abcdefghi"))
	f.Add(uint8(0), int64(3), 99.99, uint8(1), []byte{0, 0, 0, 0, 0, 0, 0, 9, 200, 0, 0, 0, 0, 0, 0, 0, 8, 1})
	f.Add(uint8(5), int64(1<<40), 0.0, uint8(100), []byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0, 0, 0, 0, 0, 0, 3})
	f.Fuzz(func(t *testing.T, digits uint8, lowest int64, percentile float64, ticks uint8, data []byte) {
		layout := histogram.Layout{Digits: int(digits % 6), Lowest: lowest}
		h, err := histogram.New(layout)
		if err != nil {
			return
		}
		var values []int64
		for ; len(data) >= 9 && len(values) < 1000; data = data[9:] {
			value := int64(binary.BigEndian.Uint64(data) >> 1 >> (data[8] >> 3 & 31))
			if layout.Digits > 3 {
				value &= 1<<40 - 1 // counts up to the largest int64 take 50 MB
			}
			n := int(data[8]&7) + 1
			record(t, h, value, int64(n))
			values = append(values, slices.Repeat([]int64{value}, n)...)
		}
		slices.Sort(values)
		slot := func(value int64) (low, high int64) {
			index := layout.IndexOf(value)
			return layout.LowestAt(index), layout.HighestAt(index)
		}

		// The value at a percentile is the highest value of the slot of the value with that
		// rank. Roundoff may move the rank by one.
		if len(values) > 0 && !math.IsNaN(percentile) {
			exact := min(max(percentile, 0), 100) / 100 * float64(len(values))
			first := max(int(math.Ceil(exact-1e-9*(exact+1))), 1)
			last := min(max(int(math.Ceil(exact+1e-9*(exact+1))), 1), len(values))
			got := h.ValueAtPercentile(percentile)
			ok := false
			for rank := first; rank <= last; rank++ {
				low, high := slot(values[rank-1])
				ok = ok || got == high || percentile == 0 && got == low
			}
			if !ok {
				t.Errorf("%v%% of %v is %d", percentile, values, got)
			}
			low, high := values[0], values[len(values)/2]
			lowest, _ := slot(low)
			_, highest := slot(high)
			want := int64(0)
			for _, value := range values {
				if lowest <= value && value <= highest {
					want++
				}
			}
			if got := h.CountBetween(low, high); got != want {
				t.Errorf("%d of %v lie between %d and %d, want %d", got, values, low, high, want)
			}
		}

		// The recorded slots hold all values in order.
		rest := values
		var sum float64
		for bucket := range h.Recorded() {
			for range bucket.Count {
				if len(rest) == 0 || rest[0] < bucket.Low || rest[0] > bucket.High {
					t.Fatalf("%+v is not of %v", bucket, values)
				}
				rest = rest[1:]
			}
			sum += (float64(bucket.Low) + float64(bucket.High-bucket.Low+1)/2) * float64(bucket.Count)
		}
		if len(rest) > 0 || h.TotalCount() != int64(len(values)) {
			t.Fatalf("%v are not recorded, total count %d", rest, h.TotalCount())
		}
		if len(values) == 0 {
			return
		}
		if want := sum / float64(len(values)); math.Abs(h.Mean()-want) > 1+want*1e-12 {
			t.Errorf("mean %v, want %v", h.Mean(), want)
		}

		checkSteps(t, h, values, int(ticks), slot)
	})
}

// checkSteps checks that the percentile iteration ascends, is right at each step, and ends at 100%.
func checkSteps(t *testing.T, h *histogram.Histogram, values []int64, ticks int, slot func(int64) (int64, int64)) {
	last := histogram.Step{Percentile: -1}
	most := (max(ticks, 1) + 1) * 64
	for step := range h.Percentiles(ticks) {
		if most--; most < 0 {
			t.Fatalf("no end after %+v", last)
		}
		if step.Percentile <= last.Percentile || step.Value < last.Value || step.TotalCount < last.TotalCount {
			t.Fatalf("%+v follows %+v", step, last)
		}
		count := 0
		for count < len(values) && values[count] <= step.Value {
			count++
		}
		if int64(count) != step.TotalCount {
			t.Fatalf("%+v, but %d of %v lie at or below", step, count, values)
		}
		// At the beginning of the slot, the level is not reached yet.
		_, high := slot(values[count-1])
		before := count
		for before > 0 {
			if _, h := slot(values[before-1]); h != high {
				break
			}
			before--
		}
		if level := 100 * float64(before) / float64(len(values)); level >= step.Percentile && before > 0 || high != step.Value {
			t.Fatalf("%+v, but %v%% lie below its slot", step, level)
		}
		last = step
	}
	if last.Percentile != 100 || last.TotalCount != h.TotalCount() || last.Value != h.Max() {
		t.Fatalf("the last step is %+v", last)
	}
}

// FuzzCorrect compares counting missing values slot by slot with counting them one by one. Data
// holds values: three bytes, and one byte for the count.
func FuzzCorrect(f *testing.F) {
	f.Add(uint8(3), int64(1), int64(3), []byte("0123abcdABCD"))
	f.Add(uint8(0), int64(1), int64(1), []byte{1, 0, 0, 255, 0, 0, 2, 1, 0, 0, 1, 7})
	f.Add(uint8(5), int64(1<<20), int64(1000), []byte{200, 1, 2, 3, 0, 1, 2, 3, 0, 0, 3, 232})
	f.Add(uint8(2), int64(700), int64(77777), []byte{255, 255, 255, 255})
	f.Add(uint8(3), int64(1), int64(1000), []byte{0, 0, 9, 1})
	f.Fuzz(func(t *testing.T, digits uint8, lowest, step int64, data []byte) {
		layout := histogram.Layout{Digits: int(digits % 6), Lowest: lowest}
		h, err := histogram.New(layout)
		if err != nil || lowest > 1<<24 || step < 1 || step > 1<<53 {
			return
		}
		for ; len(data) >= 4; data = data[4:] {
			record(t, h, int64(binary.BigEndian.Uint32(data)>>8), int64(data[3])<<(data[3]%40))
		}
		if h.TotalCount() == 0 {
			return
		}
		want := h.Clone()
		for bucket := range h.Recorded() {
			if bucket.High/step > 1<<20 {
				return
			}
			for missing := bucket.High - step; missing >= step && err == nil; missing -= step {
				err = want.RecordN(missing, bucket.Count)
			}
		}
		var got, either histogram.Histogram
		gotErr, eitherErr := h.CorrectSlots(&got, step), h.CorrectInto(&either, float64(step))
		if !errors.Is(gotErr, err) || !errors.Is(eitherErr, err) {
			t.Fatalf("%v, %v, want %v", gotErr, eitherErr, err)
		}
		if err != nil {
			return
		}
		equal(t, &got, want)
		equal(t, &either, want)
	})
}
