package histogram_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
)

func newHistogram(t testing.TB, digits int, lowest int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: digits, Lowest: lowest})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func newDouble(t testing.TB, layout histogram.Layout) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(layout)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func record(t testing.TB, h *histogram.Histogram, value, n int64) {
	t.Helper()
	if err := h.RecordN(value, n); err != nil {
		t.Fatal(err)
	}
}

// equal checks that two histograms have the same layout and counts.
func equal(t testing.TB, got, want *histogram.Histogram) {
	t.Helper()
	if got.Layout() != want.Layout() || got.TotalCount() != want.TotalCount() {
		t.Fatalf("got %+v with %d values, want %+v with %d", got.Layout(), got.TotalCount(), want.Layout(), want.TotalCount())
	}
	var buckets []histogram.Bucket
	for bucket := range want.Recorded() {
		buckets = append(buckets, bucket)
	}
	for bucket := range got.Recorded() {
		if len(buckets) == 0 || bucket != buckets[0] {
			t.Fatalf("got %+v, want the rest to be %+v", bucket, buckets)
		}
		buckets = buckets[1:]
	}
	if len(buckets) > 0 {
		t.Fatalf("%+v are missing", buckets)
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		layout histogram.Layout
		want   string
	}{
		{histogram.Layout{Digits: 0, Lowest: 1}, ""},
		{histogram.Layout{Digits: 5, Lowest: 1}, ""},
		{histogram.Layout{Digits: 3}, ""},
		{histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.25}, ""},
		{histogram.Layout{Digits: 3, Lowest: 1, Ratio: math.SmallestNonzeroFloat64}, ""},
		{histogram.Layout{Digits: 0, Lowest: 1<<62 - 1}, ""},
		{histogram.Layout{Digits: 5, Lowest: 1<<45 - 1}, ""},
		{histogram.Layout{Digits: -1, Lowest: 1}, "impossible histogram layout: -1 significant digits, not 0 to 5"},
		{histogram.Layout{Digits: 6, Lowest: 1}, "impossible histogram layout: 6 significant digits, not 0 to 5"},
		{histogram.Layout{Digits: 3, Lowest: math.MinInt64}, "impossible histogram layout: lowest discernible value -9223372036854775808 is negative"},
		{histogram.Layout{Digits: 0, Lowest: 1 << 62}, "impossible histogram layout: lowest discernible value 4611686018427387904 leaves no room for 0 significant digits"},
		{histogram.Layout{Digits: 5, Lowest: 1 << 45}, "impossible histogram layout: lowest discernible value 35184372088832 leaves no room for 5 significant digits"},
		{histogram.Layout{Digits: 3, Lowest: 1, Ratio: -1}, "impossible histogram layout: conversion ratio -1"},
		{histogram.Layout{Digits: 3, Lowest: 1, Ratio: math.NaN()}, "impossible histogram layout: conversion ratio NaN"},
		{histogram.Layout{Digits: 3, Lowest: 1, Ratio: math.Inf(1)}, "impossible histogram layout: conversion ratio +Inf"},
	} {
		t.Run(fmt.Sprintf("%+v", test.layout), func(t *testing.T) {
			_, err := histogram.New(test.layout)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || err.Error() != test.want || !errors.Is(err, histogram.ErrLayout)):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// Slots follow one another without gaps. Every value up to the largest int64 is within the bounds
// of its slot.
func TestLayout(t *testing.T) {
	for digits := range histogram.MaxDigits + 1 {
		for _, lowest := range []int64{1, 2, 3, 1000, 1 << 20, 1<<43 + 5} {
			layout := histogram.Layout{Digits: digits, Lowest: lowest}
			slots := layout.SlotsFor(math.MaxInt64)
			if last := layout.IndexOf(math.MaxInt64); last != slots-1 || layout.HighestAt(last) != math.MaxInt64 {
				t.Errorf("%+v: %d slots, but the largest value is in slot %d up to %d", layout, slots, last, layout.HighestAt(last))
			}
			for index := 0; index < slots; index += max(1, slots/5000) {
				low, high := layout.LowestAt(index), layout.HighestAt(index)
				if index == 0 && low != 0 || index < slots-1 && layout.LowestAt(index+1) != high+1 {
					t.Errorf("%+v: slot %d is %d to %d, the next begins at %d", layout, index, low, high, layout.LowestAt(index+1))
				}
				if layout.IndexOf(low) != index || layout.IndexOf(high) != index {
					t.Errorf("%+v: values %d to %d are in slots %d to %d, not %d", layout, low, high, layout.IndexOf(low), layout.IndexOf(high), index)
				}
				if precision := math.Pow(10, float64(digits)); float64(low) >= precision*float64(lowest) && float64(high-low) > float64(low)/precision {
					t.Errorf("%+v: slot %d is %d to %d", layout, index, low, high)
				}
			}
		}
	}
}

func TestRecordErrors(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 7, math.MaxInt64-1)
	before := h.Clone()
	for _, test := range []struct {
		value, n int64
		want     error
		text     string
	}{
		{-1, 1, histogram.ErrRange, "value out of range: value -1, count 1"},
		{1, -1, histogram.ErrRange, "value out of range: value 1, count -1"},
		{1, 2, histogram.ErrOverflow, "total count exceeds the largest int64"},
	} {
		t.Run(fmt.Sprintf("Record(%d, %d)", test.value, test.n), func(t *testing.T) {
			err := h.RecordN(test.value, test.n)
			if !errors.Is(err, test.want) || err.Error() != test.text {
				t.Errorf("got %v, want %s", err, test.text)
			}
			equal(t, h, before)
		})
	}
	record(t, h, math.MaxInt64, 1)
	if h.TotalCount() != math.MaxInt64 || h.Max() != math.MaxInt64 {
		t.Errorf("%d values up to %d", h.TotalCount(), h.Max())
	}
}

func TestEmpty(t *testing.T) {
	h := newHistogram(t, 3, 1)
	if h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.StdDev() != 0 || h.ValueAtPercentile(50) != 0 || h.CountBetween(0, math.MaxInt64) != 0 {
		t.Errorf("an empty histogram has %d %d %v %v %d", h.Min(), h.Max(), h.Mean(), h.StdDev(), h.ValueAtPercentile(50))
	}
	for step := range h.Percentiles(5) {
		t.Errorf("step %+v", step)
	}
	for bucket := range h.Recorded() {
		t.Errorf("bucket %+v", bucket)
	}
}

// Ranks are computed in float64. Above 2^53 values, they can be higher than the number of values.
func TestRankAboveTotal(t *testing.T) {
	for _, total := range []int64{19941374919720239, 4935844010376980186, 580519617275943001, math.MaxInt64} {
		h := newHistogram(t, 3, 1)
		record(t, h, 5, total)
		for _, percentile := range []float64{100, 101, math.Inf(1)} {
			if got := h.ValueAtPercentile(percentile); got != 5 {
				t.Errorf("%v%% of %d values 5 is %d", percentile, total, got)
			}
		}
	}
}

func TestValueAtNaN(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 5, 10)
	record(t, h, 6, 10)
	if got := h.ValueAtPercentile(math.NaN()); got != 5 {
		t.Errorf("got %d, want 5 as of the reference", got)
	}
}

