package follow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog"
)

// copying is what is known of a copy.
type copying struct {
	from    string        // the path of what it is a copy of
	of      *Log          // that, nil if it comes from an earlier run
	size    int64         // of its text
	unsure  bool          // there is too little yet to tell
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
	for _, c := range f.contents {
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
	if c.unsure || c.of == nil {
		return !c.unsure
	}
	c.of.in.mu.Lock()
	defer c.of.in.mu.Unlock()
	m := c.of.mark()
	return m != nil && !m.Rest && m.Size >= c.size
}

// known reports whether all of a copy's text was read. Before that, what it is a copy of may be
// truncated.
func (c *content) known() bool {
	if c.unsure || c.of == nil {
		return !c.unsure
	}
	c.of.in.mu.Lock()
	defer c.of.in.mu.Unlock()
	m := c.of.known()
	return m.Size >= c.size
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
	for _, c := range f.contents {
		if (c.Copy && c.known() || c.waits) && c.info != nil && unchanged(c.info, info) {
			if c.Copy {
				c.Path = path // it may have got another name
			}
			return true
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
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
// which ended, rest is the mark from which on it is read.
func (f *Follower) copied(path string, file *os.File, info fs.FileInfo) (is, maybe bool, rest *Mark) {
	raw := beginning(file, headSize)
	var before *content
	for _, c := range f.contents {
		switch {
		case c.Copy && c.is(info) && (c.info != nil || c.Size == info.Size() && len(c.Head) > 0 && bytes.HasPrefix(raw, c.Head)):
			c.Path = path
			if c.info == nil || c.known() && unchanged(c.info, info) || time.Since(c.checked) < checkShare*c.took {
				if c.info == nil {
					c.info = info
				}
				return true, !c.known() || !unchanged(c.info, info), nil // its inode may be used again
			}
			before = c
		case !c.Copy && !c.Ended && c.is(info) && c.Size <= info.Size() && bytes.HasPrefix(raw, c.Head):
			if c.finished(info) {
				c.info = info
			}
			return c.finished(info), false, nil // it was read in an earlier run
		}
	}
	c := before
	if c == nil {
		c = &content{info: info, copying: copying{since: time.Now(), looks: f.looks}}
		c.Copy = true
	}
	c.Path, c.ID, c.Head, c.Size, c.info, c.checked = path, identity(info), raw, info.Size(), info, time.Now()
	found, o := different, original{}
	if compressed(raw) || f.unfound(path) {
		found = early
	}
	for _, other := range f.originals(path) {
		if v := other.compare(file, raw, &c.size); v > found || v == found && other.Line > o.Line {
			found, o = v, other
		}
	}
	switch { // before the start, all names are found in one go
	case found == early && f.found != nil && f.looks < c.looks+2:
		found = unsure
	case found == early:
		found = different
	}
	c.took, c.unsure = time.Since(c.checked), found == unsure
	if found < unsure {
		if before != nil {
			f.contents = slices.DeleteFunc(f.contents, func(c *content) bool { return c == before })
			if before.said && found == different {
				f.options.Notice(path, "is no copy of "+before.from+" any more; reading it")
			}
		}
		if found == longer {
			f.options.Notice(path, "begins with all that was read of "+o.Path+"; reading what follows")
			rest = &Mark{Path: path, ID: identity(info), Line: o.Line, Header: o.Header}
		}
		return false, false, rest
	}
	c.from, c.of = o.Path, o.log
	switch late := time.Since(c.since) >= f.options.Gone; {
	case c.said:
	case !c.unsure:
		c.said = true
		f.options.Notice(path, "is a copy of "+o.Path+"; it counts once")
	case late && info.Size() > 0:
		c.said = true
		f.options.Notice(path, "may be a part of a copy of "+o.Path+"; it is not read")
	}
	if before == nil {
		f.contents = append(f.contents, c)
	}
	return true, !c.known(), nil
}

// An original is what a file can be a copy of. Its line is the last one that need not be read
// again.
type original struct {
	Mark
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
			if o.Line, o.Header = l.whole(), l.header; compressed(l.head) {
				o.Line = l.line // lines of bytes that are compressed are no lines
			}
		}
		if o.Path != path {
			all = append(all, o)
		}
	}
	for _, c := range f.contents {
		switch {
		case c.Copy || !derived(path, c.Path):
		case c.log != nil:
			c.log.in.mu.Lock()
			o := original{log: c.log}
			if c.open {
				o.file = c.log.file
			}
			add(o)
			c.log.in.mu.Unlock()
		default:
			add(original{Mark: c.Mark, waits: c.waits && c.info == nil})
		}
	}
	for _, in := range f.inputs {
		if !derived(path, in.path) {
			continue
		}
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
)

// compare compares a file that begins with raw with an original. It sets the size of its text.
func (o *original) compare(file *os.File, raw []byte, size *int64) (v verdict) {
	head := o.Head
	if len(head) == 0 && o.file != nil {
		head = beginning(o.file, headSize)
	}
	if len(head) == 0 && !o.reading {
		return different
	}
	if o.reading && (o.Size == 0 || !o.intact()) {
		defer func() { v = max(v, early) }() // bytes of it may just be read, maybe again
	}
	if len(raw) == 0 {
		return unsure // what comes meanwhile may be compressed
	}
	reader := func() io.Reader { return io.NewSectionReader(file, 0, math.MaxInt64) }
	text := reader()
	if !alike(raw, head) {
		if len(raw) < 4 {
			return unsure // a few bytes do not show whether they are compressed
		}
		own := make([]byte, headSize)
		n, _ := io.ReadFull(hdrlog.NewTextReader(reader()), own)
		if !alike(own[:n], head) {
			return different
		}
		text = hdrlog.NewTextReader(reader())
	}
	exact, equal, err := o.read(text, size)
	switch {
	case errors.Is(err, errDiffers):
		return different
	case *size == 0:
		return unsure
	case *size > o.Size && !o.reading:
		if o.waits {
			return unsure
		}
		return longer
	case *size <= o.Size && exact:
		if o.log == nil && o.Rest {
			return longer
		}
		return same
	case o.file == nil || !o.intact():
		return unsure
	case equal:
		return same
	}
	return different
}

// compressed reports whether a file begins as gzip or zstd does.
func compressed(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// alike reports whether one text begins with the other.
func alike(a, b []byte) bool {
	n := min(len(a), len(b))
	return bytes.Equal(a[:n], b[:n])
}

// intact reports whether the file has what was read of it. It may just have been truncated.
func (o *original) intact() bool {
	info, err := o.file.Stat()
	return err == nil && info.Size() >= o.Size && bytes.Equal(beginning(o.file, len(o.Head)), o.Head)
}

var errDiffers = errors.New("the text is another one")

// read reads a text up to where it differs, and sets its size. Exact says that a hash shows that
// all of it was read, and equal that the file of the original begins with it.
func (o *original) read(r io.Reader, size *int64) (exact, equal bool, err error) {
	var t text
	points := o.Points
	own, other := make([]byte, 64<<10), make([]byte, 64<<10)
	*size, equal = 0, o.file != nil
	for {
		part := own
		if len(points) > 0 {
			part = own[:min(int64(len(own)), points[0].size-*size)]
		}
		n, err := io.ReadFull(r, part)
		if equal {
			m, _ := o.file.ReadAt(other[:n], *size)
			equal = bytes.Equal(own[:n], other[:m])
		}
		*size += int64(n)
		if len(points) > 0 && n > 0 {
			t.hashOnly(own[:n])
			if exact = *size == points[0].size; exact {
				if t.end() != points[0] {
					return false, false, errDiffers
				}
				points = points[1:]
			}
		} else if n > 0 {
			exact = false
		}
		if err != nil || len(points) == 0 && *size > o.Size && !equal {
			return exact, equal, nil // a text that cannot be read ends there
		}
	}
}

// derived reports whether rotation makes one name of the other.
func derived(path, from string) bool {
	stem := from
	if dot := strings.LastIndexByte(from, '.'); dot > strings.LastIndexByte(from, os.PathSeparator)+1 {
		stem = from[:dot]
	}
	rest, ok := strings.CutPrefix(path, stem)
	return ok && rest != "" && strings.ContainsRune(".-_", rune(rest[0]))
}

// unfound reports whether a file is there that a name can come from by rotation, and that no input
// follows. The next look for files may find it.
func (f *Follower) unfound(path string) bool {
	for i := strings.LastIndexByte(path, os.PathSeparator) + 2; i < len(path); i++ {
		if !strings.ContainsRune(".-_", rune(path[i])) {
			continue
		}
		for j := i + 1; j <= len(path); j++ { // as node.hdr.1 and node.1.hdr come from node.hdr
			if j < len(path) && path[j] != '.' {
				continue
			}
			from := path[:i] + path[j:]
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
	f.mu.Lock()
	defer f.mu.Unlock()
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if len(l.in.files) == 0 {
		return // the follower is closed
	}
	f.remember(l, true)
	l.in.files[0] = &Log{in: l.in, file: l.file, info: l.info, settled: l.settled, before: l}
	for _, c := range f.contents {
		if c.Copy && c.of == l {
			c.unsure, c.took = true, 0
		}
	}
	for _, in := range f.inputs {
		in.passed = nil
	}
}
