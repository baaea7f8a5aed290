// Package live merges logs while they are written. It connects the parts: a goroutine for each
// input follows, reads and decodes it ([follow], [hdrlog]), and one goroutine decides which windows
// are complete and hands them to a [Sink] ([merge.Live]).
package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/live/follow"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// Grace is the time that pipes have to end after the follower was stopped.
const Grace = 2 * time.Second

// maxComment is the length of the longest comment that a [CommentSink] receives.
const maxComment = 256

// quietly is the time between two messages of one kind about one input.
const quietly = time.Minute

// Options say what to merge.
type Options struct {
	// Size is the size of the windows in milliseconds, and Idle as in [merge.NewLive]. At size 0
	// nothing is merged, and the sink is an [IntervalSink].
	Size int64
	Idle time.Duration
	// Selection says which intervals are wanted. It sees the tags that Tag returns.
	Selection scan.Selection
	// Tag, if set, returns the tag that an interval of an input has in the result.
	Tag func(in *follow.Input, tag []byte) []byte
	// By says what makes a row. Nil makes one of each tag.
	By *tags.By
	// Expected is the interval for which values are corrected, see [scan.Scan].
	Expected float64
	// Memory, if set, limits what the merger may keep.
	Memory *ledger.Ledger
	// Second says what the second number of an interval is, if that is known.
	Second hdrlog.SecondNumber
	// Forget, if set, is called when an input is gone for good.
	Forget func(in *follow.Input)
	// State, if set, is a file that has how far the merging is, for the next run: it goes on as if
	// there had been one run. The sink is a [Saver] then, and Load is called before Run.
	State string
	// Command is the name of the command, whose state no other command takes.
	Command string
	// Hint, if set, returns what to add to the message about a log.
	Hint func(error) string
	// Stop, when it is closed, ends the merging: files are read to their present end, pipes for
	// [Grace].
	Stop <-chan struct{}

	now func() time.Time // set by tests
}

// A Sink receives what becomes of the intervals, from one goroutine.
type Sink interface {
	// Window receives what a tag has in a window that is complete, in order of windows and tags. It
	// is valid until Window returns.
	Window(m *merge.Merged) error
	// Late receives an interval that came after its window.
	Late(m *merge.Merged) error
	// Flush is called when nothing more is there to receive at present.
	Flush() error
	// Skip counts a malformed line. Its message is text, empty if none should be printed.
	Skip(text string) error
	// Unread receives why a log was not read, or not to its end.
	Unread(text string)
	// Notice receives other messages.
	Notice(text string)
}

// A CommentSink can receive comments of the logs, before the intervals that follow them, and the
// tags of the intervals.
type CommentSink interface {
	// Comment receives a comment. If it returns an error, the merging ends with that.
	Comment(log string, text []byte) error
	// Kept receives the tag of each interval that is wanted, before its window.
	Kept(log string, tag []byte)
}

// A MaximumSink can receive the maximum of each interval that is wanted, in the unit of its log,
// with the tag that the log has, before its window.
type MaximumSink interface {
	Maximum(log string, tag []byte, start, end int64, highest float64)
}

// An IntervalSink can receive intervals that are not merged.
type IntervalSink interface {
	Sink
	// Interval receives an interval as soon as it is read, with the start relative to its log and
	// the length, both in seconds as the log has them.
	Interval(m *merge.Merged, relative, length float64) error
}

// A State says how far an input is.
type State struct {
	Name string
	// Lines, Skipped and Late are the numbers of lines read, of malformed ones, and of intervals
	// that came after their windows.
	Lines, Skipped, Late int64
	// End is when the last interval ended, in milliseconds since the epoch, 0 if there is none.
	End int64
	// Silent is set if nothing waits for the input, because it shows nothing new.
	Silent bool
	// Ended is set if the input has ended.
	Ended bool
}

// A Merger merges the logs of a follower.
type Merger struct {
	options  Options
	sink     Sink
	follower *follow.Follower
	live     *merge.Live
	decoders sync.Pool
	account  *ledger.Account // of open windows
	charge   ledger.Charge
	seen     int64 // intervals
	saving   saving
	received bool            // the sink has something to flush
	kinds    map[string]kind // by tag, which begins with = so that there is none without
	now      func() time.Time

	mu     sync.Mutex
	events []event
	inputs []*input
	find   map[*follow.Input]*input
	byLive map[*merge.LiveInput]*input
	wake   chan struct{} // there are events
	done   chan struct{} // the merger has ended
}

