package follow

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan/rotate"
)

// A begun is how a file began that was read, and how much of it was read.
type begun struct {
	path string
	head []byte
	size int64
	cut  bool      // it was truncated then
	at   time.Time // when that was
}

// A found file is a copy of one that was read.
type found struct {
	path string
	info fs.FileInfo
	head []byte // of its bytes, which may be compressed
	gone bool   // see finished
}

// growing reports whether the file may have got more than was read.
func (b *begun) growing() bool { return b.cut || b.at.IsZero() }

// mostBegun is the number of files read before that copies are compared with.
const mostBegun = 10_000

// copied reports whether a file that no input has is a copy that rotation made of one that was
// read: it has the name of that with something after it, as in node.hdr.1.gz or node.1.hdr, and
// begins as that did. It says so once.
func (f *Follower) copied(path string, info fs.FileInfo) bool {
	for n := range f.copies {
		c := &f.copies[n]
		if os.SameFile(c.info, info) && bytes.Equal(beginning(path, len(c.head)), c.head) {
			c.path = path // it may have got another name
			return true
		}
	}
	if known, isCopy := f.hasMark(path, info); known {
		if isCopy {
			f.copies = append(f.copies, found{path: path, info: info, head: beginning(path, headSize)})
		}
		return isCopy
	}
	var read []begun
	for _, b := range slices.Concat(f.begun, f.reading()) {
		if len(b.head) > 0 && path != b.path && derived(path, b.path) {
			read = append(read, b)
		}
	}
	if len(read) == 0 {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, _ := io.ReadFull(hdrlog.NewTextReader(file), head)
	for _, b := range read {
		// A short file is known as a whole. If it may have got more, one line of it is enough.
		have := min(len(b.head), headSize)
		if n < have && bytes.Equal(head[:n], b.head[:n]) {
			return true // maybe: nothing else is in it yet, and the next look comes soon
		}
		if n < have || !bytes.Equal(head[:have], b.head[:have]) || have < headSize && n != have && !(b.growing() && hasInterval(b.head)) {
			continue
		}
		text := "is a copy of " + b.path + "; it counts once"
		if _, compressed := rotate.Plain(path); b.cut && !compressed && info.Size() > b.size {
			text += fmt.Sprintf(", but its last %d bytes were not read before the log was truncated", info.Size()-b.size)
		}
		f.copies = append(f.copies, found{path: path, info: info, head: beginning(path, headSize)})
		f.options.Notice(path, text)
		return true
	}
	return false
}

// hasInterval reports whether a text has a whole line that is no comment.
func hasInterval(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line[0] != '#' && line[0] != '"' && line[len(line)-1] == '\n' {
			return true
		}
	}
	return false
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

// reading returns how the files began that are read now, or were in an earlier run.
func (f *Follower) reading() (all []begun) {
	for _, in := range f.inputs {
		in.mu.Lock()
		for _, g := range in.files {
			head := g.head
			if len(head) == 0 {
				head = make([]byte, headSize)
				n, _ := g.file.ReadAt(head, 0)
				head = head[:n]
			}
			all = append(all, begun{path: in.path, head: head, size: g.offset})
		}
		in.mu.Unlock()
	}
	f.marking.Lock()
	defer f.marking.Unlock()
	for _, m := range f.marks {
		all = append(all, begun{path: m.Path, head: m.Head, size: m.Size, cut: m.Cut})
	}
	return all
}

// hasMark reports whether a file was known in an earlier run, and whether it was a copy.
func (f *Follower) hasMark(path string, info fs.FileInfo) (known, isCopy bool) {
	f.marking.Lock()
	defer f.marking.Unlock()
	device, inode := identity(info)
	for _, m := range f.marks {
		if m.Device == device && m.Inode == inode && m.Size <= info.Size() && bytes.Equal(beginning(path, len(m.Head)), m.Head) {
			return true, m.Copy
		}
	}
	return false, false
}

// beginning returns up to size bytes of a file.
func beginning(path string, size int) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	head := make([]byte, size)
	n, _ := io.ReadFull(file, head)
	return head[:n]
}

// remember keeps how a log began that was read to its end, if copies of it can be found.
func (f *Follower) remember(b begun) {
	if len(f.patterns) > 0 {
		f.begun = append(f.begun, b)
		f.begun = f.begun[max(len(f.begun)-mostBegun, 0):]
	}
}

// truncated remembers a log that was truncated.
func (f *Follower) truncated(l *Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	head, size := l.known()
	f.remember(begun{l.in.path, head, size, true, time.Now()})
}

// lost says what a log that was truncated had got and was not read, if a copy of it shows that.
func (f *Follower) lost(l *Log) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	head, size := l.known()
	for _, c := range f.copies {
		_, compressed := rotate.Plain(c.path)
		if info, err := os.Stat(c.path); err == nil && !compressed && hasInterval(head) && bytes.HasPrefix(c.head, head) && info.Size() > size {
			return fmt.Sprintf("; the last %d bytes before that were not read, but are in %s", info.Size()-size, c.path)
		}
	}
	return ""
}
