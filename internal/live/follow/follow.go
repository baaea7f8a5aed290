// Package follow reads files while other programs write them.
//
// A [Follower] looks at its files several times a second. Each file name is an [Input]. An input
// gives one [Log] after another: the file as it is, and a new log after the file was replaced or
// truncated. A log waits at the end of its file for more.
//
// The follower polls, because notification is not reliable over rotations and network file systems.
package follow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hdrkit/internal/scan"
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
	// Poll is the time between two looks at the files.
	Poll time.Duration
	// Rescan is the time between two looks for new files that match a pattern.
	Rescan time.Duration
	// Gone is the time that a deleted file, read to its end, stays open.
	Gone time.Duration
	// Files is the number of files that may be open, 0 for what the system allows.
	Files int64
	// Marks, if any, are what [Follower.Marks] returned before. No log is read again before its
	// mark.
	Marks []Mark
	// Continues says that a later run reads on: what is read of a log when the follower stops is
	// not its end.
	Continues bool
	// Notice, if set, receives what happens to an input, such as "was truncated". It can be called
	// from several goroutines at once.
	Notice func(input, text string)
	// Except, if set, is a file that matches no pattern, such as the output of the command.
	Except fs.FileInfo
	// Between, if set, is called before each access to a file. A test chooses what happens there.
	Between func()
}

// A Follower follows files. Its methods are safe for concurrent use.
type Follower struct {
	options Options
	found   func(*Input)
	done    chan struct{} // closed by Close
	poller  sync.WaitGroup
	opened  atomic.Int64 // files
	copies  atomic.Pointer[[]Copy]
	turns   bool // a test lets one goroutine run at a time; Options.Between lets others run

	mu sync.Mutex
	inputSet
	patterns []pattern
	contents contents
	phase    phase
	pipes    map[string]bool // paths of pipes that match, and are not read
	looks    int             // for files that match patterns
	last     bool            // no file is found later, see lastLook
}

// An inputSet is inputs, which are found by their names and files.
type inputSet struct {
	inputs []*Input
	names  map[string]bool     // their paths
	stems  map[string][]*Input // by the stem of their path
	files  fileSet             // that they have, or open contents; nil if one was released
}

// A pattern chooses the files of folders whose name matches.
type pattern struct {
	folder  string
	matches func(name string) bool
	each    func(*Input)
}

// A phase says how far reading goes.
type phase int

const (
	following phase = iota
	stopping        // files are read to where they end now, pipes to their end
	aborted         // nothing more is read
)

// New returns a follower of nothing. Add inputs, then call Start.
func New(o Options) *Follower {
	if o.Poll <= 0 {
		o.Poll = DefaultPoll
	}
	if o.Rescan <= 0 {
		o.Rescan = DefaultRescan
	}
	if o.Gone <= 0 {
		o.Gone = DefaultGone
	}
	if o.Files <= 0 {
		o.Files = openFiles()
		o.Files -= min(reserved, o.Files/2)
	}
	if o.Notice == nil {
		o.Notice = func(string, string) {}
	}
	f := &Follower{
		options: o,
		done:    make(chan struct{}),
		pipes:   make(map[string]bool),
		inputSet: inputSet{
			names: make(map[string]bool),
			stems: make(map[string][]*Input),
		},
	}
	for _, m := range o.Marks {
		f.contents.add(&content{Mark: m, waits: !m.Copy && !m.Ended})
	}
	return f
}

// AddFile adds the file at path, which may not exist yet. It returns nil if another input already
// follows the same file. If path is a pipe, the input ends when its writer ends.
func (f *Follower) AddFile(path string) *Input {
	f.lock()
	defer f.mu.Unlock()
	in := f.add(path, false)
	if in != nil {
		f.look([]*Input{in})
	}
	return in
}

// AddReader adds an input that ends at the end of r, such as standard input.
func (f *Follower) AddReader(name string, r io.Reader) *Input {
	f.lock()
	defer f.mu.Unlock()
	return f.insert(&Input{
		name: name,
		pipe: &pipe{open: func() (io.Reader, error) { return r, nil }},
	})
}

// AddMatching adds the files whose name matches in folder, see [Folders], now and later. It returns
// the number of inputs that it added now. Each, which may be nil, is called for every input before
// the input is received. It must not call the follower.
func (f *Follower) AddMatching(folder string, matches func(name string) bool, each func(*Input)) int {
	f.lock()
	defer f.mu.Unlock()
	f.patterns = append(f.patterns, pattern{folder, matches, each})
	before := len(f.inputs)
	f.match()
	return len(f.inputs) - before
}