// An event is what happens to an input. One of the fields says what.
type event struct {
	in      *input
	batch   []item
	file    *file // of the batch
	line    int   // the last one of the batch
	header  []byte
	waiting *bool
	ended   bool
	joined  bool
	last    bool // no further input joins
	err     error
}

// An input is a log and how far it is.
type input struct {
	source *follow.Input
	live   *merge.LiveInput
	taken  chan struct{} // the batch before was taken
	state  State         // guarded by the merger's mu

	queue   []item
	queued  bool
	file    *file // of the queue
	line    int   // the last one of the queue
	header  []byte
	files   []*file
	waiting bool
	over    bool  // there is no batch after the queued one
	err     error // why

	malformed, late quiet
	// far is the first interval that seemed too far ahead, if some did and no message says so yet.
	far  far
	told bool // one does
}

// A far interval is one too far ahead, see [merge.LiveInput.Ahead].
type far struct {
	line   int // 0 if there is none
	middle int64
}

// An item is a line of a log that means something.
type item struct {
	lines      int64 // read up to this item since the one before
	interval   bool
	wanted     bool
	passed     bool   // it was taken in an earlier run
	tag        []byte // of the row
	own        []byte // of the log
	highest    float64
	logStart   float64
	relative   float64 // start and length in seconds
	length     float64
	start, end int64
	line       int
	sum        *merge.Sum
	extent     scan.Extent
	err        error
	notice     bool
	fatal      error
	comment    []byte
}

var sums = sync.Pool{New: func() any { return new(merge.Sum) }}

