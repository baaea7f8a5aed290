package sinks

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"syscall"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/live"
	"hdrkit/internal/question/union"
)

// A Log writes what is merged as a log. A late interval is a line of its own, which a union of the
// log puts in its window.
type Log struct {
	options *Options
	w       buffered
	log     *hdrlog.Writer
	begun   bool
	notes   bool  // comments have what a later run must know
	base    int64 // milliseconds since the epoch
	fields  []byte
}

// NewLog returns a log that is written to w.
func NewLog(o *Options, w buffered) *Log {
	return &Log{options: o, w: w, log: hdrlog.NewWriter(w)}
}

// A FileLog is a log that is written to a file, and goes on where an earlier run was.
type FileLog struct {
	*Log
	file *File
	// Parts are the open windows that the earlier run wrote behind what counts, as a log.
	Parts []byte
}

// NewFileLog returns a log that is written to a file, of which an earlier run has written what at
// says, nil if there is none. Behind that it may have written open windows, up to another position.
func NewFileLog(o *Options, file *File, at, parts *live.FilePosition) (*FileLog, error) {
	l := &Log{options: o, w: file, notes: true}
	var open []byte
	if at != nil && parts != nil {
		open = file.parts(at, parts)
	}
	err := file.cutBack(at)
	if at != nil {
		l.begun = at.Size > 0
		l.base = at.Base
	}
	to := struct{ io.Writer }{file}
	l.log = hdrlog.NewWriter(&to)
	if l.begun { // the file has a header, which the writer must know of
		to.Writer = io.Discard
		err = cmp.Or(err, union.WriteHeader(l.log, nil, 0, l.base), l.log.Flush())
		to.Writer = file
	}
	return &FileLog{l, file, open}, err
}

// End writes the rest.
func (l *FileLog) End() error { return cmp.Or(l.Flush(), l.file.disk.End()) }

// Position puts the log on the disk.
func (l *FileLog) Position() (live.FilePosition, error) {
	if err := l.Flush(); err != nil {
		return live.FilePosition{}, err
	}
	tail, err := l.file.sync()
	return live.FilePosition{
		Path: l.file.path,
		Size: l.file.size,
		Base: l.base,
		Tail: tail,
	}, err
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
		l.base, l.begun = min(w.Start, logline.Millis(w.LogStart)), true
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
	if note := w.Note(); l.notes && note != "" {
		err = l.log.Comment(note)
	}
	return cmp.Or(err, l.log.WriteEncoded(tag, l.fields))
}

// Flush writes what is complete.
func (l *Log) Flush() error {
	err := l.log.Flush()
	return cmp.Or(err, l.w.Flush())
}

// End does nothing more.
func (l *Log) End() error { return l.Flush() }

// A File grows while a command runs, and in later runs: a state says how much of it counts.
type File struct {
	path string
	file *os.File
	disk *Disk
	w    *bufio.Writer
	size int64
}

// OpenFile opens a file.
func OpenFile(o *Options, path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file that can grow", path)
	}
	if err == nil {
		err = live.Lock(file)
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	disk := NewDisk(o, path, file)
	return &File{
		path: path,
		file: file,
		disk: disk,
		w:    bufio.NewWriter(disk),
		size: info.Size(),
	}, nil
}

// Is reports whether a path leads to the file.
func (f *File) Is(path string) bool {
	written, err := f.file.Stat()
	other, also := os.Stat(path)
	return err == nil && also == nil && os.SameFile(written, other)
}

// tailSize is the number of bytes by which the end of what counts is recognized.
const tailSize = 4096

// tail returns a hash of the last bytes before a size.
func (f *File) tail(size int64) (string, error) {
	last := make([]byte, min(size, tailSize))
	_, err := f.file.ReadAt(last, size-int64(len(last)))
	sum := sha256.Sum256(last)
	return hex.EncodeToString(sum[:8]), err
}

// parts returns what stands between two positions, as a log, nil if it is not there any more.
func (f *File) parts(at, to *live.FilePosition) []byte {
	if to.Size > f.size || to.Size <= at.Size {
		return nil
	}
	if tail, err := f.tail(to.Size); err != nil || tail != to.Tail {
		return nil
	}
	var log bytes.Buffer
	if at.Size > 0 { // else its header is among them
		header := hdrlog.NewWriter(&log)
		if cmp.Or(union.WriteHeader(header, nil, 0, at.Base), header.Flush()) != nil {
			return nil
		}
	}
	_, err := io.Copy(&log, io.NewSectionReader(f.file, at.Size, to.Size-at.Size))
	if err != nil {
		return nil
	}
	return log.Bytes()
}

// cutBack drops what an earlier run has not saved.
func (f *File) cutBack(at *live.FilePosition) error {
	if at == nil {
		at = new(live.FilePosition)
		if f.size > 0 {
			return fmt.Errorf("%s is not empty, and no state says how much of it counts: "+
				"remove it, or choose another file", f.path)
		}
	}
	size := at.Size
	if size > f.size {
		return fmt.Errorf("%s has %d bytes, but its state covers %d: it is another file, or parts are lost",
			f.path, f.size, size)
	}
	if tail, err := f.tail(size); size > 0 && (err != nil || tail != at.Tail) {
		return fmt.Errorf("%s does not end, after %d bytes, as its state says: it is another file, or was changed",
			f.path, size)
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
func (f *File) Flush() error { return cmp.Or(f.w.Flush(), f.disk.Flush()) }

// sync puts what was written on the disk, and returns a hash of its tail.
func (f *File) sync() (tail string, err error) {
	if f.disk.Full() {
		return "", fmt.Errorf("%s: %w", f.path, syscall.ENOSPC)
	}
	if err = f.file.Sync(); err == nil && f.size > 0 {
		tail, err = f.tail(f.size)
	}
	return tail, err
}

// Full reports whether the disk is full.
func (f *File) Full() bool { return f.disk.Full() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
