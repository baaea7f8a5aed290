package flow

import (
	"errors"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/scan"
)

// A Flow says which intervals are one result, and who takes the results: [Rows], [Intervals],
// [Times], [Wide], [Windows] or [Doubling].
type Flow interface{ start(r *run) state }

// A state is a flow in a run. One goroutine calls its methods.
type state interface {
	part(w *worker) part
	// take takes the next interval of the scan, and what a worker has made of it.
	take(v scan.Visit, m *made) error
	// close hands out what is complete at the end.
	close() error
}

// A part is what one worker has of a flow. Only that worker calls its methods.
type part interface {
	// begin begins a batch. The results of the batch before were handed over.
	begin()
	// want returns which figures of an interval the part needs, and the sum that gets its counts,
	// or nil.
	want(v scan.Visit, m *made) (scan.Want, *merge.Sum)
	// decoded takes the figures of the interval once it is decoded and added. Failed is nil or a
	// [merge.SumError]: a sum lacks the interval, maybe that of another part.
	decoded(v scan.Visit, t *scan.Taken, failed error, m *made) error
}

// A rated state needs to know when inputs ran, for rates. Passed is the time that the input had
// passed before the interval.
type rated interface {
	ran(v scan.Visit, passed int64)
}

// made is what the part of a worker makes of an interval, for its state.
type made struct {
	one    *Window       // the interval alone; its memory is used again
	window *Window       // of its batch, if the interval is the first one there
	merged *merge.Merged // a window of a row that is complete
	count  int64         // of values, if windows share them
	// highest is for [Times].
	highest float64
}

// alone returns the result for the interval alone, with nothing added. The other fields are those
// of the interval before: to set all of them costs 1% of rows over time.
func (m *made) alone() *Window {
	if m.one == nil {
		m.one = &Window{alone: true}
	}
	one := m.one
	one.Total.empty()
	if one.Coarse.Intervals() > 0 {
		one.Coarse.Reset()
	}
	one.highest = 0
	one.handedOver = false
	return one
}

// A run is a scan with its flows.
type run struct {
	scan      *scan.Scan
	states    []state
	rated     []rated
	workers   []worker // the last one belongs to the consumer goroutine
	rowBytes  int
	compactAt int     // the bytes of a worker's sums in a flow from which on new sums are compacted
	passed    []int64 // by input, as in [scan.Scan.Late], by intervals of any tag
	latest    scan.Visit
	differ    int // flows with differences
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
		if k, is := k.(rated); is {
			r.rated = append(r.rated, k)
		}
		r.states = append(r.states, k)
	}
	for n := range r.workers {
		w := &r.workers[n]
		w.run = r
		for _, k := range r.states {
			w.parts = append(w.parts, k.part(w))
		}
	}
	return r
}

// do takes the intervals of the scan through the flows.
func (r *run) do() error {
	r.scan.Ran = r.ran
	defer func() { r.scan.Ran = nil }()
	decode := func(worker int, v scan.Visit, o *outcome) error { return r.workers[worker].decode(v, o) }
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

// ran notes that an input ran in an interval, whatever the tag of that is.
func (r *run) ran(v scan.Visit) {
	for _, k := range r.rated {
		k.ran(v, r.passed[v.Input])
	}
	start, end := v.Span()
	r.passed[v.Input] = max(r.passed[v.Input], scan.Passes(start, end))
}

// take takes the next interval.
func (r *run) take(v scan.Visit, o *outcome) error {
	r.latest = v
	for n, k := range r.states {
		if err := k.take(v, &o.made[n]); err != nil {
			return err
		}
	}
	return nil
}

// An outcome is what a worker makes of an interval, for each flow.
type outcome struct{ made []made }

// A worker has a part of each flow.
type worker struct {
	run   *run
	parts []part
	sums  []*merge.Sum
	// layout is that of the interval that is decoded.
	layout histogram.Layout
	rows   *rowsPart // the part of [Rows]
	key    []byte
	err    error
}

// decode decodes an interval into all sums that get it.
func (w *worker) decode(v scan.Visit, o *outcome) error {
	if w.err != nil {
		return scan.Fatal{Err: w.err}
	}
	if o.made == nil {
		o.made = make([]made, len(w.parts))
	}
	if v.First {
		for _, s := range w.parts {
			s.begin()
		}
	}
	p, err := v.Open()
	if err != nil {
		return err
	}
	w.layout = p.Layout()
	var want scan.Want
	w.sums = w.sums[:0]
	if w.rows != nil {
		w.rows.target = nil
	}
	for n, s := range w.parts {
		more, sum := s.want(v, &o.made[n])
		want.Max, want.Counts = want.Max || more.Max, want.Counts || more.Counts
		if sum != nil {
			w.sums = append(w.sums, sum)
		}
	}
	took, failed := v.DecodeOpen(p, want, w.sums...)
	if failed != nil && !errors.As(failed, new(*merge.SumError)) {
		return failed
	}
	for n, s := range w.parts {
		if err := s.decoded(v, &took, failed, &o.made[n]); err != nil {
			return err
		}
	}
	return nil
}

// compactNew compacts a new sum if those of its flow take many bytes.
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

// manyBytes is what the sums of a flow take before new ones are compacted. With many workers it is
// less: all of them have a part of the memory.
const manyBytes, partOfMemory = 32 << 20, 8
