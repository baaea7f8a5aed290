package sinks

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/live"
	"hdrkit/internal/table/union"
)

// A Log writes what is merged as a log. A late interval is a line of its own, which a union of the
// log puts in its window.
type Log struct {
	options *Options
	w       buffered
	file    *File // what is written to, if it is one
	log     *hdrlog.Writer
	begun   bool
	base    int64 // milliseconds since the epoch
	fields  []byte
}

// A logState is what a state has of a log.
type logState struct{ Size, Base int64 }

// checkLog returns an error if a log did not save that.
func checkLog(state []byte) error {
	var s struct{ Size, Base *int64 }
	err := decode(state, &s)
	if err == nil && state != nil && (s.Size == nil || s.Base == nil || *s.Size < 0) {
		err = errors.New("it does not say how much of the file counts")
	}
	return err
}

// NewLog returns a log that is written to w. A [File] goes on where the log was that saved state.
func NewLog(o *Options, w buffered, state []byte) (*Log, error) {
	l := &Log{options: o, w: w}
	l.file, _ = w.(*File)
	var s logState
	err := cmp.Or(checkLog(state), decode(state, &s))
	if err == nil && l.file != nil {
		err = l.file.cutBack(s.Size, state != nil)
		l.begun, l.base = s.Size > 0, s.Base
	}
	to := struct{ io.Writer }{w}
	l.log = hdrlog.NewWriter(&to)
	if l.begun { // the file has a header, which the writer must know of
		to.Writer = io.Discard
		err = cmp.Or(err, union.WriteHeader(l.log, nil, unit.Unit{}, l.base), l.log.Flush())
		to.Writer = w
	}
	return l, err
}

// buffered writers have what is written when they are flushed.
type buffered interface {
	io.Writer
	Flush() error
}

// Window writes an interval.
func (l *Log) Window(w *live.Window) error {
	values, err := l.options.Units.Unit()
	if err != nil {
		return fmt.Errorf("a log has values of one unit, but %w", err)
	}
	if !l.begun {
		// A machine that joins later may have begun earlier: its intervals then have negative
		// starts.
		l.base, l.begun = min(w.Start, hdrlog.Millis(w.LogStart)), true
		if err := union.WriteHeader(l.log, nil, values, l.base); err != nil {
			return err
		}
	}
	tag := hdrlog.StandardTag(w.Tag)
	if err := hdrlog.CheckTag(tag); err != nil {
		return l.options.Messages.Skip(err.Error())
	}
	if l.fields, err = w.AppendFields(l.fields[:0], l.base); err != nil {
		return err
	}
	return l.log.Fields(tag, l.fields)
}

// Flush writes what is complete.
func (l *Log) Flush() error {
	err := l.log.Flush()
	return cmp.Or(err, l.w.Flush())
}

// Save puts the log on the disk.
func (l *Log) Save() (state any, saved func() error, err error) {
	if l.file == nil {
		return nil, nil, nil
	}
	if err := l.Flush(); err != nil {
		return nil, nil, err
	}
	size, err := l.file.sync()
	return logState{size, l.base}, nil, err
}

// End does nothing more.
func (l *Log) End() error { return l.Flush() }

// A File grows while a command runs, and in later runs: a state says how much of it counts.
type File struct {
	file *os.File
	w    *bufio.Writer
	size int64
}

// OpenFile opens a file.
func OpenFile(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file that can grow", path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &File{file: file, w: bufio.NewWriter(file), size: info.Size()}, nil
}

// Is reports whether a path leads to the file.
func (f *File) Is(path string) bool {
	written, err := f.file.Stat()
	other, also := os.Stat(path)
	return err == nil && also == nil && os.SameFile(written, other)
}

// cutBack drops what comes after a size. There is a state if the file was written before.
func (f *File) cutBack(size int64, state bool) error {
	switch {
	case !state && f.size > 0:
		return fmt.Errorf("%s is not empty, and no state says how much of it counts: remove it, or choose another file", f.file.Name())
	case size > f.size:
		return fmt.Errorf("%s has %d bytes, but its state covers %d: it is another file, or parts are lost", f.file.Name(), f.size, size)
	}
	if err := f.file.Truncate(size); err != nil {
		return err
	}
	_, err := f.file.Seek(size, io.SeekStart)
	f.size = size
	return err
}

func (f *File) Write(text []byte) (int, error) {
	n, err := f.w.Write(text)
	f.size += int64(n)
	return n, err
}

// Flush hands on what was written.
func (f *File) Flush() error { return f.w.Flush() }

// sync puts what was written on the disk, and returns the size of the file.
func (f *File) sync() (int64, error) {
	return f.size, errors.Join(f.w.Flush(), f.file.Sync())
}

// Close flushes and closes the file.
func (f *File) Close() error {
	err := f.w.Flush()
	return cmp.Or(err, f.file.Close())
}
