package follow

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/scan"
)

// A Mark says how far a file was read, for a follower that starts later. A file is recognized by
// its device, its inode and how it began.
type Mark struct {
	Path string
	// Target is the file that Path led to, if Path was a symbolic link.
	Target string `json:",omitempty"`
	ID
	Head Head
	Size int64 // of what was read
	// Points are hashes of what was read, the last one of all of it. They recognize copies.
	Points Points
	// Line is the last line that counts. Header has the comments that hold for the lines after it,
	// also if they come from the file before. The reader of the log sets both: see [Log.Took].
	Line   int
	Header string `json:",omitempty"`
	// Begin is where a later run begins to read, if it need not read what comes before.
	Begin Place `json:",omitzero"`
	// Again is what the reader of the log has set with [Log.ReadAgain].
	Again Again `json:",omitzero"`
	Fate
}

// A Fate is what became of a file that was read.
type Fate struct {
	// Done says that the file was read to its end, and that another one has its name.
	Done bool `json:",omitempty"`
	// Over says that it was read to its end, and was deleted or not written for long.
	Over bool `json:",omitempty"`
	// Copy says that the file is a copy of another one. Ended says that it was read to its end and
	// is maybe gone, but that copies of it may appear. Cut says that it was truncated. Rest says
	// that lines were read that do not count.
	Copy  bool `json:",omitempty"`
	Ended bool `json:",omitempty"`
	Cut   bool `json:",omitempty"`
	Rest  bool `json:",omitempty"`
	// Lost says that a message has said that lines are missing. A copy may still appear.
	Lost bool `json:",omitempty"`
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
	// Late are the lines from then on that came too late for what they belong to: the first and the
	// last one of each part.
	Late []int `json:",omitempty"`
	// Slack is by how much lines were behind those before them, as the reader counts it.
	Slack int64 `json:",omitempty"`
	// Missed are the lines from then on that no run has read since others went on without them.
	Missed []Missed `json:",omitempty"`
}

// A Missed is lines that follow one another, up to those of the next one: they count for nothing
// that the reader has done after a time, in its own measure.
type Missed struct {
	From int
	Done int64
}

// Behind returns what the lines behind one that was read count for.
func (a Again) Behind(line int) Again {
	rest := Again{
		From:  max(a.From, line+1),
		Late:  a.Late,
		Slack: a.Slack,
	}
	if a.Open > 0 {
		rest.Open = max(a.Open, line+1)
	}
	for n, m := range a.Missed {
		if n+1 == len(a.Missed) || a.Missed[n+1].From > rest.From {
			m.From = max(m.From, rest.From)
			rest.Missed = append(rest.Missed, m)
		}
	}
	return rest
}

// join returns what to read again of a text, of which one log had the first lines, and the next one
// has the rest.
func (a Again) join(next Again) Again {
	if a.From == 0 {
		return next
	}
	return Again{
		From:   a.From,
		Open:   cmp.Or(a.Open, next.Open),
		Late:   slices.Concat(a.Late, next.Late),
		Slack:  max(a.Slack, next.Slack),
		Missed: next.Missed,
	}
}

// A Head says how a file begins: the number of bytes, and hashes of the first byte, the first two,
// four, eight and so on, and of all, of two bytes each but the last one. They are hexadecimal.
type Head struct {
	Size int
	Sums string
}

func headOf(text []byte) Head {
	sum := fnv.New64a()
	var sums []byte
	for n := range text {
		sum.Write(text[n : n+1])
		if (n+1)&n == 0 {
			sums = fmt.Appendf(sums, "%04x", sum.Sum64()&0xffff)
		}
	}
	return Head{len(text), string(fmt.Appendf(sums, "%016x", sum.Sum64()))}
}

// Begins reports whether a text begins so.
func (h Head) Begins(text []byte) bool { return len(text) >= h.Size && headOf(text[:h.Size]) == h }

// may reports whether a text may begin so, as far as it is there.
func (h Head) may(text []byte) bool {
	if len(text) >= h.Size {
		return h.Begins(text)
	}
	sums := headOf(text).Sums
	return strings.HasPrefix(h.Sums, sums[:len(sums)-16])
}

// An ID tells a file from all others of this machine.
type ID struct{ Device, Inode uint64 }

// identity returns nothing if the system knows nothing. Files are recognized by how they begin
// then.
func identity(info fs.FileInfo) ID {
	device, file := scan.Identity(info)
	return ID{device, file}
}