func TestCountBetween(t *testing.T) {
	h := newHistogram(t, 2, 1)
	record(t, h, 0, 1)
	record(t, h, 5, 2)
	record(t, h, 1000, 4) // slot 1000 to 1003
	for _, test := range []struct{ low, high, want int64 }{
		{0, 0, 1}, {0, 5, 3}, {1, 5, 2}, {5, 5, 2}, {6, 999, 0}, {1001, 1002, 4}, {0, math.MaxInt64, 7}, {1004, math.MaxInt64, 0},
		{math.MinInt64, 4, 1}, {-5, -1, 0}, {1002, 1001, 0}, {math.MaxInt64, math.MinInt64, 0},
	} {
		if got := h.CountBetween(test.low, test.high); got != test.want {
			t.Errorf("%d values between %d and %d, want %d", got, test.low, test.high, test.want)
		}
	}
}

// After an error, both histograms are unchanged.
func TestPercentileAtOrBelow(t *testing.T) {
	h := newHistogram(t, 3, 1)
	if got := h.PercentileAtOrBelow(5); got != 100 {
		t.Errorf("an empty histogram has %v%% of its values at or below 5, want 100", got)
	}
	record(t, h, 0, 1)
	record(t, h, 10, 6)
	record(t, h, 100_000, 1)
	for value, want := range map[int64]float64{
		-1: 0, 0: 12.5, 9: 12.5, 10: 87.5, 99_000: 87.5, 99_999: 100, 100_000: 100, math.MaxInt64: 100,
	} {
		if got := h.PercentileAtOrBelow(value); got != want {
			t.Errorf("%v%% of values are at or below %d, want %v", got, value, want)
		}
	}
}

