// Package follow reads logs while other programs write and rotate them.
//
// A [Log] is a text. Several files may have this text, in whole or in part: the log itself, a
// renamed log, a copy, a compressed copy. These files are the sources of the log. One number says
// how much of the text was read, and any source can give the rest. Device and inode do not decide
// to which log a file belongs. The follower uses them only to recognize a file that it has
// compared.
//
// A [Follower] looks at names several times a second. Each name of a log is an [Input]. An input
// gives one log after another, because rotation puts new logs under the same name. At the end of a
// log, reading waits for more text.
//
// # Whose text a file has
//
// Rotation adds numbers, dates and endings to a name. The rest of the name is its base. The
// follower compares a file with the logs whose names have the same base. It compares the text of
// the file with another file of the log. If the log has no other file, it compares hashes of the
// first and the last lines that were read. The relation of the texts decides:
//
//   - differs: A byte that both have differs. The file does not belong to this log. A file that
//     belongs to no log begins a new log.
//   - equal: The file is a copy of the log.
//   - shorter: The file may become a copy, or another log that begins alike. It waits for more.
//   - longer: The file has all of the log, and more. If another file of the log still has a name,
//     the longer file is another log that begins alike. Otherwise the log goes on in that file.
//
// # Who decides
//
// One goroutine, the looker, looks at names. Only the looker decides to which log a file belongs,
// and from which file a log is read. Each input has a goroutine that reads. Four rules hold:
//
//   - Only the reader of a log advances the log, and only while the reader has a file.
//   - The looker gives a file to a reader without a file, if the file has all the text that was
//     read. So no line is left out, and no line is read twice.
//   - Bytes that were read count only if the reader still has the file after the read, and the file
//     still begins with the same bytes. Otherwise the file has another text now, and the reader
//     gives the file back.
//   - A file is a source of one log, and one input reads a log.
//
// Files, logs and names each have a state, see fileState, logState and nameState.
//
// A mutex guards what the looker and the readers share. No goroutine reads a file while it holds
// the mutex.
//
// The follower polls names. The notifications of operating systems are not reliable when logs are
// rotated, or lie on network file systems.
package follow

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hdrkit/internal/base/message"
)

// ErrStopped is the error of [Log.Read] after [Follower.Stop] or [Follower.Abort].
var ErrStopped = errors.New("reading was stopped")

// ErrGone is the error of [Input.Next] for a file that matched a pattern, was read to its end, and
// has had no name for [Options.CloseAfter]. If the file comes back, it becomes a new input.
var ErrGone = errors.New("the file is gone")

// NoPosition says why a pipe cannot be read with [Options.Continues]. It follows the path of the
// pipe in a message.
const NoPosition = "is no file, so no position in it can be kept; it is not read"

// Default values of the durations in [Options].
const (
	DefaultPoll       = 75 * time.Millisecond
	DefaultRescan     = time.Second
	DefaultCloseAfter = time.Minute
)

// reserved is the number of file descriptors that the follower leaves to the rest of the program.
const reserved = 64

// Options say how to follow files. The zero value works.
type Options struct {
	// Poll is the time between two looks at the names of inputs.
	Poll time.Duration
	// Rescan is the time between two scans of folders for new names.
	Rescan time.Duration
	// CloseAfter is the time after which a file without a name is closed, once it was read to its
	// end. It was deleted, or its new name matches no pattern.
	CloseAfter time.Duration
	// MaxFiles is the number of files that may be open at once, 0 for what the system allows.
	MaxFiles int64
	// Marks are what [Follower.Marks] returned in an earlier run. Lines before a mark are not read
	// again, unless the mark says so ([Again]).
	Marks []Mark
	// Continues says that a later run goes on reading. Then a stop does not end a log: it stays
	// open for the later run.
	Continues bool
	// HasOpenWindows says that the caller has the windows that were open at the end of the earlier
	// run. They contain the lines that the marks say to read again.
	HasOpenWindows bool
	// Notice, if set, receives messages about an input, such as "was truncated". Several goroutines
	// may call Notice at once. Notice must not call the follower, whose mutex may be locked.
	Notice func(input, text string)
	// Lost, if set, receives messages about lines that are missing. Otherwise Notice receives them.
	Lost func(input, text string)
	// Excluded, if set, is a file that no pattern may find, such as the output of the command.
	Excluded fs.FileInfo
	// BeforeAccess, if set, is called before each access to a file. Tests change files there.
	BeforeAccess func()
}

// A Follower follows files. One goroutine adds the files and starts the follower. After that, its
// methods are safe for concurrent use.
type Follower struct {
	options   Options
	onFound   func(*Input) // receives inputs, nil before Start
	looker    looker
	openCount atomic.Int64 // open files
	serial    bool         // a test runs one goroutine at a time, see Options.BeforeAccess

	mu      sync.Mutex
	phase   phase
	inputs  []*Input
	inputOf map[string]*Input       // by path
	logs    []*Log                  // in order of their first files
	sources map[[2]uint64][]*source // by device and inode
	// unreadable has, by path of a folder, why the folder cannot be read.
	unreadable map[string]string
	scans      int // of folders so far
}

