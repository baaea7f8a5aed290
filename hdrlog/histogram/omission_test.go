package histogram_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
	"hdrkit/internal/dump"
)

// TestCorrectReference compares with copyCorrectedForCoordinatedOmission of the reference, for
// random histograms. A line has the expected interval, the total count and the checksum of the
// result, and the histogram.
func TestCorrectReference(t *testing.T) {
	text, err := os.ReadFile("testdata/omission.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		var expected float64
		var total int64
		var crc uint32
		var encoded string
		if _, err := fmt.Sscanf(line, "%g\t%d\t%x\t%s", &expected, &total, &crc, &encoded); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var decoder histogram.Decoder
		p, err := decoder.Open([]byte(encoded))
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		var corrected histogram.Histogram
		if err := h.CorrectInto(&corrected, expected); err != nil {
			t.Fatal(err)
		}
		if corrected.TotalCount() != total || dump.CRC(&corrected) != crc {
			t.Errorf("every %v: total count %d, checksum %08x; want %d, %08x", expected,
				corrected.TotalCount(), dump.CRC(&corrected), total, crc)
		}
		rows++
	}
	if rows < 50 {
		t.Errorf("%d rows only", rows)
	}
}

// TestCorrectPlain compares with a loop like that of the reference.
func TestCorrectPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range logtest.Rounds(1000) {
		layout := histogram.Layout{Digits: random.IntN(6), Lowest: 1 << random.IntN(12)}
		expected := 1 + random.Int64N(1<<random.IntN(20))
		h, _ := histogram.New(layout)
		for range 1 + random.IntN(5) {
			h.RecordN(random.Int64N(2+expected*random.Int64N(1<<random.IntN(14))), 1+random.Int64N(9))
		}
		want, _ := histogram.New(layout)
		for bucket := range h.Recorded() {
			for value := bucket.High; value == bucket.High || value >= expected; value -= expected {
				want.RecordN(value, bucket.Count)
			}
		}
		var got histogram.Histogram
		if err := h.CorrectInto(&got, float64(expected)+random.Float64()); err != nil {
			t.Fatal(err)
		}
		if got.TotalCount() != want.TotalCount() || dump.CRC(&got) != dump.CRC(want) {
			t.Fatalf("layout %+v, every %d: total count %d, want %d", layout, expected, got.TotalCount(), want.TotalCount())
		}
	}
}

// TestCorrectDoubleSteps compares counting slot by slot with subtraction, for doubles that need no
// rounding.
func TestCorrectDoubleSteps(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1.0 / 1024})
	h.RecordN(90000*1024, 3) // more steps than maxSteps
	h.RecordN(50000*1024, 2)
	want, _ := histogram.New(h.Layout())
	for bucket := range h.Recorded() {
		value := h.Float(bucket.High)
		for want.RecordN(bucket.High, bucket.Count); value-1 >= 1; value-- {
			want.RecordN(int64((value-1)*1024), bucket.Count)
		}
	}
	var got histogram.Histogram
	if err := h.CorrectInto(&got, 1); err != nil {
		t.Fatal(err)
	}
	if got.TotalCount() != want.TotalCount() || dump.CRC(&got) != dump.CRC(want) {
		t.Errorf("total count %d, want %d", got.TotalCount(), want.TotalCount())
	}
}

// TestCorrectDoubleZero: zeros stay zeros when the range is widened for missing values.
func TestCorrectDoubleZero(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Ratio: 1})
	h.RecordN(0, 10)
	h.RecordN(1000, 1)
	var got histogram.Histogram
	if err := h.CorrectInto(&got, 100); err != nil {
		t.Fatal(err)
	}
	if got.CountBetween(0, 0) != 10 || got.Ratio() == 1 || got.TotalCount() != 20 {
		t.Errorf("%d zeros of %d values, ratio %v", got.CountBetween(0, 0), got.TotalCount(), got.Ratio())
	}
}

