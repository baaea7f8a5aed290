// Package follow reads logs while other programs write and rotate them.
//
// A [Log] is a text. The files that have it are its sources: the log, a renamed log, a copy, a
// compressed copy. They have the same text as far as they go. So one number says how much of it was
// read, and any of them gives the rest. Which device and which inode a file has does not matter.
//
// A [Follower] looks at names several times a second. Each name that stands for a log is an
// [Input], which gives one log after another. A log waits at the end of its text for more.
//
// # Whose text a file has
//
// A file is compared with the logs of whose names rotation can make its name (base). A log is
// another file that has it or, if there is none, hashes of the first and the last lines that were
// read. The relation of the file to the log says what it is:
//
//   - differs: They differ in a byte that both have. The file is not of this log. A file that is
//     of no log begins one.
//   - equal: The file is a copy.
//   - shorter: The file may become a copy, or a log that begins alike. It waits.
//   - longer: If a file with less has a name, the file is another log that begins alike. Else the
//     log goes on in it.
//
// # Who decides
//
// One goroutine, the looker, looks at names. It alone decides whose text a file has, and which file
// the reader of a log has. A goroutine for each input reads. Four things hold:
//
//   - Only the reader of a log adds to what was read of it, and only while it has a file.
//   - The looker gives a file to a reader that has none, if the file begins and ends as what was
//     read. So no line is left out, and none is read twice.
//   - What a reader has read counts if it still has the file then, and the first bytes of the file
//     are still the same. Otherwise the file has another text now, and the reader gives it back.
//   - A file is a source of one log, and one input reads a log.
//
// Of a file, of a log and of a name, one state each says what it is now, see fileState, logState
// and nameState.
//
// The lock guards what both see. Nobody reads a file while he holds it.
//
// The follower polls, because notification is not reliable over rotations and network file systems.
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

// ErrGone is the error of [Input.Next] when a pattern's file was read to its end and is gone for
// long. When the file comes back, it is a new input.
var ErrGone = errors.New("the file is gone")

// NoPosition says why what is no file cannot be read with [Options.Continues].
const NoPosition = "is no file, so no position in it can be kept; it is not read"

// Defaults of [Options].
const (
	DefaultPoll   = 75 * time.Millisecond
	DefaultRescan = time.Second
	DefaultGone   = time.Minute
)

// reserved is the number of descriptors that logs leave to the rest of the program.
const reserved = 64

// Options say how to follow. The zero value works.
type Options struct {
	// Poll is the time between two looks at the names of inputs.
	Poll time.Duration
	// Rescan is the time between two looks at the names of folders.
	Rescan time.Duration
	// Gone is the time that a file, read to its end, stays open without a name. That is one that
	// was deleted, or renamed so that nothing matches it.
	Gone time.Duration
	// Files is the number of files that may be open, 0 for what the system allows.
	Files int64
	// Marks, if any, are what [Follower.Marks] returned before. No log is read again before its
	// mark.
	Marks []Mark
	// Continues says that a later run reads on: what is read of a log when the follower stops is
	// not its end.
	Continues bool
	// Windows says that the open windows have all lines of the marks that are to be read again.
	Windows bool
	// Notice, if set, receives what happens to an input, such as "was truncated". It can be called
	// from several goroutines at once. It must not call the follower, whose lock may be held.
	Notice func(input, text string)
	// Lost, if set, receives which lines are missing.
	Lost func(input, text string)
	// Except, if set, is a file that no pattern may find, such as the output of the command.
	Except fs.FileInfo
	// Between, if set, is called before each access to the text of a file. A test chooses what
	// happens there.
	Between func()
}