// A looker is what only the goroutine uses that looks at names.
type looker struct {
	stop       chan struct{} // closed at the end of the looks
	stopOnce   sync.Once     // closes stop
	polling    sync.WaitGroup
	patterns   []*pattern
	namedPipes map[string]bool   // by path: pipes that match a pattern, and that a message has named
	buffers    [2][64 << 10]byte // for comparing two texts
}

// A pattern matches names of files in folders. The command line can have several.
type pattern struct {
	folder  string
	matches func(name string) bool
	each    func(*Input)
}

// leftover is a pattern that matches no name. The search for logs of an earlier run uses it: a file
// that belongs to none of these logs begins no new log.
var leftover = &pattern{matches: func(string) bool { return false }}

// A phase says how far reading goes.
type phase int

const (
	following phase = iota
	stopping        // files are read to their present ends, pipes to their ends
	aborted         // nothing more is read
)

// New returns a follower without inputs. Add inputs, then call Start.
func New(o Options) *Follower {
	o.Poll = cmp.Or(o.Poll, DefaultPoll)
	o.Rescan = cmp.Or(o.Rescan, DefaultRescan)
	o.CloseAfter = cmp.Or(o.CloseAfter, DefaultCloseAfter)
	if o.MaxFiles <= 0 {
		o.MaxFiles = openFiles()
		o.MaxFiles -= min(reserved, o.MaxFiles/2)
	}
	if o.Notice == nil {
		o.Notice = func(string, string) {}
	}
	if o.Lost == nil {
		o.Lost = o.Notice
	}
	f := &Follower{
		options: o,
		looker: looker{
			stop:       make(chan struct{}),
			namedPipes: make(map[string]bool),
		},
		inputOf:    make(map[string]*Input),
		unreadable: make(map[string]string),
		sources:    make(map[[2]uint64][]*source),
	}
	for n := range o.Marks {
		f.logs = append(f.logs, f.resume(&o.Marks[n]))
	}
	for _, l := range f.logs { // a file that still has its name and its text is the log
		f.beforeAccess()
		if info, err := os.Stat(l.path); err == nil && info.Mode().IsRegular() {
			if s, _ := f.find(l.path, info, nil); s != nil {
				f.closeFile(s) // there may be more logs than the system allows open files
			}
		}
	}
	return f
}

// AddFile adds the file at path, which may not exist yet. It returns nil if another input already
// follows the same file. If path is a named pipe, the input ends when the writer closes the pipe.
func (f *Follower) AddFile(path string) *Input {
	if f.inputOf[path] != nil {
		return nil
	}
	f.beforeAccess()
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return f.addPipe(path)
	}
	if err == nil {
		if s := f.known(info); s != nil && s.log.in != nil {
			return nil
		}
	}
	in := f.insert(&Input{name: path, path: path})
	var news message.Group
	in.look(&news)
	news.Say(f.options.Notice)
	return in
}

// addPipe adds a named pipe or a device, which is read from its start to its end once.
func (f *Follower) addPipe(path string) *Input {
	return f.insert(&Input{
		name: path,
		path: path,
		pipe: &pipe{open: func() (io.Reader, error) { return os.Open(path) }},
	})
}

// AddReader adds a stream, such as standard input. The input ends at the end of r.
func (f *Follower) AddReader(name string, r io.Reader) *Input {
	return f.insert(&Input{
		name: name,
		pipe: &pipe{open: func() (io.Reader, error) { return r, nil }},
	})
}

// AddMatching adds the files in folder whose name matches, now and whenever a new one appears. See
// [scan.Folders] for patterns in folder. It returns the number of inputs that it added now. If each
// is not nil, it is called for every new input before the input is handed over. It must not call
// the follower.
func (f *Follower) AddMatching(folder string, matches func(name string) bool, each func(*Input)) int {
	f.looker.patterns = append(f.looker.patterns, &pattern{folder, matches, each})
	before := len(f.inputs)
	f.match()
	return len(f.inputs) - before
}

// Start starts following. The function found receives the inputs so far, and later each new input
// that a pattern matches, until [Follower.Stop]. The function looked is called after each look at
// all files, with the time when this look began: found has received every input that was there at
// that time. Neither function may call the follower. Start reports whether there are patterns.
func (f *Follower) Start(found func(*Input), looked func(at time.Time)) (matches bool) {
	f.handOverInputs(found)
	f.looker.polling.Go(func() { f.poll(looked) })
	return len(f.looker.patterns) > 0
}

