package histogram

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// FromHdrHistogram returns a histogram of the layout and counts of h. A conversion ratio other than 1 makes it a double
// histogram; hdrhistogram-go knows of none itself, but keeps the one that it decoded. Tag and times are not for a
// histogram to hold. The error wraps [ErrLayout], [ErrRange] or [ErrOverflow].
func FromHdrHistogram(h *hdrhistogram.Histogram) (*Histogram, error) {
	snapshot := h.Export()
	layout := Layout{Digits: int(snapshot.SignificantFigures), Lowest: snapshot.LowestTrackableValue}
	if ratio := snapshot.IntegerToDoubleConversionRatio; ratio != 0 && ratio != 1 {
		layout.Ratio = ratio
	}
	from, err := New(layout)
	if err != nil {
		return nil, err
	}
	// Near the largest int64 hdrhistogram-go's logarithm rounds a lowest value up to the next power of two.
	if slots := layout.SlotsFor(max(snapshot.HighestTrackableValue, 0)); slots != len(snapshot.Counts) {
		return nil, fmt.Errorf("%w: %d slots for values of %d to %d, not %d", ErrLayout,
			len(snapshot.Counts), snapshot.LowestTrackableValue, snapshot.HighestTrackableValue, slots)
	}
	for i, n := range snapshot.Counts {
		if n == 0 {
			continue
		}
		if err := from.Record(layout.LowestAt(i), n); err != nil {
			return nil, err
		}
	}
	return from, nil
}

// HdrHistogram returns a histogram of hdrhistogram-go with the layout and counts of h, which takes values up to the
// largest of the power-of-two bucket that h's highest is in. The conversion ratio of a double histogram is kept, but all
// methods there ignore it. The error wraps [ErrLayout], where hdrhistogram-go would count in other slots, or [ErrKind], where
// it would take a double histogram for one of integers.
func (h *Histogram) HdrHistogram() (*hdrhistogram.Histogram, error) {
	if h.layout.Ratio == 1 {
		return nil, fmt.Errorf("%w: a conversion ratio of 1 tells nothing there", ErrKind)
	}
	slots := h.layout.SlotsFor(h.Max())
	snapshot := &hdrhistogram.Snapshot{
		LowestTrackableValue:           h.layout.Lowest,
		HighestTrackableValue:          h.layout.HighestAt(slots - 1),
		SignificantFigures:             int64(h.layout.Digits),
		Counts:                         make([]int64, slots),
		IntegerToDoubleConversionRatio: h.layout.Ratio,
	}
	copy(snapshot.Counts, h.counts)
	if err := snapshot.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	to := hdrhistogram.Import(snapshot)
	if got := len(to.Export().Counts); got != slots {
		return nil, fmt.Errorf("%w: %d slots for values of %d to %d, not %d", ErrLayout,
			got, snapshot.LowestTrackableValue, snapshot.HighestTrackableValue, slots)
	}
	return to, nil
}
