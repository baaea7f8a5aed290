// Package flow takes the intervals of a scan to what they add up to, by row and by window of time.
//
// Each worker has one partial result for each row and window of a batch, and hands over that, not
// intervals: to decode a payload into a sum is all that costs for each interval. What is wanted of
// a whole log gets the partial results, too. One goroutine merges them, and hands out what is
// complete.
package flow

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// Windows that are none: all of the time, and each interval by itself.
const (
	All  int64 = 0
	Each int64 = -1
)

// A Plan says which intervals are one result, and who takes the results. A row is that of the scan.
type Plan struct {
	// Window is the size of windows in milliseconds, All or Each. Results of windows come when they
	// are complete, in the order of time, then of rows: once all inputs have passed them, see
	// [scan.Scan.Passed]. An interval that comes later is a result by itself. Those of Each come in
	// the order of the scan, and those of All at the end, in the order of rows.
	Window int64
	// Room, if it is above 0, keeps windows open however late an interval comes. They are complete
	// at the end, but half of them earlier if they take more bytes than that. A window may then be
	// opened again. Relative counts times from the start of each log.
	Room     int
	Relative bool
	// Most, if it is above 0, is the largest number of windows. The caller takes them at the end,
	// from Windows. They become twice as long if there are more, or if memory is short, and are as
	// long as the longest interval at least. Their counts have Digits digits.
	Most int64
	// Sources finds out which input has the highest value of a window.
	Sources bool
	// Apart makes rows of each tag of each input.
	Apart bool
	// Maxima has the maxima over time of All.
	Maxima bool
	// Figures are those of each result. Workers find those of Each. Without it, Each has the
	// maximum and the number of values. Counts has the counts of Each as well, and Digits at most
	// so many digits of them, in Coarse. Windows always have their counts.
	Figures []output.Figure
	Counts  bool
	Digits  int
	// Wide, if it is set, is the size of windows for the counts of Each, once it is above 0. Then
	// the results of intervals lack what takes all counts: Coarse, the minimum and the mean. Left
	// takes that of a row in a window, or in a part of it, which may be long after the intervals.
	Wide *atomic.Int64
	Left func(r *Result) error
	// Windows are the Most windows at the end, in the order of time, then of rows, and Rates
	// theirs. Err is why there are none: memory is too short for them.
	Windows []*merge.Merged
	Rates   *merge.Rates
	Err     error
	// Account is charged for rows and windows.
	Account *ledger.Account
	// Emit takes a result, which is valid until Emit returns, or for good if it comes at the end.
	Emit func(r *Result) error
}

// A Result is what the intervals of a row add up to: one of them, those of a window, or all.
type Result struct {
	// Row is nil for the row without a name. Input, Name and Tag are those of its first interval,
	// or those of the input with the highest value, see [Plan.Sources].
	Row, Tag []byte
	Input    int
	Name     string
	Window   merge.Span
	// The sum has the counts, and when the first interval starts and the last one ends. First is
	// when the first one starts in seconds, as the log has it: since the epoch, or since the start
	// of the log if times are relative.
	merge.Sum
	First   float64
	Lengths int64          // of its intervals, in milliseconds
	Rate    merge.Recorded // of a window
	Kinds   scan.Kinds
	Spans   []Span // of All
	Maxima  Maxima
	Coarse  merge.Sum

	Stats  output.Stats
	Counts *histogram.Histogram // of a window
	// Visit is the interval of Each, or the one that completed a window. Late is set if the
	// interval comes after its window was complete.
	Visit scan.Visit
	Late  bool

	err     error   // why some intervals do not add up
	highest float64 // value, for Sources
	handed  bool
	alone   bool // it is of one interval, and not used again as a window
	kept    bool
	counted bool // among the rows that are charged: no other worker had it before
	charge  ledger.Charge
}

// A Span is when the intervals of a row in an input began and ended, in milliseconds since the
// epoch.
type Span struct {
	Input      int
	Start, End int64
}

// Err returns why the intervals do not add up. It does not depend on their order.
func (r *Result) Err() error {
	err := r.Kinds.Err()
	if err == nil {
		err = r.err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("tag %s: %w", tags.Text(r.Row), err)
}

// TooLate returns why the result is late.
func (r *Result) TooLate() error {
	if !r.Late {
		return nil
	}
	return fmt.Errorf("too late for its window of %v s, at %s, which is written already; hdrunion puts logs in order",
		float64(r.Window.End-r.Window.Start)/1000, time.UnixMilli(r.Window.Start).UTC().Format(time.RFC3339Nano))
}

// Recorded returns what to divide the number of values by to get their rate, in milliseconds.
func (r *Result) Recorded() int64 {
	if r.Window.End == 0 && r.Window.Start == 0 {
		return hdrlog.Millis(r.Visit.Length)
	}
	return r.Rate.Millis
}

// Merge adds what other has, which is of the same row.
func (r *Result) Merge(other *Result) error {
	if r.err == nil {
		r.err = other.err
	}
	r.Kinds.Merge(other.Kinds)
	r.Lengths += other.Lengths
	r.Rate.Moved += other.Rate.Moved
	r.Maxima.merge(&other.Maxima)
	for _, s := range other.Spans {
		r.include(s)
	}
	r.First, r.highest = min(r.First, other.First), max(r.highest, other.highest)
	return r.fail(r.Sum.Merge(&other.Sum))
}

// Add merges other, and charges an account of rows for r.
func (r *Result) Add(other *Result, account *ledger.Account) error {
	r.Among(math.MaxInt) // rows may be many by now
	if err := r.Merge(other); err != nil {
		return err
	}
	return r.charge.Set(account, 1, rowBytes+r.Sum.Size())
}

// Keep lets a window stay valid after Emit, until [Result.Release].
func (r *Result) Keep() { r.kept = true }

// Release gives a window back that was kept, or a result of All that nobody needs any more.
func (r *Result) Release() {
	r.kept = false
	r.release()
}

// Reset empties a result.
func (r *Result) Reset() {
	r.Sum.Reset()
	r.Coarse.Reset()
	*r = Result{Sum: r.Sum, Coarse: r.Coarse, Stats: output.Stats{Percentiles: r.Stats.Percentiles}, alone: r.alone}
}

// include takes in a span.
func (r *Result) include(span Span) {
	n := len(r.Spans) - 1 // nearly always of the same input
	for n >= 0 && r.Spans[n].Input != span.Input {
		n--
	}
	if n < 0 {
		r.Spans = append(r.Spans, span)
		return
	}
	s := &r.Spans[n]
	s.Start, s.End = min(s.Start, span.Start), max(s.End, span.End)
}

// bytes returns about what a result takes in a table.
func (r *Result) bytes() int { return r.Sum.Size() }

// fail keeps an error of intervals that do not add up, and returns another one.
func (r *Result) fail(err error) error {
	sum, ok := err.(*merge.SumError)
	if !ok {
		return err
	}
	if r.err == nil && !errors.Is(err, histogram.ErrKind) { // Kinds say which
		r.err = sum.Err
	}
	return nil
}
