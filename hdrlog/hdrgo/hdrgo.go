// Package hdrgo converts histograms to and from those of [hdrhistogram-go]. It does not convert
// tags and times: a [histogram.Histogram] has none.
//
// [hdrhistogram-go]: https://pkg.go.dev/github.com/HdrHistogram/hdrhistogram-go
package hdrgo

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hdrkit/hdrlog/histogram"
)

// From returns a new histogram with the layout and counts of from. A conversion ratio other than 1
// makes it a double histogram. The error wraps [histogram.ErrLayout], [histogram.ErrRange] or
// [histogram.ErrOverflow].
func From(from *hdrhistogram.Histogram) (*histogram.Histogram, error) {
	snapshot := from.Export()
	layout := histogram.Layout{Digits: int(snapshot.SignificantFigures), Lowest: snapshot.LowestTrackableValue}
	if ratio := snapshot.IntegerToDoubleConversionRatio; ratio != 0 && ratio != 1 {
		layout.Ratio = ratio
	}
	h, err := histogram.New(layout)
	if err != nil {
		return nil, err
	}
	// Near the largest int64, hdrhistogram-go rounds the logarithm of the lowest value up, so its
	// slots differ.
	if slots := layout.SlotsFor(max(snapshot.HighestTrackableValue, 0)); slots != len(snapshot.Counts) {
		return nil, errSlots(len(snapshot.Counts), snapshot, slots)
	}
	for i, n := range snapshot.Counts {
		if n == 0 {
			continue
		}
		if err := h.RecordN(layout.LowestAt(i), n); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func errSlots(theirs int, snapshot *hdrhistogram.Snapshot, ours int) error {
	return fmt.Errorf("%w: hdrhistogram-go has %d slots for values of %d to %d, not %d", histogram.ErrLayout,
		theirs, snapshot.LowestTrackableValue, snapshot.HighestTrackableValue, ours)
}

// To returns a new histogram of hdrhistogram-go with the layout and counts of h. Its highest
// trackable value is the end of the power-of-two bucket with the highest value of h. It keeps the
// conversion ratio of a double histogram, but the methods of hdrhistogram-go ignore the ratio.
//
// The error wraps [histogram.ErrLayout] if hdrhistogram-go has other slots. It wraps
// [histogram.ErrKind] if h is a double histogram with a ratio of 1: hdrhistogram-go would read it
// as a histogram of integers.
func To(h *histogram.Histogram) (*hdrhistogram.Histogram, error) {
	layout := h.Layout()
	if layout.Ratio == 1 {
		return nil, fmt.Errorf("%w: hdrhistogram-go takes a conversion ratio of 1 for a histogram of integers",
			histogram.ErrKind)
	}
	slots := layout.SlotsFor(h.Max())
	snapshot := &hdrhistogram.Snapshot{
		LowestTrackableValue:           layout.Lowest,
		HighestTrackableValue:          layout.HighestAt(slots - 1),
		SignificantFigures:             int64(layout.Digits),
		Counts:                         make([]int64, slots),
		IntegerToDoubleConversionRatio: layout.Ratio,
	}
	for bucket := range h.Recorded() {
		snapshot.Counts[layout.IndexOf(bucket.Low)] = bucket.Count
	}
	if err := snapshot.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", histogram.ErrLayout, err)
	}
	to := hdrhistogram.Import(snapshot)
	if got := (to.ByteSize() - emptySize) / 8; got != slots {
		return nil, errSlots(got, snapshot, slots)
	}
	return to, nil
}

// emptySize is the ByteSize of a histogram without slots.
var emptySize = new(hdrhistogram.Histogram).ByteSize()
