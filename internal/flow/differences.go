package flow

import (
	"cmp"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// differences compute what the rows of a worker record in windows of time: what a row has at the
// end of a window and did not have at its start. So an interval is added to its row only. A window
// of a row ends when an interval of the row lies in another window. The flow needs [Rows] before
// it.
type differences struct {
	worker *worker
	number int // among the flows with differences: the index in [Row].open
	digits int // significant digits of the counts
	// complete takes what a row recorded in a window. It does not keep h.
	complete func(r *Row, o *openWindow, h *histogram.Histogram) error
	recorded histogram.Histogram
}

// An openWindow is the window of time that holds the latest interval of a row.
type openWindow struct {
	window   merge.Span
	ran      merge.Span // from the start of the first of its intervals to the end of the last one
	nonEmpty bool       // it has intervals
	known    bool       // before is what the row had when the window was opened
	before   histogram.Histogram
}

// newDifferences returns the differences of a worker for a flow. The number of the flow is the
// value of [run].differences when the flow started.
func newDifferences(
	w *worker, number, digits int, complete func(r *Row, o *openWindow, h *histogram.Histogram) error,
) *differences {
	d := &differences{worker: w, number: number, digits: digits, complete: complete}
	w.rows.differences = append(w.rows.differences, d)
	return d
}

// open opens the window of the interval that is being decoded, and closes an earlier window of the
// row. It returns false if the sum of the row has no histogram with the layout of the interval:
// then the difference of the sum is not exact, or takes long.
func (d *differences) open(v scan.Visit, window merge.Span) bool {
	r := d.worker.rows.rowOf(v)
	o := r.open[d.number]
	grows := r.Sum.Grows(d.worker.rows.layout)
	if o.window != window || !grows {
		d.close(r)
	}
	if grows && !o.known && r.Sum.Intervals() > 0 {
		d.record(r, o)
	}
	o.window = window
	o.known = grows
	return grows
}

// add notes that the row got the interval for which open returned true.
func (d *differences) add(v scan.Visit) {
	start, end := v.Span()
	o := d.worker.rows.row.open[d.number]
	if !o.nonEmpty {
		o.ran = merge.Span{Start: start, End: end}
	}
	o.nonEmpty = true
	o.ran = merge.Span{Start: min(o.ran.Start, start), End: max(o.ran.End, end)}
}

// record sets d.recorded to what a row got since the last call for it.
func (d *differences) record(r *Row, o *openWindow) {
	err := r.Sum.CoarsenInto(&d.recorded, d.digits)
	if err == nil && o.before.TotalCount() > 0 {
		err = d.recorded.Subtract(&o.before)
	}
	if err == nil {
		err = o.before.Add(&d.recorded)
	}
	d.worker.err = cmp.Or(d.worker.err, r.fail(err))
}

// close completes the window of a row, if that has intervals.
func (d *differences) close(r *Row) {
	o := r.open[d.number]
	if !o.nonEmpty {
		return
	}
	o.nonEmpty = false
	d.record(r, o)
	d.worker.err = cmp.Or(d.worker.err, r.fail(d.complete(r, o, &d.recorded)))
	if r.Sum.Intervals() < 2 { // there may be many rows
		*o = openWindow{}
	}
}
