package flow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// A worker has its own results of all, and those of windows in one batch.
type worker struct {
	run    *run
	plans  []share
	sums   []*merge.Sum
	count  int   // of intervals in the batch
	passed int64 // by them
	dense  int   // results of the batch whose counts may take much memory for few values
	key    []byte
	coarse histogram.Histogram
	err    error
}

// A share is what a worker has of a plan.
type share struct {
	rows map[string]*Result
	to   *Result // what gets the interval
	wide *Result // what gets its counts, for a plan with Wide
	few  bool    // windows have few intervals of a batch, so these are handed over by themselves
	// Windows that stay for later batches, to be handed over: those that may become longer, and
	// those of a plan with Wide.
	left   []*merge.Merged
	wides  []*Result
	bytes  int // that rows take
	opened int // windows that stay, in the batch
}

// mostDense is the largest number of dense results. Twice as many take 0 to 4% less time for six
// tags, and 125 instead of 100 MB for forty with -memory 64MiB.
const mostDense = 16

// leastAdded is how many intervals of a batch a window has where workers add them up. To add up the
// counts of all slots costs more than to decode a few payloads once more. With an interval each
// second, windows of 10 s are as fast both ways.
const leastAdded = 10

// cacheBytes is what windows that stay for later batches may take to have few intervals: within a
// cache, it is quicker to add them up. Of 120 tags, that makes 0.9 of hdrsum -ci.
const cacheBytes = 4 << 20

// results of windows are used again: the sum of one may take half a megabyte.
var results = sync.Pool{New: func() any { return new(Result) }}

// release gives a result back.
func (r *Result) release() {
	if r.kept {
		return
	}
	if r.Reset(); !r.alone {
		results.Put(r)
	}
}

// A handed is what a worker makes of an interval, by plan: a result of that alone, and the result
// of its row and window in the batch if it is the first one there. Left is a window of a row that
// a worker has left; for Each, begun is that.
type handed struct {
	alone, begun []*Result
	left         []*merge.Merged
	count        int64 // of values, if windows of a plan share them
}

// again returns the result of a plan for an interval alone, which is empty.
func (o *handed) again(n int) *Result {
	r := o.alone[n]
	if r == nil {
		r = &Result{alone: true}
		o.alone[n] = r
	}
	if r.Kinds, r.err, r.handed, r.highest = (scan.Kinds{}), nil, false, 0; r.Sum.Intervals() > 0 {
		r.Sum.Reset()
	}
	if r.Lengths = 0; r.Coarse.Intervals() > 0 {
		r.Coarse.Reset()
	}
	return r
}

// decode decodes an interval into all results that get it.
func (w *worker) decode(v scan.Visit, o *handed) error {
	if w.err != nil {
		return scan.Fatal{Err: w.err}
	}
	if o.alone == nil {
		o.alone, o.begun, o.left = make([]*Result, len(w.plans)), make([]*Result, len(w.plans)), make([]*merge.Merged, len(w.plans))
	}
	if v.First {
		w.run.begun.Do(func() { w.run.begin(v) })
		w.begin()
	}
	w.count++
	start, end := v.Span()
	want, fed := scan.Want{}, false
	w.sums = w.sums[:0]
	for n, p := range w.run.plans { // those of All come last
		to, sum := (*Result)(nil), true
		o.begun[n], o.left[n] = nil, nil
		switch {
		case p.apart():
			to = o.again(n)
			counts := p.Figures != nil || p.Digits > 0
			if w.plans[n].wide = w.wide(n, v); w.plans[n].wide != nil {
				w.sums, fed, counts = append(w.sums, &w.plans[n].wide.Sum), fed || n == w.run.feeder, len(p.ranks) > 0
			}
			sum, want.Max, want.Counts = p.Plan.Counts, true, want.Counts || counts
		case p.way == all:
			to, sum, want.Max = w.whole(n, v), p.Apart || !fed, want.Max || p.Maxima
		default:
			to = w.partial(n, v, o)
			sum, want.Max = to != nil, want.Max || p.Sources && len(w.run.scan.Inputs) > 1
			if p.way == doubling && to.alone {
				sum, want.Counts = false, true
			}
			fed = fed || n == w.run.feeder && (w.run.byWindow || sum && p.way == doubling && !to.alone)
		}
		if p.shares(v) {
			want.Max = true
		}
		if w.plans[n].to = to; sum {
			w.sums = append(w.sums, &to.Sum)
		}
	}
	took, err := v.Take(want, w.sums...)
	if err != nil && !errors.As(err, new(*merge.SumError)) {
		return err
	}
	o.count, w.passed = took.Count, max(w.passed, 2*start-end)
	for n, p := range w.run.plans {
		to := w.plans[n].to
		if to == nil {
			continue // it is late
		}
		to.fail(err)
		to.Lengths += end - start
		to.Kinds.Add(took.Double, v.Place)
		switch first, _ := p.from(v); {
		case p.way == all:
			if to.include(Span{v.Input, start, end}); p.Maxima && took.Max > 0 {
				to.Maxima.Add(start, end, took.Max)
			}
			if err := w.charge(n, to); err != nil {
				return scan.Fatal{Err: err}
			}
		case to.alone && (p.way == each || p.way == doubling):
			to.First = first
			figures, wide := p.Figures, w.plans[n].wide != nil
			if wide {
				figures = p.ranks
				w.plans[n].hold(w.plans[n].wide)
			}
			if figures != nil {
				to.Stats = output.FiguresOf(took.Counts, figures, to.Stats)
			} else {
				to.Stats = output.Stats{Count: took.Count, Max: output.FloatValue(took.Max), Percentiles: to.Stats.Percentiles}
			}
			if p.Digits > 0 && !wide {
				if err := to.Coarse.AddCoarse(start, end, took.Counts, p.Digits); err != nil {
					return err
				}
			}
		case p.way == doubling:
			w.plans[n].hold(to)
		default:
			to.First, to.highest = min(to.First, first), max(to.highest, took.Max)
			if !to.handed {
				to.handed, o.begun[n] = true, to
			}
		}
		switch own := &w.plans[n]; {
		case len(own.left) > 0:
			o.left[n], own.left = own.left[0], own.left[1:]
		case len(own.wides) > 0:
			o.begun[n], own.wides = own.wides[0], own.wides[1:]
		}
	}
	return nil
}

