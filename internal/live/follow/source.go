package follow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hdrkit/internal/base/plaintext"
	"hdrkit/internal/scan"
)

// A source is a file that has, or may have, the text of a log. The looker writes the fields while
// it holds the mutex, so the looker may read them without. A reader writes state, comparedInfo,
// sharedSize and rawHead of its file.
type source struct {
	path       string
	seenInScan int         // the number of the last scan of folders that found the file at path
	seenInfo   fs.FileInfo // how that scan found the file
	packed     bool        // the text is compressed or UTF-16
	textHead   []byte      // the first bytes of the decoded text
	file       *os.File    // nil unless the file is open for reading or comparing

	log *Log

	state        fileState
	comparedInfo fs.FileInfo // how the file was when it was compared, or when its reader came to the end
	sharedSize   int64       // bytes of the text that were then known to be the beginning of the log
	rawHead      []byte      // the first bytes of the file, to notice that it is written anew
}

// A fileState says what a file is for its log. If the file gets another text, or its name another
// file, the looker forgets the file, and begins again with a new source.
type fileState int

const (
	// spare: The file has what was read of the log, and may have more.
	spare fileState = iota
	// partial: The file has only a part of what was read. It may become a copy, or may be another
	// log that begins alike.
	partial
	// copied: As spare, and a message says that the file is a copy of another file.
	copied
	// current: The reader of the log has the file, which is open. A log has at most one such file.
	current
	// rewritten: The reader has found another text in the file. The next look forgets the file.
	rewritten
)

// fileChanges are the states that may follow each state of a file. A reader changes current to
// rewritten or spare. The looker makes all other changes.
var fileChanges = changes[fileState]{
	spare:   {current, partial, copied},
	partial: {spare},
	copied:  {current, partial},
	current: {spare, rewritten},
}

// setState changes the state of a file. The mutex is locked.
func (s *source) setState(to fileState) { fileChanges.apply(&s.state, to) }

// Changes are the states that may follow each state.
type changes[S comparable] map[S][]S

// apply changes a state. It panics if the change is not one of c, which is a fault of this package.
func (c changes[S]) apply(state *S, to S) {
	if *state != to && !slices.Contains(c[*state], to) {
		panic(fmt.Sprintf("follow: a %T of %v cannot become %v", to, *state, to))
	}
	*state = to
}

// hasAll reports whether a file has all that was read of its log. The lock is held.
func (s *source) hasAll() bool {
	switch s.state {
	case spare, copied:
		return s.sharedSize >= s.log.read.text.Size
	}
	return s.state == current
}

// beginSize is the number of first bytes that show whether a file was written anew. That is enough
// for the comments with times: they differ after a program restarts and truncates its log.
const beginSize = 512

// identify returns the device and the inode of a file, or zeros if the system does not know them.
func identify(info fs.FileInfo) [2]uint64 {
	device, file := scan.Identity(info)
	return [2]uint64{device, file}
}

