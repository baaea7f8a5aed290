package follow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// An Input is a file name, and the logs that it stands for one after another.
type Input struct {
	// Tag is the caller's, who sets it before the input is handed over.
	Tag string

	name     string
	path     string // of a file or a named pipe
	pipe     *pipe  // nil for a file
	follower *Follower
	wake     chan struct{} // something may have changed
	onWait   func(waiting bool)

	mu      sync.Mutex
	files   []*Log // the first one is read, the others come after it
	took    *Log   // the last one of which lines were taken
	waiting bool   // a read waits for data
	ended   bool   // Next has returned ErrGone
	phase   phase
	naming
}

// A pipe is what is read once, such as standard input. The input's mu guards it.
type pipe struct {
	open   func() (io.Reader, error)
	opened bool
	file   *os.File // nil if it is none
}

// A naming is what looks have found of the name of an input. Its mu guards it.
type naming struct {
	newest  fs.FileInfo // of the last file that had the name, nil if there was none; changes with the follower's mu
	passed  fs.FileInfo // the file that has the name, but counts already, if there is one, as it was
	trouble string      // why the name cannot be read now, as the last notice says
	unread  string      // why a log of that name is not read, empty if it is
	looked  bool        // there was a look
	matched bool        // a pattern found the file, and finds it again when it comes back
	gone    time.Time   // since when no file has the name, if there was one
	left    bool        // it is gone for so long that its file is closed at its end
}

// A Log is one content of an input. It is an io.Reader for one goroutine.
type Log struct {
	in      *Input
	stream  io.Reader // of an input that is read once, else nil
	file    *os.File
	info    fs.FileInfo
	target  string // what the name led to, if it was a symbolic link
	resumed *Mark  // how far it was read in an earlier run, nil if it was not
	before  *Log   // what the file had before it was truncated, nil if it was not
	origin  *Log   // whose text it begins with, if it was read as another file before
	begun   int    // the first line that is read, 0 if it is that of the file
	err     error

	// The input's mu guards these.
	progress
	taken
	// again is what [Log.ReadAgain] received. Heir says that a copy of the file goes on.
	again atomic.Pointer[Again]
	heir  bool
	// succeeded is set at the first look that finds text in a file which has replaced this one.
	// What the writer wrote before it opened that file is there then.
	succeeded bool
}

// A progress is what was read of a log.
type progress struct {
	head   []byte    // how the file began when it was read
	size   int64     // of what was read
	lines  int       // of it
	ends   bool      // the last of them has its end
	text   text      // hashes of it
	seen   time.Time // when the file was modified, as of the last look
	places []Place   // where reads begin that a later run may begin with
}

// A taken is what counts of a log.
type taken struct {
	line       int // this one, header and headerFrom are what [Log.Took] received
	header     string
	headerFrom int
	done       bool // a later log of the input was taken, too
}

// Name returns the name of the input.
func (in *Input) Name() string { return in.name }

// Once reports that the input ends by itself, as a pipe does.
func (in *Input) Once() bool { return in.pipe != nil }

// OnWait has a function called when a read begins to wait for data and when it ends to wait, by the
// goroutine that reads. Call it before that.
func (in *Input) OnWait(f func(waiting bool)) { in.onWait = f }

// Unread says why a log of that name could not be read so far. It is empty if all could.
func (in *Input) Unread() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.unread
}

// Abort ends the reading of the input at once.
func (in *Input) Abort() { in.enter(aborted) }

func (in *Input) enter(p phase) {
	in.mu.Lock()
	in.phase = max(in.phase, p)
	var pipe *os.File
	if in.Once() {
		pipe = in.pipe.file
	}
	in.mu.Unlock()
	if p == aborted && pipe != nil {
		pipe.SetReadDeadline(time.Unix(1, 0)) // ends a read that waits, where the system can
	}
	in.signal()
}

