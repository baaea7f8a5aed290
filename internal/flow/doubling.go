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

// A doublingState is a [Doubling] while it runs. At first, workers hand over each interval by
// itself. After the windows have doubled once, they only double. Then the order of additions makes
// no difference, so workers hand over what rows record in a window.
type doublingState struct {
	flow   *Doubling
	number int // of its differences, see [newDifferences]
	// workerSize is the size of the windows of workers: 0 while they hand over each interval, or
	// gaveUp.
	workerSize atomic.Int64
	shares     []*doublingShare
	table      merge.Table[merge.Merged]
	cells      int        // windows in the table, of all rows
	ran        merge.Span // from the first start to the last end of what was added, or is known to come
	usual      int64      // length of windows, by the first intervals of logs
	rates      merge.Rates
	bytes      int // of the windows
	packed     int // bytes of the windows after they were packed
	rateBytes  int // of the intervals in rates, 0 once windows only double
	charge     ledger.Charge
}

// gaveUp is the size of windows once memory is too short for windows.
const gaveUp = -1

// A doublingShare hands over the windows of a worker when they are complete.
type doublingShare struct {
	state    *doublingState
	windows  *differences
	separate bool            // the row cannot tell what the interval adds
	findsMax bool            // the state needs the number of values of the interval
	ready    []*merge.Merged // to be handed over
}

func (k *Doubling) start(r *run) state {
	k.Err = nil
	r.rowBytes += k.RowBytes
	d := &doublingState{flow: k, number: r.differences}
	r.differences++
	d.lookAhead(r.scan)
	return d
}

// lookAhead looks at the inputs that can be read twice. Windows that have become twice as long
// cannot become those of another length, so it must not matter which of several inputs comes first:
// the first intervals of all say how long windows are. Long logs that are files begin with the
// windows that they need in any case: to make these from shorter ones takes a seventh of the CPU
// time of hdrsum -st table for an hour. Errors come again when the inputs are read.
func (k *doublingState) lookAhead(s *scan.Scan) {
	k.usual = max(k.flow.Size, 1)
	ran := merge.Span{Start: math.MaxInt64, End: math.MinInt64}
	for n := range s.Inputs {
		intervals := 0
		see := func(r *hdrlog.Record) bool {
			if r.Kind != hdrlog.IntervalRecord {
				return true
			}
			intervals++
			start, end := scan.Visit{Interval: &r.Interval}.Span()
			if intervals <= firstIntervals {
				k.usual = max(k.usual, MeantLength(end-start))
			}
			if s.Select(n, &r.Interval) {
				ran = merge.Span{Start: min(ran.Start, start), End: max(ran.End, end)}
			}
			return intervals < firstIntervals
		}
		in := &s.Inputs[n]
		ended := in.Ends(func(r *hdrlog.Record) { see(r) })
		if !ended && !in.Once && len(s.Inputs) > 1 {
			in.Look(4<<10, see)
		}
	}
	if ran.Start > ran.End {
		return
	}
	size := k.usual
	for (ran.End-ran.Start)/size > k.flow.Most {
		size *= 2
	}
	if size > k.usual {
		k.table = merge.NewTable[merge.Merged](size)
		k.workerSize.Store(size)
		k.ran = ran
	}
}

// firstIntervals is how many intervals of a log say how long its windows are.
const firstIntervals = 32

func (k *doublingState) newShare(w *worker) share {
	s := &doublingShare{state: k}
	s.windows = newDifferences(w, k.number, k.flow.Digits, s.handOver)
	k.shares = append(k.shares, s)
	return s
}

func (k *doublingState) observe(v scan.Visit, _ int64) {
	start, end := v.Span()
	k.rates.Ran(v.Part, start, end)
}

func (s *doublingShare) beginBatch() {}

func (s *doublingShare) target(v scan.Visit, p *partial) (sum *merge.Sum, needsCounts bool) {
	p.merged = nil
	size := s.state.workerSize.Load()
	if size == gaveUp {
		s.ready = nil
		return nil, false
	}
	start, end := v.Span()
	window := merge.Span{Start: start, End: end}
	s.findsMax = true
	if size > 0 {
		window = merge.WindowOf(start, end, size)
		s.findsMax = merge.Crosses(start, end, size)
	}
	s.separate = !s.windows.open(v, window)
	return nil, s.separate
}

