// Package live merges logs while they are written. It connects the parts: a goroutine for each
// input follows, reads and decodes it ([follow], [hdrlog]), and one goroutine decides which windows
// are complete ([clock]) and hands them to the outputs of a [Fan].
//
// # How a position moves
//
// A [State] has no values. It says how far logs and outputs are at one moment:
//
//   - Done: windows that end at or before it were handed out, so later intervals of them are late.
//   - For each log ([follow.Mark]): hashes of its text, the last line that was taken, and the first
//     line to read again ([follow.Again]).
//   - For each [Receiver]: the end of the last window that needs no sending any more.
//   - For the merged log of -of ([FilePosition]): its size, and a hash of its tail.
//
// Done moves when a window is handed out. A receiver's position moves when rows have arrived, were
// refused, or were dropped. A log's position moves behind them: a batch of lines is needed as long
// as one of its intervals has a share of a window that ends after the least of Done and the
// positions of receivers. A [position] keeps the batches of a log, and which of their intervals
// were late.
//
// A start cuts the merged log to its size and reads the logs again. An interval between the two
// positions of a log is what it was: one of an open window, one of a window that some receiver
// lacks, or one that came late and is left out. So a window that is handed out again is the same
// one. The clock waits until each log has shown again what it had shown, as its slack says. Each
// output leaves out the windows that it has.
//
// A start may not find a log, since rotation just renames it, or not come to the end of what it
// reads again. The run goes on all the same, and its Done moves past windows that lack lines of
// that log. So the mark of the log keeps what these lines count for ([follow.Missed]): the Done of
// the run that took them. A run that finds the log later hands on what no window has as late. Once
// a log and its copies are gone, a message says so.
//
// A log is read from the place of the first line that is needed, unless its comments change behind
// that.
//
// Totals come out of the merged log, whose lines stand in the order in which they were handed out,
// with comments that say what lines do not ([Window.Note]): metrics, page, table and limits begin
// with it. A receiver that gets totals, or that lacks rows, gets its rows from there. Without a
// merged log, windows that a receiver lacks are made again of the logs.
//
// What must never be taken back, such as a row that is sent or a counter that is scraped, is held
// until a state covers it. A clean stop reads what is there, writes a state, and writes the open
// windows to the merged log, behind what the state covers. The next start reads them back as open
// sums and cuts them off. So logs may be deleted after a clean stop. After a kill lines are read
// again, and a message names the logs that are gone.
package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/live/follow"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// maxComment is the length of the longest comment that is read.
const maxComment = 256

// flushTime is the time between two flushes of the outputs when they receive nothing.
const flushTime = 250 * time.Millisecond

// mostHeld is the number of bytes of windows that wait for a state at which one is written at once.
const mostHeld = 4 << 20

// quietly is the time between two messages of one kind about one input.
const quietly = time.Minute

// Options say what to merge.
type Options struct {
	// Size is the size of the windows in milliseconds, and Idle as in [newClock].
	Size int64
	Idle time.Duration
	// From leaves out intervals that start before it, in milliseconds since the epoch.
	From int64
	// Tags says which tags are wanted. It sees what Tag returns.
	Tags *tags.Filter
	// Tag returns what says which tag an interval of an input has in the result, by its own.
	Tag func(in *follow.Input) func(tag []byte) []byte
	// By says what makes a row. Nil makes one of each tag.
	By *tags.By
	// Units find the units of values.
	Units Units
	// Whole, if it is set, gets when the inputs of rows ran, for figures of the whole run.
	Whole *merge.Rates
	// Messages receives what is wrong.
	Messages Messages
	// Memory, if set, limits what the merger may keep.
	Memory *ledger.Ledger
	// Second says what the second number of an interval is, if that is known.
	Second hdrlog.SecondField
	// State keeps how far the merging is, for the next run. Nil and the zero value keep nothing.
	State *State
	// Hint returns what to add to the message about a log.
	Hint func(error) string
	// Stop, when it is closed, ends the merging: files are read to their present end, with a state
	// for [scan.Grace] at most, and pipes for that time.
	Stop <-chan struct{}

	limits
}