// New returns a merger. Give the options of the follower its Waiting and Notice methods.
func New(o Options, sink Sink) *Merger {
	if o.Tag == nil {
		o.Tag = func(_ *follow.Input, tag []byte) []byte { return tag }
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.Hint == nil {
		o.Hint = func(error) string { return "" }
	}
	m := &Merger{
		options: o, sink: sink, live: merge.NewLive(max(o.Size, 1), o.Idle), now: o.now,
		kinds: make(map[string]kind), find: make(map[*follow.Input]*input), byLive: make(map[*merge.LiveInput]*input), wake: make(chan struct{}, 1), done: make(chan struct{}),
		saving: saving{every: saveTime, share: 20},
	}
	payloads := scan.NewPayloads(o.Memory)
	m.decoders.New = func() any { return scan.NewDecoder(o.Expected, payloads) }
	m.account = o.Memory.Open("open windows", "make them shorter, or choose tags with -incT")
	return m
}

// Waiting is for [follow.Options].
func (m *Merger) Waiting(source *follow.Input, waiting bool) {
	m.mu.Lock()
	in := m.find[source]
	m.mu.Unlock()
	m.post(event{in: in, waiting: &waiting})
}

// Notice is for [follow.Options].
func (m *Merger) Notice(input, text string) { m.post(event{err: fmt.Errorf("%s %s", input, text)}) }

// Seen returns the number of intervals read.
func (m *Merger) Seen() int64 { return m.seen }

// States returns how far the inputs are. It is safe for concurrent use.
func (m *Merger) States() []State {
	m.mu.Lock()
	defer m.mu.Unlock()
	states := make([]State, len(m.inputs))
	for n, in := range m.inputs {
		states[n] = in.state
	}
	return states
}

func (m *Merger) post(e event) {
	m.mu.Lock()
	m.events = append(m.events, e)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Run merges until all inputs have ended, Options.Stop is closed, or the sink returns an error.
func (m *Merger) Run(f *follow.Follower) error {
	m.follower = f
	defer m.saving.release()
	defer f.Abort()
	defer close(m.done)
	now, later := f.Start()
	for _, source := range now {
		m.join(source)
	}
	go func() {
		for source := range later {
			m.post(event{joined: true, in: &input{source: source}})
		}
		m.post(event{last: true})
	}()
	stopped, err := m.loop()
	if err != nil {
		return err
	}
	if stopped && m.options.State != "" {
		m.sayUnread()
		if err := m.sink.Flush(); err != nil {
			return err
		}
		return m.saveLast() // with the open windows
	}
	for merged := range m.live.All() {
		if err := m.sink.Window(merged); err != nil {
			return err
		}
	}
	for _, in := range m.inputs {
		m.sayRest(in)
	}
	m.sayUnread()
	if err := m.sink.Flush(); err != nil {
		return err
	}
	return m.saveLast()
}

// fewUnread is the number of logs not read for the same reason that are reported one by one.
const fewUnread = 3

// sayUnread reports the logs that were not read.
func (m *Merger) sayUnread() {
	same := map[string]int{}
	for _, in := range m.inputs {
		same[in.source.Unread()]++
	}
	for _, in := range m.inputs {
		why := in.source.Unread()
		if n := same[why]; why != "" && n > fewUnread {
			m.sink.Unread(fmt.Sprintf("%s: %s (and %d more logs)", in.state.Name, why, n-1))
			same[why] = 0
		} else if why != "" && n > 0 {
			m.sink.Unread(in.state.Name + ": " + why)
		}
	}
}

// join begins to read an input.
func (m *Merger) join(source *follow.Input) {
	in := &input{source: source, taken: make(chan struct{}, 1)}
	in.live = m.live.Join(m.now(), func() bool { return !source.AtEnd() })
	m.byLive[in.live] = in
	in.state.Name = source.Name()
	in.taken <- struct{}{}
	m.mu.Lock()
	m.inputs = append(m.inputs, in)
	m.find[source] = in
	m.mu.Unlock()
	go m.read(in)
}

// loop handles events until there can be no more. It reports whether it was stopped.
func (m *Merger) loop() (stopped bool, err error) {
	stop := m.options.Stop
	var abort <-chan time.Time
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	last := false
	for {
		m.mu.Lock()
		events := m.events
		m.events = nil
		m.mu.Unlock()
		for _, e := range events {
			last = last || e.last
			m.handle(e)
		}
		if err := m.consume(); err != nil {
			return stopped, err
		}
		if err := m.save(); err != nil {
			return stopped, err
		}
		if last && !slices.ContainsFunc(m.inputs, func(in *input) bool { return !in.state.Ended }) {
			return stopped, nil
		}
		timer.Reset(time.Hour)
		if at, ok := m.live.Deadline(); ok {
			timer.Reset(at.Sub(m.now()))
			if soon, ok := m.saveSoon(); ok {
				timer.Reset(min(soon, at.Sub(m.now())))
			}
		} else if soon, ok := m.saveSoon(); ok {
			timer.Reset(soon)
		}
		select {
		case <-m.wake:
		case <-timer.C:
		case <-stop:
			stop, stopped = nil, true
			m.follower.Stop()
			abort = time.After(Grace)
		case <-abort:
			m.follower.Abort()
			return stopped, m.rest()
		}
	}
}

// rest consumes what was read before the reading was aborted, in the order of the inputs.
func (m *Merger) rest() error {
	for _, in := range m.inputs {
		if in.queued {
			if err := m.take(in); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Merger) handle(e event) {
	in := e.in
	switch {
	case e.joined:
		m.join(in.source)
	case e.waiting != nil:
		in.waiting = *e.waiting
		in.live.SetAtEnd(in.waiting && !in.queued)
	case e.batch != nil:
		in.queue, in.queued, in.file, in.line, in.header = e.batch, true, e.file, e.line, e.header
	case e.ended:
		in.over, in.err = true, e.err
		if !in.queued {
			m.end(in)
		}
	case e.err != nil:
		m.sink.Notice(e.err.Error())
	}
}

// consume takes what was read and hands on the windows that are complete.
func (m *Merger) consume() error {
	m.received = false
	for {
		for merged := range m.live.Complete(m.now()) {
			m.received, m.saving.changed = true, true
			if err := m.sink.Window(merged); err != nil {
				return err
			}
		}
		in := m.next()
		if in == nil {
			break
		}
		if err := m.take(in); err != nil {
			return err
		}
	}
	m.sayAhead()
	m.mu.Lock()
	for _, in := range m.inputs { // an input falls silent without a batch
		in.state.Silent = in.live.Silent()
	}
	m.mu.Unlock()
	if m.received {
		return m.sink.Flush()
	}
	return nil
}

// sayAhead reports each log once that has an interval too far ahead, as known after all was read.
func (m *Merger) sayAhead() {
	if m.live.Next() != nil {
		return
	}
	for _, in := range m.inputs {
		now, line := m.now(), in.far.line
		if line == 0 {
			continue
		}
		if in.far.line = 0; in.live.Ahead(now, in.far.middle) {
			in.told = true
			m.sink.Notice(fmt.Sprintf("%s:%d: the interval lies %v in the future: is the clock of the log right? It is kept until its time comes, and other logs do not wait less because of it",
				in.state.Name, line, time.UnixMilli(in.far.middle).Sub(now).Round(time.Second)))
		}
	}
}

// next returns the input to take a batch from, nil if it has none yet.
func (m *Merger) next() *input {
	next := m.live.Next()
	if next == nil {
		return nil
	}
	if in := m.byLive[next]; in.queued {
		return in
	}
	return nil
}

// take takes the batch of an input.
func (m *Merger) take(in *input) error {
	batch := in.queue
	in.queue, in.queued = nil, false
	in.took(in.file, in.line, in.header)
	m.saving.changed = true
	now := m.now()
	state := in.state
	for n := range batch {
		if err := m.item(in, &batch[n], &state, now); err != nil {
			return err
		}
	}
	if err := m.charge.Set(m.account, m.live.Open(), m.live.Bytes()); err != nil {
		return err
	}
	m.mu.Lock()
	in.state = state
	m.mu.Unlock()
	in.taken <- struct{}{}
	in.live.SetAtEnd(in.waiting)
	if in.over {
		m.end(in)
	}
	return nil
}

// end ends an input whose batches were all taken.
func (m *Merger) end(in *input) {
	in.live.End()
	gone := errors.Is(in.err, follow.ErrGone)
	m.mu.Lock()
	in.state.Ended = true
	if gone {
		m.inputs = slices.DeleteFunc(slices.Clone(m.inputs), func(other *input) bool { return other == in })
		delete(m.find, in.source)
		delete(m.byLive, in.live)
	}
	m.mu.Unlock()
	if gone && m.options.Forget != nil {
		m.options.Forget(in.source)
	}
	if in.err != nil && !gone {
		m.sink.Unread(fmt.Sprintf("%s: %v; it is read no further%s", in.state.Name, in.err, m.options.Hint(in.err)))
	}
	m.sayRest(in)
}

// item takes one line.
func (m *Merger) item(in *input, i *item, state *State, now time.Time) error {
	state.Lines += i.lines
	if i.fatal != nil {
		return i.fatal
	}
	if i.comment != nil {
		return m.sink.(CommentSink).Comment(in.state.Name, i.comment)
	}
	if i.notice {
		m.sink.Notice(i.err.Error() + m.options.Hint(i.err))
		return nil
	}
	late := false
	if i.passed {
		in.live.Show(now, i.start, i.end)
		if sink, ok := m.sink.(CommentSink); ok && i.wanted {
			sink.Kept(state.Name, i.tag)
		}
		state.End = i.end
		return nil
	}
	if i.interval {
		m.seen++
		state.End = i.end
		if middle := i.start + (i.end-i.start)/2; in.far.line == 0 && !in.told && in.live.Ahead(now, middle) {
			in.far = far{i.line, middle}
		}
		late = in.live.Show(now, i.start, i.end)
	}
	if i.sum != nil {
		defer func() {
			i.sum.Reset()
			sums.Put(i.sum)
		}()
	}
	if i.err == nil && i.wanted {
		if sink, ok := m.sink.(CommentSink); ok {
			sink.Kept(state.Name, i.tag)
		}
		var err error
		if m.options.Size == 0 {
			merged := merge.Merged{Window: merge.Window{Start: i.start, End: i.end}, Tag: i.tag, LogStart: i.logStart}
			if err := merged.Sum.Merge(i.sum); err != nil {
				return err
			}
			m.received = true
			return m.sink.(IntervalSink).Interval(&merged, i.relative, i.length)
		}
		if i.err = m.admit(in, i); i.err != nil {
			return m.skip(in, i, state, now)
		}
		if sink, ok := m.sink.(MaximumSink); ok {
			sink.Maximum(state.Name, i.own, i.start, i.end, i.highest)
		}
		if late {
			state.Late++
			if text := in.late.text(now, fmt.Sprintf("%s:%d: the interval came after its window was written", state.Name, i.line), "late interval"); text != "" {
				m.sink.Notice(text)
			}
			merged := merge.Merged{Window: merge.WindowOf(i.start, i.end, m.options.Size), Tag: i.tag, LogStart: i.logStart}
			if err := merged.Sum.Merge(i.sum); err != nil {
				return err
			}
			m.received = true
			return m.sink.Late(&merged)
		}
		if err = in.live.Add(i.tag, i.logStart, i.sum); err != nil {
			i.err = &hdrlog.SyntaxError{File: state.Name, Line: i.line, Field: "payload", Err: err}
		}
	}
	if i.err != nil {
		return m.skip(in, i, state, now)
	}
	return nil
}

// skip reports a line that is left out.
func (m *Merger) skip(in *input, i *item, state *State, now time.Time) error {
	state.Skipped++
	return m.sink.Skip(in.malformed.text(now, i.err.Error(), "malformed line"))
}

// admit returns an error if an interval does not add up with those of its tag before. Sinks add up
// windows of a whole run, so an interval that does not fit costs itself, wherever it is.
func (m *Merger) admit(in *input, i *item) error {
	key := ""
	if i.tag != nil {
		key = "=" + string(i.tag)
	}
	k, known := m.kinds[key]
	if !known {
		k = kind{i.extent, fmt.Sprintf("%s:%d", in.state.Name, i.line)}
	}
	var err error
	ratio, highest := min(k.Ratio, i.extent.Ratio), max(k.Highest, i.extent.Highest)
	switch {
	case (k.Ratio == 0) != (i.extent.Ratio == 0):
		err = histogram.ErrKind
	case ratio > 0 && highest/ratio >= 1<<63:
		err = histogram.ErrSpan
	default:
		k.Ratio, k.Highest = ratio, highest
		m.kinds[key] = k
		return nil
	}
	err = fmt.Errorf("%w: the first interval of the tag is at %s", err, k.First)
	return &hdrlog.SyntaxError{File: in.state.Name, Line: i.line, Field: "payload", Err: err}
}

// sayRest says how many messages were not printed.
func (m *Merger) sayRest(in *input) {
	for _, q := range []*quiet{&in.malformed, &in.late} {
		if q.kept > 0 {
			m.sink.Notice(fmt.Sprintf("%s: %s", in.state.Name, q.rest()))
			q.kept = 0
		}
	}
}

// quiet prints the first of many messages of a kind, and then one a minute.
type quiet struct {
	said time.Time
	kept int
	what string
}

// text returns the message if it is time for one, else nothing.
func (q *quiet) text(now time.Time, message, what string) string {
	q.what = what
	if !q.said.IsZero() && now.Sub(q.said) < quietly {
		q.kept++
		return ""
	}
	q.said = now
	if q.kept > 0 {
		message += "; " + q.rest()
		q.kept = 0
	}
	return message
}

func (q *quiet) rest() string {
	things := q.what
	if q.kept != 1 {
		things += "s"
	}
	return fmt.Sprintf("%d more %s since the last message", q.kept, things)
}

// read reads the logs of an input and posts what is in them.
func (m *Merger) read(in *input) {
	var before *hdrlog.Reader
	var h heading
	var batch hdrlog.Batch
	names := make(map[string][]byte) // of rows
	for {
		log, err := in.source.Next()
		if err != nil {
			if err == io.EOF || err == follow.ErrStopped {
				err = nil
			}
			m.post(event{in: in, ended: true, err: err})
			return
		}
		r := hdrlog.NewReader(log, in.source.Name())
		r.SetBatchSize(16 << 10)
		r.SetSecond(m.options.Second)
		taken := 0
		if mark := log.Resumed(); mark != nil {
			if taken = mark.Line; before == nil {
				before, h.kept = resume(in.source.Name(), mark), mark.Header
			}
		}
		if before != nil {
			r.Continue(before)
		}
		before = r
		h.begin()
		f := &file{log: log, line: taken}
		for r.ReadBatch(&batch) {
			items := m.items(in, &batch, names, taken, &h)
			line := batch.Records[len(batch.Records)-1].Line
			if !m.hand(in, event{in: in, batch: items, file: f, line: line, header: h.kept}) {
				return
			}
		}
		if err := r.Err(); err != nil && !errors.Is(err, follow.ErrStopped) {
			m.post(event{in: in, ended: true, err: err})
			return
		}
	}
}

// hand posts a batch when the one before was taken. It reports false if the merger has ended.
func (m *Merger) hand(in *input, e event) bool {
	select {
	case <-in.taken:
		m.post(e)
		return true
	case <-m.done:
		return false
	}
}

// items decodes a batch. Nothing in the result is a view of it.
// Lines up to one were taken in an earlier run.
func (m *Merger) items(in *input, b *hdrlog.Batch, names map[string][]byte, taken int, h *heading) []item {
	items := make([]item, 0, len(b.Records))
	lines := int64(0)
	for n := range b.Records {
		r := &b.Records[n]
		i := item{line: r.Line}
		h.see(r)
		if r.Kind != hdrlog.Notice {
			lines++
		}
		switch {
		case r.Line > taken:
		case r.Kind == hdrlog.IntervalRecord:
			m.passing(&i, &r.Interval, in.source)
			i.lines, lines = lines, 0
			items = append(items, i)
			continue
		case r.Kind != hdrlog.Comment:
			continue
		}
		switch r.Kind {
		case hdrlog.Malformed, hdrlog.Notice:
			i.err, i.notice = r.Err, r.Kind == hdrlog.Notice
		case hdrlog.IntervalRecord:
			m.interval(in, &i, &r.Interval, names)
		case hdrlog.Comment:
			if _, ok := m.sink.(CommentSink); !ok || len(r.Text) > maxComment {
				continue
			}
			i.comment = bytes.Clone(r.Text)
		default:
			continue
		}
		i.lines, lines = lines, 0
		items = append(items, i)
	}
	if lines > 0 {
		items = append(items, item{lines: lines})
	}
	return items
}

// interval decodes an interval.
func (m *Merger) interval(in *input, i *item, interval *hdrlog.Interval, names map[string][]byte) {
	i.interval, i.logStart, i.relative, i.length = true, interval.LogStart, interval.Relative(), interval.Length
	i.start, i.end = interval.StartMillis(), max(interval.StartMillis(), interval.EndMillis())
	interval.Tag = m.options.Tag(in.source, interval.Tag)
	if i.wanted = m.options.Selection.Keeps(interval, 0); !i.wanted {
		return
	}
	named := func(name []byte) []byte {
		if name == nil {
			return nil
		}
		if names[string(name)] == nil {
			names[string(name)] = append([]byte{}, name...)
		}
		return names[string(name)]
	}
	i.own = named(interval.Tag)
	i.tag = named(m.options.By.Row(in.source.Name(), interval.Tag))
	i.sum = sums.Get().(*merge.Sum)
	took, err := m.add(i.sum, interval)
	i.extent, i.highest = took.Extent, took.Max
	var fatal scan.Fatal
	if errors.As(err, &fatal) {
		i.fatal = fmt.Errorf("%s:%d: %w", in.source.Name(), i.line, fatal.Err)
	} else if err != nil {
		i.err = &hdrlog.SyntaxError{File: in.source.Name(), Line: i.line, Field: "payload", Err: err}
	}
}

func (m *Merger) add(s *merge.Sum, interval *hdrlog.Interval) (scan.Taken, error) {
	d := m.decoders.Get().(*scan.Decoder)
	defer m.decoders.Put(d)
	_, max := m.sink.(MaximumSink)
	return d.Visit(interval, scan.Place{}).Take(scan.Want{Max: max}, s)
}