// signal has a reader that waits look again.
func (in *Input) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// collect adds the files that the input reads.
func (in *Input) collect(files fileSet) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, l := range in.files {
		files.add(l.info)
	}
	if in.newest != nil {
		files.add(in.newest)
	}
}

// errNoFile is the error for a name that stood for a file.
var errNoFile = errors.New("is a pipe, a folder or a device, and no file any more")

// look compares the file of that name with the one that is read. It adds what is new about the
// input that a person should know, if anything is. The caller holds the follower's mu.
func (in *Input) look(news *Summary) {
	if in.Once() {
		return
	}
	in.follower.step()
	info, err := os.Stat(in.path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	in.mu.Lock()
	ended := in.ended
	if len(in.files) > 1 {
		in.files[0].succeeded = in.files[0].succeeded || in.isWritten()
	}
	in.mu.Unlock()
	if ended {
		return
	}
	if !in.looked {
		in.looked = true
		in.renamed()
	}
	moved := false
	if err == nil && (in.newest == nil || !os.SameFile(in.newest, info)) {
		if moved = in.passed != nil && unchanged(in.passed, info); !moved {
			moved, err = in.open()
		}
		if moved {
			err = fs.ErrNotExist
		}
	}
	in.follower.step()
	in.mu.Lock()
	defer in.mu.Unlock()
	// A reader waits only at the end of its data. A file can be written again at the same length.
	wake := in.waiting && len(in.files) != 1
	if len(in.files) == 1 {
		l := in.files[0]
		if err != nil {
			info, _ = l.file.Stat() // its writer may still have it
		}
		wake = in.waiting && info != nil && (info.Size() != l.size || !info.ModTime().Equal(l.seen))
		if info != nil && in.waiting { // else the reader may have looked before that
			l.seen = info.ModTime()
		}
	}
	trouble := ""
	in.unread = ""
	wasGone := in.gone
	in.gone = time.Time{}
	switch {
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		var inPath *fs.PathError
		in.unread = err.Error()
		trouble = err.Error()
		if errors.As(err, &inPath) {
			trouble = "cannot be read: " + inPath.Err.Error() // its name is said anyway
		}
		trouble += "; trying again"
	case in.newest == nil && in.left: // Next says so
	case in.newest == nil:
		in.unread = "was never there"
		trouble = "is not there yet; waiting for it"
	default:
		if in.gone = wasGone; in.gone.IsZero() || wake {
			in.gone = time.Now()
		}
		trouble = "is gone; waiting for it to come back"
		if in.matched || moved {
			trouble = ""
		}
		if len(in.files) == 1 && in.waiting && time.Since(in.gone) >= in.follower.options.Gone {
			in.left, wake = true, true
		}
	}
	if trouble != in.trouble && trouble != "" {
		news.Add(in.name, trouble)
	}
	in.trouble = trouble
	if wake {
		in.signal()
	}
}

// open opens the file that has the name now. It reports moved if that file counts already: rotation
// gave it this name, or copied it.
func (in *Input) open() (moved bool, err error) {
	f := in.follower
	file, err := f.open(in.path)
	if err != nil {
		return false, err
	}
	f.step()
	info, err := file.Stat()
	same := err == nil && in.newest != nil && os.SameFile(in.newest, info)
	if err == nil && info.Mode().IsRegular() && !same {
		maybe := false
		var rest *original
		if moved = f.known(info); !moved && in.matched {
			moved, maybe, rest = f.copied(in.path, file, info)
		}
		if !moved {
			if rest == nil {
				in.add(file, info, f.resume(file, in.path, info), nil)
			} else {
				f.options.Notice(in.path, "begins with all that was read of "+rest.Path+"; reading what follows")
				in.add(file, info, rest.goOn(in.path, file, info), rest.log)
			}
			return false, nil
		}
		if !maybe {
			in.passed = info
		}
	}
	f.close(file)
	return moved, err
}

// add appends a file to those that are read. Origin is the log whose text it begins with, nil if
// there is none.
func (in *Input) add(file *os.File, info fs.FileInfo, mark *Mark, origin *Log) {
	l := &Log{
		in:      in,
		file:    file,
		info:    info,
		resumed: mark,
		origin:  origin,
	}
	if mark != nil {
		l.again.Store(&mark.Again)
		l.resume()
	}
	if link, err := os.Lstat(in.path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		l.target, _ = filepath.EvalSymlinks(in.path)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.newest = info
	in.passed = nil
	in.left = false
	in.files = append(in.files, l)
	if in.follower.files != nil {
		in.follower.files.add(info)
	}
}

// resume goes on where the mark says.
func (l *Log) resume() {
	m := l.resumed
	if m.Cut {
		return
	}
	l.text.resume(m.Points)
	if m.Begin.Line > 0 {
		l.begun = m.Begin.Line
		l.head = beginning(l.file, headSize)
		l.size = m.Begin.Byte
		l.lines = m.Begin.Line - 1
		l.ends = true
	}
}

// Next returns the next log, after the one before has been read to its end. It waits for the file
// to appear. It returns io.EOF when there is no further log, [ErrGone] when the input is left, and
// [ErrStopped] after [Follower.Stop].
func (in *Input) Next() (*Log, error) {
	if in.Once() {
		return in.once()
	}
	for {
		in.mu.Lock()
		if len(in.files) > 0 && in.phase != aborted {
			defer in.mu.Unlock()
			return in.files[0], nil
		}
		phase := in.phase
		in.ended = phase == following && in.left && in.matched
		in.mu.Unlock()
		switch {
		case phase != following:
			return nil, ErrStopped
		case in.ended:
			in.follower.leave(in)
			return nil, ErrGone
		}
		in.wait()
	}
}

// once returns the only log of an input that ends by itself. To open a named pipe waits for its
// writer.
func (in *Input) once() (*Log, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.pipe.opened:
		return nil, io.EOF
	case in.phase == aborted:
		return nil, ErrStopped
	}
	in.pipe.opened = true
	in.mu.Unlock()
	in.setWaiting(true)
	stream, err := in.pipe.open()
	in.setWaiting(false)
	in.mu.Lock()
	in.pipe.file, _ = stream.(*os.File)
	return &Log{in: in, stream: stream}, err
}

// AtEnd reports whether all data there are were read and a read waits for more.
func (in *Input) AtEnd() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.waiting {
		return false
	}
	if len(in.files) == 0 {
		return true
	}
	info, err := in.files[0].file.Stat()
	return err == nil && info.Size() == in.files[0].size && !in.isWritten()
}

