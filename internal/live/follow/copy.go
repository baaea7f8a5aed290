package follow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/plaintext"
)

// copying is what is known of a copy.
type copying struct {
	from    string        // the path of what it is a copy of
	of      *Log          // that, nil if it comes from an earlier run
	size    int64         // of its text
	unsure  bool          // there is too little yet to tell
	early   bool          // what it is a copy of may still be found
	unread  bool          // some of its text is not read yet, and may be gone before it is
	since   time.Time     // when it was seen first
	looks   int           // the follower's at that time
	said    bool          // a message says what it is
	checked time.Time     // when it was last compared
	took    time.Duration // what that took
}

// A Copy is a file that matches a pattern and is not read, since it is a copy of another one.
type Copy struct {
	Path, Of string
	// Unsure is set if it has been there for long and may be only a part of a copy.
	Unsure bool
}

// Copies returns the copies that there are. It is safe for concurrent use, and waits for no look.
func (f *Follower) Copies() []Copy {
	if all := f.copies.Load(); all != nil {
		return *all
	}
	return nil
}

// showCopies sets what Copies returns.
func (f *Follower) showCopies() {
	var all []Copy
	for _, c := range f.contents.all {
		if c.Copy && c.info != nil && c.gone == 0 && (!c.unsure || c.said) {
			all = append(all, Copy{c.Path, c.from, c.unsure})
		}
	}
	f.copies.Store(&all)
}

// checkShare is the part of the time that comparing a file may take.
const checkShare = 10

// counts reports whether a state has all of a copy's text.
func (c *content) counts() bool {
	if c.unread || c.of == nil {
		return !c.unread
	}
	c.of.in.mu.Lock()
	defer c.of.in.mu.Unlock()
	if c.of.heir {
		return false // another copy goes on: a later run compares it with that
	}
	m := c.of.mark()
	return m != nil && !m.Rest && m.Again.From == 0 && m.Size >= c.size
}

// unchanged reports whether a file is the same as before.
func unchanged(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// isCopy reports whether the file that has a name now is a copy, see [Follower.copied], is
// finished, or is gone.
func (f *Follower) isCopy(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false // to open a named pipe would wait for its writer
	}
	for _, c := range f.contents.of(info) {
		if (c.Copy && !c.unread || c.waits) && c.info != nil && unchanged(c.info, info) {
			if c.Copy {
				c.Path = path // it may have got another name
			}
			return true
		}
	}
	f.step()
	file, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	f.step()
	if info, err = file.Stat(); err != nil {
		return false
	}
	copied, _, _ := f.copied(path, file, info)
	return copied
}

// copied reports whether a file that no input has is a copy that rotation made of one that was
// read: it has the name of that with something after it, as in node.hdr.1.gz or node.1.hdr, and all
// of its text was read. It says so once. Maybe is set if there is too little yet to tell. The name
// may be that of another file already. If the file begins with all that was read of another one,
// which ended, rest is that: only what follows is read.
func (f *Follower) copied(path string, file *os.File, info fs.FileInfo) (is, maybe bool, rest *original) {
	f.step()
	raw := beginning(file, headSize)
	var before *content
	for _, c := range f.contents.of(info) {
		switch {
		case c.Copy && c.is(info) && (c.info != nil || c.Size == info.Size() && c.Head.Size > 0 && c.Head.Begins(raw)):
			c.Path = path
			if c.info == nil || !c.unread && unchanged(c.info, info) || time.Since(c.checked) < checkShare*c.took {
				if c.info == nil {
					c.info = info
				}
				return true, c.unread || !unchanged(c.info, info), nil // its inode may be used again
			}
			before = c
		case !c.Copy && !c.Ended && c.is(info) && c.Size <= info.Size() && c.Head.Begins(raw):
			if c.finished(info) {
				c.info = info
			}
			return c.finished(info), false, nil // it was read in an earlier run
		}
	}
	c := before
	if c == nil {
		c = &content{Mark: Mark{Fate: Fate{Copy: true}}}
	}
	if before == nil || info.Size() < c.Size || !c.Head.Begins(raw) { // another file may have its inode
		c.copying = copying{since: time.Now(), looks: f.looks}
	}
	c.Path = path
	c.ID = identity(info)
	c.Head = headOf(raw)
	c.Size = info.Size()
	c.info = info
	c.checked = time.Now()
	found, o := different, original{}
	if compressed(raw) || f.unfound(path) {
		found = early
	}
	for _, other := range f.originals(path) {
		f.step()
		if v, size := other.compare(file, raw); v > found || v == found && other.Line > o.Line {
			found = v
			o = other
			c.size = size
		}
	}
	// Before the start, all names are found in one go, and after the last look none is.
	c.early = found == early && f.found != nil && !f.last && f.looks < c.looks+2
	switch {
	case c.early:
		found = unsure
	case found == early:
		found = different
	}
	c.took = time.Since(c.checked)
	c.unsure = found == unsure
	c.unread = found < same || c.size > o.Size
	if found < unsure || found == owed {
		if before != nil {
			f.contents.remove(before)
			if before.said && found == different {
				f.options.Notice(path, "is no copy of "+before.from+" any more; reading it")
			}
		}
		if found == longer || found == owed {
			rest = &o
		}
		return false, false, rest
	}
	c.from, c.of = o.Path, o.log
	late := time.Since(c.since) >= f.options.Gone
	switch {
	case c.said:
	case !c.unsure:
		c.said = true
		f.options.Notice(path, "is a copy of "+o.Path+"; it counts once")
	case late && info.Size() > 0:
		c.said = true
		f.options.Notice(path, "may be a part of a copy of "+o.Path+"; it is not read")
	}
	if before == nil {
		f.contents.add(c)
	}
	return true, c.unread, nil
}

