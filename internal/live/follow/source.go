package follow

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hdrkit/internal/base/plaintext"
	"hdrkit/internal/scan"
)

// A source is a file that has the text of a log.
type source struct {
	log    *Log
	path   string
	file   *os.File    // nil if there is nothing to read in it
	info   fs.FileInfo // as of the last look, or as its reader came to its end
	head   []byte      // its first bytes
	packed bool        // it is compressed or UTF-16
	size   int64       // of its text, more if there may be more than is known of the log
	known  int64       // what was known of the log when they were compared
	gone   int         // looks in a row that found no name
}

// more is the size of a text that may have become longer.
const more = math.MaxInt64

// headSize is the number of bytes that show whether a file was written anew: enough for the time
// comments, which differ when a program starts again and truncates its log.
const headSize = 512

// identify returns the device of a file and its number there, zeros if the system knows none.
func identify(info fs.FileInfo) [2]uint64 {
	device, file := scan.Identity(info)
	return [2]uint64{device, file}
}

// isPacked reports whether the text of a file that begins so has to be decoded. It is not known if
// the file may still become one or the other.
func isPacked(head []byte) (packed, known bool) {
	for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true, len(head) >= 4
		}
		if strings.HasPrefix(magic, string(head)) {
			return false, false
		}
	}
	return len(head) > 1 && (head[0] == 0) != (head[1] == 0), len(head) > 1
}

// head returns the first bytes of a file.
func head(file *os.File) []byte {
	head := make([]byte, headSize)
	n, _ := file.ReadAt(head, 0)
	return head[:n]
}

// text returns a reader of the text of a file. One that is packed is read from its start.
func (f *Follower) text(s *source, from int64) io.Reader {
	f.mu.Lock()
	file := s.file // which a reader may close
	f.mu.Unlock()
	if s.packed {
		return plaintext.NewReader(io.NewSectionReader(file, 0, math.MaxInt64))
	}
	return io.NewSectionReader(file, from, math.MaxInt64-from)
}

// intact reports whether a file still begins as it did, and has so many bytes. It may just have
// been truncated, and have been written again.
func (f *Follower) intact(s *source, bytesRead int64) bool {
	f.mu.Lock()
	file, before := s.file, s.head
	f.mu.Unlock()
	if file == nil {
		return false
	}
	f.step()
	now := head(file)
	if !bytes.HasPrefix(now, before) || bytesRead > 0 && len(now) == 0 {
		return false
	}
	f.mu.Lock()
	if len(now) > len(s.head) {
		s.head = now
	}
	f.mu.Unlock()
	if bytesRead <= int64(len(now)) {
		return true
	}
	f.step()
	n, _ := file.ReadAt(make([]byte, 1), bytesRead-1)
	return n == 1
}

// hasName reports whether a file of a log other than one has the name that was seen last, or may
// turn out to be one.
func (f *Follower) hasName(l *Log, but *source) bool {
	f.mu.Lock()
	sources := slices.Clone(l.sources)
	a := f.alike[l.path]
	waits := a != nil && a.unsure && a.of == l.path
	f.mu.Unlock()
	return waits || slices.ContainsFunc(sources, func(s *source) bool { return s != but && f.isNamed(s) })
}

// isNamed reports whether a source has the name that was seen last.
func (f *Follower) isNamed(s *source) bool {
	f.mu.Lock()
	path, info := s.path, s.info
	f.mu.Unlock()
	f.step()
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, info)
}