// A content is what a file has or had that no input reads: it was read to its end or in an earlier
// run, or is a copy.
type content struct {
	Mark
	// waits says that it was read in an earlier run, and that no input has opened it yet. With
	// info, it is finished: none has to.
	waits bool
	// log is the log that was read to its end, nil if it comes from an earlier run. Its file stays
	// open while it has a name that is followed, so that its inode is not used for a new file,
	// which would then seem to be known.
	log  *Log
	open bool
	info fs.FileInfo // nil if it comes from an earlier run
	gone int         // how many looks in a row found no name, maybe since it just got another one
	// lost is why lines are missing, if no copy has them. LostAt is the number of the look at which
	// that was found, see [Follower].
	lost   string
	lostAt int

	copying // of a copy
}

// contents are found by their files and names.
type contents struct {
	all   []*content // in order of addition
	files map[ID][]*content
	stems map[string][]*content // of all but copies, by the stem of their path
}

func (cs *contents) add(c *content) {
	if cs.files == nil {
		cs.files, cs.stems = make(map[ID][]*content), make(map[string][]*content)
	}
	cs.all = append(cs.all, c)
	cs.files[c.file()] = append(cs.files[c.file()], c)
	if !c.Copy {
		cs.stems[stem(c.Path)] = append(cs.stems[stem(c.Path)], c)
	}
}

// remove removes one.
func (cs *contents) remove(c *content) {
	remove := func(from []*content) []*content {
		n := slices.Index(from, c)
		return slices.Delete(from, n, n+1)
	}
	cs.all = remove(cs.all)
	cs.files[c.file()] = remove(cs.files[c.file()])
	if !c.Copy {
		cs.stems[stem(c.Path)] = remove(cs.stems[stem(c.Path)])
	}
}

// removeAll removes those for which gone returns true. It may change what their files are.
func (cs *contents) removeAll(gone func(*content) bool) {
	all := slices.DeleteFunc(cs.all, gone)
	*cs = contents{}
	for _, c := range all {
		cs.add(c)
	}
}

// file returns what tells the file of a content from others.
func (c *content) file() ID {
	if c.info == nil {
		return c.ID
	}
	return identity(c.info)
}

// of returns the contents that a file may have.
func (cs *contents) of(info fs.FileInfo) []*content { return cs.files[identity(info)] }

// mostGone is the number of looks after which a file without a name is forgotten. Rotation may
// rename it during a few looks in a row. A file that is forgotten and comes back counts twice.
const mostGone = 10

// mostEnded is the number of contents that copies are compared with.
const mostEnded = 10_000

// is reports whether a file is that of the content.
func (c *content) is(info fs.FileInfo) bool {
	if c.info == nil {
		return c.ID == identity(info)
	}
	return os.SameFile(c.info, info)
}

// finished reports whether a file still has what an earlier run read to its end, before another
// file got its name. An input that reads it again would only seem to fall behind.
func (c *content) finished(info fs.FileInfo) bool {
	return c.waits && c.Done && !c.Rest && c.Again.From == 0 && c.Size == info.Size()
}

// release closes the file of a content.
func (f *Follower) release(c *content) {
	if c.open {
		f.close(c.log.file)
		c.open, f.files = false, nil
	}
}

// remember keeps what a log had, which was read to its end or is cut: there may be copies of it.
func (f *Follower) remember(l *Log, cut bool) *content {
	c := &content{Mark: l.known(), log: l, info: l.info}
	c.Ended, c.Cut = true, cut
	f.contents.add(c)
	return c
}

// forget releases the files that have no name any more, and forgets the oldest contents of too
// many. Named are the files that have a name.
func (f *Follower) forget(named fileSet) {
	more := len(f.contents.all) - mostEnded
	f.contents.removeAll(func(c *content) bool {
		switch {
		case c.waits && c.info == nil:
			return false
		case !c.waits && !c.open && !c.Copy:
			more--
			return more >= 0
		case slices.ContainsFunc(named[c.file()], c.is), c.open && c.log.isNeeded():
			c.gone = 0
			return false
		}
		if c.gone++; c.gone < mostGone {
			return false
		}
		f.release(c)
		if c.waits {
			c.waits = false
			c.Ended = true
			c.ID = ID{}
			c.info = nil
		}
		return c.Copy
	})
}

