package follow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A Mark says how far a log was read. A later run goes on from there.
type Mark struct {
	Path string
	// Target is the file to which Path led, if Path was a symbolic link.
	Target string `json:",omitempty"`
	// Points are hashes of the text that was read: at the ends of its first and its last lines, and
	// of the whole text. See encode.
	Points []byte
	// Line is the last line that the reader of the log has taken. Header has the comments that hold
	// for later lines; they may come from the log before. [Log.SetCounted] sets both.
	Line   int
	Header string `json:",omitempty"`
	// Begin is where a later run can start to read. It is the zero value if the run must read from
	// the start.
	Begin Place `json:",omitzero"`
	// Again says which lines a later run must read again, see [Log.SetAgain].
	Again Again `json:",omitzero"`
	// Ended says that all lines have been taken, and that the file is closed: another log has the
	// name, or the name has led to no file for long.
	Ended bool `json:",omitempty"`
	// Said says that a message has reported missing lines. A copy of the log may still appear.
	Said bool `json:",omitempty"`
}

// UnmarshalJSON reads a mark, and returns an error if it is inconsistent.
func (m *Mark) UnmarshalJSON(data []byte) error {
	type mark Mark // has no UnmarshalJSON, which would call itself
	if err := json.Unmarshal(data, (*mark)(m)); err != nil {
		return err
	}
	return m.check()
}

// check returns an error if the mark is inconsistent, so that no follower has written it.
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

// A Place is where a line of a file begins: the number of the line, and the number of bytes before
// it.
type Place struct {
	Line int
	Byte int64
}

// Again says which lines a later run must read again. These lines were taken, but some outputs do
// not have their windows yet.
type Again struct {
	// From is the first of these lines, 0 if there is none. Open is the first line of a window that
	// is still open, 0 if there is none.
	From int `json:",omitempty"`
	Open int `json:",omitempty"`
	// Slack is the largest backward step in time between two lines, in milliseconds.
	Slack int64 `json:",omitempty"`
	// Missed are ranges of lines, from From on, that some windows were handed out without.
	Missed []Missed `json:",omitempty"`
	// ReadBack is set in the run that reads the mark. Lines before it are in windows that were open
	// at a stop and that this run has read back from the merged log.
	ReadBack int `json:"-"`
}

// A Missed is a range of lines that were not read in time: the windows up to the time Done were
// handed out without them. The lines begin at From, and end before From of the next range.
type Missed struct {
	From int
	Done int64
}

// resume returns the log of a mark of an earlier run.
func (f *Follower) resume(m *Mark) *Log {
	l := &Log{
		follower: f,
		names:    newNames(m.Path, m.Target),
		again:    m.Again,
		mark:     m,
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
	l.read.countedLine = m.Line
	l.read.header = m.Header
	l.read.headerFrom = math.MaxInt
	if m.Begin.Line > 0 {
		l.read.headerFrom = 1
		l.read.places = []Place{m.Begin}
		l.read.offset = m.Begin.Byte
		l.read.lineCount = m.Begin.Line - 1
		l.read.endsLine = true
	}
	return l
}

// newMark returns the mark for a later run, and forgets the places that no later run needs. It
// returns false if no line of the log was taken. The lock is held.
func (l *Log) newMark() (m Mark, ok bool) {
	if l.read.countedLine == 0 {
		return m, false
	}
	next := cmp.Or(l.again.From, l.read.countedLine+1)
	l.forgetPlaces(next)
	m = Mark{
		Path:   l.path,
		Target: l.target,
		Points: encode(l.read.text.points()),
		Line:   l.read.countedLine,
		Header: l.read.header,
		Begin:  l.placeFor(next),
		Again:  l.again,
		Ended:  l.state == over && l.isCounted(),
		Said:   l.isReportedGone(),
	}
	return m, true
}

// isCounted reports whether all lines that were read have been taken. The last line may have no
// line break. The lock is held.
func (l *Log) isCounted() bool {
	if l.read.endsLine {
		return l.read.countedLine >= l.read.lineCount
	}
	return l.read.countedLine > l.read.lineCount
}

// placeFor returns where a later run can start that needs line and all lines after it. It returns
// the zero value if the run also needs the comments at the start of the log. The lock is held.
func (l *Log) placeFor(line int) Place {
	n := l.lastPlace(line)
	if n < 0 {
		return Place{}
	}
	return l.read.places[n]
}

// forgetPlaces removes the places that a later run does not need, because it needs no line before
// line. The lock is held.
func (l *Log) forgetPlaces(line int) {
	if n := l.lastPlace(line); n > 0 {
		l.read.places = slices.Delete(l.read.places, 0, n)
	}
}

// lastPlace returns the index of the last place at or before line, -1 if a later run that needs
// line must read from the start of the log. The lock is held.
func (l *Log) lastPlace(line int) int {
	if line < l.read.headerFrom {
		return -1
	}
	n := -1
	for n+1 < len(l.read.places) && l.read.places[n+1].Line <= line {
		n++
	}
	return n
}

// isMissing reports whether no file is known that has what an earlier run has read of the log. The
// lock is held.
func (l *Log) isMissing() bool { return (l.state == sought || l.isReportedGone()) && !l.lives() }

// isReportedGone reports whether a message has said that the log is gone. The lock is held.
func (l *Log) isReportedGone() bool { return l.state == gone || l.state == lost }

// Missing returns the marks of the logs of an earlier run for which no file is found. Before
// [Follower.Start], each call first looks for them: it lists the folders of the logs that it has
// not found, and reads the files there. The goroutine that adds the files must make these calls.
func (f *Follower) Missing() (marks []Mark) {
	if f.onFound == nil {
		f.search()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.isMissing() {
			marks = append(marks, Mark{Path: l.path, Again: l.again, Said: l.isReportedGone()})
		}
	}
	return marks
}

// SettleMissing says that the windows up to the time done were handed out, and that they have all
// lines of the missing logs at paths.
func (f *Follower) SettleMissing(paths []string, done int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.isMissing() && l.again.From > 0 && slices.Contains(paths, l.path) {
			l.again.Open = 0
			l.again.Missed = []Missed{{From: l.again.From, Done: done}}
		}
	}
}

// ReadEarlier reports whether an earlier run has read some logs of the input. It skips the first
// from logs; log 0 is the one that is read now. Slack is the largest [Again.Slack] of these logs.
func (in *Input) ReadEarlier(from int) (again bool, slack int64) {
	f := in.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, l := range in.logs {
		if n >= from && l.mark != nil && l.mark.Line > 0 {
			again = true
			slack = max(slack, l.mark.Again.Slack)
		}
	}
	return again, slack
}

// Marks returns a mark for each log of which lines were taken.
func (f *Follower) Marks() (marks []Mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if m, ok := l.newMark(); ok {
			marks = append(marks, m)
		}
	}
	return marks
}
