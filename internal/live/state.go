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
	"hdrkit/internal/scan"
)

// A Saver is a sink that a state file covers, see [Options].
type Saver interface {
	Sink
	// Save returns what the sink needs to go on after all that it has received. Arrived reports
	// whether all of that is where it stays: on the disk, or at the receiver.
	Save() (own []byte, arrived func() bool, err error)
	// Saved is called when what Save returned last is on the disk.
	Saved() error
	// Load takes what Save returned in an earlier run, nil if there was none.
	Load(own []byte) error
}

// saveTime is the time between two states.
const saveTime = 250 * time.Millisecond

// lastSave is the time that the last state waits for its rows to arrive.
const lastSave = 5 * time.Second

// A state is what a state file has, as JSON.
type state struct {
	Version int
	Command string
	Size    int64   // of the windows
	Done    int64   // windows that end at or before this were handed on
	Now     float64 `json:",omitempty"` // what -from now was, in seconds since the epoch
	Windows []savedWindow
	Kinds   map[string]kind
	Logs    []follow.Mark
	Sink    []byte
}

// A savedWindow is an open window.
type savedWindow struct {
	Tag      []byte
	Tagged   bool
	LogStart float64
	Sum      []byte // see [merge.Sum.AppendBinary]
	Covered  merge.Covered
}

const stateVersion = 3

// saving is how far the states of a merger are.
type saving struct {
	every   time.Duration // between two states, at least
	share   time.Duration // the time between two states is so many times what one takes, at least
	took    time.Duration // what the last one took
	at      time.Time     // of the last state
	changed bool          // something was received since
	data    []byte        // of the state that waits to be written, nil if none does
	arrived func() bool
	lock    *os.File // the state on the disk, which no other command may use meanwhile
}

// errUsed is the error for a state that another command uses.
var errUsed = errors.New("another command that runs uses it; give each command a state of its own")

// due returns the time until a state is due. A large one, such as that of many open windows, is
// written less often.
func (s *saving) due() time.Duration {
	return max(s.every, s.share*s.took) - time.Since(s.at)
}

// hold locks the state on the disk, if there is one.
func (s *saving) hold(path string) error {
	for {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := lock(file); err != nil {
			file.Close()
			return fmt.Errorf("%s: %w", path, err)
		}
		own, err := file.Stat()
		if now, stat := os.Stat(path); err == nil && stat == nil && os.SameFile(now, own) {
			s.lock = file
			return nil
		}
		file.Close() // it was just replaced
	}
}

func (s *saving) release() {
	if s.lock != nil {
		s.lock.Close()
		s.lock = nil
	}
}

// Load takes up the state of a file, if it exists. It returns the marks for [follow.Options]. Call
// it before Run.
func (m *Merger) Load() ([]follow.Mark, error) {
	sink := m.sink.(Saver)
	err := m.saving.hold(m.options.State)
	if errors.Is(err, fs.ErrNotExist) {
		if err := sink.Load(nil); err != nil {
			return nil, err
		}
		if err := m.snapshot(); err != nil { // also a crash before the first window leaves a state
			return nil, err
		}
		return nil, m.save()
	}
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(m.options.State)
	if err != nil {
		return nil, err
	}
	var s state
	broken := func(err error) error { return fmt.Errorf("%s is no state of this command: %w", m.options.State, err) }
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, broken(err)
	}
	switch {
	case s.Version != stateVersion:
		return nil, broken(fmt.Errorf("it has version %d, not %d", s.Version, stateVersion))
	case s.Command != m.options.Command:
		return nil, broken(fmt.Errorf("%s wrote it", s.Command))
	case s.Size != m.options.Size:
		return nil, broken(fmt.Errorf("its windows are %v long, not %v", time.Duration(s.Size)*time.Millisecond, time.Duration(m.options.Size)*time.Millisecond))
	}
	for _, w := range s.Windows {
		saved := merge.Merged{Tag: w.Tag, LogStart: w.LogStart, Covered: w.Covered}
		if err := saved.Sum.UnmarshalBinary(w.Sum); err != nil {
			return nil, broken(err)
		}
		if w.Tagged && w.Tag == nil {
			saved.Tag = []byte{}
		}
		if err := m.live.Restore(&saved); err != nil {
			return nil, broken(err)
		}
	}
	m.live.Resume(s.Done)
	if from := m.options.Selection.Range.From; from != nil && from.Origin == scan.Now && s.Now != 0 {
		from.Seconds = s.Now
	}
	for key, k := range s.Kinds {
		m.kinds[key] = k
	}
	return s.Logs, sink.Load(s.Sink)
}

// save takes a state if it is time, and writes it when all that it covers has arrived.
func (m *Merger) save() error {
	if m.options.State == "" {
		return nil
	}
	if m.saving.data == nil && m.saving.changed && m.saving.due() <= 0 {
		if err := m.snapshot(); err != nil {
			return err
		}
	}
	if m.saving.data == nil || !m.saving.arrived() {
		return nil
	}
	begin := time.Now()
	if err := m.saving.write(m.options.State); err != nil {
		return err
	}
	m.saving.took += time.Since(begin)
	m.saving.data = nil
	return m.sink.(Saver).Saved()
}

