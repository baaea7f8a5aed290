package scan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/workers"
)

const (
	// All batches together have at most allBatches bytes, and at most one of partOfMemory parts of
	// -memory: what is decoded often takes four times the size of its batch, and fourteen times for
	// each size of windows if lines have a hundred bytes. One batch has between smallestBatch and
	// largestBatch bytes.
	allBatches   = 16 << 20
	partOfMemory = 64
	largestBatch = 256 << 10
	// mergedBatch is the size in bytes of the largest batch of [RunSorted], whose results wait for
	// results of other inputs. A union of three logs takes 24 MB, and with batches of largestBatch
	// 43 MB in the same time. A single log in order of time has batches of largestBatch, so that
	// workers add up more intervals of a window before they hand it over: hdrsum -st timeline -agg
	// 1m takes 0.91 of the time.
	mergedBatch   = 64 << 10
	smallestBatch = 4 << 10

	// A lane has only one batch larger than longBatch bytes in memory at a time. Such a batch has a
	// long line.
	longBatch = 2 << 20
)

// A batch is a piece of an input, with what a worker made of each record.
type batch[R any] struct {
	hdrlog.Batch
	input    int
	outcomes []outcome[R]    // by record
	read     []hdrlog.Record // memory of spread
	values   corrections
}

// An outcome is what a worker made of a record. It is empty unless the record is an interval.
type outcome[R any] struct {
	visit    Visit
	part     part // if there are phases
	selected bool
	inRange  bool // whatever its tag is
	result   R
	err      error
}

// A work is the function of a caller of [Run] that decodes an interval.
type work[R any] func(d *Decoder, v Visit, result *R) error

// start starts to read all lanes, which are lists of inputs, at the same time, and to decode their
// intervals. It returns a cursor for each lane. Stop ends the work; it waits for the workers and
// for lanes of files, but not for pipes, which may have nothing to read for any time. No batch is
// larger than maxBytes.
func start[R any](s *Scan, lanes [][]int, maxBytes int, decode work[R], observe func(Visit)) (cursors []*cursor[R], stop func()) {
	count := max(len(lanes), 1)
	depth := max(2, 1+(2*s.Workers+count)/count)
	size := min(max(s.Memory.AtMost(allBatches, partOfMemory)/(depth*count), smallestBatch), maxBytes)
	limits := NewPayloadLimits(s.Memory)
	pool := workers.Start(s.Workers, func(worker int, jobs func(yield func(*batch[R]) bool)) {
		d := NewDecoder(s.Correction.Expected, limits)
		d.Worker = worker
		defer d.charge.Set(limits.account, 0, 0)
		for b := range jobs {
			b.decode(s, d, decode)
		}
	})
	for _, inputs := range lanes {
		pipe := slices.ContainsFunc(inputs, func(input int) bool { return s.Inputs[input].Once })
		lane := pool.Open(depth, !pipe, func(l *workers.Lane[batch[R]]) error {
			for _, input := range inputs {
				if err := readInput(s, l, input, size); err != nil {
					return err
				}
			}
			return nil
		})
		cursors = append(cursors, &cursor[R]{scan: s, lane: lane, inputs: inputs, observe: observe})
	}
	return cursors, pool.Stop
}

// readInput reads an input to its end, and gives its batches to the workers.
func readInput[R any](s *Scan, l *workers.Lane[batch[R]], input, size int) error {
	log, err := s.Open(input, size)
	if err != nil {
		return err
	}
	defer log.Close()
	for {
		item := l.Empty()
		if item == nil {
			return workers.ErrStopped
		}
		b := &item.Value
		b.input = input
		b.Records = b.Records[:0]
		if !log.Reader.ReadBatch(&b.Batch) {
			l.Free(item)
			return log.Reader.Err()
		}
		long := b.Size() > longBatch
		if !l.Put(item) || long && !l.Settle(func(b *batch[R]) { *b = batch[R]{} }) {
			return workers.ErrStopped
		}
	}
}

// decode decodes the intervals of a batch that the scan selects.
func (b *batch[R]) decode(s *Scan, d *Decoder, work work[R]) {
	if s.Rows.Phases != nil {
		b.spread(s)
	} else {
		b.outcomes = slices.Grow(b.outcomes[:0], len(b.Records))
		for range b.Records {
			b.addOutcome().visit.Part = b.input
		}
	}
	d.values = corrections{}
	d.NewBatch = true
	for n := range b.Records {
		r, o := &b.Records[n], &b.outcomes[n]
		if r.Kind != hdrlog.IntervalRecord {
			continue
		}
		o.selected, o.inRange = s.choose(b.input, &r.Interval)
		o.err = cmp.Or(d.checkWhole(r), o.err)
		v := &o.visit
		v.Interval = &r.Interval
		v.Place = Place{b.input, r.Line, s.Inputs[b.input].Name}
		if o.selected && o.err == nil {
			v.Row = s.Rows.By.Row(o.part.nameOr(v.Name), v.Tag)
			o.err = work(d, *v, &o.result)
			d.NewBatch = false
		}
		if o.err != nil && errors.As(o.err, new(Fatal)) {
			break
		}
	}
	b.values = d.values
}

