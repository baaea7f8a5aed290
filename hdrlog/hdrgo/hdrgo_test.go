package hdrgo_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hdrkit/hdrlog/hdrgo"
	"hdrkit/hdrlog/histogram"
)

func newHistogram(t testing.TB, layout histogram.Layout) *histogram.Histogram {
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
	if !slices.Equal(slices.Collect(got.Recorded()), slices.Collect(want.Recorded())) {
		t.Fatal("the counts differ")
	}
}

// roundTrip converts h to hdrhistogram-go and back.
func roundTrip(t *testing.T, h *histogram.Histogram) {
	t.Helper()
	theirs, err := hdrgo.To(h)
	if err != nil {
		t.Fatalf("%+v: %v", h.Layout(), err)
	}
	if theirs.TotalCount() != h.TotalCount() || theirs.Max() != h.Max() && h.TotalCount() != 0 {
		t.Errorf("%+v: %d values up to %d, want %d up to %d", h.Layout(), theirs.TotalCount(), theirs.Max(), h.TotalCount(), h.Max())
	}
	ours, err := hdrgo.From(theirs)
	if err != nil {
		t.Fatalf("%+v: %v", h.Layout(), err)
	}
	equal(t, ours, h)
}

// Both libraries decode the same from the logs, and each histogram converts to the other library.
func TestLogs(t *testing.T) {
	names, err := filepath.Glob("../../testdata/logs/*.hdr")
	if err != nil {
		t.Fatal(err)
	}
	var decoder histogram.Decoder
	n := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			comma := bytes.LastIndexByte(line, ',')
			if line[0] == '#' || line[0] == '"' || comma < 0 {
				continue
			}
			encoded := bytes.TrimSpace(line[comma+1:])
			h := new(histogram.Histogram)
			if err := decoder.Decode(h, encoded); err != nil {
				t.Fatal(err)
			}
			roundTrip(t, h)
			if h.Double() {
				continue // hdrhistogram-go cannot decode it
			}
			theirs, err := hdrhistogram.Decode(encoded)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := hdrgo.From(theirs)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, ours, h)
			n++
		}
	}
	if n < 800 {
		t.Errorf("only %d histograms", n)
	}
}

func TestLayouts(t *testing.T) {
	for digits := range 6 {
		for _, lowest := range []int64{1, 3, 1000, 1 << 40, 1<<43 + 1} {
			h := newHistogram(t, histogram.Layout{Digits: digits, Lowest: lowest})
			roundTrip(t, h)
			for range 20 {
				record(t, h, rand.Int64()>>rand.IntN(63), 1+rand.Int64N(1<<50))
			}
			roundTrip(t, h)
		}
	}
	double := newHistogram(t, histogram.Layout{Digits: 3, Lowest: 1, Ratio: 0.25})
	record(t, double, 1000, 3)
	roundTrip(t, double)
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		layout histogram.Layout
		want   error
	}{
		{histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1}, histogram.ErrKind},
		{histogram.Layout{Digits: 0, Lowest: 1<<60 - 1}, histogram.ErrLayout},
		{histogram.Layout{Digits: 0, Lowest: 1<<62 - 1}, histogram.ErrLayout},
	} {
		h := newHistogram(t, test.layout)
		record(t, h, math.MaxInt64, 1)
		if _, err := hdrgo.To(h); !errors.Is(err, test.want) {
			t.Errorf("%+v: got %v, want %v", test.layout, err, test.want)
		}
	}

	for _, test := range []struct {
		snapshot hdrhistogram.Snapshot
		want     error
		text     string
	}{
		{hdrhistogram.Snapshot{LowestTrackableValue: 0, HighestTrackableValue: 1000, SignificantFigures: 3}, nil, ""}, // it is read as 1
		{hdrhistogram.Snapshot{LowestTrackableValue: 1<<60 - 1, HighestTrackableValue: math.MaxInt64, SignificantFigures: 0}, histogram.ErrLayout, "slots for values of"},
		{hdrhistogram.Snapshot{LowestTrackableValue: 1, HighestTrackableValue: 1000, SignificantFigures: 3, Counts: []int64{math.MaxInt64, 1}}, histogram.ErrOverflow, ""},
	} {
		_, err := hdrgo.From(hdrhistogram.Import(&test.snapshot))
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.text) {
			t.Errorf("%+v: got %v, want %v %s", test.snapshot, err, test.want, test.text)
		}
	}
}

// The converted histogram has counts of its own.
func TestCopies(t *testing.T) {
	h := newHistogram(t, histogram.Layout{Digits: 3, Lowest: 1})
	record(t, h, 5, 1)
	theirs, err := hdrgo.To(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := theirs.RecordValues(5, 7); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(h.Recorded()); !slices.Equal(got, []histogram.Bucket{{Low: 5, High: 5, Count: 1}}) {
		t.Errorf("got %v", got)
	}
}
