// Package live merges logs while they are written. A goroutine for each input follows, reads and
// decodes it ([follow], [hdrlog]). One goroutine, the merger's, decides which windows are complete
// ([clock]), and hands them to the outputs of a [Fan].
//
// # How a run goes on where the one before was
//
// A [State] has no values. It says how far logs and outputs are at one moment:
//
//   - Done: windows that end at or before it were handed out, so later intervals of them are late.
//   - For each log ([follow.Mark]): hashes of its text, the last line that was taken, and the first
//     line to read again ([follow.Again]).
//   - For each [Receiver]: the end of the last window that needs no sending any more.
//   - For the merged log of -of ([FilePosition]): its size, and a hash of its tail.
//
// A line is needed until all outputs have the windows that its interval lies in. A [position] keeps
// that for the lines of a log, and which of their intervals were late.
//
// A start cuts the merged log to its size (as package sinks does), and reads the lines again
// that are needed ([history], [fate]). The clock waits until each log has shown them, so an open
// window becomes what it would have been. Windows that were handed out are complete already. A
// receiver that lacks some, or that sends totals, gets them out of the merged log ([Merger.Load]).
// Only without a merged log are they made again of the logs.
//
// What must never be taken back, such as a row that is sent or a counter that is scraped, waits
// until a state covers it ([Output.Held]).
//
// A clean stop writes the open windows to the merged log, behind what the state covers. The next
// start reads them back and cuts them off, so logs may be deleted after the stop. After a kill
// there are no such windows: lines are read again, and a message names the logs that are gone.
//
// A start may not find a log, since rotation just renames it. The run goes on all the same, and
// hands out windows that lack lines of that log. So its mark keeps up to where windows were handed
// out when these lines were read ([follow.Missed]). A run that finds the log later hands on as late
// what no window has.
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
	"hdrkit/internal/base/message"
	"hdrkit/internal/live/follow"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// maxComment is the length of the longest comment that is read.
const maxComment = 256

// flushTime is the time between two flushes of the outputs when they receive nothing.
const flushTime = 250 * time.Millisecond

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
	// for [scan.Grace] at most, and pipes for that time. Without a state, files that come before it
	// are found.
	Stop <-chan struct{}

	tuning tuning
}

// A tuning is what tests change: the clock, the grace of [scan.Grace], and the size of the largest
// merged log that is read at the start.
type tuning struct {
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
	options   Options
	fan       *Fan
	follower  *follow.Follower
	clock     *clock
	decoders  sync.Pool
	kinds     kinds
	looked    time.Time // when the last look at all files began, after which they were all found
	inputs    []*input
	joined    int // number of inputs so far
	rates     merge.Rates
	positions map[*follow.Log]*position // of logs that are read, or of which lines are needed
	resumed   resumption
	handing   handing
	events    events
	seen      int64                 // intervals
	shown     atomic.Pointer[shown] // for other goroutines
}

// A handing is what the merger needs to hand out windows.
type handing struct {
	account  *ledger.Account // of open windows
	charge   ledger.Charge
	scratch  histogram.Histogram
	received bool      // the outputs have something to flush
	flushed  time.Time // when they were flushed
}

// Shown is what others may ask, as of the last flush.
type shown struct {
	progress []Progress // of inputs
	full     []string   // the outputs whose disks are full
}

