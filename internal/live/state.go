package live

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/live/follow"
)

// The time between two states. One that takes long is written less often: states take one of
// saveShare parts of the time. But scrapes show what a state has, and after a crash hdrlive reads
// again what came after the last one. So none waits for more than saveMost.
const (
	saveTime  = 250 * time.Millisecond
	saveShare = 20
	saveMost  = time.Second
)

// A State is a file that has how far a merging is, and its outputs. The zero value keeps nothing.
type State struct {
	path string
	last saved    // what the file had at first
	lock *os.File // the file, which no other command may use meanwhile

	unwritten bool // the file is new and empty

	written saved  // the last state of this run
	parts   []byte // open windows of the run before, as a log

	most    time.Duration // between two states
	took    time.Duration // what the last one took
	at      time.Time     // of the last state
	changed bool          // something was received since
	full    bool          // a disk had no room for the last one, or for what it says
	waits   bool          // that is the disk of the merged log
}

// A saved state is what the file has: a line of JSON, and a line with its hash.
type saved struct {
	Version   int
	Command   string
	Size      int64 // of the windows
	From      int64 // see [Options]
	Done      int64 // windows that end at or before this were handed out
	File      *FilePosition
	Parts     *FilePosition    `json:",omitempty"` // the end of the open windows that follow it, after a stop
	Held      []string         `json:",omitempty"` // logs that are gone, of which open windows have lines
	Receivers map[string]int64 // see [Receiver.Has]
	Logs      []follow.Mark
}

// stateVersion and stateCommand tell the states of other versions and commands.
const (
	stateVersion = 12
	stateCommand = "hdrlive"
)

// ErrUsed is the error for a file that another command uses.
var ErrUsed = errors.New("another command that runs uses it; give each command a file of its own")

// mostState is the number of bytes that a state may have.
const mostState = 256 << 20

// mostAway is how far a time of a state may lie in the future. The clock of this machine may have
// been set back.
const mostAway = 24 * time.Hour

// OpenState opens the file of a merging with windows of size milliseconds, which may not exist yet.
// From is that of [Options]: that of the file replaces it.
func OpenState(path string, size int64, from *int64) (*State, error) {
	s := &State{path: path, most: saveMost, last: saved{Size: size, From: *from, Done: never}}
	if err := s.hold(); err != nil {
		return nil, err
	}
	tempfile.RemoveOld(path)
	if s.unwritten { // also a crash before the first window leaves a state, which has From
		s.last.Version, s.last.Command = stateVersion, stateCommand
		line, err := json.Marshal(&s.last)
		if err == nil {
			err = s.write(fmt.Appendf(nil, "%s\n%s\n", line, hashOf(line)))
		}
		if err != nil && !IsFull(err) {
			s.Release()
			return nil, err
		}
		s.unwritten = true // it goes if nothing follows
		s.changed = true
		return s, nil
	}
	if err := s.read(size); err != nil {
		s.Release()
		return nil, fmt.Errorf("%s: %w; remove it and the file of -of to begin anew, or name others", path, err)
	}
	*from = s.last.From
	return s, nil
}

func (s *State) read(size int64) error {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	line, hash, _ := bytes.Cut(text, []byte{'\n'})
	l := &s.last
	*l = saved{}
	damage := json.Unmarshal(line, l)
	if damage != nil && !bytes.HasPrefix(line, []byte(`{"Version":`)) {
		return fmt.Errorf("it is no state of hdrlive: %w", damage)
	}
	far := time.Now().Add(mostAway + time.Duration(size)*time.Millisecond).UnixMilli()
	switch {
	case l.Command != stateCommand && l.Command != "":
		return fmt.Errorf("it is no state of hdrlive, but of %q", l.Command)
	case l.Version != stateVersion && l.Version != 0:
		return fmt.Errorf("it is a state of another version of hdrlive (%d, not %d)", l.Version, stateVersion)
	case !bytes.Equal(bytes.TrimSpace(hash), hashOf(line)):
		return errors.New("it is damaged: its hash is another one")
	case damage != nil:
		return fmt.Errorf("it is damaged: %w", damage)
	case l.File != nil && l.File.Size < 0:
		return errors.New("it is damaged: the merged log has less than nothing")
	case l.Size != size:
		return fmt.Errorf("its windows are %v long, not %v", time.Duration(l.Size)*time.Millisecond, time.Duration(size)*time.Millisecond)
	case max(l.From, l.Done) > far:
		return fmt.Errorf("it ends at %s: is the clock of this machine right?", time.UnixMilli(max(l.From, l.Done)).UTC().Format(time.RFC3339))
	}
	return nil
}

// hashOf returns the hash of a text, in hexadecimal.
func hashOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return hex.AppendEncode(nil, sum[:])
}

// Marks returns the marks for [follow.Options]. A later run may find a log that this one does not:
// so each one keeps what its lines count for.
func (s *State) Marks() []follow.Mark {
	marks := slices.Clone(s.last.Logs)
	for n := range marks {
		a := &marks[n].Again
		if s.HasParts() && slices.Contains(s.last.Held, marks[n].Path) {
			a.Missed = nil // the open windows have them
		}
		if a.From > 0 && (len(a.Missed) == 0 || a.From < a.Missed[0].From) {
			a.Missed = slices.Insert(slices.Clone(a.Missed), 0, follow.Missed{From: a.From, Done: s.last.Done})
		}
	}
	return marks
}

// File returns how much counts of the merged log of the last run, nil if it wrote none.
func (s *State) File() *FilePosition { return s.last.File }

// Parts returns where the open windows end that the last run wrote behind the merged log, nil if it
// did not stop cleanly.
func (s *State) Parts() *FilePosition { return s.last.Parts }