// unchanged reports whether a file is the same as before.
func unchanged(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// known returns the source that a file is, nil if it is none.
func (f *Follower) known(info fs.FileInfo) *source {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sources[identify(info)] {
		if os.SameFile(s.info, info) {
			return s
		}
	}
	return nil
}

// release closes the file of a source. The lock is held.
func (f *Follower) release(s *source) {
	if s.file != nil {
		f.close(s.file)
		s.file = nil
	}
}

// drop forgets a source. The lock is held.
func (f *Follower) drop(s *source) {
	is := func(other *source) bool { return other == s }
	id := identify(s.info)
	f.sources[id] = slices.DeleteFunc(f.sources[id], is)
	if len(f.sources[id]) == 0 {
		delete(f.sources, id)
	}
	l := s.log
	l.sources = slices.DeleteFunc(l.sources, is)
	if l.current == s {
		l.current = nil
		l.lostAt = f.looks + 1
	}
	f.release(s)
}

// find returns the source that the file of a name is. It is nil if the file has too little yet to
// tell, or if it is no source and create is not set.
func (f *Follower) find(path string, info fs.FileInfo, create bool) (*source, error) {
	waits := f.seen(path)
	if s := f.known(info); s != nil && f.still(s, path, info, waits) {
		return s, nil
	}
	if info.Size() == 0 || waits {
		return nil, nil
	}
	file, err := f.open(path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, file: file}
	f.step()
	if s.info, err = file.Stat(); err == nil && !s.info.Mode().IsRegular() {
		err = errNoFile
	}
	if err == nil {
		if other := f.known(s.info); other != nil { // it was just renamed
			f.close(file)
			if f.still(other, path, s.info, false) {
				return other, nil
			}
			return nil, nil
		}
		f.step()
		s.head = head(file)
	}
	packed, ok := isPacked(s.head)
	s.packed = packed
	if err != nil || !ok || !f.assign(s, create) {
		f.close(file)
		return nil, err
	}
	return s, nil
}

// still reports whether a source is still what it was, and notes its name. It says so of one that
// has changed and waits to be compared again.
func (f *Follower) still(s *source, path string, info fs.FileInfo, waits bool) bool {
	f.mu.Lock()
	l := s.log
	s.path = path
	s.gone = 0
	current := l.current == s
	reads := current && l.in != nil // its reader looks at it
	spare := l.current != nil && !current
	same := unchanged(s.info, info)
	bytesRead := int64(0)
	if current {
		bytesRead = l.bytesRead
	}
	if same && !current && s.size <= l.text.Size && (spare || l.over) {
		f.release(s)
	}
	mayGrow := !spare && s.file != nil && s.size >= l.text.Size
	f.mu.Unlock()
	switch {
	case reads, same, spare && waits:
		return true
	case mayGrow && f.intact(s, bytesRead):
		f.mu.Lock()
		defer f.mu.Unlock()
		s.info = info
		s.size = more
		return true
	case mayGrow || l.path == path && info.Size() < s.size && s.size < more:
		f.options.Notice(path, truncated)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.current == s && l.in != nil {
		return true
	}
	f.drop(s)
	return false
}

// truncated is the message about a file that was.
const truncated = "was truncated; reading it again from its start"

// A likeness says that the file of a name has what a log has, and nothing else so far.
type likeness struct {
	of     string    // the path of the log
	unsure bool      // the file has too little to tell, and is no source
	next   time.Time // when it may be compared again
	looks  int       // at folders, when the name was seen last
}

// doubt says what the file may be, if that is not sure.
func (a *likeness) doubt() string {
	if a.unsure {
		return "may be a part of a copy of " + a.of
	}
	return ""
}

// compareShare is the part of the time that comparing a file again may take.
const compareShare = 10

// seen notes that a name was seen, and reports whether its file waits to be compared again.
func (f *Follower) seen(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.alike[path]
	if a == nil {
		return false
	}
	a.looks = f.looks
	return time.Now().Before(a.next)
}

// assign makes a file a source of the log whose text it has. It reports false if it does not.
func (f *Follower) assign(s *source, create bool) bool {
	begin := time.Now()
	best, c := f.best(s)
	if !f.intact(s, 0) || best == nil && !create {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := ""
	if a := f.alike[s.path]; a != nil {
		was = a.of
	}
	delete(f.alike, s.path)
	if best == nil {
		best = f.newLog(s.path)
		c = comparison{size: more, sure: true}
	}
	isCopy := best.path != s.path && best.lives()
	if isCopy || !c.sure {
		f.alike[s.path] = &likeness{
			of:     best.path,
			unsure: !c.sure,
			next:   time.Now().Add(compareShare * time.Since(begin)),
			looks:  f.looks,
		}
	}
	switch {
	case isCopy && was != best.path && (c.sure || c.equal >= headSize):
		f.options.Notice(s.path, "is a copy of "+best.path+"; it counts once")
	case c.sure && !isCopy && was != "" && was != best.path:
		f.options.Notice(s.path, "is no copy of "+was+" any more; reading it")
	}
	if !c.sure {
		return false
	}
	s.log = best
	s.size = c.size
	s.known = c.known
	best.sources = append(best.sources, s)
	id := identify(s.info)
	f.sources[id] = append(f.sources[id], s)
	if best.in != nil {
		best.in.signal()
	}
	return true
}

// best returns the log whose text a file has most of, nil if it has that of none. A log that began
// at the name of the file, and that has nothing else, is that.
func (f *Follower) best(s *source) (best *Log, result comparison) {
	for _, l := range f.related(s.path) {
		whole := best != nil && result.sure && result.size >= result.known
		if whole && l.path != s.path {
			break
		}
		c, same := f.compare(l, s)
		better := best == nil || c.equal > result.equal || c.equal == result.equal && c.sure && !result.sure
		if same && better {
			best = l
			result = c
		}
	}
	return best, result
}

// related returns the logs of whose names rotation can make a name, first those that began there.
// At first only these are returned: the others may still have files of their own names.
func (f *Follower) related(path string) (all []*Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.path == path {
			all = append(all, l)
		}
	}
	for _, l := range f.logs {
		if f.starting || l.path == path {
			continue
		}
		if l.mayBe(path, l.path) || l.target != "" && l.mayBe(path, l.target) {
			all = append(all, l)
		}
	}
	return all
}

// mayBe reports whether the file of a name may have the text of a log that has one of its names. If
// a file has the text already, that is in the folder of the log, or below it: olddir of logrotate.
// A log without a file may have been moved.
func (l *Log) mayBe(path, of string) bool {
	if !l.lives() {
		return derived(path, of) || family(path) == family(of)
	}
	packed := !slices.ContainsFunc(l.sources, func(s *source) bool { return !s.packed })
	renamed := filepath.Base(path) != filepath.Base(of) && (derived(path, of) || packed && derived(of, path))
	return renamed && isBelow(path, of)
}

// isBelow reports whether a file is in the folder of another one, or below it.
func isBelow(path, of string) bool {
	return strings.HasPrefix(path, filepath.Dir(of)+string(os.PathSeparator))
}

// derived reports whether rotation makes one name of the other: it puts something behind it, or
// before its suffix.
func derived(path, from string) bool {
	name, stem := filepath.Base(path), filepath.Base(from)
	if dot := strings.LastIndexByte(stem, '.'); dot > 0 {
		stem = stem[:dot]
	}
	rest, ok := strings.CutPrefix(name, stem)
	return ok && (rest == "" || strings.IndexByte(".-_", rest[0]) >= 0)
}

// family returns what names have in common that differ only in numbers, and in whether they are
// compressed.
func family(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".zst")
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// A comparison says what a file and a log have in common.
type comparison struct {
	equal int64 // bytes that were found equal, from the start
	size  int64 // of the text of the file, more if it has more than the log
	known int64 // of the text of the log
	sure  bool  // else the file has too little to tell
}

// compare compares a file with the file of a log while that is there, and with the hashes of what
// was read of it otherwise. It reports false if a byte differs.
func (f *Follower) compare(l *Log, s *source) (c comparison, same bool) {
	f.mu.Lock()
	points := l.text.points()
	c.known = l.text.Size
	beside := l.beside(s)
	ahead := slices.ContainsFunc(l.sources, func(other *source) bool {
		return other != s && other != beside && other.file != nil && other.size > c.known
	})
	empty := len(l.sources) == 0
	f.mu.Unlock()
	if beside != nil {
		size, longer, equal := f.compareFiles(s, beside)
		c.equal = size
		c.size = size
		c.sure = size > 0
		switch {
		case !f.intact(beside, c.known), longer && beside.packed: // it says nothing
		case longer && (s.log == l || s.path == beside.path || !f.hasName(l, s)):
			c.size = more
			c.sure = !ahead
			return c, true
		default:
			return c, equal
		}
	}
	if c.known == 0 {
		return comparison{}, !empty
	}
	c.size, c.equal, same = f.compareHashes(s, points, c.known)
	c.sure = c.equal > 0 && (c.size == c.equal || c.size > c.known && !ahead)
	return c, same
}

// beside returns a plain file that has all that is known of a log, nil if there is none. If nothing
// is known, it may be a packed one. The lock is held.
func (l *Log) beside(s *source) (best *source) {
	for _, other := range l.sources {
		readable := other != s && other.file != nil && (!other.packed || l.text.Size == 0)
		if readable && (other == l.current || best == nil && other.size >= l.text.Size) {
			best = other
		}
	}
	return best
}

var comparing = sync.Pool{New: func() any { return new([2][64 << 10]byte) }}

// compareFiles compares the text of a file with another file. It returns how much was read of the
// first one, whether the other one ends before that, and whether all of it is equal.
func (f *Follower) compareFiles(s, other *source) (size int64, longer, equal bool) {
	buffers := comparing.Get().(*[2][64 << 10]byte)
	defer comparing.Put(buffers)
	r, beside := f.text(s, 0), f.text(other, 0)
	for {
		f.step()
		n, err := io.ReadFull(r, buffers[0][:])
		f.step()
		m, _ := io.ReadFull(beside, buffers[1][:n])
		part, there := buffers[0][:n], buffers[1][:m]
		size += int64(n)
		switch {
		case !bytes.Equal(part, there):
			return size, bytes.HasPrefix(part, there), false
		case err != nil:
			return size, false, true
		}
	}
}

// compareHashes compares the text of a file with the hashes of another one. It returns its size,
// more if that is the longer one, and up to where it was found equal. It reports false if a byte
// differs. Of a plain file that is as long it reads only the first and the last lines.
func (f *Follower) compareHashes(s *source, points []point, known int64) (size, equal int64, same bool) {
	buffers := comparing.Get().(*[2][64 << 10]byte)
	defer comparing.Put(buffers)
	r := f.text(s, 0)
	skips := !s.packed && len(points) >= 2*someLines && s.info.Size() >= known
	var read point
	for n, p := range points {
		if n == someLines && skips {
			read = p
			r = f.text(s, p.Size)
			continue
		}
		for read.Size < p.Size {
			f.step()
			part := buffers[0][:min(p.Size-read.Size, int64(len(buffers[0])))]
			m, err := io.ReadFull(r, part)
			read.add(part[:m])
			if err != nil { // a first line that ends there is another one
				return read.Size, equal, n >= someLines || bytes.IndexByte(part[:m], '\n') < 0
			}
		}
		if read != p {
			return read.Size, equal, false
		}
		equal = p.Size
	}
	if m, _ := io.ReadFull(r, buffers[0][:1]); m > 0 {
		return more, equal, true
	}
	return read.Size, equal, true
}

// unread reports whether a source has something that no input reads.
func (f *Follower) unread(s *source) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := s.log
	return l.in == nil && (s.size > l.text.Size || !l.over && s.size == l.text.Size)
}

// mostGone is the number of looks after which a file without a name is forgotten. Rotation may
// rename it during a few looks in a row.
const mostGone = 10

// mostOld is the number of logs without a file that copies are compared with.
const mostOld = 1000

// forget closes the files that have no name any more, and forgets the oldest of too many logs.
func (f *Follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := 0
	for _, l := range f.logs {
		for _, s := range slices.Clone(l.sources) {
			s.gone++
			if s.gone > mostGone && (l.in == nil || l.current != s) {
				f.drop(s)
			}
		}
		if l.isOld() {
			old++
		}
	}
	f.logs = slices.DeleteFunc(f.logs, func(l *Log) bool {
		if l.isOld() {
			old--
			return old >= mostOld
		}
		return false
	})
	for path, a := range f.alike {
		if f.looks-a.looks > mostGone {
			delete(f.alike, path)
		}
	}
}

// isOld reports whether nothing is left of a log but that copies of it may appear.
func (l *Log) isOld() bool { return l.in == nil && len(l.sources) == 0 && l.again.From == 0 }

// An Unread is a file that is not read, or a log that is gone.
type Unread struct {
	Path string
	// Unsure says what a file may be that has too little to tell. It is empty for a copy.
	Unsure string
	// Lost is set for a log of an earlier run that is gone, if windows lack some of its lines.
	Lost bool
}

// Unread returns the files that are not read and are no inputs, and the logs of which lines are
// missing.
func (f *Follower) Unread() (all []Unread) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.lost {
			all = append(all, Unread{Path: l.path, Lost: true})
		}
	}
	for path, a := range f.alike {
		if f.looks-a.looks <= 1 && f.names[path] == nil {
			all = append(all, Unread{Path: path, Unsure: a.doubt()})
		}
	}
	slices.SortFunc(all, func(a, b Unread) int { return cmp.Compare(a.Path, b.Path) })
	return all
}
