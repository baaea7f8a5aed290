// Package follow reads logs while other programs write and rotate them.
//
// A [Log] is a text. The files that have it are its sources: the log, a renamed log, a copy, a
// compressed copy. They have the same text as far as they go. So one number says how much of it was
// read, and any of them gives the rest. A file is a source of a log if rotation can make its name
// of that of the log, and if both have the same text. That is compared with a file of the log while
// there is one, and otherwise with hashes of the first and the last lines that were read. A file
// that has too little to tell is no source yet, and is compared again. Any other file is another
// log. So it does not matter which device and which inode a file has.
//
// A [Follower] looks at names several times a second. Each name that stands for a log is an
// [Input], which gives one log after another. A log waits at the end of its text for more.
//
// One goroutine looks at names, and one reads for each input. None reads a file while it holds the
// lock of the follower.
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
	// Poll is the time between two looks at the names of inputs.
	Poll time.Duration
	// Rescan is the time between two looks at the names of folders.
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
	// Windows says that the open windows have all lines of the marks that are to be read again.
	Windows bool
	// Notice, if set, receives what happens to an input, such as "was truncated". It can be called
	// from several goroutines at once.
	Notice func(input, text string)
	// Lost, if set, receives which lines are missing.
	Lost func(input, text string)
	// Except, if set, is a file that matches no pattern, such as the output of the command.
	Except fs.FileInfo
	// Between, if set, is called before each access to the text of a file. A test chooses what
	// happens there.
	Between func()
}

// A Follower follows files. One goroutine adds them and starts it; then its methods are safe for
// concurrent use.
type Follower struct {
	options  Options
	found    func(*Input) // nil before Start
	done     chan struct{}
	poller   sync.WaitGroup
	opened   atomic.Int64 // files
	starting bool         // New looks at the names of logs
	turns    bool         // a test lets one goroutine run at a time, see Options.Between
	patterns []pattern
	pipes    map[string]bool // paths of pipes that match, and are not read

	mu      sync.Mutex
	inputs  []*Input
	names   map[string]*Input // by path
	logs    []*Log            // in order of their first files
	sources map[[2]uint64][]*source
	alike   map[string]*likeness // by path
	phase   phase
	looks   int // at folders
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
		options: o,
		done:    make(chan struct{}),
		pipes:   make(map[string]bool),
		names:   make(map[string]*Input),
		sources: make(map[[2]uint64][]*source),
		alike:   make(map[string]*likeness),
	}
	for n := range o.Marks {
		f.addLog(&Log{earlier: true}).resume(&o.Marks[n])
	}
	f.starting = true // what still has its name is no other log
	for _, l := range f.logs {
		f.step()
		if info, err := os.Stat(l.path); err == nil && info.Mode().IsRegular() {
			f.find(l.path, info, false)
		}
	}
	f.starting = false
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
	var news Summary
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