// isWritten reports whether a file has text that has replaced the one that is read: the writer may
// still have that one until it is told to open its log again. The input's mu is locked.
func (in *Input) isWritten() bool {
	return slices.ContainsFunc(in.files[1:], func(l *Log) bool {
		info, err := l.file.Stat()
		return err != nil || info.Size() > 0
	})
}

// Modified returns when the file that is read now was written last, and the present time if there
// is none.
func (in *Input) Modified() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.files) > 0 {
		if info, err := in.files[0].file.Stat(); err == nil {
			return info.ModTime()
		}
	}
	return time.Now()
}

// Read reads the next bytes. At the end of the file it waits until there are more, the file is
// replaced or truncated, or the follower is stopped. Then it returns io.EOF, or [ErrStopped] if
// [Options.Continues] is set or reading is aborted.
func (l *Log) Read(p []byte) (int, error) {
	switch {
	case l.err != nil:
		return 0, l.err
	case len(p) == 0:
		return 0, nil
	case l.stream != nil:
		return l.readStream(p)
	}
	in := l.in
	for {
		// What is known before the read is true of the data that it finds.
		in.mu.Lock()
		if in.phase == aborted || len(in.files) == 0 {
			in.mu.Unlock()
			l.err = ErrStopped
			return 0, l.err
		}
		replaced := len(in.files) > 1 && (l.succeeded || in.phase == stopping)
		left := in.left
		phase := in.phase
		in.mu.Unlock()
		in.follower.step()
		n, err := l.file.ReadAt(p, l.size)
		switch {
		case l.rewritten(): // maybe while it was read
			in.follower.options.Notice(in.name, "was truncated; reading it again from its start")
			in.follower.truncated(l)
			l.err = io.EOF
		case n > 0:
			l.advance(p[:n])
			return n, nil
		case err != io.EOF:
			l.err = err
			return 0, err
		case replaced:
			in.follower.finish(l, false)
			l.err = io.EOF
		case left && phase == following:
			if !in.follower.finish(l, true) {
				continue // a file has come
			}
			l.err = io.EOF
		case phase == stopping:
			in.mu.Lock()
			in.phase = aborted // Next returns no further log
			in.mu.Unlock()
			l.err = io.EOF
			if in.follower.options.Continues && !compressed(l.head) { // else its reader knows whether it is cut short
				l.err = ErrStopped
			}
		default:
			in.wait()
			continue
		}
		return 0, l.err
	}
}

