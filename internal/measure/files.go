package measure

import (
	"bytes"
	"io"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
)

// Files are measurements at rest, which can be read again. None of their rows is late, whatever
// their order is: the first reading finds how long intervals have to stay open. If that is longer
// than Late, the second one keeps them open as long.
type Files struct {
	Recording
	// Open opens them at their beginnings.
	Open func() ([]*Reader, io.Closer, error)
	// Room is where the log of the first reading waits for its end. If it is too long, it is made
	// again.
	Room *Room

	mu            sync.Mutex
	first         *Recorder      // the recorder of the first reading, nil before it
	firstLog      []byte         // the log of the first reading, nil if it is of no use
	reportedLines map[string]int // lines of each file that the first reading has reported
}

// Log returns the log. The first call reads the files to their ends.
func (f *Files) Log() (*Text, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		if err := f.readFirst(); err != nil {
			return nil, err
		}
	}
	if f.firstLog != nil {
		return &Text{Recorder: f.first, Closer: io.NopCloser(nil), log: *bytes.NewBuffer(f.firstLog)}, nil
	}
	readers, closer, err := f.Open()
	if err != nil {
		return nil, err
	}
	again := f.Recording
	again.Report = f.reportNew
	again.OnEnd = nil
	t := NewText(again, readers)
	t.keepsLate = true
	t.options.Late = f.first.neededLate
	t.Closer = closer
	return t, nil
}

// LookBack returns the least Late for which no row comes after its interval.
func (f *Files) NeededLate() (milliseconds int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		err = f.readFirst()
	}
	if err != nil {
		return 0, err
	}
	return f.first.neededLate, nil
}

// look reads the files for the first time. It makes their log, as long as that has room and every
// row comes before its interval is written.
func (f *Files) readFirst() error {
	readers, closer, err := f.Open()
	if err != nil {
		return err
	}
	defer closer.Close()
	t := NewText(f.Recording, readers)
	t.keepsLate = true
	held := 0
	for t.more {
		if err := t.advance(); err != nil {
			return err
		}
		if t.discarding {
			continue
		}
		if !t.intervals.reopened && f.Room.reserve(t.log.Len()-held) {
			held = t.log.Len()
			continue
		}
		f.Room.reserve(-held)
		t.log = bytes.Buffer{}
		t.stopRecording()
	}
	f.first = t.Recorder
	if !t.discarding {
		f.firstLog = t.log.Bytes()
	}
	f.reportedLines = make(map[string]int)
	for _, reader := range readers {
		f.reportedLines[reader.Name()] = reader.splitter.line
	}
	return nil
}

// reportNew reports what the first reading has not seen: the file has changed.
func (f *Files) reportNew(err *hdrlog.SyntaxError) error {
	if err.Line <= f.reportedLines[err.File] {
		return nil
	}
	return f.Report(err)
}

// A Room is memory for the logs of several [Files]. It is safe for concurrent use. A nil Room has
// no place.
type Room struct {
	mu      sync.Mutex
	left    int // bytes
	account *ledger.Account
}

// NewRoom returns a room that is charged to memory.
func NewRoom(memory *ledger.Ledger) *Room {
	return &Room{
		left:    memory.AtMost(64<<20, 8),
		account: memory.Open("logs of measurements", "give fewer at a time"),
	}
}

// take takes bytes, or gives a negative number of them back. It reports whether there were as many.
func (r *Room) reserve(bytes int) bool {
	if r == nil {
		return bytes <= 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > r.left {
		return false
	}
	if r.account.Add(0, bytes) != nil {
		r.account.Add(0, -bytes)
		return false
	}
	r.left -= bytes
	return true
}