// TakeParts receives these windows, as a log. They are merged on, so no line need be read again for
// them.
func (s *State) TakeParts(log []byte) { s.parts = log }

// HasParts reports whether there are such windows.
func (s *State) HasParts() bool { return len(s.parts) > 0 }

// Kept reports whether there is a file.
func (s *State) Kept() bool { return s.path != "" }

// due returns the time until a state is due, and whether one is needed.
func (s *State) due() (wait time.Duration, ok bool) {
	return min(max(saveTime, saveShare*s.took), s.most) - time.Since(s.at), s.Kept() && s.changed
}

// hold locks the file, which is new if there was none.
func (s *State) hold() error {
	for {
		info, err := os.Stat(s.path) // to open a named pipe would wait for its writer
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no regular file", s.path)
		case info.Size() > mostState:
			return fmt.Errorf("%s has %d bytes, which no state has", s.path, info.Size())
		}
		file, err := os.OpenFile(s.path, os.O_RDONLY|os.O_CREATE, 0o600) // names of logs are for nobody else
		if err != nil {
			return err
		}
		if err := Lock(file); err != nil {
			file.Close()
			return fmt.Errorf("%s: %w", s.path, err)
		}
		held, err := file.Stat()
		if now, stat := os.Stat(s.path); err == nil && stat == nil && os.SameFile(now, held) {
			s.lock = file
			s.unwritten = held.Size() == 0
			return nil
		}
		file.Close() // it was just replaced
	}
}

// Release gives up the file. One that was never written goes.
func (s *State) Release() {
	if s.lock == nil {
		return
	}
	if s.unwritten {
		os.Remove(s.path)
	}
	s.lock.Close()
	s.lock = nil
}

// write replaces the file. The new one is locked before others see it.
func (s *State) write(data []byte) error {
	file, err := tempfile.Create(s.path)
	if err != nil {
		return err
	}
	if err = file.Chmod(0o600); err == nil {
		_, err = file.Write(data)
	}
	if err == nil {
		err = Lock(file.File)
	}
	if err == nil && !locks {
		s.lock.Close()
		err = file.Close()
	}
	if err == nil {
		err = tempfile.Rename(file)
	}
	if err != nil {
		file.Remove()
		return err
	}
	s.unwritten = false
	if s.lock != nil {
		s.lock.Close()
	}
	s.lock = file.File
	return nil
}

// Load takes up the state. Call it when the follower has all inputs, before Run.
func (m *Merger) Load(f *follow.Follower) error {
	if !m.options.State.Kept() {
		return nil
	}
	s := &m.options.State.last
	m.fan.keeps = true
	m.clock.previousRunUntil = s.Done
	m.neededAfter = s.Done
	m.mergedAfter = s.Done
	if s.File != nil {
		m.mergedAfter = s.File.Since
	}
	if err := m.readParts(f); err != nil {
		return err
	}
	if len(s.Logs) > 0 {
		m.search = m.clock.Join(m.options.now(), nil)
		m.search.again = true
		m.search.Stop()
	}
	m.resumeOutputs(f)
	m.clock.completeUntil = m.neededAfter
	m.clock.handedUntil = m.neededAfter
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
	past := s.File != nil && s.File.Size <= m.options.mostPast && slices.ContainsFunc(m.fan.Outputs, isFile)
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
		case past && m.mergedAfter <= has:
			o.Past = true
		default:
			o.done = has
			m.neededAfter = min(m.neededAfter, has)
			if lacks && areGone {
				m.options.Messages.Notice(o.Key + ": rows may be missing: some logs are gone, and no merged log has them")
			}
		}
	}
}

// save writes a state.
func (m *Merger) save() error {
	begin := time.Now()
	state := m.options.State
	s := saved{
		Version:   stateVersion,
		Command:   stateCommand,
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
			p.Since = m.mergedAfter
			s.File = &p
		}
		return err
	})
	state.waits = err != nil
	if err == nil {
		m.settle(least, s.Done)
		s.Logs = m.follower.Marks()
		if s.Done < m.held.end {
			s.Held = m.held.logs
		} else if len(m.held.logs) > 0 {
			m.follower.Settle(m.held.logs, s.Done)
			m.held.logs = nil
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

// save writes a state.
func (s *State) save(state saved) error {
	line, err := json.Marshal(&state)
	if err == nil {
		err = s.write(fmt.Appendf(nil, "%s\n%s\n", line, hashOf(line)))
	}
	s.written = state
	return err
}

// saveParts notes that open windows stand behind the merged log. If lines are left that were to be
// read again, these windows lack them, unless they come from such windows.
func (m *Merger) saveParts() error {
	state := m.options.State
	held := slices.Clone(m.held.logs)
	for _, in := range m.inputs {
		for _, p := range in.positions {
			if p.hasUnreadNeededLines() {
				held = append(held, p.earlier.Path)
			}
		}
		if again, _ := in.source.Again(1); again {
			return nil
		}
	}
	if state.written.File == nil || !state.HasParts() && (m.search != nil || len(held) > 0) {
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

// IsFull reports whether an error says that a disk is full, or a quota reached.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// trySave writes a state, and gives held outputs what it has. If a disk is full, they get that all
// the same, and the next try comes soon.
func (m *Merger) trySave() error {
	before, waited := m.options.State.full, m.options.State.waits
	err := m.save()
	if full := m.options.State.full; full {
		if !before && !m.options.State.waits {
			m.options.Messages.Notice(fmt.Sprintf("no state can be written: %v; trying again", err))
		}
		err = nil
	} else if before && !waited {
		m.options.Messages.Notice("states are written again")
	}
	return cmp.Or(err, m.fan.giveHeld())
}
