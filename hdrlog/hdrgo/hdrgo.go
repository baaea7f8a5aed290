// Package hdrgo converts histograms from and to those of [hdrhistogram-go].
//
// Tags and times are not part of a [histogram.Histogram], and are not converted.
//
// [hdrhistogram-go]: https://pkg.go.dev/github.com/HdrHistogram/hdrhistogram-go
package hdrgo

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hdrkit/hdrlog/histogram"
)

// From returns a new histogram with the layout and counts of from. A conversion ratio other than 1 makes it a double
// histogram. The error wraps [histogram.ErrLayout], [histogram.ErrRange] or [histogram.ErrOverflow].
func From(from *hdrhistogram.Histogram) (*histogram.Histogram, error) {
	h := new(histogram.Histogram)
	if err := FromInto(h, from); err != nil {
		return nil, err
	}
	return h, nil
}

// FromInto is [From] in the memory of h. Hdrhistogram-go gives its counts only as a copy, which still takes memory. If
// FromInto returns an error, h is empty or holds a part of the counts.
func FromInto(h *histogram.Histogram, from *hdrhistogram.Histogram) error {
	snapshot := from.Export()
	layout := histogram.Layout{Digits: int(snapshot.SignificantFigures), Lowest: snapshot.LowestTrackableValue}
	if ratio := snapshot.IntegerToDoubleConversionRatio; ratio != 0 && ratio != 1 {
		layout.Ratio = ratio
	}
	if err := layout.Validate(); err != nil {
		return err
	}
	// Near the largest int64 hdrhistogram-go's logarithm rounds a lowest value up to the next power of two.
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

// To returns a new histogram of hdrhistogram-go with the layout and counts of h. It takes values up to the largest of the
// power-of-two bucket that holds the highest value of h. It keeps the conversion ratio of a double histogram, but the
// methods of hdrhistogram-go ignore it.
//
// The error wraps [histogram.ErrLayout] if hdrhistogram-go would count in other slots, or [histogram.ErrKind] if it would
// take a double histogram for one of integers, because the ratio is 1.
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

// emptySize is what ByteSize returns of a histogram without slots.
var emptySize = new(hdrhistogram.Histogram).ByteSize()

// ToInto makes to, which has the significant digits of h and lowest value, count what h counts, without taking memory.
// The error wraps [histogram.ErrLayout] if it has others, [histogram.ErrKind] if h is a double histogram, or
// [histogram.ErrRange] if a value is above the highest that it takes; to is then empty.
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
