package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/urfave/cli/v2"

	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/scan"
)

// A File is a file to write. An empty Path and - are standard output.
type File struct {
	Path  string
	Write func(w io.Writer) error
}

// WriteFile writes one file, as [WriteFiles] does.
func WriteFile(path string, stdout io.Writer, inputs []scan.Input, write func(w io.Writer) error) error {
	return WriteFiles(stdout, inputs, File{path, write})
}

// WriteFiles writes files, which appear whole and together, or not at all: each is written beside
// its place, and all are renamed at the end. A symbolic link stays, and the file behind it is
// replaced. Devices and open files are written to as they are. A file that is an input is refused.
// A file whose name ends with .gz or .zst is compressed.
func WriteFiles(stdout io.Writer, inputs []scan.Input, files ...File) error {
	var moves []tempfile.Move
	defer func() {
		for _, move := range moves {
			tempfile.Remove(move.From)
		}
	}()
	for _, file := range files {
		file.Write = compressed(file)
		if err := CheckOutput(file.Path, stdout, inputs); err != nil {
			return err
		}
		switch info, err := os.Stat(file.Path); {
		case toStdout(file.Path):
			err = writeStdout(stdout, file.Write)
			if err != nil {
				return err
			}
		case isOpen(file.Path) || err == nil && !info.Mode().IsRegular(): // no other file can take its place
			if err := writeTo(file.Path, file.Write); err != nil {
				return err
			}
		default:
			move, err := writeBeside(file)
			if move.From != "" {
				moves = append(moves, move)
			}
			if err != nil {
				return err
			}
		}
	}
	return tempfile.Rename(moves...)
}

// compressed returns what writes a file: compressed if its name ends with .gz or .zst.
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

// Wrote prints which files a command has written, whose names it chose, unless -q is given.
func Wrote(c *cli.Context, paths []string) {
	if len(paths) == 1 {
		Notef(c, "wrote %s", paths[0])
	} else {
		Notef(c, "wrote %d files: %s", len(paths), list(paths))
	}
}

func toStdout(path string) bool {
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

// writeBeside writes a file beside its place.
func writeBeside(file File) (move tempfile.Move, err error) {
	if move.To, err = tempfile.Place(file.Path); err != nil {
		return move, err
	}
	f, err := tempfile.Beside(move.To)
	if err != nil {
		return move, err
	}
	defer f.Close()
	move.From = f.Name()
	w := bufio.NewWriterSize(beside{f, file.Path}, 64<<10)
	if err := file.Write(w); err != nil {
		return move, err
	}
	if err := w.Flush(); err != nil {
		return move, err
	}
	return move, tempfile.Blame(f.Close(), file.Path)
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

// Held calls write with w, the output of -of. If -strict is given and the output cannot be taken
// back, Held holds it in a temporary file until write has returned without an error.
func Held(c *cli.Context, w io.Writer, write func(w io.Writer) error) error {
	if !c.Bool("strict") || !toStdout(c.String("of")) {
		return write(w)
	}
	scratch, err := tempfile.Scratch()
	if err != nil {
		return fmt.Errorf("-strict holds the output in a temporary file (TMPDIR): %w", err)
	}
	defer tempfile.Remove(scratch.Name())
	defer scratch.Close()
	buffer := bufio.NewWriterSize(scratch, 64<<10)
	if err := write(buffer); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	if _, err := scratch.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(w, scratch)
	return err
}

// CheckOutput refuses an output that is one of the inputs.
func CheckOutput(path string, stdout io.Writer, inputs []scan.Input) error {
	name := "output " + path
	info, err := os.Stat(path)
	if toStdout(path) {
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
