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
	h := new(histogram.Histogram)
	if err := FromInto(h, from); err != nil {
		return nil, err
	}
	return h, nil
}

// FromInto is [From] that uses the memory of h. Hdrhistogram-go copies its counts for it, which
// still takes memory. After an error, h is empty or holds some of the counts.
func FromInto(h *histogram.Histogram, from *hdrhistogram.Histogram) error {
	snapshot := from.Export()
	layout := histogram.Layout{Digits: int(snapshot.SignificantFigures), Lowest: snapshot.LowestTrackableValue}
	if ratio := snapshot.IntegerToDoubleConversionRatio; ratio != 0 && ratio != 1 {
		layout.Ratio = ratio
	}
	if err := layout.Validate(); err != nil {
		return err
	}
	// Near the largest int64, hdrhistogram-go rounds the logarithm of the lowest value up.
	if slots := layout.SlotsFor(max(snapshot.HighestTrackableValue, 0)); slots != len(snapshot.Counts) {
		return errSlots(len(snapshot.Counts), snapshot, slots)
	}
	if err := h.Reset(layout); err != nil {
		return err
	}
	for i, n := range snapshot.Counts {
		if n == 0 {
			continue
		}
		if err := h.Record(layout.LowestAt(i), n); err != nil {
			return err
		}
	}
	return nil
}

func errSlots(theirs int, snapshot *hdrhistogram.Snapshot, ours int) error {
	return fmt.Errorf("%w: hdrhistogram-go has %d slots for values of %d to %d, not %d", histogram.ErrLayout,
		theirs, snapshot.LowestTrackableValue, snapshot.HighestTrackableValue, ours)
}

// To returns a new histogram of hdrhistogram-go with the layout and counts of h. It takes values up
// to the end of the power-of-two bucket with the highest value of h. It keeps the conversion ratio
// of a double histogram, but the methods of hdrhistogram-go ignore that.
//
// The error wraps [histogram.ErrLayout] if hdrhistogram-go has other slots. It wraps
// [histogram.ErrKind] if h is a double histogram with a ratio of 1: hdrhistogram-go would take it
// for one of integers.
func To(h *histogram.Histogram) (*hdrhistogram.Histogram, error) {
	layout := h.Layout()
	if layout.Ratio == 1 {
		return nil, fmt.Errorf("%w: hdrhistogram-go takes a conversion ratio of 1 for a histogram of integers", histogram.ErrKind)
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

// ToInto replaces the counts of to by those of h. It takes no memory. The two must have the same
// digits and lowest value. The error wraps [histogram.ErrLayout] if they have not,
// [histogram.ErrKind] if h is a double histogram, or [histogram.ErrRange] if to cannot hold a
// value. After an error, to is empty.
func ToInto(to *hdrhistogram.Histogram, h *histogram.Histogram) error {
	to.Reset()
	layout := h.Layout()
	switch {
	case h.Double():
		return fmt.Errorf("%w: the conversion ratio of an hdrhistogram-go histogram cannot be set", histogram.ErrKind)
	case to.SignificantFigures() != int64(layout.Digits) || to.LowestTrackableValue() != layout.Lowest:
		return fmt.Errorf("%w: %d digits and lowest value %d, not %d and %d", histogram.ErrLayout,
			to.SignificantFigures(), to.LowestTrackableValue(), layout.Digits, layout.Lowest)
	}
	for bucket := range h.Recorded() {
		if err := to.RecordValues(bucket.Low, bucket.Count); err != nil {
			to.Reset()
			return fmt.Errorf("%w: %w", histogram.ErrRange, err)
		}
	}
	return nil
}