// addOutcome adds an empty outcome. It keeps the memory of the result of an earlier batch.
func (b *batch[R]) addOutcome() *outcome[R] {
	n := len(b.outcomes)
	if n < cap(b.outcomes) {
		b.outcomes = b.outcomes[:n+1]
		o := &b.outcomes[n]
		*o = outcome[R]{result: o.result}
		return o
	}
	b.outcomes = append(b.outcomes, outcome[R]{})
	return &b.outcomes[n]
}

// A cursor goes through the intervals of a lane that the scan selects and that could be decoded.
type cursor[R any] struct {
	// Visit is the interval that the cursor stands at, and Result what was decoded of it. Both are
	// valid until the cursor moves on.
	Visit  Visit
	Result *R

	scan    *Scan
	observe func(Visit) // see [RunObserved], nil if nobody observes
	lane    *workers.Lane[batch[R]]
	inputs  []int
	batch   *workers.Item[batch[R]]
	next    int // the index in batch of the record to look at next
	values  corrections
	read    readUntil
}

// readUntil says until when the intervals of an input were read, for [CutError].
type readUntil struct {
	input int
	any   bool  // an interval was read
	end   int64 // of the last interval in time, in milliseconds since the epoch
}

// A CutError is the error for a compressed log that is cut short or damaged.
type CutError struct {
	error
	// Any reports that intervals of the log were read, and Until when they end, in milliseconds
	// since the epoch.
	Any   bool
	Until int64
}

// Unwrap returns the error of the reader.
func (e *CutError) Unwrap() error { return e.error }

// noteRead notes until when the intervals of an input were read.
func (c *cursor[R]) noteRead(input int, i *hdrlog.Interval) {
	end := EndMillis(i)
	if c.read.input != input || !c.read.any {
		c.read = readUntil{input: input, any: true, end: end}
	}
	c.read.end = max(c.read.end, end)
}

// report reports a malformed line or a notice. The error for a log that is cut short becomes a
// [CutError].
func (c *cursor[R]) report(r *hdrlog.Record, input int) error {
	err := r.Err.(*hdrlog.SyntaxError)
	if errors.Is(err, hdrlog.ErrCutShort) {
		cut := *err
		cut.Err = &CutError{
			error: err.Err,
			Any:   c.read.any && c.read.input == input,
			Until: c.read.end,
		}
		err = &cut
	}
	return c.scan.Report(err, r.Kind == hdrlog.Malformed)
}

// Next moves the cursor to the next interval. On the way it reports malformed lines, counts
// intervals and calls the hooks. It returns false at the end of the lane. An error ends the scan.
func (c *cursor[R]) Next() (bool, error) {
	for c.fetch() {
		if found, err := c.step(); found || err != nil {
			return found, err
		}
	}
	return false, cmp.Or(c.lane.Err(), c.scan.checkCorrection(c.values))
}

// checkCorrection returns an error if the expected interval seems to be in another unit than the
// values, since the correction makes too many values.
func (s *Scan) checkCorrection(values corrections) error {
	if s.Correction.Expected == 0 || s.Correction.UnitGiven || values.after/maxCorrected <= values.before {
		return nil
	}
	return OptionError{fmt.Errorf("-co %v is in units of the log, and makes %d values of %d: give its unit, as in -co 10ms",
		s.Correction.Expected, values.after, values.before)}
}

// An OptionError is the error of an option whose mistake shows only while logs are read.
type OptionError struct{ error }

// fetch waits for the next batch unless the cursor has one. It returns false at the end of the
// lane, and if the scan stops.
func (c *cursor[R]) fetch() bool {
	if c.batch != nil {
		return true
	}
	c.batch = c.lane.Take()
	c.next = 0
	return c.batch != nil
}

// step moves the cursor to the next interval of its batch. At the end of the batch, it gives the
// batch back and returns false.
func (c *cursor[R]) step() (bool, error) {
	for c.next < len(c.batch.Value.Records) {
		n := c.next
		c.next++
		if found, err := c.take(n); found || err != nil {
			return found, err
		}
	}
	c.values.before += c.batch.Value.values.before
	c.values.after += c.batch.Value.values.after
	c.lane.Free(c.batch)
	c.batch = nil
	if c.scan.BatchDone != nil {
		return false, c.scan.BatchDone()
	}
	return false, nil
}

