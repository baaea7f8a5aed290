package output

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// TestBinsAddUp checks that bins follow each other, that their counts add up to the total count,
// and that the last one holds the highest value.
func TestBinsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h, _ := histogram.New(histogram.Layout{Digits: 1 + random.IntN(4), Lowest: 1})
		for range random.IntN(300) {
			if err := h.RecordN(random.Int64N(1<<(1+random.IntN(12))), 1+random.Int64N(5)); err != nil {
				t.Fatal(err)
			}
		}
		scale, width := hdrlog.Scale{Ratio: []float64{1, 3, 1000, 0.3}[random.IntN(4)]}, []float64{8, 7, 100, 2.5}[random.IntN(4)]
		for name, format := range map[string]func(*bytes.Buffer) error{
			"csv":  func(b *bytes.Buffer) error { return Bins(b, &Summary{Histogram: h, Scale: scale}, width) },
			"csve": func(b *bytes.Buffer) error { return DoublingBins(b, &Summary{Histogram: h, Scale: scale}, width) },
			"csvr": func(b *bytes.Buffer) error { return RecordedValues(b, &Summary{Histogram: h, Scale: scale}) },
		} {
			var b bytes.Buffer
			if err := format(&b); err != nil {
				t.Fatal(err)
			}
			if err := binsAddUp(b.String(), h, scale, name != "csvr"); err != nil {
				t.Errorf("%s, ratio %v, bins of %v: %v\n%s", name, scale.Ratio, width, err, b.String())
			}
		}
	}
}

// binsAddUp counts each recorded value in its bin and compares.
func binsAddUp(text string, h *histogram.Histogram, scale hdrlog.Scale, bins bool) error {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var starts []float64
	var counts []int64
	var total int64
	for _, row := range rows[1:] {
		start, err := strconv.ParseFloat(row[0], 64)
		if err != nil {
			return err
		}
		count, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			return err
		}
		if n := len(starts); n > 0 && start <= starts[n-1] {
			return fmt.Errorf("%v follows %v", start, starts[n-1])
		}
		starts, counts, total = append(starts, start), append(counts, count), total+count
	}
	if total != h.TotalCount() {
		return fmt.Errorf("counts add up to %d, not %d", total, h.TotalCount())
	}
	if !bins {
		return nil
	}
	for bucket := range h.Recorded() {
		value := float64(bucket.High) / scale.Ratio
		for n := len(starts) - 1; n >= 0; n-- {
			if value >= starts[n] {
				counts[n] -= bucket.Count
				break
			}
		}
	}
	for n, count := range counts {
		if count != 0 {
			return fmt.Errorf("the bin from %v has %d too many", starts[n], count)
		}
	}
	return nil
}

// TestHGRMEnds has one value beside very many others. The percentiles near it differ by less than a
// float64 can hold.
func TestHGRMEnds(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.RecordN(1, math.MaxInt64-1000)
	h.Record(1000)
	var b bytes.Buffer
	if err := HGRM(&b, &Summary{Histogram: h}, 5); err != nil {
		t.Fatal(err)
	}
	if want := "    1000.000 1.000000000000 9223372036854774808\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

// TestHGRMDivides has a mean whose quotient and product round to different last digits.
func TestHGRMDivides(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.RecordN(0, 10_000_000-4_852_375)
	h.RecordN(1, 4_852_375)
	var b bytes.Buffer
	if err := HGRM(&b, &Summary{Histogram: h, Scale: hdrlog.Scale{Ratio: 0.001}}, 1); err != nil {
		t.Fatal(err)
	}
	if want := "#[Mean    =      485.237,"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

// TestHGRMBuckets compares the number of buckets with that of HdrHistogram 2.1.11 (Java) for a sum
// of zeros. The sum was made with the lowest value of the log and twice that as its highest value,
// and resizes itself.
func TestHGRMBuckets(t *testing.T) {
	t.Parallel()
	for digits, want := range []string{
		"#[Buckets =            2, SubBuckets     =            2]",
		"#[Buckets =            1, SubBuckets     =           32]",
		"#[Buckets =            1, SubBuckets     =          256]",
		"#[Buckets =            1, SubBuckets     =         2048]",
	} {
		h, err := histogram.New(histogram.Layout{Digits: digits, Lowest: 43679})
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(0, 5)
		var b bytes.Buffer
		if err := HGRM(&b, &Summary{Histogram: h}, 5); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%d digits: no %s in\n%s", digits, want, &b)
		}
	}
}
