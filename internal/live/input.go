package live

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"hdrkit/internal/live/follow"
)

// An input is a log and how far it is.
type input struct {
	source *follow.Input
	number int // for rates
	pace   *pace
	now    Progress
	tag    func(tag []byte) []byte

	position *position // of the log that is read, nil without a state
	needed   ends      // of the intervals of this batch

	feed    feed
	remarks remarks
}

// A feed is how the batches of an input come from its reader.
type feed struct {
	coming   atomic.Bool   // one was posted, which the merger has not seen yet
	queue    *batch        // nil if none waits to be taken
	accepted chan struct{} // the one before was taken
	waiting  bool          // the reader waits for data
	reached  bool          // the reader has waited for data
	over     bool          // there is no batch after the queued one
	err      error         // why, nil if the input was read to its end or stopped
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

// join begins to read an input.
func (m *Merger) join(source *follow.Input) {
	in := &input{
		source: source,
		tag:    m.options.Tag(source),
		feed:   feed{accepted: make(chan struct{}, 1)},
	}
	in.pace = m.clock.Join(m.options.tuning.now(), func() bool { return !source.AtEnd() || in.feed.coming.Load() })
	in.pace.input = in
	m.joined++
	in.number = m.joined
	in.now.Name = source.Name()
	in.feed.accepted <- struct{}{}
	in.pace.again, in.pace.slack = source.ReadEarlier(0)
	m.inputs = append(m.inputs, in)
	source.OnWait(func(waiting bool) {
		m.events.post(func() {
			in.feed.waiting = waiting
			m.atEnd(in)
		})
	})
	go m.read(in)
}

// take takes the batch of an input.
func (m *Merger) take(in *input) error {
	b := in.feed.queue
	in.feed.queue = nil
	b.log.SetCounted(b.line, b.header, b.headerFrom)
	m.options.State.changed = true
	if m.options.State.Kept() && (in.position == nil || in.position.log != b.log) {
		in.leave()
		in.position = m.positionOf(b.log)
		in.position.current = true
	}
	in.needed = noEnds
	now := m.options.tuning.now()
	for _, step := range b.steps {
		if err := step(now); err != nil {
			return err
		}
	}
	if err := m.chargeOpen(); err != nil {
		return err
	}
	if in.position != nil {
		in.position.add(b.first, b.line, in.needed, in.pace.slack)
	}
	in.pace.again = in.pace.again && b.again
	in.feed.accepted <- struct{}{}
	m.atEnd(in)
	if in.feed.over {
		m.end(in)
	}
	return nil
}

// show says how far the input is, see [pace.Show].
func (in *input) show(i *interval, now time.Time) {
	in.now.End = i.end
	if in.now.Start == 0 {
		in.now.Start = i.start
	}
	in.pace.Show(now, i.start, i.end)
}

// leave notes that the input reads another log, or none.
func (in *input) leave() {
	if in.position != nil {
		in.position.current = false
	}
}

// atEnd notes whether all that is there of an input was taken. When that is so first, it notes when
// the file was written last: a rotated one holds back windows for the idle time from then on.
func (m *Merger) atEnd(in *input) {
	in.pace.atEnd = in.feed.waiting && in.feed.queue == nil
	if !in.pace.atEnd {
		return
	}
	if !in.feed.reached {
		in.feed.reached = true
		in.pace.written = m.options.tuning.now().Add(-time.Since(in.source.Modified()))
	}
	in.endAgain()
}

// endAgain notes that the input has shown again all that is there, if that is so. The reader may
// hold intervals that it had not held in the earlier run.
func (in *input) endAgain() {
	if in.pace.again {
		in.pace.again, _ = in.source.ReadEarlier(1)
		p := in.position
		in.pace.again = in.pace.again || p != nil && p.line < p.earlier.Line
	}
}

// end ends an input whose batches were all taken. With a state, an input that was only stopped goes
// on in a later run.
func (m *Merger) end(in *input) {
	if m.options.State.Kept() && in.feed.err == nil {
		in.pace.Stop()
	} else {
		in.pace.End()
	}
	gone := errors.Is(in.feed.err, follow.ErrGone)
	in.now.Ended = true
	if gone {
		in.leave()
		m.inputs = slices.DeleteFunc(m.inputs, func(other *input) bool { return other == in })
	}
	if err := in.feed.err; err != nil && !gone {
		m.options.Messages.Unread(fmt.Sprintf("%s: %v; it is read no further%s", in.now.Name, err, m.options.Hint(err)))
	}
}

// leaveCrowded ends the logs that wait since too many windows of the future are open. A state has
// how far they were read.
func (m *Merger) leaveCrowded() {
	soon := m.clock.soon(m.options.tuning.now())
	for _, in := range m.inputs {
		isOver := in.pace.atEnd || in.now.Ended
		if isOver || in.pace.position <= soon || !m.clock.crowded() {
			continue
		}
		in.source.Abort()
		m.end(in)
		if !m.options.State.Kept() {
			m.options.Messages.Unread(in.now.Name + ": its next intervals lie in the future, and are not read")
		}
	}
}

// abortPipes ends the pipes whose writers go on, after what was read of them.
func (m *Merger) abortPipes() error {
	for _, in := range m.inputs {
		if !in.source.IsPipe() || in.now.Ended {
			continue
		}
		in.source.Abort()
		if in.feed.queue != nil {
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
