package measure

import (
	"bytes"
	"io"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
)

// Files are files with measurements, which can be read twice, unlike pipes. None of their rows is
// late, in whatever order they are: the first reading finds how long intervals must stay open. If
// that is longer than Late, the second reading keeps intervals open that long.
type Files struct {
	Recording
	// Open opens the files at their beginnings.
	Open func() ([]*Reader, io.Closer, error)
	// Budget has memory for the log that the first reading makes. If the log does not fit, the
	// second reading makes it again.
	Budget *LogBudget

	mu            sync.Mutex
	first         *Recorder      // recorder of the first reading, nil before it
	firstLog      []byte         // the log of the first reading, nil if a second reading must make it
	reportedLines map[string]int // by file, the last line for which the first reading has reported errors
}

// Log returns the log of the files. The first call reads the files to their ends.
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

// NeededLate returns the least [Recording.Late] with which all intervals stay open for all their
// rows.
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

// readFirst reads the files for the first time. It keeps their log as long as the budget allows and
// every row comes before its interval is written.
func (f *Files) readFirst() error {
	readers, closer, err := f.Open()
	if err != nil {
		return err
	}
	defer closer.Close()
	t := NewText(f.Recording, readers)
	t.keepsLate = true
	held := 0
	for t.hasMore {
		if err := t.advance(); err != nil {
			return err
		}
		if t.discarding {
			continue
		}
		if !t.intervals.reopened && f.Budget.reserve(t.log.Len()-held) {
			held = t.log.Len()
			continue
		}
		f.Budget.reserve(-held)
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

// reportNew reports errors of lines that the first reading did not see, since the file has grown.
func (f *Files) reportNew(err *hdrlog.SyntaxError) error {
	if err.Line <= f.reportedLines[err.File] {
		return nil
	}
	return f.Report(err)
}

// A LogBudget is a budget of memory for the logs of several [Files]. It is safe for concurrent use.
// A nil Room has no memory.
type LogBudget struct {
	mu      sync.Mutex
	left    int // bytes
	account *ledger.Account
}

// NewLogBudget returns a budget that is charged to memory.
func NewLogBudget(memory *ledger.Ledger) *LogBudget {
	return &LogBudget{
		left:    memory.AtMost(64<<20, 8),
		account: memory.Open("logs of measurements", "give fewer at a time"),
	}
}

// reserve takes bytes from the budget, or gives them back if their number is negative. It reports
// whether the budget was large enough.
func (r *LogBudget) reserve(bytes int) bool {
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