// TestCorrectDoubleRange: however coarse the ratio of a double histogram is, the missing values
// have all significant digits, and the maximum is not below what was recorded.
func TestCorrectDoubleRange(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		layout := histogram.Layout{Digits: 1 + random.IntN(4), Lowest: 1, Ratio: math.Ldexp(1, random.IntN(20)-10)}
		h, _ := histogram.New(layout)
		expected := layout.Ratio * float64(layout.SubBuckets()) * math.Exp2(-12*random.Float64())
		recorded := 0.0
		for range 1 + random.IntN(3) {
			value := layout.Ratio * float64(layout.SubBuckets()/2) * (1 + 3*random.Float64())
			recorded = max(recorded, value)
			if err := h.RecordFloatN(value, 1); err != nil {
				t.Fatal(err)
			}
		}
		var want []float64
		for bucket := range h.Recorded() {
			for range bucket.Count {
				value := h.Float(bucket.High)
				want = append(want, value)
				for value -= expected; value >= expected; value -= expected {
					want = append(want, value)
				}
			}
		}
		slices.Sort(want)
		var got histogram.Histogram
		if err := h.CorrectInto(&got, expected); err != nil {
			t.Fatal(err)
		}
		if got.TotalCount() != int64(len(want)) {
			t.Fatalf("%+v, every %v: %d values, want %d", layout, expected, got.TotalCount(), len(want))
		}
		n := 0
		for bucket := range got.Recorded() {
			for range bucket.Count {
				precision := math.Pow10(-layout.Digits)
				if value := got.Float(bucket.High); math.Abs(value-want[n]) > precision*want[n] {
					t.Fatalf("%+v, every %v: value %d is %v, want %v", layout, expected, n, value, want[n])
				}
				n++
			}
		}
		if expected < layout.Ratio*float64(layout.SubBuckets()/16) && got.MaxFloat() < recorded {
			t.Fatalf("%+v, every %v: the maximum is %v, and %v was recorded", layout, expected, got.MaxFloat(), recorded)
		}
	}
}

// TestCorrectZeros: zeros of a double histogram stay, though its range is widened.
func TestCorrectZeros(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1})
	h.RecordN(0, 10)
	h.RecordN(3000, 1)
	var got histogram.Histogram
	if err := h.CorrectInto(&got, 1000); err != nil {
		t.Fatal(err)
	}
	if zeros := got.CountBetween(0, 0); zeros != 10 || got.Ratio() == h.Ratio() {
		t.Errorf("%d zeros, want 10, and the ratio is %v", zeros, got.Ratio())
	}
}

func TestCorrectExtremes(t *testing.T) {
	huge, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	huge.RecordN(math.MaxInt64, 1)
	var got histogram.Histogram
	if err := huge.CorrectInto(&got, 1); err != nil || got.TotalCount() != math.MaxInt64 {
		t.Errorf("one missing value in every unit: %d, %v", got.TotalCount(), err)
	}
	huge.RecordN(math.MaxInt64, 1)
	if err := huge.CorrectInto(&got, 1); !errors.Is(err, histogram.ErrOverflow) {
		t.Errorf("twice as many: %v", err)
	}
	double, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1})
	double.RecordN(math.MaxInt64/4, 1)
	if err := double.CorrectInto(&got, 3); err != nil || math.Abs(float64(got.TotalCount())*12/math.MaxInt64-1) > 1e-9 {
		t.Errorf("double: %d, %v", got.TotalCount(), err)
	}
	if err := double.CorrectInto(&got, 1e-300); !errors.Is(err, histogram.ErrOverflow) {
		t.Errorf("double, every 1e-300: %v", err)
	}
	if err := huge.CorrectInto(&got, 1e300); err != nil || got.TotalCount() != 2 {
		t.Errorf("every 1e300: %d, %v", got.TotalCount(), err)
	}
	for _, expected := range []float64{0, -1, math.NaN(), 0.5} {
		err := huge.CorrectInto(&got, expected)
		want := fmt.Sprintf("expected interval must be positive: at least 1 where values are integers, not %v", expected)
		if !errors.Is(err, histogram.ErrExpected) || err.Error() != want {
			t.Errorf("every %v: %v", expected, err)
		}
	}
	if err := double.CorrectInto(&got, 0); !errors.Is(err, histogram.ErrExpected) {
		t.Errorf("double, every 0: %v", err)
	}
	fine, _ := histogram.New(histogram.Layout{Digits: 5, Lowest: 1})
	// A step for each missing value would take years.
	for value := int64(100_000_000_000_000); value < 110_000_000_000_000; value += 1_000_000_000 {
		fine.RecordN(value, 1)
	}
	var want int64
	for bucket := range fine.Recorded() {
		want += bucket.Count * (bucket.High / 3) // including the value itself
	}
	if err := fine.CorrectInto(&got, 3); err != nil || got.TotalCount() != want {
		t.Errorf("ten thousand values, every 3: %d, %v; want %d", got.TotalCount(), err, want)
	}
}

// A histogram can be corrected in place.
func TestCorrectIntoItself(t *testing.T) {
	h := newHistogram(t, 3, 1)
	record(t, h, 1000, 2)
	var want histogram.Histogram
	if err := h.CorrectInto(&want, 100); err != nil {
		t.Fatal(err)
	}
	if err := h.CorrectInto(h, 100); err != nil {
		t.Fatal(err)
	}
	equal(t, h, &want)
	if h.TotalCount() != 20 {
		t.Errorf("%d values", h.TotalCount())
	}
}