func (s *doublingShare) add(v scan.Visit, d *scan.Decoder, failed error, p *partial) (err error) {
	size := s.state.workerSize.Load()
	if size == gaveUp {
		return nil
	}
	p.count = 0
	if s.findsMax {
		if _, p.count, err = d.MaxAndCount(); err != nil {
			return err
		}
	}
	switch {
	case s.separate:
		err = s.addSeparate(v, d)
	case failed == nil:
		s.windows.add(v)
		if size == 0 {
			s.windows.close(s.windows.worker.rows.row)
		}
	}
	if len(s.ready) > 0 {
		p.merged = s.ready[0]
		s.ready = s.ready[1:]
	}
	return err
}

// addSeparate makes an interval ready to be handed over by itself.
func (s *doublingShare) addSeparate(v scan.Visit, d *scan.Decoder) error {
	counts, err := d.Counts()
	if err != nil {
		return err
	}
	start, end := v.Span()
	m := &merge.Merged{Tag: s.windows.worker.rows.row.Row}
	s.ready = append(s.ready, m)
	return m.AddCoarse(start, end, counts, s.state.flow.Digits)
}

// handOver makes what a row recorded in a window ready to be handed over.
func (s *doublingShare) handOver(r *Row, o *openWindow, h *histogram.Histogram) error {
	m := &merge.Merged{Tag: r.Row}
	s.ready = append(s.ready, m)
	return m.AddHistogram(o.ran.Start, o.ran.End, h)
}

// bytesPerRate is what [merge.Rates] take for an interval that windows may share, in a slice that
// grows.
const bytesPerRate = 48

// looseBytes is how much memory windows may take above twice their packed size.
const looseBytes = 32 << 20

// leastWindows is the number of windows below which they do not become longer for lack of memory.
const leastWindows = 24

// cellBytes is about what a window of a row takes with counts of one digit.
const cellBytes = 512

func (k *doublingState) take(v scan.Visit, p *partial) error {
	if k.flow.Err != nil {
		return nil
	}
	start, end := v.Span()
	length := MeantLength(end - start)
	if k.table.Size() == 0 {
		k.table = merge.NewTable[merge.Merged](max(k.usual, length))
		k.ran = merge.Span{Start: start, End: end}
	}
	k.ran = merge.Span{Start: min(k.ran.Start, start), End: max(k.ran.End, end)}
	k.rateBytes += bytesPerRate
	if k.workerSize.Load() > 0 {
		k.rateBytes = 0
	}
	size := k.table.Size() // of the windows here, which workers get once windows double
	if length > size && k.workerSize.Load() == 0 {
		size = length
	}
	for length > size || (k.ran.End-k.ran.Start)/size > k.flow.Most {
		size *= 2
		k.workerSize.Store(size)
	}
	if size > k.table.Size() || k.bytes > 2*k.packed+looseBytes {
		k.pack(size)
	}
	if p.merged != nil {
		k.addCoarse(p.merged)
	}
	if k.flow.Err == nil {
		k.rates.Add(v.Row, v.Part, start, end, p.count, math.MinInt64, k.workerSize.Load())
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
	for k.flow.Room > 0 && k.cells > k.flow.Room/cellBytes && k.flow.Err == nil {
		if (k.ran.End-k.ran.Start)/k.table.Size() < 2*leastWindows {
			k.flow.Err = k.flow.Account.Refuse()
		}
		k.workerSize.Store(2 * k.table.Size())
		k.pack(k.workerSize.Load())
	}
	k.flow.Err = cmp.Or(k.flow.Err, k.charge.Set(k.flow.Account, 1, k.bytes+k.rateBytes))
	if k.flow.Err == nil {
		return
	}
	k.table = merge.NewTable[merge.Merged](k.table.Size())
	k.bytes = 0
	k.cells = 0
	k.rates = merge.Rates{}
	k.charge.Set(k.flow.Account, 0, 0)
	k.workerSize.Store(gaveUp)
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
		k.flow.Err = cmp.Or(k.flow.Err, window.Merge(&m.Sum))
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
		k.flow.Err = cmp.Or(k.flow.Err, m.Compact())
		k.bytes += m.Size()
	}
	k.packed = k.bytes
	if k.workerSize.Load() > 0 { // windows only double from now on
		k.rates.Pack(size)
		k.rateBytes = 0
	}
}

// close takes what workers still have, and sets the results.
func (k *doublingState) close() error {
	for _, s := range k.shares {
		for _, m := range s.ready {
			if k.flow.Err == nil {
				k.addCoarse(m)
			}
		}
	}
	k.flow.Rates = &k.rates
	k.flow.Windows = slices.Collect(k.table.Before(math.MaxInt64))
	k.charge.Set(k.flow.Account, 0, 0)
	return nil
}
