// Package union joins the intervals of logs: those of one tag that were recorded at the same time
// become one.
//
// The work is a line of stages. Package scan reads each input on a goroutine of its own and decodes
// payloads on several cores. One goroutine merges the inputs in order of time and puts intervals
// into windows, by their times and tags alone: see joining and grid. Several cores add up and
// encode what is in a window that nothing can join any more. The results are written in order. They
// do not depend on the number of cores.
package union

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/heap"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// Options say how to join.
type Options struct {
	// Relative puts all logs on one time line, which starts with each.
	Relative bool
	// Grid is the size of the windows in milliseconds: see package merge. If it is 0, intervals are
	// joined by the rules of HdrLogProcessing, in windows of at least Target milliseconds.
	Grid, Target int64
	// Warn, if set, takes warnings.
	Warn func(format string, args ...any)
	// Observe, if set, is called for each interval, in order of time, with the times of the window
	// that it goes to as far as they are known. All times are in milliseconds.
	Observe func(name string, line int, tag []byte, start, end, windowStart, windowEnd int64)
}

// foldAt is the number of intervals that a window holds until they are added up.
const foldAt = 32

// union is a union under way.
type union struct {
	scan      *scan.Scan
	options   Options
	account   *ledger.Account // of intervals and windows
	lookAhead int             // intervals held of an input at most
	mu        sync.Mutex      // of base and units
	base      int64           // the earliest start of an input, in milliseconds since the epoch
	units     unit.Finder     // knows the unit of the inputs once all have been looked through
	unit      unit.Unit       // of the result, unknown if no log states one

	plan    plan
	streams *heap.Heap[*stream] // by the start of their first intervals
	closed  []*window           // to be handed to the workers
	folds   []*window           // to be added up so far
	found   found
	err     error // what ended the merging
	ended   bool

	writer *hdrlog.Writer
	held   *heap.Heap[line] // results whose turn it is not yet
	spare  [][]byte         // memory of results that were held
	count  int64            // of those written
}

// tagged is what is known of a tag: one for each, so that it can be a key.
type tagged struct {
	tag     []byte       // in memory of its own
	key     string       // sorts tags; empty for untagged intervals
	extents scan.Extents // belongs to the goroutine that merges
}

// found is the tags found so far. The goroutines that decode look them up, while the text is in
// their core's cache.
type found struct {
	mu       sync.RWMutex
	tags     map[string]*tagged // but for none
	untagged tagged
}

