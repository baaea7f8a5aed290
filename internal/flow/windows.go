package flow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// Windows is the flow that adds up the intervals of each row in windows of time. It hands out a
// window when the window is complete: once all inputs have passed it, see [scan.Scan.AllPassed].
// Windows are in the order of time, then of rows. An interval that comes later is a result by
// itself, unless AtEnd is set.
type Windows struct {
	// Size is the length of windows in milliseconds.
	Size int64
	// AtEnd keeps all windows open to the end, however late an interval comes. They are packed, and
	// take memory that grows with their number.
	AtEnd bool
	// Relative counts times from the start of each log. It needs AtEnd.
	Relative bool
	// Sources finds which input has the highest value of a window: the first of several inputs.
	Sources bool
	// Figures are computed for each window. Digits, unless 0, lets Coarse have the counts of the
	// window with at most this number of significant digits.
	Figures []output.Figure
	Digits  int
	// Account is charged for windows.
	Account *ledger.Account
	// Emit takes a window. The window is valid until Emit returns, or, after [Window.Keep], until
	// [Window.Release].
	Emit func(w *Window) error
}

// Workers add up the intervals of a batch in windows if a window has more than minAdded of them
// on average. Otherwise they hand over each interval by itself, since a sum for each window of a
// batch takes two to three times the memory then, and up to 1.15 times the CPU time. With an
// interval each second, windows of 10 s are as fast both ways.
const minAdded = 10

// windowBytes is about how many bytes an open window takes beside its sum.
const windowBytes = 800

// windowPool has empty windows. The sum of a window may take half a megabyte.
var windowPool = sync.Pool{New: func() any { return new(Window) }}

// release puts a window into the pool, unless somebody keeps it.
func (w *Window) release() {
	if w.work.kept || w.work.single {
		return
	}
	w.Reset()
	windowPool.Put(w)
}

// A windowsState is a [Windows] while it runs. It has the open windows.
type windowsState struct {
	flow   *Windows
	run    *run
	table  merge.Table[Window]
	bytes  int // of all windows in the table
	loose  int // bytes of the sums that are not packed
	packAt int // loose after the last call of pack
	round  int // the number of calls of pack
	charge ledger.Charge
	ahead  atomic.Int64 // bytes of windows to which workers add, and which are not in the table
	rates  merge.Rates
	counts histogram.Histogram
	late   *scan.Decoder // of intervals that come after their windows
}

// A windowsShare has the windows of the current batch of a worker.
type windowsShare struct {
	state       *windowsState
	worker      *worker
	windows     map[string]*Window // by row and start of the window
	window      *Window            // gets the interval that is being decoded, nil if it is late
	findsMax    bool               // the maximum and the number of values of the interval are needed
	oneByOne    bool               // intervals are handed over by themselves, see minAdded
	intervals   int                // in the batch so far
	passedUntil int64              // after these intervals, see [scan.PassedAfter]
}

func (k *Windows) start(r *run) state {
	r.scan.ByTime = true
	return &windowsState{flow: k, run: r, table: merge.NewTable[Window](k.Size)}
}

func (k *windowsState) newShare(w *worker) share {
	return &windowsShare{state: k, worker: w, windows: make(map[string]*Window)}
}

func (s *windowsShare) beginBatch() {
	s.oneByOne = s.intervals <= minAdded*len(s.windows) // true for the first batch
	clear(s.windows)
	s.passedUntil = math.MinInt64
	s.intervals = 0
}

// span returns when an interval starts and ends in the time of the windows.
func (k *windowsState) span(v scan.Visit) (start, end int64) {
	start, end = v.Span()
	_, origin := startIn(v, k.flow.Relative)
	return start - origin, end - origin
}

func (s *windowsShare) target(v scan.Visit, p *partial) (sum *merge.Sum, needsCounts bool) {
	k := s.state
	start, end := k.span(v)
	first, _ := startIn(v, k.flow.Relative)
	s.intervals++
	s.findsMax = k.flow.Sources && len(k.run.scan.Inputs) > 1 || merge.Crosses(start, end, k.flow.Size)
	p.window = nil
	s.window = s.windowOf(merge.WindowOf(start, end, k.flow.Size), v, p)
	if s.window == nil {
		return nil, false
	}
	s.window.First = min(s.window.First, first)
	return &s.window.Sum, false
}

