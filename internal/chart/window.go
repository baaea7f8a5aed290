package chart

import "hdrkit/hdrlog/histogram"

// A Window is what was recorded in an interval, or in several that were merged. Times are
// milliseconds from the origin of the picture.
type Window struct {
	// Start is when the first interval starts. Begin and End are when the first one starts and the
	// last one ends as the reference has it, which truncates.
	Start, Begin, End int64
	Intervals, Count  int64
	// Min and Max are the lowest and the highest value, in the unit of the picture, and Sum is the
	// mean times the count. They are as precise as the log, and the counts may be less so.
	Min, Max, Sum float64
	// Source is the log that has Max: its place in [Inputs.Logs], plus 1, or 0.
	Source int
	Counts Counts
}

// Counts are counts by slot, in any form.
type Counts interface {
	// Layout returns the slots.
	Layout() histogram.Layout
	// Histogram returns the counts as a histogram: scratch, or one that must not be changed.
	Histogram(scratch *histogram.Histogram) (*histogram.Histogram, error)
	// AppendCounts appends the counts as [histogram.Histogram.AppendCounts] does.
	AppendCounts(raw []byte) ([]byte, error)
}

// Length returns the length in milliseconds.
func (w *Window) Length() int64 { return w.End - w.Begin }

// Histogram returns the counts: scratch, or one of w, which must not be changed.
func (w *Window) Histogram(scratch *histogram.Histogram) *histogram.Histogram {
	h, err := w.Counts.Histogram(scratch)
	if err != nil {
		panic(err) // they were added up before
	}
	return h
}

// AppendCounts appends the counts as [histogram.Histogram.AppendCounts] does.
func (w *Window) AppendCounts(raw []byte) []byte {
	raw, err := w.Counts.AppendCounts(raw)
	if err != nil {
		panic(err) // they were added up before
	}
	return raw
}

// Wider returns the next width of windows, in milliseconds: 1, 125, 250, 500, 1000 and so on. Each
// width is a multiple of the one before, so that the windows nest.
func Wider(width int64) int64 {
	if width == 1 {
		return 125
	}
	return 2 * width
}

// WindowAt returns the start of the window of width milliseconds for an interval. A page chooses
// intervals by their start, as -s and -e do, and so does this window.
func WindowAt(start, width int64) int64 {
	into := start % width
	if into < 0 {
		into += width
	}
	return start - into
}