func TestBinary(t *testing.T) {
	integers := newHistogram(t, 3, 1)
	record(t, integers, 1000, 3)
	record(t, integers, 123_456, 1)
	doubles := newDouble(t, histogram.Layout{Digits: 2, Ratio: 0.25})
	if err := doubles.RecordFloat(12.5); err != nil {
		t.Fatal(err)
	}
	var got histogram.Histogram
	for _, h := range []*histogram.Histogram{integers, doubles} {
		data, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := got.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		clear(data)
		equal(t, &got, h)
		if err := got.UnmarshalBinary(data); !errors.Is(err, histogram.ErrHeader) || got.TotalCount() != 0 {
			t.Errorf("zeros give %v and %d values, want %v and none", err, got.TotalCount(), histogram.ErrHeader)
		}
	}
	if err := got.UnmarshalBinary(nil); !errors.Is(err, histogram.ErrTruncated) {
		t.Errorf("no bytes give %v, want %v", err, histogram.ErrTruncated)
	}
}

// A sum of two layouts knows the minimum of its parts, and its payload does not.
func TestBinaryMinimum(t *testing.T) {
	sum := newHistogram(t, 3, 1)
	coarse := newHistogram(t, 1, 1)
	record(t, coarse, 1000, 1)
	if err := sum.Add(coarse); err != nil {
		t.Fatal(err)
	}
	data, err := sum.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var got histogram.Histogram
	if err := got.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if sum.Min() != 992 || got.Min() != 1023 || got.Max() != sum.Max() {
		t.Errorf("%d to %d became %d to %d", sum.Min(), sum.Max(), got.Min(), got.Max())
	}
}

func TestAddErrors(t *testing.T) {
	double := func(digits int, ratio float64, value int64) *histogram.Histogram {
		h := newDouble(t, histogram.Layout{Digits: digits, Lowest: 1, Ratio: ratio})
		record(t, h, value, 3)
		return h
	}
	plain := func(digits int, n int64) *histogram.Histogram {
		h := newHistogram(t, digits, 1)
		record(t, h, 1234567, n)
		return h
	}
	for _, test := range []struct {
		name     string
		h, other *histogram.Histogram
		want     error
		text     string
	}{
		{"kind", plain(3, 1), double(5, 1, 7), histogram.ErrKind, "integer and double histograms do not add up"},
		{"kind, the other way", double(3, 1, 7), plain(5, 1), histogram.ErrKind, "integer and double histograms do not add up"},
		{"overflow", plain(3, math.MaxInt64-1), plain(5, 2), histogram.ErrOverflow, "total count exceeds the largest int64"},
		{"the sum's values do not fit", double(3, 1, 1<<40), double(5, 0x1p-30, 7), histogram.ErrSpan, ""},
		{"the other's values do not fit", double(3, 0x1p-30, 7), double(5, 1, 1<<40), histogram.ErrSpan, "values lie too far apart for one double histogram: 1.099511627776e+12 beside multiples of 9.313225746154785e-10"},
		{"just does not fit", double(3, 1, 7), double(3, 2, 1<<62), histogram.ErrSpan, ""},
		{"ratios apart", double(3, math.SmallestNonzeroFloat64, 7), double(5, math.MaxFloat64, 1), histogram.ErrSpan, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, other := test.h.Clone(), test.other.Clone()
			err := test.h.Add(test.other)
			if !errors.Is(err, test.want) || test.text != "" && err.Error() != test.text {
				t.Errorf("got %v, want %v %s", err, test.want, test.text)
			}
			equal(t, test.h, before)
			equal(t, test.other, other)
		})
	}
}