// New returns a merger. Give the options of the follower its methods Notice and Lost.
func New(o Options, fan *Fan) *Merger {
	if o.tuning.now == nil {
		o.tuning.now = time.Now
	}
	if o.tuning.grace == 0 {
		o.tuning.grace = scan.Grace
	}
	o.tuning.mostPast = cmp.Or(o.tuning.mostPast, mostPast)
	if o.State == nil {
		o.State = new(State)
	}
	m := &Merger{
		options:   o,
		fan:       fan,
		clock:     newClock(max(o.Size, 1), o.Idle),
		kinds:     newKinds(o.Memory),
		positions: make(map[*follow.Log]*position),
		resumed:   resumption{neededAfter: never},
		events:    events{wake: make(chan struct{}, 1), done: make(chan struct{})},
	}
	m.shown.Store(new(shown))
	payloads := scan.NewPayloads(o.Memory)
	m.decoders.New = func() any { return scan.NewDecoder(0, payloads) }
	m.handing.account = o.Memory.Open("open windows", "make them shorter, or choose tags with -incT")
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
	defer close(m.events.done)
	m.looked = m.options.tuning.now()
	found := func(source *follow.Input) { m.events.post(func() { m.join(source) }) }
	looked := func(at time.Time) {
		m.events.post(func() {
			m.looked = m.options.tuning.now().Add(-time.Since(at))
			m.endSearch()
		})
	}
	more := f.Start(found, looked)
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

// all hands on all windows. Those of the future stay open.
func (m *Merger) all(to func(w *Window) error) error {
	for merged := range m.clock.All(m.options.tuning.now()) {
		if err := m.handTo(to, merged, false); err != nil {
			return err
		}
	}
	if n := m.clock.windows.Len(); n > 0 && !m.options.State.Kept() {
		first := time.UnixMilli(m.clock.windows.Window(0).End).UTC()
		m.options.Messages.Unread(fmt.Sprintf("%d windows lie in the future, the first at %s, "+
			"and are not written: is a clock wrong?", n, first.Format(time.RFC3339)))
	}
	return nil
}

// sayUnread reports the logs that were not read.
func (m *Merger) sayUnread() {
	var all message.Group
	for _, in := range m.inputs {
		if why := in.source.Unread(); why != "" {
			all.Add(in.now.Name, why)
		}
	}
	for _, u := range m.follower.Unread() {
		if u.Why != "" {
			all.Add(u.Path, u.Why+"; it was not read")
		}
	}
	all.Say(func(name, text string) { m.options.Messages.Unread(name + ": " + text) })
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
			stop = nil
			go func() {
				m.follower.Stop()
				m.events.post(func() { stopped = true }) // all inputs were found before that
			}()
			abort = time.After(m.options.tuning.grace)
		case <-abort:
			stopped = true
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

// consume takes what was read and hands on the windows that are complete. An input is idle for the
// time in which hdrlive has looked at its file, however slow this machine is.
func (m *Merger) consume() error {
	m.handing.received = false
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
		if next.input.feed.queue == nil {
			break
		}
		if err := m.take(next.input); err != nil {
			return err
		}
	}
	if !m.handing.received && time.Since(m.handing.flushed) < flushTime {
		return nil
	}
	return m.flush()
}

// flush shows others how far the inputs are, and flushes the outputs.
func (m *Merger) flush() error {
	m.handing.flushed = time.Now()
	all := make([]Progress, len(m.inputs))
	for n, in := range m.inputs {
		in.now.Silent, in.now.Behind = in.pace.silent, in.pace.behind
		in.now.Unread = in.source.Unread()
		if in.now.Ended && in.feed.err != nil {
			in.now.Unread = in.feed.err.Error()
		}
		all[n] = in.now
	}
	for _, u := range m.follower.Unread() {
		all = append(all, Progress{Name: u.Path, Copy: u.Copy, Lost: u.Lost, Unread: u.Why})
	}
	full := m.fan.full()
	if m.options.State.full && !m.options.State.logFull {
		full = append(full, "-state "+m.options.State.path)
	}
	m.shown.Store(&shown{progress: all, full: full})
	return m.fan.flush()
}

// hand hands a window to the outputs, or an interval that is late.
func (m *Merger) hand(merged *merge.Merged, late bool) error {
	return m.handTo(m.fan.window, merged, late)
}

// handTo hands a window on by a method of the fan.
func (m *Merger) handTo(to func(w *Window) error, merged *merge.Merged, late bool) (err error) {
	m.handing.received = true
	m.options.State.changed = true
	m.chargeOpen() // what is handed on is the output's
	merged.Recorded = (merge.Recorded{Millis: merged.End - merged.Start})
	if !late {
		merged.Recorded = m.rates.Take(merged.Tag, merged.Window)
	}
	w := Window{Merged: merged, Late: late, Scratch: &m.handing.scratch}
	if w.Factor, err = m.options.Units.Factor(merged.Tag); err != nil {
		return err
	}
	if err = to(&w); errors.As(err, new(*merge.SumError)) {
		return m.options.Messages.SkipWindow(merged.Tag, err)
	}
	return err
}

// chargeOpen charges for the open windows.
func (m *Merger) chargeOpen() error {
	return m.handing.charge.Set(m.handing.account, m.clock.windows.Len(), m.clock.windows.Bytes())
}
