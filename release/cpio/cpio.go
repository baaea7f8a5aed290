// Package cpio writes the payload of an RPM. It stands in for the module that rpmpack imports,
// which writes the absolute names that rpmpack gives. Then "rpm2cpio x.rpm | cpio -idm" would write
// into the folders of the system. This package writes names below the present folder, as rpmbuild
// does.
package cpio

import (
	"fmt"
	"io"
	"strings"
)

// FileMode has the type and the permissions of a file.
type FileMode uint

// A Header describes a file.
type Header struct {
	Name  string
	Mode  FileMode
	Size  int64
	Links int
}

// A Writer writes an archive of the format newc.
type Writer struct {
	w     io.Writer
	files int
	pad   int64 // bytes that are missing after the file
}

// NewWriter returns a writer of an archive to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// WriteHeader begins a file. Write has its content.
func (w *Writer) WriteHeader(h *Header) error {
	w.files++
	return w.begin("."+h.Name, w.files, h)
}

func (w *Writer) begin(name string, inode int, h *Header) error {
	head := fmt.Sprintf("%s070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00", zeros(w.pad),
		inode, h.Mode, 0, 0, h.Links, 0, h.Size, 0, 0, 0, 0, len(name)+1, 0, name)
	head += zeros(-(int64(len(head)) - w.pad) & 3)
	w.pad = -h.Size & 3
	_, err := io.WriteString(w.w, head)
	return err
}

func zeros(n int64) string { return strings.Repeat("\x00", int(n)) }

func (w *Writer) Write(p []byte) (int, error) { return w.w.Write(p) }

// Close ends the archive.
func (w *Writer) Close() error { return w.begin("TRAILER!!!", 0, &Header{Links: 1}) }
