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
	// inFlight is the size of all batches together in bytes, largestBatch and smallestBatch of one.
	// All batches have at most a 64th of -memory: what is decoded of them often takes four times
	// their size, and fourteen times for each size of windows if lines have a hundred bytes.
	inFlight     = 16 << 20
	partOfMemory = 64
	largestBatch = 256 << 10
	// aheadBatch is the size in bytes of the largest batch of [RunAhead], whose results wait for
	// those of other inputs. A union of three logs takes 24 MB, in the same time, where batches of
	// largestBatch take 43. In order of time, one log has batches of largestBatch, so that workers
	// add up more intervals of a window before they hand it over: hdrsum -st timeline -agg 1m takes
	// 0.91 of the time.
	aheadBatch    = 64 << 10
	smallestBatch = 4 << 10

	// longBatch is the size in bytes from which a lane has no second batch with a long line in
	// memory.
	longBatch = 2 << 20
)

// batch is a piece of an input and what came of it.
type batch[R any] struct {
	hdrlog.Batch
	input    int
	outcomes []outcome[R] // by record
	in       []inPhase    // by record, if there are phases
	read     []hdrlog.Record
	values   corrections
}

// outcome is what came of a record.
type outcome[R any] struct {
	kept   bool
	ran    bool // it is in the range, whatever its tag is
	row    []byte
	result R
	err    error
}

// work decodes an interval.
type work[R any] func(worker int, v Visit, result *R) error

// start reads lanes, each a list of inputs, at the same time, and has intervals decoded: see [Run].
// It returns a cursor for each lane. Call stop when done; it waits for the workers, and for the
// lanes of files. A pipe may have nothing to read for any time, so nobody waits for it. No batch is
// larger than most bytes.
func start[R any](s *Scan, lanes [][]int, most int, decode work[R]) (cursors []*cursor[R], stop func()) {
	count := max(len(lanes), 1)
	depth := max(2, 1+(2*s.Workers+count)/count)
	size := min(max(s.Memory.AtMost(inFlight, partOfMemory)/(depth*count), smallestBatch), most)
	payloads := NewPayloads(s.Memory)
	pool := workers.Start(s.Workers, func(worker int, jobs func(yield func(*batch[R]) bool)) {
		d := NewDecoder(s.Expected, payloads)
		defer d.charge.Set(payloads.account, 0, 0)
		for b := range jobs {
			b.decode(s, d, worker, decode)
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
		cursors = append(cursors, &cursor[R]{scan: s, lane: lane, inputs: inputs})
	}
	return cursors, pool.Stop
}

// readInput reads an input to its end.
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
		if !log.ReadBatch(&b.Batch) {
			l.Free(item)
			return log.Err()
		}
		long := b.Size() > longBatch
		if !l.Put(item) || long && !l.Settle(func(b *batch[R]) { b.Batch = hdrlog.Batch{} }) {
			return workers.ErrStopped
		}
	}
}

// decode decodes the intervals of a batch that the scan keeps.
func (b *batch[R]) decode(s *Scan, d *Decoder, worker int, work work[R]) {
	b.spread(s)
	if missing := len(b.Records) - len(b.outcomes); missing > 0 {
		b.outcomes = append(b.outcomes, make([]outcome[R], missing)...)
	}
	d.values = corrections{}
	first := true
	for n := range b.Records {
		r, o := &b.Records[n], &b.outcomes[n]
		o.err = nil
		o.kept = false
		o.ran = false
		if r.Kind != hdrlog.IntervalRecord {
			continue
		}
		o.kept, o.ran = s.choose(b.input, &r.Interval)
		o.err = d.checkWhole(r)
		if len(b.in) > 0 && o.err == nil {
			o.err = b.in[n].err
		}
		if o.kept && o.err == nil {
			v := d.Visit(&r.Interval, b.place(s, n))
			v.Part = b.part(s, n)
			v.Again = b.again(n)
			v.Row = s.By.Row(b.source(v.Name, n), v.Tag)
			v.First = first
			first = false
			o.row = v.Row
			o.err = work(worker, v, &o.result)
		}
		if o.err != nil && errors.As(o.err, new(Fatal)) {
			break
		}
	}
	b.values = d.values
}

