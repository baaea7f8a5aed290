package hdrlog

import (
	"cmp"
	"iter"
	"runtime"

	"hdrkit/internal/base/workers"
)

// decodedSize is the size of a batch for Decode. Histograms often take a hundred times the memory
// of their text. At this size, handing a batch to another goroutine costs less than 1%.
const decodedSize = 32 << 10

// A Decoded is an interval of a log and what a worker of [Decode] made of it. It is valid until the
// next one.
type Decoded[R any] struct {
	*Interval
	// Line is the number of the line, from 1.
	Line int
	// Result is what the worker put there.
	Result *R
}

// Decode reads the log to its end and works on several intervals at a time. It returns the
// intervals in the order of the log, each with its result, and the errors. One of the two is nil.
// Comments and notices are left out.
//
// Decode starts as many goroutines as parallel says; 0 means [runtime.GOMAXPROCS]. It calls worker
// for each of them. The goroutine gives one interval after another to the function that worker
// returned, which may keep a [histogram.Decoder] and other memory between calls. The function puts
// its outcome in result, which holds what an earlier interval left there. So a
// [histogram.Histogram] is not allocated again.
//
// There is a [*SyntaxError] for each malformed line, and for each interval for which the function
// returned an error; see [Record.Malformed]. The last error is the one that ended the log, if there
// is one.
//
// Decode reads ahead: it keeps the results of parallel+2 batches of 32 KiB of text, or as
// [ReaderOptions] say. A loop that ends early waits for the read that is under way, and the Reader
// is then of no use.
func Decode[R any](r *Reader, parallel int, worker func() func(i *Interval, result *R) error) iter.Seq2[*Decoded[R], error] {
	return func(yield func(*Decoded[R], error) bool) {
		if r.batch == batchSize { // no other size was asked for
			r.batch = decodedSize
		}
		parallel = cmp.Or(max(parallel, 0), runtime.GOMAXPROCS(0))
		var functions []func(*Interval, *R) error
		for range parallel {
			functions = append(functions, worker())
		}
		pool := workers.Start(parallel, func(n int, jobs func(yield func(*decodedBatch[R]) bool)) {
			for b := range jobs {
				b.decode(r.name, functions[n])
			}
		})
		defer pool.Stop()
		lane := pool.Open(parallel+2, true, func(l *workers.Lane[decodedBatch[R]]) error { return readAhead(r, l) })
		for item := lane.Take(); item != nil; item = lane.Take() {
			if !item.Value.hand(yield) {
				return
			}
			lane.Free(item)
		}
		if err := lane.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// A decodedBatch is a batch of a log and what came of its records.
type decodedBatch[R any] struct {
	Batch
	results []R
	errs    []error
}

// readAhead fills batches until the log ends.
func readAhead[R any](r *Reader, l *workers.Lane[decodedBatch[R]]) error {
	for {
		item := l.Empty()
		if item == nil {
			return workers.ErrStopped
		}
		if !r.ReadBatch(&item.Value.Batch) {
			return r.Err()
		}
		long := item.Value.Size() > max(longText, 2*r.batch)
		if !l.Put(item) || long && !l.Settle(func(b *decodedBatch[R]) { *b = decodedBatch[R]{} }) {
			return workers.ErrStopped
		}
	}
}

// decode gives the intervals of the batch to a function.
func (b *decodedBatch[R]) decode(log string, function func(i *Interval, result *R) error) {
	if missing := len(b.Records) - len(b.results); missing > 0 {
		b.results = append(b.results, make([]R, missing)...)
	}
	b.errs = append(b.errs[:0], make([]error, len(b.Records))...)
	for n := range b.Records {
		record := &b.Records[n]
		switch record.Kind {
		case IntervalRecord:
			if err := function(&record.Interval, &b.results[n]); err != nil {
				b.errs[n] = record.Malformed(log, err)
			}
		case Malformed:
			b.errs[n] = record.Err
		}
	}
}

// hand yields the intervals and the errors of the batch. It returns false if yield did.
func (b *decodedBatch[R]) hand(yield func(*Decoded[R], error) bool) bool {
	for n := range b.Records {
		record := &b.Records[n]
		more := true
		if b.errs[n] != nil {
			more = yield(nil, b.errs[n])
		} else if record.Kind == IntervalRecord {
			more = yield(&Decoded[R]{&record.Interval, record.Line, &b.results[n]}, nil)
		}
		if !more {
			return false
		}
	}
	return true
}
