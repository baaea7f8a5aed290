// Package live merges logs while they are written. Each input has a goroutine that follows, reads
// and decodes logs ([follow], [hdrlog]). The goroutine of the [Merger] decides which windows are
// complete (clock), and passes them to the outputs of a [Fan].
//
// # How a run continues an earlier run
//
// A [State] contains no values. It says how far logs and outputs are at one moment:
//
//   - Done: Windows that end at or before this time were handed out. Later intervals of these
//     windows are late.
//   - For each log ([follow.Mark]): hashes of the text, the last line that was taken, and the first
//     line to read again ([follow.Again]).
//   - For each [Receiver]: the end of the last window that need not be sent any more.
//   - For the merged log of -of ([FilePosition]): its size, and a hash of its last bytes.
//
// A later run needs a line until all outputs have the windows in which the interval of the line
// lies. A rereading keeps the needed lines of a log, and which of their intervals were late.
//
// At a start, package sinks cuts the merged log to the size in the state. The merger reads the
// needed lines again (history, fate). The clock waits until each log has shown these lines, so open
// windows get the same intervals as without the restart. Windows that were handed out are complete
// already. A receiver that lacks some of them, or that sends totals, gets them from the merged log
// ([Merger.Load]). Without a merged log, the merger makes them again from the logs.
//
// A row that was sent, or a counter that was scraped, cannot be taken back. So such an output gets
// a window only after a state covers this window ([AfterSave]).
//
// A clean stop also writes the open windows to the merged log, behind the bytes that the state
// covers. The next start reads them back and cuts them off, so logs may be deleted after the stop.
// After a kill, the merged log has no open windows: their lines are read again, and a message names
// the logs that are gone.
//
// A start may miss a log that is renamed at that moment. Then the run hands out windows that lack
// lines of this log. The mark of the log says which windows were handed out without which lines
// ([follow.Missed]). A run that finds the log later passes on these lines as late intervals.
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

// maxComment is the length in bytes of the longest comment that may state a unit.
const maxComment = 256

// flushTime is the time between two flushes while the outputs receive no windows.
const flushTime = 250 * time.Millisecond

// Options say which intervals to merge, and how.
type Options struct {
	// Size is the size of the windows in milliseconds. Idle is the time for which a window waits
	// for an input without new data, 0 for a default that depends on the intervals.
	Size int64
	Idle time.Duration
	// Intervals that start before From, in milliseconds since the epoch, are left out.
	From int64
	// Tags selects intervals by their tags, as Tag returns them.
	Tags *tags.Filter
	// Tag returns a function for an input. This function returns the tag in the result for the tag
	// of an interval.
	Tag func(in *follow.Input) func(tag []byte) []byte
	// By says which intervals make a row. Nil makes a row of each tag.
	By *tags.By
	// Units finds the units of values.
	Units Units
	// Whole, if set, gets the times in which inputs of each row ran, for figures of the whole run.
	Whole *merge.Rates
	// Messages receives what is wrong with logs.
	Messages Messages
	// Memory, if set, limits the memory of the merger.
	Memory *ledger.Ledger
	// Second says what the second number of an interval is, if the user says it.
	Second hdrlog.SecondField
	// State stores how far the merging is, for the next run. Nil and the zero value store nothing.
	// The caller releases it after the merging.
	State *State
	// Hint returns advice to append to the message about an error of a log, or an empty string.
	Hint func(error) string
	// Stop is closed to end the merging. Then files are read to their present ends, and pipes for
	// [scan.Grace]; with a state, files also for [scan.Grace] at most. Without a state, files that
	// have come before the stop are still found.
	Stop <-chan struct{}

	tuning tuning
}

// A tuning is what tests change: the clock, the time of [scan.Grace], the longest time between two
// saves, and the size in bytes of the largest merged log that is read at the start.
type tuning struct {
	now          func() time.Time
	grace        time.Duration
	maxSavePause time.Duration
	maxPast      int64
}

// Messages receive what is wrong with logs.
type Messages interface {
	// Skip counts a malformed line. The text is the message to print, empty if none should be
	// printed.
	Skip(text string) error
	// SkipWindow counts a window of a tag that is left out, because its intervals do not add up.
	SkipWindow(tag []byte, why error) error
	// Unread receives a message about a log that was not read, or not to its end.
	Unread(text string)
	// Notice receives all other messages.
	Notice(text string)
}

// A Progress says how far an input has been read, for the page and for metrics.
type Progress struct {
	Name string
	// Lines, Skipped and Late are the numbers of lines read, of malformed lines, and of intervals
	// that came after their windows were handed out.
	Lines, Skipped, Late int64
	// Start is when the first interval started, and End when the last one ended, in milliseconds
	// since the epoch, 0 if there is none.
	Start, End int64
	// Behind says that the last interval came so late that no window waits for the next one.
	Behind bool
	// Silent says that no window waits for the input, because it has shown nothing new for long.
	Silent bool
	// Ended says that nothing more is read of the input.
	Ended bool
	// Unread says why the log is not read. It is empty if the log is read.
	Unread string
	// Copy says that the file is not read because it is a copy of another log. Lost says that the
	// log is gone and windows lack some of its lines. In both cases it is no input.
	Copy, Lost bool
}