// TestAddMixed checks that no percentile of a sum of histograms of any precision is below the
// recorded values, and its maximum not below that of any part.
func TestAddMixed(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range logtest.Rounds(300) {
		var sum histogram.Histogram
		var values []int64
		highest := int64(0)
		for range 1 + random.IntN(4) {
			part := newHistogram(t, random.IntN(6), 1<<random.IntN(12))
			for range 1 + random.IntN(20) {
				value := random.Int64N(1 << (1 + random.IntN(40)))
				record(t, part, value, 1)
				values = append(values, value)
			}
			highest = max(highest, part.Max())
			if err := sum.Add(part); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(values)
		if sum.Max() < highest {
			t.Fatalf("the maximum is %d, that of a part %d", sum.Max(), highest)
		}
		for n, value := range values {
			percentile := 100 * (float64(n) + 0.9) / float64(len(values))
			if got := sum.ValueAtPercentile(percentile); got < value {
				t.Fatalf("at %v: %d, below the recorded %d", percentile, got, value)
			}
		}
	}
}

func TestAddDouble(t *testing.T) {
	a := newDouble(t, histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.5})
	b := newDouble(t, histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.125})
	record(t, a, 1000, 1) // 500
	record(t, b, 2000, 2) // 250
	for _, pair := range [][2]*histogram.Histogram{{a.Clone(), b}, {b.Clone(), a}} {
		sum := pair[0]
		if err := sum.Add(pair[1]); err != nil {
			t.Fatal(err)
		}
		if sum.Ratio() != 0.125 || sum.TotalCount() != 3 || sum.Float(sum.Min()) != 250 || sum.Max() != 4003 {
			t.Errorf("ratio %v, %d values, %v to %d", sum.Ratio(), sum.TotalCount(), sum.Float(sum.Min()), sum.Max())
		}
	}
}

// Zero is zero at any ratio.
func TestAddDoubleZero(t *testing.T) {
	zero := newDouble(t, histogram.Layout{Digits: 3, Lowest: 1, Ratio: math.MaxFloat64})
	record(t, zero, 0, 5)
	sum := newDouble(t, histogram.Layout{Digits: 3, Lowest: 1, Ratio: math.SmallestNonzeroFloat64})
	record(t, sum, 7, 1)
	if err := sum.Add(zero); err != nil {
		t.Fatal(err)
	}
	if sum.CountBetween(0, 0) != 5 || sum.CountBetween(7, 7) != 1 || sum.TotalCount() != 6 {
		t.Errorf("%v", slices.Collect(sum.Recorded()))
	}
}

func TestAddToItself(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 77, 4)
	record(t, h, 1<<40, 5)
	if err := h.Add(h); err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != 18 || h.CountBetween(77, 77) != 8 {
		t.Errorf("%d values, %d of 77", h.TotalCount(), h.CountBetween(77, 77))
	}
}

