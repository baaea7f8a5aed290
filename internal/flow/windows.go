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

// Windows are windows of time. They come when they are complete, in the order of time, then of
// rows: once all inputs have passed them, see [scan.Scan.Passed]. An interval that comes later is a
// result by itself, unless AtEnd is set.
type Windows struct {
	// Size is the length of windows in milliseconds.
	Size int64
	// AtEnd keeps all windows open to the end, however late an interval comes. They are packed, and
	// take memory that grows with their number.
	AtEnd bool
	// Relative counts times from the start of each log. It needs AtEnd.
	Relative bool
	// Sources finds out which input has the highest value of a window: the first of several.
	Sources bool
	// Figures are found for each window. If Digits is set, Coarse has the counts of the window with
	// at most so many significant digits.
	Figures []output.Figure
	Digits  int
	// Account is charged for windows.
	Account *ledger.Account
	// Emit takes a window. The window is valid until Emit returns, or, after [Window.Keep], until
	// [Window.Release].
	Emit func(w *Window) error
}

// leastAdded is the number of intervals of a batch that a window must have on average, so that
// workers add them up. If windows have fewer, workers hand over each interval by itself: a sum for
// each window of a batch takes two to three times the memory then, and up to 1.15 times the CPU
// time. With an interval each second, windows of 10 s are as fast both ways.
const leastAdded = 10

// windowBytes is about what an open window takes beside its sum.
const windowBytes = 800

// windows are used again: the sum of one may take half a megabyte.
var windowPool = sync.Pool{New: func() any { return new(Window) }}

// release gives a window back.
func (w *Window) release() {
	if w.kept || w.alone {
		return
	}
	w.Reset()
	windowPool.Put(w)
}

// A windowsState has the open windows.
type windowsState struct {
	*Windows
	run    *run
	table  merge.Table[Window]
	bytes  int
	loose  int // bytes of the sums that got something since pack looked at them
	packAt int // loose after pack
	round  int // of pack
	charge ledger.Charge
	ahead  atomic.Int64 // bytes of windows that workers have not handed over, or use again
	rates  merge.Rates
	counts histogram.Histogram
	late   *scan.Decoder // of intervals that come after their windows
}

// A windowsPart has the windows of a worker in one batch.
type windowsPart struct {
	*windowsState
	worker   *worker
	rows     map[string]*Window
	target   *Window // what gets the interval, nil if it is late
	oneByOne bool    // intervals are handed over by themselves, see leastAdded
	count    int     // of intervals in the batch
	passed   int64   // by them
}

func (k *Windows) start(r *run) state {
	r.scan.ByTime = true
	return &windowsState{Windows: k, run: r, table: merge.NewTable[Window](k.Size)}
}

func (k *windowsState) part(w *worker) part {
	return &windowsPart{windowsState: k, worker: w, rows: make(map[string]*Window)}
}

// begin begins a batch.
func (s *windowsPart) begin() {
	s.oneByOne = s.count <= leastAdded*len(s.rows) // as in the first batch, of which nothing is known
	clear(s.rows)
	s.passed, s.count = math.MinInt64, 0
}

// span returns when an interval starts and ends in the time of the windows.
func (k *windowsState) span(v scan.Visit) (start, end int64) {
	start, end = v.Span()
	_, origin := startIn(v, k.Relative)
	return start - origin, end - origin
}

func (s *windowsPart) want(v scan.Visit, m *made) (want scan.Want, sum *merge.Sum) {
	start, end := s.span(v)
	first, _ := startIn(v, s.Relative)
	s.count++
	want.Max = s.Sources && len(s.run.scan.Inputs) > 1 || merge.Crosses(start, end, s.Size)
	m.window = nil
	at := merge.WindowOf(start, end, s.Size)
	if s.target = s.window(at, v, m); s.target == nil {
		return want, nil
	}
	s.target.First = min(s.target.First, first)
	return want, &s.target.Sum
}

