package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// mostHeld is the number of bytes of windows that wait for a state at which one is written at once.
const mostHeld = 4 << 20

// stop writes the last states, and the open windows to the outputs that may have a part of a
// window. Receivers have some time to take the last rows, so a state comes before that and one
// after it.
func (m *Merger) stop() error {
	if err := m.trySave(); err != nil {
		return err
	}
	err := cmp.Or(m.fan.end(true), m.save())
	if err != nil && !m.options.State.full {
		return err
	}
	return cmp.Or(m.all(m.fan.part), err, m.saveParts())
}

// trySave writes a state, and gives held outputs what it has. If a disk is full, they get that all
// the same, and the next try comes soon.
func (m *Merger) trySave() error {
	before, waited := m.options.State.full, m.options.State.logFull
	err := m.save()
	if full := m.options.State.full; full {
		if !before && !m.options.State.logFull {
			m.options.Messages.Notice(fmt.Sprintf("no state can be written: %v; trying again", err))
		}
		err = nil
	} else if before && !waited {
		m.options.Messages.Notice("states are written again")
	}
	return cmp.Or(err, m.fan.giveHeld())
}

// save writes a state.
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
			has := min(sink.Has(), s.Done)
			s.Receivers[o.Key] = has
			least = min(least, has)
		case File:
			var p FilePosition
			p, err = sink.Position()
			p.Since = m.resumed.mergedAfter
			s.File = &p
		}
		return err
	})
	state.logFull = err != nil
	if err == nil {
		m.settle(least, s.Done)
		s.Logs = m.follower.Marks()
		if s.Done < m.resumed.held.end {
			s.Held = m.resumed.held.logs
		} else if len(m.resumed.held.logs) > 0 {
			m.follower.SettleMissing(m.resumed.held.logs, s.Done)
			m.resumed.held.logs = nil
			s.Logs = m.follower.Marks()
		}
		err = state.save(s)
	}
	state.at = time.Now()
	state.took = time.Since(begin)
	state.changed = err != nil
	state.full = IsFull(err)
	return err
}

// saveParts writes a state that has the open windows, which stand behind the merged log. A mark
// says which of its lines they lack since they were not read. But they may have such lines because
// they were read back themselves. Where that cannot be told of all, a later run reads the lines
// again.
func (m *Merger) saveParts() error {
	state := m.options.State
	held := slices.Clone(m.resumed.held.logs)
	for _, p := range m.positions {
		back := p.earlier.Again.ReadBack
		switch {
		case !p.hasUnreadNeededLines(), back <= p.line:
		case back <= p.earlier.Line:
			return nil
		default:
			held = append(held, p.earlier.Path)
		}
	}
	for _, in := range m.inputs {
		if again, _ := in.source.ReadEarlier(1); again && state.HasParts() {
			return nil
		}
	}
	if state.written.File == nil {
		return nil
	}
	return m.fan.each(func(o *Output) error {
		file, ok := o.Sink.(File)
		if !ok {
			return nil
		}
		p, err := file.Position()
		if err != nil || p.Size == state.written.File.Size {
			return err
		}
		next := state.written
		next.Parts = &p
		next.Held = held
		return state.save(next)
	})
}