// saveLast writes a state of all. If that does not arrive, the state before stays.
func (m *Merger) saveLast() error {
	if m.options.State == "" {
		return nil
	}
	if err := m.snapshot(); err != nil {
		return err
	}
	for end := time.Now().Add(lastSave); m.saving.data != nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err := m.save(); err != nil {
			return err
		}
	}
	if m.saving.data != nil {
		m.sink.Notice("the last rows have not arrived; the state is that of before, and the next start sends them again")
	}
	return nil
}

// saveSoon returns the time until the next look at the state, and whether one is needed.
func (m *Merger) saveSoon() (time.Duration, bool) {
	switch {
	case m.options.State == "":
	case m.saving.data != nil:
		return m.saving.every / 10, true
	case m.saving.changed:
		return max(m.saving.due(), 0), true
	}
	return 0, false
}

func (m *Merger) snapshot() error {
	begin := time.Now()
	s := state{Version: stateVersion, Command: m.options.Command, Size: m.options.Size, Kinds: m.kinds}
	if from := m.options.Selection.Range.From; from != nil && from.Origin == scan.Now {
		s.Now = from.Seconds
	}
	done, open := m.live.State()
	s.Done = done
	for w := range open {
		sum, err := w.AppendBinary(nil)
		if err != nil {
			return err
		}
		s.Windows = append(s.Windows, savedWindow{w.Tag, w.Tag != nil, w.LogStart, sum, w.Covered})
	}
	var marks []follow.Mark
	for _, in := range m.inputs {
		for _, g := range in.files {
			if mark := g.mark(); mark.Path != "" { // a pipe has none
				marks = append(marks, mark)
			}
		}
		in.files = in.files[max(len(in.files)-1, 0):]
	}
	for _, open := range []bool{false, true} { // a file that is read may have the inode of a deleted one
		for _, mark := range marks {
			if mark.Open == open {
				m.follower.SetMark(mark)
			}
		}
	}
	if m.follower != nil {
		s.Logs = m.follower.Marks()
	}
	own, arrived, err := m.sink.(Saver).Save()
	if err != nil {
		return err
	}
	s.Sink = own
	m.saving.arrived, m.saving.changed, m.saving.at = arrived, false, time.Now()
	m.saving.data, err = json.Marshal(&s)
	m.saving.took = time.Since(begin)
	return err
}

// write replaces the state on the disk. The new one is locked before others see it.
func (s *saving) write(path string) error {
	file, err := tempfile.Beside(path)
	if err != nil {
		return err
	}
	defer tempfile.Remove(file.Name())
	if _, err = file.Write(s.data); err == nil {
		err = lock(file)
	}
	if err == nil {
		err = tempfile.Rename(tempfile.Move{From: file.Name(), To: path})
	}
	if err != nil {
		file.Close()
		return tempfile.Blame(err, path)
	}
	s.release()
	s.lock = file
	return nil
}

// A file is one that an input reads, and how far.
type file struct {
	log    *follow.Log
	line   int    // the last one that was taken
	header []byte // the comments that hold for later lines
	done   bool   // another one came after it
}

func (g *file) mark() follow.Mark {
	mark := g.log.Mark()
	mark.Line, mark.Header, mark.Done = g.line, g.header, g.done
	mark.Over = mark.Over && g.line == mark.Lines
	return mark
}

// took says that the lines of a file were taken, up to one.
func (in *input) took(g *file, line int, header []byte) {
	if len(in.files) == 0 || in.files[len(in.files)-1] != g {
		for _, before := range in.files {
			before.done = true
		}
		in.files = append(in.files, g)
	}
	g.line, g.header = max(g.line, line), header
}

// mostHeader is the number of bytes of comments that a state keeps of a log.
const mostHeader = 8 << 10

// A heading is the comments that hold for the next log of an input, if it has no times of its own.
type heading struct {
	kept, own []byte
	begun     bool // the log has an interval
	timed     bool // own has a time
}

func (h *heading) begin() { h.own, h.begun, h.timed = nil, false, false }

func (h *heading) see(r *hdrlog.Record) {
	switch {
	case h.begun:
	case r.Kind == hdrlog.IntervalRecord:
		if h.begun = true; h.timed {
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

// passing makes an item of a line that was taken in an earlier run: it only shows how far the log
// is.
func (m *Merger) passing(i *item, interval *hdrlog.Interval, source *follow.Input) {
	i.interval, i.passed = true, true
	i.start, i.end = interval.StartMillis(), max(interval.StartMillis(), interval.EndMillis())
	tag := m.options.Tag(source, interval.Tag)
	interval.Tag = tag
	i.wanted = m.options.Selection.Keeps(interval, 0)
	i.tag = bytes.Clone(m.options.By.Row(source.Name(), tag))
}

// A kind is what the intervals of a tag have in common, so that they all add up.
type kind struct {
	scan.Extent        // the smallest ratio, and the highest value
	First       string // the place of the first interval
}
