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
	path     string // the first name
	target   string // what that led to, if it was a symbolic link
	stream   io.Reader
	buffer   []byte // was read, and is not handed over yet
	err      error

	// The follower's mu guards these.
	in      *Input // that reads it, nil if none does
	sources []*source
	current *source // that is read
	lostAt  int     // the number of looks when it was lost
	over    bool    // nothing is left to read unless a source has more
	earlier bool    // an earlier run has read it
	said    bool    // a message says that it is gone
	lost    bool    // windows lack some of its lines
	progress
	resumed *Mark // where it goes on
	again   Again // what a later run must read again
}

// A progress is how much was read of a log.
type progress struct {
	whole     bool    // the last line that was handed over has its end
	at        int64   // bytes of text that were handed over
	lines     int     // of these
	bytesRead int64   // of the current source
	text      text    // hashes of what this run or an earlier one has read
	reread    int64   // what an earlier run has read
	places    []Place // where lines begin with which a later run may begin
	line      int     // this one, header and headerFrom are what Took received
	header    string
	from      int
}

// addLog adds a log. The lock is held.
func (f *Follower) addLog(l *Log) *Log {
	l.follower = f
	f.logs = append(f.logs, l)
	return l
}

// newLog adds a log that begins at a path. The comments of the log before it hold for it if it has
// no others: a program that did not notice that its file was truncated writes none.
func (f *Follower) newLog(path string) *Log {
	l := &Log{path: path}
	if link, err := os.Lstat(l.path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		l.target, _ = filepath.EvalSymlinks(l.path)
	}
	for _, before := range f.logs {
		if before.header != "" && isBelow(path, before.path) && derived(path, before.path) {
			l.resumed = &Mark{Header: before.header}
		}
	}
	return f.addLog(l)
}

// lives reports whether a file has all that is known of the log. The lock is held.
func (l *Log) lives() bool {
	return slices.ContainsFunc(l.sources, func(s *source) bool {
		return s == l.current || s.size >= l.text.Size
	})
}

// enqueue gives a log to an input, which reads it after those before it.
func (f *Follower) enqueue(l *Log, in *Input) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.in != nil || in.ended {
		return
	}
	if l.over && l.at > 0 {
		m := l.known()
		m.Line = max(l.line, l.lines)
		m.Header = l.header
		l.resumed = &m
	}
	if l.path != in.path && f.found != nil && l.at > 0 {
		f.options.Notice(in.path, "begins with all that was read of "+l.path+"; reading what follows")
	}
	l.in = in
	l.over = false
	l.err = nil
	in.logs = append(in.logs, l)
	in.found = true
	in.left = false
	in.signal()
}

// finish ends the reading of a log, nothing of which is left for its input.
func (l *Log) finish() {
	f := l.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	l.in.logs = slices.DeleteFunc(l.in.logs, func(other *Log) bool { return other == l })
	l.in = nil
	l.over = f.phase == following && l.at >= l.reread
	l.stream = nil
	l.err = io.EOF
}

// Read reads the next bytes of the text. It hands over whole lines as long as the file may grow. At
// the end it waits until there are more, another log has the name, or the follower is stopped. Then
// it returns io.EOF, or [ErrStopped] if [Options.Continues] is set or reading is aborted.
func (l *Log) Read(p []byte) (int, error) {
	if pipe := l.in; pipe != nil && pipe.pipe != nil {
		return pipe.read(p)
	}
	for len(p) > 0 {
		whole := bytes.LastIndexByte(l.buffer, '\n') + 1
		if whole == 0 && (l.err != nil || len(l.buffer) >= mostLine) {
			whole = len(l.buffer)
		}
		if whole > 0 && !errors.Is(l.err, ErrStopped) {
			n := copy(p, l.buffer[:whole])
			l.advance(p[:n])
			l.buffer = append(l.buffer[:0], l.buffer[n:]...)
			return n, nil
		}
		if l.err != nil {
			if errors.Is(l.err, io.EOF) && l.in != nil {
				l.finish()
			}
			return 0, l.err
		}
		l.err = l.fill()
		if errors.Is(l.err, io.EOF) && l.current == nil { // no file has the rest of the last line
			l.buffer = l.buffer[:0]
		}
	}
	return 0, nil
}

// mostLine is the number of bytes of a line that are held back until its end comes.
const mostLine = 64 << 10

// errSwitch is the error for a file that does not have what follows.
var errSwitch = errors.New("another file may have the rest")

// fill reads more of the text.
func (l *Log) fill() error {
	if l.stream == nil {
		done, err := l.open()
		if done || err != nil {
			return err
		}
	}
	n := len(l.buffer)
	l.buffer = slices.Grow(l.buffer, fillSize)
	got, err := l.stream.Read(l.buffer[n : n+fillSize])
	l.buffer = l.buffer[:n+got]
	switch {
	case errors.Is(err, errSwitch):
		l.buffer = l.buffer[:0] // what it begins comes again
		l.stream = nil
		return nil
	case got > 0:
		return nil
	}
	return err
}

// fillSize is the number of bytes that are read at once.
const fillSize = 16 << 10