// Took says that the lines of the log up to one count. Header has the comments that hold for later
// lines. A later run that begins at line headerFrom, or behind it, needs no other comments.
func (l *Log) Took(line int, header string, headerFrom int) {
	in := l.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.took != nil && in.took != l {
		in.took.done = true
	}
	in.took = l
	if l.resumed != nil {
		line = max(line, l.resumed.Line)
	}
	l.line = max(l.line, line)
	l.header = header
	l.headerFrom = headerFrom
	l.before = nil
}

// mark returns what a later run must know of a log, nil if none of its lines were taken. The
// input's mu is locked.
func (l *Log) mark() *Mark {
	switch {
	case l.line > 0:
	case l.before != nil:
		return l.before.mark()
	case l.resumed == nil || l.origin == nil:
		return l.resumed
	default:
		m := *l.resumed
		m.Again = l.needed()
		return &m
	}
	m := l.known()
	m.ID = identity(l.info)
	m.Line = l.line
	m.Header = l.header
	m.Done = l.done
	m.Rest = l.line < l.whole()
	m.Target = l.target
	m.Again = l.needed()
	m.Begin = l.begin(cmp.Or(m.Again.From, m.Line+1))
	if in := l.in; len(in.files) > 0 && in.files[0] == l && l.line == l.lines {
		info, err := l.file.Stat()
		m.Over = err == nil && info.Size() == l.size && (!in.gone.IsZero() || time.Since(info.ModTime()) >= in.follower.options.Gone)
	}
	return &m
}

// begin returns where a later run begins that needs a line and those after it, nowhere if it needs
// what comes before: the comments there, or bytes that are compressed or of UTF-16. The input's mu
// is locked.
func (l *Log) begin(line int) (begin Place) {
	if line < l.headerFrom || compressed(l.head) || bytes.IndexByte(l.head, 0) >= 0 {
		return begin
	}
	n := -1
	for n+1 < len(l.places) && l.places[n+1].Line <= line {
		n++
	}
	if n < 0 || l.places[n].Byte < headSize {
		return begin
	}
	l.places = slices.Delete(l.places, 0, n) // no later run needs an earlier line
	return l.places[0]
}

// known returns how the log begins and how much of it was read, maybe in an earlier run.
func (l *Log) known() Mark {
	if l.behind() {
		return Mark{
			Path:   l.in.path,
			Head:   l.resumed.Head,
			Size:   l.resumed.Size,
			Points: l.resumed.Points,
		}
	}
	return Mark{Path: l.in.path, Head: headOf(l.head), Size: l.size, Points: l.text.all()}
}

// ReadAgain sets what a later run must read again of the log.
func (l *Log) ReadAgain(a Again) { l.again.Store(&a) }

// isNeeded reports whether a later run reads lines of the file again.
func (l *Log) isNeeded() bool {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.needed().From > 0
}

// needed returns what a later run must read again of the file. A log that goes on in a copy of its
// file leaves that to the copy.
func (l *Log) needed() (a Again) {
	if l.heir {
		return a
	}
	for _, log := range []*Log{l.origin, l} {
		if log != nil && log.again.Load() != nil {
			a = a.join(*log.again.Load())
		}
	}
	return a
}

// behind reports whether the log is still read up to where an earlier run has read it.
func (l *Log) behind() bool {
	m := l.resumed
	return m != nil && !m.Cut && l.size < m.Size
}

// owes reports whether the log did not come to all lines that are read again.
func (l *Log) owes() bool { return l.behind() && l.resumed.Again.From > 0 }

// whole returns the number of lines that were read to their end.
func (l *Log) whole() int {
	if l.behind() {
		return l.resumed.Line
	}
	return l.read()
}

// read returns the number of lines that this run has read to their end.
func (l *Log) read() int {
	if l.ends || l.lines == 0 {
		return l.lines
	}
	return l.lines - 1
}

// Resumed returns the mark of the file, if there is one. What is before it was read earlier.
func (l *Log) Resumed() *Mark { return l.resumed }

// Begin returns the number of the first line that is read.
func (l *Log) Begin() int { return max(l.begun, 1) }