// handOverInputs passes all inputs to found, after a search for logs of an earlier run. The logs of
// an input are in the order of the marks.
func (f *Follower) handOverInputs(found func(*Input)) {
	f.search()
	f.onFound = found
	for _, in := range f.inputs {
		slices.SortFunc(in.logs, func(a, b *Log) int {
			return slices.Index(f.logs, a) - slices.Index(f.logs, b)
		})
		found(in)
	}
}

// beforeAccess is called before each access to a file. A test changes files there.
func (f *Follower) beforeAccess() {
	if f.options.BeforeAccess != nil {
		f.options.BeforeAccess()
	}
}

// Stop ends following: each file is read to its present end, and each pipe to its end. If no later
// run continues, Stop looks once more, so that lines since the last look are read, too.
func (f *Follower) Stop() {
	if !f.options.Continues {
		f.endLooks() // now this goroutine is the looker
		f.match()
		f.lookAtInputs()
	}
	f.enter(stopping)
}

// endLooks ends the goroutine that [Follower.Start] started, and waits for its end.
func (f *Follower) endLooks() {
	f.looker.stopOnce.Do(func() { close(f.looker.stop) })
	f.looker.polling.Wait()
}

// Abort ends reading at once.
func (f *Follower) Abort() { f.enter(aborted) }

// enter begins a phase in all inputs. A phase that is over does not come back.
func (f *Follower) enter(p phase) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.phase = max(f.phase, p)
	for _, in := range f.inputs {
		in.enter(f.phase)
	}
}

// Close aborts reading and closes the files. Read no log after Close.
func (f *Follower) Close() {
	f.Abort()
	f.endLooks()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range f.inputs {
		if in.path != "" && in.pipe != nil && in.pipe.file() != nil {
			in.pipe.file().Close()
		}
	}
	for _, files := range f.sources {
		for _, s := range files {
			if s.file != nil {
				s.file.Close()
				s.file = nil
			}
		}
	}
}

// errFiles is the error for a file that would exceed [Options.MaxFiles].
var errFiles = errors.New("too many files are open")

// open opens a file, unless too many files are open.
func (f *Follower) open(path string) (*os.File, error) {
	if n := f.openCount.Add(1); n > f.options.MaxFiles {
		f.openCount.Add(-1)
		return nil, fmt.Errorf("%w: this machine allows logs only %d; allow more with ulimit -n", errFiles, f.options.MaxFiles)
	}
	f.beforeAccess()
	file, err := os.Open(path)
	if err != nil {
		f.openCount.Add(-1)
	}
	return file, err
}

// insert adds an input to the list of inputs.
func (f *Follower) insert(in *Input) *Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	in.follower = f
	in.phase = f.phase
	in.wake = make(chan struct{}, 1)
	f.inputs = append(f.inputs, in)
	if in.path != "" {
		f.inputOf[in.path] = in
	}
	return in
}

// search looks for files of logs that an earlier run has read and that have other names now. After
// searchScans scans, it reports the logs that it has not found.
func (f *Follower) search() {
	f.mu.Lock()
	looks := f.scans
	var absent []*Log
	for _, l := range f.logs {
		renamed := looks < searchScans && (l.state == sought || l.isReportedGone()) // files may have been renamed since New
		if renamed || l.state == sought && !l.lives() {
			absent = append(absent, l)
		}
	}
	f.mu.Unlock()
	var news message.Group
	listed := make(map[string][]string)
	for _, l := range absent {
		f.searchBeside(l.path, l.base, listed, &news)
		if l.target != "" {
			f.searchBeside(l.target, l.targetBase, listed, &news)
		}
	}
	news.Say(f.options.Notice)
	if looks >= searchScans {
		f.reportGone(absent)
	}
}

// searchScans is the number of scans of folders after a start before a missing log is reported. A
// rotation that is under way may just create the file.
const searchScans = 3

// searchBeside examines the files in the folder of path whose names have a base. It caches the
// names of each folder in listed.
func (f *Follower) searchBeside(path, of string, listed map[string][]string, news *message.Group) {
	folder := filepath.Dir(path)
	if listed[folder] == nil {
		f.beforeAccess()
		listed[folder], _ = list(folder) // files in an unreadable folder count as gone
	}
	for _, other := range listed[folder] {
		if other != path && base(other) == of {
			f.examine(leftover, other, news)
		}
	}
}

// reportGone reports once for each log that its file is gone, and whether lines of the log are
// missing.
func (f *Follower) reportGone(logs []*Log) {
	var missing, rest message.Group
	f.mu.Lock()
	for _, l := range logs {
		switch {
		case !l.isMissing():
			continue
		case !f.options.HasOpenWindows && l.again.Open > 0:
			logChanges.apply(&l.state, lost)
			missing.Add(l.path, "is gone since the state was written; lines that no window has are missing")
		default:
			logChanges.apply(&l.state, gone)
			rest.Add(l.path, "is gone since the state was written; "+
				"what it got after that is missing, if it got anything")
		}
	}
	f.mu.Unlock()
	missing.Say(f.options.Lost)
	rest.Say(f.options.Notice)
}