// A Follower follows files. One goroutine adds them and starts it; then its methods are safe for
// concurrent use.
type Follower struct {
	options  Options
	found    func(*Input)  // nil before Start
	done     chan struct{} // closed once, to end the poller
	once     sync.Once
	poller   sync.WaitGroup
	opened   atomic.Int64 // files
	turns    bool         // a test lets one goroutine run at a time, see Options.Between
	patterns []*pattern
	pipes    map[string]bool   // paths of pipes that match, and are not read
	buffers  [2][64 << 10]byte // the looker compares with them

	mu     sync.Mutex
	phase  phase
	inputs []*Input
	names  map[string]*Input // by path
	logs   []*Log            // in order of their first files
	files  map[[2]uint64][]*source
	// unreadable says why folders cannot be read, by path.
	unreadable map[string]string
	looks      int // at folders
}

// A pattern chooses the files of folders whose name matches.
type pattern struct {
	folder  string
	matches func(name string) bool
	each    func(*Input)
}

// leftover is the pattern of a search for what is left of logs of an earlier run. Another file that
// it finds begins no log.
var leftover = &pattern{matches: func(string) bool { return false }}

// A phase says how far reading goes.
type phase int

const (
	following phase = iota
	stopping        // files are read to where they end now, pipes to their end
	aborted         // nothing more is read
)

// New returns a follower of nothing. Add inputs, then call Start.
func New(o Options) *Follower {
	o.Poll = cmp.Or(o.Poll, DefaultPoll)
	o.Rescan = cmp.Or(o.Rescan, DefaultRescan)
	o.Gone = cmp.Or(o.Gone, DefaultGone)
	if o.Files <= 0 {
		o.Files = openFiles()
		o.Files -= min(reserved, o.Files/2)
	}
	if o.Notice == nil {
		o.Notice = func(string, string) {}
	}
	if o.Lost == nil {
		o.Lost = o.Notice
	}
	f := &Follower{
		options:    o,
		done:       make(chan struct{}),
		pipes:      make(map[string]bool),
		names:      make(map[string]*Input),
		unreadable: make(map[string]string),
		files:      make(map[[2]uint64][]*source),
	}
	for n := range o.Marks {
		f.logs = append(f.logs, f.resume(&o.Marks[n]))
	}
	for _, l := range f.logs { // what still has its name is no other log
		f.step()
		if info, err := os.Stat(l.path); err == nil && info.Mode().IsRegular() {
			if s, _ := f.find(l.path, info, nil); s != nil {
				f.shut(s) // there may be more logs than files that may be open
			}
		}
	}
	return f
}

// AddFile adds the file at path, which may not exist yet. It returns nil if another input already
// follows the same file. If path is a pipe, the input ends when its writer ends.
func (f *Follower) AddFile(path string) *Input {
	if f.names[path] != nil {
		return nil
	}
	f.step()
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

// addPipe adds what is read once.
func (f *Follower) addPipe(path string) *Input {
	return f.insert(&Input{
		name: path,
		path: path,
		pipe: &pipe{open: func() (io.Reader, error) { return os.Open(path) }},
	})
}

// AddReader adds an input that ends at the end of r, such as standard input.
func (f *Follower) AddReader(name string, r io.Reader) *Input {
	return f.insert(&Input{
		name: name,
		pipe: &pipe{open: func() (io.Reader, error) { return r, nil }},
	})
}

// AddMatching adds the files whose name matches in folder, see [Folders], now and later. It returns
// the number of inputs that it added now. Each, which may be nil, is called for every input before
// the input is received. It must not call the follower.
func (f *Follower) AddMatching(folder string, matches func(name string) bool, each func(*Input)) int {
	f.patterns = append(f.patterns, &pattern{folder, matches, each})
	before := len(f.inputs)
	f.match()
	return len(f.inputs) - before
}

// Start begins to follow. Found receives the inputs added so far, and each one that a pattern
// matches later, before [Follower.Stop]. It reports whether there are patterns. Looked is called
// after each look at all files: every input there was at that time was found. Neither may call the
// follower.
func (f *Follower) Start(found func(*Input), looked func(at time.Time)) (matches bool) {
	f.begin(found)
	f.poller.Go(func() { f.poll(looked) })
	return len(f.patterns) > 0
}

// begin hands over the inputs.
func (f *Follower) begin(found func(*Input)) {
	f.search()
	f.found = found
	for _, in := range f.inputs {
		slices.SortFunc(in.logs, func(a, b *Log) int {
			return slices.Index(f.logs, a) - slices.Index(f.logs, b)
		})
		found(in)
	}
}

// step comes before an access to a file. Others may change it there.
func (f *Follower) step() {
	if f.options.Between != nil {
		f.options.Between()
	}
}

// Stop ends following: each file is read to its present end and each pipe to its end. If no later
// run reads on, it looks once more: what came since the last look is read, too.
func (f *Follower) Stop() {
	if !f.options.Continues {
		f.endLooks() // who calls is the looker now
		f.match()
		f.lookAtInputs()
	}
	f.enter(stopping)
}

// endLooks ends the looks that [Follower.Start] has begun.
func (f *Follower) endLooks() {
	f.once.Do(func() { close(f.done) })
	f.poller.Wait()
}

// Abort ends reading at once.
func (f *Follower) Abort() { f.enter(aborted) }

func (f *Follower) enter(p phase) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.phase = max(f.phase, p)
	for _, in := range f.inputs {
		in.enter(f.phase)
	}
}