// window returns what gets an interval: the window of its row in this batch, or a result for the
// interval alone if intervals are handed over by themselves. It returns nil if the interval is
// late.
func (s *windowsPart) window(at merge.Span, v scan.Visit, m *made) *Window {
	if !s.AtEnd && at.End <= s.passed {
		return nil
	}
	w := s.worker
	w.key = merge.AppendKey(binary.BigEndian.AppendUint64(w.key[:0], uint64(at.Start)), v.Row)
	window, known := s.rows[string(w.key)]
	switch {
	case s.oneByOne:
		if !known {
			s.rows[string(w.key)] = nil // to count windows
		}
		window = m.alone()
	case known:
		return window
	default:
		window = windowPool.Get().(*Window)
		s.run.compactNew(&window.Sum, int(s.ahead.Load()))
		s.rows[string(w.key)] = window
	}
	window.Row = v.Row
	window.Tag = v.Tag
	window.Input = v.Input
	window.Name = v.Name // views of the batch
	window.Window, window.First = at, math.Inf(1)
	return window
}

func (s *windowsPart) decoded(v scan.Visit, t *scan.Taken, failed error, m *made) error {
	start, end := v.Span()
	m.count, s.passed = t.Count, max(s.passed, scan.Passes(start, end))
	if s.target == nil {
		return nil
	}
	s.target.add(v, t, failed)
	if err := s.holdAhead(s.target, rowBytes+s.target.Sum.Size()); err != nil {
		return scan.Fatal{Err: err}
	}
	s.target.highest = max(s.target.highest, t.Max)
	if !s.target.handedOver {
		s.target.handedOver, m.window = true, s.target
	}
	return nil
}

// holdAhead charges for a window that a worker has.
func (k *windowsState) holdAhead(w *Window, bytes int) error {
	more := bytes - w.ahead
	if more == 0 {
		return nil
	}
	w.ahead = bytes
	k.ahead.Add(int64(more))
	return k.Account.Add(0, more)
}

// ran takes in when an input ran. A line that is far out of order does not move the start of its
// input: the windows there are complete already.
func (k *windowsState) ran(v scan.Visit, passed int64) {
	start, end := k.span(v)
	if ran, known := k.rates.Input(v.Part); known && start < passed && !k.AtEnd {
		start, end = max(start, ran.Start), max(end, ran.Start)
	}
	k.rates.Ran(v.Part, start, end)
}

func (k *windowsState) take(v scan.Visit, m *made) error {
	start, end := k.span(v)
	if k.AtEnd {
		k.rates.Add(v.Row, v.Part, start, end, m.count, math.MinInt64, k.Size)
		return k.merge(m.window)
	}
	passed := scan.Passes(start, end)
	for next := k.table.Next(); next <= passed && k.run.scan.Passed(next); next = k.table.Next() {
		if err := k.complete(next); err != nil {
			return err
		}
	}
	at := merge.WindowOf(start, end, k.Size)
	if k.run.scan.Late(v.Input, at.End) {
		return k.takeLate(v, at, m)
	}
	// Windows that the input had passed get nothing of the interval.
	k.rates.Add(v.Row, v.Part, start, end, m.count, k.run.scan.Before(), k.Size)
	return k.merge(m.window)
}

// takeLate takes an interval whose input has passed its window, whether other inputs have or not.
// The other intervals that the batch has of the window are late, too, so each is decoded by itself.
func (k *windowsState) takeLate(v scan.Visit, at merge.Span, m *made) error {
	if m.window != nil && !m.window.alone {
		k.holdAhead(m.window, 0)
		m.window.release()
	}
	if k.late == nil {
		k.late = scan.NewDecoder(k.run.scan.Expected, scan.NewPayloads(k.run.scan.Memory))
	}
	// The input already passed this window, so it ran through all of it. The window was handed out
	// with its other intervals.
	one := &Window{
		Window: at,
		Late:   true,
		alone:  true,
		Rate:   merge.Recorded{Millis: at.End - at.Start},
	}
	one.Row = v.Row
	one.Tag = v.Tag
	one.Input = v.Input
	one.Name = v.Name
	took, err := k.late.Visit(v.Interval, v.Place).Decode(scan.Want{}, &one.Sum)
	if err != nil {
		return err
	}
	one.Kinds.Add(took.Double, v.Place)
	return k.emit(one)
}