// A limits is what tests set: the clock, the grace of [scan.Grace], and the size of the largest
// merged log that is read at the start.
type limits struct {
	now      func() time.Time
	grace    time.Duration
	mostPast int64
}

// Messages receive what is wrong with logs.
type Messages interface {
	// Skip counts a malformed line. Its message is text, empty if none should be printed.
	Skip(text string) error
	// SkipWindow counts a window of a tag whose intervals do not add up.
	SkipWindow(tag []byte, why error) error
	// Unread receives why a log was not read, or not to its end.
	Unread(text string)
	// Notice receives other messages.
	Notice(text string)
}

// A Progress says how far an input is.
type Progress struct {
	Name string
	// Lines, Skipped and Late are the numbers of lines read, of malformed ones, and of intervals
	// that came after their windows.
	Lines, Skipped, Late int64
	// Start is when the first interval started, and End when the last one ended, in milliseconds
	// since the epoch, 0 if there is none.
	Start, End int64
	// Behind is set if its last interval came too late to wait for the next one.
	Behind bool
	// Silent is set if nothing waits for the input, because it shows nothing new.
	Silent bool
	// Ended is set if the input has ended.
	Ended bool
	// Unread says why the log is not read, empty if it is.
	Unread string
	// Copy is set if the log is not read since it is a copy of another one, and Lost if it is gone
	// and windows lack some of its lines. It is no input then.
	Copy, Lost bool
}

// A Merger merges the logs of a follower.
type Merger struct {
	options  Options
	fan      *Fan
	follower *follow.Follower
	clock    *clock
	decoders sync.Pool
	kinds    kinds
	looked   time.Time // when the last look at all files began, after which they were all found
	inputs   []*input
	joined   int // number of inputs so far
	rates    merge.Rates
	resumption
	handing
	watched
}

// A resumption is what a state says of earlier runs, and what it will say of this one.
type resumption struct {
	// neededAfter is the end of the last window that no output needs again out of the logs, and the
	// merged log has all windows that end after mergedAfter.
	neededAfter, mergedAfter int64
	held        heldLogs
	search      *pace       // holds back all windows while files are searched that have what is read again
	left        []*position // of logs whose inputs are gone
}

// A handing is what handing out windows needs.
type handing struct {
	account  *ledger.Account // of open windows
	charge   ledger.Charge
	scratch  histogram.Histogram
	received bool      // the outputs have something to flush
	flushed  time.Time // when they were flushed
}

// A watched is how other goroutines see the merger.
type watched struct {
	events events
	seen   int64 // intervals
	shown  atomic.Pointer[shown]
	done   chan struct{} // the merger has ended
}

// Shown is what others may ask, as of the last flush.
type shown struct {
	progress []Progress // of inputs
	full     []string   // the outputs whose disks are full
}

// Events are what other goroutines have the merger's do.
type events struct {
	mu    sync.Mutex
	queue []func()
	wake  chan struct{} // has one if there are some
}