// take handles a record of the batch. It returns true if the record is an interval to hand over.
func (c *cursor[R]) take(n int) (bool, error) {
	b, s := &c.batch.Value, c.scan
	r, o := &b.Records[n], &b.outcomes[n]
	switch r.Kind {
	case hdrlog.Malformed, hdrlog.Notice:
		return false, c.report(r, b.input)
	case hdrlog.Comment, hdrlog.BaseTime:
		if s.Hooks.Comment != nil {
			return false, s.Hooks.Comment(b.input, r.Text)
		}
		return false, nil
	case hdrlog.IntervalRecord:
		return c.takeInterval(r, o)
	}
	return false, nil
}

// takeInterval counts an interval and calls the hooks for it. It returns true if the interval is to
// be handed over.
func (c *cursor[R]) takeInterval(r *hdrlog.Record, o *outcome[R]) (bool, error) {
	s, v := c.scan, &o.visit
	if !v.Again {
		s.Seen.Intervals++
		c.noteRead(c.batch.Value.input, &r.Interval)
		if !s.Selection.Range.All() {
			s.Seen.note(&r.Interval, s.Selection.Range)
		}
	}
	if o.err != nil && v.Again && !errors.As(o.err, new(Fatal)) {
		return false, nil // the first visit reported the error
	}
	if o.err != nil {
		return false, c.fail(r, o.err)
	}
	if o.inRange && c.observe != nil {
		c.observe(*v)
	}
	if !o.selected {
		return false, nil
	}
	if s.Hooks.Selected != nil {
		s.Hooks.Selected(v.Input, v.Row)
	}
	if s.Rows.Phases != nil {
		o.part.add(*v)
	}
	c.Visit, c.Result = *v, &o.result
	return true, nil
}

// fail reports an error of decoding an interval. It returns the error if that ends the scan.
func (c *cursor[R]) fail(r *hdrlog.Record, err error) error {
	name := c.scan.Inputs[c.batch.Value.input].Name
	var fatal Fatal
	if errors.As(err, &fatal) {
		return fmt.Errorf("%s:%d: %w", name, r.Line, fatal.Err)
	}
	return c.scan.Report(r.Malformed(name, err), true)
}

// Run calls decode for each interval of the selection, on several goroutines, each with a decoder
// of its own. Decode puts what it decodes in result, which holds what an earlier interval left
// there. Then Run calls consume for one interval after another: in the order of the inputs or, see
// [Scan.ByTime], of time.
//
// Run reports an error of decode as a malformed line, and skips the interval. A [Fatal] error ends
// the scan. An [hdrlog.SyntaxError] names the field at fault; for other errors that is the payload.
func Run[R any](s *Scan, decode func(d *Decoder, v Visit, result *R) error, consume func(v Visit, result *R) error) error {
	return RunObserved(s, decode, nil, consume)
}

// RunObserved is [Run], and it calls observe for each interval in the range of the selection,
// whatever its tag is, before the next one is handed over: its input ran then. Whole payloads of
// other tags are not decoded.
func RunObserved[R any](
	s *Scan, decode func(d *Decoder, v Visit, result *R) error, observe func(v Visit), consume func(v Visit, result *R) error,
) error {
	if s.ByTime {
		return runByTime(s, decode, observe, consume)
	}
	lanes := make([][]int, 1)
	for n := range s.Inputs {
		if s.Inputs[n].Once {
			lanes = append(lanes, []int{n})
		} else {
			lanes[0] = append(lanes[0], n)
		}
	}
	if len(lanes) == 2 { // a single pipe is read in its turn
		lanes[0] = append(lanes[0], lanes[1]...)
		slices.Sort(lanes[0])
		lanes = lanes[:1]
	}
	return runLanes(s, lanes, decode, observe, consume)
}

// runLanes hands over the intervals of all lanes as they are read, by one goroutine at a time. The
// inputs of a lane follow each other.
func runLanes[R any](s *Scan, lanes [][]int, decode work[R], observe func(Visit), consume func(Visit, *R) error) error {
	cursors, stop := start(s, lanes, largestBatch, decode, observe)
	defer stop()
	var mu sync.Mutex
	var failed error // once set, nothing more is handed over
	batch := func(c *cursor[R]) (more bool, err error) {
		more = c.fetch()
		mu.Lock()
		defer mu.Unlock()
		if !more && failed == nil { // the lane is at its end
			failed = cmp.Or(c.lane.Err(), c.scan.checkCorrection(c.values))
		}
		for c.batch != nil && failed == nil {
			found, err := c.step()
			if found {
				err = consume(c.Visit, c.Result)
			}
			failed = err
		}
		return more, failed
	}
	errs := make(chan error, len(lanes))
	for _, c := range cursors {
		go func() {
			more, err := batch(c)
			for more && err == nil {
				more, err = batch(c)
			}
			errs <- err
		}()
	}
	for range lanes {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}
