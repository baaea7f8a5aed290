package follow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"hdrkit/internal/base/plaintext"
)

// A Log is a text that a program appends to. It is an io.Reader for one goroutine at a time.
type Log struct {
	// ReaderState is for the caller that reads the log: what it needs to go on reading later.
	ReaderState any

	follower *Follower
	names
	mark   *Mark // where an earlier run stopped reading; nil for a new log without comments from before
	reader reader

	// The follower's mu guards these.
	state           logState
	in              *Input // that reads the log, nil if none does
	files           []*source
	searchUntilScan int // a reader without a file waits for one until this scan of folders
	read            progress
	again           Again // what a later run must read again
}

// A logState says who reads a log.
type logState int

const (
	// fresh: No input reads the log yet, or none reads it any more because the follower stops.
	fresh logState = iota
	// sought: An earlier run has read more of the log than this run, and no file with the rest is
	// found yet.
	sought
	// gone: As sought, and a message says that no file is found.
	gone
	// lost: As gone, and windows lack some lines of the log.
	lost
	// queued: An input reads the log, or will when it has read the logs before this one.
	queued
	// ending: An input reads the log, and no file has the rest of it.
	ending
	// over: The log was read to its end. A file may still get more lines.
	over
)

// logChanges are the states that may follow each state of a log.
var logChanges = changes[logState]{
	fresh:  {queued},
	sought: {queued, gone, lost},
	gone:   {queued},
	lost:   {queued},
	queued: {ending, over, sought, fresh},
	ending: {over, sought, fresh},
	over:   {queued},
}

// Names are the first name of a log and, if this is a symbolic link, the path of its target. Each
// has a base, see [base].
type names struct {
	path, base         string
	target, targetBase string
}

func newNames(path, target string) names {
	n := names{
		path:   path,
		base:   base(path),
		target: target,
	}
	if target != "" {
		n.targetBase = base(target)
	}
	return n
}

// A reader is what reads the text of a log. Other goroutines use it only while the reader waits or
// has no file.
type reader struct {
	stream io.Reader // of the text, nil while there is no file
	buffer []byte    // bytes that were read and not returned by Read yet
	err    error
}

// A progress says how much of a log was read.
type progress struct {
	text      text    // hashes of what this run or an earlier one has read
	offset    int64   // number of bytes that this run has returned or skipped
	lineCount int     // number of lines in these bytes
	endsLine  bool    // these bytes end with a line break
	places    []Place // beginnings of lines where a later run may start to read

	// These are what SetCounted received last.
	countedLine int
	header      string
	headerFrom  int
}

// newLog adds a log that begins in the file at path. If rotation has made the name from that of an
// earlier log, or it is the same name, the mark of the new log has the comments of the earlier one.
// They hold if the new log has no times: a program that did not notice a truncation writes no
// comments again.
func (f *Follower) newLog(path string) *Log {
	f.beforeAccess()
	target := ""
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		target, _ = filepath.EvalSymlinks(path)
	}
	l := &Log{follower: f, names: newNames(path, target)}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, before := range f.logs {
		rotated := filepath.Base(before.path) == l.base && isBelow(path, before.path)
		if before.read.header != "" && (before.path == path || rotated) {
			l.mark = &Mark{Header: before.read.header}
		}
	}
	f.logs = append(f.logs, l)
	return l
}

// lives reports whether a file has all that was read of the log. The lock is held.
func (l *Log) lives() bool {
	return slices.ContainsFunc(l.files, (*source).hasAll)
}

// current returns the file that the reader of the log has, or nil if it has none. The lock is held.
func (l *Log) current() *source {
	for _, s := range l.files {
		if s.state == current {
			return s
		}
	}
	return nil
}

