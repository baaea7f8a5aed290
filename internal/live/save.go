package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// minSavePause and maxSavePause are the shortest and the longest time between two saves. Between
// these limits, saving takes 1/saveShare of the time. The longest time is short, because scrapes
// show only what a state covers, and because after a crash hdrlive reads again what came after the
// last state.
const (
	minSavePause = 250 * time.Millisecond
	saveShare    = 20
	maxSavePause = time.Second
)

// A saver saves the states of a run. Without a file, it saves nothing.
type saver struct {
	file        *State
	lastWritten savedState
	maxPause    time.Duration // between two saves
	duration    time.Duration // of the last save
	lastSave    time.Time
	changed     bool // something was received since the last save
	diskFull    bool // the last save failed, because a disk was full
	logDiskFull bool // this disk is that of the merged log
}

// newSaver returns a saver for a file. A state is due at once if the file is new.
func newSaver(file *State, maxPause time.Duration) saver {
	return saver{
		file:     file,
		maxPause: maxPause,
		changed:  file.isNew,
	}
}

// noteChange records that something was received that the last state does not cover.
func (s *saver) noteChange() { s.changed = true }

// due returns the time until the next save, and whether there is anything to save.
func (s *saver) due() (wait time.Duration, ok bool) {
	pause := min(max(minSavePause, saveShare*s.duration), s.maxPause)
	return pause - time.Since(s.lastSave), s.file.Kept() && s.changed
}

// fullDisk returns the name of the state if its disk is full, otherwise an empty string.
func (s *saver) fullDisk() string {
	if s.diskFull && !s.logDiskFull {
		return "-state " + s.file.path
	}
	return ""
}

// write writes a state to the file.
func (s *saver) write(state savedState) error {
	s.lastWritten = state
	return s.file.save(state)
}

// finish records how a save ended that began at a time.
func (s *saver) finish(begin time.Time, err error) {
	s.lastSave = time.Now()
	s.duration = time.Since(begin)
	s.changed = err != nil
	s.diskFull = IsFull(err)
}

// maxHeld is the number of bytes of windows waiting for a state beyond which a state is saved at
// once.
const maxHeld = 4 << 20

// saveAndStop saves the last states, and passes the open windows to the outputs that may have
// them. Receivers get some time for the last rows, so it saves a state before and after that
// time.
func (m *Merger) saveAndStop() error {
	if err := m.trySave(); err != nil {
		return err
	}
	err := cmp.Or(m.fan.end(true), m.save())
	if err != nil && !m.saver.diskFull {
		return err
	}
	if handErr := m.handOutAll(m.fan.openWindow); handErr != nil {
		return handErr // the merged log may lack open windows, so no state may cover them
	}
	return cmp.Or(m.saveOpenWindows(), err)
}

// trySave saves a state, and gives held outputs the windows that it covers. If a disk is full, they
// get the windows all the same, and the next save comes soon.
func (m *Merger) trySave() error {
	before, waited := m.saver.diskFull, m.saver.logDiskFull
	err := m.save()
	if m.saver.diskFull {
		if !before && !m.saver.logDiskFull {
			m.options.Messages.Notice(fmt.Sprintf("no state can be written: %v; trying again", err))
		}
		err = nil
	} else if before && !waited {
		m.options.Messages.Notice("states are written again")
	}
	if err != nil {
		return err
	}
	return m.fan.giveHeld()
}

// save saves a state.
func (m *Merger) save() error {
	begin := time.Now()
	s := savedState{
		Size:      m.options.Size,
		From:      m.options.From,
		Done:      max(m.clock.handedUntil, m.clock.previousRunUntil),
		Receivers: make(map[string]int64),
	}
	least := s.Done
	err := m.fan.each(func(o *Output) (err error) {
		switch sink := o.Sink.(type) {
		case Receiver:
			sentUntil := min(sink.SentUntil(), s.Done)
			s.Receivers[o.Key] = sentUntil
			least = min(least, sentUntil)
		case File:
			var p FilePosition
			p, err = sink.Position()
			p.Since = m.resumption.mergedAfter
			s.File = &p
		}
		return err
	})
	m.saver.logDiskFull = err != nil
	if err == nil {
		m.settle(least, s.Done)
		s.Logs = m.follower.Marks()
		if s.Done < m.resumption.gone.end {
			s.GoneLogs = m.resumption.gone.logs
		} else if len(m.resumption.gone.logs) > 0 {
			m.follower.SettleMissing(m.resumption.gone.logs, s.Done)
			m.resumption.gone.logs = nil
			s.Logs = m.follower.Marks()
		}
		err = m.saver.write(s)
	}
	m.saver.finish(begin, err)
	return err
}

// saveOpenWindows saves a state that covers also the open windows, which stand in the merged log
// behind the complete ones. A later run does not read lines again for these windows. So it saves
// nothing if the windows may lack lines that were not read again yet, and it is unclear which.
func (m *Merger) saveOpenWindows() error {
	last := m.saver.lastWritten
	gone := slices.Clone(m.resumption.gone.logs)
	for _, r := range m.rereadings {
		back := r.earlierMark.Again.ReadBack
		switch {
		case !r.hasUnreadNeededLines(), back <= r.lastLine:
		case back <= r.earlierMark.Line:
			return nil
		default:
			gone = append(gone, r.earlierMark.Path)
		}
	}
	for _, in := range m.inputs {
		if again, _ := in.source.ReadEarlier(1); again && m.options.State.HasOpenWindows() {
			return nil
		}
	}
	if last.File == nil {
		return nil
	}
	return m.fan.each(func(o *Output) error {
		file, ok := o.Sink.(File)
		if !ok {
			return nil
		}
		p, err := file.Position()
		if err != nil || p.Size == last.File.Size {
			return err
		}
		next := last
		next.OpenEnd = &p
		next.GoneLogs = gone
		return m.saver.write(next)
	})
}