func (e *events) post(event func()) {
	e.mu.Lock()
	e.queue = append(e.queue, event)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// handle does what was posted.
func (e *events) handle() {
	e.mu.Lock()
	queue := e.queue
	e.queue = nil
	e.mu.Unlock()
	for _, event := range queue {
		event()
	}
}

// An input is a log and how far it is.
type input struct {
	source *follow.Input
	number int // for rates
	pace   *pace
	now    Progress
	tag    func(tag []byte) []byte

	positions []*position // of the logs, in order, if there is a state
	shares    int64       // when the last window ends that an interval of this batch has a share of

	batches
	remarks
}

// A batches is how batches of an input come.
type batches struct {
	coming   atomic.Bool   // one was posted, which the merger has not seen yet
	queue    *batch        // nil if none waits to be taken
	accepted chan struct{} // the one before was taken
	waiting  bool          // the reader waits for data
	reached  bool          // the reader has waited for data
	over     bool          // there is no batch after the queued one
	err      error         // why, nil if the input was read to its end or stopped
}

// A remarks is what messages say, or have said, of an input.
type remarks struct {
	malformed, late quiet
	// far is the first interval that seemed too far ahead since [Merger.sayAhead] last looked.
	far         far
	saidAhead   bool // a message has told of one
	saidCrowded bool // a message has said that the log waits, see [clock.crowded]
	refused     bool // a message has said that the log cannot be taken
}

// A batch is lines of an input: what to do with each that means something.
type batch struct {
	steps       []func(now time.Time) error
	log         *follow.Log
	first, line int // the first and the last line
	header      string
	headerFrom  int  // see [heading]
	again       bool // an earlier run has read lines behind it
}

// A far interval is one too far ahead, see [pace.Ahead].
type far struct {
	line   int // 0 if there is none
	middle int64
}

var sums = sync.Pool{New: func() any { return new(merge.Sum) }}

// New returns a merger. Give the options of the follower its methods Notice and Lost.
func New(o Options, fan *Fan) *Merger {
	if o.now == nil {
		o.now = time.Now
	}
	if o.grace == 0 {
		o.grace = scan.Grace
	}
	o.mostPast = cmp.Or(o.mostPast, mostPast)
	if o.State == nil {
		o.State = new(State)
	}
	m := &Merger{
		options:    o,
		fan:        fan,
		clock:      newClock(max(o.Size, 1), o.Idle),
		kinds:      newKinds(o.Memory),
		resumption: resumption{neededAfter: never},
		watched: watched{
			events: events{wake: make(chan struct{}, 1)},
			done:   make(chan struct{}),
		},
	}
	m.shown.Store(new(shown))
	payloads := scan.NewPayloads(o.Memory)
	m.decoders.New = func() any { return scan.NewDecoder(0, payloads) }
	m.account = o.Memory.Open("open windows", "make them shorter, or choose tags with -incT")
	return m
}

// Notice is for [follow.Options].
func (m *Merger) Notice(input, text string) {
	m.events.post(func() { m.options.Messages.Notice(input + " " + text) })
}

// Lost is for [follow.Options].
func (m *Merger) Lost(input, text string) {
	m.events.post(func() { m.options.Messages.Unread(input + " " + text) })
}

// Seen returns the number of intervals read.
func (m *Merger) Seen() int64 { return m.seen }

// Progress returns how far the inputs are. The caller must not change it. It is safe for concurrent
// use.
func (m *Merger) Progress() []Progress { return m.shown.Load().progress }

// Full returns the keys of the outputs whose disks are full. The caller must not change them. It is
// safe for concurrent use.
func (m *Merger) Full() []string { return m.shown.Load().full }

// Run merges until all inputs have ended, Options.Stop is closed, or an output returns an error. It
// ends the outputs in any case.
func (m *Merger) Run(f *follow.Follower) error {
	m.follower = f
	m.fan.account = m.options.Memory.Open("windows that wait for a state", "make them shorter, or choose tags with -incT")
	defer m.options.State.Release()
	defer f.Abort()
	defer close(m.done)
	m.looked = m.options.now()
	more := f.Start(func(source *follow.Input) { m.events.post(func() { m.join(source) }) }, func(at time.Time) {
		m.events.post(func() {
			m.looked = m.options.now().Add(-time.Since(at))
			m.endSearch()
		})
	})
	err := m.loop(more)
	if err == nil {
		m.sayUnread()
	}
	if err == nil && m.options.State.Kept() {
		err = m.stop()
	} else if err == nil {
		err = m.all(m.fan.window)
	}
	if err == nil {
		err = m.flush()
	}
	held := m.fan.end(true)
	return cmp.Or(err, held, m.fan.end(false))
}

// stop writes the last states. A later run goes on there as if there had been one run. The windows
// that are open are for the outputs that may have parts of windows: the file of the merged log is
// cut back to what the state has.
func (m *Merger) stop() error {
	if err := m.trySave(); err != nil {
		return err
	}
	err := cmp.Or(m.fan.end(true), m.save()) // what receivers have taken
	if err != nil && !m.options.State.full {
		return err
	}
	return cmp.Or(m.all(m.fan.part), err, m.saveParts())
}

// all hands on all windows. Those of the future stay open.
func (m *Merger) all(to func(w *Window) error) error {
	for merged := range m.clock.All(m.options.now()) {
		if err := m.handTo(to, merged, false); err != nil {
			return err
		}
	}
	if n := m.clock.windows.Len(); n > 0 && !m.options.State.Kept() {
		m.options.Messages.Unread(fmt.Sprintf("%d windows lie in the future, the first at %s, and are not written: is a clock wrong?",
			n, time.UnixMilli(m.clock.windows.Window(0).End).UTC().Format(time.RFC3339)))
	}
	return nil
}

// sayUnread reports the logs that were not read.
func (m *Merger) sayUnread() {
	var all follow.Summary
	for _, in := range m.inputs {
		if why := in.source.Unread(); why != "" {
			all.Add(in.now.Name, why)
		}
	}
	for _, u := range m.follower.Unread() {
		if u.Unsure != "" {
			all.Add(u.Path, u.Unsure+"; it was not read")
		}
	}
	all.Say(func(name, text string) { m.options.Messages.Unread(name + ": " + text) })
}

// join begins to read an input.
func (m *Merger) join(source *follow.Input) {
	in := &input{
		source:  source,
		tag:     m.options.Tag(source),
		batches: batches{accepted: make(chan struct{}, 1)},
	}
	in.pace = m.clock.Join(m.options.now(), func() bool { return !source.AtEnd() || in.coming.Load() })
	in.pace.input = in
	m.joined++
	in.number = m.joined
	in.now.Name = source.Name()
	in.accepted <- struct{}{}
	in.pace.again, in.pace.slack = source.Again(0)
	m.inputs = append(m.inputs, in)
	source.OnWait(func(waiting bool) {
		m.events.post(func() {
			in.waiting = waiting
			m.atEnd(in)
		})
	})
	go m.read(in)
}

// loop handles events until there can be no more. More says that further inputs may join.
func (m *Merger) loop(more bool) error {
	stop := m.options.Stop
	stopped := false
	var abort <-chan time.Time
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		m.events.handle()
		if err := m.consume(); err != nil {
			return err
		}
		if due, ok := m.options.State.due(); ok && (due <= 0 || m.fan.heldBytes.Bytes() > mostHeld) {
			if err := m.trySave(); err != nil {
				return err
			}
		}
		if (!more || stopped) && !slices.ContainsFunc(m.inputs, func(in *input) bool { return !in.now.Ended }) {
			return nil
		}
		wait := flushTime
		if due, ok := m.options.State.due(); ok {
			wait = min(wait, due)
		}
		timer.Reset(wait)
		select {
		case <-m.events.wake:
		case <-timer.C:
		case <-stop:
			stop, stopped = nil, true
			m.follower.Stop()
			abort = time.After(m.options.grace)
		case <-abort:
			m.leaveCrowded()
			m.clock.ending = true // windows of the future do not hold back the ends of files
			if m.options.State.Kept() {
				m.follower.Abort() // the next start reads the rest
			}
			if err := m.abortPipes(); err != nil {
				return err
			}
		}
	}
}

