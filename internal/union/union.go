// Package union joins the intervals of logs: those of one tag that were recorded at the same time become one.
//
// Which do, and so what the windows are that intervals are joined in, is settled by their times and tags alone, in order of
// their starts; see joining and grid. So the work is a line of stages: inputs are read, each by a goroutine; payloads are
// inflated and checked on several cores; the inputs are merged in order of time and put into windows by one goroutine; what
// is in a window is added up and encoded on several cores once nothing can join it any more; and the results are
// written in order. The result does not depend on how many cores there are.
package union

import (
	"bytes"
	"container/heap"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/decode"
	"hdrkit/internal/ordered"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// Options say how to join.
type Options struct {
	// Relative puts all logs on one time line, which starts with each.
	Relative bool
	// Grid is the size of the windows of absolute time that intervals are joined in, in milliseconds. If it is 0 they are
	// joined by the rules of HdrLogProcessing, in windows of at least Target milliseconds.
	Grid, Target int64
	// IgnoreTags joins intervals of different tags.
	IgnoreTags bool
	// Warn, if set, is told what is unusual.
	Warn func(format string, args ...any)
	// Observe, if set, is told of each interval, in order of time, and of when the window that it goes to begins and ends
	// as far as that is known, in milliseconds.
	Observe func(name string, line int, tag []byte, start, end, windowStart, windowEnd int64)
}

const (
	// inFlight is how much of the inputs' text is in memory, in bytes, and pieceSize how much of one at most.
	inFlight  = 32 << 20
	pieceSize = 256 << 10
	// aheadOfAll is how many intervals are held to have them in order, of all inputs; of each it may be between the two
	// others. Logs of several tags are often a few lines out of order; only what is further out is sorted.
	aheadOfAll, leastAhead, mostAhead = 16384, 16, 4096
	// foldAt is how many intervals of a window are held until they are added up.
	foldAt = 32
)

// union is a union under way.
type union struct {
	scan      *scan.Scan
	options   Options
	times     times
	batchSize int // bytes
	depth     int // batches under way of an input
	lookAhead int // intervals held of an input at most
	base      int64
	jobs      chan *batch
	stop      chan struct{}

	plan    plan
	streams streams
	closed  []*window // to be handed to the workers
	folds   []*window // to be added up so far
	found   found
	err     error // what ended the merging
	ended   bool

	writer *hdrlog.Writer
	held   lines    // results whose turn it is not yet
	spare  [][]byte // memory of results that were held
	count  int64    // of those written
}

// tagged is what is known of a tag: one for each, so that it can be a key.
type tagged struct {
	tag []byte // in memory of its own
	key string // sorts tags; empty for untagged intervals
	// integers and doubles are where those were first found. They belong to the goroutine that merges.
	integers, doubles place
}

// found is the tags found so far. The goroutines that decode look them up, while the text is in their core's cache.
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

// A place is where an interval stands. The zero value is none: lines count from 1.
type place struct{ input, line int }

// Write writes the union of a scan's inputs to w and returns how many intervals it has. It writes nothing if there are none.
func Write(w io.Writer, s *scan.Scan, o Options) (int64, error) {
	u := &union{
		scan: s, options: o, times: times{o.Relative}, writer: hdrlog.NewWriter(w),
		jobs: make(chan *batch), stop: make(chan struct{}), found: found{tags: make(map[string]*tagged)},
		lookAhead: min(max(aheadOfAll/len(s.Inputs), leastAhead), mostAhead),
	}
	u.plan = newJoining(o.Target)
	if o.Grid > 0 {
		u.plan = newGrid(o.Grid)
	}
	err := u.run()
	return u.count, err
}

func (u *union) run() error {
	sorter := &sorter{union: u}
	defer sorter.close()
	orders, err := u.prepare(sorter)
	if err != nil {
		return err
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(u.stop)
	for range u.scan.Workers {
		workers.Go(u.decodeJobs)
	}
	if err := u.open(orders, sorter); err != nil {
		return err
	}
	encoders := make([]encoder, u.scan.Workers)
	work := func(worker int, j *job) {
		for n := range j.tasks {
			encoders[worker].run(u, &j.tasks[n])
		}
	}
	done := func(j *job) error {
		for n := range j.tasks {
			if err := u.write(&j.tasks[n]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := ordered.Run(u.scan.Workers, u.next, work, done); err != nil {
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

// prepare finds out in what order the inputs are, and sorts those that are in none.
func (u *union) prepare(sorter *sorter) ([]order, error) {
	orders := make([]order, len(u.scan.Inputs))
	errs := make([]error, len(u.scan.Inputs))
	next := make(chan int)
	var looking sync.WaitGroup
	for range 2 * u.scan.Workers { // three inputs of a size keep two cores busy to the end
		looking.Go(func() {
			for n := range next {
				orders[n], errs[n] = u.order(n)
			}
		})
	}
	for n, input := range u.scan.Inputs {
		if input.Size > 0 {
			next <- n
		}
	}
	close(next)
	looking.Wait()

	var unordered []string
	for n, input := range u.scan.Inputs {
		if errs[n] != nil {
			return nil, errs[n]
		}
		if input.Size > 0 && orders[n].lookAhead < u.lookAhead {
			continue
		}
		if input.Size > 0 {
			unordered = append(unordered, input.Name)
		}
		o, err := sorter.add(n)
		if err != nil {
			return nil, err
		}
		o.lookAhead = u.lookAhead
		orders[n] = o
	}
	if len(unordered) > 0 && u.options.Warn != nil {
		others := ""
		if n := len(unordered) - 1; n > 0 {
			others = fmt.Sprintf(" and %d more", n)
		}
		u.options.Warn("%s%s: lines are far from in order of time; they are sorted first, which takes longer", unordered[0], others)
	}
	return orders, nil
}

// open opens the streams of all inputs and reads the first interval of each.
func (u *union) open(orders []order, sorter *sorter) error {
	u.base = math.MaxInt64
	count := len(sorter.runs)
	for _, o := range orders {
		if o.wanted {
			u.base = min(u.base, o.base)
		}
		if o.lookAhead < u.lookAhead {
			count++
		}
	}
	u.depth = max(2, 1+(2*u.scan.Workers+count)/max(count, 1))
	u.batchSize = min(max(inFlight/max(u.depth*count, 1), 4<<10), pieceSize)
	var all []*stream
	for n, o := range orders {
		if o.lookAhead == u.lookAhead {
			continue // in runs
		}
		file, err := open(u.scan.Inputs[n], len(u.scan.Inputs))
		if err != nil {
			return err
		}
		r := u.scan.Inputs[n].NewReader(u.counted(file))
		r.SetBatchSize(u.batchSize)
		all = append(all, u.start(o.lookAhead, func(b *batch) bool { return u.fill(b, r, n) }, func() { file.Close() }))
	}
	for _, r := range sorter.runs {
		all = append(all, sorter.stream(r))
	}
	for _, s := range all {
		if err := s.advance(); err != nil {
			return err
		}
		if s.head != nil {
			u.streams = append(u.streams, s)
		}
	}
	heap.Init(&u.streams)
	return nil
}

// counted returns r, telling of progress.
func (u *union) counted(r io.Reader) io.Reader {
	if u.scan.Progress == nil {
		return r
	}
	return &counter{r, u.scan.Progress}
}

type counter struct {
	io.Reader
	count func(bytes int)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count(n)
	return n, err
}

func (u *union) decodeJobs() {
	decoder := decoder{corrector: decode.Decoder{Expected: u.scan.Expected}}
	for {
		select {
		case <-u.stop:
			return
		case b := <-u.jobs:
			u.decode(&decoder, b)
			b.ready <- struct{}{}
		}
	}
}

// streams is a heap of streams, the one with the earliest interval on top.
type streams []*stream

func (h streams) Len() int           { return len(h) }
func (h streams) Less(i, j int) bool { return h[i].head.compare(h[j].head) < 0 }
func (h streams) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *streams) Push(s any)        { *h = append(*h, s.(*stream)) }
func (h *streams) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

// A job is some tasks for a worker: handing over one at a time would take longer than some of them.
type job struct {
	tasks []task
}

// tasksOfJob is how many tasks a job has but for the last.
const tasksOfJob = 16

// A task is to add members to a window's sum, and to encode it if nothing will be added after that.
type task struct {
	window  *window
	members []member
	encode  bool
	floor   int64  // no result that comes later has a key below it
	fields  []byte // the result: START,LENGTH,MAX,PAYLOAD
	err     error
}

// next makes the next job.
func (u *union) next(j *job) bool {
	count := 0
	for count < tasksOfJob {
		if count == len(j.tasks) {
			j.tasks = append(j.tasks, task{})
		}
		if !u.nextTask(&j.tasks[count]) {
			break
		}
		count++
	}
	j.tasks = j.tasks[:count]
	return count > 0
}

// nextTask makes the next task: it merges the inputs until a window is closed or has much to be added up.
func (u *union) nextTask(t *task) bool {
	for u.err == nil {
		switch {
		case len(u.folds) > 0:
			u.assign(t, u.folds[0], false)
			u.folds = u.folds[1:]
			return true
		case len(u.closed) > 0:
			u.assign(t, u.closed[0], true)
			u.closed[0] = nil
			u.closed = u.closed[1:]
			return true
		case u.ended:
			return false
		case len(u.streams) == 0:
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
	w.members = nil
	if !encode {
		w.adding.Add(1)
	}
}

// merge puts the earliest interval into its window.
func (u *union) merge() error {
	s := u.streams[0]
	i := s.head
	if err := u.checkKind(i); err != nil {
		return err
	}
	var w *window
	w, u.closed = u.plan.put(i, u.closed[:0])
	slices.SortFunc(u.closed, (*window).compare) // floor knows only of those that are open
	w.add(i)
	if u.options.Observe != nil {
		u.options.Observe(u.scan.Inputs[i.input].Name, i.line, i.tagged.tag, i.start, i.end, w.start, w.end)
	}
	if len(w.members) == foldAt {
		u.folds = append(u.folds[:0], w)
	}
	if err := s.advance(); err != nil {
		return err
	}
	if s.head == nil {
		heap.Pop(&u.streams)
	} else {
		heap.Fix(&u.streams, 0)
	}
	return nil
}

// checkKind finds out whether a tag has integer and double intervals, which do not add up.
func (u *union) checkKind(i *interval) error {
	t := i.tagged
	own, other := &t.integers, &t.doubles
	if i.double {
		own, other = other, own
	}
	if own.line == 0 {
		*own = place{i.input, i.line}
	}
	if other.line == 0 {
		return nil
	}
	name := func(p place) string { return fmt.Sprintf("%s:%d", u.scan.Inputs[p.input].Name, p.line) }
	return fmt.Errorf("tag %s: %w: integers at %s, doubles at %s", tags.Text(t.tag), histogram.ErrKind, name(t.integers), name(t.doubles))
}

// encoder does the jobs of a worker.
type encoder struct {
	decoder histogram.Decoder
	encoder histogram.Encoder
	sum     histogram.Histogram
}

func (e *encoder) run(u *union, t *task) {
	if t.encode {
		t.window.adding.Wait() // tasks are begun in order, so that those waited for are under way
		t.err = e.encode(u, t)
	} else {
		t.err = e.fold(t)
		t.window.adding.Done()
	}
	if t.err != nil {
		i := t.window.first
		t.err = fmt.Errorf("tag %s: the intervals joined with %s:%d: %w", tags.Text(i.tagged.tag), u.scan.Inputs[i.input].Name, i.line, t.err)
	}
}

// fold adds a task's members to its window's sum.
func (e *encoder) fold(t *task) error {
	w := t.window
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sum == nil {
		w.sum = new(histogram.Histogram)
		if err := e.reset(w.sum, t.members[0]); err != nil {
			return err
		}
	}
	return e.add(w.sum, t.members)
}

// reset makes sum an empty histogram of a payload's layout.
func (e *encoder) reset(sum *histogram.Histogram, m member) error {
	p, err := e.decoder.OpenBinary(m.plain)
	if err == nil {
		sum.Reset(p.Layout())
	}
	return err
}

// add adds members to sum and gives their memory back.
func (e *encoder) add(sum *histogram.Histogram, members []member) error {
	for _, m := range members {
		p, err := e.decoder.OpenBinary(m.plain)
		if err != nil {
			return err
		}
		if err := p.AddTo(sum); err != nil {
			return err
		}
		memories.Put(m.memory)
	}
	return nil
}

// encode makes the fields of a window that is closed.
func (e *encoder) encode(u *union, t *task) error {
	w := t.window
	t.fields = append(appendTimes(t.fields[:0], u.base, w.start, w.end), ',')
	if w.count == 1 {
		err := e.passThrough(t)
		memories.Put(t.members[0].memory)
		return err
	}
	sum := w.sum
	if sum == nil {
		sum = &e.sum
		if err := e.reset(sum, t.members[0]); err != nil {
			return err
		}
	}
	if err := e.add(sum, t.members); err != nil {
		return err
	}
	t.fields = fmt.Appendf(t.fields, "%.3f,", sum.Float(sum.Max())/hdrlog.MaxRatio)
	fields, err := e.encoder.AppendBase64(t.fields, sum)
	t.fields = fields
	return err
}

// passThrough leaves the payload of the only interval of a window as it is, unless the reference would not read it or it
// was corrected.
func (e *encoder) passThrough(t *task) error {
	i := &t.window.first
	t.fields = append(append(t.fields, i.max...), ',')
	if _, compressed := histogram.Peek(i.text); compressed {
		t.fields = append(t.fields, i.text...)
		return nil
	}
	p, err := e.decoder.OpenBinary(i.plain)
	if err != nil {
		return err
	}
	t.fields, err = e.encoder.AppendCompressed(t.fields, p)
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
	t.window.first = interval{}
	if len(u.held) == 0 && t.window.key < t.floor {
		return u.writeLine(t.window.tagged.tag, t.fields)
	}
	heap.Push(&u.held, line{t.window, t.fields})
	t.fields = nil
	if n := len(u.spare) - 1; n >= 0 {
		t.fields, u.spare = u.spare[n], u.spare[:n]
	}
	return u.writeHeld(t.floor)
}

// writeHeld writes the results held whose key is below floor.
func (u *union) writeHeld(floor int64) error {
	for len(u.held) > 0 && u.held[0].window.key < floor {
		l := heap.Pop(&u.held).(line)
		if err := u.writeLine(l.window.tagged.tag, l.fields); err != nil {
			return err
		}
		u.spare = append(u.spare, l.fields)
	}
	return nil
}

// line is a result.
type line struct {
	window *window
	fields []byte
}

// lines is a heap of results, the one to be written first on top.
type lines []line

func (h lines) Len() int           { return len(h) }
func (h lines) Less(i, j int) bool { return h[i].window.compare(h[j].window) < 0 }
func (h lines) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lines) Push(l any)        { *h = append(*h, l.(line)) }
func (h *lines) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = line{}
	*h = (*h)[:len(*h)-1]
	return last
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
	u.writer.Version()
	logs := "logs"
	if len(u.scan.Inputs) == 1 {
		logs = "log"
	}
	u.writer.Comment(fmt.Sprintf("[Union of %d %s]", len(u.scan.Inputs), logs))
	var sources []string
	for _, input := range u.scan.Inputs {
		source := input.Name
		if input.Tag != "" {
			source = input.Tag + "=" + input.Name
		}
		sources = append(sources, source)
	}
	slices.Sort(sources)
	for _, source := range sources {
		u.writer.Comment("[Source: " + source + "]")
	}
	base := float64(u.base) / 1000
	u.writer.BaseTime(base)
	u.writer.StartTime(base)
	u.writer.Legend()
}
