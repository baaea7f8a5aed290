package follow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A Mark says how far a log was read, for a follower that starts later.
type Mark struct {
	Path string
	// Target is the file that Path led to, if Path was a symbolic link.
	Target string `json:",omitempty"`
	// Points are hashes of what was read: at the ends of its first and of its last lines, and of
	// all of it.
	Points []byte
	// Line is the last line that counts. Header has the comments that hold for the lines after it,
	// also if they come from the log before. The reader of the log sets both: see [Log.Took].
	Line   int
	Header string `json:",omitempty"`
	// Begin is where a later run begins to read, if it need not read what comes before.
	Begin Place `json:",omitzero"`
	// Again is what the reader of the log has set with [Log.ReadAgain].
	Again Again `json:",omitzero"`
	// Ended says that all of it counts, and that its file is closed: another log has its name, or
	// it has had none for long.
	Ended bool `json:",omitempty"`
	// Said says that a message has said that lines are missing. A copy may still appear.
	Said bool `json:",omitempty"`
}

// UnmarshalJSON reads a mark, and returns an error if no follower has written it.
func (m *Mark) UnmarshalJSON(data []byte) error {
	type mark Mark // without this method
	if err := json.Unmarshal(data, (*mark)(m)); err != nil {
		return err
	}
	return m.check()
}

// check returns an error if no follower has written the mark.
func (m *Mark) check() error {
	a := &m.Again
	var t text
	points, ok := decode(m.Points)
	t.resume(points)
	switch {
	case !ok, m.Line < 0, m.Begin.Line < 0, m.Begin.Byte < 0, m.Begin.Byte > t.Size:
	case m.Begin.Line == 0 && m.Begin.Byte > 0:
	case a.From < 0, a.Open < 0, a.Slack < 0:
	default:
		return nil
	}
	return fmt.Errorf("the position in %q is none", m.Path)
}

// A Place is where a line of a file begins: its number, and the number of bytes before it.
type Place struct {
	Line int
	Byte int64
}

// Again says which of the lines that count a later run reads again, since not all outputs have what
// they belong to.
type Again struct {
	// From is the first of these lines, 0 if there is none, and Open the first one that is not only
	// for some outputs.
	From int `json:",omitempty"`
	Open int `json:",omitempty"`
	// Slack is the largest backward step in time between two lines, in milliseconds.
	Slack int64 `json:",omitempty"`
	// Missed are lines from then on that were not read when windows were handed out.
	Missed []Missed `json:",omitempty"`
	// ReadBack is for the run that reads the mark: open windows that were read back after a stop
	// have the lines before this one.
	ReadBack int `json:"-"`
}

// A Missed is lines that were not read when windows up to Done were handed out: they are late for
// these windows. They begin at From, and end before those of the next one.
type Missed struct {
	From int
	Done int64
}

// resume returns a log that goes on where a mark says.
func (f *Follower) resume(m *Mark) *Log {
	l := &Log{
		follower: f,
		names:    newNames(m.Path, m.Target),
		again:    m.Again,
		resumed:  m,
	}
	switch {
	case m.Ended && m.Again.From == 0:
		l.state = over
	case m.Said:
		l.state = gone
	default:
		l.state = sought
	}
	points, _ := decode(m.Points)
	l.read.text.resume(points)
	l.read.line = m.Line
	l.read.header = m.Header
	l.read.from = math.MaxInt
	if m.Begin.Line > 0 {
		l.read.from = 1
		l.read.places = []Place{m.Begin}
		l.read.at = m.Begin.Byte
		l.read.lines = m.Begin.Line - 1
		l.read.whole = true
	}
	return l
}

// mark returns what a later run must know of a log, false if none of its lines were taken. The lock
// is held.
func (l *Log) mark() (m Mark, ok bool) {
	if l.read.line == 0 {
		return m, false
	}
	m = Mark{
		Path:   l.path,
		Target: l.target,
		Points: encode(l.read.text.points()),
		Line:   l.read.line,
		Header: l.read.header,
		Begin:  l.beginFor(cmp.Or(l.again.From, l.read.line+1)),
		Again:  l.again,
		Ended:  l.state == over && l.isCounted(),
		Said:   l.isSaid(),
	}
	return m, true
}

// isCounted reports whether all lines that were read count. The last one may have no end. The lock
// is held.
func (l *Log) isCounted() bool {
	if l.read.whole {
		return l.read.line >= l.read.lines
	}
	return l.read.line > l.read.lines
}

// beginFor returns where a later run begins that needs a line and those after it, nowhere if it
// needs the comments that come before.
func (l *Log) beginFor(line int) (begin Place) {
	if line < l.read.from {
		return begin
	}
	n := -1
	for n+1 < len(l.read.places) && l.read.places[n+1].Line <= line {
		n++
	}
	if n < 0 {
		return begin
	}
	l.read.places = slices.Delete(l.read.places, 0, n) // no later run needs an earlier line
	return l.read.places[0]
}

// missing reports whether no file is known that has what a log of an earlier run had. The lock is
// held.
func (l *Log) missing() bool { return (l.state == sought || l.isSaid()) && !l.lives() }

// isSaid reports whether a message says that the log is gone. The lock is held.
func (l *Log) isSaid() bool { return l.state == gone || l.state == lost }

// Missing returns the marks of the logs of an earlier run of which no file is found.
func (f *Follower) Missing() (marks []Mark) {
	if f.found == nil {
		f.search()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.missing() {
			marks = append(marks, Mark{Path: l.path, Again: l.again, Said: l.isSaid()})
		}
	}
	return marks
}

// Settle says that the windows up to a time, which were handed out, have all lines of logs that are
// gone.
func (f *Follower) Settle(paths []string, done int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.missing() && l.again.From > 0 && slices.Contains(paths, l.path) {
			l.again.Open = 0
			l.again.Missed = []Missed{{From: l.again.From, Done: done}}
		}
	}
}

// Again reports whether logs of the input, from the one of that number on, were read in an earlier
// run. The first one is read now. Slack is the largest of their marks.
func (in *Input) Again(from int) (again bool, slack int64) {
	f := in.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, l := range in.logs {
		if n >= from && l.resumed != nil && l.resumed.Line > 0 {
			again = true
			slack = max(slack, l.resumed.Again.Slack)
		}
	}
	return again, slack
}

// Marks returns what a later run must know.
func (f *Follower) Marks() (marks []Mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if m, ok := l.mark(); ok {
			marks = append(marks, m)
		}
	}
	return marks
}
