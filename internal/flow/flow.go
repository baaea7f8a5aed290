// Package flow takes the intervals of a scan to what they add up to, by row and by window of time.
//
// Each worker has a share of each flow: one partial result for each row, or for each row and window
// of a batch. It hands over partial results, not intervals, so an interval costs little more than
// to decode its payload into a sum. One goroutine merges the partial results, and hands out what is
// complete. What a row records in a window is a difference of its sums, if that is precise enough.
package flow

import (
	"errors"
	"fmt"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Total is the sum of some intervals of a row: of all, of those in a window, or of one.
type Total struct {
	// Row is the name of the row, nil for the row without a name.
	Row []byte
	// Tag, Input and Name are the tag of the first interval, and the number and the name of its
	// input. With [Windows.Sources] they are those of the interval with the highest value.
	Tag   []byte
	Input int
	Name  string
	// Sum has the counts of the intervals, the start of the first and the end of the last one.
	Sum     merge.Sum
	Lengths int64 // of all intervals together, in milliseconds
	// Kinds and err say why intervals do not add up, see [Total.Err].
	Kinds scan.Kinds
	err   error
}

// A Result has the figures of an interval or of a window.
type Result struct {
	Total
	// First is the start of the first interval in seconds, as it stands in the log: since the
	// epoch, or since the start of the log if times are relative.
	First  float64
	Stats  output.Stats
	Coarse merge.Sum // the counts with fewer significant digits, if they are wanted
	// Visit is the interval, or the interval that completed the window.
	Visit scan.Visit
}

// A Window is the result of a row in a window of time.
type Window struct {
	Result
	Window merge.Span           // of time
	Rate   merge.WindowCount    // how many values were recorded in it
	Counts *histogram.Histogram // of Sum
	// Late reports that this is a single interval that came after its window was complete.
	Late bool

	work windowWork
}

// A windowWork is the part of a window that only the flow uses.
type windowWork struct {
	highest    float64 // value, for [Windows.Sources]
	handedOver bool    // a worker handed the window over with its first interval
	single     bool    // it has one interval, and its memory is not used again for a window
	kept       bool    // see [Window.Keep]
	round      int     // the round of [windowsState.pack] in which the window last got intervals
	ahead      int     // bytes charged for the window while a worker adds to it
}

// setSource sets the row, the tag and the input of a total to those of an interval. Their texts
// stay views of the batch.
func (t *Total) setSource(v scan.Visit) {
	t.Row = v.Row
	t.Tag = v.Tag
	t.Input = v.Input
	t.Name = v.Name
}

// note notes an interval that was added to the sum. Failed is the error if that failed, or nil.
func (t *Total) note(v scan.Visit, d *scan.Decoder, failed error) {
	t.fail(failed)
	start, end := v.Span()
	t.Lengths += end - start
	t.Kinds.Add(d.Double(), v.Place)
}

// empty removes all intervals from the total. It keeps its memory, row, tag and input.
func (t *Total) empty() {
	if t.Sum.Intervals() > 0 {
		t.Sum.Reset()
	}
	t.Lengths = 0
	t.Kinds = scan.Kinds{}
	t.err = nil
}

// Err returns an error if the intervals do not add up: if some have integers and others doubles, or
// if their sum overflows. The error does not depend on the order of the intervals.
func (t *Total) Err() error {
	err := t.Kinds.Err()
	if err == nil {
		err = t.err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("tag %s: %w", tags.Text(t.Row), err)
}

// merge adds the intervals of other, which has the same row.
func (t *Total) merge(other *Total) error {
	if t.err == nil {
		t.err = other.err
	}
	t.Lengths += other.Lengths
	t.Kinds.Merge(other.Kinds)
	return t.fail(t.Sum.Merge(&other.Sum))
}

// fail keeps an error of intervals that do not add up for [Total.Err], and returns nil then. It
// returns any other error.
func (t *Total) fail(err error) error {
	sum, ok := err.(*merge.SumError)
	if !ok {
		return err
	}
	if t.err == nil && !errors.Is(err, histogram.ErrKind) { // Kinds say which
		t.err = sum.Err
	}
	return nil
}

// TooLate returns the error that says so if the window is late, and otherwise nil.
func (w *Window) TooLate() error {
	if !w.Late {
		return nil
	}
	return fmt.Errorf("too late for its window of %v s, at %s, which is written already; hdrunion puts logs in order",
		float64(w.Window.End-w.Window.Start)/1000, time.UnixMilli(w.Window.Start).UTC().Format(time.RFC3339Nano))
}

// Merge adds the intervals of other, which has the same window of time.
func (w *Window) Merge(other *Window) error {
	w.Rate.Moved += other.Rate.Moved
	w.First = min(w.First, other.First)
	w.work.highest = max(w.work.highest, other.work.highest)
	return w.merge(&other.Total)
}

// Keep lets a window stay valid after Emit, until [Window.Release].
func (w *Window) Keep() { w.work.kept = true }

// Release gives the memory of a window back for which Keep was called.
func (w *Window) Release() {
	w.work.kept = false
	w.release()
}

// Reset empties a window, and keeps its memory.
func (w *Window) Reset() {
	w.Sum.Reset()
	w.Coarse.Reset()
	*w = Window{Result: Result{
		Total:  Total{Sum: w.Sum},
		Coarse: w.Coarse,
		Stats:  output.Stats{Percentiles: w.Stats.Percentiles},
	}}
}
