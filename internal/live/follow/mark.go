package follow

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Mark says how far a file was read, for a follower that starts later. A file is recognized by
// its device, its inode and how it began.
type Mark struct {
	Path string
	ID
	Head []byte
	Size int64 // of what was read
	// Line is the last line that counts. Header has the comments that hold for the lines after it,
	// also if they come from the file before. Both are the reader's.
	Line   int
	Header []byte
	// Done says that the file was read to its end, and that another one has its name.
	Done bool
	// Over says that it was read to its end, and was deleted or not written for long.
	Over bool
	// Lines is the number of lines of what was read.
	Lines int
	// Copy says that the file is a copy of another one. Ended says that it was read to its end and
	// is maybe gone, but that copies of it may appear. Cut says that it was truncated.
	Copy, Ended, Cut bool
	at               time.Time // when it ended
	// Open says that the file is read. Another file may have the inode of one that is not.
	Open bool `json:"-"`
}

// An ID tells a file from all others of this machine.
type ID struct{ Device, Inode uint64 }

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
	m := l.known()
	m.Head, m.Lines = bytes.Clone(m.Head), l.lines
	m.ID = identity(l.info)
	if m.Open = len(l.in.files) > 0 && l.in.files[0] == l; m.Open {
		info, err := l.file.Stat()
		m.Over = err == nil && info.Size() == l.size && (!l.in.gone.IsZero() || time.Since(info.ModTime()) >= l.in.follower.options.Gone)
	}
	return m
}

// known returns how the log begins and how much of it was read, maybe in an earlier run.
func (l *Log) known() Mark {
	if m := l.resumed; m != nil && l.size < m.Size { // it is read again up to there
		return Mark{Path: l.in.path, Head: m.Head, Size: m.Size}
	}
	return Mark{Path: l.in.path, Head: l.head, Size: l.size}
}

// Resumed returns the mark of the file, if there is one. What is before it was read earlier.
func (l *Log) Resumed() *Mark { return l.resumed }

// resume finds the mark of a file. If the file no longer begins as it did, the mark has only the
// comments that hold for it. This needs its path: the name at the mark, or one that rotation made.
func (f *Follower) resume(file *os.File, path string, info fs.FileInfo) (header *Mark) {
	f.marking.Lock()
	defer f.marking.Unlock()
	id := identity(info)
	for n := range f.marks {
		m := &f.marks[n]
		if m.used || m.Copy || m.ID != id {
			continue
		}
		switch {
		case m.Size <= info.Size() && bytes.Equal(beginning(file, len(m.Head)), m.Head):
			m.used = true
			mark := m.Mark // SetMark replaces the other one
			return &mark
		case path == m.Path:
			if !m.Done && !m.Over {
				f.options.Notice(path, "was truncated since the state was written; lines that were not read before are missing")
			}
			m.used, m.Cut = true, true
			return &Mark{Header: m.Header}
		case derived(path, m.Path): // truncated and then renamed; missing says so
			header = &Mark{Header: m.Header}
		}
	}
	return header
}

// renamed opens the files of a folder that had the name of the input at their mark, but have it no
// more, and of which there may be more to read.
func (in *Input) renamed() {
	f := in.follower
	now, _ := os.Stat(in.path)
	f.marking.Lock()
	search := make(map[ID]bool)
	for n := range f.marks {
		m := &f.marks[n]
		if m.Path == in.path && !m.used && !m.Done {
			search[m.ID] = true
		}
	}
	f.marking.Unlock()
	if now != nil {
		delete(search, identity(now))
	}
	moved := true
	for tries := 0; moved && len(search) > 0 && tries < 10; tries++ {
		moved = in.find(search)
	}
}

// find opens the files of the folder that are searched for. It reports whether some were renamed
// while it looked.
func (in *Input) find(search map[ID]bool) (moved bool) {
	f := in.follower
	entries, _ := os.ReadDir(filepath.Dir(in.path))
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			moved = moved || errors.Is(err, fs.ErrNotExist)
			continue
		}
		if !search[identity(info)] {
			continue
		}
		file, err := f.open(filepath.Join(filepath.Dir(in.path), entry.Name()))
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
		if mark := f.resume(file, "", info); mark != nil {
			in.add(file, info, mark)
		} else {
			f.close(file)
		}
	}
	return moved
}

// missing reports the marked files that are gone, maybe with lines that were not read, and forgets
// them.
func (f *Follower) missing() {
	f.marking.Lock()
	defer f.marking.Unlock()
	var all Summary
	for n := range f.marks {
		m := &f.marks[n]
		if m.used {
			continue
		}
		if info, err := os.Stat(m.Path); err == nil && identity(info) == m.ID && info.Size() >= m.Size {
			continue // it waits to be opened
		}
		m.used = true
		if !m.Done && !m.Over && !m.Copy {
			all.Add(m.Path, "is gone since the state was written; lines that were not read before are missing")
		}
	}
	all.Say(f.options.Notice)
}

// Marks returns the marks that the follower was given and that still matter: those of files that
// wait, are read, or match a pattern and must not be read again.
func (f *Follower) Marks() []Mark {
	var marks []Mark
	f.mu.Lock()
	for _, m := range f.ended {
		if time.Since(m.at) < f.options.Gone {
			marks = append(marks, m)
		}
	}
	held := make(map[ID]bool)
	for _, in := range f.inputs {
		in.mu.Lock()
		for _, l := range in.files {
			held[identity(l.info)] = true
		}
		in.mu.Unlock()
	}
	for _, r := range f.read {
		if r.file != nil {
			held[identity(r.info)] = true
			continue
		}
		marks = append(marks, Mark{Path: r.path, ID: identity(r.info), Head: r.head, Copy: true})
	}
	f.mu.Unlock()
	f.marking.Lock()
	defer f.marking.Unlock()
	for _, m := range f.marks {
		if !m.used || held[m.ID] {
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
		if old := &f.marks[n]; old.ID == m.ID {
			*old = marked{m, true}
			return
		}
	}
	f.marks = append(f.marks, marked{m, true})
}
