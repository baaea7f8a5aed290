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

// A Log is a text. It is an io.Reader for one goroutine at a time.
type Log struct {
	// Reading is the caller's, who reads the log: what it must know to read on.
	Reading any

	follower *Follower
	names
	resumed *Mark // where it goes on
	reader  reader

	// The follower's mu guards these.
	state      logState
	in         *Input // that reads it, nil if none does
	files      []*source
	triedUntil int // the number of the look at folders until which a reader without a file gets none
	read       progress
	again      Again // what a later run must read again
}

// A logState says who reads a log.
type logState int

const (
	// fresh: No input reads it yet, or none any more since the follower stops. It becomes queued.
	fresh logState = iota
	// sought: An earlier run has read more than this one, and no input reads it. It becomes queued
	// when a file is found that has that, or else gone or lost.
	sought
	// gone: As sought, and a message says that no file is found. It becomes queued.
	gone
	// lost: As gone, and windows lack some of its lines.
	lost
	// queued: An input reads it, or will when it has read those before it. It becomes over when it
	// is read to its end, and ending when the reader gets no file.
	queued
	// ending: An input reads it, and no file has the rest. It becomes over, or sought if an earlier
	// run has read more.
	ending
	// over: It was read to its end. It becomes queued again when a file has more.
	over
)

// Names are the first name of a log and, if that was a symbolic link, what it led to. Rotation
// makes other names with the same base.
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

// A reader is the state of the reader of a log. Others touch it only while the reader waits or has
// no file.
type reader struct {
	stream io.Reader // of the text, nil before it has a file
	buffer []byte    // was read, and is not handed over yet
	err    error
}

// A progress is how much was read of a log.
type progress struct {
	text   text    // hashes of what this run or an earlier one has read
	at     int64   // bytes that this run has handed over or left out
	lines  int     // of these
	whole  bool    // the last one has its end
	places []Place // where lines begin with which a later run may begin
	line   int     // this one, header and from are what Took received
	header string
	from   int
}

// newLog returns a log that begins at a path. If it has no comments, those of the log of which
// rotation made the name hold: a program that did not notice that its file was truncated writes
// none.
func (f *Follower) newLog(path string) *Log {
	f.step()
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
			l.resumed = &Mark{Header: before.read.header}
		}
	}
	f.logs = append(f.logs, l)
	return l
}

// lives reports whether a file has all that was read of the log. The lock is held.
func (l *Log) lives() bool {
	return slices.ContainsFunc(l.files, (*source).hasAll)
}

// current returns the file that the reader has, nil if the looker has to find one. The lock is
// held.
func (l *Log) current() *source {
	for _, s := range l.files {
		if s.state == current {
			return s
		}
	}
	return nil
}

// enqueue gives the log of a file to an input, which reads it after those before it. The error is
// for a file that cannot be opened.
func (f *Follower) enqueue(s *source, in *Input) error {
	isThere, err := f.reopen(s)
	if !isThere {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := s.log
	if l.in != nil || in.state == ended {
		return nil
	}
	if l.state == over && l.reader.err != nil { // this run has read it to its end
		l.resumed = &Mark{Header: l.read.header, Again: l.again}
	}
	if l.path != in.path && f.found != nil && l.read.at > 0 {
		f.options.Notice(in.path, "begins with all that was read of "+l.path+"; reading what follows")
	}
	l.state = queued
	l.in = in
	l.give(s)
	l.reader.err = nil
	in.logs = append(in.logs, l)
	in.state = followed
	in.signal()
	return nil
}

// give gives a file to the reader. The lock is held.
func (l *Log) give(s *source) {
	s.state = current
	l.triedUntil = 0
}

// finish ends the reading of a log, nothing of which is left for its input. If the reader has no
// file, the last one was truncated, and no other file has what was not read.
func (l *Log) finish() {
	f := l.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	in := l.in
	l.in = nil
	in.logs = slices.DeleteFunc(in.logs, func(other *Log) bool { return other == l })
	switch {
	case l.read.at < l.read.text.Size:
		l.state = sought
	case f.phase == following:
		l.state = over
	default:
		l.state = fresh
	}
	s := l.current()
	switch {
	case s != nil:
		s.size = l.read.text.Size
		s.state = spare
	case f.phase == following || !f.options.Continues: // else a later run seeks it
		f.options.Notice(in.name, truncated)
	}
	l.reader.stream = nil
	l.reader.err = io.EOF
}

// Read reads the next bytes of the text. It hands over whole lines as long as the file may grow. At
// the end it waits until there are more, another log has the name, or the follower is stopped. Then
// it returns io.EOF, or [ErrStopped] if [Options.Continues] is set or reading is aborted.
func (l *Log) Read(p []byte) (int, error) {
	if pipe := l.in; pipe != nil && pipe.pipe != nil {
		return pipe.read(p)
	}
	for len(p) > 0 {
		whole := bytes.LastIndexByte(l.reader.buffer, '\n') + 1
		if whole == 0 && (l.reader.err != nil || len(l.reader.buffer) >= mostLine) {
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
				l.finish()
			}
			return 0, l.reader.err
		}
		l.reader.err = l.fill()
	}
	return 0, nil
}

