package live

import (
	"errors"
	"fmt"
	"time"

	"hdrkit/hdrlog"
)

// Remarks record which messages an input has caused, so that they are not repeated.
type remarks struct {
	malformed, late throttle
	// far is the first interval that was too far ahead since reportAhead last looked.
	far         far
	saidAhead   bool // a message has reported an interval too far ahead
	saidCrowded bool // a message has reported that the log waits, see clock.crowded
	saidRefused bool // a message has reported that the unit of the log does not fit
}

// A far is an interval that is too far ahead, see [pace.isTooFarAhead].
type far struct {
	line   int // 0 if there is no such interval
	middle int64
}

// messagePause is the shortest time between two messages of one kind about one input.
const messagePause = time.Minute

// A throttle limits the rate of the messages of one kind about one input.
type throttle struct{ lastMessage time.Time }

// text returns a message if the last one is old enough, otherwise an empty string. All is the
// number of such events so far, which the message states if it is above 1.
func (q *throttle) text(now time.Time, message string, all int64, what string) string {
	if !q.lastMessage.IsZero() && now.Sub(q.lastMessage) < messagePause {
		return ""
	}
	q.lastMessage = now
	if all > 1 {
		message += fmt.Sprintf("; %d %s so far", all, what)
	}
	return message
}

// noteFar records the first interval that is too far ahead.
func (in *input) noteFar(i *interval, now time.Time) {
	middle := i.start + (i.end-i.start)/2
	if in.remarks.far.line == 0 && !in.remarks.saidAhead && in.pace.isTooFarAhead(now, middle) {
		in.remarks.far = far{i.line, middle}
	}
}

// reportAhead reports, once for each log, an interval too far ahead. It is called when all present
// data have been read, because intervals of other logs can show that the time is right.
func (m *Merger) reportAhead() {
	for _, in := range m.inputs {
		line := in.remarks.far.line
		if line == 0 {
			continue
		}
		now := m.options.tuning.now()
		in.remarks.far.line = 0
		if in.pace.isTooFarAhead(now, in.remarks.far.middle) {
			in.remarks.saidAhead = true
			m.options.Messages.Notice(fmt.Sprintf("%s:%d: the interval lies %v in the future: is the clock "+
				"of the log right? It is kept until its time comes, and other logs do not wait less because of it",
				in.progress.Name, line, time.UnixMilli(in.remarks.far.middle).Sub(now).Round(time.Second)))
		}
	}
}

// reportCrowded reports, once for each log, that the log is not read on for now.
func (m *Merger) reportCrowded() {
	for _, in := range m.inputs {
		if in.pace.ahead && !in.pace.atEnd && !in.remarks.saidCrowded && m.clock.crowded() {
			in.remarks.saidCrowded = true
			m.options.Messages.Notice(fmt.Sprintf("%s: more than %d windows wait for the future; "+
				"it is read on when some are complete", in.progress.Name, maxFuture))
		}
	}
}

// refuse leaves out an interval whose unit does not fit. If no window was handed out yet, the
// returned error ends the merging.
func (m *Merger) refuse(in *input, i *interval, why error) error {
	if i.past.readEarlier { // the earlier run has reported it
		return nil
	}
	if m.clock.handedUntil == never && m.clock.previousRunUntil == never {
		return why
	}
	if !in.remarks.saidRefused {
		in.remarks.saidRefused = true
		m.options.Messages.Unread(fmt.Sprintf("%v; the log is not taken", why))
	}
	return nil
}

// skipInterval reports an interval that is left out, unless an earlier run has reported it.
func (m *Merger) skipInterval(in *input, i *interval, now time.Time) error {
	if i.past.readEarlier {
		return nil
	}
	return m.skip(in, i.err, now)
}

// skip counts and reports a line that is left out.
func (m *Merger) skip(in *input, why error, now time.Time) error {
	in.progress.Skipped++
	text := why.Error()
	if e, ok := errors.AsType[*hdrlog.SyntaxError](why); ok && e.Line == 1 {
		text += "; if these are measurements: tail -n +1 -F FILE | hdrrec - | hdrlive -"
	}
	return m.options.Messages.Skip(in.remarks.malformed.text(now, text, in.progress.Skipped, "malformed lines"))
}