// An original is what a file can be a copy of. Its line is the last one that need not be read
// again.
type original struct {
	Mark
	head    []byte   // how it begins, nil if only the mark knows
	content *content // nil if an input reads it
	log     *Log     // nil if it comes from an earlier run
	file    *os.File // nil if it is not open
	reading bool     // the rest of the file is read, too
	waits   bool     // its file was not opened yet
}

// originals returns the contents that a file of a name can be a copy of: those that are read now,
// and those that were read to their end or in an earlier run.
func (f *Follower) originals(path string) (all []original) {
	add := func(o original) {
		if l := o.log; l != nil {
			o.Mark = l.known()
			if !l.behind() {
				o.head = l.head
			}
			o.Line = l.whole()
			o.Header = l.header
			if l.header == "" && l.resumed != nil { // none of its lines counts yet
				o.Header = l.resumed.Header
			}
			if compressed(l.head) {
				o.Line = l.line // lines of bytes that are compressed are no lines
			}
		}
		if o.Path != path {
			all = append(all, o)
		}
	}
	for c := range from(path, f.contents.stems) {
		switch {
		case c.log != nil:
			c.log.in.mu.Lock()
			o := original{log: c.log, content: c}
			if c.open {
				o.file = c.log.file
			}
			add(o)
			c.log.in.mu.Unlock()
		default:
			add(original{Mark: c.Mark, content: c, waits: c.waits && c.info == nil})
		}
	}
	for in := range from(path, f.stems) {
		in.mu.Lock()
		for _, l := range in.files {
			add(original{log: l, file: l.file, reading: true})
		}
		in.mu.Unlock()
	}
	return all
}

// A verdict says what a file is to an original, in order of what counts if there are several.
type verdict int

const (
	different verdict = iota
	early             // different, unless the original was just found, or will be
	longer            // it begins with all that was read of the original, which ended
	unsure            // there is too little yet to tell
	same              // all of its text was read, or will be
	owed              // all of its text was read, but some of its lines are needed again
)

// compare compares a file that begins with raw with an original. Size is that of its
// text.
func (o *original) compare(file *os.File, raw []byte) (v verdict, size int64) {
	if o.Head.Size == 0 && o.file != nil {
		o.head = beginning(o.file, headSize)
		o.Head = headOf(o.head)
	}
	if o.Head.Size == 0 && !o.reading {
		return different, 0
	}
	if o.reading && (o.Size == 0 || !o.intact()) {
		defer func() { v = max(v, early) }() // bytes of it may just be read, maybe again
	}
	if len(raw) == 0 {
		return unsure, 0 // what comes meanwhile may be compressed
	}
	reader := func() io.Reader { return io.NewSectionReader(file, 0, math.MaxInt64) }
	text := reader()
	if !o.alike(raw) {
		if len(raw) < 4 {
			return unsure, 0 // a few bytes do not show whether they are compressed
		}
		beginning := make([]byte, headSize)
		n, _ := io.ReadFull(plaintext.NewReader(reader()), beginning)
		if !o.alike(beginning[:n]) {
			return different, 0
		}
		text = plaintext.NewReader(reader())
	}
	size, exact, equal, err := o.read(text)
	switch {
	case errors.Is(err, errDiffers):
		return different, size
	case size == 0:
		return unsure, size
	case size > o.Size && !o.reading:
		if o.waits {
			return unsure, size
		}
		return longer, size
	case size <= o.Size && exact:
		switch {
		case o.log != nil && !o.owes(), o.log == nil && !o.Rest && o.Again.From == 0:
			return same, size
		case o.waits, size < o.Size:
			return unsure, size
		}
		return owed, size
	case o.file == nil || !o.intact():
		return unsure, size
	case equal:
		return same, size
	}
	return different, size
}