// enqueue gives a log to an input, which reads it after its other logs. The log is that of the file
// s, from which it is read first. The error says why the file cannot be opened.
func (f *Follower) enqueue(s *source, in *Input) error {
	isThere, err := f.reopen(s)
	if !isThere {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := s.log
	if l.in != nil || in.naming.state == ended {
		return nil
	}
	if l.state == over && l.reader.err != nil { // this run has read the log to its end before
		l.mark = &Mark{Header: l.read.header, Again: l.again}
	}
	if l.path != in.path && f.onFound != nil && l.read.offset > 0 {
		f.options.Notice(in.path, "begins with all that was read of "+l.path+"; reading what follows")
	}
	logChanges.apply(&l.state, queued)
	l.in = in
	l.giveFile(s)
	l.reader.err = nil
	in.logs = append(in.logs, l)
	nameChanges.apply(&in.naming.state, followed)
	in.signal()
	return nil
}

// giveFile gives a file to the reader of the log. The lock is held.
func (l *Log) giveFile(s *source) {
	s.setState(current)
	l.searchUntilScan = 0
}

// finishReading ends the reading of a log at its end. If the reader has no file, the last file was
// truncated, and no other file has the text that was not read.
func (l *Log) finishReading() {
	f := l.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	in := l.in
	l.in = nil
	in.logs = slices.DeleteFunc(in.logs, func(other *Log) bool { return other == l })
	switch {
	case l.read.offset < l.read.text.Size:
		logChanges.apply(&l.state, sought)
	case f.phase == following:
		logChanges.apply(&l.state, over)
	default:
		logChanges.apply(&l.state, fresh)
	}
	s := l.current()
	switch {
	case s != nil:
		s.sharedSize = l.read.text.Size
		s.setState(spare)
	case f.phase == following || !f.options.Continues: // otherwise a later run searches the rest
		f.options.Notice(in.name, truncated)
	}
	l.reader.stream = nil
	l.reader.err = io.EOF
}

// Read reads the next bytes of the text. While the file may still grow, it returns whole lines
// only. At the end of the text, it waits for more. It returns io.EOF if another log has the name,
// or after [Follower.Stop]. It returns [ErrStopped] after a stop with [Options.Continues], and
// after [Follower.Abort].
func (l *Log) Read(p []byte) (int, error) {
	if in := l.in; in != nil && in.pipe != nil {
		return in.read(p)
	}
	for len(p) > 0 {
		whole := bytes.LastIndexByte(l.reader.buffer, '\n') + 1
		if whole == 0 && (l.reader.err != nil || len(l.reader.buffer) >= maxLine) {
			whole = len(l.reader.buffer)
		}
		if whole > 0 && !errors.Is(l.reader.err, ErrStopped) {
			n := copy(p, l.reader.buffer[:whole])
			l.advance(p[:n])
			l.reader.buffer = append(l.reader.buffer[:0], l.reader.buffer[n:]...)
			return n, nil
		}
		if l.reader.err != nil {
			if errors.Is(l.reader.err, io.EOF) && l.in != nil {
				l.finishReading()
			}
			return 0, l.reader.err
		}
		l.reader.err = l.fill()
	}
	return 0, nil
}

// maxLine is the number of bytes of an incomplete line after which Read returns them without
// waiting for the end of the line.
const maxLine = 64 << 10

// errTaken is the error for a file that the looker has taken from the reader.
var errTaken = errors.New("another file may have the rest")

// fill reads more text into the buffer. If the reader has no file, fill waits for one.
func (l *Log) fill() error {
	if l.reader.stream == nil {
		err := l.startStream()
		if l.reader.stream == nil {
			return err
		}
	}
	n := len(l.reader.buffer)
	l.reader.buffer = slices.Grow(l.reader.buffer, fillSize)
	got, err := l.reader.stream.Read(l.reader.buffer[n : n+fillSize])
	l.reader.buffer = l.reader.buffer[:n+got]
	switch {
	case errors.Is(err, errTaken):
		l.reader.buffer = l.reader.buffer[:0] // the next file has these bytes, too
		l.reader.stream = nil
		return nil
	case got > 0:
		return nil
	}
	return err
}

// fillSize is the number of bytes that one read asks for.
const fillSize = 16 << 10

// startStream begins to read the file that the looker has given to the reader, where the file
// before was left. If there is no file, startStream waits until something changes.
func (l *Log) startStream() error {
	f := l.follower
	f.mu.Lock()
	in := l.in
	phase := in.phase
	s := l.current()
	isOver := l.state == ending || phase == stopping
	r := &fileReader{log: l, source: s, offset: l.read.offset}
	if s != nil {
		r.from = s.file
	}
	f.mu.Unlock()
	switch {
	case phase == aborted:
		return ErrStopped
	case s == nil && isOver:
		return io.EOF
	case s == nil:
		in.wait()
		return nil
	case !s.packed:
		l.reader.stream = r
		return nil
	}
	r.offset = 0
	stream := plaintext.NewReader(r)
	_, err := io.CopyN(io.Discard, stream, l.read.offset)
	if errors.Is(err, errTaken) {
		return nil
	}
	if err == nil {
		l.reader.stream = stream
	}
	return err
}

// A fileReader reads the bytes of one file of a log. At the end of the file it waits for more.
type fileReader struct {
	log    *Log
	source *source
	from   *os.File
	offset int64 // of the next byte to read
}

func (r *fileReader) Read(p []byte) (int, error) {
	l, s := r.log, r.source
	f := l.follower
	for {
		// What holds before a read is true of the data that the read finds.
		f.mu.Lock()
		in := l.in
		phase := in.phase
		replaced := len(in.logs) > 1
		isLeft := in.naming.state == left
		taken := r.isTaken()
		f.mu.Unlock()
		switch {
		case phase == aborted:
			return 0, ErrStopped
		case taken:
			in.setFailure(nil)
			return 0, errTaken
		}
		n, info, err := r.readOnce(p)
		if err == nil && !f.intact(s, r.from, r.offset+int64(n)) { // maybe truncated during the read
			r.giveBack()
			err = errTaken
		}
		switch {
		case errors.Is(err, errTaken):
			return 0, errTaken
		case n > 0:
			in.setFailure(nil)
			r.offset += int64(n)
			return n, r.orTaken(nil)
		case err == nil:
			f.mu.Lock()
			s.comparedInfo = info
			s.sharedSize = l.read.offset + int64(len(l.reader.buffer))
			f.mu.Unlock()
		}
		in.setFailure(err)
		switch {
		case replaced, isLeft && phase == following && in.mayLeave():
			if err != nil {
				f.options.Lost(in.name, cause(err)+"; lines that were not read are missing")
				in.setFailure(nil)
			}
			return 0, io.EOF
		case phase == stopping && f.options.Continues && !s.packed:
			return 0, ErrStopped // the reader of a packed file must find out whether it is cut short
		case phase == stopping && err != nil:
			return 0, r.orTaken(err)
		case phase == stopping:
			return 0, io.EOF
		}
		in.wait()
	}
}

// readOnce reads once. It returns no bytes and no error at the end of the file, and how the file
// was before the read.
func (r *fileReader) readOnce(p []byte) (n int, before fs.FileInfo, err error) {
	f := r.log.follower
	f.beforeAccess()
	before, err = r.from.Stat()
	if err != nil {
		return 0, nil, err
	}
	f.beforeAccess()
	n, err = r.from.ReadAt(p, r.offset)
	if n > 0 || err == io.EOF {
		err = nil
	}
	return n, before, err
}

// isTaken reports whether the looker has taken the file from the reader, or has opened it again
// since. The lock is held.
func (r *fileReader) isTaken() bool { return r.source.state != current || r.source.file != r.from }

// giveBack marks the file as rewritten, unless the looker has taken it meanwhile.
func (r *fileReader) giveBack() {
	f := r.log.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	if !r.isTaken() {
		r.source.setState(rewritten)
	}
}

// orTaken returns err, or errTaken if the looker has taken the file meanwhile.
func (r *fileReader) orTaken(err error) error {
	f := r.log.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.isTaken() {
		return errTaken
	}
	return err
}

// advance counts bytes that Read returns, and hashes those that no earlier run has hashed.
func (l *Log) advance(read []byte) {
	f := l.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	l.notePlace()
	l.read.offset += int64(len(read))
	if more := l.read.offset - l.read.text.Size; more > 0 { // an earlier run has hashed the bytes before these
		l.read.text.Write(read[max(int64(len(read))-more, 0):])
	}
	l.read.lineCount += bytes.Count(read, []byte{'\n'})
	l.read.endsLine = read[len(read)-1] == '\n'
}

// maxPlaces is the number of places that a log keeps. When there are more, every second one is
// removed.
const maxPlaces = 256

// notePlace adds a place if a line begins at the present offset.
func (l *Log) notePlace() {
	if !l.read.endsLine && l.read.offset > 0 {
		return
	}
	if len(l.read.places) == maxPlaces {
		for n := range maxPlaces / 2 {
			l.read.places[n] = l.read.places[2*n]
		}
		l.read.places = l.read.places[:maxPlaces/2]
	}
	l.read.places = append(l.read.places, Place{Line: l.read.lineCount + 1, Byte: l.read.offset})
}

// Mark returns the mark from which the log goes on, nil if there is none. An earlier run has read
// the lines before it.
func (l *Log) Mark() *Mark { return l.mark }

// FirstLine returns the number of the line that is read next.
func (l *Log) FirstLine() int { return l.read.lineCount + 1 }

// SetCounted says that the caller has taken all lines up to line. The header has the comments that
// hold for later lines. A later run that begins at the line headerFrom or after it needs no other
// comments.
func (l *Log) SetCounted(line int, header string, headerFrom int) {
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	l.read.countedLine = max(l.read.countedLine, line)
	l.read.header = header
	l.read.headerFrom = headerFrom
}

// SetAgain sets which of the counted lines a later run must read again.
func (l *Log) SetAgain(a Again) {
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	l.again = a
}
