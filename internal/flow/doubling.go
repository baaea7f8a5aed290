package flow

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
)

// Doubling are windows of time that become twice as long if there are too many, and are as long as
// the longest interval at least. What they become depends on their number alone, so that it does
// not depend on the order of intervals. They need [Rows] before them.
type Doubling struct {
	// Size is the length of the first windows in milliseconds. 0 means the length of the longest
	// interval.
	Size int64
	// Most is the largest number of windows, and Room the memory in bytes for those of all rows, at
	// about cellBytes each. 0 is no limit.
	Most int64
	Room int
	// Digits is the number of significant digits of the counts.
	Digits int
	// Account is charged for windows.
	Account *ledger.Account
	// RowBytes is about how many bytes the caller makes of the windows of a row. Rows are charged
	// for them.
	RowBytes int
	// Windows, in the order of time, then of rows, and their Rates are set at the end. If memory is
	// too short for leastWindows, Err is set instead.
	Windows []*merge.Merged
	Rates   *merge.Rates
	Err     error
}

// A doublingState has the windows. At first, workers hand over each interval by itself. After the
// windows have doubled once, they only double. Then the order of additions makes no difference, so
// workers hand over what rows record in a window.
type doublingState struct {
	*Doubling
	// size is that of the windows of workers: 0 while each interval is one, or gaveUp.
	size        atomic.Int64
	number      int // see [differences]
	run         *run
	table       merge.Table[merge.Merged]
	cells       int // windows of rows
	bytes       int
	charge      ledger.Charge
	rates       merge.Rates
	first, last int64 // start and end of what was added, or is known to come
	usual       int64 // length of windows, by the first intervals of logs
	packed      int   // bytes of the windows after they were packed
	across      int   // bytes of the intervals in rates, 0 once windows only double
	err         error
	parts       []*doublingPart
}

// gaveUp is the size once memory is too short for windows.
const gaveUp = -1

// A doublingPart hands over the windows of a worker when they are complete.
type doublingPart struct {
	*doublingState
	windows *differences
	apart   bool            // the row cannot tell what the interval adds
	ready   []*merge.Merged // to be handed over
}

func (k *Doubling) start(r *run) state {
	r.rowBytes += k.RowBytes
	d := &doublingState{Doubling: k, number: r.differ, run: r}
	r.differ++
	d.lookAhead()
	return d
}

// lookAhead looks at the inputs that can be read twice. Windows that have become twice as long
// cannot become those of another length, so it must not matter which of several inputs comes first:
// the first intervals of all say how long windows are. Long logs that are files begin with the
// windows that they need in any case: to make these from shorter ones takes a seventh of the CPU
// time of hdrsum -st table for an hour. Errors come again when the inputs are read.
func (k *doublingState) lookAhead() {
	s := k.run.scan
	k.usual = max(k.Size, 1)
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for n := range s.Inputs {
		seen := 0
		see := func(r *hdrlog.Record) bool {
			if r.Kind != hdrlog.IntervalRecord {
				return true
			}
			seen++
			start, end := scan.Visit{Interval: &r.Interval}.Span()
			if seen <= firstIntervals {
				k.usual = max(k.usual, MeantLength(end-start))
			}
			if s.Select(n, &r.Interval) {
				first, last = min(first, start), max(last, end)
			}
			return seen < firstIntervals
		}
		in := &s.Inputs[n]
		whole := in.Ends(func(r *hdrlog.Record) { see(r) })
		if !whole && !in.Once && len(s.Inputs) > 1 {
			in.Look(4<<10, see)
		}
	}
	if first > last {
		return
	}
	size := k.usual
	for (last-first)/size > k.Most {
		size *= 2
	}
	if size > k.usual {
		k.table = merge.NewTable[merge.Merged](size)
		k.size.Store(size)
		k.first, k.last = first, last
	}
}

// firstIntervals is how many intervals of a log say how long its windows are.
const firstIntervals = 32

func (k *doublingState) part(w *worker) part {
	s := &doublingPart{doublingState: k}
	s.windows = newDifferences(w, k.number, k.Digits, s.handOver)
	k.parts = append(k.parts, s)
	return s
}

func (k *doublingState) ran(v scan.Visit, _ int64) {
	start, end := v.Span()
	k.rates.Ran(v.Part, start, end)
}

func (s *doublingPart) begin() {}

func (s *doublingPart) want(v scan.Visit, m *made) (scan.Want, *merge.Sum) {
	m.merged = nil
	size := s.size.Load()
	if size == gaveUp {
		s.ready = nil
		return scan.Want{}, nil
	}
	start, end := v.Span()
	window := merge.Span{Start: start, End: end}
	want := scan.Want{Max: true}
	if size > 0 {
		window = merge.WindowOf(start, end, size)
		want.Max = merge.Crosses(start, end, size)
	}
	s.apart = !s.windows.open(v, window)
	want.Counts = s.apart
	return want, nil
}