// compressed reports whether a file begins as gzip or zstd does.
func compressed(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// alike reports whether a text may be that of the original, or the other way round.
func (o *original) alike(text []byte) bool {
	if o.head == nil && o.Head.Size > 0 {
		return o.Head.may(text)
	}
	n := min(len(text), len(o.head))
	return bytes.Equal(text[:n], o.head[:n])
}

// owes reports whether the log has ended before it came to all lines that are read again.
func (o *original) owes() bool {
	o.log.in.mu.Lock()
	defer o.log.in.mu.Unlock()
	return !o.reading && o.log.owes()
}

// goOn returns the mark of a file that begins with the text of the original, which leaves to it
// what a later run needs. The follower's mu is locked.
func (o *original) goOn(path string, file *os.File, info fs.FileInfo) *Mark {
	m := &Mark{
		Path:   path,
		ID:     identity(info),
		Head:   headOf(beginning(file, headSize)),
		Line:   o.Line,
		Header: o.Header,
	}
	if o.content != nil {
		o.content.lost = ""
	}
	if l := o.log; l != nil {
		l.in.mu.Lock()
		defer l.in.mu.Unlock()
		l.heir = true
		if l.owes() {
			m.Again = l.resumed.Again.Behind(l.read())
		}
		return m
	}
	m.Again = o.content.Again
	o.content.Again = Again{}
	return m
}

// step is that of the follower.
func (o *original) step() {
	if o.log != nil {
		o.log.in.follower.step()
	}
}

// intact reports whether the file has what was read of it. It may just have been truncated.
func (o *original) intact() bool {
	o.step()
	info, err := o.file.Stat()
	return err == nil && info.Size() >= o.Size && o.Head.Begins(beginning(o.file, o.Head.Size))
}

var errDiffers = errors.New("the text is another one")

// read reads a text up to where it differs, and returns its size. Exact says that a hash shows that
// all of it was read, and equal that the file of the original begins with it.
func (o *original) read(r io.Reader) (size int64, exact, equal bool, err error) {
	var t text
	points := o.Points
	buffer, before := make([]byte, 64<<10), make([]byte, 64<<10)
	equal = o.file != nil
	for {
		part := buffer
		if len(points) > 0 {
			part = buffer[:min(int64(len(buffer)), points[0].size-size)]
		}
		o.step()
		n, err := io.ReadFull(r, part)
		if equal {
			o.step()
			m, _ := o.file.ReadAt(before[:n], size)
			equal = bytes.Equal(buffer[:n], before[:m])
		}
		size += int64(n)
		if len(points) > 0 && n > 0 {
			t.add(buffer[:n])
			if exact = size == points[0].size; exact {
				if t.point != points[0] {
					return size, false, false, errDiffers
				}
				points = points[1:]
			}
		} else if n > 0 {
			exact = false
		}
		if err != nil || len(points) == 0 && size > o.Size && !equal {
			return size, exact, equal, nil // a text that cannot be read ends there
		}
	}
}

// derived reports whether rotation makes one name of the other.
func derived(path, from string) bool {
	return slices.Contains(slices.Collect(stems(path)), stem(from))
}

// from iterates over those from whose names rotation makes a name, by their stems.
func from[T any](path string, all map[string][]T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for stem := range stems(path) {
			for _, one := range all[stem] {
				if !yield(one) {
					return
				}
			}
		}
	}
}

// stem returns a name without the suffix of its file, after which rotation may put something.
func stem(path string) string {
	if dot := strings.LastIndexByte(path, '.'); dot > strings.LastIndexByte(path, os.PathSeparator)+1 {
		return path[:dot]
	}
	return path
}

// stems iterates over the stems of the names from which rotation can make a name: node and
// node.hdr of node.hdr.1.
func stems(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := strings.LastIndexByte(path, os.PathSeparator) + 2; i < len(path); i++ {
			if strings.IndexByte(".-_", path[i]) >= 0 && !yield(path[:i]) {
				return
			}
		}
	}
}

// unfound reports whether a file is there that a name can come from by rotation, and that no input
// follows. The next look for files may find it.
func (f *Follower) unfound(path string) bool {
	for stem := range stems(path) {
		for j := len(stem) + 1; j <= len(path); j++ { // as node.hdr.1 and node.1.hdr come from node.hdr
			if j < len(path) && path[j] != '.' {
				continue
			}
			from := stem + path[j:]
			f.step()
			if info, err := os.Stat(from); err == nil && info.Mode().IsRegular() && !f.names[from] {
				return true
			}
		}
	}
	return false
}

// beginning returns up to size bytes.
func beginning(file *os.File, size int) []byte {
	head := make([]byte, size)
	n, _ := file.ReadAt(head, 0)
	return head[:n]
}

// truncated ends a log that was truncated, and has its input read the file again. Copies may have
// what was not read of it.
func (f *Follower) truncated(l *Log) {
	f.lock()
	defer f.mu.Unlock()
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if len(l.in.files) == 0 {
		return // the follower is closed
	}
	c := f.remember(l, true)
	if l.behind() && l.resumed.Again.Open > 0 {
		f.lose(c, "was truncated while it was read again")
	}
	l.in.files[0] = &Log{
		in:        l.in,
		file:      l.file,
		info:      l.info,
		succeeded: l.succeeded,
		before:    l,
	}
	f.recheck(func(c *content) bool { return c.of == l })
	for _, in := range f.inputs {
		in.passed = nil
	}
}