// place returns where a record stands.
func (b *batch[R]) place(s *Scan, n int) Place {
	return Place{b.input, b.Records[n].Line, s.Inputs[b.input].Name}
}

// source returns the name of the phase of a record, or of the input if there are no phases.
func (b *batch[R]) source(input string, n int) string {
	if len(b.in) == 0 {
		return input
	}
	return b.in[n].name()
}

// part returns what ran in the interval of a record, see [Visit.Part].
func (b *batch[R]) part(s *Scan, n int) int {
	if len(b.in) == 0 {
		return b.input
	}
	return b.input + len(s.Inputs)*b.in[n].number
}

// again reports whether a record is a copy of the one before.
func (b *batch[R]) again(n int) bool { return len(b.in) > 0 && b.in[n].again }

// A cursor goes through the intervals of a lane that the scan keeps and that could be decoded.
type cursor[R any] struct {
	// Visit is the interval that the cursor stands at, and Result what was decoded of it. Both are
	// valid until the cursor moves on.
	Visit  Visit
	Result *R

	scan   *Scan
	lane   *workers.Lane[batch[R]]
	inputs []int
	batch  *workers.Item[batch[R]]
	next   int // the index in batch of the record to look at next
	values corrections
	read   reach
}

// A reach says how far an input was read: until the end of its last interval in milliseconds since
// the epoch. Any says that there is one.
type reach struct {
	input int
	any   bool
	until int64
}

// A CutError is that of a compressed log that is cut short or damaged. Intervals of it were read
// until Until in milliseconds since the epoch, none if Any is false.
type CutError struct {
	error
	Any   bool
	Until int64
}

// Unwrap returns the error of the reader.
func (e *CutError) Unwrap() error { return e.error }

// reached notes how far the input of an interval was read.
func (c *cursor[R]) reached(input int, i *hdrlog.Interval) {
	end := EndMillis(i)
	if c.read.input != input || !c.read.any {
		c.read = reach{input: input, any: true, until: end}
	}
	c.read.until = max(c.read.until, end)
}

// report reports a line, and how far a log was read that is cut short.
func (c *cursor[R]) report(r *hdrlog.Record, input int) error {
	err := r.Err.(*hdrlog.SyntaxError)
	if errors.Is(err, hdrlog.ErrCutShort) {
		cut := *err
		cut.Err = &CutError{
			error: err.Err,
			Any:   c.read.any && c.read.input == input,
			Until: c.read.until,
		}
		err = &cut
	}
	return c.scan.Report(err, r.Kind == hdrlog.Malformed)
}

// Next moves the cursor on. It returns false at the end of the lane. It reports what is wrong on
// the way, counts intervals, and hands over comments. An error ends the scan.
func (c *cursor[R]) Next() (bool, error) {
	for c.fetch() {
		if wanted, err := c.step(); wanted || err != nil {
			return wanted, err
		}
	}
	return false, cmp.Or(c.lane.Err(), c.scan.checkCorrection(c.values))
}

// checkCorrection returns an error if the expected interval looks to be in another unit than the
// values.
func (s *Scan) checkCorrection(values corrections) error {
	if s.Expected == 0 || s.Meant || values.after/mostCorrected <= values.before {
		return nil
	}
	return OptionError{fmt.Errorf("-co %v is in units of the log, and makes %d values of %d: give its unit, as in -co 10ms",
		s.Expected, values.after, values.before)}
}

// An OptionError is a mistake in the command line that only the logs show.
type OptionError struct{ error }

// fetch waits for the next batch if there is none. It returns false at the end of the lane, and if
// the scan stops.
func (c *cursor[R]) fetch() bool {
	if c.batch != nil {
		return true
	}
	c.batch = c.lane.Take()
	c.next = 0
	return c.batch != nil
}

