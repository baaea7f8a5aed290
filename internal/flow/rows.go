package flow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
)

// Rows is the flow that adds up all intervals of each row. It hands out the rows at the end, in the
// order of their names.
type Rows struct {
	// ByInputAndTag makes a row of each tag of each input, whatever the scan says.
	ByInputAndTag bool
	// SplitAgain makes a second row of the intervals of a row that another row has as well, see
	// [scan.Visit.Again].
	SplitAgain bool
	// Maxima lets rows have their maxima over time.
	Maxima bool
	// Account is charged for rows.
	Account *ledger.Account
	// Emit takes a row, which then belongs to the caller. If Emit is nil, nobody needs the rows.
	Emit func(r *Row) error
	// Ran says after the run when each part of an input ran, see [scan.Visit.Part]: from the start
	// of its first interval in the range, of any tag, to the end of its last one.
	Ran map[int]merge.Span
	// HasIntervals says after the run of each input whether it has an interval in the range.
	HasIntervals []bool
}

// A Row is the sum of all intervals of a row of the scan.
type Row struct {
	Total
	Spans  merge.InputSpans // when its intervals ran
	Maxima Maxima
	Again  bool // another row has its intervals as well, see [Rows.SplitAgain]

	charge  ledger.Charge
	counted bool          // the account counts the row here, and not at another worker
	open    []*openWindow // by the number of a flow with differences
}

// rowPool has empty rows. The sum of a row may take half a megabyte.
var rowPool = sync.Pool{New: func() any { return new(Row) }}

// Release gives the memory of a row back, which nobody may use any more.
func (r *Row) Release() {
	r.Sum.Reset()
	*r = Row{Total: Total{Sum: r.Sum}}
	rowPool.Put(r)
}

// Add merges other, which is of the same row, and charges an account of rows for r.
func (r *Row) Add(other *Row, account *ledger.Account) error {
	r.Maxima.merge(&other.Maxima)
	for _, s := range other.Spans.All {
		r.Spans.Add(s.Input, s.Start, s.End)
	}
	if r.Sum.Intervals() < 2 {
		r.Sum.Compact() // there may be many rows by now
	}
	if err := r.merge(&other.Total); err != nil {
		return err
	}
	return r.charge.Set(account, 1, rowBytes+r.Sum.Size())
}

// Pack compacts a row to which nothing more is added, and charges an account for the rest.
func (r *Row) Pack(account *ledger.Account) error {
	if err := r.Sum.Compact(); err != nil {
		return err
	}
	return r.charge.Set(account, 1, rowBytes+r.Sum.Size())
}

// A rowsState is a [Rows] while it runs.
type rowsState struct {
	flow   *Rows
	scan   *scan.Scan
	shares []*rowsShare

	mu    sync.Mutex
	known map[string]bool // keys of the rows of all workers: each row is charged once
}

// A rowsShare has the rows of a worker.
type rowsShare struct {
	state  *rowsState
	worker *worker
	rows   map[string]*Row // by key
	bytes  int             // charged for the rows
	// row gets the interval that is being decoded, nil before it is known. Layout is that of the
	// interval.
	row         *Row
	layout      histogram.Layout
	input       int    // of the last interval
	inputRows   []*Row // of this input, if rows have one input each and inputs follow each other
	differences []*differences
}

func (k *Rows) start(r *run) state {
	k.Ran = make(map[int]merge.Span)
	k.HasIntervals = make([]bool, len(r.scan.Inputs))
	return &rowsState{flow: k, scan: r.scan, known: make(map[string]bool)}
}

// observe notes when an input ran.
func (k *rowsState) observe(v scan.Visit, _ int64) {
	start, end := v.Span()
	ran, known := k.flow.Ran[v.Part]
	if !known {
		ran = merge.Span{Start: start, End: end}
	}
	k.flow.Ran[v.Part] = merge.Span{Start: min(ran.Start, start), End: max(ran.End, end)}
	k.flow.HasIntervals[v.Input] = true
}

func (k *rowsState) newShare(w *worker) share {
	s := &rowsShare{state: k, worker: w, rows: make(map[string]*Row)}
	k.shares = append(k.shares, s)
	w.rows = s
	return s
}

func (k *rowsState) consume(scan.Visit, *partial) error { return nil }

// isNew reports whether no worker had a row with this key before. It remembers the key.
func (k *rowsState) isNew(key []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known[string(key)] {
		return false
	}
	k.known[string(key)] = true
	return true
}

