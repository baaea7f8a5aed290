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

// Doubling is the flow that adds up rows in windows of time. The windows are at least as long as
// the longest interval. They double their length when there are too many. Their length depends on
// their number alone, so that the result does not depend on the order of intervals. The flow needs
// [Rows] before it.
type Doubling struct {
	// Size is the length of the first windows in milliseconds. 0 means the length of the longest
	// interval.
	Size int64
	// MaxWindows is the largest number of windows of time, which all rows share.
	MaxWindows int64
	// Budget is the memory in bytes for the windows of all rows, at about cellBytes for the counts
	// of a row in a window. 0 means no limit.
	Budget int
	// Digits is the number of significant digits of the counts.
	Digits int
	// Account is charged for windows.
	Account *ledger.Account
	// RowBytes is about how many bytes the caller needs for the windows of a row. The account of
	// rows is charged for them.
	RowBytes int

	// Windows are the results at the end, in the order of time, then of rows. Rates say how many
	// values were recorded in each window.
	Windows []*merge.Merged
	Rates   *merge.Rates
	// Err is set instead if there is no memory for minWindows windows.
	Err error
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
	separate bool            // the row cannot say what the current interval adds, see [differences.open]
	findsMax bool            // the number of values of the interval is needed
	ready    []*merge.Merged // for the state
}

func (k *Doubling) start(r *run) state {
	k.Err = nil
	r.rowBytes += k.RowBytes
	d := &doublingState{flow: k, number: r.differences}
	r.differences++
	d.lookAhead(r.scan)
	return d
}

// lookAhead finds the length of the first windows from inputs that can be read twice.
//
// The first intervals of all inputs decide. It must not matter which input comes first, since
// windows can only double their length. For files, the first and the last interval say how long the
// windows become in the end. The flow begins with windows of this length: to merge shorter ones
// takes a seventh of the CPU time of hdrsum -st table for an hour. Errors occur again when the
// inputs are read for good.
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
				k.usual = max(k.usual, RoundLength(end-start))
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
	for (ran.End-ran.Start)/size > k.flow.MaxWindows {
		size *= 2
	}
	if size > k.usual {
		k.table = merge.NewTable[merge.Merged](size)
		k.workerSize.Store(size)
		k.ran = ran
	}
}

// firstIntervals is the number of intervals of a log that decide on the length of its first
// windows.
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

// addSeparate queues the counts of the current interval for the state.
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

// handOver queues what a row recorded in a window for the state.
func (s *doublingShare) handOver(r *Row, o *openWindow, h *histogram.Histogram) error {
	m := &merge.Merged{Tag: r.Row}
	s.ready = append(s.ready, m)
	return m.AddHistogram(o.ran.Start, o.ran.End, h)
}

// bytesPerRate is the memory that [merge.Rates] take for an interval that several windows may
// share.
const bytesPerRate = 48

// Windows are packed when they take looseBytes more than twice their packed size.
const looseBytes = 32 << 20

// Windows do not double for lack of memory if there are fewer than minWindows afterwards.
const minWindows = 24

// cellBytes is about how many bytes the counts of a row in a window take, with one significant
// digit.
const cellBytes = 512

func (k *doublingState) consume(v scan.Visit, p *partial) error {
	if k.flow.Err != nil {
		return nil
	}
	start, end := v.Span()
	length := RoundLength(end - start)
	if k.table.Size() == 0 {
		k.table = merge.NewTable[merge.Merged](max(k.usual, length))
		k.ran = merge.Span{Start: start, End: end}
	}
	k.ran = merge.Span{Start: min(k.ran.Start, start), End: max(k.ran.End, end)}
	k.rateBytes += bytesPerRate
	if k.workerSize.Load() > 0 {
		k.rateBytes = 0
	}
	size := k.table.Size()
	if length > size && k.workerSize.Load() == 0 {
		size = length
	}
	for length > size || (k.ran.End-k.ran.Start)/size > k.flow.MaxWindows {
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

// RoundLength returns the length that an interval was meant to have, in milliseconds. Timers are
// early or late, so that is the nearest round number: 1, 1.2, 1.5, 2, 3, 4, 5, 6 or 8 times a power
// of ten. So the windows of several logs have one length, whatever log comes first.
func RoundLength(length int64) int64 {
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

// addCoarse adds counts of a row to their window. While the windows of all rows exceed the budget,
// it doubles the length of windows. It gives up if there is no memory for minWindows.
func (k *doublingState) addCoarse(m *merge.Merged) {
	k.put(m)
	for k.flow.Budget > 0 && k.cells > k.flow.Budget/cellBytes && k.flow.Err == nil {
		if (k.ran.End-k.ran.Start)/k.table.Size() < 2*minWindows {
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

// put adds counts of a row to their window. If the row has no such window yet, m becomes the
// window.
func (k *doublingState) put(m *merge.Merged) {
	sizeBefore := 0
	window := k.table.At(m.Tag, m.Start, m.End, func(at merge.Span) *merge.Merged {
		m.Window = at
		m.Compact()
		k.cells++
		return m
	})
	if window != m {
		sizeBefore = window.Size()
		k.flow.Err = cmp.Or(k.flow.Err, window.Merge(&m.Sum))
	}
	k.bytes += window.Size() - sizeBefore
}

// pack merges the windows into windows of the given size, and packs their counts.
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

// close adds the windows that workers have not handed over, and sets the results.
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