// Start begins to follow. Found receives the inputs added so far, and each one that a pattern
// matches later, before [Follower.Stop]. It reports whether there are patterns. Looked is called
// after each look at all files: every input there was at that time was found. Neither may call the
// follower.
func (f *Follower) Start(found func(*Input), looked func(at time.Time)) (matches bool) {
	f.lock()
	defer f.mu.Unlock()
	f.begin(found)
	f.poller.Go(func() { f.poll(looked) })
	return len(f.patterns) > 0
}

// begin hands over the inputs.
func (f *Follower) begin(found func(*Input)) {
	f.missing()
	f.found = found
	for _, in := range f.inputs {
		found(in)
	}
}

// step comes before an access to a file. Others may change it there.
func (f *Follower) step() {
	if f.options.Between != nil {
		f.options.Between()
	}
}

// lock locks mu.
func (f *Follower) lock() {
	if !f.turns {
		f.mu.Lock()
		return
	}
	for !f.mu.TryLock() {
		f.options.Between()
	}
}

// Stop ends following: each file is read to its present end and each pipe to its end.
func (f *Follower) Stop() { f.enter(stopping) }

// Abort ends reading at once.
func (f *Follower) Abort() { f.enter(aborted) }

func (f *Follower) enter(p phase) {
	f.lock()
	defer f.mu.Unlock()
	if p == stopping {
		f.lastLook()
	}
	f.phase = max(f.phase, p)
	f.sayLost(true)
	for _, in := range f.inputs {
		in.enter(f.phase)
	}
}

// lastLook looks once more for files that have what lost ones had. Otherwise a compressed file
// waits for two looks, since the file that it was made of may still be found.
func (f *Follower) lastLook() {
	if f.phase != following || f.found == nil || !slices.ContainsFunc(f.contents.all, func(c *content) bool { return c.lost != "" }) {
		return
	}
	f.last = true
	for _, c := range f.contents.all {
		if c.early {
			c.took = 0 // however long it took
		}
	}
	f.match()
}

