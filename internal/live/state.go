package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"syscall"
	"time"

	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/live/follow"
)

// A State is the file of -state, which is locked, and what the run before has stored there: how far
// its logs and outputs were. The zero value stores nothing.
type State struct {
	path  string
	lock  *os.File // the file, which no other command may use
	isNew bool     // the file has no state of a run; Release removes it

	previous    savedState // of the run before
	openWindows []byte     // windows that were open at the end of the run before, as a log
}

// A savedState is the content of the file: a line of JSON, and a line with its hash.
type savedState struct {
	Version int
	Command string
	Size    int64         // of the windows in milliseconds
	From    int64         // see Options
	Done    int64         // windows that end at or before this time were handed out
	File    *FilePosition // of the merged log
	// OpenEnd is set after a clean stop: the end of the open windows in the merged log.
	OpenEnd   *FilePosition    `json:"Parts,omitempty"`
	GoneLogs  []string         `json:"Held,omitempty"` // see goneLogs
	Receivers map[string]int64 // end of the last window that need not be sent, see Receiver.SentUntil
	Logs      []follow.Mark
}

// stateVersion and stateCommand are in each state, to refuse states of other versions and commands.
const (
	stateVersion = 12
	stateCommand = "hdrlive"
)

// ErrUsed is the error for a file that another command uses.
var ErrUsed = errors.New("another command that runs uses it; give each command a file of its own")

// maxState is the number of bytes of the largest state.
const maxState = 256 << 20

// maxAway is how far a time in a state may lie in the future, because the clock of this machine
// may have been set back.
const maxAway = 24 * time.Hour

// OpenState opens the file of a state, which may not exist yet. Size is the size of the windows in
// milliseconds. From is [Options.From]. If the file has a state, OpenState replaces from by the
// value there.
func OpenState(path string, size int64, from *int64) (*State, error) {
	s := &State{path: path, previous: savedState{Size: size, From: *from, Done: never}}
	if err := s.hold(); err != nil {
		return nil, err
	}
	tempfile.RemoveOld(path)
	if s.isNew { // after a crash before the first window, the next run needs From
		if err := s.save(s.previous); err != nil && !IsFull(err) {
			s.Release()
			return nil, err
		}
		s.isNew = true
		return s, nil
	}
	if err := s.read(size); err != nil {
		s.Release()
		return nil, fmt.Errorf("%s: %w; remove it and the file of -of to begin anew, or name others", path, err)
	}
	*from = s.previous.From
	return s, nil
}

func (s *State) read(size int64) error {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	line, hash, _ := bytes.Cut(text, []byte{'\n'})
	l := &s.previous
	*l = savedState{}
	damage := json.Unmarshal(line, l)
	if damage != nil && !bytes.HasPrefix(line, []byte(`{"Version":`)) {
		return fmt.Errorf("it is no state of hdrlive: %w", damage)
	}
	length := func(size int64) time.Duration { return time.Duration(size) * time.Millisecond }
	far := time.Now().Add(maxAway + length(size)).UnixMilli()
	end := max(l.From, l.Done)
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
		return fmt.Errorf("its windows are %v long, not %v", length(l.Size), length(size))
	case end > far:
		return fmt.Errorf("it ends at %s: is the clock of this machine right?", time.UnixMilli(end).UTC().Format(time.RFC3339))
	}
	return nil
}

// hashOf returns the hash of a text, in hexadecimal.
func hashOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return hex.AppendEncode(nil, sum[:])
}

// Marks returns the marks for [follow.Options]. A later run may find a log that this run does not
// find, so each mark says which windows were handed out with its lines.
func (s *State) Marks() []follow.Mark {
	marks := slices.Clone(s.previous.Logs)
	for n := range marks {
		a := &marks[n].Again
		if s.HasOpenWindows() {
			a.ReadBack = math.MaxInt
			switch {
			case slices.Contains(s.previous.GoneLogs, marks[n].Path):
				a.Missed = nil
			case len(a.Missed) > 0: // the last run did not read these lines
				a.ReadBack = a.Missed[0].From
			}
		}
		if a.From > 0 && (len(a.Missed) == 0 || a.From < a.Missed[0].From) {
			a.Missed = slices.Insert(slices.Clone(a.Missed), 0, follow.Missed{From: a.From, Done: s.previous.Done})
		}
	}
	return marks
}

// File returns the position of the merged log at the end of the last run, nil if that run wrote no
// such log.
func (s *State) File() *FilePosition { return s.previous.File }

// OpenWindowsEnd returns the end of the open windows that the last run wrote to the merged log, nil
// if that run did not stop cleanly.
func (s *State) OpenWindowsEnd() *FilePosition { return s.previous.OpenEnd }

// TakeOpenWindows receives these open windows, as a log. They are merged into the windows of this
// run, so no lines need be read again for them.
func (s *State) TakeOpenWindows(log []byte) { s.openWindows = log }

// HasOpenWindows reports whether there are such windows.
func (s *State) HasOpenWindows() bool { return len(s.openWindows) > 0 }

// Kept reports whether the state is stored in a file.
func (s *State) Kept() bool { return s.path != "" }

// hold locks the file, and creates it if it does not exist.
func (s *State) hold() error {
	for {
		info, err := os.Stat(s.path) // before OpenFile, which would wait for the writer of a named pipe
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no regular file", s.path)
		case info.Size() > maxState:
			return fmt.Errorf("%s has %d bytes, which no state has", s.path, info.Size())
		}
		file, err := os.OpenFile(s.path, os.O_RDONLY|os.O_CREATE, 0o600) // private, because it has names of logs
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
			s.isNew = held.Size() == 0
			return nil
		}
		file.Close() // another command has just replaced the file
	}
}

// Release unlocks the file. It removes a file that was never written.
func (s *State) Release() {
	if s.lock == nil {
		return
	}
	if s.isNew {
		os.Remove(s.path)
	}
	s.lock.Close()
	s.lock = nil
}

// write replaces the file. The new file is locked before it gets the name.
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
	s.isNew = false
	if s.lock != nil {
		s.lock.Close()
	}
	s.lock = file.File
	return nil
}

// save writes a state to the file.
func (s *State) save(state savedState) error {
	state.Version = stateVersion
	state.Command = stateCommand
	line, err := json.Marshal(&state)
	if err == nil {
		err = s.write(fmt.Appendf(nil, "%s\n%s\n", line, hashOf(line)))
	}
	return err
}

// IsFull reports whether an error says that a disk is full or a quota is exceeded.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