func TestRefineKeepsLowerLowest(t *testing.T) {
	h := newHistogram(t, 3, 3) // the slots are those of a lowest value of 2
	if err := h.Refine(histogram.Layout{Digits: 2, Lowest: 2}); err != nil {
		t.Fatal(err)
	}
	if want := (histogram.Layout{Digits: 3, Lowest: 2}); h.Layout() != want {
		t.Errorf("got %+v, want %+v", h.Layout(), want)
	}
	if err := h.Refine(histogram.Layout{Digits: 9, Lowest: 2}); !errors.Is(err, histogram.ErrLayout) {
		t.Errorf("got %v, want ErrLayout", err)
	}
}

// A zero histogram takes the first layout that is added to it. Without a layout, recording and
// encoding fail.
func TestZero(t *testing.T) {
	layout := histogram.Layout{Digits: 2, Lowest: 1000, Ratio: 0.5}
	full := newDouble(t, layout)
	record(t, full, 5000, 3)
	var encoder histogram.Encoder
	var decoder histogram.Decoder
	text, err := encoder.AppendBase64(nil, full)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := decoder.Open(text) // double histograms are written with a lowest value of 1
	if err != nil {
		t.Fatal(err)
	}
	fine := newDouble(t, encoded.Layout())
	if err := fine.Add(full); err != nil {
		t.Fatal(err)
	}

	for name, test := range map[string]struct {
		add  func(h *histogram.Histogram) error
		want *histogram.Histogram
	}{
		"Add":            {func(h *histogram.Histogram) error { return h.Add(full) }, full},
		"Decoder.AddTo":  {func(h *histogram.Histogram) error { return decoder.AddTo(h, text) }, fine},
		"Decoder.Decode": {func(h *histogram.Histogram) error { return decoder.Decode(h, text) }, fine},
		"Refine":         {func(h *histogram.Histogram) error { return h.Refine(layout) }, newDouble(t, layout)},
		"Reset":          {func(h *histogram.Histogram) error { return h.Reset(layout) }, newDouble(t, layout)},
	} {
		t.Run(name, func(t *testing.T) {
			var h histogram.Histogram
			if err := test.add(&h); err != nil {
				t.Fatal(err)
			}
			equal(t, &h, test.want)
		})
	}

	t.Run("without a layout", func(t *testing.T) {
		var h, into histogram.Histogram
		if err := h.Record(5); !errors.Is(err, histogram.ErrLayout) {
			t.Errorf("Record: %v", err)
		}
		if err := full.Add(&h); err != nil {
			t.Errorf("added to another: %v", err)
		}
		if err := h.CorrectInto(&into, 1); err != nil {
			t.Errorf("CorrectInto: %v", err)
		}
		if _, err := encoder.AppendBase64(nil, &h); !errors.Is(err, histogram.ErrLayout) {
			t.Errorf("AppendBase64: %v", err)
		}
		if _, err := h.AppendBinary(nil); !errors.Is(err, histogram.ErrLayout) {
			t.Errorf("AppendBinary: %v", err)
		}
		if h.Max() != 0 || h.Mean() != 0 || h.ValueAtPercentile(50) != 0 || h.CountBetween(0, math.MaxInt64) != 0 {
			t.Error("an empty histogram has statistics")
		}
		broken := slices.Clone(text)
		broken[len(broken)/2] ^= 1
		if err := decoder.AddTo(&h, broken); err == nil || h.Layout() != (histogram.Layout{}) {
			t.Errorf("a broken payload: %v leaves %+v", err, h.Layout())
		}
	})
}

