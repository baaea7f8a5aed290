package flow

import (
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/scan"
)

// A Flow says which intervals are one result, and who takes the results: [Rows], [Intervals],
// [Times], [Wide], [Windows] or [Doubling].
type Flow interface{ start(r *run) state }

// A state is a flow while it runs. One goroutine calls its methods.
type state interface {
	// newShare returns the share of a worker. Each worker gets one before the scan.
	newShare(w *worker) share
	// take takes the next interval of the scan, and what a worker has made of it.
	take(v scan.Visit, p *partial) error
	// close hands out what is complete at the end.
	close() error
}

// A share is what one worker has of a flow. Only that worker calls its methods.
type share interface {
	// beginBatch begins a batch. The partial results of the batch before were handed over.
	beginBatch()
	// target returns the sum that gets the counts of an interval, or nil. With needsCounts, the
	// counts are decoded before add is called.
	target(v scan.Visit, p *partial) (sum *merge.Sum, needsCounts bool)
	// add takes what it needs of an interval from the decoder, after the counts were added to the
	// sums. Failed is nil or a [merge.SumError]: a sum lacks the interval, maybe that of another
	// share.
	add(v scan.Visit, d *scan.Decoder, failed error, p *partial) error
}

// A rangeObserver is a state that needs to know when inputs ran, for rates: it observes all
// intervals in the range, of any tag. Passed is the time that the input had passed before the
// interval.
type rangeObserver interface {
	observe(v scan.Visit, passed int64)
}

// A partial is what the share of a worker makes of an interval, for its state. Each flow fills the
// fields that its state takes.
type partial struct {
	single  *Window       // the interval alone; its memory is used again
	window  *Window       // of its batch, if the interval is the first one there
	merged  *merge.Merged // a window of a row that is complete
	count   int64         // of values, if windows share them
	highest float64       // value, for [Times]
}

// emptySingle returns the result for the interval alone, with nothing added. The source and figures
// are those of an earlier interval: to set all of them costs 1% of rows over time.
func (p *partial) emptySingle() *Window {
	if p.single == nil {
		p.single = &Window{work: windowWork{single: true}}
	}
	single := p.single
	single.Total.empty()
	if single.Coarse.Intervals() > 0 {
		single.Coarse.Reset()
	}
	single.work.highest = 0
	single.work.handedOver = false
	return single
}

// A run is a scan with its flows.
type run struct {
	scan        *scan.Scan
	states      []state
	observers   []rangeObserver
	workers     []worker // the last one belongs to the consumer goroutine
	rowBytes    int      // about what a row takes beside its counts
	compactAt   int      // the bytes of a worker's sums in a flow from which on new sums are compacted
	passed      []int64  // by input, as in [scan.Scan.HasPassed], by intervals of any tag
	latest      scan.Visit
	differences int // the number of flows with differences
}

// Run takes the intervals of a scan through flows. Windows by time need [scan.Scan.ByTime], which
// it sets.
func Run(s *scan.Scan, flows ...Flow) error {
	return newRun(s, flows).do()
}

func newRun(s *scan.Scan, flows []Flow) *run {
	r := &run{
		scan:      s,
		workers:   make([]worker, s.Workers+1),
		rowBytes:  rowBytes,
		compactAt: s.Memory.AtMost(manyBytes, partOfMemory*s.Workers),
		passed:    slices.Repeat([]int64{math.MinInt64}, len(s.Inputs)),
	}
	for _, f := range flows {
		k := f.start(r)
		if observer, is := k.(rangeObserver); is {
			r.observers = append(r.observers, observer)
		}
		r.states = append(r.states, k)
	}
	for n := range r.workers {
		w := &r.workers[n]
		w.run = r
		for _, k := range r.states {
			w.shares = append(w.shares, k.newShare(w))
		}
	}
	return r
}

// do runs the scan and closes the flows.
func (r *run) do() error {
	r.scan.Hooks.InRange = r.observe
	defer func() { r.scan.Hooks.InRange = nil }()
	decode := func(d *scan.Decoder, v scan.Visit, p *[]partial) error {
		return r.workers[d.Worker].decode(d, v, p)
	}
	if err := scan.Run(r.scan, decode, r.take); err != nil {
		return err
	}
	for n := range r.workers {
		if rows := r.workers[n].rows; rows != nil {
			rows.closeWindows()
		}
	}
	for _, k := range r.states {
		if err := k.close(); err != nil {
			return err
		}
	}
	return nil
}

// observe notes that an input ran during an interval, whatever the tag of the interval is.
func (r *run) observe(v scan.Visit) {
	for _, k := range r.observers {
		k.observe(v, r.passed[v.Input])
	}
	start, end := v.Span()
	r.passed[v.Input] = max(r.passed[v.Input], scan.PassedAfter(start, end))
}

// take gives the next interval to each flow, with what a worker has made of it for that flow.
func (r *run) take(v scan.Visit, partials *[]partial) error {
	r.latest = v
	for n, k := range r.states {
		if err := k.take(v, &(*partials)[n]); err != nil {
			return err
		}
	}
	return nil
}

// A worker has a share of each flow.
type worker struct {
	run    *run
	shares []share
	sums   []*merge.Sum // that get the interval
	rows   *rowsShare   // the share of [Rows]
	key    []byte       // memory for a key
	err    error        // that ends the scan
}

// decode decodes an interval into all sums that get it. Partials gets what it makes of the interval
// for each flow.
func (w *worker) decode(d *scan.Decoder, v scan.Visit, partials *[]partial) error {
	if w.err != nil {
		return scan.Fatal{Err: w.err}
	}
	if *partials == nil {
		*partials = make([]partial, len(w.shares))
	}
	if d.NewBatch {
		for _, s := range w.shares {
			s.beginBatch()
		}
	}
	if err := d.Open(v.Interval); err != nil {
		return err
	}
	if w.rows != nil {
		w.rows.layout = d.Layout()
		w.rows.row = nil
	}
	w.sums = w.sums[:0]
	decodesCounts := false
	for n, s := range w.shares {
		sum, needsCounts := s.target(v, &(*partials)[n])
		decodesCounts = decodesCounts || needsCounts
		if sum != nil {
			w.sums = append(w.sums, sum)
		}
	}
	if decodesCounts {
		if _, err := d.Counts(); err != nil {
			return err
		}
	}
	failed := d.AddTo(w.sums...)
	if failed != nil && !errors.As(failed, new(*merge.SumError)) {
		return failed
	}
	for n, s := range w.shares {
		if err := s.add(v, d, failed, &(*partials)[n]); err != nil {
			return err
		}
	}
	return nil
}

// compactNew compacts a new sum if the sums of its flow take many bytes.
func (r *run) compactNew(sum *merge.Sum, bytes int) {
	if sum.Intervals() < 2 && bytes > r.compactAt {
		sum.Compact()
	}
}

// startIn returns when an interval starts, in seconds since the origin, and the origin, in
// milliseconds since the epoch: the start of the log if times are relative.
func startIn(v scan.Visit, relative bool) (first float64, origin int64) {
	if relative {
		return v.Relative(), logline.Millis(v.LogStart)
	}
	return v.Absolute(), 0
}

// rowBytes is about what a row takes beside its counts: with its tag, and where the sum is printed.
const rowBytes = 1 << 10

const (
	// manyBytes is the largest number of bytes that the sums of a flow take before new ones are
	// compacted. All workers together have at most one part of the memory, of partOfMemory parts.
	manyBytes    = 32 << 20
	partOfMemory = 8
)
