package flow

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// A run is a scan with what its plans have.
type run struct {
	scan     *scan.Scan
	plans    []*state
	workers  []worker // the last one is the goroutine that takes results
	rowBytes int
	crowd    int           // how many times its own bytes a worker counts, since others have sums, too
	passed   []int64       // by input, as in [scan.Scan.Late], by intervals of any tag
	late     *scan.Decoder // of intervals that come after their windows
	last     scan.Visit
	// feeder is the plan whose windows add up to all, -1 if there is none: the longest windows that
	// have all digits.
	feeder int
	fed    bool // there is something to feed
	// byWindow says that complete windows by time feed, since they have several intervals.
	// Otherwise workers add each interval to all.
	byWindow bool
	begun    sync.Once
}

// A way is how results of a plan are complete: at once, at the end, by time, by memory, or at the
// end in windows that become longer.
type way int

const (
	each way = iota
	all
	timed
	roomy
	doubling
)

// A state is what a plan has: its open windows.
type state struct {
	*Plan
	way    way
	run    *run
	size   atomic.Int64 // of windows, 0 if intervals are handed over by themselves
	table  merge.Table[Result]
	bytes  int
	charge ledger.Charge
	double double
	rates  merge.Rates
	ranks  []output.Figure // those at percentiles
	counts histogram.Histogram
	reuse  output.Stats

	mu    sync.Mutex
	known map[string]bool // rows of all workers, of which each is charged once
}

// apart reports whether intervals are handed over by themselves.
func (p *state) apart() bool { return p.way == each || p.way == doubling && p.size.Load() == 0 }

// windowOf returns the window of an interval.
func (p *state) windowOf(v scan.Visit) merge.Span {
	start, end := v.Span()
	_, from := p.from(v)
	return merge.WindowOf(start-from, end-from, p.size.Load())
}

// shares reports whether windows share the values of an interval.
func (p *state) shares(v scan.Visit) bool {
	size := p.size.Load()
	if p.way == each || p.way == all || size == 0 {
		return p.way == doubling
	}
	start, end := v.Span()
	_, from := p.from(v)
	return merge.Crosses(start-from, end-from, size)
}

// rate adds an interval of a row to the rates of windows. Its input has passed a time before.
func (p *state) rate(v scan.Visit, count, passed int64) {
	start, end := v.Span()
	_, from := p.from(v)
	p.rates.Add(v.Row, v.Input, start-from, end-from, count, passed, p.size.Load())
}

// Run takes the intervals of a scan through plans. Windows need [scan.Scan.ByTime], which it sets.
func Run(s *scan.Scan, plans ...*Plan) error {
	r := &run{scan: s, workers: make([]worker, s.Workers+1), rowBytes: rowBytes, feeder: -1,
		passed: slices.Repeat([]int64{math.MinInt64}, len(s.Inputs)), crowd: crowd(s)}
	s.Ran = r.ran
	defer func() { s.Ran = nil }()
	var whole []*state
	for _, p := range plans {
		own := &state{Plan: p, run: r, known: make(map[string]bool)}
		for _, f := range p.Figures {
			if f.Name == "" {
				own.ranks = append(own.ranks, f)
			}
		}
		switch {
		case p.Most > 0:
			own.way, r.rowBytes = doubling, r.rowBytes+believedBytes
		case p.Window == All:
			own.way, r.fed = all, r.fed || !p.Apart
			whole = append(whole, own)
			continue
		case p.Window > 0:
			own.way, s.ByTime = timed, true
			own.size.Store(p.Window)
			own.table = merge.NewTable[Result](p.Window)
			if p.Room > 0 {
				own.way = roomy
			}
		}
		if own.way != each && (r.feeder < 0 || own.way != doubling && p.Window > r.plans[r.feeder].Window) {
			r.feeder = len(r.plans)
		}
		r.plans = append(r.plans, own)
	}
	for n, p := range r.plans {
		if p.Wide != nil && p.way == each {
			if r.rowBytes += rowBytes; r.feeder < 0 {
				r.feeder = n
			}
		}
	}
	r.plans = append(r.plans, whole...)
	for n := range r.workers {
		r.workers[n] = worker{run: r, plans: make([]share, len(r.plans))}
		for p := range r.plans {
			r.workers[n].plans[p].rows = make(map[string]*Result)
		}
	}
	decode := func(worker int, v scan.Visit, o *handed) error { return r.workers[worker].decode(v, o) }
	if err := scan.Run(s, decode, r.take); err != nil {
		return err
	}
	return r.close()
}

