package live

import (
	"bytes"
	"cmp"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live/follow"
)

// A resumption is what a run has taken over from earlier runs.
type resumption struct {
	// neededAfter is a time. Windows that end at or before it need no further lines of the logs.
	neededAfter int64
	// mergedAfter is a time. The merged log has all windows that end after it.
	mergedAfter int64
	gone        goneLogs
	// search holds back all windows while files are searched whose lines must be read again. It is
	// nil when the search is over.
	search *pace
}

// goneLogs are logs that are gone. Only the open windows that were read back have their lines, up
// to the window that ends at end.
type goneLogs struct {
	logs []string
	end  int64
}

// Load takes over the state. Call it when the follower has all inputs, before Run.
func (m *Merger) Load(f *follow.Follower) error {
	if !m.options.State.Kept() {
		return nil
	}
	s := &m.options.State.previous
	m.fan.keeps = true
	m.clock.previousRunUntil = s.Done
	m.resumption.neededAfter = s.Done
	m.resumption.mergedAfter = s.Done
	if s.File != nil {
		m.resumption.mergedAfter = s.File.Since
	}
	if err := m.readOpenWindows(f); err != nil {
		return err
	}
	if len(s.Logs) > 0 {
		m.resumption.search = m.clock.Join(m.options.tuning.now(), nil)
		m.resumption.search.showsAgain = true
		m.resumption.search.Stop()
	}
	m.resumeOutputs(f)
	m.clock.completeUntil = m.resumption.neededAfter
	m.clock.handedUntil = m.resumption.neededAfter
	for key := range s.Receivers {
		if !slices.ContainsFunc(m.fan.Outputs, func(o Output) bool { return o.Key == key }) {
			m.options.Messages.Notice(key + " is no output any more; the state forgets it")
		}
	}
	if slices.ContainsFunc(m.fan.Outputs, func(o Output) bool { return o.getsPast }) {
		return m.readPast(s.File)
	}
	return nil
}

// resumeOutputs decides with which window each output goes on, and which outputs get earlier
// windows from the merged log. Without a merged log, windows that a receiver lacks are made again
// from the logs.
func (m *Merger) resumeOutputs(f *follow.Follower) {
	s := &m.options.State.previous
	isFile := func(o Output) bool { _, ok := o.Sink.(File); return ok }
	past := s.File != nil && s.File.Size <= m.options.tuning.maxPast && slices.ContainsFunc(m.fan.Outputs, isFile)
	areGone := slices.ContainsFunc(f.Missing(), func(mark follow.Mark) bool { return mark.Again.From > 0 })
	for n := range m.fan.Outputs {
		o := &m.fan.Outputs[n]
		o.done = s.Done
		o.getsPast = past && o.showsPast()
		r, ok := o.Sink.(Receiver)
		if !ok {
			continue
		}
		sentUntil, known := s.Receivers[o.Key]
		if !known {
			sentUntil = s.Done
		}
		r.Resume(sentUntil, s.Done)
		lacks := sentUntil < s.Done
		switch {
		case !lacks && !r.Totals():
		case past && m.resumption.mergedAfter <= sentUntil:
			o.getsPast = true
		default:
			o.done = sentUntil
			m.resumption.neededAfter = min(m.resumption.neededAfter, sentUntil)
			if lacks && areGone {
				m.options.Messages.Notice(o.Key + ": rows may be missing: some logs are gone, and no merged log has them")
			}
		}
	}
}

// readOpenWindows merges the windows that were open at the end of the last run. If that run was
// killed, there are none: then lines of logs that are gone may be missing, and a message says so.
func (m *Merger) readOpenWindows(f *follow.Follower) error {
	state := m.options.State
	if !state.HasOpenWindows() {
		for _, log := range state.previous.GoneLogs {
			m.options.Messages.Unread(log + " was gone before a crash; lines that no window has are missing")
		}
		return nil
	}
	m.resumption.gone = goneLogs{logs: state.previous.GoneLogs, end: never}
	for _, mark := range f.Missing() {
		if mark.Again.Open > 0 && !mark.Said {
			m.resumption.gone.logs = append(m.resumption.gone.logs, mark.Path)
		}
	}
	path := state.previous.OpenEnd.Path
	r := hdrlog.NewReader(bytes.NewReader(state.openWindows), path)
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
			err = m.readOpenRow(&record.Interval, path)
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(r.Err(), m.chargeOpen())
}

// readOpenRow merges a row of an open window. If logs are gone that ran in this window, the row
// states how long they ran.
func (m *Merger) readOpenRow(i *hdrlog.Interval, path string) error {
	var sum merge.Sum
	if err := sum.Add(i); err != nil {
		return err
	}
	start, end := i.StartMillis(), max(i.StartMillis(), i.EndMillis())
	m.resumption.gone.end = max(m.resumption.gone.end, merge.WindowOf(start, end, m.options.Size).End)
	m.options.Units.Kept(path, i.Tag)
	if len(m.resumption.gone.logs) > 0 {
		m.rates.Add(i.Tag, 0, start, end, 0, never, m.options.Size)
		if m.options.Whole != nil {
			m.options.Whole.Add(i.Tag, 0, start, end, 0, never, m.options.Size)
		}
	}
	return m.clock.windows.Merge(bytes.Clone(i.Tag), i.LogStart, &sum)
}

// endSearch ends the search for files whose lines must be read again, when all are found or given
// up. The inputs of files that were found join before.
func (m *Merger) endSearch() {
	if m.resumption.search == nil {
		return
	}
	if !slices.ContainsFunc(m.follower.Missing(), func(mark follow.Mark) bool { return !mark.Said }) {
		m.events.post(m.resumption.search.End)
		m.resumption.search = nil
	}
}