// from returns when an interval starts, in seconds, and what its times count from, in milliseconds
// since the epoch.
func (p *Plan) from(v scan.Visit) (first float64, from int64) {
	if p.Relative {
		return v.Relative(), hdrlog.Millis(v.LogStart)
	}
	return v.Absolute(), 0
}

// of returns what a worker has by w.key, or adds a result of the interval.
func (w *worker) of(n int, v scan.Visit) (r *Result, added bool) {
	rows := w.plans[n].rows
	if r = rows[string(w.key)]; r == nil {
		r = results.Get().(*Result)
		r.Row, r.Input, r.Name, r.Tag = bytes.Clone(v.Row), v.Input, v.Name, bytes.Clone(v.Tag)
		rows[string(w.key)], added = r, true
	}
	r.Among(w.plans[n].bytes * w.run.crowd)
	return r, added
}

// whole returns what a row has.
func (w *worker) whole(n int, v scan.Visit) *Result {
	if w.key = w.key[:0]; w.run.plans[n].Apart {
		w.key = merge.AppendKey(binary.BigEndian.AppendUint32(w.key, uint32(v.Input)), v.Tag)
	} else {
		w.key = merge.AppendKey(w.key, v.Row)
	}
	r, added := w.of(n, v)
	if added {
		r.counted = w.run.plans[n].first(w.key)
	}
	return r
}

// first reports whether no worker had a row before.
func (p *state) first(key []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[string(key)] {
		return false
	}
	p.known[string(key)] = true
	return true
}

// partial returns what a row has in a window in this batch, or what an interval has alone if
// windows have few. It returns nil if the interval is late.
func (w *worker) partial(n int, v scan.Visit, o *handed) *Result {
	p, own := w.run.plans[n], &w.plans[n]
	at := p.windowOf(v)
	switch w.key = w.key[:0]; {
	case p.way == timed && at.End <= w.passed:
		return nil
	case p.way == doubling:
		one, r := o.again(n), w.open(n, v, at)
		if own.few {
			return one
		}
		return r
	}
	w.key = merge.AppendKey(binary.BigEndian.AppendUint64(w.key, uint64(at.Start)), v.Row)
	r, known := own.rows[string(w.key)]
	switch {
	case own.few:
		if !known {
			own.rows[string(w.key)] = nil // to count windows
		}
		r = o.again(n)
	case known:
		return r
	default:
		r = results.Get().(*Result)
		if w.dense < mostDense {
			r.Among(0)
		} else {
			r.Among(math.MaxInt)
		}
		w.dense++
		own.rows[string(w.key)] = r
	}
	r.Row, r.Tag, r.Input, r.Name = v.Row, v.Tag, v.Input, v.Name // views of the batch
	r.Window, r.First = at, math.Inf(1)
	return r
}

