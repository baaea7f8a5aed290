package follow

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"hdrkit/internal/base/message"
)

// An Input is a file name or a pipe. A file name stands for several logs one after another.
type Input struct {
	// Tag is for the caller, who sets it before the input is handed over.
	Tag string

	name     string
	path     string   // of a file or a named pipe, empty for a stream
	pipe     *pipe    // nil for a file
	pattern  *pattern // that found the file, nil if AddFile named it
	follower *Follower
	wake     chan struct{} // wakes a reader that waits
	onWait   func(waiting bool)

	// The follower's mu guards these.
	logs    []*Log // the first log is read, the others wait for its end
	waiting bool   // the reader waits for data
	failure error  // of the last read, nil if data came
	phase   phase
	naming  naming
}

// A pipe is a stream that can be read once, such as standard input. The follower's mu guards it.
type pipe struct {
	open   func() (io.Reader, error)
	stream io.Reader // nil before the pipe is open
}

// file returns the stream if it is a file of the operating system, otherwise nil.
func (p *pipe) file() *os.File {
	file, _ := p.stream.(*os.File)
	return file
}

// A naming is what the looker knows about the name of an input.
type naming struct {
	state       nameState
	saidTrouble string    // the last message why the name cannot be read, empty if it can be read now
	unreadWhy   string    // why no log of this name is read, empty if one is read
	goneSince   time.Time // since when the name has led to no log of the input, zero if it leads to one
}

// A nameState says whether the name of an input leads to logs.
type nameState int

const (
	awaited  nameState = iota // the name has not led to a log yet
	followed                  // the name leads to a log, or has done so until recently
	left                      // the name leads to no log for long; the last file is closed at its end
	ended                     // [Input.Next] has returned [ErrGone]
)

// nameChanges are the states that may follow each state of a name.
var nameChanges = changes[nameState]{
	awaited:  {followed},
	followed: {left},
	left:     {followed, ended},
}

// Name returns the path of the file or pipe, or "-" for standard input.
func (in *Input) Name() string { return in.name }

// IsPipe reports whether the input can be read only once and ends with its writer.
func (in *Input) IsPipe() bool { return in.pipe != nil }

// OnWait sets a function that the reading goroutine calls when it begins to wait for data, and when
// it stops waiting. Call OnWait before the first read.
func (in *Input) OnWait(f func(waiting bool)) { in.onWait = f }

// Unread returns why no log of the input's name is read, or why reading fails. It is empty if
// reading works.
func (in *Input) Unread() string {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	return in.naming.unreadWhy
}

// Abort ends the reading of this input at once.
func (in *Input) Abort() {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	in.enter(aborted)
}

// enter begins a phase. The lock is held.
func (in *Input) enter(p phase) {
	in.phase = max(in.phase, p)
	if in.phase == aborted && in.pipe != nil && in.pipe.file() != nil {
		in.pipe.file().SetReadDeadline(time.Unix(1, 0)) // ends a waiting read, where the system supports it
	}
	in.signal()
}

// signal wakes the reader if it waits.
func (in *Input) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// errNoFile is the error for a name that led to a file and now leads to something else.
var errNoFile = errors.New("is a pipe, a folder or a device, and no file any more")