// resume returns the mark of a file that an earlier run read, nil if there is none. If the file no
// longer begins as it did, only the comments of the mark hold for it. This needs its path: the name
// at the mark, or one that rotation made.
func (f *Follower) resume(file *os.File, path string, info fs.FileInfo) (mark *Mark) {
	for _, c := range f.contents.of(info) {
		if c.waits && c.is(info) && c.Size <= info.Size() && c.Head.Begins(beginning(file, c.Head.Size)) {
			f.contents.remove(c)
			return &c.Mark
		}
	}
	for _, c := range f.contents.of(info) { // a file that is gone may have had its inode
		if !c.waits || !c.is(info) {
			continue
		}
		m := c.Mark
		m.Line, m.Cut = 0, true
		m.Begin = Place{}
		switch {
		case path == m.Path:
			f.lose(c, "was truncated since the state was written")
			c.waits = false
			c.Cut = true
			c.Ended = true
			m.Again = Again{}
			return &m
		case derived(path, m.Path): // truncated and then renamed; missing says so
			m.Again = Again{}
			mark = &m
		}
	}
	return mark
}

// copyLooks is the number of looks for files in which a copy is found that has what a file lacks.
const copyLooks = 3

// lose notes that the file of a content is lost. A copy may have the lines that are needed:
// rotation may just make it.
func (f *Follower) lose(c *content, why string) {
	if (c.Done || c.Over) && c.Again.Open == 0 || c.Lost || c.lost != "" {
		return
	}
	c.lost = why + "; lines that were not read before are missing"
	c.lostAt = f.looks
}

// sayLost says which lines are missing. The last time is that when no copy can come any more.
func (f *Follower) sayLost(last bool) {
	var all Summary
	for _, c := range f.contents.all {
		if c.lost == "" || !last && len(f.patterns) > 0 && (f.looks < c.lostAt+copyLooks || f.mayHave(c)) {
			continue
		}
		all.Add(c.Path, c.lost)
		c.lost = ""
		c.Lost = true
	}
	all.Say(f.options.Notice)
}

// mayHave reports whether a file that rotation may have made of a lost one is still to be compared:
// that of a large file takes long, and comparing has a share of the time.
func (f *Follower) mayHave(lost *content) bool {
	return slices.ContainsFunc(f.contents.all, func(c *content) bool { return c.early && derived(c.Path, lost.Path) })
}

// renamed opens the files that had the name of the input at their mark, but have it no more, and of
// which there may be more to read. They come in the order of the marks, in which they were written:
// the names that rotation gives rise or fall.
func (in *Input) renamed() {
	f := in.follower
	f.step()
	now, _ := os.Stat(in.path)
	search := make(map[ID]bool)
	folders := []string{filepath.Dir(in.path)}
	var ids []ID
	for _, c := range f.contents.stems[stem(in.path)] {
		if c.waits && c.Path == in.path && (!c.Done || c.Again.From > 0) {
			search[c.ID] = true
			ids = append(ids, c.ID)
			if folder := filepath.Dir(c.Target); c.Target != "" && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	if now != nil {
		delete(search, identity(now))
	}
	found := make(map[ID]renamedFile)
	moved := true
	for tries := 0; moved && len(search) > 0 && tries < 10; tries++ {
		moved = false
		for _, folder := range folders {
			moved = f.find(in.path, folder, search, found) || moved
		}
	}
	for _, id := range ids {
		r, ok := found[id]
		if !ok {
			continue
		}
		delete(found, id)
		if mark := f.resume(r.file, "", r.info); mark != nil {
			in.add(r.file, r.info, mark, nil)
		} else {
			f.close(r.file)
		}
	}
}

// A renamedFile is a file that is open, as a folder has it.
type renamedFile struct {
	file *os.File
	info fs.FileInfo
}

// isOther reports whether a path is that of another log, now or in an earlier run, and not one that
// rotation makes of a name.
func (f *Follower) isOther(path, name string) bool {
	if derived(path, name) {
		return false
	}
	return f.names[path] || slices.ContainsFunc(f.contents.stems[stem(path)], func(c *content) bool { return c.Path == path })
}

// find opens the files of a folder that had a name and are searched for, and moves them from search
// to found. It reports whether some were renamed while it looked. Another log may have got the
// inode of a file of the name that is gone.
func (f *Follower) find(name, folder string, search map[ID]bool, found map[ID]renamedFile) (moved bool) {
	f.step()
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if f.isOther(path, name) {
			continue
		}
		f.step()
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			moved = moved || errors.Is(err, fs.ErrNotExist)
			continue
		}
		if !search[identity(info)] {
			continue
		}
		file, err := f.open(path)
		if err != nil {
			moved = moved || errors.Is(err, fs.ErrNotExist)
			continue
		}
		if opened, err := file.Stat(); err != nil || !os.SameFile(opened, info) {
			f.close(file)
			moved = true
			continue
		}
		delete(search, identity(info))
		found[identity(info)] = renamedFile{file, info}
	}
	return moved
}