// A histogram of high values takes no memory for the slots below them, in any order of recording.
func TestRoom(t *testing.T) {
	for name, values := range map[string][]int64{
		"one":        {1e9},
		"ascending":  {1e9, 2e9, 3e9, 4e9},
		"descending": {4e9, 3e9, 2e9, 1e9},
		"mixed":      {2e9, 4e9, 1e9, 3e9},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistogram(t, 3, 1)
			for _, value := range values {
				record(t, h, value, 2)
			}
			for _, value := range values {
				if n := h.CountBetween(value, value); n != 2 {
					t.Errorf("%d is counted %d times", value, n)
				}
			}
			var encoder histogram.Encoder
			var decoder histogram.Decoder
			var again histogram.Histogram
			text, err := encoder.AppendBase64(nil, h)
			if err != nil {
				t.Fatal(err)
			}
			if err := decoder.AddTo(&again, text); err != nil {
				t.Fatal(err)
			}
			equal(t, &again, h)
			for _, h := range []*histogram.Histogram{h, &again} {
				if all := h.Layout().IndexOf(slices.Min(values)); h.Len() > all/2 {
					t.Errorf("room for %d slots, and %d are below all values", h.Len(), all)
				}
			}
		})
	}
}

// A failed Reset changes nothing.
func TestResetErrors(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 5, 1)
	for _, layout := range []histogram.Layout{{Digits: 9}, {Digits: -1}, {Lowest: -1}, {Ratio: math.NaN()}} {
		if err := h.Reset(layout); !errors.Is(err, histogram.ErrLayout) || h.TotalCount() != 1 || h.Layout().Digits != 3 {
			t.Errorf("%+v: %v leaves %d values in %+v", layout, err, h.TotalCount(), h.Layout())
		}
	}
}

// Subtracting what was not added fails and changes nothing.
func TestSubtractErrors(t *testing.T) {
	for name, other := range map[string]*histogram.Histogram{
		"more":   newHistogram(t, 3, 1),
		"higher": newHistogram(t, 3, 1),
		"finer":  newHistogram(t, 5, 1),
		"double": newDouble(t, histogram.Layout{Digits: 3, Ratio: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			record(t, other, 5, 1)
			record(t, other, map[string]int64{"more": 5, "higher": 1 << 40, "finer": 1, "double": 5}[name], 1)
			h := newHistogram(t, 3, 1)
			record(t, h, 5, 1)
			record(t, h, 1, 1)
			before := h.Clone()
			if err := h.Subtract(other); !errors.Is(err, histogram.ErrRange) && !errors.Is(err, histogram.ErrKind) {
				t.Error(err)
			}
			equal(t, h, before)
		})
	}
}

// After Reset, a histogram of any layout is empty.
func TestReset(t *testing.T) {
	h := newHistogram(t, 5, 1)
	record(t, h, math.MaxInt64, 1)
	record(t, h, 1, 1)
	h.Reset(histogram.Layout{Digits: 1, Lowest: 1})
	if h.TotalCount() != 0 || h.Max() != 0 {
		t.Errorf("%d values up to %d", h.TotalCount(), h.Max())
	}
	if slots := h.Len(); slots > 64 {
		t.Errorf("%d slots are to be cleared and searched from now on", slots)
	}
	for _, value := range []int64{3, 1 << 30, math.MaxInt64} {
		record(t, h, value, 1)
		if h.Max() < value || h.CountBetween(0, math.MaxInt64) != h.TotalCount() {
			t.Errorf("%d values, but %d between 0 and the largest, after %d", h.TotalCount(), h.CountBetween(0, math.MaxInt64), value)
		}
	}
	if cost := testing.AllocsPerRun(100, func() {
		h.Reset(histogram.Layout{Digits: 3, Lowest: 1})
		record(t, h, 1<<40, 1)
	}); cost != 0 {
		t.Errorf("%v allocations where memory is kept", cost)
	}
}

func TestClone(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 5, 1)
	clone := h.Clone()
	record(t, clone, 5, 1)
	record(t, clone, 1<<50, 1)
	if h.TotalCount() != 1 || h.CountBetween(5, 5) != 1 || h.Max() != 5 {
		t.Error("a clone shares counts")
	}
}

