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

// A Log writes the merged log. A late interval is a line of its own. When hdrunion reads the merged
// log, it adds such a line to its window.
type Log struct {
	options   *Options
	w         buffered
	log       *hdrlog.Writer
	hasHeader bool  // the header is written
	notes     bool  // write comments for a later run, see live.Window.Note
	base      int64 // of the times in the log, in milliseconds since the epoch
	fields    []byte
}

// NewLog returns a log that is written to w.
func NewLog(o *Options, w buffered) *Log {
	return &Log{options: o, w: w, log: hdrlog.NewWriter(w)}
}

// A FileLog is a log that is written to a file. It goes on where an earlier run has stopped.
type FileLog struct {
	*Log
	file *File
	// OpenWindows are the open windows that the earlier run has written at the end of the file, as
	// a log.
	OpenWindows []byte
}

// NewFileLog returns a log that is written to a file. An earlier run has written the file up to the
// position at, nil if there was none. From there up to the position openEnd, it has written open
// windows.
func NewFileLog(o *Options, file *File, at, openEnd *live.FilePosition) (*FileLog, error) {
	l := &Log{options: o, w: file, notes: true}
	var open []byte
	if at != nil && openEnd != nil {
		open = file.between(at, openEnd)
	}
	err := file.cutBack(at)
	if at != nil {
		l.hasHeader = at.Size > 0
		l.base = at.Base
	}
	to := struct{ io.Writer }{file}
	l.log = hdrlog.NewWriter(&to)
	if l.hasHeader { // the writer must know the header that the file already has
		to.Writer = io.Discard
		err = cmp.Or(err, union.WriteHeader(l.log, nil, 0, l.base), l.log.Flush())
		to.Writer = file
	}
	return &FileLog{l, file, open}, err
}

// End writes what is buffered. It returns an error if the disk is full.
func (l *FileLog) End() error { return cmp.Or(l.Flush(), l.file.disk.End()) }

// Position flushes the log to the disk, and returns how much of it is complete.
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

// buffered writers write when they are flushed.
type buffered interface {
	io.Writer
	Flush() error
}

// Window writes a row as an interval.
func (l *Log) Window(w *live.Window) error {
	values, err := l.options.Units.Unit()
	if err != nil {
		return fmt.Errorf("a log has values of one unit, but %w", err)
	}
	if !l.hasHeader {
		// A log that joins later may have started earlier. Then its intervals have negative starts.
		l.base, l.hasHeader = min(w.Merged.Start, logline.Millis(w.Merged.LogStart)), true
		if err := union.WriteHeader(l.log, nil, values, l.base); err != nil {
			return err
		}
	}
	tag := hdrlog.StandardTag(w.Merged.Tag)
	if err := hdrlog.CheckTag(tag); err != nil {
		return l.options.Messages.Skip(err.Error())
	}
	if l.fields, err = w.Merged.AppendFields(l.fields[:0], l.base); err != nil {
		return err
	}
	if note := w.Note(); l.notes && note != "" {
		err = l.log.Comment(note)
	}
	return cmp.Or(err, l.log.WriteEncoded(tag, l.fields))
}

// Flush passes on the complete lines.
func (l *Log) Flush() error {
	err := l.log.Flush()
	return cmp.Or(err, l.w.Flush())
}

// End flushes the log.
func (l *Log) End() error { return l.Flush() }

// A File is the file of the merged log. It grows over several runs. A state says how many of its
// bytes are complete.
type File struct {
	path string
	file *os.File
	disk *Disk
	w    *bufio.Writer
	size int64
}

// OpenFile opens and locks the file at path, which may not exist yet.
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

// tailSize is the number of last bytes whose hash identifies the file at the next start.
const tailSize = 4096

// tail returns the hash of the last bytes before size.
func (f *File) tail(size int64) (string, error) {
	last := make([]byte, min(size, tailSize))
	_, err := f.file.ReadAt(last, size-int64(len(last)))
	sum := sha256.Sum256(last)
	return hex.EncodeToString(sum[:8]), err
}

// between returns the bytes between two positions as a log. It returns nil if they are not there
// any more.
func (f *File) between(at, to *live.FilePosition) []byte {
	if to.Size > f.size || to.Size <= at.Size {
		return nil
	}
	if tail, err := f.tail(to.Size); err != nil || tail != to.Tail {
		return nil
	}
	var log bytes.Buffer
	if at.Size > 0 { // otherwise the bytes begin with the header
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

// cutBack truncates the file to a position, because an earlier run has not saved what is behind it.
// It returns an error if the file is not the one of that run.
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

// Flush passes on the bytes written so far.
func (f *File) Flush() error { return cmp.Or(f.w.Flush(), f.disk.Flush()) }

// sync flushes the file to the disk, and returns the hash of its last bytes.
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