func (f *found) of(tag []byte) *tagged {
	if tag == nil {
		return &f.untagged
	}
	f.mu.RLock()
	t := f.tags[string(tag)]
	f.mu.RUnlock()
	if t != nil {
		return t
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t = f.tags[string(tag)]; t == nil {
		t = &tagged{tag: bytes.Clone(tag), key: "=" + string(tag)}
		f.tags[string(t.tag)] = t
	}
	return t
}

// findUnits finds out the unit of the result. A log has one unit, so it refuses logs of several.
func (u *union) findUnits() error {
	found, err := unit.Find(&u.units)
	if err = cmp.Or(err, found.Differ); err != nil {
		return fmt.Errorf("%w: a log has one unit; hdrsum and hdrplot read logs of several units", err)
	}
	if u.unit = found.Unit; found.Unstated != "" && u.options.Warn != nil {
		u.options.Warn("%s does not state its unit; the result states that all values are in %s", found.Unstated, found.Unit)
	}
	return nil
}

// Write writes the union of a scan's inputs to w and returns how many intervals it has. It writes
// nothing if there are none.
func Write(w io.Writer, s *scan.Scan, o Options) (int64, error) {
	u := &union{
		scan: s, options: o, account: s.Memory.Open("intervals", "choose some with -incT"), writer: hdrlog.NewWriter(w), found: found{tags: make(map[string]*tagged)},
		lookAhead: min(max(aheadOfAll/len(s.Inputs), leastAhead), mostAhead), base: math.MaxInt64,
		streams: heap.New(func(a, b *stream) bool { return a.first.before(&b.first) }),
		held:    heap.New(func(a, b line) bool { return a.window.compare(b.window) < 0 }),
	}
	u.plan = newJoining(o.Target)
	if o.Grid > 0 {
		u.plan = newGrid(o.Grid)
	}
	err := u.run()
	return u.count, err
}

func (u *union) run() error {
	for _, input := range u.scan.Inputs {
		u.units.Add(input.Name)
	}
	sorter := &sorter{union: u}
	defer sorter.close()
	sources, err := u.prepare(sorter)
	if err != nil {
		return err
	}
	if err := u.findUnits(); err != nil {
		return err
	}
	var lanes [][]scan.Part
	for _, s := range sources {
		lanes = append(lanes, []scan.Part{s.part})
	}
	cursors, stop := scan.Start(u.scan, lanes, u.decode)
	defer stop()
	for n, c := range cursors {
		if err := u.add(newStream(c, sources[n].lookAhead)); err != nil {
			return err
		}
	}
	scratch := make([]merge.Sum, u.scan.Workers)
	for n := range scratch {
		scratch[n].Spare = 1 << 19
	}
	work := func(worker int, j *job) {
		for n := range *j {
			u.do(&(*j)[n], &scratch[worker])
		}
	}
	done := func(j *job) error {
		for n := range *j {
			if err := u.write(&(*j)[n]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := inOrder(u.scan.Workers, u.next, work, done); err != nil {
		return err
	}
	if u.err != nil {
		return u.err
	}
	if err := u.writeHeld(math.MaxInt64); err != nil {
		return err
	}
	return u.writer.Flush()
}

// add adds a stream, unless it is empty.
func (u *union) add(s *stream) error {
	any, err := s.advance()
	if any {
		u.streams.Push(s)
	}
	return err
}

// A job is some tasks for a worker: handing over one at a time would take longer than some of them.
type job []task

// tasksOfJob is the number of tasks of a job but the last.
const tasksOfJob = 16

// A task is to add members to a window's sum, and to encode it if nothing will be added after that.
type task struct {
	window  *window
	members []*merge.Sum
	encode  bool
	floor   int64  // no result that comes later has a key below it
	fields  []byte // the result: START,LENGTH,MAX,PAYLOAD
	err     error
}

// next makes the next job.
func (u *union) next(j *job) bool {
	count := 0
	for count < tasksOfJob {
		if count == len(*j) {
			*j = append(*j, task{})
		}
		if !u.nextTask(&(*j)[count]) {
			break
		}
		count++
	}
	*j = (*j)[:count]
	return count > 0
}

// nextTask makes the next task: it merges the inputs until a window is closed or has much to be
// added up.
func (u *union) nextTask(t *task) bool {
	for u.err == nil {
		switch {
		case len(u.folds) > 0:
			u.assign(t, u.folds[0], false)
			u.folds = u.folds[1:]
			return true
		case len(u.closed) > 0:
			w := u.closed[0]
			u.closed[0] = nil
			u.closed = u.closed[1:]
			u.assign(t, w, true)
			return true
		case u.ended:
			return false
		case u.streams.Len() == 0:
			u.ended = true
			u.closed = u.plan.finish()
		default:
			u.err = u.merge()
		}
	}
	return false
}

func (u *union) assign(t *task, w *window, encode bool) {
	t.window, t.members, t.encode, t.floor, t.err = w, w.members, encode, u.plan.floor(), nil
	if len(u.closed) > 0 {
		t.floor = min(t.floor, u.closed[0].key)
	}
	w.members = nil
	if !encode {
		w.adding.Add(1)
	}
}

// merge puts the earliest interval into its window.
func (u *union) merge() error {
	s := u.streams.First()
	i := s.first
	i.tagged.extents.Add(i.extent, i.Place)
	if err := i.tagged.extents.KindErr(); err != nil {
		return fmt.Errorf("tag %s: %w", tags.Text(i.tagged.tag), err)
	}
	var w *window
	w, u.closed = u.plan.put(&i, u.closed[:0])
	slices.SortFunc(u.closed, (*window).compare)
	w.add(&i)
	if u.options.Observe != nil {
		u.options.Observe(i.Name, i.Line, i.tagged.tag, i.start, i.end, w.start, w.end)
	}
	if len(w.members) == foldAt {
		u.folds = append(u.folds[:0], w)
	}
	any, err := s.advance()
	if any {
		u.streams.Fix()
	} else {
		u.streams.Pop()
	}
	return err
}

// do does a task.
func (u *union) do(t *task, scratch *merge.Sum) {
	w := t.window
	if !t.encode {
		t.err = u.hold(0, w.fold(t.members, scratch.Spare))
		for _, m := range t.members {
			u.put(m)
		}
		w.adding.Done()
		return
	}
	w.adding.Wait() // tasks are begun in order, so that those waited for are under way
	if t.err = w.err; t.err == nil {
		t.err = u.encode(t, scratch)
	}
	if t.err != nil {
		t.err = fmt.Errorf("tag %s: the intervals joined with %s: %w", tags.Text(w.tagged.tag), w.first, w.extents.Explain(t.err))
	}
}

// encode makes the fields of a window that is closed.
func (u *union) encode(t *task, scratch *merge.Sum) (err error) {
	w := t.window
	sum := w.sum
	switch {
	case sum == nil && len(t.members) == 1:
		sum = t.members[0]
	case sum == nil:
		scratch.Reset()
		sum = scratch
		fallthrough
	default:
		if err := sum.MergeAll(t.members); err != nil {
			return err
		}
	}
	sum.Start, sum.End = w.start, w.end
	t.fields, err = sum.AppendFields(t.fields[:0], u.base)
	for _, m := range t.members {
		u.put(m)
	}
	return err
}

// write writes what a task has made, and what was held until it was.
func (u *union) write(t *task) error {
	if t.err != nil {
		return t.err
	}
	if !t.encode {
		return nil
	}
	if t.window.sum != nil {
		u.hold(0, -t.window.sum.Size())
		t.window.sum = nil
	}
	if u.held.Len() == 0 && t.window.key < t.floor {
		return u.writeLine(t.window.tagged.tag, t.fields)
	}
	if err := u.hold(0, cap(t.fields)); err != nil {
		return err
	}
	u.held.Push(line{t.window, t.fields})
	t.fields = nil
	if n := len(u.spare) - 1; n >= 0 {
		t.fields, u.spare = u.spare[n], u.spare[:n]
	}
	return u.writeHeld(t.floor)
}

// line is a result.
type line struct {
	window *window
	fields []byte
}

// writeHeld writes the results held whose key is below floor.
func (u *union) writeHeld(floor int64) error {
	for u.held.Len() > 0 && u.held.First().window.key < floor {
		l := u.held.Pop()
		if err := u.writeLine(l.window.tagged.tag, l.fields); err != nil {
			return err
		}
		u.hold(0, -cap(l.fields))
		u.spare = append(u.spare, l.fields)
	}
	return nil
}

func (u *union) writeLine(tag, fields []byte) error {
	if u.count == 0 {
		u.writeHeader()
	}
	u.count++
	return u.writer.Fields(tag, fields)
}

// writeHeader writes what opens the result: the same whatever the order of the inputs is.
func (u *union) writeHeader() {
	var sources []string
	for _, input := range u.scan.Inputs {
		source := input.Name
		if input.Tag != "" {
			source = input.Tag + "=" + input.Name
		}
		sources = append(sources, source)
	}
	WriteHeader(u.writer, sources, u.unit, u.base)
}

// WriteHeader writes what opens a union: its sources, none if more may come, the unit of its values
// if that is known, and its base time in milliseconds since the epoch. It sorts the sources.
func WriteHeader(w *hdrlog.Writer, sources []string, values unit.Unit, base int64) error {
	w.Version()
	switch len(sources) {
	case 0:
		w.Comment("[Union of logs, written while they were]")
	case 1:
		w.Comment("[Union of 1 log]")
	default:
		w.Comment(fmt.Sprintf("[Union of %d logs]", len(sources)))
	}
	slices.Sort(sources)
	for _, source := range sources {
		w.Comment("[Source: " + tags.Printable(source) + "]")
	}
	if values != (unit.Unit{}) {
		w.Comment(values.Comment())
	}
	seconds := float64(base) / 1000
	w.BaseTime(seconds)
	w.StartTime(seconds)
	return w.Legend()
}