// Close aborts, and releases the files. No log may be read after that.
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
	for _, files := range f.files {
		for _, s := range files {
			if s.open != nil {
				s.open.Close()
				s.open = nil
			}
		}
	}
}

// errFiles is the error for one open file too many.
var errFiles = errors.New("too many files are open")

// open opens a file, unless too many are open.
func (f *Follower) open(path string) (*os.File, error) {
	if n := f.opened.Add(1); n > f.options.Files {
		f.opened.Add(-1)
		return nil, fmt.Errorf("%w: this machine allows logs only %d; allow more with ulimit -n", errFiles, f.options.Files)
	}
	f.step()
	file, err := os.Open(path)
	if err != nil {
		f.opened.Add(-1)
	}
	return file, err
}

// insert adds an input.
func (f *Follower) insert(in *Input) *Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	in.follower = f
	in.phase = f.phase
	in.wake = make(chan struct{}, 1)
	f.inputs = append(f.inputs, in)
	if in.path != "" {
		f.names[in.path] = in
	}
	return in
}

// search finds what is left of logs of an earlier run that have other names now, and says what is
// gone.
func (f *Follower) search() {
	f.mu.Lock()
	looks := f.looks
	var absent []*Log
	for _, l := range f.logs {
		renamed := looks < lostLooks && (l.state == sought || l.isSaid()) // maybe since New
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
	if looks >= lostLooks {
		f.sayGone(absent)
	}
}

// lostLooks is the number of looks after a start in which a file may be found that has what a log
// lacks: rotation may just make it.
const lostLooks = 3

// searchBeside looks at the names with a base in the folder of a path. Listed are the folders that
// were read before.
func (f *Follower) searchBeside(path, of string, listed map[string][]string, news *message.Group) {
	folder := filepath.Dir(path)
	if listed[folder] == nil {
		f.step()
		listed[folder], _ = list(folder) // what is not found there is gone
	}
	for _, other := range listed[folder] {
		if other != path && base(other) == of {
			f.see(leftover, other, news)
		}
	}
}

// sayGone says once of each log that it is gone, and whether lines of it are missing.
func (f *Follower) sayGone(logs []*Log) {
	var missing, rest message.Group
	f.mu.Lock()
	for _, l := range logs {
		switch {
		case !l.missing():
			continue
		case !f.options.Windows && l.again.Open > 0:
			l.state = lost
			missing.Add(l.path, "is gone since the state was written; lines that no window has are missing")
		default:
			l.state = gone
			rest.Add(l.path, "is gone since the state was written; "+
				"what it got after that is missing, if it got anything")
		}
	}
	f.mu.Unlock()
	missing.Say(f.options.Lost)
	rest.Say(f.options.Notice)
}
