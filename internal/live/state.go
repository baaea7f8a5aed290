package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/live/follow"
)

// The time between two states. One that takes long or is large, such as that of many open windows,
// is written less often: states take one of saveShare parts of the time, and saveRate bytes a
// second. But after a crash hdrlive reads again what came after the last state, and rotation
// deletes files. So none waits for more than saveMost.
const (
	saveTime  = 250 * time.Millisecond
	saveShare = 20
	saveRate  = 1 << 20
	saveMost  = 15 * time.Second
)

// A State is a file that has how far a merging is, and its outputs. The zero value keeps nothing.
type State struct {
	path string
	last saved    // what the file had at first
	lock *os.File // the file, which no other command may use meanwhile

	most    time.Duration // between two states
	took    time.Duration // what the last one took
	size    int           // of it
	at      time.Time     // of the last state
	changed bool          // something was received since
}

// A saved state is what the file has, as JSON.
type saved struct {
	Version int
	Command string
	Size    int64 // of the windows
	From    int64 // see [Options]
	Done    int64 // windows that end at or before this were handed on
	Windows []savedWindow
	Rates   merge.Rates
	Joined  int // number of inputs so far
	Kinds   map[string]kind
	Logs    []follow.Mark
	Outputs json.RawMessage // what the sink saved
}

// A savedWindow is an open window.
type savedWindow struct {
	Tag      []byte
	LogStart float64
	Sum      []byte // see [merge.Sum.AppendBinary]
}

// stateVersion and stateCommand tell the states of other versions and commands.
const (
	stateVersion = 8
	stateCommand = "hdrlive"
)

// errUsed is the error for a state that another command uses.
var errUsed = errors.New("another command that runs uses it; give each command a state of its own")

// mostState is the number of bytes that a state may have.
const mostState = 2 << 30

// mostAway is how far a time of a state may lie in the future. The clock of this machine may have
// been set back.
const mostAway = 24 * time.Hour