// A Merger merges the logs of a follower, and passes complete windows to a fan.
type Merger struct {
	options    Options
	fan        *Fan
	follower   *follow.Follower
	clock      *clock
	decoders   sync.Pool
	kinds      kinds
	inputs     []*input
	inputCount int                        // inputs so far, with those that are gone
	intervals  int64                      // intervals so far, without those that an earlier run has read
	rates      merge.Rates                // how many values each row has in the windows that are not complete
	rereadings map[*follow.Log]*rereading // of logs that are read, or whose lines a later run needs
	resumption resumption
	saver      saver
	delivery   delivery
	events     events
	snapshot   atomic.Pointer[snapshot]
}

// A delivery is what the merger needs to pass windows to the outputs.
type delivery struct {
	lastLook    time.Time       // when the last look at all files began whose results have arrived
	openAccount *ledger.Account // of open windows
	openCharge  ledger.Charge
	scratch     histogram.Histogram
	needsFlush  bool // the outputs have received windows since the last flush
	lastFlush   time.Time
}

// A snapshot is what other goroutines may read, as of the last flush.
type snapshot struct {
	progress  []Progress // of inputs
	fullDisks []string   // keys of the outputs whose disks are full
}

// New returns a merger that passes windows to fan. Set the functions Notice and Lost of the
// follower's options to the methods of the merger.
func New(o Options, fan *Fan) *Merger {
	if o.tuning.now == nil {
		o.tuning.now = time.Now
	}
	if o.tuning.grace == 0 {
		o.tuning.grace = scan.Grace
	}
	o.tuning.maxPast = cmp.Or(o.tuning.maxPast, maxPast)
	if o.State == nil {
		o.State = new(State)
	}
	m := &Merger{
		options:    o,
		fan:        fan,
		clock:      newClock(max(o.Size, 1), o.Idle),
		kinds:      newKinds(o.Memory),
		rereadings: make(map[*follow.Log]*rereading),
		resumption: resumption{neededAfter: never},
		saver:      newSaver(o.State, cmp.Or(o.tuning.maxSavePause, maxSavePause)),
		events:     events{wake: make(chan struct{}, 1), done: make(chan struct{})},
	}
	m.snapshot.Store(new(snapshot))
	limits := scan.NewPayloadLimits(o.Memory)
	m.decoders.New = func() any { return scan.NewDecoder(0, limits) }
	m.delivery.openAccount = o.Memory.Open("open windows", "make them shorter, or choose tags with -incT")
	return m
}

// Notice is [follow.Options.Notice].
func (m *Merger) Notice(input, text string) {
	m.events.post(func() { m.options.Messages.Notice(input + " " + text) })
}

// Lost is [follow.Options.Lost].
func (m *Merger) Lost(input, text string) {
	m.events.post(func() { m.options.Messages.Unread(input + " " + text) })
}

// Seen returns the number of intervals read, without those that an earlier run has read.
func (m *Merger) Seen() int64 { return m.intervals }

// Progress returns the progress of all inputs, as of the last flush. The caller must not change it.
// Progress is safe for concurrent use.
func (m *Merger) Progress() []Progress { return m.snapshot.Load().progress }

// Full returns the keys of the outputs whose disks are full, as of the last flush. The caller must
// not change the slice. Full is safe for concurrent use.
func (m *Merger) Full() []string { return m.snapshot.Load().fullDisks }

// Run merges until all inputs have ended, [Options.Stop] is closed, or an output returns an error.
// In all cases Run ends the outputs.
func (m *Merger) Run(f *follow.Follower) error {
	m.follower = f
	m.fan.account = m.options.Memory.Open("windows that wait for a state", "make them shorter, or choose tags with -incT")
	defer f.Abort()
	defer close(m.events.done)
	m.delivery.lastLook = m.options.tuning.now()
	found := func(source *follow.Input) { m.events.post(func() { m.join(source) }) }
	looked := func(at time.Time) {
		m.events.post(func() {
			m.delivery.lastLook = m.options.tuning.now().Add(-time.Since(at))
			m.endSearch()
		})
	}
	more := f.Start(found, looked)
	err := m.loop(more)
	if err == nil {
		m.reportUnread()
	}
	if err == nil && m.options.State.Kept() {
		err = m.saveAndStop()
	} else if err == nil {
		err = m.handOutAll(m.fan.window)
	}
	if err == nil {
		err = m.flush()
	}
	held := m.fan.end(true)
	return cmp.Or(err, held, m.fan.end(false))
}

