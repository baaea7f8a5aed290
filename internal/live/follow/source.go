package follow

import (
	"bytes"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hdrkit/internal/base/plaintext"
	"hdrkit/internal/scan"
)

// A source is a file that has the text of a log, as far as that was compared.
type source struct {
	log    *Log
	path   string
	file   *os.File    // nil if there is nothing to read in it
	info   fs.FileInfo // as of the last look, or as its reader came to its end
	head   []byte      // its first bytes
	packed bool        // it is compressed or UTF-16
	size   int64       // of its text, so far as that is known; more if there may be more
	known  int64       // how much of the log it was compared with
	unsure bool        // it may still differ
	next   time.Time   // when it may be compared again
	gone   int         // looks in a row that found no name
}

// more is the size of a text that may have become longer.
const more = math.MaxInt64

// headSize is the number of bytes that show whether a file was written anew: enough for the time
// comments, which differ when a program starts again and truncates its log.
const headSize = 512

// An ID tells a file from all others of this machine, while it is there.
type ID struct{ Device, Inode uint64 }

// identity returns nothing if the system knows nothing.
func identity(info fs.FileInfo) ID {
	device, file := scan.Identity(info)
	return ID{device, file}
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

// beginning returns up to size bytes.
func beginning(file *os.File, size int) []byte {
	head := make([]byte, size)
	n, _ := file.ReadAt(head, 0)
	return head[:n]
}

// intact reports whether a file still begins as it did, and has so many bytes. It may just have
// been truncated, and have been written again.
func (f *Follower) intact(s *source, bytesRead int64) bool {
	f.mu.Lock()
	file, head := s.file, s.head
	f.mu.Unlock()
	if file == nil {
		return false
	}
	f.step()
	now := beginning(file, headSize)
	if !bytes.HasPrefix(now, head) || bytesRead > 0 && len(now) == 0 {
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

// isNamed reports whether a source has the name that was seen last.
func (f *Follower) isNamed(s *source) bool {
	f.mu.Lock()
	path, info := s.path, s.info
	f.mu.Unlock()
	f.step()
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, info)
}

// replaces reports whether a file may have replaced that of a log: it has its name, or that file is
// removed and its name is that of another log.
func (f *Follower) replaces(s *source, l *Log, file *os.File, path string) bool {
	if s.path == path || s.log == l {
		return true
	}
	f.step()
	if info, err := file.Stat(); err != nil || !isRemoved(info) {
		return false
	}
	f.step()
	now, err := os.Stat(path)
	if err != nil {
		return true
	}
	named, _ := f.find(path, now, false)
	return named == nil || named.log != l
}

// unchanged reports whether a file is the same as before.
func unchanged(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// known returns the source that a file is, nil if it is none.
func (f *Follower) known(info fs.FileInfo) *source {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sources[identity(info)] {
		if os.SameFile(s.info, info) {
			return s
		}
	}
	return nil
}

// drop forgets a source. The lock is held.
func (f *Follower) drop(s *source) {
	is := func(other *source) bool { return other == s }
	id := identity(s.info)
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
	if s.file != nil {
		f.close(s.file)
		s.file = nil
	}
}

// find returns the source that the file of a name is. It is nil if the file has too little yet to
// tell, or if it is no source and create is not set.
func (f *Follower) find(path string, info fs.FileInfo, create bool) (*source, error) {
	if s := f.known(info); s != nil && f.still(s, path, info) {
		return s, nil
	}
	if info.Size() == 0 {
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
			if f.still(other, path, s.info) {
				return other, nil
			}
			return nil, nil
		}
		f.step()
		s.head = beginning(file, headSize)
	}
	packed, ok := isPacked(s.head)
	s.packed = packed
	if err != nil || !ok || !f.identify(s, create) {
		f.close(file)
		return nil, err
	}
	return s, nil
}

// still reports whether a source is still what it was, and notes its name.
func (f *Follower) still(s *source, path string, info fs.FileInfo) bool {
	now := time.Now()
	f.mu.Lock()
	l := s.log
	s.path = path
	s.gone = 0
	read := l.in != nil && l.current == s // its reader looks at it
	due := !unchanged(s.info, info) || s.unsure && (l.text.size != s.known || l.current == nil && (s.known > 0 || l.in == nil))
	spare := l.current != nil && l.current != s
	bytesRead := l.bytesRead
	if l.current != s {
		bytesRead = 0
	}
	if !read && !due && !s.unsure && l.current != s && s.size <= l.text.size && (spare || l.over) {
		f.release(s)
	}
	mayGrow := !spare && s.file != nil && !s.unsure && s.size >= l.text.size
	f.mu.Unlock()
	switch {
	case read, !due:
		return true
	case spare && now.Before(s.next):
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

// release closes the file of a source. The lock is held.
func (f *Follower) release(s *source) {
	if s.file != nil {
		f.close(s.file)
		s.file = nil
	}
}

// compareShare is the part of the time that comparing a file again may take.
const compareShare = 10

// identify finds the log that has the text of a file. It reports false if that is not known, or if
// there is none and create is not set.
func (f *Follower) identify(s *source, create bool) bool {
	begin := time.Now()
	best, result := f.best(s, f.named(s.path))
	if best == nil || result.verdict != same || result.size < result.known {
		if other, c := f.best(s, f.related(s.path)); other != nil && (best == nil || c.better(result)) {
			best = other
			result = c
		}
	}
	if !f.intact(s, 0) || best == nil && !create {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.said[s.path]
	delete(f.said, s.path)
	copied := false
	if best == nil {
		best = f.newLog(s.path)
		result = comparison{verdict: same, size: more}
	} else {
		copied = best.lives() && s.path != best.path && (result.size >= headSize || result.verdict == same)
	}
	if best.raw && !best.over { // it is read from its start, up to where it counts
		best.raw = false
		best.text = text{}
		best.reread = 0
		result.size = more
		result.known = 0
	}
	s.log = best
	s.size = result.size
	s.known = result.known
	s.unsure = result.verdict == unsure
	s.next = time.Now().Add(compareShare * time.Since(begin))
	best.sources = append(best.sources, s)
	id := identity(s.info)
	f.sources[id] = append(f.sources[id], s)
	if best.in != nil {
		best.in.signal()
	}
	switch {
	case copied:
		f.said[s.path] = best.path
		if was != best.path {
			f.options.Notice(s.path, "is a copy of "+best.path+"; it counts once")
		}
	case was != "" && best.path == s.path:
		f.options.Notice(s.path, "is no copy of "+was+" any more; reading it")
	}
	return true
}

// best returns the one of some logs whose text a file has most of, nil if it has that of none.
func (f *Follower) best(s *source, logs []*Log) (best *Log, result comparison) {
	for _, l := range logs {
		c := f.compare(l, s)
		if c.verdict != different && (best == nil || c.better(result)) && !f.isElsewhere(l, s) {
			best = l
			result = c
		}
	}
	return best, result
}

// named returns the logs that began at a path.
func (f *Follower) named(path string) []*Log {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.stems["="+path])
}

// isElsewhere reports whether a log that was not looked at yet is in a file of its own name, if
// that is another one and not in the folder of the log.
func (f *Follower) isElsewhere(l *Log, s *source) bool {
	f.mu.Lock()
	unseen := l.path != s.path && len(l.sources) == 0 && !l.checked
	l.checked = true
	f.mu.Unlock()
	if unseen {
		f.step()
		info, err := os.Stat(l.path)
		if err == nil && info.Mode().IsRegular() && !os.SameFile(info, s.info) {
			f.find(l.path, info, false)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return unseen && l.lives() && !(isBelow(s.path, l) && derived(s.path, l.path))
}

// related returns the logs of whose names rotation can make a name, and those that have no file and
// may have been moved.
func (f *Follower) related(path string) (all []*Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := filepath.Base(path)
	for stem := range stems(name) {
		for _, l := range f.stems[stem] {
			if !l.lives() || isBelow(path, l) && (name != filepath.Base(l.path) || l.path == path) {
				all = append(all, l)
			}
		}
	}
	for _, l := range f.stems["<"+stem(name)] { // a file that is just compressed
		packed := !slices.ContainsFunc(l.sources, func(s *source) bool { return !s.packed })
		if packed && isBelow(path, l) && !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	for _, l := range f.stems[family(name)] {
		if !l.lives() && !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}

// isBelow reports whether a file is in the folder of a log, or below it: olddir of logrotate.
func isBelow(path string, l *Log) bool {
	for _, of := range []string{l.path, l.target} {
		if folder := filepath.Dir(of); of != "" && strings.HasPrefix(path, folder+string(os.PathSeparator)) {
			return true
		}
	}
	return false
}

// stem returns a name without its suffix, after which rotation may put something.
func stem(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// stems iterates over the stems of the names from which rotation can make a name: node and
// node.hdr of node.hdr.1.
func stems(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 1; i < len(name); i++ {
			if strings.IndexByte(".-_", name[i]) >= 0 && !yield(name[:i]) {
				return
			}
		}
	}
}

var digits = regexp.MustCompile(`\d+`)

// family returns what names have in common that differ only in numbers, and in whether they are
// compressed. No stem is equal to it.
func family(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return "/" + digits.ReplaceAllString(name, "0")
}

// derived reports whether rotation makes one name of the other.
func derived(path, from string) bool {
	name, of := filepath.Base(path), filepath.Base(from)
	return name == of || slices.Contains(slices.Collect(stems(name)), stem(of))
}

// A comparison says how a file compares with a log.
type comparison struct {
	verdict verdict
	size    int64 // of the text of the file; more if it has more than the log
	known   int64 // of the text of the log
	equal   int64 // bytes that were found equal
}

// A verdict says whether all bytes are equal that both have.
type verdict int

const (
	different verdict = iota
	unsure            // there is too little to tell
	same
)

// better reports whether a comparison tells more than another one.
func (c comparison) better(than comparison) bool {
	return c.equal > than.equal || c.equal == than.equal && c.verdict > than.verdict
}

var comparing = sync.Pool{New: func() any { return new([2][64 << 10]byte) }}

// compare compares a file with a log: with hashes of what was read of it, and byte for byte with
// the file of the log while that is there.
func (f *Follower) compare(l *Log, s *source) comparison {
	f.mu.Lock()
	points := l.text.all()
	known := l.text.size
	var beside *source
	var file *os.File
	var path string
	others := false // has files that may have more
	for _, other := range l.sources {
		others = others || other != s && s.log == nil && (other == l.current || other.file != nil && !other.unsure && other.size >= known)
		if other == s || other.file == nil {
			continue
		}
		isCurrent := other == l.current
		readable := !other.packed || known == 0
		trusted := !other.unsure || isCurrent || known == 0
		if readable && trusted && (beside == nil || isCurrent) {
			beside = other
			file = other.file
			path = other.path
		}
	}
	f.mu.Unlock()
	result := comparison{verdict: different, known: known}
	if known == 0 && beside == nil {
		return result // nothing is known of it
	}
	if l.path == s.path && beside == nil && !s.packed && s.info.Size() >= known && f.ends(s.file, points) {
		result.verdict = same
		result.size = s.info.Size()
		result.equal = known
		return result
	}
	var r io.Reader = io.NewSectionReader(s.file, 0, math.MaxInt64)
	if s.packed && !l.raw {
		r = plaintext.NewReader(r)
	}
	var r2 io.Reader = io.NewSectionReader(file, 0, math.MaxInt64)
	if beside != nil && beside.packed {
		r2 = plaintext.NewReader(r2)
	}
	buffers := comparing.Get().(*[2][64 << 10]byte)
	defer comparing.Put(buffers)
	var read text
	exact := false
	matched := 0
	for {
		part := buffers[0][:]
		if len(points) > 0 {
			part = part[:min(int64(len(part)), points[0].size-read.size)]
		}
		f.step()
		n, err := io.ReadFull(r, part)
		part = part[:n]
		if beside != nil && n > 0 {
			f.step()
			m, _ := io.ReadFull(r2, buffers[1][:n])
			if !bytes.Equal(part, buffers[1][:m]) {
				longer := bytes.HasPrefix(part, buffers[1][:m])
				if !(longer && beside.packed) && f.intact(beside, known) && !(longer && f.replaces(s, l, file, path)) {
					return result
				}
				beside = nil
			}
		}
		if n > 0 {
			read.add(part)
			exact = len(points) > 0 && read.size == points[0].size
			switch {
			case exact && read.point != points[0]:
				return result
			case exact:
				points = points[1:]
				matched++
				result.equal = read.size
			case matched < firstLines && len(points) > 0 && bytes.IndexByte(part, '\n') >= 0:
				return result // a line has another end
			}
		}
		if err != nil || len(points) == 0 && read.size > known && beside == nil {
			break
		}
	}
	result.size = read.size
	result.verdict = same
	if beside != nil {
		result.equal = read.size
	}
	switch {
	case read.size == 0:
		result.verdict = unsure
	case read.size < known && !exact && beside == nil:
		result.verdict = unsure
	case read.size > known && beside == nil && others:
		result.verdict = unsure
	}
	return result
}

// ends reports whether a file begins and ends as a text: the lines at both ends are equal.
func (f *Follower) ends(file *os.File, points Points) bool {
	if len(points) == 0 {
		return false
	}
	last := points[len(points)-1]
	from := point{}
	for n := len(points) - lastLines; n < len(points)-1; n++ {
		if n >= 0 && points[n].size > 0 {
			from = points[n]
			break
		}
	}
	for n, begin := range [][2]point{{{}, points[0]}, {from, last}} {
		if n == 0 && begin[1].size > headSize<<3 {
			continue
		}
		f.step()
		t := text{point: begin[0]}
		part := make([]byte, begin[1].size-begin[0].size)
		if m, _ := file.ReadAt(part, begin[0].size); m < len(part) {
			return false
		}
		t.add(part)
		if t.point != begin[1] {
			return false
		}
	}
	return true
}

// unread reports whether a source has something that no input reads.
func (f *Follower) unread(s *source) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := s.log
	return l.in == nil && !s.unsure && (s.size > l.text.size || !l.over && s.size == l.text.size)
}

// search finds what is left of logs of an earlier run that have other names now, and says what is
// gone.
func (f *Follower) search() {
	f.mu.Lock()
	var lost []*Log
	for _, l := range f.logs {
		if l.earlier && !l.over && !l.said && l.in == nil && !l.lives() {
			lost = append(lost, l)
		}
	}
	looks := f.looks
	f.mu.Unlock()
	listed := make(map[string][]string)
	for _, l := range lost {
		for _, of := range []string{l.path, l.target} {
			folder := filepath.Dir(of)
			if of == "" {
				continue
			}
			if listed[folder] == nil {
				f.step()
				listed[folder] = files(folder)
			}
			for _, path := range listed[folder] {
				if path != l.path && derived(path, of) {
					f.searchIn(path)
				}
			}
		}
	}
	var gone, rest Summary
	f.mu.Lock()
	for _, l := range lost {
		switch {
		case l.in != nil, l.lives(), looks < lostLooks:
			continue
		case !f.options.Windows && l.again.Load().needsWindows():
			l.lost = true
			gone.Add(l.path, "is gone since the state was written; lines that no window has are missing")
		default:
			rest.Add(l.path, "is gone since the state was written; what it got after that is missing, if it got anything")
		}
		l.said = true
	}
	f.mu.Unlock()
	gone.Say(f.options.Lost)
	rest.Say(f.options.Notice)
}

// lostLooks is the number of looks after a start in which a file may be found that has what a log
// lacks: rotation may just make it.
const lostLooks = 3

// searchIn looks whether a file that no input follows has what a log of an earlier run lacks.
func (f *Follower) searchIn(path string) {
	f.step()
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	s, err := f.find(path, info, false)
	if err != nil || s == nil || !f.unread(s) || f.input(s.path) != nil {
		return
	}
	owner := f.input(s.log.path)
	if owner != nil && f.found == nil {
		f.enqueue(s.log, owner)
		return
	}
	in := f.insert(&Input{name: path, path: path})
	if owner != nil {
		in.Tag = owner.Tag
	}
	f.enqueue(s.log, in)
	f.hand(in, &pattern{})
}

// mostGone is the number of looks after which a file without a name is forgotten. Rotation may
// rename it during a few looks in a row.
const mostGone = 10

// mostEnded is the number of logs without a file that copies are compared with.
const mostEnded = 10_000

// forget closes the files that have no name any more, and forgets the oldest of too many logs.
func (f *Follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	ended := 0
	for _, l := range f.logs {
		for _, s := range slices.Clone(l.sources) {
			s.gone++
			if s.gone > mostGone && (l.in == nil || l.current != s) {
				f.drop(s)
			}
		}
		if l.in == nil && len(l.sources) == 0 {
			ended++
		}
	}
	for n := 0; ended > mostEnded && n < len(f.logs); n++ {
		if l := f.logs[n]; l.in == nil && len(l.sources) == 0 {
			f.removeLog(l)
			n--
			ended--
		}
	}
}

// An Unread is a file that is not read, or a log that is gone.
type Unread struct {
	Path string
	// Of is the log that has the text of a copy.
	Of string
	// Unsure is set if the file may still differ from the log.
	Unsure bool
	// Lost is set for a log of an earlier run that is gone, if windows lack some of its lines.
	Lost bool
}

// Unread returns the copies that there are, and the logs of which lines are missing.
func (f *Follower) Unread() (all []Unread) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.lost {
			all = append(all, Unread{Path: l.path, Lost: true})
		}
		for _, s := range l.sources {
			if s != l.current && s.path != l.path && s.gone <= 1 && (s.unsure || f.said[s.path] != "") {
				all = append(all, Unread{Path: s.path, Of: l.path, Unsure: s.unsure})
			}
		}
	}
	return all
}