// OpenState opens the file of a merging with windows of size milliseconds, which may not exist yet,
// and checks it as a whole. From is that of [Options]: that of the file replaces it. Check, if it
// is set, checks what outputs saved, by their keys.
func OpenState(path string, size int64, from *int64, check func(key string, state []byte) error) (*State, error) {
	s := &State{path: path, most: saveMost, last: saved{
		Version: stateVersion,
		Command: stateCommand,
		Size:    size,
		From:    *from,
		Done:    never,
	}}
	err := s.hold()
	if errors.Is(err, fs.ErrNotExist) {
		s.changed = true // also a crash before the first window leaves a state
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	tempfile.RemoveOld(path)
	if err = s.read(size); err == nil {
		if err = s.check(check); err != nil {
			err = fmt.Errorf("it is damaged: %w", err)
		}
	}
	if err != nil {
		s.release()
		return nil, fmt.Errorf("%s: %w; remove it to begin anew, or name another file", path, err)
	}
	*from = s.last.From
	return s, nil
}

func (s *State) read(size int64) error {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	s.last = saved{}
	if err := json.Unmarshal(text, &s.last); err != nil {
		return fmt.Errorf("it is no state of hdrlive: %w", err)
	}
	l := &s.last
	switch {
	case l.Command != stateCommand:
		return fmt.Errorf("it is no state of hdrlive, but of %q", l.Command)
	case l.Version != stateVersion:
		return fmt.Errorf("it has version %d, not %d", l.Version, stateVersion)
	case l.Size != size:
		return fmt.Errorf("its windows are %v long, not %v", time.Duration(l.Size)*time.Millisecond, time.Duration(size)*time.Millisecond)
	}
	return nil
}

// check checks what a state has.
func (s *State) check(output func(key string, state []byte) error) error {
	l := &s.last
	far := time.Now().Add(mostAway + time.Duration(l.Size)*time.Millisecond).UnixMilli()
	if l.From < 0 || l.From > far {
		return fmt.Errorf("it begins at %s", time.UnixMilli(l.From).UTC().Format(time.RFC3339))
	}
	if l.Done > far {
		return fmt.Errorf("its last window ends at %s", time.UnixMilli(l.Done).UTC().Format(time.RFC3339))
	}
	for _, m := range l.Logs {
		if m.Size < 0 || m.Line < 0 {
			return fmt.Errorf("%s has %d bytes and %d lines", m.Path, m.Size, m.Line)
		}
	}
	if err := s.restore(merge.NewWindows(l.Size)); err != nil {
		return err
	}
	if output == nil {
		return nil
	}
	all, err := s.Outputs()
	for key, own := range all {
		if err = output(key, own); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return err
}

// restore adds the open windows to others.
func (s *State) restore(to *merge.Windows) error {
	for _, w := range s.last.Windows {
		var sum merge.Sum
		if err := sum.UnmarshalBinary(w.Sum); err != nil {
			return err
		}
		if sum.Intervals() == 0 { // no program writes one
			return errors.New("a window has no intervals")
		}
		if err := to.Merge(w.Tag, w.LogStart, &sum); err != nil {
			return err
		}
	}
	return nil
}

// Outputs returns what the outputs of a [Fan] saved, by their keys.
func (s *State) Outputs() (all map[string]json.RawMessage, err error) {
	if s.last.Outputs != nil {
		err = json.Unmarshal(s.last.Outputs, &all)
	}
	return all, err
}

// Marks returns the marks for [follow.Options].
func (s *State) Marks() []follow.Mark { return s.last.Logs }

// Kept reports whether there is a file.
func (s *State) Kept() bool { return s.path != "" }

// due returns the time until a state is due, and whether one is needed.
func (s *State) due() (wait time.Duration, ok bool) {
	rate := time.Duration(s.size) * time.Second / saveRate
	return min(max(saveTime, saveShare*s.took, rate), s.most) - time.Since(s.at), s.Kept() && s.changed
}

// hold locks the file, if there is one.
func (s *State) hold() error {
	for {
		info, err := os.Stat(s.path) // to open a named pipe would wait for its writer
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", s.path)
		}
		if info.Size() > mostState {
			return fmt.Errorf("%s has %d bytes, which no state has", s.path, info.Size())
		}
		file, err := os.Open(s.path)
		if err != nil {
			return err
		}
		if err := lock(file); err != nil {
			file.Close()
			return fmt.Errorf("%s: %w", s.path, err)
		}
		held, err := file.Stat()
		if now, stat := os.Stat(s.path); err == nil && stat == nil && os.SameFile(now, held) {
			s.lock = file
			return nil
		}
		file.Close() // it was just replaced
	}
}

func (s *State) release() {
	if s.lock != nil {
		s.lock.Close()
		s.lock = nil
	}
}

// write replaces the file. The new one is locked before others see it.
func (s *State) write(data []byte) error {
	file, err := tempfile.Create(s.path)
	if err != nil {
		return err
	}
	if err = file.Chmod(0o600); err == nil { // rows that wait, and names of logs, are for nobody else
		_, err = file.Write(data)
	}
	if err == nil {
		err = lock(file.File)
	}
	if err == nil {
		err = tempfile.Rename(file)
	}
	if err != nil {
		file.Remove()
		return err
	}
	s.release()
	s.lock = file.File
	return nil
}

// Load takes up the state. Call it before Run, with the options of the follower that has its marks.
func (m *Merger) Load() error {
	s := &m.options.State.last
	if err := m.options.State.restore(m.clock.windows); err != nil {
		return fmt.Errorf("%s is damaged: %w", m.options.State.path, err)
	}
	m.clock.done = s.Done
	m.rates = s.Rates
	m.joined = s.Joined
	for key, k := range s.Kinds {
		m.keep(key, k)
	}
	return nil
}

// save writes a state.
func (m *Merger) save() error {
	begin := time.Now()
	outputs, after, err := m.sink.Save()
	if err != nil {
		return err
	}
	s := saved{
		Version: stateVersion,
		Command: stateCommand,
		Size:    m.options.Size,
		From:    m.options.From,
		Done:    m.clock.done,
		Kinds:   m.kinds,
		Rates:   m.rates,
		Joined:  m.joined,
		Logs:    m.follower.Marks(),
	}
	if s.Outputs, err = json.Marshal(outputs); err != nil {
		return err
	}
	for w := range m.clock.windows.Open() {
		sum, err := w.AppendBinary(nil)
		if err != nil {
			return err
		}
		s.Windows = append(s.Windows, savedWindow{w.Tag, w.LogStart, sum})
	}
	data, err := json.Marshal(&s)
	if err == nil {
		err = m.options.State.write(data)
	}
	if err == nil && after != nil {
		err = after()
	}
	state := m.options.State
	state.changed = false
	state.at = time.Now()
	state.took = time.Since(begin)
	state.size = len(data)
	return err
}

// mostHeader is the number of bytes of comments that a state keeps of a log.
const mostHeader = 8 << 10

// A heading is the comments that hold for the next log of an input, if it has no times of its own.
type heading struct {
	kept, own []byte
	begun     bool // the log has an interval
	timed     bool // own has a time
}

func (h *heading) begin() {
	h.own = nil
	h.begun = false
	h.timed = false
}

func (h *heading) see(r *hdrlog.Record) {
	switch {
	case h.begun:
	case r.Kind == hdrlog.IntervalRecord:
		h.begun = true
		if h.timed {
			h.kept = h.own
		}
	case r.Kind != hdrlog.Malformed && r.Kind != hdrlog.Notice && len(h.own)+len(r.Text) < mostHeader:
		h.own = append(append(h.own, r.Text...), '\n')
		h.timed = h.timed || r.Kind == hdrlog.StartTime || r.Kind == hdrlog.BaseTime
	}
}

// resume returns a reader of the comments of a mark, nil if it has none.
func resume(name string, mark *follow.Mark) *hdrlog.Reader {
	if len(mark.Header) == 0 {
		return nil
	}
	r := hdrlog.NewReader(bytes.NewReader(mark.Header), name)
	for r.Scan() {
	}
	return r
}
