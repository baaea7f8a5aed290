package flow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
)

// Rows are what all intervals of a row add up to. They come at the end, in their order.
type Rows struct {
	// Apart makes rows of each tag of each input. ApartAgain makes rows of their own of the
	// intervals that another row has as well, see [scan.Visit].
	Apart, ApartAgain bool
	// Maxima has the maxima over time.
	Maxima bool
	// Account is charged for rows.
	Account *ledger.Account
	// Emit takes a row for good. If it is nil, nobody needs the rows themselves.
	Emit func(r *Row) error
	// Ran is when each input ran, at the end: from the start of its first interval of any tag,
	// chosen or not, to the end of its last one.
	Ran map[int]merge.Span
}

// A Row is what all its intervals add up to.
type Row struct {
	Total
	Spans  merge.InputSpans // when its intervals ran
	Maxima Maxima
	Again  bool // another row has its intervals as well, see [Rows.ApartAgain]

	charge  ledger.Charge
	counted bool          // the account counts it: no other worker had it before
	open    []*openWindow // by flow with differences
}

// rows are used again: the sum of one may take half a megabyte.
var rowPool = sync.Pool{New: func() any { return new(Row) }}

// Release gives a row back that nobody needs any more.
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
	if r.Intervals() < 2 {
		r.Compact() // rows may be many by now
	}
	if err := r.merge(&other.Total); err != nil {
		return err
	}
	return r.charge.Set(account, 1, rowBytes+r.Sum.Size())
}

// Pack makes a row to which nothing more is added take little memory, and charges an account for
// that.
func (r *Row) Pack(account *ledger.Account) error {
	if err := r.Compact(); err != nil {
		return err
	}
	return r.charge.Set(account, 1, rowBytes+r.Sum.Size())
}

// A rowsState has the rows of all workers.
type rowsState struct {
	*Rows
	scan  *scan.Scan
	parts []*rowsPart

	mu    sync.Mutex
	known map[string]bool // each is charged once
}

// A rowsPart has the rows of a worker.
type rowsPart struct {
	state  *rowsState
	worker *worker
	rows   map[string]*Row
	target *Row // what gets the interval
	bytes  int
	input  int    // of the last interval
	open   []*Row // of it, if rows are apart and inputs are read one after another

	differences []*differences
}

func (k *Rows) start(r *run) state {
	k.Ran = make(map[int]merge.Span)
	return &rowsState{Rows: k, scan: r.scan, known: make(map[string]bool)}
}

// ran notes when an input ran.
func (k *rowsState) ran(v scan.Visit, _ int64) {
	start, end := v.Span()
	ran, known := k.Ran[v.Part]
	if !known {
		ran = merge.Span{Start: start, End: end}
	}
	k.Ran[v.Part] = merge.Span{Start: min(ran.Start, start), End: max(ran.End, end)}
}

func (k *rowsState) part(w *worker) part {
	s := &rowsPart{state: k, worker: w, rows: make(map[string]*Row)}
	k.parts = append(k.parts, s)
	w.rows = s
	return s
}

func (k *rowsState) take(scan.Visit, *made) error { return nil }

// first reports whether no worker had a row before.
func (k *rowsState) first(key []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known[string(key)] {
		return false
	}
	k.known[string(key)] = true
	return true
}

// close adds up the rows of the workers. It takes each row from its worker, so that no sum is in
// memory twice.
func (k *rowsState) close() error {
	all := k.parts[0].rows
	for n, s := range k.parts {
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
			more.charge.Set(k.Account, 0, 0)
			if err := all[key].Add(more, k.Account); err != nil {
				return err
			}
			more.Release()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if len(all[key].Spans.All) == 0 {
			continue // no payload could be read
		}
		if k.Emit == nil {
			all[key].Release()
			continue
		}
		if err := k.Emit(all[key]); err != nil {
			return err
		}
	}
	return nil
}

func (s *rowsPart) begin() {}

// setKey sets the key of the worker to that of a row.
func (s *rowsPart) setKey(v scan.Visit) {
	w := s.worker
	w.key = w.key[:0]
	row := v.Row
	switch {
	case s.state.Apart:
		w.key = binary.BigEndian.AppendUint32(w.key, uint32(v.Input))
		row = v.Tag
	case s.state.ApartAgain && v.Again:
		w.key = append(w.key, '+') // other keys begin with = or are empty
	}
	w.key = merge.AppendKey(w.key, row)
}

func (s *rowsPart) want(v scan.Visit, _ *made) (scan.Want, *merge.Sum) {
	r := s.rowOf(v)
	s.worker.run.compactNew(&r.Sum, s.bytes)
	return scan.Want{Max: s.state.Maxima}, &r.Sum
}

// rowOf returns the row of the interval that is decoded.
func (s *rowsPart) rowOf(v scan.Visit) *Row {
	if s.target != nil {
		return s.target
	}
	w := s.worker
	if v.Input != s.input {
		s.packOpen()
		s.input = v.Input
	}
	s.setKey(v)
	r := s.rows[string(w.key)]
	if r == nil {
		r = rowPool.Get().(*Row)
		r.Row = bytes.Clone(v.Row)
		r.Input = v.Input
		r.Name = v.Name
		r.Tag = bytes.Clone(v.Tag)
		r.Again = s.state.ApartAgain && v.Again
		r.counted = s.state.first(w.key)
		for range s.differences {
			r.open = append(r.open, new(openWindow))
		}
		s.rows[string(w.key)] = r
		if s.state.Apart && !s.state.scan.ByTime {
			s.open = append(s.open, r)
		}
	}
	s.target = r
	return r
}

// manyOpen is the number of rows of an input above which they stay as they are. Rows of many tags
// have few intervals each: to pack them takes as long as to add these.
const manyOpen = 32

// packOpen makes the rows of an input that is read take little memory.
func (s *rowsPart) packOpen() {
	if len(s.open) <= manyOpen {
		for _, r := range s.open {
			s.closeWindowsOf(r)
			s.worker.err = cmp.Or(s.worker.err, r.fail(r.Compact()), s.charge(r))
		}
	}
	s.open = s.open[:0]
}

// closeWindows completes the windows of all rows.
func (s *rowsPart) closeWindows() {
	for _, r := range s.rows {
		s.closeWindowsOf(r)
	}
}

func (s *rowsPart) closeWindowsOf(r *Row) {
	for _, d := range s.differences {
		d.close(r)
	}
}

func (s *rowsPart) decoded(v scan.Visit, t *scan.Taken, failed error, _ *made) error {
	start, end := v.Span()
	s.target.add(v, t, failed)
	s.target.Spans.Add(v.Part, start, end)
	if s.state.Maxima && t.Max > 0 {
		s.target.Maxima.Add(start, end, t.Max)
	}
	if err := s.charge(s.target); err != nil {
		return scan.Fatal{Err: err}
	}
	return nil
}

// charge charges for a row to which something was added.
func (s *rowsPart) charge(r *Row) error {
	size := s.worker.run.rowBytes + r.Sum.Size()
	s.bytes += size - r.charge.Bytes()
	things := 0
	if r.counted {
		things = 1
	}
	return r.charge.Set(s.state.Account, things, size)
}
