package live

import (
	"errors"
	"fmt"
	"time"

	"hdrkit/hdrlog"
)

// Remarks are what messages say, or have said, of an input.
type remarks struct {
	malformed, late quiet
	// far is the first interval that seemed too far ahead since [Merger.sayAhead] last looked.
	far         far
	saidAhead   bool // a message has told of one
	saidCrowded bool // a message has said that the log waits, see [clock.crowded]
	refused     bool // a message has said that the log cannot be taken
}

// A far interval is one too far ahead, see [pace.Ahead].
type far struct {
	line   int // 0 if there is none
	middle int64
}

// quietly is the time between two messages of one kind about one input.
const quietly = time.Minute

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

// noteFar notes the first interval that is too far ahead.
func (in *input) noteFar(i *interval, now time.Time) {
	middle := i.start + (i.end-i.start)/2
	if in.remarks.far.line == 0 && !in.remarks.saidAhead && in.pace.Ahead(now, middle) {
		in.remarks.far = far{i.line, middle}
	}
}

// sayAhead reports each log once that has an interval too far ahead, as known after all was read.
func (m *Merger) sayAhead() {
	for _, in := range m.inputs {
		line := in.remarks.far.line
		if line == 0 {
			continue
		}
		now := m.options.tuning.now()
		in.remarks.far.line = 0
		if in.pace.Ahead(now, in.remarks.far.middle) {
			in.remarks.saidAhead = true
			m.options.Messages.Notice(fmt.Sprintf("%s:%d: the interval lies %v in the future: is the clock "+
				"of the log right? It is kept until its time comes, and other logs do not wait less because of it",
				in.now.Name, line, time.UnixMilli(in.remarks.far.middle).Sub(now).Round(time.Second)))
		}
	}
}

// sayCrowded reports each log once that is read no further.
func (m *Merger) sayCrowded() {
	for _, in := range m.inputs {
		if in.pace.ahead && !in.pace.atEnd && !in.remarks.saidCrowded && m.clock.crowded() {
			in.remarks.saidCrowded = true
			m.options.Messages.Notice(fmt.Sprintf("%s: more than %d windows wait for the future; "+
				"it is read on when some are complete", in.now.Name, mostFuture))
		}
	}
}

// refuse leaves out a log. If nothing has been handed out, the first one ends the merging.
func (m *Merger) refuse(in *input, i *interval, why error) error {
	if i.past.again { // the earlier run has said so
		return nil
	}
	if m.clock.handedUntil == never && m.clock.previousRunUntil == never {
		return why
	}
	if !in.remarks.refused {
		in.remarks.refused = true
		m.options.Messages.Unread(fmt.Sprintf("%v; the log is not taken", why))
	}
	return nil
}

// skipInterval reports an interval that is left out, unless an earlier run has done that.
func (m *Merger) skipInterval(in *input, i *interval, now time.Time) error {
	if i.past.again {
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
	return m.options.Messages.Skip(in.remarks.malformed.text(now, text, in.now.Skipped, "malformed lines"))
}
