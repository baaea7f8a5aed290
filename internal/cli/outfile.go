package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hdrkit/internal/scan"
	"hdrkit/internal/tempfile"
)

// WriteFile has a file written by write, which appears whole or not at all: it is written beside its place and renamed
// at the end. That of a symbolic link is the file behind it. An empty path and - are standard output. A path that is one of
// the inputs is refused.
func WriteFile(path string, stdout io.Writer, inputs []scan.Input, write func(w io.Writer) error) error {
	if path == "" || path == "-" {
		return writeStdout(stdout, write)
	}
	if err := CheckOutput(path, inputs); err != nil {
		return err
	}
	// What these lead to may be a file, but whoever has opened it does not want another in its place.
	switch path {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return writeStdout(stdout, write)
	}
	if strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/") || path == "/dev/stderr" {
		return writeTo(path, write)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeTo(path, write) // a device or a pipe has no place to rename to
	}
	place, err := tempfile.Place(path)
	if err != nil {
		return err
	}
	f, err := tempfile.Beside(place)
	if err != nil {
		return err
	}
	defer tempfile.Remove(f.Name())
	defer f.Close()
	w := bufio.NewWriterSize(beside{f, path}, 64<<10)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return tempfile.Blame(err, path)
	}
	return tempfile.Rename(tempfile.Move{From: f.Name(), To: place})
}

func writeStdout(stdout io.Writer, write func(w io.Writer) error) error {
	w := bufio.NewWriterSize(stdout, 64<<10)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// beside is a file that is written beside its place. Its errors name the place.
type beside struct {
	file *os.File
	path string
}

func (b beside) Write(p []byte) (int, error) {
	n, err := b.file.Write(p)
	return n, tempfile.Blame(err, b.path)
}

func writeTo(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// CheckOutput refuses a path that is one of the inputs.
func CheckOutput(path string, inputs []scan.Input) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, input := range inputs {
		if input.Overwritten(info) {
			return fmt.Errorf("output %s is also an input", path)
		}
	}
	return nil
}

// FoldsCase reports whether the file system of a folder takes names that differ only by case for the same.
func FoldsCase(folder string) bool {
	f, err := os.CreateTemp(folder, ".case-*.tmp")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_, err = os.Stat(filepath.Join(folder, strings.ToUpper(filepath.Base(f.Name()))))
	return err == nil
}