// leaveCrowded ends the logs that wait since too many windows of the future are open. A state has
// how far they were read.
func (m *Merger) leaveCrowded() {
	for _, in := range m.inputs {
		if in.pace.position > m.clock.soon(m.options.now()) && !in.pace.atEnd && !in.now.Ended && m.clock.crowded() {
			in.source.Abort()
			m.end(in)
			if !m.options.State.Kept() {
				m.options.Messages.Unread(in.now.Name + ": its next intervals lie in the future, and are not read")
			}
		}
	}
}

// abortPipes ends the pipes whose writers go on, after what was read of them.
func (m *Merger) abortPipes() error {
	for _, in := range m.inputs {
		if !in.source.Once() || in.now.Ended {
			continue
		}
		in.source.Abort()
		if in.queue != nil {
			if err := m.take(in); err != nil {
				return err
			}
		}
		if !in.now.Ended { // with that
			m.end(in)
		}
	}
	return nil
}

// consume takes what was read and hands on the windows that are complete. An input is idle for the
// time in which hdrlive has looked at its file, however slow this machine is.
func (m *Merger) consume() error {
	m.received = false
	m.rates.Forget(m.clock.completeUntil)
	for {
		for merged := range m.clock.Complete(m.looked) {
			if err := m.hand(merged, false); err != nil {
				return err
			}
		}
		next := m.clock.Next()
		if next == nil {
			m.sayAhead()
			m.sayCrowded()
			break
		}
		if next.input.queue == nil {
			break
		}
		if err := m.take(next.input); err != nil {
			return err
		}
	}
	if !m.received && time.Since(m.flushed) < flushTime {
		return nil
	}
	return m.flush()
}