// mostLine is the number of bytes of a line that are held back until its end comes.
const mostLine = 64 << 10

// errTaken is the error for a file that the reader has no more.
var errTaken = errors.New("another file may have the rest")

// fill reads more of the text.
func (l *Log) fill() error {
	if l.reader.stream == nil {
		err := l.begin()
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
		l.reader.buffer = l.reader.buffer[:0] // what it begins comes again
		l.reader.stream = nil
		return nil
	case got > 0:
		return nil
	}
	return err
}

// fillSize is the number of bytes that are read at once.
const fillSize = 16 << 10

// begin begins to read the file that the looker has given to the reader, or waits until it has one.
func (l *Log) begin() error {
	f := l.follower
	f.mu.Lock()
	in := l.in
	phase := in.phase
	s := l.current()
	isOver := l.state == ending || phase == stopping
	r := &raw{log: l, file: s, offset: l.read.at}
	if s != nil {
		r.from = s.open
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
	_, err := io.CopyN(io.Discard, stream, l.read.at)
	if errors.Is(err, errTaken) {
		return nil
	}
	if err == nil {
		l.reader.stream = stream
	}
	return err
}

// A raw reads the bytes of a file of a log, and waits for more at their end.
type raw struct {
	log    *Log
	file   *source
	from   *os.File
	offset int64
}

func (r *raw) Read(p []byte) (int, error) {
	l, s := r.log, r.file
	f := l.follower
	for {
		// What is known before the read is true of the data that it finds.
		f.mu.Lock()
		in := l.in
		phase := in.phase
		replaced := len(in.logs) > 1
		isLeft := in.state == left
		taken := r.isTaken()
		f.mu.Unlock()
		switch {
		case phase == aborted:
			return 0, ErrStopped
		case taken:
			return 0, errTaken
		}
		f.step()
		info, err := r.from.Stat()
		if err != nil {
			return 0, r.orTaken(err)
		}
		f.step()
		n, err := r.from.ReadAt(p, r.offset)
		if !f.intact(s, r.from, r.offset+int64(n)) { // maybe while it was read
			r.giveBack()
			return 0, errTaken
		}
		switch {
		case n > 0:
			r.offset += int64(n)
			return n, r.orTaken(nil)
		case err != nil && err != io.EOF:
			return 0, r.orTaken(err)
		}
		f.mu.Lock()
		s.info = info
		s.size = l.read.at + int64(len(l.reader.buffer))
		f.mu.Unlock()
		switch {
		case replaced, isLeft && phase == following && in.mayLeave():
			return 0, io.EOF
		case phase == stopping && f.options.Continues && !s.packed:
			return 0, ErrStopped // the reader of a packed one must know whether it is cut short
		case phase == stopping:
			return 0, io.EOF
		}
		in.wait()
	}
}

// isTaken reports whether the reader has the file no more, or has it anew. The lock is held.
func (r *raw) isTaken() bool { return r.file.state != current || r.file.open != r.from }

// giveBack says that a file has another text now, if the reader still has it.
func (r *raw) giveBack() {
	f := r.log.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	if !r.isTaken() {
		r.file.state = rewritten
	}
}

// orTaken returns an error, or that the reader has the file no more.
func (r *raw) orTaken(err error) error {
	f := r.log.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.isTaken() {
		return errTaken
	}
	return err
}

// advance counts bytes as handed over.
func (l *Log) advance(read []byte) {
	f := l.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	l.place(read)
	l.read.at += int64(len(read))
	if more := l.read.at - l.read.text.Size; more > 0 { // an earlier run has hashed what comes before
		l.read.text.Write(read[max(int64(len(read))-more, 0):])
	}
	l.read.lines += bytes.Count(read, []byte{'\n'})
	l.read.whole = read[len(read)-1] == '\n'
}

// mostPlaces is the number of places that a log has. More become coarser.
const mostPlaces = 256

// place notes where the first line begins in what is handed over next.
func (l *Log) place(read []byte) {
	if !l.read.whole && l.read.at > 0 {
		return
	}
	if len(l.read.places) == mostPlaces {
		for n := range mostPlaces / 2 {
			l.read.places[n] = l.read.places[2*n]
		}
		l.read.places = l.read.places[:mostPlaces/2]
	}
	l.read.places = append(l.read.places, Place{Line: l.read.lines + 1, Byte: l.read.at})
}

// Resumed returns the mark of the log, if there is one. What is before it was read earlier.
func (l *Log) Resumed() *Mark { return l.resumed }

// Begin returns the number of the first line that is read.
func (l *Log) Begin() int { return l.read.lines + 1 }

// Took says that the lines of the log up to one count. Header has the comments that hold for later
// lines. A later run that begins at line headerFrom, or behind it, needs no other comments.
func (l *Log) Took(line int, header string, headerFrom int) {
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	l.read.line = max(l.read.line, line)
	l.read.header = header
	l.read.from = headerFrom
}

// ReadAgain sets what a later run must read again of the log.
func (l *Log) ReadAgain(a Again) {
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	l.again = a
}