// open opens the source that has what follows. It waits for one if the file was truncated: a look
// at all names may find a copy. It reports done if it has waited, or if the reading ends.
func (l *Log) open() (done bool, err error) {
	f := l.follower
	f.mu.Lock()
	in := l.in
	phase := in.phase
	waits := phase == following && len(f.patterns) > 0 && l.lostAt > 0 && f.looks <= l.lostAt
	f.mu.Unlock()
	if phase == aborted {
		return true, ErrStopped
	}
	s := l.choose()
	switch {
	case s == nil && waits:
		in.wait()
		return true, nil
	case s == nil:
		return true, io.EOF
	}
	l.stream = &raw{log: l, source: s}
	if !s.packed {
		return false, nil
	}
	l.stream = plaintext.NewReader(l.stream)
	_, err = io.CopyN(io.Discard, l.stream, l.at)
	if errors.Is(err, errSwitch) {
		l.stream = nil
		return true, nil
	}
	return err != nil, err
}

// choose returns the source to read, nil if there is none: that which has the name of the input, or
// one that has most.
func (l *Log) choose() *source {
	f := l.follower
	for {
		f.mu.Lock()
		var best *source
		for _, s := range l.sources {
			whole := s.file != nil && s.size >= max(l.at, l.text.Size)
			if whole && (best == nil || s.path == l.in.path || best.path != l.in.path && s.size > best.size) {
				best = s
			}
		}
		l.current = best
		l.bytesRead = l.at
		if best != nil && best.packed {
			l.bytesRead = 0
		}
		verified := best != nil && (best.known == l.text.Size || l.text.Size == 0)
		f.mu.Unlock()
		if best == nil {
			return nil
		}
		intact := f.intact(best, 0)
		if verified && intact {
			return best
		}
		var c comparison
		same := false
		if intact {
			c, same = f.compare(l, best)
		}
		if !same && (!intact || best.path == l.path) {
			l.in.sayTruncated()
		}
		f.mu.Lock()
		if same && c.sure && c.size >= l.at {
			best.known = c.known
			f.mu.Unlock()
			return best
		}
		f.drop(best)
		f.mu.Unlock()
	}
}

// A raw reads the bytes of a source, and waits for more at their end.
type raw struct {
	log    *Log
	source *source
}

func (r *raw) Read(p []byte) (int, error) {
	l, s := r.log, r.source
	f := l.follower
	for {
		// What is known before the read is true of the data that it finds.
		f.mu.Lock()
		in := l.in
		phase := in.phase
		replaced := len(in.logs) > 1
		left := in.left
		lost := l.current != s
		f.mu.Unlock()
		switch {
		case phase == aborted:
			return 0, ErrStopped
		case lost:
			return 0, errSwitch
		}
		f.step()
		info, err := s.file.Stat()
		if err != nil {
			return 0, err
		}
		f.step()
		n, err := s.file.ReadAt(p, l.bytesRead)
		switch {
		case !f.intact(s, l.bytesRead+int64(n)): // maybe while it was read
			in.sayTruncated()
			f.mu.Lock()
			f.drop(s)
			f.mu.Unlock()
			return 0, errSwitch
		case n > 0:
			f.mu.Lock()
			l.bytesRead += int64(n)
			f.mu.Unlock()
			return n, nil
		case err != nil && err != io.EOF:
			return 0, err
		}
		f.mu.Lock()
		s.info = info
		s.size = l.at + int64(len(l.buffer))
		f.mu.Unlock()
		switch {
		case l.hasSpare(s):
			f.mu.Lock()
			f.drop(s)
			f.mu.Unlock()
			return 0, errSwitch
		case replaced, left && phase == following && in.mayLeave():
			return 0, io.EOF
		case phase == stopping && f.options.Continues && !s.packed:
			return 0, ErrStopped // the reader of a packed one must know whether it is cut short
		case phase == stopping:
			return 0, io.EOF
		}
		in.wait()
	}
}

// hasSpare reports whether another source has more than one that has no name any more.
func (l *Log) hasSpare(s *source) bool {
	f := l.follower
	f.mu.Lock()
	spare := slices.ContainsFunc(l.sources, func(other *source) bool {
		return other != s && other.file != nil && other.size > l.at+int64(len(l.buffer))
	})
	f.mu.Unlock()
	return spare && !f.isNamed(s)
}

// advance counts bytes as handed over.
func (l *Log) advance(read []byte) {
	f := l.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	l.place(read)
	l.at += int64(len(read))
	if more := l.at - l.text.Size; more > 0 { // an earlier run has hashed what comes before
		l.text.Write(read[max(int64(len(read))-more, 0):])
	}
	l.lines += bytes.Count(read, []byte{'\n'})
	l.whole = read[len(read)-1] == '\n'
}

// mostPlaces is the number of places that a log has. More become coarser.
const mostPlaces = 256

// place notes where the first line begins in what is handed over next.
func (l *Log) place(read []byte) {
	if !l.whole && l.at > 0 {
		return
	}
	if len(l.places) == mostPlaces {
		for n := range mostPlaces / 2 {
			l.places[n] = l.places[2*n]
		}
		l.places = l.places[:mostPlaces/2]
	}
	l.places = append(l.places, Place{Line: l.lines + 1, Byte: l.at})
}

// Resumed returns the mark of the log, if there is one. What is before it was read earlier.
func (l *Log) Resumed() *Mark { return l.resumed }

// Begin returns the number of the first line that is read.
func (l *Log) Begin() int { return l.lines + 1 }

// Took says that the lines of the log up to one count. Header has the comments that hold for later
// lines. A later run that begins at line headerFrom, or behind it, needs no other comments.
func (l *Log) Took(line int, header string, headerFrom int) {
	if l.follower == nil {
		return // a pipe
	}
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	l.line = max(l.line, line)
	l.header = header
	l.from = headerFrom
}

// ReadAgain sets what a later run must read again of the log.
func (l *Log) ReadAgain(a Again) {
	if l.follower == nil {
		return // a pipe
	}
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	l.again = a
}