// begin decides by the first interval how windows by time feed. Results are the same either way.
func (r *run) begin(v scan.Visit) {
	if r.fed && r.feeder >= 0 {
		p := r.plans[r.feeder]
		start, end := v.Span()
		r.byWindow = (p.way == timed || p.way == roomy) && p.Window*int64(len(r.scan.Inputs)) >= 2*(end-start)
	}
}

// ran notes that an input ran in an interval, whatever the tag of that is. A line that is far out
// of order does not change when the input started: windows by time that are past are complete.
func (r *run) ran(v scan.Visit) {
	for _, p := range r.plans {
		if p.way == each || p.way == all {
			continue
		}
		_, from := p.from(v)
		start, end := v.Span()
		if ran, known := p.rates.Input(v.Input); p.way == timed && known && start < r.passed[v.Input] {
			start, end = max(start, ran.Start), max(end, ran.Start)
		}
		p.rates.Ran(v.Input, start-from, end-from)
	}
	start, end := v.Span()
	r.passed[v.Input] = max(r.passed[v.Input], 2*start-end)
}

// take takes the next interval, or what its row has in its window in this batch.
func (r *run) take(v scan.Visit, o *handed) (err error) {
	r.last = v
	for n, p := range r.plans {
		partial := o.begun[n]
		switch p.way {
		case each:
			own := o.alone[n]
			own.Row, own.Tag, own.Input, own.Name, own.Visit = v.Row, v.Tag, v.Input, v.Name, v
			if err = p.Emit(own); err == nil && partial != nil {
				err = p.Left(partial)
			}
		case doubling:
			if p.takeDouble(v, o.alone[n], o.left[n]); p.double.err == nil {
				p.rate(v, o.count, math.MinInt64)
			}
		case roomy:
			if p.rate(v, o.count, math.MinInt64); partial != nil {
				err = p.merge(partial)
			}
			if err == nil && p.bytes > p.Room {
				err = p.complete(p.table.Window((p.table.Len() - 1) / 2).End)
			}
		case timed:
			err = r.takeTimed(p, v, partial, o.count)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeTimed takes an interval of a plan whose windows are complete by time.
func (r *run) takeTimed(p *state, v scan.Visit, partial *Result, count int64) error {
	start, end := v.Span()
	for next := p.table.Next(); next <= 2*start-end && r.scan.Passed(next); next = p.table.Next() {
		if err := p.complete(next); err != nil {
			return err
		}
	}
	at := p.windowOf(v)
	if !r.scan.Late(v.Input, at.End) {
		p.rate(v, count, r.scan.Before())
		return p.merge(partial)
	}
	// Its input has passed the window, whether others have or not. What the batch has of the window
	// is late, too, so each interval of it is decoded by itself.
	if partial != nil {
		partial.release()
	}
	if r.late == nil {
		r.late = scan.NewDecoder(r.scan.Expected, scan.NewPayloads(r.scan.Memory))
	}
	// Its input has gone on after the window, so it ran all through it. What others share of the
	// window was handed out with that.
	one := &Result{Row: v.Row, Tag: v.Tag, Input: v.Input, Name: v.Name, Window: at, Late: true, alone: true, Rate: merge.Recorded{Millis: at.End - at.Start}}
	took, err := r.late.Visit(v.Interval, v.Place).Take(scan.Want{}, &one.Sum)
	if err != nil {
		return err
	}
	one.Kinds.Add(took.Double, v.Place)
	return p.emit(one)
}

// merge adds what a batch has to a window.
func (p *state) merge(partial *Result) (err error) {
	if partial == nil {
		return nil
	}
	before := 0
	r := p.table.At(partial.Row, partial.Window.Start, partial.Window.Start, func(merge.Span) *Result { return nil })
	switch {
	case r != nil:
		before = r.bytes()
	case partial.alone:
		r = results.Get().(*Result)
		r.Input, r.Name, r.Window, r.First = partial.Input, partial.Name, partial.Window, partial.First
	default:
		r = partial
	}
	if before == 0 {
		r.Row, r.Tag = bytes.Clone(partial.Row), bytes.Clone(partial.Tag)
		p.table.At(r.Row, r.Window.Start, r.Window.Start, func(merge.Span) *Result { return r })
	}
	if r != partial {
		if partial.highest > r.highest {
			r.Input, r.Name, r.Tag = partial.Input, partial.Name, bytes.Clone(partial.Tag)
		}
		if p.way == timed || before == 0 {
			r.Among(2 * p.bytes)
		}
		err = r.Merge(partial)
		partial.release()
	}
	p.bytes += r.bytes() - before
	return cmp.Or(err, p.charge.Set(p.Account, 0, p.bytes))
}

// complete hands out the windows that end by a time.
func (p *state) complete(time int64) error {
	for r := range p.table.Before(time) {
		p.bytes -= r.bytes()
		if err := p.emit(r); err != nil {
			return err
		}
		r.release()
	}
	return nil
}

// emit hands out a window.
func (p *state) emit(r *Result) (err error) {
	r.Counts, err = r.Histogram(&p.counts)
	if err := cmp.Or(r.fail(err), r.Err()); err != nil {
		return err
	}
	if !r.Late {
		r.Rate = p.rates.Take(r.Row, r.Window)
	}
	if run := p.run; run.byWindow && p == run.plans[run.feeder] {
		own := &run.workers[len(run.workers)-1]
		if own.feed(r); own.err != nil {
			return own.err
		}
	}
	if r.Visit = p.run.last; p.Figures != nil {
		p.reuse = output.FiguresOf(r.Counts, p.Figures, p.reuse)
		r.Stats = p.reuse
	}
	r.Stats.Moved = r.Rate.Moved
	if p.Digits > 0 {
		if err := r.Coarse.AddCoarse(r.Start, r.End, r.Counts, p.Digits); err != nil {
			return err
		}
	}
	return p.Emit(r)
}

// close hands out what is complete at the end.
func (r *run) close() (err error) {
	for n, p := range r.plans {
		switch p.way {
		case each:
			for w := range r.workers {
				for _, left := range r.workers[w].leaveAll(n).wides {
					err = cmp.Or(err, p.Left(left))
				}
			}
		case doubling:
			p.closeDouble(n)
		case timed, roomy:
			err = p.complete(math.MaxInt64)
		case all:
			err = r.closeAll(n, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeAll adds up what the workers have of rows, and hands it out. A worker loses what it has, so
// that no sum is in memory twice.
func (r *run) closeAll(n int, p *state) error {
	whole := r.workers[0].plans[n].rows
	for w := range r.workers {
		if err := r.workers[w].err; err != nil || w == 0 {
			if err != nil {
				return err
			}
			continue
		}
		own := r.workers[w].plans[n].rows
		for key, more := range own {
			if delete(own, key); whole[key] == nil {
				whole[key] = more
				continue
			}
			more.charge.Set(p.Account, 0, 0)
			if err := whole[key].Add(more, p.Account); err != nil {
				return err
			}
			more.release()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(whole)) {
		if len(whole[key].Spans) == 0 {
			continue // no payload could be read
		}
		if err := p.Emit(whole[key]); err != nil {
			return err
		}
	}
	return nil
}
