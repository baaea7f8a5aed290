package follow

import (
	"bytes"
	"errors"
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

// A source is a file that has, or may have, the text of a log. The looker writes its fields, under
// the lock. So it alone may read them without. The reader that has the file writes those at the
// end.
type source struct {
	path   string
	seen   int         // the number of the look at folders that saw it there last
	latest fs.FileInfo // what that saw
	packed bool        // it is compressed or UTF-16
	begin  []byte      // the first bytes of its text
	first  []point     // at the ends of lines there
	open   *os.File    // nil unless it is read or compared

	log *Log

	state fileState
	info  fs.FileInfo // when it was compared, or when its reader came to its end
	size  int64       // so many bytes of its text were then known to be the first ones of the log
	head  []byte      // its first bytes
}

// A fileState says what a file is for its log. The looker changes it, but for where the reader is
// named. When another file gets the name, or the file another text, it is forgotten, and what is
// found there begins anew: as spare, part or copied.
type fileState int

const (
	// spare: It had what was read of the log, and it may have more. It becomes current when the
	// reader gets it, or part when more is read than it has.
	spare fileState = iota
	// part: All its text is that of the log, which goes on. It may be another log that begins
	// alike. It becomes spare when it has what was read.
	part
	// copied: As spare, and a message says that another file has the log, too.
	copied
	// current: The reader has it, and it is open. A log has one such file at most. It becomes spare
	// when the looker takes it back, or when the reader has finished the log, and rewritten when
	// the reader finds that it was truncated.
	current
	// rewritten: It has another text now. The next look forgets it.
	rewritten
)

// hasAll reports whether a file has all that was read of its log. The lock is held.
func (s *source) hasAll() bool {
	switch s.state {
	case spare, copied:
		return s.size >= s.log.read.text.Size
	}
	return s.state == current
}

// beginSize is the number of bytes that show whether a file was written anew: enough for the time
// comments, which differ when a program starts again and truncates its log.
const beginSize = 512

// identify returns the device of a file and its number there, zeros if the system knows none.
func identify(info fs.FileInfo) [2]uint64 {
	device, file := scan.Identity(info)
	return [2]uint64{device, file}
}

// unchanged reports whether a file is the same as before.
func unchanged(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
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

// load opens a file, and reads its beginning. It returns nil if there is no text yet.
func (f *Follower) load(path string) (*source, error) {
	opened, err := f.open(path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, open: opened, head: headOf(opened)}
	f.step()
	s.info, err = opened.Stat()
	if err == nil && !s.info.Mode().IsRegular() {
		err = errNoFile
	}
	known := false
	s.packed, known = isPacked(s.head)
	s.begin = s.head
	if s.packed {
		f.step()
		s.begin = make([]byte, beginSize)
		n, _ := io.ReadFull(s.text(0), s.begin)
		s.begin = s.begin[:n]
	}
	if err != nil || !known || len(s.begin) == 0 {
		f.shut(s)
		return nil, err
	}
	var begin text
	begin.Write(s.begin)
	s.first = begin.first
	return s, nil
}

// reopen opens a file again. It reports false if its name does not lead to it any more, if it was
// written anew, or with an error if it cannot be opened.
func (f *Follower) reopen(s *source) (isThere bool, err error) {
	if s.open != nil {
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
	s.open = opened
	f.mu.Unlock()
	f.step()
	info, err := opened.Stat()
	if err == nil && os.SameFile(s.info, info) && f.intact(s, s.open, 0) {
		return true, nil
	}
	f.shut(s)
	return false, nil
}

// shut closes a file.
func (f *Follower) shut(s *source) {
	if s.open == nil {
		return
	}
	s.open.Close()
	f.opened.Add(-1)
	f.mu.Lock()
	s.open = nil
	f.mu.Unlock()
}

// headOf returns the first bytes of a file.
func headOf(file *os.File) []byte {
	head := make([]byte, beginSize)
	n, _ := file.ReadAt(head, 0)
	return head[:n]
}

// intact reports whether a file that is open still begins as it did, and has so many bytes. It may
// just have been truncated, and have been written again.
func (f *Follower) intact(s *source, from *os.File, size int64) bool {
	f.step()
	now := headOf(from)
	f.mu.Lock()
	same := bytes.HasPrefix(now, s.head)
	if same {
		s.head = now
	}
	f.mu.Unlock()
	if !same || size <= int64(len(now)) {
		return same
	}
	f.step()
	n, _ := from.ReadAt(make([]byte, 1), size-1)
	return n == 1
}

// text returns a reader of the text of a file that is open, from a byte on. One that is packed is
// read from its start.
func (s *source) text(from int64) io.Reader {
	if s.packed {
		return plaintext.NewReader(io.NewSectionReader(s.open, 0, math.MaxInt64))
	}
	return io.NewSectionReader(s.open, from, math.MaxInt64-from)
}

// isNamed reports whether the name at which a file was seen last leads to it.
func (f *Follower) isNamed(s *source) bool {
	f.mu.Lock()
	info := s.info
	f.mu.Unlock()
	f.step()
	now, err := os.Stat(s.path)
	return err == nil && os.SameFile(now, info)
}

// added is what rotation adds to a name: numbers and dates.
var added = regexp.MustCompile(`([._-]\d+(T\d+)?Z?)+`)

// base returns the name of a file without what rotation adds, and without what follows its first
// ending. So node.hdr is the base of node.hdr.1.gz, node-20260102.hdr and node.hdr.bak.
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

// isBelow reports whether a file is in the folder of another one, or below it.
func isBelow(path, of string) bool {
	inside, err := filepath.Rel(filepath.Dir(of), path)
	return err == nil && filepath.IsLocal(inside)
}

// A relation is that of the text of a file to a log.
type relation int

const (
	unknown relation = iota // it changes just now
	differs                 // in a byte that both have
	shorter
	equal
	longer
)

// A comparison is how far a file has the text of a log.
type comparison struct {
	relation
	size int64 // bytes of the log that the file has
}

// isBetter reports whether a comparison says more than another one of the same size: the file does
// not end within the log, or the log began at its name.
func (c comparison) isBetter(other comparison, sameName bool) bool {
	if c.relation == shorter || other.relation == shorter {
		return c.relation != shorter
	}
	return sameName
}

// compare compares a file with a log: with the other files that have it or, if there is none, with
// the hashes of what was read. Before is what was known of the file. A file that has more than
// another one, which has a name, is another log that begins alike, unless the log was read in it.
func (f *Follower) compare(s, before *source, l *Log) comparison {
	f.mu.Lock()
	points := l.read.text.points()
	size := l.read.text.Size
	others := l.beside(s)
	grown := before != nil && before.log == l && bytes.HasPrefix(s.head, before.head)
	wasRead := grown && before.state != part && before.state != copied
	from := int64(0)
	if grown && !s.packed {
		from = min(before.size, size)
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
		case isAnother && f.looks-other.seen < settled: // it may have another name now
			return comparison{}
		}
	}
	return c
}

// beside returns the other files that have all that was read of a log, first the one that is read.
// The lock is held.
func (l *Log) beside(s *source) (others []*source) {
	for _, other := range l.files {
		switch {
		case !other.hasAll() || os.SameFile(other.info, s.info):
		case other.state == current:
			others = slices.Insert(others, 0, other)
		default:
			others = append(others, other)
		}
	}
	return others
}

// compareFiles compares the text of a file with another file that has the log, from a byte on.
func (f *Follower) compareFiles(s, other *source, from int64) comparison {
	if other.open == nil {
		if isThere, _ := f.reopen(other); !isThere {
			f.drop(other)
			return comparison{}
		}
		defer f.shut(other)
	}
	if other.packed {
		from = 0
	}
	c := f.compareTexts(s, other, from)
	if !f.intact(other, other.open, 0) {
		return comparison{}
	}
	return c
}

// compareTexts compares the texts of two files from a byte on.
func (f *Follower) compareTexts(s, other *source, from int64) comparison {
	r := s.text(from)
	beside := other.text(from)
	size := from
	for {
		f.step()
		n, err := io.ReadFull(r, f.buffers[0][:])
		f.step()
		m, end := io.ReadFull(beside, f.buffers[1][:n])
		part, there := f.buffers[0][:n], f.buffers[1][:m]
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
		f.step()
		if m, _ = io.ReadFull(beside, f.buffers[1][:1]); m > 0 {
			return comparison{relation: shorter, size: size}
		}
		return comparison{relation: equal, size: size}
	}
}

// compareHashes compares the text of a file with the hashes of what was read of a log. Of a plain
// file it reads only the first and the last lines.
func (f *Follower) compareHashes(s *source, points []point, known int64) comparison {
	r := s.text(0)
	var read point
	c := comparison{relation: shorter}
	f.step()
	info, err := s.open.Stat()
	if err != nil {
		return comparison{}
	}
	for n, p := range points {
		if n == someLines && !s.packed && len(points) >= 2*someLines {
			if info.Size() < known {
				return c
			}
			read = p
			r = s.text(p.Size)
			continue
		}
		for read.Size < p.Size {
			f.step()
			part := f.buffers[0][:min(p.Size-read.Size, int64(len(f.buffers[0])))]
			m, err := io.ReadFull(r, part)
			read.add(part[:m])
			if err != nil {
				if n < someLines && bytes.IndexByte(part[:m], '\n') >= 0 { // a line ends there
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
	f.step()
	if n, _ := io.ReadFull(r, f.buffers[0][:1]); n > 0 {
		c.relation = longer
		c.size++
	}
	return c
}