// Stop ends following: each file is read to its present end and each pipe to its end.
func (f *Follower) Stop() { f.enter(stopping) }

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
	f.mu.Lock()
	select {
	case <-f.done:
	default:
		close(f.done)
	}
	f.mu.Unlock()
	f.poller.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range f.inputs {
		if in.path != "" && in.pipe != nil && in.pipe.file() != nil {
			in.pipe.file().Close()
		}
	}
	for _, l := range f.logs {
		for len(l.sources) > 0 {
			f.drop(l.sources[0])
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

func (f *Follower) close(file *os.File) {
	file.Close()
	f.opened.Add(-1)
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

// leave forgets an input. The lock is held.
func (f *Follower) leave(in *Input) {
	f.inputs = slices.DeleteFunc(f.inputs, func(other *Input) bool { return other == in })
	delete(f.names, in.path)
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
		if !f.look(&matched, looked) {
			return
		}
	}
}

// look looks at all names, and at those of folders if that is due since matched. It reports false
// if the follower is stopped.
func (f *Follower) look(matched *time.Time, looked func(at time.Time)) bool {
	at := time.Now()
	f.mu.Lock()
	phase := f.phase
	f.mu.Unlock()
	if phase != following {
		return false
	}
	f.lookAll()
	if at.Sub(*matched) >= f.options.Rescan {
		*matched = at
		f.match()
	}
	if len(f.patterns) > 0 {
		at = *matched
	}
	looked(at)
	return true
}

func (f *Follower) lookAll() {
	var all Summary
	f.mu.Lock()
	inputs := slices.Clone(f.inputs)
	f.mu.Unlock()
	for _, in := range inputs {
		in.look(&all)
	}
	all.Say(f.options.Notice)
}

// match adds the files that match a pattern, finds those that have what earlier logs lack, and
// forgets files that have no name any more.
func (f *Follower) match() {
	var all Summary
	for n := range f.patterns {
		p := &f.patterns[n]
		f.step()
		for _, path := range p.paths() {
			if p.matches(filepath.Base(path)) {
				f.see(p, path, &all)
			}
		}
	}
	if f.found != nil {
		f.search()
		f.forget()
	}
	all.Say(f.options.Notice)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	for _, in := range f.inputs {
		if len(in.logs) > 0 && in.logs[0].current == nil {
			in.signal() // it waits for copies
		}
	}
}

// see looks at a name. If no input follows it, and its file has something that none reads, the file
// becomes an input. Before a start, the input of its log reads it. Without a pattern, only what is
// left of a log of an earlier run is read.
func (f *Follower) see(p *pattern, path string, news *Summary) {
	if f.input(path) != nil {
		return
	}
	f.step()
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || f.options.Except != nil && os.SameFile(f.options.Except, info) {
		return
	}
	switch {
	case info.Mode().IsRegular():
	case p == nil:
		return
	case !f.options.Continues:
		f.hand(f.addPipe(path), p)
		return
	case !f.pipes[path]:
		f.pipes[path] = true
		news.Add(path, NoPosition)
		return
	default:
		return
	}
	if p != nil && f.found != nil && f.known(info) == nil {
		f.lookAll() // it may have just replaced another one, with a link to it
	}
	s, err := f.find(path, info, p != nil)
	switch {
	case err == nil && (s == nil || !f.unread(s)):
		return
	case err != nil && (p == nil || errors.Is(err, fs.ErrNotExist)):
		return
	}
	in := &Input{name: path, path: path}
	if s != nil {
		owner := f.input(s.log.path)
		if owner != nil && f.found == nil {
			f.enqueue(s.log, owner)
			return
		}
		if owner != nil && p == nil {
			in.Tag = owner.Tag
		}
		f.insert(in)
		f.enqueue(s.log, in)
	} else {
		f.insert(in)
	}
	in.matched = true
	in.look(news)
	f.hand(in, p)
}

// hand hands over an input that a pattern has found.
func (f *Follower) hand(in *Input, p *pattern) {
	in.matched = true
	if p != nil && p.each != nil {
		p.each(in)
	}
	if f.found != nil {
		f.found(in)
	}
}

// input returns the input that follows a name, nil if there is none.
func (f *Follower) input(path string) *Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[path]
}

// paths returns what is in the folders, shorter names first: a log comes before what rotation makes
// of it. A folder that is gone may come back.
func (p *pattern) paths() (paths []string) {
	for _, folder := range scan.Folders(p.folder) {
		paths = append(paths, files(folder)...)
	}
	slices.SortStableFunc(paths, func(a, b string) int { return len(a) - len(b) })
	return paths
}

// files returns the paths of what is in a folder.
func files(folder string) (paths []string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		paths = append(paths, filepath.Join(folder, entry.Name()))
	}
	return paths
}

// search finds what is left of logs of an earlier run that have other names now, and says what is
// gone.
func (f *Follower) search() {
	f.mu.Lock()
	looks := f.looks
	var lost []*Log
	for _, l := range f.logs {
		renamed := looks < lostLooks && l.earlier && !l.over && l.in == nil // maybe since New
		if l.missing() && !l.said || renamed {
			lost = append(lost, l)
		}
	}
	f.mu.Unlock()
	var news Summary
	listed := make(map[string][]string)
	for _, l := range lost {
		for _, of := range []string{l.path, l.target} {
			folder := filepath.Dir(of)
			if of == "" {
				continue
			}
			if listed[folder] == nil {
				f.step()
				listed[folder] = files(folder)
			}
			for _, path := range listed[folder] {
				if path != l.path && derived(path, of) {
					f.see(nil, path, &news)
				}
			}
		}
	}
	news.Say(f.options.Notice)
	if looks < lostLooks {
		return
	}
	var gone, rest Summary
	f.mu.Lock()
	for _, l := range lost {
		switch {
		case !l.missing(), l.said:
			continue
		case !f.options.Windows && l.again.Open > 0:
			l.lost = true
			gone.Add(l.path, "is gone since the state was written; lines that no window has are missing")
		default:
			rest.Add(l.path, "is gone since the state was written; "+
				"what it got after that is missing, if it got anything")
		}
		l.said = true
	}
	f.mu.Unlock()
	gone.Say(f.options.Lost)
	rest.Say(f.options.Notice)
}

// lostLooks is the number of looks after a start in which a file may be found that has what a log
// lacks: rotation may just make it.
const lostLooks = 3