// merge adds what a batch has of a window, or nothing if added is nil.
func (k *windowsState) merge(added *Window) (err error) {
	if added == nil {
		return nil
	}
	if !added.alone {
		k.holdAhead(added, 0)
	}
	before := 0
	window := k.table.At(added.Row, added.Window.Start, added.Window.Start, func(merge.Span) *Window { return nil })
	switch {
	case window != nil:
		before = window.Sum.Size()
	case added.alone:
		window = windowPool.Get().(*Window)
		window.Input = added.Input
		window.Name = added.Name
		window.Window = added.Window
		window.First = added.First
	default:
		window = added
	}
	if before == 0 && k.crowded() {
		window.Compact() // what does not add up is found later
	}
	if before == 0 {
		window.Row, window.Tag = bytes.Clone(added.Row), bytes.Clone(added.Tag)
		k.table.At(window.Row, window.Window.Start, window.Window.Start, func(merge.Span) *Window { return window })
	}
	if window != added {
		if added.highest > window.highest || k.Sources && added.highest == window.highest && added.Input < window.Input {
			window.Input = added.Input
			window.Name = added.Name
			window.Tag = bytes.Clone(added.Tag)
		}
		err = window.Merge(added)
		added.release()
	}
	if before == 0 {
		k.bytes += windowBytes
	}
	window.round = k.round
	more := window.Sum.Size() - before
	k.bytes += more
	k.loose += more
	if k.AtEnd && k.loose > k.packAt+k.mostLoose()/2 {
		k.pack()
	}
	return cmp.Or(err, k.charge.Set(k.Account, k.table.Len(), k.bytes))
}

// crowded reports whether new windows are to be packed from their start.
func (k *windowsState) crowded() bool {
	if k.AtEnd {
		return k.packAt > k.mostLoose()
	}
	return k.loose > k.mostLoose()
}

// mostLoose is how many bytes windows take before new ones are packed.
func (k *windowsState) mostLoose() int {
	return k.run.scan.Memory.AtMost(manyBytes, partOfMemory) / 2
}

// pack packs the windows that got nothing since it was called last: they seldom get more. To add to
// packed windows takes longer.
func (k *windowsState) pack() {
	k.loose = 0
	for window := range k.table.Open() {
		before := window.Sum.Size()
		if window.round == k.round {
			k.loose += before
			continue
		}
		window.Compact() // what does not add up is found later
		k.bytes += window.Sum.Size() - before
	}
	k.packAt = k.loose
	k.round++
}

// complete hands out the windows that end by a time.
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

// emit hands out a window.
func (k *windowsState) emit(window *Window) (err error) {
	window.Counts, err = window.Histogram(&k.counts)
	if err := cmp.Or(window.fail(err), window.Err()); err != nil {
		return err
	}
	if !window.Late {
		window.Rate = k.rates.Take(window.Row, window.Window)
	}
	window.Visit = k.run.latest
	if k.Figures != nil {
		window.Stats = output.FiguresOf(window.Counts, k.Figures, window.Stats)
	}
	window.Stats.Moved = window.Rate.Moved
	if k.Digits > 0 {
		if err := window.Coarse.AddCoarse(window.Start, window.End, window.Counts, k.Digits); err != nil {
			return err
		}
	}
	return k.Emit(window)
}

func (k *windowsState) close() error {
	k.Account.Add(0, -int(k.ahead.Swap(0))) // workers have no more work
	return k.complete(math.MaxInt64)
}