// unchanged reports whether two looks have found the same file, with the same size and time of
// modification.
func unchanged(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// isPacked reports whether a file that begins with head is compressed or UTF-16. Known is false if
// the file is still too short to decide.
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

// openSource opens a file and reads its beginning. It returns nil without an error if the file has
// no text yet.
func (f *Follower) openSource(path string) (*source, error) {
	opened, err := f.open(path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, file: opened}
	s.rawHead, err = headOf(opened)
	f.beforeAccess()
	if err == nil {
		s.comparedInfo, err = opened.Stat()
	}
	if err == nil && !s.comparedInfo.Mode().IsRegular() {
		err = errNoFile
	}
	known := false
	s.packed, known = isPacked(s.rawHead)
	s.textHead = s.rawHead
	if s.packed {
		f.beforeAccess()
		s.textHead = make([]byte, beginSize)
		n, _ := io.ReadFull(s.text(0), s.textHead)
		s.textHead = s.textHead[:n]
	}
	if err != nil || !known || len(s.textHead) == 0 {
		f.closeFile(s)
		return nil, err
	}
	return s, nil
}

// reopen opens a known file again. It returns false if the name leads to another file now, or the
// file was written anew. The error says why the file cannot be opened.
func (f *Follower) reopen(s *source) (isThere bool, err error) {
	if s.file != nil {
		return true, nil
	}
	opened, err := f.open(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	f.mu.Lock()
	s.file = opened
	f.mu.Unlock()
	f.beforeAccess()
	info, err := opened.Stat()
	if err == nil && os.SameFile(s.comparedInfo, info) && f.intact(s, s.file, 0) {
		return true, nil
	}
	f.closeFile(s)
	return false, nil
}

// closeFile closes the file of a source. The source stays known.
func (f *Follower) closeFile(s *source) {
	if s.file == nil {
		return
	}
	s.file.Close()
	f.openCount.Add(-1)
	f.mu.Lock()
	s.file = nil
	f.mu.Unlock()
}

// headOf returns the first bytes of a file, at most beginSize.
func headOf(file *os.File) ([]byte, error) {
	head := make([]byte, beginSize)
	n, err := file.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// intact reports whether an open file still begins as before, and still has at least size bytes.
// Otherwise it was truncated, and maybe written again.
func (f *Follower) intact(s *source, from *os.File, size int64) bool {
	f.beforeAccess()
	now, _ := headOf(from)
	f.mu.Lock()
	same := bytes.HasPrefix(now, s.rawHead)
	if same {
		s.rawHead = now
	}
	f.mu.Unlock()
	if !same || size <= int64(len(now)) {
		return same
	}
	f.beforeAccess()
	n, _ := from.ReadAt(make([]byte, 1), size-1)
	return n == 1
}

// text returns a reader of the decoded text of an open file. It starts at the byte from, or at the
// start if the file is packed.
func (s *source) text(from int64) io.Reader {
	if s.packed {
		return plaintext.NewReader(io.NewSectionReader(s.file, 0, math.MaxInt64))
	}
	return io.NewSectionReader(s.file, from, math.MaxInt64-from)
}

// isNamed reports whether the last known path of a file still leads to it.
func (f *Follower) isNamed(s *source) bool {
	f.mu.Lock()
	info := s.comparedInfo
	f.mu.Unlock()
	f.beforeAccess()
	now, err := os.Stat(s.path)
	return err == nil && os.SameFile(now, info)
}

// added matches what rotation adds to a name: numbers and dates.
var added = regexp.MustCompile(`([._-]\d+(T\d+)?Z?)+`)

// base returns the name of a file without numbers and dates that rotation adds, and without further
// endings. For example, node.hdr is the base of node.hdr.1.gz, node-20260102.hdr and node.hdr.bak.
func base(path string) string {
	name := filepath.Base(path)
	if at := added.FindStringIndex(name); at != nil && at[0] > 0 {
		name = name[:at[0]] + added.ReplaceAllString(name[at[0]:], "")
	}
	stem, ending, found := strings.Cut(name, ".")
	if !found {
		return stem
	}
	if n := strings.IndexAny(ending, ".-_~ "); n >= 0 {
		ending = ending[:n]
	}
	return stem + "." + ending
}

// isBelow reports whether path lies in the folder of the file at of, or in a folder below it.
func isBelow(path, of string) bool {
	inside, err := filepath.Rel(filepath.Dir(of), path)
	return err == nil && filepath.IsLocal(inside)
}

// A relation compares the text of a file with the text of a log, see the comment of the package.
type relation int

const (
	unknown relation = iota // the files change during the comparison
	differs                 // in a byte that both have
	shorter
	equal
	longer
)

// A comparison is the result of comparing a file with a log.
type comparison struct {
	relation
	size int64 // bytes that the file and the log have in common
}

// isBetter reports whether a file belongs rather to the log of comparison c than to the log of
// other: it has more of the log, or as much and goes on beyond it, or the name of the log.
func (c comparison) isBetter(other comparison, sameName bool) bool {
	switch {
	case c.size != other.size:
		return c.size > other.size
	case c.relation == shorter || other.relation == shorter:
		return c.relation != shorter
	}
	return sameName
}

// compare compares a file with a log: with the other files of the log or, if there is none, with
// the hashes of what was read. Before is the source that was known for this file, or nil. If the
// file has more than a named file of the log, it is another log, unless the log was read from this
// file.
func (f *Follower) compare(s, before *source, l *Log) comparison {
	f.mu.Lock()
	points := l.read.text.points()
	size := l.read.text.Size
	others := l.beside(s)
	grown := before != nil && before.log == l && bytes.HasPrefix(s.rawHead, before.rawHead)
	wasRead := grown && before.state != partial && before.state != copied
	from := int64(0)
	if grown && !s.packed {
		from = min(before.sharedSize, size)
	}
	f.mu.Unlock()
	switch {
	case len(others) == 0 && size == 0:
		return comparison{relation: differs}
	case len(others) == 0:
		return f.compareHashes(s, points, size)
	}
	var c comparison
	for _, other := range others {
		c = f.compareFiles(s, other, from)
		isAnother := c.relation == longer && !wasRead && s.path != other.path
		switch {
		case c.relation != longer:
			return c
		case isAnother && f.isNamed(other):
			return comparison{relation: differs}
		case isAnother && f.scans-other.seenInScan < settleScans: // other may have a new name
			return comparison{}
		}
	}
	return c
}

// beside returns the other files that have all that was read of a log. The file that is read comes
// first. The lock is held.
func (l *Log) beside(s *source) (others []*source) {
	for _, other := range l.files {
		switch {
		case !other.hasAll() || os.SameFile(other.comparedInfo, s.comparedInfo):
		case other.state == current:
			others = slices.Insert(others, 0, other)
		default:
			others = append(others, other)
		}
	}
	return others
}

// compareFiles compares the text of a file with that of another file of a log. The first bytes, up
// to from, are known to be equal. A file that cannot be opened is forgotten. The next scan examines
// it again, and reports the error.
func (f *Follower) compareFiles(s, other *source, from int64) comparison {
	if other.file == nil {
		if isThere, _ := f.reopen(other); !isThere {
			f.forget(other)
			return comparison{}
		}
		defer f.closeFile(other)
	}
	if other.packed {
		from = 0
	}
	c := f.compareTexts(s, other, from)
	if !f.intact(other, other.file, 0) {
		return comparison{}
	}
	return c
}

// compareTexts compares the decoded texts of two open files, from a byte on.
func (f *Follower) compareTexts(s, other *source, from int64) comparison {
	r := s.text(from)
	beside := other.text(from)
	size := from
	for {
		f.beforeAccess()
		n, err := io.ReadFull(r, f.looker.buffers[0][:])
		f.beforeAccess()
		m, end := io.ReadFull(beside, f.looker.buffers[1][:n])
		part, there := f.looker.buffers[0][:n], f.looker.buffers[1][:m]
		size += int64(n)
		switch {
		case !bytes.HasPrefix(part, there):
			return comparison{relation: differs}
		case m < n && errors.Is(end, plaintext.ErrCutShort):
			return comparison{}
		case m < n:
			return comparison{relation: longer, size: size}
		case err == nil:
			continue
		}
		f.beforeAccess()
		if m, _ = io.ReadFull(beside, f.looker.buffers[1][:1]); m > 0 {
			return comparison{relation: shorter, size: size}
		}
		return comparison{relation: equal, size: size}
	}
}

// compareHashes compares the text of a file with the hashes of what was read of a log. Known is the
// number of bytes that were read. If the file is not packed, compareHashes reads only the first and
// the last lines.
func (f *Follower) compareHashes(s *source, points []point, known int64) comparison {
	r := s.text(0)
	var read point
	c := comparison{relation: shorter}
	f.beforeAccess()
	info, err := s.file.Stat()
	if err != nil {
		return comparison{}
	}
	for n, p := range points {
		if n == edgeLines && !s.packed && len(points) >= 2*edgeLines {
			if info.Size() < known {
				return c
			}
			read = p
			r = s.text(p.Size)
			continue
		}
		for read.Size < p.Size {
			f.beforeAccess()
			part := f.looker.buffers[0][:min(p.Size-read.Size, int64(len(f.looker.buffers[0])))]
			m, err := io.ReadFull(r, part)
			read.add(part[:m])
			if err != nil {
				if n < edgeLines && bytes.IndexByte(part[:m], '\n') >= 0 { // a line of the file ends before the line of the log
					c.relation = differs
				}
				return c
			}
		}
		if read != p {
			return comparison{relation: differs}
		}
		c.size = p.Size
	}
	c.relation = equal
	f.beforeAccess()
	if n, _ := io.ReadFull(r, f.looker.buffers[0][:1]); n > 0 {
		c.relation = longer
		c.size++
	}
	return c
}