// flush shows others how far the inputs are, and flushes the outputs.
func (m *Merger) flush() error {
	m.flushed = time.Now()
	all := make([]Progress, len(m.inputs))
	for n, in := range m.inputs {
		in.now.Silent, in.now.Behind = in.pace.silent, in.pace.behind
		in.now.Unread = in.source.Unread()
		if in.now.Ended && in.err != nil {
			in.now.Unread = in.err.Error()
		}
		all[n] = in.now
	}
	for _, u := range m.follower.Unread() {
		all = append(all, Progress{Name: u.Path, Copy: !u.Lost, Lost: u.Lost, Unread: u.Unsure})
	}
	full := m.fan.full()
	if m.options.State.full && !m.options.State.waits {
		full = append(full, "-state "+m.options.State.path)
	}
	m.shown.Store(&shown{progress: all, full: full})
	return m.fan.flush()
}

// hand gives a window to the outputs.
func (m *Merger) hand(merged *merge.Merged, late bool) error {
	return m.handTo(m.fan.window, merged, late)
}

func (m *Merger) handTo(to func(w *Window) error, merged *merge.Merged, late bool) (err error) {
	m.received = true
	m.options.State.changed = true
	m.charge.Set(m.account, m.clock.windows.Len(), m.clock.windows.Bytes()) // what is handed on is the output's
	merged.Recorded = (merge.Recorded{Millis: merged.End - merged.Start})
	if !late {
		merged.Recorded = m.rates.Take(merged.Tag, merged.Window)
	}
	w := Window{Merged: merged, Late: late, Scratch: &m.scratch}
	if w.Factor, err = m.options.Units.Factor(merged.Tag); err != nil {
		return err
	}
	if err = to(&w); errors.As(err, new(*merge.SumError)) {
		return m.options.Messages.SkipWindow(merged.Tag, err)
	}
	return err
}

// sayAhead reports each log once that has an interval too far ahead, as known after all was read.
func (m *Merger) sayAhead() {
	for _, in := range m.inputs {
		line := in.far.line
		if line == 0 {
			continue
		}
		now := m.options.now()
		in.far.line = 0
		if in.pace.Ahead(now, in.far.middle) {
			in.saidAhead = true
			m.options.Messages.Notice(fmt.Sprintf("%s:%d: the interval lies %v in the future: is the clock "+
				"of the log right? It is kept until its time comes, and other logs do not wait less because of it",
				in.now.Name, line, time.UnixMilli(in.far.middle).Sub(now).Round(time.Second)))
		}
	}
}

// sayCrowded reports each log once that is read no further.
func (m *Merger) sayCrowded() {
	for _, in := range m.inputs {
		if in.pace.ahead && !in.pace.atEnd && !in.saidCrowded && m.clock.crowded() {
			in.saidCrowded = true
			m.options.Messages.Notice(fmt.Sprintf("%s: more than %d windows wait for the future; "+
				"it is read on when some are complete", in.now.Name, mostFuture))
		}
	}
}

// take takes the batch of an input.
func (m *Merger) take(in *input) error {
	b := in.queue
	in.queue = nil
	b.log.Took(b.line, b.header, b.headerFrom)
	m.options.State.changed = true
	kept := m.options.State.Kept()
	if n := len(in.positions); kept && (n == 0 || in.positions[n-1].log != b.log) {
		in.positions = append(in.positions, m.positionOf(b.log))
	}
	in.shares = never
	now := m.options.now()
	for _, step := range b.steps {
		if err := step(now); err != nil {
			return err
		}
	}
	if err := m.charge.Set(m.account, m.clock.windows.Len(), m.clock.windows.Bytes()); err != nil {
		return err
	}
	if kept {
		in.position().add(b.first, b.line, in.shares, in.pace.slack)
	}
	in.pace.again = in.pace.again && b.again
	in.accepted <- struct{}{}
	m.atEnd(in)
	if in.over {
		m.end(in)
	}
	return nil
}

