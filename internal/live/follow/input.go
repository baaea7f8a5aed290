package follow

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"hdrkit/internal/base/message"
)

// An Input is a file name, and the logs that it stands for one after another.
type Input struct {
	// Tag is the caller's, who sets it before the input is handed over.
	Tag string

	name     string
	path     string   // of a file or a named pipe
	pipe     *pipe    // nil for a file
	pattern  *pattern // that found the file, and finds it again when it comes back
	follower *Follower
	wake     chan struct{} // something may have changed
	onWait   func(waiting bool)

	// The follower's mu guards these.
	logs    []*Log // the first one is read, the others come after it
	waiting bool   // a read waits for data
	phase   phase
	naming
}

// A pipe is what is read once, such as standard input. The follower's mu guards it.
type pipe struct {
	open   func() (io.Reader, error)
	stream io.Reader // nil until it is open
}

// file returns the file that it is, nil if it is none.
func (p *pipe) file() *os.File {
	file, _ := p.stream.(*os.File)
	return file
}

// A naming is what looks have found of the name of an input.
type naming struct {
	state   nameState
	trouble string    // why the name cannot be read now, as the last notice says
	unread  string    // why a log of that name is not read, empty if it is
	gone    time.Time // since when no log of the input has the name, if there was one
}

// A nameState says which logs the name of an input stands for.
type nameState int

const (
	awaited  nameState = iota // there was no log; becomes followed
	followed                  // there is a log, or was not long ago; becomes left
	left                      // its file is closed at its end; becomes followed by another log, or ended
	ended                     // [Input.Next] has returned [ErrGone]
)

// Name returns the name of the input.
func (in *Input) Name() string { return in.name }

// Once reports that the input ends by itself, as a pipe does.
func (in *Input) Once() bool { return in.pipe != nil }

// OnWait has a function called when a read begins to wait for data and when it ends to wait, by the
// goroutine that reads. Call it before that.
func (in *Input) OnWait(f func(waiting bool)) { in.onWait = f }

// Unread says why a log of that name could not be read so far. It is empty if all could.
func (in *Input) Unread() string {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	return in.unread
}

// Abort ends the reading of the input at once.
func (in *Input) Abort() {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	in.enter(aborted)
}