// missing finds the files of an earlier run that are gone, maybe with lines that were not read.
func (f *Follower) missing() {
	for _, c := range f.contents.all {
		if c.Ended && c.log == nil && c.Again.Open > 0 {
			f.lose(c, "is gone since the state was written")
		}
		if !c.waits || c.info != nil {
			continue
		}
		f.step()
		if info, err := os.Stat(c.Path); err == nil && c.is(info) && !f.known(info) && info.Size() >= c.Size {
			continue // it waits to be opened
		}
		c.waits, c.Ended = false, true
		f.lose(c, "is gone since the state was written")
		f.recheck(func(other *content) bool { return other.from == c.Path })
	}
	f.sayLost(false)
}

// recheck has the next look compare copies again of which some text is not read yet, however long
// that takes: what they are copies of is gone.
func (f *Follower) recheck(which func(c *content) bool) {
	for _, c := range f.contents.all {
		if c.unread && which(c) {
			c.took = 0
		}
	}
}

// content returns the mark of a log that was read to its end, nil if none of its lines were taken.
func (l *Log) content() *Mark {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if l.line > 0 {
		return l.mark()
	}
	if l.resumed == nil {
		return nil
	}
	m := *l.resumed
	return &m
}

// ended reports whether nothing of a content is read any more, now or by a later run.
func (c *content) ended() bool {
	if c.Copy || c.open || c.waits {
		return false
	}
	if c.log == nil {
		return c.Again.From == 0
	}
	return !c.log.isNeeded()
}

// mostSaved is the number of logs that ended, beside those that must be read again, of which a
// later run recognizes copies.
const mostSaved = 1000

// Lost reports whether lines that are read again are in no file that was found so far.
func (f *Follower) Lost() bool {
	f.lock()
	defer f.mu.Unlock()
	f.missing()
	return slices.ContainsFunc(f.contents.all, func(c *content) bool {
		return c.log == nil && !c.waits && !c.Copy && c.Again.From > 0
	})
}

// Searching reports whether a file or a copy may still be found that has lines which are read
// again.
func (f *Follower) Searching() bool {
	f.lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.contents.all, func(c *content) bool { return c.lost != "" })
}

// Again reports whether files of the input, from the one of that number on, were read in an
// earlier run. The first one is read now. Slack is the largest of their marks.
func (in *Input) Again(from int) (again bool, slack int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for n, l := range in.files {
		if n >= from && l.resumed != nil && l.resumed.Line > 0 {
			again = true
			slack = max(slack, l.resumed.Again.Slack)
		}
	}
	return again, slack
}

// Marks returns what a later run must know: the marks of files that wait, are read, or match a
// pattern and must not be read again.
func (f *Follower) Marks() []Mark {
	f.lock()
	defer f.mu.Unlock()
	return f.marks()
}

func (f *Follower) marks() (marks []Mark) {
	var logs []*Log
	old := -mostSaved
	for _, c := range f.contents.all {
		if c.ended() {
			old++
		}
	}
	for _, c := range f.contents.all {
		if c.ended() {
			old--
			if old >= 0 {
				continue
			}
		}
		switch {
		case c.open:
			logs = append(logs, c.log)
		case c.Copy && c.counts() || !c.Copy && c.log == nil && (c.waits || c.Ended):
			marks = append(marks, c.Mark)
		case !c.Copy:
			if m := c.log.content(); m != nil {
				m.ID = ID{}
				m.Ended = true
				m.Cut = c.Cut
				m.Lost = c.Lost
				marks = append(marks, *m)
			}
		}
	}
	for _, in := range f.inputs {
		in.mu.Lock()
		logs = append(logs, in.files...)
		in.mu.Unlock()
	}
	for _, l := range logs {
		l.in.mu.Lock()
		if m := l.mark(); m != nil {
			marks = append(marks, *m)
		}
		l.in.mu.Unlock()
	}
	return marks
}