// step moves the cursor on in its batch. It returns false at the end of the batch, which it gives
// back.
func (c *cursor[R]) step() (bool, error) {
	for c.next < len(c.batch.Value.Records) {
		n := c.next
		c.next++
		if wanted, err := c.take(n); wanted || err != nil {
			return wanted, err
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

// take looks at a record of the batch. It returns true if that is an interval to use.
func (c *cursor[R]) take(n int) (bool, error) {
	b, s := &c.batch.Value, c.scan
	r, o := &b.Records[n], &b.outcomes[n]
	again := b.again(n)
	switch r.Kind {
	case hdrlog.Malformed, hdrlog.Notice:
		return false, c.report(r, b.input)
	case hdrlog.IntervalRecord:
		if again {
			break
		}
		s.Seen++
		c.reached(b.input, &r.Interval)
		if !s.Selection.Range.All() {
			s.noteTimes(&r.Interval)
		}
	case hdrlog.Comment, hdrlog.BaseTime:
		if s.Comment != nil {
			return false, s.Comment(b.input, r.Text)
		}
		return false, nil
	default:
		return false, nil
	}
	if o.err != nil && again && !errors.As(o.err, new(Fatal)) {
		return false, nil
	}
	if o.err != nil {
		return false, c.fail(r, o.err)
	}
	v := Visit{
		Interval: &r.Interval,
		Place:    b.place(s, n),
		Row:      o.row,
		Part:     b.part(s, n),
		Again:    again,
	}
	if o.ran && s.Ran != nil {
		s.Ran(v)
	}
	if !o.kept {
		return false, nil
	}
	if s.Kept != nil {
		s.Kept(b.input, o.row)
	}
	if len(b.in) > 0 {
		b.in[n].take(v)
	}
	c.Visit, c.Result = v, &o.result
	return true, nil
}

// noteTimes notes when an interval is, for messages about a range that has none.
func (s *Scan) noteTimes(i *hdrlog.Interval) {
	start, end := i.StartMillis(), EndMillis(i)
	if s.Seen == 1 {
		s.Earliest, s.Latest = start, end
	}
	s.Earliest = min(s.Earliest, start)
	s.Latest = max(s.Latest, end)
	if s.Seen == 1 || i.LogStart != s.logStart {
		later := s.Selection.Range.later(i.LogStart)
		s.Later = later && (s.Seen == 1 || s.Later)
		s.logStart = i.LogStart
	}
}

// Saw adds the intervals that another scan has seen.
func (s *Scan) Saw(other *Scan) {
	if other.Seen == 0 {
		return
	}
	if s.Seen == 0 {
		s.Earliest, s.Latest = other.Earliest, other.Latest
		s.Later = other.Later
	}
	s.Later = s.Later && other.Later
	s.Seen += other.Seen
	s.Earliest = min(s.Earliest, other.Earliest)
	s.Latest = max(s.Latest, other.Latest)
}

// fail reports an error of decoding the interval of a record, or returns it if it ends the scan.
func (c *cursor[R]) fail(r *hdrlog.Record, err error) error {
	name := c.scan.Inputs[c.batch.Value.input].Name
	var fatal Fatal
	if errors.As(err, &fatal) {
		return fmt.Errorf("%s:%d: %w", name, r.Line, fatal.Err)
	}
	return c.scan.Report(r.Malformed(name, err), true)
}

// Run calls decode for each interval of the selection, on several goroutines. The first argument is
// the number of the goroutine, from 0. Decode puts its outcome in result, which holds what an
// earlier interval left there. Then Run calls consume for one interval after another: in the order
// of the inputs or, see [Scan.ByTime], of time.
//
// An error of decode is reported as malformed, and the interval is not consumed. A [Fatal] error
// ends the scan. An [hdrlog.SyntaxError] names the field; otherwise that is the payload.
func Run[R any](s *Scan, decode func(worker int, v Visit, result *R) error, consume func(v Visit, result *R) error) error {
	if s.ByTime {
		return runByTime(s, decode, consume)
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
	return runLanes(s, lanes, decode, consume)
}

// runLanes hands over what the lanes have as it is read, by one goroutine at a time. The inputs
// of a lane follow each other.
func runLanes[R any](s *Scan, lanes [][]int, decode work[R], consume func(Visit, *R) error) error {
	cursors, stop := start(s, lanes, largestBatch, decode)
	defer stop()
	var mu sync.Mutex
	var failed error // nothing may be handed over any more
	batch := func(c *cursor[R]) (more bool, err error) {
		more = c.fetch()
		mu.Lock()
		defer mu.Unlock()
		if !more && failed == nil { // the lane is at its end
			failed = cmp.Or(c.lane.Err(), c.scan.checkCorrection(c.values))
		}
		for c.batch != nil && failed == nil {
			wanted, err := c.step()
			if wanted {
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