// close adds up the rows of the workers, and emits the sums. It takes each row from its worker, so
// that no sum is in memory twice.
func (k *rowsState) close() error {
	all := k.shares[0].rows
	for n, s := range k.shares {
		if s.worker.err != nil {
			return s.worker.err
		}
		if n == 0 {
			continue
		}
		for key, more := range s.rows {
			delete(s.rows, key)
			if all[key] == nil {
				all[key] = more
				continue
			}
			more.charge.Set(k.flow.Account, 0, 0)
			if err := all[key].Add(more, k.flow.Account); err != nil {
				return err
			}
			more.Release()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if len(all[key].Spans.All) == 0 {
			continue // no payload could be read
		}
		if k.flow.Emit == nil {
			all[key].Release()
			continue
		}
		if err := k.flow.Emit(all[key]); err != nil {
			return err
		}
	}
	return nil
}

func (s *rowsShare) beginBatch() {}

// setKey sets the key of the worker to the key of the row of an interval.
func (s *rowsShare) setKey(v scan.Visit) {
	w := s.worker
	w.key = w.key[:0]
	row := v.Row
	switch {
	case s.state.flow.ByInputAndTag:
		w.key = binary.BigEndian.AppendUint32(w.key, uint32(v.Input))
		row = v.Tag
	case s.state.flow.SplitAgain && v.Again:
		w.key = append(w.key, '+') // other keys are empty or begin with =
	}
	w.key = merge.AppendKey(w.key, row)
}

func (s *rowsShare) target(v scan.Visit, _ *partial) (sum *merge.Sum, needsCounts bool) {
	r := s.rowOf(v)
	s.worker.run.compactNew(&r.Sum, s.bytes)
	return &r.Sum, false
}

// rowOf returns the row of the interval that is being decoded.
func (s *rowsShare) rowOf(v scan.Visit) *Row {
	if s.row != nil {
		return s.row
	}
	w := s.worker
	if v.Input != s.input {
		s.packInputRows()
		s.input = v.Input
	}
	s.setKey(v)
	r := s.rows[string(w.key)]
	if r == nil {
		r = rowPool.Get().(*Row)
		r.setSource(v)
		r.Row, r.Tag = bytes.Clone(v.Row), bytes.Clone(v.Tag)
		r.Again = s.state.flow.SplitAgain && v.Again
		r.counted = s.state.isNew(w.key)
		for range s.differences {
			r.open = append(r.open, new(openWindow))
		}
		s.rows[string(w.key)] = r
		if s.state.flow.ByInputAndTag && !s.state.scan.ByTime {
			s.inputRows = append(s.inputRows, r)
		}
	}
	s.row = r
	return r
}

// maxPacked is the largest number of rows of an input that are packed once the input is read. Rows
// of many tags have few intervals each: to pack these rows takes as long as to add the intervals.
const maxPacked = 32

// packInputRows compacts the rows of an input that has been read.
func (s *rowsShare) packInputRows() {
	if len(s.inputRows) <= maxPacked {
		for _, r := range s.inputRows {
			s.closeWindowsOf(r)
			s.worker.err = cmp.Or(s.worker.err, r.fail(r.Sum.Compact()), s.charge(r))
		}
	}
	s.inputRows = s.inputRows[:0]
}

// closeWindows completes the windows of all rows.
func (s *rowsShare) closeWindows() {
	for _, r := range s.rows {
		s.closeWindowsOf(r)
	}
}

func (s *rowsShare) closeWindowsOf(r *Row) {
	for _, d := range s.differences {
		d.close(r)
	}
}

func (s *rowsShare) add(v scan.Visit, d *scan.Decoder, failed error, _ *partial) error {
	start, end := v.Span()
	r := s.row
	r.note(v, d, failed)
	r.Spans.Add(v.Part, start, end)
	if s.state.flow.Maxima {
		highest, _, err := d.MaxAndCount()
		if err != nil {
			return err
		}
		if highest > 0 {
			r.Maxima.Add(start, end, highest)
		}
	}
	if err := s.charge(r); err != nil {
		return scan.Fatal{Err: err}
	}
	return nil
}

// charge charges for a row to which something was added.
func (s *rowsShare) charge(r *Row) error {
	size := s.worker.run.rowBytes + r.Sum.Size()
	s.bytes += size - r.charge.Bytes()
	rows := 0
	if r.counted {
		rows = 1
	}
	return r.charge.Set(s.state.flow.Account, rows, size)
}
