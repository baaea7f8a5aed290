package logs

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/scan"
)

// A File is an output file with the function that writes its content. An empty Path and - stand for
// standard output.
type File struct {
	Path  string
	Write func(w io.Writer) error
	isLog bool // on a terminal, its lines are made printable
}

// WriteFile writes one file, as [WriteFiles] does with several.
func WriteFile(path string, stdout io.Writer, inputs []scan.Input, write func(w io.Writer) error) error {
	return WriteFiles(stdout, inputs, File{Path: path, Write: write})
}

// WriteFiles writes files so that all of them appear whole, or none: each is written under a
// temporary name in its folder, and all are renamed at the end. A symbolic link stays, and the file
// that it points to is replaced. WriteFiles writes directly to devices and to files that a process
// has open. It refuses to overwrite an input. It compresses a file whose name ends with .gz or
// .zst.
func WriteFiles(stdout io.Writer, inputs []scan.Input, files ...File) error {
	var temporary []*tempfile.File
	defer func() {
		for _, f := range temporary {
			f.Remove()
		}
	}()
	for _, file := range files {
		write := compressed(file)
		if err := CheckOutput(file.Path, stdout, inputs); err != nil {
			return err
		}
		var err error
		info, statErr := os.Stat(file.Path)
		switch {
		case ToStdout(file.Path):
			w := NewLineWriter(stdout, file.isLog)
			if err = write(w); err == nil {
				err = w.Flush()
			}
		case isOpen(file.Path) || statErr == nil && !info.Mode().IsRegular(): // it cannot be replaced
			var f *os.File
			if f, err = os.OpenFile(file.Path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				err = cmp.Or(write(f), f.Close())
			}
		default:
			var f *tempfile.File
			if f, err = tempfile.Create(file.Path); err == nil {
				temporary = append(temporary, f)
				w := bufio.NewWriterSize(f, 64<<10)
				if err = write(w); err == nil {
					err = cmp.Or(w.Flush(), f.Close())
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return tempfile.Rename(temporary...)
}

// WriteLog writes a log to the file of -of. On a terminal, its lines are made printable. With
// -strict, a log for standard output, which cannot be undone, waits in a temporary file until write
// returns without an error.
func WriteLog(path string, stdout io.Writer, inputs []scan.Input, strict bool, write func(w io.Writer) error) error {
	return WriteFiles(stdout, inputs, File{path, func(w io.Writer) error {
		if !strict || !ToStdout(path) {
			return write(w)
		}
		held, err := tempfile.Scratch()
		if err != nil {
			return fmt.Errorf("-strict holds the output in a temporary file (TMPDIR): %w", err)
		}
		defer held.Remove()
		buffer := bufio.NewWriterSize(held, 64<<10)
		if err := write(buffer); err != nil {
			return err
		}
		if err := buffer.Flush(); err != nil {
			return err
		}
		if _, err := held.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err = io.Copy(w, held)
		return err
	}, true})
}

// compressed returns a function that writes the content of a file, compressed if its name ends with
// .gz or .zst.
func compressed(file File) func(w io.Writer) error {
	var begin func(w io.Writer) (io.WriteCloser, error)
	switch filepath.Ext(file.Path) {
	case ".gz":
		begin = func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
	case ".zst":
		begin = func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }
	default:
		return file.Write
	}
	return func(w io.Writer) error {
		packed, err := begin(w)
		if err == nil {
			err = file.Write(packed)
		}
		if err != nil {
			return err
		}
		return packed.Close()
	}
}

// ReportFiles prints which files a command has written, unless -q is given. It is for commands that
// choose the names of their files.
func ReportFiles(std *message.Streams, paths []string) {
	if len(paths) == 1 {
		std.Notef("wrote %s", paths[0])
	} else {
		std.Notef("wrote %d files: %s", len(paths), message.List(paths))
	}
}

// ToStdout reports whether a path stands for standard output.
func ToStdout(path string) bool {
	switch path {
	case "", "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	}
	return false
}

// isOpen reports whether a path stands for a file that some process has open.
func isOpen(path string) bool {
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/") || path == "/dev/stderr"
}

// CheckOutput refuses an output that is one of the inputs.
func CheckOutput(path string, stdout io.Writer, inputs []scan.Input) error {
	name := "output " + path
	info, err := os.Stat(path)
	if ToStdout(path) {
		f, ok := stdout.(*os.File)
		if !ok {
			return nil
		}
		name = "standard output"
		info, err = f.Stat()
	}
	if err != nil {
		return nil
	}
	for _, input := range inputs {
		if input.Overwritten(info) {
			return errors.New(name + " is also an input")
		}
	}
	return nil
}

// ByEnding returns the format that the ending of the name of an output chooses, from a map of
// endings to formats. It ignores the ending of a compression. For standard output, and without an
// ending or with a number as ending, the format is empty. An unknown ending is an error.
func ByEnding(path string, endings map[string]string) (chosen string, err error) {
	ending := strings.ToLower(filepath.Ext(path))
	if ending == ".gz" || ending == ".zst" {
		ending = strings.ToLower(filepath.Ext(path[:len(path)-len(ending)]))
	}
	if ToStdout(path) || strings.Trim(ending, ".0123456789") == "" {
		return "", nil
	}
	chosen, known := endings[ending]
	if !known {
		all := strings.Join(slices.Sorted(maps.Keys(endings)), ", ")
		err = message.Usagef("-of %s: no format ends in %s, but %s do; -st chooses a format for any name", path,
			ending, all)
	}
	return chosen, err
}