// Close aborts, and releases the files. No log may be read after that.
func (f *Follower) Close() {
	f.Abort()
	f.lock()
	select {
	case <-f.done:
	default:
		close(f.done)
	}
	f.mu.Unlock()
	f.poller.Wait()
	f.lock()
	defer f.mu.Unlock()
	for _, in := range f.inputs {
		in.close()
	}
	for _, c := range f.contents.all {
		f.release(c)
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

func (f *Follower) close(file *os.File) {
	file.Close()
	f.opened.Add(-1)
}

// leave forgets an input.
func (f *Follower) leave(in *Input) {
	f.lock()
	defer f.mu.Unlock()
	is := func(other *Input) bool { return other == in }
	f.inputs = slices.DeleteFunc(f.inputs, is)
	f.stems[stem(in.path)] = slices.DeleteFunc(f.stems[stem(in.path)], is)
	delete(f.names, in.path)
}

// add adds a file that no input follows yet. The caller looks at it.
func (f *Follower) add(path string, matched bool) *Input {
	if f.names[path] {
		return nil
	}
	f.step()
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return f.insert(&Input{
			name: path,
			path: path,
			pipe: &pipe{open: func() (io.Reader, error) { return os.Open(path) }},
		})
	}
	if err == nil && f.known(info) {
		return nil
	}
	return f.insert(&Input{
		name:   path,
		path:   path,
		naming: naming{matched: matched},
	})
}

func (f *Follower) insert(in *Input) *Input {
	in.follower = f
	in.phase = f.phase
	in.wake = make(chan struct{}, 1)
	f.inputs = append(f.inputs, in)
	if in.path != "" {
		f.names[in.path] = true
		f.stems[stem(in.path)] = append(f.stems[stem(in.path)], in)
	}
	return in
}

// known reports whether the file was read by an input, or is going to be.
func (f *Follower) known(info fs.FileInfo) bool {
	if f.files == nil {
		f.files = make(fileSet, len(f.inputs))
		for _, in := range f.inputs {
			in.collect(f.files)
		}
		for _, c := range f.contents.all {
			if c.open {
				f.files.add(c.info)
			}
		}
	}
	return f.files.has(info)
}

// A fileSet finds files. Those that the system does not identify have one key.
type fileSet map[ID][]fs.FileInfo

func (s fileSet) add(info fs.FileInfo) {
	if !s.has(info) {
		s[identity(info)] = append(s[identity(info)], info)
	}
}

func (s fileSet) has(info fs.FileInfo) bool {
	return slices.ContainsFunc(s[identity(info)], func(other fs.FileInfo) bool { return os.SameFile(other, info) })
}

// match adds the files that match a pattern, and forgets files that were read and that nothing
// matches any more.
func (f *Follower) match() {
	named := make(fileSet, len(f.inputs)) // what a name that is followed stands for
	for _, in := range f.inputs {
		f.step()
		if info, err := os.Stat(in.path); err == nil && !in.Once() {
			named.add(info)
		}
	}
	var all Summary
	defer func() { all.Say(f.options.Notice) }()
	looked := false
	for _, p := range f.patterns {
		f.step()
		for _, path := range p.paths() {
			if f.names[path] || !p.matches(filepath.Base(path)) {
				continue
			}
			f.step()
			info, err := os.Stat(path)
			if err != nil || info.IsDir() || f.options.Except != nil && os.SameFile(f.options.Except, info) {
				continue
			}
			if f.options.Continues && !info.Mode().IsRegular() {
				if !f.pipes[path] {
					f.pipes[path] = true
					all.Add(path, NoPosition)
				}
				continue
			}
			named.add(info)
			if !f.known(info) && !looked && f.found != nil {
				f.look(f.inputs) // the file may have just replaced another one
				looked = true
			}
			if f.known(info) {
				continue
			}
			if !f.isCopy(path, info) {
				if in := f.add(path, true); in != nil {
					in.look(&all)
					if p.each != nil {
						p.each(in)
					}
					if f.found != nil {
						f.found(in)
					}
				}
			}
		}
	}
	f.showCopies()
	f.looks++
	if f.found == nil { // further patterns may match what was read
		f.sayLost(false)
		return
	}
	f.missing()
	f.forget(named)
}

// paths returns what is in the folders. A folder that is gone may come back.
func (p *pattern) paths() (paths []string) {
	for _, folder := range scan.Folders(p.folder) {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return paths
}

// finish ends a log that was read to its end, after which another one came or, if the file is gone,
// none. It reports false if one has come meanwhile.
func (f *Follower) finish(l *Log, gone bool) bool {
	in := l.in
	f.lock()
	defer f.mu.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	if gone && (!in.left || len(in.files) != 1) {
		return false
	}
	if gone {
		in.newest = nil
	}
	if len(in.files) > 0 { // else the follower is closed
		in.files = in.files[1:]
		f.remember(l, false).open = true
	}
	return true
}

// poll looks at the files until the follower is stopped.
func (f *Follower) poll(looked func(at time.Time)) {
	ticker := time.NewTicker(f.options.Poll)
	defer ticker.Stop()
	matched := time.Now()
	for {
		select {
		case <-f.done:
			return
		case <-ticker.C:
		}
		if !f.lookAll(&matched, looked) {
			return
		}
	}
}

// lookAll looks at all files, and for new ones if that is due since matched. It reports false if
// the follower is stopped.
func (f *Follower) lookAll(matched *time.Time, looked func(at time.Time)) bool {
	at := time.Now()
	f.lock()
	if f.phase != following {
		f.mu.Unlock()
		return false
	}
	f.look(f.inputs)
	if at.Sub(*matched) >= f.options.Rescan {
		*matched = at
		f.match()
	}
	if len(f.patterns) > 0 {
		at = *matched
	}
	f.mu.Unlock()
	looked(at)
	return true
}

func (f *Follower) look(inputs []*Input) {
	var all Summary
	for _, in := range inputs {
		in.look(&all)
	}
	all.Say(f.options.Notice)
}

// A Summary is messages about logs. It says once what is the same of many.
type Summary struct {
	texts []string
	names map[string][]string // of logs, by text
}

// Add adds a message about a log.
func (s *Summary) Add(name, text string) {
	if s.names == nil {
		s.names = make(map[string][]string)
	}
	if s.names[text] == nil {
		s.texts = append(s.texts, text)
	}
	s.names[text] = append(s.names[text], name)
}

// mostNames is the number of logs that a message names.
const mostNames = 3

// Say calls say with each message and the first logs that it is about.
func (s *Summary) Say(say func(names, text string)) {
	for _, text := range s.texts {
		names := s.names[text]
		if more := len(names) - mostNames; more > 0 {
			names = names[:mostNames]
			text += fmt.Sprintf(" (and %d more logs)", more)
		}
		say(strings.Join(names, ", "), text)
	}
}
