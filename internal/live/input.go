package live

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"hdrkit/internal/live/follow"
)

// An input is a log that is merged, and how far it has been read.
type input struct {
	source   *follow.Input
	number   int // tells the inputs of merge.Rates apart
	pace     *pace
	progress Progress
	tag      func(tag []byte) []byte // returns the tag in the result

	rereading *rereading // of the log that is read, nil without a state
	batchEnds ends       // of the intervals of the present batch

	feed    feed
	remarks remarks
}

// A feed passes batches from the goroutine that reads an input to the merger, one at a time.
type feed struct {
	posted    atomic.Bool   // the reader has posted a batch that the merger has not received yet
	next      *batch        // the batch to take next, nil if none has come
	accepted  chan struct{} // receives a value when a batch was taken
	waiting   bool          // the reader waits for data
	hasWaited bool          // the reader has waited for data at least once
	isOver    bool          // there is no batch after next
	err       error         // why the feed is over, nil if the input was read to its end or stopped
}

// A batch is a group of lines of a log that the merger takes at once.
type batch struct {
	steps       []func(now time.Time) error // run when the batch is taken
	log         *follow.Log
	firstLine   int
	lastLine    int
	header      string
	headerFrom  int  // see heading
	moreEarlier bool // an earlier run has read lines after this batch, too
}

// join adds an input and starts to read it.
func (m *Merger) join(source *follow.Input) {
	in := &input{
		source: source,
		tag:    m.options.Tag(source),
		feed:   feed{accepted: make(chan struct{}, 1)},
	}
	in.pace = m.clock.Join(m.options.tuning.now(), func() bool { return !source.AtEnd() || in.feed.posted.Load() })
	in.pace.input = in
	m.inputCount++
	in.number = m.inputCount
	in.progress.Name = source.Name()
	in.feed.accepted <- struct{}{}
	in.pace.showsAgain, in.pace.slack = source.ReadEarlier(0)
	m.inputs = append(m.inputs, in)
	source.OnWait(func(waiting bool) {
		m.events.post(func() {
			in.feed.waiting = waiting
			m.noteAtEnd(in)
		})
	})
	go m.readInput(in)
}

// takeBatch takes the next batch of an input: it merges the intervals, and notes which lines a
// later run needs.
func (m *Merger) takeBatch(in *input) error {
	b := in.feed.next
	in.feed.next = nil
	b.log.SetCounted(b.lastLine, b.header, b.headerFrom)
	m.saver.noteChange()
	if m.options.State.Kept() && (in.rereading == nil || in.rereading.log != b.log) {
		in.leave()
		in.rereading = m.rereadingOf(b.log)
		in.rereading.isRead = true
	}
	in.batchEnds = noEnds
	now := m.options.tuning.now()
	for _, step := range b.steps {
		if err := step(now); err != nil {
			return err
		}
	}
	if err := m.chargeOpen(); err != nil {
		return err
	}
	if in.rereading != nil {
		in.rereading.add(b.firstLine, b.lastLine, in.batchEnds, in.pace.slack)
	}
	in.pace.showsAgain = in.pace.showsAgain && b.moreEarlier
	in.feed.accepted <- struct{}{}
	m.noteAtEnd(in)
	if in.feed.isOver {
		m.endInput(in)
	}
	return nil
}

// show records the times of an interval in the progress and in the clock.
func (in *input) show(i *interval, now time.Time) {
	in.progress.End = i.end
	if in.progress.Start == 0 {
		in.progress.Start = i.start
	}
	in.pace.Show(now, i.start, i.end)
}

// leave records that the input does not read its present log any more.
func (in *input) leave() {
	if in.rereading != nil {
		in.rereading.isRead = false
	}
}

// noteAtEnd updates whether all present data of an input were taken. When that is first so, it also
// records when the file was written last: the clock does not wait for a file that was rotated long
// ago.
func (m *Merger) noteAtEnd(in *input) {
	in.pace.atEnd = in.feed.waiting && in.feed.next == nil
	if !in.pace.atEnd {
		return
	}
	if !in.feed.hasWaited {
		in.feed.hasWaited = true
		in.pace.fileWritten = m.options.tuning.now().Add(-time.Since(in.source.Modified()))
	}
	in.endShowingAgain()
}

// endShowingAgain is called at the end of the present data. The clock need not wait for old
// intervals any more, unless further old logs follow, or lines are missing that an earlier run has
// read.
func (in *input) endShowingAgain() {
	if in.pace.showsAgain {
		in.pace.showsAgain, _ = in.source.ReadEarlier(1)
		r := in.rereading
		in.pace.showsAgain = in.pace.showsAgain || r != nil && r.lastLine < r.earlierMark.Line
	}
}

// endInput ends an input, all batches of which were taken. With a state, an input that was only
// stopped goes on in a later run.
func (m *Merger) endInput(in *input) {
	if m.options.State.Kept() && in.feed.err == nil {
		in.pace.Stop()
	} else {
		in.pace.End()
	}
	gone := errors.Is(in.feed.err, follow.ErrGone)
	in.progress.Ended = true
	if gone {
		in.leave()
		m.inputs = slices.DeleteFunc(m.inputs, func(other *input) bool { return other == in })
	}
	if err := in.feed.err; err != nil && !gone {
		m.options.Messages.Unread(fmt.Sprintf("%s: %v; it is read no further%s", in.progress.Name, err, m.options.Hint(err)))
	}
}

// leaveCrowded ends the inputs that are not read on because too many windows of the future are
// open. A state says how far they were read; without one, a message says that they were not read to
// the end.
func (m *Merger) leaveCrowded() {
	soon := m.clock.latestEnd(m.options.tuning.now())
	for _, in := range m.inputs {
		isOver := in.pace.atEnd || in.progress.Ended
		if isOver || in.pace.latestMiddle <= soon || !m.clock.crowded() {
			continue
		}
		in.source.Abort()
		m.endInput(in)
		if !m.options.State.Kept() {
			m.options.Messages.Unread(in.progress.Name + ": its next intervals lie in the future, and are not read")
		}
	}
}

// abortPipes ends the pipes whose writers have not closed them, after taking what was read.
func (m *Merger) abortPipes() error {
	for _, in := range m.inputs {
		if !in.source.IsPipe() || in.progress.Ended {
			continue
		}
		in.source.Abort()
		if in.feed.next != nil {
			if err := m.takeBatch(in); err != nil {
				return err
			}
		}
		if !in.progress.Ended { // takeBatch ends the input if the batch was the last
			m.endInput(in)
		}
	}
	return nil
}