// open returns what a row has in a window. The order of such windows makes no difference, so it
// stays for later batches.
func (w *worker) open(n int, v scan.Visit, at merge.Span) *Result {
	w.key = merge.AppendKey(w.key[:0], v.Row)
	r, added := w.of(n, v)
	if r.Window != at {
		w.plans[n].opened++
		if !added {
			w.leave(n, r)
		}
	}
	r.Window = at
	return r
}

// wide returns what gets the counts of an interval of Each, if that is not the interval.
func (w *worker) wide(n int, v scan.Visit) *Result {
	p := w.run.plans[n]
	if p.Wide == nil {
		return nil
	}
	size := p.Wide.Load()
	if size == 0 {
		return nil
	}
	first, _ := p.from(v)
	return w.open(n, v, merge.WindowOf(hdrlog.Millis(first), hdrlog.Millis(first), size))
}

const (
	// rowBytes is about what a row takes beside its counts: with its tag, and where the sum is
	// printed.
	rowBytes = 1 << 10
	// believedBytes is about what intervals of confidence of a row take, and its comparison with
	// others.
	believedBytes = 4 << 10
)

// spareBytes is what the rows of a plan may take until their sums keep packed counts, see
// [merge.Sum.Among]. With many workers it is less: all of them have a part of the memory.
const spareBytes, partOfMemory = 32 << 20, 8

// crowd returns how many times its own bytes a worker counts.
func crowd(s *scan.Scan) int {
	return max(spareBytes/max(s.Memory.AtMost(spareBytes, partOfMemory*s.Workers), 1), 1)
}

// charge charges for a row to which something was added.
func (w *worker) charge(n int, r *Result) error {
	size := w.run.rowBytes + r.Sum.Size()
	w.plans[n].bytes += size - r.charge.Bytes()
	things := 0
	if r.counted {
		things = 1
	}
	return r.charge.Set(w.run.plans[n].Account, things, size)
}

// hold counts what a row has taken in a window that stays for later batches: it keeps the memory.
func (s *share) hold(r *Result) {
	if size := r.Sum.Size(); size > r.charge.Bytes() {
		s.bytes += size - r.charge.Bytes()
		r.charge.Set(nil, 0, size)
	}
}

// begin begins a batch. The results of the one before are handed over.
func (w *worker) begin() {
	for n, p := range w.run.plans {
		switch own := &w.plans[n]; p.way {
		case doubling:
			own.few, own.opened = own.bytes > cacheBytes && w.count < leastAdded*own.opened, 0
		case timed, roomy:
			own.few = w.count < leastAdded*len(own.rows)
			clear(own.rows)
		}
	}
	w.passed, w.dense, w.count = math.MinInt64, 0, 0
}

// leave completes what a row had in a window that may become longer.
func (w *worker) leave(n int, r *Result) {
	if r.Intervals() == 0 {
		return
	}
	own, p := &w.plans[n], w.run.plans[n]
	h, err := r.Histogram(&w.coarse)
	switch {
	case err != nil:
	case p.way == each:
		left := &Result{Row: r.Row, Window: r.Window, Stats: output.StatsOf(h, nil, output.Stats{})}
		err = left.Coarse.AddCoarse(r.Start, r.End, h, p.Digits)
		own.wides = append(own.wides, left)
	default:
		left := &merge.Merged{Tag: r.Row}
		err = left.Sum.AddCoarse(r.Start, r.End, h, p.Digits)
		own.left = append(own.left, left)
	}
	if w.err = cmp.Or(w.err, r.fail(err)); n == w.run.feeder {
		w.feed(r)
	}
	r.Sum.Reset()
}

// leaveAll completes what all rows of a plan had, at the end.
func (w *worker) leaveAll(n int) *share {
	own := &w.plans[n]
	for _, r := range own.rows {
		w.leave(n, r)
	}
	return own
}

// feed adds what a row has in a window to what it has in all.
func (w *worker) feed(r *Result) {
	w.key = merge.AppendKey(w.key[:0], r.Row)
	for n, p := range w.run.plans {
		if p.way == all && !p.Apart {
			row := w.plans[n].rows[string(w.key)]
			if row == nil { // it is the goroutine's that takes results
				row = &Result{Row: bytes.Clone(r.Row)}
				row.Among(w.plans[n].bytes * w.run.crowd)
				w.plans[n].rows[string(w.key)] = row
			}
			w.err = cmp.Or(w.err, row.fail(row.Sum.Merge(&r.Sum)), w.charge(n, row))
		}
	}
}