// handOutAll passes all windows to the function to, except those too far in the future. Without a
// state, a message says how many of these are lost.
func (m *Merger) handOutAll(to func(w *Window) error) error {
	for merged := range m.clock.All(m.options.tuning.now()) {
		if err := m.passTo(to, merged, false); err != nil {
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

// reportUnread reports the logs and folders that were not read.
func (m *Merger) reportUnread() {
	var all message.Group
	for _, in := range m.inputs {
		if why := in.source.Unread(); why != "" {
			all.Add(in.progress.Name, why)
		}
	}
	for _, u := range m.follower.Unread() {
		if u.Why != "" {
			all.Add(u.Path, u.Why+"; it was not read")
		}
	}
	all.Say(func(name, text string) { m.options.Messages.Unread(name + ": " + text) })
}

// loop handles events until all inputs have ended and no further input can come. More says that
// further inputs may come.
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
		if due, ok := m.saver.due(); ok && (due <= 0 || m.fan.heldBytes.Bytes() > maxHeld) {
			if err := m.trySave(); err != nil {
				return err
			}
		}
		if (!more || stopped) && !slices.ContainsFunc(m.inputs, func(in *input) bool { return !in.progress.Ended }) {
			return nil
		}
		wait := flushTime
		if due, ok := m.saver.due(); ok {
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
				m.events.post(func() { stopped = true }) // after the events of inputs that Stop has found
			}()
			abort = time.After(m.options.tuning.grace)
		case <-abort:
			stopped = true
			m.leaveCrowded()
			m.clock.draining = true // read the ends of files, however many windows lie in the future
			if m.options.State.Kept() {
				m.follower.Abort() // the next start reads the rest
			}
			if err := m.abortPipes(); err != nil {
				return err
			}
		}
	}
}

// consume takes batches and passes on the windows that become complete, until there is nothing more
// to do at present. Idle times of inputs end at the last look at all files, not at the present
// time, so a slow machine does not make inputs idle.
func (m *Merger) consume() error {
	m.delivery.needsFlush = false
	m.rates.Forget(m.clock.completeUntil)
	for {
		for merged := range m.clock.Complete(m.delivery.lastLook) {
			if err := m.passOn(merged, false); err != nil {
				return err
			}
		}
		next := m.clock.Next()
		if next == nil {
			m.reportAhead()
			m.reportCrowded()
			break
		}
		if next.input.feed.next == nil {
			break
		}
		if err := m.takeBatch(next.input); err != nil {
			return err
		}
	}
	if !m.delivery.needsFlush && time.Since(m.delivery.lastFlush) < flushTime {
		return nil
	}
	return m.flush()
}

// flush updates the snapshot for other goroutines, and flushes the outputs.
func (m *Merger) flush() error {
	m.delivery.lastFlush = time.Now()
	all := make([]Progress, len(m.inputs))
	for n, in := range m.inputs {
		in.progress.Silent, in.progress.Behind = in.pace.silent, in.pace.behind
		in.progress.Unread = in.source.Unread()
		if in.progress.Ended && in.feed.err != nil {
			in.progress.Unread = in.feed.err.Error()
		}
		all[n] = in.progress
	}
	for _, u := range m.follower.Unread() {
		all = append(all, Progress{Name: u.Path, Copy: u.Copy, Lost: u.Lost, Unread: u.Why})
	}
	full := m.fan.full()
	if name := m.saver.fullDisk(); name != "" {
		full = append(full, name)
	}
	m.snapshot.Store(&snapshot{progress: all, fullDisks: full})
	return m.fan.flush()
}

// passOn passes a window to the outputs. Late says that merged is one late interval.
func (m *Merger) passOn(merged *merge.Merged, late bool) error {
	return m.passTo(m.fan.window, merged, late)
}

// passTo passes a window to the function to, which is a method of the fan.
func (m *Merger) passTo(to func(w *Window) error, merged *merge.Merged, late bool) (err error) {
	m.delivery.needsFlush = true
	m.saver.noteChange()
	m.chargeOpen() // the window is not open any more
	merged.Recorded = (merge.WindowCount{Millis: merged.End - merged.Start})
	if !late {
		merged.Recorded = m.rates.Take(merged.Tag, merged.Window)
	}
	w := Window{Merged: merged, Late: late, Scratch: &m.delivery.scratch}
	if w.Factor, err = m.options.Units.Factor(merged.Tag); err != nil {
		return err
	}
	if err = to(&w); errors.As(err, new(*merge.SumError)) {
		return m.options.Messages.SkipWindow(merged.Tag, err)
	}
	return err
}

// chargeOpen charges the memory of the open windows to their account.
func (m *Merger) chargeOpen() error {
	return m.delivery.openCharge.Set(m.delivery.openAccount, m.clock.windows.Len(), m.clock.windows.Bytes())
}