// endSearch lets windows be complete when all copies were found, or none comes. Those that were
// found join before that.
func (m *Merger) endSearch() {
	if m.search == nil {
		return
	}
	if !slices.ContainsFunc(m.follower.Missing(), func(mark follow.Mark) bool { return !mark.Said }) {
		m.events.post(m.search.End)
		m.search = nil
	}
}

// atEnd notes whether all that is there of an input was taken. When that is so first, it notes when
// the file was written last: a rotated one holds back windows for the idle time from then on.
func (m *Merger) atEnd(in *input) {
	in.pace.atEnd = in.waiting && in.queue == nil
	if !in.pace.atEnd {
		return
	}
	if !in.reached {
		in.reached = true
		in.pace.written = m.options.now().Add(-time.Since(in.source.Modified()))
	}
	in.endAgain()
}

// endAgain notes that the input has shown again all that is there, if that is so. The reader may
// hold intervals that it had not held in the earlier run.
func (in *input) endAgain() {
	if in.pace.again {
		in.pace.again, _ = in.source.Again(1)
		p := in.position()
		in.pace.again = in.pace.again || p != nil && p.line < p.earlier.Line
	}
}

// end ends an input whose batches were all taken. With a state, an input that was only stopped goes
// on in a later run.
func (m *Merger) end(in *input) {
	if m.options.State.Kept() && in.err == nil {
		in.pace.Stop()
	} else {
		in.pace.End()
	}
	gone := errors.Is(in.err, follow.ErrGone)
	in.now.Ended = true
	if gone {
		m.left = append(m.left, in.positions...)
		m.inputs = slices.DeleteFunc(m.inputs, func(other *input) bool { return other == in })
	}
	if in.err != nil && !gone {
		m.options.Messages.Unread(fmt.Sprintf("%s: %v; it is read no further%s", in.now.Name, in.err, m.options.Hint(in.err)))
	}
}

// refuse leaves out a log. If nothing has been handed out, the first one ends the merging.
func (m *Merger) refuse(in *input, i *interval, why error) error {
	if i.again { // the earlier run has said so
		return nil
	}
	if m.clock.handedUntil == never && m.clock.previousRunUntil == never {
		return why
	}
	if !in.refused {
		in.refused = true
		m.options.Messages.Unread(fmt.Sprintf("%v; the log is not taken", why))
	}
	return nil
}

// add does with an interval what its fate is.
func (m *Merger) add(in *input, i *interval, now time.Time) error {
	if i.sum != nil {
		defer i.release()
	}
	if !i.again {
		m.seen++
		in.noteFar(i, now)
	}
	in.show(i, now)
	fate := m.fate(i)
	if !i.wanted {
		if i.start >= m.options.From && fate != late { // of a tag that is not chosen
			m.ran(in, i, fate)
		}
		return nil
	}
	if i.err == nil {
		if err := m.options.Units.Admit(in.now.Name); err != nil {
			return m.refuse(in, i, err)
		}
		m.options.Units.Kept(in.now.Name, i.row)
		if i.sum != nil {
			i.err = m.kinds.admit(in.now.Name, i)
		}
	}
	if i.err != nil {
		return m.skipInterval(in, i, now)
	}
	m.rate(in, i, fate)
	switch {
	case fate == late:
		return m.late(in, i, now)
	case fate == dropped:
		return nil
	}
	m.share(in, i)
	if i.readBack || i.window <= m.clock.handedUntil {
		return nil
	}
	if err := m.clock.windows.Merge(i.row, i.logStart, i.sum); err != nil {
		i.err = &hdrlog.SyntaxError{
			File:  in.now.Name,
			Line:  i.line,
			Field: "payload",
			Err:   err,
		}
		return m.skipInterval(in, i, now)
	}
	return nil
}

