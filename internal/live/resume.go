package live

import (
	"bytes"
	"cmp"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live/follow"
)

// A resumption is what a run has of those before it.
type resumption struct {
	// neededAfter: windows that end at or before it need nothing more of the logs.
	neededAfter int64
	// mergedAfter: the merged log has all windows that end after it.
	mergedAfter int64
	held        heldLogs
	// search holds back all windows while files are searched that have lines to read again. It is
	// nil when that is over.
	search *pace
}

// heldLogs are logs that are gone, and the end of the last open window that was read back with
// lines of them. Nothing else has these lines.
type heldLogs struct {
	logs []string
	end  int64
}

// Load takes up the state. Call it when the follower has all inputs, before Run.
func (m *Merger) Load(f *follow.Follower) error {
	if !m.options.State.Kept() {
		return nil
	}
	s := &m.options.State.last
	m.fan.keeps = true
	m.clock.previousRunUntil = s.Done
	m.resumed.neededAfter = s.Done
	m.resumed.mergedAfter = s.Done
	if s.File != nil {
		m.resumed.mergedAfter = s.File.Since
	}
	if err := m.readParts(f); err != nil {
		return err
	}
	if len(s.Logs) > 0 {
		m.resumed.search = m.clock.Join(m.options.tuning.now(), nil)
		m.resumed.search.again = true
		m.resumed.search.Stop()
	}
	m.resumeOutputs(f)
	m.clock.completeUntil = m.resumed.neededAfter
	m.clock.handedUntil = m.resumed.neededAfter
	for key := range s.Receivers {
		if !slices.ContainsFunc(m.fan.Outputs, func(o Output) bool { return o.Key == key }) {
			m.options.Messages.Notice(key + " is no output any more; the state forgets it")
		}
	}
	if slices.ContainsFunc(m.fan.Outputs, func(o Output) bool { return o.Past }) {
		return m.readPast(s.File)
	}
	return nil
}

// resumeOutputs finds out from where each output goes on, and whether it gets what it lacks out of
// the merged log. Without one, windows that a receiver lacks are made again of the logs.
func (m *Merger) resumeOutputs(f *follow.Follower) {
	s := &m.options.State.last
	isFile := func(o Output) bool { _, ok := o.Sink.(File); return ok }
	past := s.File != nil && s.File.Size <= m.options.tuning.mostPast && slices.ContainsFunc(m.fan.Outputs, isFile)
	areGone := slices.ContainsFunc(f.Missing(), func(mark follow.Mark) bool { return mark.Again.From > 0 })
	for n := range m.fan.Outputs {
		o := &m.fan.Outputs[n]
		o.done = s.Done
		o.Past = o.Past && past
		r, ok := o.Sink.(Receiver)
		if !ok {
			continue
		}
		has, known := s.Receivers[o.Key]
		if !known {
			has = s.Done
		}
		r.Resume(has, s.Done)
		lacks := has < s.Done
		switch {
		case !lacks && !r.Totals():
		case past && m.resumed.mergedAfter <= has:
			o.Past = true
		default:
			o.done = has
			m.resumed.neededAfter = min(m.resumed.neededAfter, has)
			if lacks && areGone {
				m.options.Messages.Notice(o.Key + ": rows may be missing: some logs are gone, and no merged log has them")
			}
		}
	}
}

// readParts merges the open windows of the run before. If there are none since that was killed, the
// lines of logs that only its open windows had are missing.
func (m *Merger) readParts(f *follow.Follower) error {
	state := m.options.State
	if !state.HasParts() {
		for _, log := range state.last.Held {
			m.options.Messages.Unread(log + " was gone before a crash; lines that no window has are missing")
		}
		return nil
	}
	m.resumed.held = heldLogs{logs: state.last.Held, end: never}
	for _, mark := range f.Missing() {
		if mark.Again.Open > 0 && !mark.Said {
			m.resumed.held.logs = append(m.resumed.held.logs, mark.Path)
		}
	}
	path := state.last.Parts.Path
	r := hdrlog.NewReader(bytes.NewReader(state.parts), path)
	for r.Scan() {
		record := r.Record()
		var err error
		switch record.Kind {
		case hdrlog.Comment:
			if !m.pastWindow().readNote(record.Text) {
				err = m.options.Units.Comment(path, record.Text)
			}
		case hdrlog.Malformed:
			err = record.Err
		case hdrlog.IntervalRecord:
			err = m.readPart(&record.Interval, path)
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(r.Err(), m.chargeOpen())
}

// readPart merges what a tag has in an open window. A log that is gone cannot say when it ran, so
// the window says that.
func (m *Merger) readPart(i *hdrlog.Interval, path string) error {
	var sum merge.Sum
	if err := sum.Add(i); err != nil {
		return err
	}
	start, end := i.StartMillis(), max(i.StartMillis(), i.EndMillis())
	m.resumed.held.end = max(m.resumed.held.end, merge.WindowOf(start, end, m.options.Size).End)
	m.options.Units.Kept(path, i.Tag)
	if len(m.resumed.held.logs) > 0 {
		m.rates.Add(i.Tag, 0, start, end, 0, never, m.options.Size)
		if m.options.Whole != nil {
			m.options.Whole.Add(i.Tag, 0, start, end, 0, never, m.options.Size)
		}
	}
	return m.clock.windows.Merge(bytes.Clone(i.Tag), i.LogStart, &sum)
}

// endSearch ends the search for files that have lines to read again, when all were found or are
// given up. The inputs that were found join before that.
func (m *Merger) endSearch() {
	if m.resumed.search == nil {
		return
	}
	if !slices.ContainsFunc(m.follower.Missing(), func(mark follow.Mark) bool { return !mark.Said }) {
		m.events.post(m.resumed.search.End)
		m.resumed.search = nil
	}
}