// enter begins a phase. The lock is held.
func (in *Input) enter(p phase) {
	in.phase = max(in.phase, p)
	if in.phase == aborted && in.pipe != nil && in.pipe.file() != nil {
		in.pipe.file().SetReadDeadline(time.Unix(1, 0)) // ends a read that waits, where the system can
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

// errNoFile is the error for a name that stood for a file.
var errNoFile = errors.New("is a pipe, a folder or a device, and no file any more")

// look looks at the file that has the name, and at the one that is read. It adds what is new about
// the input that a person should know, if anything is.
func (in *Input) look(news *message.Group) {
	f := in.follower
	f.mu.Lock()
	state := in.state
	f.mu.Unlock()
	if in.Once() || state == ended {
		return
	}
	f.step()
	info, err := os.Stat(in.path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	var s *source
	if err == nil {
		s, err = f.find(in.path, info, func() { f.seeOriginal(in.pattern, in.path, news) })
	}
	if s != nil && f.isUnread(s) {
		err = f.enqueue(s, in)
	}
	changed := in.changed()
	f.mu.Lock()
	defer f.mu.Unlock()
	trouble := in.note(s, err, changed)
	if trouble != in.trouble && trouble != "" {
		news.Add(in.name, trouble)
	}
	in.trouble = trouble
	if changed || in.state == left || len(in.logs) > 1 {
		in.signal()
	}
}

// note notes how the name can be read, and returns what a person should know. The lock is held.
func (in *Input) note(s *source, err error, changed bool) string {
	in.unread = ""
	named := s != nil && s.log.in == in
	wasGone := in.gone
	in.gone = time.Time{}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		in.unread = err.Error()
		return cause(err) + "; trying again"
	case s != nil && s.state == part:
		in.unread = s.why()
		return ""
	case named, err == nil && s == nil:
		return ""
	case in.state == awaited && err != nil:
		in.unread = "was never there"
		return "is not there yet; waiting for it"
	}
	in.gone = wasGone
	if in.gone.IsZero() || changed {
		in.gone = time.Now()
	}
	if in.state == followed && in.waiting && time.Since(in.gone) >= in.follower.options.Gone {
		in.state = left
	}
	if in.pattern != nil || err == nil {
		return ""
	}
	return "is gone; waiting for it to come back"
}

// cause says why a name cannot be read, without the name.
func cause(err error) string {
	var inPath *fs.PathError
	if errors.As(err, &inPath) {
		return "cannot be read: " + inPath.Err.Error()
	}
	return err.Error()
}

// changed reports whether the file that is read has changed since its reader came to its end.
func (in *Input) changed() bool {
	file, before, waiting := in.reads()
	if file == nil || !waiting {
		return false
	}
	in.follower.step()
	now, err := file.Stat()
	return err != nil || !unchanged(before, now)
}

// reads returns the file that is read, as it was at its end, and whether its reader waits there.
func (in *Input) reads() (file *os.File, info fs.FileInfo, waiting bool) {
	f := in.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(in.logs) == 0 {
		return nil, nil, in.waiting
	}
	s := in.logs[0].current()
	if s == nil {
		return nil, nil, false
	}
	return s.open, s.info, in.waiting && len(in.logs) == 1
}

// mayLeave reports whether no log has come since the input was left.
func (in *Input) mayLeave() bool {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	return in.state == left && len(in.logs) == 1
}

// Next returns the next log, after the one before has been read to its end. It waits for the file
// to appear. It returns io.EOF when there is no further log, [ErrGone] when the input is left, and
// [ErrStopped] after [Follower.Stop].
func (in *Input) Next() (*Log, error) {
	if in.Once() {
		return in.once()
	}
	for {
		in.follower.mu.Lock()
		log, err := in.next()
		in.follower.mu.Unlock()
		if log != nil || err != nil {
			return log, err
		}
		in.wait()
	}
}

// next returns the next log, or why there is none any more, or neither. The lock is held.
func (in *Input) next() (*Log, error) {
	isStopped := func(l *Log) bool { return in.phase == stopping && l.reader.err != nil }
	switch {
	case in.phase != aborted && len(in.logs) > 0 && !isStopped(in.logs[0]):
		return in.logs[0], nil
	case in.phase != following:
		return nil, ErrStopped
	case in.state == left && in.pattern != nil:
		in.state = ended
		return nil, ErrGone
	}
	return nil, nil
}

// once returns the only log of an input that ends by itself. To open a named pipe waits for its
// writer.
func (in *Input) once() (*Log, error) {
	f := in.follower
	f.mu.Lock()
	before, phase := in.pipe.stream, in.phase
	f.mu.Unlock()
	switch {
	case before != nil:
		return nil, io.EOF
	case phase == aborted:
		return nil, ErrStopped
	}
	in.setWaiting(true)
	stream, err := in.pipe.open()
	in.setWaiting(false)
	f.mu.Lock()
	defer f.mu.Unlock()
	in.pipe.stream = stream
	return &Log{in: in, follower: f}, err
}

// read reads from a pipe.
func (in *Input) read(p []byte) (int, error) {
	in.follower.mu.Lock()
	phase := in.phase
	in.follower.mu.Unlock()
	if phase == aborted {
		return 0, ErrStopped
	}
	in.setWaiting(true)
	n, err := in.pipe.stream.Read(p)
	in.setWaiting(false)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrStopped
	}
	return n, err
}

// AtEnd reports whether all data there are were read and a read waits for more.
func (in *Input) AtEnd() bool {
	file, before, waiting := in.reads()
	if in.Once() {
		in.follower.mu.Lock()
		defer in.follower.mu.Unlock()
		return in.waiting
	}
	if file == nil || !waiting {
		return waiting
	}
	now, err := file.Stat()
	return err == nil && unchanged(before, now)
}

// Modified returns when the file that is read now was written last, and the present time if there
// is none.
func (in *Input) Modified() time.Time {
	if file, _, _ := in.reads(); file != nil {
		if info, err := file.Stat(); err == nil {
			return info.ModTime()
		}
	}
	return time.Now()
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
	in.follower.mu.Lock()
	in.waiting = waiting
	in.follower.mu.Unlock()
	if in.onWait != nil {
		in.onWait(waiting)
	}
}