// Iterations stop when the caller breaks.
func TestBreak(t *testing.T) {
	h := newHistogram(t, 3, 1)
	for value := range int64(100) {
		record(t, h, value, 1)
	}
	all := slices.Collect(h.Percentiles(3))
	for n := 1; n <= len(all); n++ {
		var some []histogram.Step
		for step := range h.Percentiles(3) {
			if some = append(some, step); len(some) == n {
				break
			}
		}
		if !slices.Equal(some, all[:n]) {
			t.Errorf("the first %d steps are %v, want %v", n, some, all[:n])
		}
	}
	for range h.Recorded() {
		break
	}
}

// If some double histograms do not fit one sum, every order of adding fails. If they fit, every
// order gives the same sum.
func TestSpanOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	fits, apart := 0, 0
	rounds := logtest.Rounds(500)
	for range rounds {
		var all []*histogram.Histogram
		for range 2 + random.IntN(4) {
			h := newDouble(t, histogram.Layout{Digits: 1 + random.IntN(4), Lowest: 1, Ratio: math.Ldexp(1, random.IntN(70)-35)})
			for range random.IntN(3) {
				record(t, h, random.Int64()>>(1+random.IntN(60)), 1+random.Int64N(5))
			}
			all = append(all, h)
		}
		add := func() (sum histogram.Histogram, failed bool) {
			for _, i := range random.Perm(len(all)) {
				if err := sum.Add(all[i]); errors.Is(err, histogram.ErrSpan) {
					failed = true
				} else if err != nil {
					t.Fatal(err)
				}
			}
			return sum, failed
		}
		want, wantFailed := add()
		for range 5 {
			got, failed := add()
			if failed != wantFailed {
				t.Fatalf("one order fails, another does not: %v", all)
			}
			if !failed {
				equal(t, &got, &want)
			}
		}
		if wantFailed {
			apart++
		} else {
			fits++
		}
	}
	if fits < rounds/6 || apart < rounds/6 {
		t.Errorf("%d fit, %d do not", fits, apart)
	}
}

// TestMinOfNothing: once all values were taken away, their minimum is gone, too.
func TestMinOfNothing(t *testing.T) {
	t.Parallel()
	coarse := newHistogram(t, 3, 1000)
	record(t, coarse, 42, 1)
	h := newHistogram(t, 3, 1)
	if err := errors.Join(h.Add(coarse), h.Subtract(coarse)); err != nil {
		t.Fatal(err)
	}
	record(t, h, 1000, 1)
	if h.Min() != 1000 {
		t.Errorf("minimum %d", h.Min())
	}
}

// TestMinOfMixed adds histograms of different layouts in random orders: the minimum is the lowest
// one of all, and no later sum or refinement loses it.
func TestMinOfMixed(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for range logtest.Rounds(300) {
		var all []*histogram.Histogram
		lowest := int64(math.MaxInt64)
		for range 2 + r.IntN(4) {
			h := newHistogram(t, 1+r.IntN(4), []int64{1, 1, 100, 1000}[r.IntN(4)])
			for range 1 + r.IntN(3) {
				record(t, h, r.Int64N(1<<40)>>r.IntN(40), 1+r.Int64N(3))
			}
			lowest = min(lowest, h.Min())
			empty := newHistogram(t, 1+r.IntN(4), 1)
			empty.LowerMin(0) // an empty histogram has no minimum
			all = append(all, h, empty)
		}
		for len(all) > 1 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if err := all[0].Add(all[1].Clone()); err != nil {
				t.Fatal(err)
			}
			all = append(all[:1], all[2:]...)
		}
		var coarse histogram.Histogram
		all[0].CoarsenInto(&coarse, 5)
		if all[0].Min() != lowest || coarse.Min() != lowest || all[0].ValueAtPercentile(0) != lowest {
			t.Fatalf("minimum %d, coarse %d, want %d", all[0].Min(), coarse.Min(), lowest)
		}
	}
}