// rate adds an interval to the rates of its row. One that came late has no part in those of
// windows.
func (m *Merger) rate(in *input, i *interval, fate fate) {
	switch {
	case fate == dropped:
		m.rates.Add(i.row, in.number, i.start, i.end, 0, never, m.options.Size)
	case fate == counted && i.again:
		m.rates.Add(i.row, in.number, i.start, i.end, i.count, m.neededAfter, m.options.Size)
	case fate == counted:
		m.rates.Add(i.row, in.number, i.start, i.end, i.count, m.clock.previousRunUntil, m.options.Size)
	}
	if m.options.Whole != nil && m.isNew(i, fate) {
		m.options.Whole.Add(i.row, in.number, i.start, i.end, 0, never, m.options.Size)
	}
}

// ran notes that an input ran in an interval of a tag that is not chosen.
func (m *Merger) ran(in *input, i *interval, fate fate) {
	m.rates.Ran(in.number, i.start, i.end)
	if m.options.Whole != nil && m.isNew(i, fate) {
		m.options.Whole.Ran(in.number, i.start, i.end)
	}
	if fate == counted {
		m.share(in, i)
	}
}

// share notes that a later run needs an interval until all outputs have the windows that it has a
// share of.
func (m *Merger) share(in *input, i *interval) {
	in.shares = max(in.shares, i.window, i.end)
	if p := in.position(); p != nil {
		p.seen = i.line
	}
}

// position returns that of the log that is read, nil without a state.
func (in *input) position() *position {
	if len(in.positions) == 0 {
		return nil
	}
	return in.positions[len(in.positions)-1]
}

// late hands on an interval that came after its window, and says so.
func (m *Merger) late(in *input, i *interval, now time.Time) error {
	if p := in.position(); p != nil {
		p.late(i.line)
	}
	in.now.Late++
	why := fmt.Sprintf("%s:%d: the interval came after its window was written", in.now.Name, i.line)
	if text := in.late.text(now, why, in.now.Late, "late intervals"); text != "" {
		m.options.Messages.Notice(text)
	}
	merged := merge.Merged{Window: merge.WindowOf(i.start, i.end, m.options.Size), Tag: i.row, LogStart: i.logStart}
	if err := merged.Sum.Merge(i.sum); err != nil {
		return err
	}
	return m.hand(&merged, true)
}

// release gives back the memory of an interval.
func (i *interval) release() {
	i.sum.Reset()
	sums.Put(i.sum)
}

// show says how far the input is, see [pace.Show].
func (in *input) show(i *interval, now time.Time) {
	in.now.End = i.end
	if in.now.Start == 0 {
		in.now.Start = i.start
	}
	in.pace.Show(now, i.start, i.end)
}

// noteFar notes the first interval that is too far ahead.
func (in *input) noteFar(i *interval, now time.Time) {
	middle := i.start + (i.end-i.start)/2
	if in.far.line == 0 && !in.saidAhead && in.pace.Ahead(now, middle) {
		in.far = far{i.line, middle}
	}
}

// skipInterval reports an interval that is left out, unless an earlier run has done that.
func (m *Merger) skipInterval(in *input, i *interval, now time.Time) error {
	if i.again {
		return nil
	}
	return m.skip(in, i.err, now)
}

// skip reports a line that is left out.
func (m *Merger) skip(in *input, why error, now time.Time) error {
	in.now.Skipped++
	text := why.Error()
	if e, ok := errors.AsType[*hdrlog.SyntaxError](why); ok && e.Line == 1 {
		text += "; if these are measurements: tail -n +1 -F FILE | hdrrec - | hdrlive -"
	}
	return m.options.Messages.Skip(in.malformed.text(now, text, in.now.Skipped, "malformed lines"))
}

// quiet is when the last message of a kind was printed. There is one a minute at most.
type quiet struct{ said time.Time }

// text returns a message if it is time for one, with the number of all such things so far, else
// nothing.
func (q *quiet) text(now time.Time, message string, all int64, what string) string {
	if !q.said.IsZero() && now.Sub(q.said) < quietly {
		return ""
	}
	q.said = now
	if all > 1 {
		message += fmt.Sprintf("; %d %s so far", all, what)
	}
	return message
}