// windowOf returns the window to which an interval is added: the window of its row in this batch,
// or a window for the interval alone if intervals are handed over by themselves. It returns nil if
// the interval is late.
func (s *windowsShare) windowOf(at merge.Span, v scan.Visit, p *partial) *Window {
	k := s.state
	if !k.flow.AtEnd && at.End <= s.passedUntil {
		return nil
	}
	w := s.worker
	w.key = merge.AppendKey(binary.BigEndian.AppendUint64(w.key[:0], uint64(at.Start)), v.Row)
	window, known := s.windows[string(w.key)]
	switch {
	case s.oneByOne:
		if !known {
			s.windows[string(w.key)] = nil // to count windows
		}
		window = p.emptySingle()
	case known:
		return window
	default:
		window = windowPool.Get().(*Window)
		k.run.compactNew(&window.Sum, int(k.ahead.Load()))
		s.windows[string(w.key)] = window
	}
	window.setSource(v)
	window.Window, window.First = at, math.Inf(1)
	return window
}

func (s *windowsShare) add(v scan.Visit, d *scan.Decoder, failed error, p *partial) (err error) {
	highest := 0.0
	p.count = 0
	if s.findsMax {
		if highest, p.count, err = d.MaxAndCount(); err != nil {
			return err
		}
	}
	start, end := v.Span()
	s.passedUntil = max(s.passedUntil, scan.PassedAfter(start, end))
	w := s.window
	if w == nil {
		return nil
	}
	w.note(v, d, failed)
	if err := s.state.holdAhead(w, rowBytes+w.Sum.Size()); err != nil {
		return scan.Fatal{Err: err}
	}
	w.work.highest = max(w.work.highest, highest)
	if !w.work.handedOver {
		w.work.handedOver = true
		p.window = w
	}
	return nil
}

// holdAhead charges for a number of bytes of a window to which a worker adds, instead of those that
// were charged before. At 0 the window is no longer charged here.
func (k *windowsState) holdAhead(w *Window, bytes int) error {
	more := bytes - w.work.ahead
	if more == 0 {
		return nil
	}
	w.work.ahead = bytes
	k.ahead.Add(int64(more))
	return k.flow.Account.Add(0, more)
}

// observe notes when an input ran. A line that is far out of order does not move the start of its
// input, since the windows at its time are complete already.
func (k *windowsState) observe(v scan.Visit, passed int64) {
	start, end := k.span(v)
	if ran, known := k.rates.Input(v.Part); known && start < passed && !k.flow.AtEnd {
		start, end = max(start, ran.Start), max(end, ran.Start)
	}
	k.rates.Ran(v.Part, start, end)
}

func (k *windowsState) consume(v scan.Visit, p *partial) error {
	start, end := k.span(v)
	if k.flow.AtEnd {
		k.rates.Add(v.Row, v.Part, start, end, p.count, math.MinInt64, k.flow.Size)
		return k.merge(p.window)
	}
	passed := scan.PassedAfter(start, end)
	for next := k.table.Next(); next <= passed && k.run.scan.AllPassed(next); next = k.table.Next() {
		if err := k.complete(next); err != nil {
			return err
		}
	}
	at := merge.WindowOf(start, end, k.flow.Size)
	if k.run.scan.HasPassed(v.Input, at.End) {
		return k.takeLate(v, at, p)
	}
	// Windows that the input had passed before get no part of the interval.
	k.rates.Add(v.Row, v.Part, start, end, p.count, k.run.scan.PassedBefore(), k.flow.Size)
	return k.merge(p.window)
}

// takeLate emits an interval whose input has passed its window, whether other inputs have or not.
// It decodes the interval by itself, since the other intervals of the batch in this window are
// late, too.
func (k *windowsState) takeLate(v scan.Visit, at merge.Span, p *partial) error {
	if p.window != nil && !p.window.work.single {
		k.holdAhead(p.window, 0)
		p.window.release()
	}
	if k.late == nil {
		k.late = scan.NewDecoder(k.run.scan.Correction.Expected, scan.NewPayloadLimits(k.run.scan.Memory))
	}
	// The input has passed this window, so it ran through all of it. The window was handed out with
	// its other intervals.
	one := &Window{
		Window: at,
		Late:   true,
		Rate:   merge.WindowCount{Millis: at.End - at.Start},
		work:   windowWork{single: true},
	}
	one.setSource(v)
	if err := k.late.Open(v.Interval); err != nil {
		return err
	}
	if err := k.late.AddTo(&one.Sum); err != nil {
		return err
	}
	one.note(v, k.late, nil)
	return k.emit(one)
}