func (s *doublingPart) decoded(v scan.Visit, t *scan.Taken, failed error, m *made) (err error) {
	size := s.size.Load()
	if size == gaveUp {
		return nil
	}
	m.count = t.Count
	switch {
	case s.apart:
		start, end := v.Span()
		one := &merge.Merged{Tag: s.windows.worker.rows.target.Row}
		s.ready = append(s.ready, one)
		err = one.AddCoarse(start, end, t.Counts, s.Digits)
	case failed == nil:
		s.windows.add(v)
		if size == 0 {
			s.windows.close(s.windows.worker.rows.target)
		}
	}
	if len(s.ready) > 0 {
		m.merged = s.ready[0]
		s.ready = s.ready[1:]
	}
	return err
}

// handOver makes what a row recorded in a window ready.
func (s *doublingPart) handOver(r *Row, o *openWindow, h *histogram.Histogram) error {
	m := &merge.Merged{Tag: r.Row}
	s.ready = append(s.ready, m)
	return m.AddHistogram(o.ran.Start, o.ran.End, h)
}

// acrossBytes is what [merge.Rates] take for an interval that windows may share, in a slice that
// grows.
const acrossBytes = 48

// looseBytes is how much memory windows may take above twice their packed size.
const looseBytes = 32 << 20

// leastWindows is the number of windows below which they do not become longer for lack of memory.
const leastWindows = 24

// cellBytes is about what a window of a row takes with counts of one digit.
const cellBytes = 512

func (k *doublingState) take(v scan.Visit, m *made) error {
	if k.err != nil {
		return nil
	}
	start, end := v.Span()
	length := MeantLength(end - start)
	if k.table.Size() == 0 {
		k.table = merge.NewTable[merge.Merged](max(k.usual, length))
		k.first, k.last = start, end
	}
	k.first, k.last = min(k.first, start), max(k.last, end)
	k.across += acrossBytes
	if k.size.Load() > 0 {
		k.across = 0
	}
	size := k.table.Size() // of the windows here, which workers get once windows double
	if length > size && k.size.Load() == 0 {
		size = length
	}
	for length > size || (k.last-k.first)/size > k.Most {
		size *= 2
		k.size.Store(size)
	}
	if size > k.table.Size() || k.bytes > 2*k.packed+looseBytes {
		k.pack(size)
	}
	if m.merged != nil {
		k.addCoarse(m.merged)
	}
	if k.err == nil {
		k.rates.Add(v.Row, v.Part, start, end, m.count, math.MinInt64, k.size.Load())
	}
	return nil
}

// MeantLength returns the length that an interval was meant to have, in milliseconds. Timers are
// early or late, so it is the nearest round number: 1, 1.2, 1.5, 2, 3, 4, 5, 6 or 8 times a power
// of ten. So the windows of several logs have one length, whatever log comes first.
func MeantLength(length int64) int64 {
	best := int64(1)
	for ten := int64(1); ten <= length; ten *= 10 {
		for _, tens := range []int64{2, 3, 4, 5, 6, 8, 10, 12, 15} {
			if at := tens * ten; abs(at-length) < abs(best-length) {
				best = at
			}
		}
	}
	return best
}

func abs(n int64) int64 { return max(n, -n) }

// addCoarse adds the counts of a row in a window, or in a part of it. If there are too many, it
// doubles the windows. Without room for leastWindows, it gives up.
func (k *doublingState) addCoarse(m *merge.Merged) {
	k.put(m)
	for k.Room > 0 && k.cells > k.Room/cellBytes && k.err == nil {
		if (k.last-k.first)/k.table.Size() < 2*leastWindows {
			k.err = k.Account.Refuse()
		}
		k.size.Store(2 * k.table.Size())
		k.pack(k.size.Load())
	}
	k.err = cmp.Or(k.err, k.charge.Set(k.Account, 1, k.bytes+k.across))
	if k.err == nil {
		return
	}
	k.table = merge.NewTable[merge.Merged](k.table.Size())
	k.bytes = 0
	k.cells = 0
	k.rates = merge.Rates{}
	k.charge.Set(k.Account, 0, 0)
	k.size.Store(gaveUp)
}

// put adds coarse counts to their window. They become the window if there is none.
func (k *doublingState) put(m *merge.Merged) {
	before := 0
	window := k.table.At(m.Tag, m.Start, m.End, func(at merge.Span) *merge.Merged {
		m.Window = at
		m.Compact()
		k.cells++
		return m
	})
	if window != m {
		before = window.Size()
		k.err = cmp.Or(k.err, window.Merge(&m.Sum))
	}
	k.bytes += window.Size() - before
}

// pack merges the windows into those of a size, and packs their counts.
func (k *doublingState) pack(size int64) {
	old := k.table
	k.table = merge.NewTable[merge.Merged](size)
	k.cells = 0
	for m := range old.Before(math.MaxInt64) {
		k.put(m)
	}
	k.bytes = 0
	for m := range k.table.Open() {
		k.err = cmp.Or(k.err, m.Compact())
		k.bytes += m.Size()
	}
	k.packed = k.bytes
	if k.size.Load() > 0 { // windows only double from now on
		k.rates.Pack(size)
		k.across = 0
	}
}

// close takes what workers still have, and sets the results.
func (k *doublingState) close() error {
	for _, s := range k.parts {
		for _, m := range s.ready {
			if k.err == nil {
				k.addCoarse(m)
			}
		}
	}
	k.Err = k.err
	k.Rates = &k.rates
	k.Windows = slices.Collect(k.table.Before(math.MaxInt64))
	k.charge.Set(k.Account, 0, 0)
	return nil
}
