package follow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan/rotate"
)

// isCopy reports whether the file that has a name now is a copy, see [Follower.copied], or is gone.
func (f *Follower) isCopy(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false // to open a named pipe would wait for its writer
	}
	file, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return false
	}
	copied, _ := f.copied(path, file, info)
	return copied
}

// copied reports whether a file that no input has is a copy that rotation made of one that was
// read: it has the name of that with something after it, as in node.hdr.1.gz or node.1.hdr, and
// begins as that did. It says so once. Maybe is set if the file has too little yet to tell. The
// name may be that of another file already.
func (f *Follower) copied(path string, file *os.File, info fs.FileInfo) (is, maybe bool) {
	raw := beginning(file, headSize)
	for _, c := range f.contents {
		switch {
		case c.Copy && c.is(info) && len(c.Head) > 0 && bytes.HasPrefix(raw, c.Head):
			c.Path = path // it may have got another name
			return true, false
		case !c.Copy && !c.Ended && c.is(info) && c.Size <= info.Size() && bytes.HasPrefix(raw, c.Head):
			return false, false // it was read in an earlier run
		}
	}
	// All is told by what was there at first, since the file may grow meanwhile. A few bytes do not
	// show whether they are compressed.
	text := make([]byte, headSize)
	n := 0
	if len(raw) >= 4 {
		rest := io.NewSectionReader(file, int64(len(raw)), math.MaxInt64)
		n, _ = io.ReadFull(hdrlog.NewTextReader(io.MultiReader(bytes.NewReader(raw), rest)), text)
	}
	text = text[:n]
	for _, m := range f.originals(path) {
		if len(m.Head) == 0 || path == m.Path || !derived(path, m.Path) || !bytes.HasPrefix(m.Head, text[:min(len(text), len(m.Head))]) {
			continue
		}
		// A short log is known as a whole. If it may have got more, one line of it is enough.
		growing := (m.Cut || !m.Ended) && hasInterval(m.Head)
		switch {
		case len(text) < len(m.Head):
			return true, true // nothing else is in it yet, and the next look comes soon
		case len(m.Head) < headSize && len(text) > len(m.Head) && !growing:
			continue
		}
		notice := "is a copy of " + m.Path + "; it counts once"
		now, err := file.Stat() // it may have been empty before
		if _, compressed := rotate.Plain(path); m.Cut && !compressed && err == nil && now.Size() > m.Size {
			notice += fmt.Sprintf(", but its last %d bytes were not read before the log was truncated", now.Size()-m.Size)
		}
		f.contents = append(f.contents, &content{Mark: Mark{Path: path, ID: identity(info), Head: raw, Copy: true}, info: info})
		f.options.Notice(path, notice)
		return true, false
	}
	return false, false
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

// originals returns the contents that a file of a name can be a copy of: those that are read now,
// and those that were read to their end or in an earlier run.
func (f *Follower) originals(path string) (all []Mark) {
	for _, c := range f.contents {
		if !c.Copy {
			all = append(all, c.Mark)
		}
	}
	for _, in := range f.inputs {
		if !derived(path, in.path) {
			continue
		}
		in.mu.Lock()
		for _, l := range in.files {
			m := Mark{Path: in.path, Head: l.head, Size: l.size}
			if len(m.Head) == 0 {
				m.Head = beginning(l.file, headSize)
			}
			all = append(all, m)
		}
		in.mu.Unlock()
	}
	return all
}

// beginning returns up to size bytes.
func beginning(file *os.File, size int) []byte {
	head := make([]byte, size)
	n, _ := file.ReadAt(head, 0)
	return head[:n]
}

// truncated ends a log that was truncated, and has its input read the file again.
func (f *Follower) truncated(l *Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if len(l.in.files) > 0 { // else the follower is closed
		f.remember(l, true)
		l.in.files[0] = &Log{in: l.in, file: l.file, info: l.info, settled: l.settled, before: l}
	}
}

// lost says what a log that was truncated had got and was not read, if a copy of it shows that.
func (f *Follower) lost(l *Log) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := l.known()
	for _, c := range f.contents {
		if _, compressed := rotate.Plain(c.Path); !c.Copy || compressed || !hasInterval(m.Head) || !bytes.HasPrefix(c.Head, m.Head) {
			continue
		}
		if info, err := os.Stat(c.Path); err == nil && info.Size() > m.Size {
			return fmt.Sprintf("; the last %d bytes before that were not read, but are in %s", info.Size()-m.Size, c.Path)
		}
	}
	return ""
}