// advance counts bytes as read.
func (l *Log) advance(read []byte) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if len(l.in.files) == 0 {
		return // the follower is closed
	}
	l.place(read)
	l.size += int64(len(read))
	l.head = append(l.head, read[:min(len(read), headSize-len(l.head))]...)
	if more := l.size - l.text.size; more > 0 { // an earlier run has hashed what comes before
		l.text.Write(read[max(int64(len(read))-more, 0):])
	}
	if l.ends || l.lines == 0 {
		l.lines++
	}
	l.ends = read[len(read)-1] == '\n'
	l.lines += bytes.Count(read[:len(read)-1], []byte{'\n'})
}

// mostPlaces is the number of places that a log has. More become coarser.
const mostPlaces = 256

// place notes where the first line begins in what is read next.
func (l *Log) place(read []byte) {
	first := 0
	if !l.ends && l.lines > 0 {
		first = bytes.IndexByte(read, '\n') + 1
		if first == 0 {
			return
		}
	}
	if len(l.places) == mostPlaces {
		half := l.places[:0]
		for n := 0; n < mostPlaces; n += 2 {
			half = append(half, l.places[n])
		}
		l.places = half
	}
	l.places = append(l.places, Place{Line: l.lines + 1, Byte: l.size + int64(first)})
}

// headSize is the number of bytes by which a file is recognized: enough for the time comments,
// which differ when a program starts again and truncates its log.
const headSize = 512

// rewritten reports whether the file is shorter than it was, or no longer begins as it did: the
// writer may have written as much again.
func (l *Log) rewritten() bool {
	before := l.known()
	l.in.follower.step()
	if info, err := l.file.Stat(); err == nil && info.Size() < before.Size {
		return true
	}
	l.in.follower.step()
	now := make([]byte, before.Head.Size)
	n, err := l.file.ReadAt(now, 0)
	return (err == nil || err == io.EOF) && !before.Head.Begins(now[:n])
}

// wait waits until something may have changed.
func (in *Input) wait() {
	in.setWaiting(true)
	for in.follower.turns && len(in.wake) == 0 {
		in.follower.step()
	}
	<-in.wake
	in.setWaiting(false)
}

func (in *Input) setWaiting(waiting bool) {
	in.mu.Lock()
	in.waiting = waiting
	in.mu.Unlock()
	if in.onWait != nil {
		in.onWait(waiting)
	}
}

func (l *Log) readStream(p []byte) (int, error) {
	in := l.in
	in.mu.Lock()
	phase := in.phase
	in.mu.Unlock()
	if phase == aborted {
		return 0, ErrStopped
	}
	in.setWaiting(true)
	n, err := l.stream.Read(p)
	in.setWaiting(false)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrStopped
	}
	return n, err
}

// close closes the files that the input has opened.
func (in *Input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, l := range in.files {
		in.follower.close(l.file)
	}
	in.files = nil
	if in.path != "" && in.Once() && in.pipe.file != nil {
		in.pipe.file.Close()
	}
}
