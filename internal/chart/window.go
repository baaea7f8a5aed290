package chart

import "hdrkit/hdrlog/histogram"

// A Window has the values of an interval, or of several intervals that were merged. Package collect
// makes windows, for heat maps and pages. Times are milliseconds from the origin of the picture.
type Window struct {
	// Start is when the first interval starts. Begin and End are when the first interval starts and
	// when the last one ends, truncated to milliseconds as HdrHistogram in Java does.
	Start, Begin, End int64
	Intervals, Count  int64 // numbers of intervals and of values
	// Min and Max are the lowest and the highest value in the unit of the picture, and Sum is the
	// mean times the count. They are as precise as the log. Counts may be less precise.
	Min, Max, Sum float64
	// Source is the index in [Inputs.Logs], plus 1, of the log that has the value Max. It is 0 if
	// that is unknown.
	Source int
	Counts Counts
}

// Counts are counts of values by slot, packed or not.
type Counts interface {
	// Layout returns the layout of the slots.
	Layout() histogram.Layout
	// Histogram returns the counts as a histogram. The histogram is scratch, or it belongs to the
	// counts and must not be changed.
	Histogram(scratch *histogram.Histogram) (*histogram.Histogram, error)
	// AppendCounts appends the counts as [histogram.Histogram.AppendCounts] does.
	AppendCounts(raw []byte) ([]byte, error)
}

// Length returns the length in milliseconds.
func (w *Window) Length() int64 { return w.End - w.Begin }

// Histogram returns the counts as [Counts] does. Package collect has already decoded them once, so
// there can be no error.
func (w *Window) Histogram(scratch *histogram.Histogram) *histogram.Histogram {
	h, err := w.Counts.Histogram(scratch)
	if err != nil {
		panic(err) // package collect has added up the same counts
	}
	return h
}

// AppendCounts appends the counts to raw as [histogram.Histogram.AppendCounts] does.
func (w *Window) AppendCounts(raw []byte) []byte {
	raw, err := w.Counts.AppendCounts(raw)
	if err != nil {
		panic(err) // package collect has added up the same counts
	}
	return raw
}

// Wider returns the next larger width of windows in milliseconds, from the widths 1, 125, 250, 500,
// 1000 and so on. Each width is a multiple of all smaller ones, so that windows nest.
func Wider(width int64) int64 {
	if width == 1 {
		return 125
	}
	return 2 * width
}

// WindowAt returns the start of the window of a width in milliseconds to which an interval belongs.
// Only the start of the interval decides, as it does for -s and -e and for the view of a page.
func WindowAt(start, width int64) int64 {
	offset := start % width
	if offset < 0 {
		offset += width
	}
	return start - offset
}