// look examines the file that has the name of the input, and the file that is read. It adds to news
// what a person should know about them.
func (in *Input) look(news *message.Group) {
	f := in.follower
	f.mu.Lock()
	state := in.naming.state
	f.mu.Unlock()
	if in.IsPipe() || state == ended {
		return
	}
	f.beforeAccess()
	info, err := os.Stat(in.path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	var s *source
	if err == nil {
		s, err = f.find(in.path, info, func() { f.examineOriginal(in.pattern, in.path, news) })
	}
	if s != nil && f.isUnread(s) {
		err = f.enqueue(s, in)
	}
	changed := in.changed()
	f.mu.Lock()
	defer f.mu.Unlock()
	trouble := in.note(s, err, changed)
	if trouble != in.naming.saidTrouble && trouble != "" {
		news.Add(in.name, trouble)
	}
	in.naming.saidTrouble = trouble
	if changed || in.failure != nil || in.naming.state == left || len(in.logs) > 1 {
		in.signal()
	}
}

// note stores whether the name can be read, and returns a message if a person should know
// something. The file of the name is s, and err says why it was not found. Changed says that the
// file that is read has changed. The lock is held.
func (in *Input) note(s *source, err error, changed bool) string {
	in.naming.unreadWhy = ""
	named := s != nil && s.log.in == in
	wasGone := in.naming.goneSince
	in.naming.goneSince = time.Time{}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		in.naming.unreadWhy = err.Error()
		return cause(err) + "; trying again"
	case s != nil && s.state == partial:
		in.naming.unreadWhy = s.whyUnread()
		return ""
	case err == nil && in.failure != nil:
		in.naming.unreadWhy = in.failure.Error()
		return cause(in.failure) + "; trying again"
	case named, err == nil && s == nil:
		return ""
	case in.naming.state == awaited && err != nil:
		in.naming.unreadWhy = "was never there"
		return "is not there yet; waiting for it"
	}
	in.naming.goneSince = wasGone
	if in.naming.goneSince.IsZero() || changed {
		in.naming.goneSince = time.Now()
	}
	if in.naming.state == followed && in.waiting && time.Since(in.naming.goneSince) >= in.follower.options.CloseAfter {
		nameChanges.apply(&in.naming.state, left)
	}
	if in.pattern != nil || err == nil {
		return ""
	}
	return "is gone; waiting for it to come back"
}

// cause returns the text of an error about a file, without the path.
func cause(err error) string {
	var inPath *fs.PathError
	if errors.As(err, &inPath) {
		return "cannot be read: " + inPath.Err.Error()
	}
	return err.Error()
}

// changed reports whether the file that is read has changed since its reader came to the end.
func (in *Input) changed() bool {
	file, before, waiting := in.reads()
	if file == nil || !waiting {
		return false
	}
	in.follower.beforeAccess()
	now, err := file.Stat()
	return err != nil || !unchanged(before, now)
}

// reads returns the file that is read, how it was when its reader came to the end, and whether the
// reader waits there.
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
	return s.file, s.comparedInfo, in.waiting && len(in.logs) == 1
}

// fails reports whether the last read of the input failed.
func (in *Input) fails() bool {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	return in.failure != nil
}

// setFailure notes how the last read ended: with an error, or nil.
func (in *Input) setFailure(err error) {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	in.failure = err
}

// mayLeave reports whether the state is still left, and no further log has come.
func (in *Input) mayLeave() bool {
	in.follower.mu.Lock()
	defer in.follower.mu.Unlock()
	return in.naming.state == left && len(in.logs) == 1
}

// Next returns the next log, after the log before was read to its end. It waits until a file
// appears or a named pipe is opened. These errors end an input:
//
//   - io.EOF: The input is a pipe, which has only one log.
//   - [ErrGone]: The input is a file that matched a pattern, and its name has led to no log for
//     long.
//   - [ErrStopped]: [Follower.Stop] was called, and the files that were there have been read to
//     their ends. Or reading was aborted. A pipe does not end at Stop.
//
// Next also returns the error of opening a named pipe.
func (in *Input) Next() (*Log, error) {
	if in.IsPipe() {
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

// next returns the next log, or an error if there is none any more. It returns neither if a log may
// still come. The lock is held.
func (in *Input) next() (*Log, error) {
	isStopped := func(l *Log) bool { return in.phase == stopping && l.reader.err != nil }
	switch {
	case in.phase != aborted && len(in.logs) > 0 && !isStopped(in.logs[0]):
		return in.logs[0], nil
	case in.phase != following:
		return nil, ErrStopped
	case in.naming.state == left && in.pattern != nil:
		nameChanges.apply(&in.naming.state, ended)
		return nil, ErrGone
	}
	return nil, nil
}

// once returns the only log of a pipe. Opening a named pipe waits for its writer.
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

// read reads from the pipe.
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

// AtEnd reports whether the reader waits and has read all data that can be read at present.
func (in *Input) AtEnd() bool {
	file, before, waiting := in.reads()
	if in.IsPipe() || in.fails() {
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

// Modified returns when the file that is read was written last, or the present time if there is no
// such file.
func (in *Input) Modified() time.Time {
	if file, _, _ := in.reads(); file != nil {
		if info, err := file.Stat(); err == nil {
			return info.ModTime()
		}
	}
	return time.Now()
}

// wait waits until signal is called.
func (in *Input) wait() {
	in.setWaiting(true)
	for in.follower.serial && len(in.wake) == 0 {
		in.follower.beforeAccess()
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
