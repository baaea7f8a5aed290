package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// maxHeld is the number of bytes of windows waiting for a state beyond which a state is saved at
// once.
const maxHeld = 4 << 20

// saveAndStop saves the last states, and passes the open windows to the outputs that may have parts
// of windows. Receivers get some time for the last rows, so it saves a state before and after that
// time.
func (m *Merger) saveAndStop() error {
	if err := m.trySave(); err != nil {
		return err
	}
	err := cmp.Or(m.fan.end(true), m.save())
	if err != nil && !m.options.State.diskFull {
		return err
	}
	return cmp.Or(m.handOutAll(m.fan.part), err, m.saveParts())
}

// trySave saves a state, and gives held outputs the windows that it covers. If a disk is full, they
// get the windows all the same, and the next save comes soon.
func (m *Merger) trySave() error {
	before, waited := m.options.State.diskFull, m.options.State.logDiskFull
	err := m.save()
	if full := m.options.State.diskFull; full {
		if !before && !m.options.State.logDiskFull {
			m.options.Messages.Notice(fmt.Sprintf("no state can be written: %v; trying again", err))
		}
		err = nil
	} else if before && !waited {
		m.options.Messages.Notice("states are written again")
	}
	return cmp.Or(err, m.fan.giveHeld())
}

// save saves a state.
func (m *Merger) save() error {
	begin := time.Now()
	state := m.options.State
	s := saved{
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
	state.logDiskFull = err != nil
	if err == nil {
		m.settle(least, s.Done)
		s.Logs = m.follower.Marks()
		if s.Done < m.resumption.gone.end {
			s.Held = m.resumption.gone.logs
		} else if len(m.resumption.gone.logs) > 0 {
			m.follower.SettleMissing(m.resumption.gone.logs, s.Done)
			m.resumption.gone.logs = nil
			s.Logs = m.follower.Marks()
		}
		err = state.save(s)
	}
	state.lastSave = time.Now()
	state.saveDuration = time.Since(begin)
	state.changed = err != nil
	state.diskFull = IsFull(err)
	return err
}

// saveParts saves a state that covers also the open windows, which stand in the merged log behind
// the complete ones. A later run does not read lines again for these windows. So saveParts saves
// nothing if the windows may lack lines that were not read again yet, and it is unclear which.
func (m *Merger) saveParts() error {
	state := m.options.State
	gone := slices.Clone(m.resumption.gone.logs)
	for _, p := range m.positions {
		back := p.earlierMark.Again.ReadBack
		switch {
		case !p.hasUnreadNeededLines(), back <= p.lastLine:
		case back <= p.earlierMark.Line:
			return nil
		default:
			gone = append(gone, p.earlierMark.Path)
		}
	}
	for _, in := range m.inputs {
		if again, _ := in.source.ReadEarlier(1); again && state.HasParts() {
			return nil
		}
	}
	if state.lastWritten.File == nil {
		return nil
	}
	return m.fan.each(func(o *Output) error {
		file, ok := o.Sink.(File)
		if !ok {
			return nil
		}
		p, err := file.Position()
		if err != nil || p.Size == state.lastWritten.File.Size {
			return err
		}
		next := state.lastWritten
		next.Parts = &p
		next.Held = gone
		return state.save(next)
	})
}
