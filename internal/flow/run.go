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
	// consume merges what a worker made of the next interval of the scan.
	consume(v scan.Visit, p *partial) error
	// close emits the results that are complete at the end of the scan.
	close() error
}

// A share is the work of one worker for a flow. Only this worker calls its methods.
type share interface {
	// beginBatch is called before the first interval of a batch.
	beginBatch()
	// target returns the sum that gets the counts of an interval, or nil. With needsCounts, the
	// counts are decoded before add is called.
	target(v scan.Visit, p *partial) (sum *merge.Sum, needsCounts bool)
	// add gets the figures of an interval from the decoder, after the sums got the counts. It puts
	// results for the state into p. Failed is nil, or a [merge.SumError] if the sum of this share
	// or of another one lacks the interval.
	add(v scan.Visit, d *scan.Decoder, failed error, p *partial) error
}

// A rangeObserver is a state that needs to know when inputs ran, for rates.
type rangeObserver interface {
	// observe is called for each interval in the range of the scan, of any tag. Passed is the time
	// that the input had passed before the interval, see [scan.Scan.HasPassed].
	observe(v scan.Visit, passed int64)
}

// A partial is what the share of a worker makes of an interval for the state of the flow. Each flow
// uses some of the fields.
type partial struct {
	single  *Window       // the result of the interval alone; its memory is used again
	window  *Window       // the window of its batch, if the interval is the first one in it
	merged  *merge.Merged // the counts of a row in a window
	count   int64         // number of values
	highest float64       // value
}

// emptySingle returns the window for the interval alone, with an empty sum. Its other fields are
// those of an earlier interval: to set all of them takes 1% of the time of rows over time.
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

// A run is a scan with the states of its flows.
type run struct {
	scan        *scan.Scan
	states      []state
	observers   []rangeObserver
	workers     []worker   // the last one belongs to the consumer goroutine
	rowBytes    int        // about what a row takes beside its counts
	compactAt   int        // the bytes of a worker's sums in a flow from which on new sums are compacted
	passed      []int64    // by input, as in [scan.Scan.HasPassed], by intervals of any tag
	latest      scan.Visit // the interval that is consumed
	differences int        // the number of flows with differences
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

// do runs the scan, and closes the states.
func (r *run) do() error {
	decode := func(d *scan.Decoder, v scan.Visit, p *[]partial) error {
		return r.workers[d.Worker].decode(d, v, p)
	}
	if err := scan.RunObserved(r.scan, decode, r.observe, r.consume); err != nil {
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

// consume gives each state what a worker made of the next interval.
func (r *run) consume(v scan.Visit, partials *[]partial) error {
	r.latest = v
	for n, k := range r.states {
		if err := k.consume(v, &(*partials)[n]); err != nil {
			return err
		}
	}
	return nil
}

// A worker is a goroutine of the scan that decodes intervals. It has a share of each flow.
type worker struct {
	run    *run
	shares []share
	sums   []*merge.Sum // memory for the sums that get an interval
	rows   *rowsShare   // the share of [Rows]
	key    []byte       // memory for a key
	err    error        // ends the scan
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

// rowBytes is about how many bytes a row takes beside its counts: for its tag, and to print the
// sum.
const rowBytes = 1 << 10

const (
	// New sums of a flow are compacted once its sums take manyBytes, or one of partOfMemory parts
	// of the memory for all workers together.
	manyBytes    = 32 << 20
	partOfMemory = 8
)
