package follow

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Mark says how far a file was read, for a follower that starts later. A file is recognized by
// its device, its inode and how it began.
type Mark struct {
	Path          string
	Device, Inode uint64
	Head          []byte
	Size          int64 // of what was read
	// Line is the last line that counts. Header has the comments that hold for the lines after it,
	// also if they come from the file before. Both are the reader's.
	Line   int
	Header []byte
	// Done says that the file was read to its end, and that another one has its name.
	Done bool
}

// marked is the marks of a follower.
type marked struct {
	Mark
	used bool // a file was recognized
}

// Mark returns what is known of the file of a log. It is empty for a pipe.
func (l *Log) Mark() Mark {
	if l.stream != nil {
		return Mark{}
	}
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	m := Mark{Path: l.in.path, Head: bytes.Clone(l.head), Size: l.size}
	m.Device, m.Inode = identity(l.info)
	return m
}

// Resumed returns the mark of the file, if there is one. What is before it was read earlier.
func (l *Log) Resumed() *Mark { return l.resumed }

// resume finds the mark of a file, if it still begins as it did.
func (f *Follower) resume(file *os.File, info fs.FileInfo) *Mark {
	f.marking.Lock()
	defer f.marking.Unlock()
	device, inode := identity(info)
	for n := range f.marks {
		m := &f.marks[n]
		if m.used || m.Device != device || m.Inode != inode || m.Size > info.Size() {
			continue
		}
		head := make([]byte, len(m.Head))
		if read, _ := file.ReadAt(head, 0); read == len(head) && bytes.Equal(head, m.Head) {
			m.used = true
			return &m.Mark
		}
	}
	return nil
}

// renamed opens the files of a folder that had the name of the input at their mark, but have it no
// more, and of which there may be more to read.
func (in *Input) renamed() {
	f := in.follower
	now, _ := os.Stat(in.path)
	f.marking.Lock()
	search := make(map[[2]uint64]bool)
	for n := range f.marks {
		m := &f.marks[n]
		if m.Path == in.path && !m.used && !m.Done {
			search[[2]uint64{m.Device, m.Inode}] = true
		}
	}
	f.marking.Unlock()
	if now != nil {
		device, inode := identity(now)
		delete(search, [2]uint64{device, inode})
	}
	if len(search) == 0 {
		return
	}
	entries, _ := os.ReadDir(filepath.Dir(in.path))
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		device, inode := identity(info)
		if !search[[2]uint64{device, inode}] {
			continue
		}
		file, err := f.open(filepath.Join(filepath.Dir(in.path), entry.Name()))
		if err != nil {
			continue
		}
		if mark := f.resume(file, info); mark != nil {
			in.newest = info
			in.files = append(in.files, generation{file: file, info: info, mark: mark})
		} else {
			f.close(file)
		}
	}
}

// missing reports the marked files that are gone, maybe with lines that were not read, and forgets
// them.
func (f *Follower) missing() {
	f.marking.Lock()
	defer f.marking.Unlock()
	first, gone := "", 0
	for n := range f.marks {
		m := &f.marks[n]
		if m.used {
			continue
		}
		if info, err := os.Stat(m.Path); err == nil {
			if device, inode := identity(info); device == m.Device && inode == m.Inode && info.Size() >= m.Size {
				continue // it waits to be opened
			}
		}
		m.used = true
		if !m.Done {
			if gone++; gone == 1 {
				first = m.Path
			}
		}
	}
	if gone > 0 {
		text := "is gone since the state was written; what it got after that was not read"
		if gone > 1 {
			text += fmt.Sprintf(" (and %d more logs)", gone-1)
		}
		f.options.Notice(first, text)
	}
}

// Marks returns the marks that the follower was given and that still matter: those of files that
// wait, are read, or match a pattern and must not be read again.
func (f *Follower) Marks() []Mark {
	f.mu.Lock()
	held := make(map[[2]uint64]bool)
	for _, in := range f.inputs {
		in.mu.Lock()
		for _, g := range in.files {
			device, inode := identity(g.info)
			held[[2]uint64{device, inode}] = true
		}
		in.mu.Unlock()
	}
	for _, file := range f.read {
		if info, err := file.Stat(); err == nil {
			device, inode := identity(info)
			held[[2]uint64{device, inode}] = true
		}
	}
	f.mu.Unlock()
	f.marking.Lock()
	defer f.marking.Unlock()
	var marks []Mark
	for _, m := range f.marks {
		if !m.used || held[[2]uint64{m.Device, m.Inode}] {
			marks = append(marks, m.Mark)
		}
	}
	return marks
}

// SetMark replaces the mark of a file.
func (f *Follower) SetMark(m Mark) {
	f.marking.Lock()
	defer f.marking.Unlock()
	for n := range f.marks {
		if old := &f.marks[n]; old.Device == m.Device && old.Inode == m.Inode {
			*old = marked{m, true}
			return
		}
	}
	f.marks = append(f.marks, marked{m, true})
}