// merge adds the intervals of a window that a worker handed over to the table. It does nothing if
// added is nil.
func (k *windowsState) merge(added *Window) (err error) {
	if added == nil {
		return nil
	}
	if !added.work.single {
		k.holdAhead(added, 0)
	}
	sizeBefore := 0
	window := k.table.At(added.Row, added.Window.Start, added.Window.Start, func(merge.Span) *Window { return nil })
	switch {
	case window != nil:
		sizeBefore = window.Sum.Size()
	case added.work.single:
		window = windowPool.Get().(*Window)
		window.Input = added.Input
		window.Name = added.Name
		window.Window = added.Window
		window.First = added.First
	default:
		window = added
	}
	if sizeBefore == 0 && k.crowded() {
		window.Sum.Compact() // an error occurs again in emit
	}
	if sizeBefore == 0 {
		window.Row, window.Tag = bytes.Clone(added.Row), bytes.Clone(added.Tag)
		k.table.At(window.Row, window.Window.Start, window.Window.Start, func(merge.Span) *Window { return window })
	}
	if window != added {
		if added.work.highest > window.work.highest || k.flow.Sources && added.work.highest == window.work.highest && added.Input < window.Input {
			window.Input = added.Input
			window.Name = added.Name
			window.Tag = bytes.Clone(added.Tag)
		}
		err = window.Merge(added)
		added.release()
	}
	if sizeBefore == 0 {
		k.bytes += windowBytes
	}
	window.work.round = k.round
	more := window.Sum.Size() - sizeBefore
	k.bytes += more
	k.loose += more
	if k.flow.AtEnd && k.loose > k.packAt+k.maxLoose()/2 {
		k.pack()
	}
	return cmp.Or(err, k.charge.Set(k.flow.Account, k.table.Len(), k.bytes))
}

// crowded reports whether new windows are packed at once, since windows take much memory.
func (k *windowsState) crowded() bool {
	if k.flow.AtEnd {
		return k.packAt > k.maxLoose()
	}
	return k.loose > k.maxLoose()
}

// maxLoose is the largest number of bytes of windows that are not packed. Above it, new windows
// are packed.
func (k *windowsState) maxLoose() int {
	return k.run.scan.Memory.AtMost(manyBytes, partOfMemory) / 2
}

// pack packs the windows that got nothing since its last call. They seldom get more, and to add to
// packed windows takes longer.
func (k *windowsState) pack() {
	k.loose = 0
	for window := range k.table.Open() {
		before := window.Sum.Size()
		if window.work.round == k.round {
			k.loose += before
			continue
		}
		window.Sum.Compact() // an error occurs again in emit
		k.bytes += window.Sum.Size() - before
	}
	k.packAt = k.loose
	k.round++
}

// complete emits the windows that end at or before a time.
func (k *windowsState) complete(time int64) error {
	for window := range k.table.Before(time) {
		k.bytes -= windowBytes + window.Sum.Size()
		k.loose -= window.Sum.Size()
		if err := k.emit(window); err != nil {
			return err
		}
		window.release()
	}
	return nil
}

// emit computes the figures of a window, and gives it to the user of the flow.
func (k *windowsState) emit(window *Window) (err error) {
	window.Counts, err = window.Sum.Histogram(&k.counts)
	if err := cmp.Or(window.fail(err), window.Err()); err != nil {
		return err
	}
	if !window.Late {
		window.Rate = k.rates.Take(window.Row, window.Window)
	}
	window.Visit = k.run.latest
	if k.flow.Figures != nil {
		window.Stats = output.FiguresOf(window.Counts, k.flow.Figures, window.Stats)
	}
	window.Stats.Moved = window.Rate.Moved
	if k.flow.Digits > 0 {
		if err := window.Coarse.AddCoarse(window.Sum.Start, window.Sum.End, window.Counts, k.flow.Digits); err != nil {
			return err
		}
	}
	return k.flow.Emit(window)
}

func (k *windowsState) close() error {
	k.flow.Account.Add(0, -int(k.ahead.Swap(0))) // workers are done
	return k.complete(math.MaxInt64)
}
