package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"
)

// WriteFollowed calls write with the standard output, or grow with the file of -of, which -state
// covers.
func WriteFollowed(c *cli.Context, write func(w io.Writer) error, grow func(w io.Writer) error) error {
	path := c.String("of")
	if toStdout(path) {
		return WriteFile("", c.App.Writer, nil, write)
	}
	a, err := OpenAppended(path)
	if err != nil {
		return err
	}
	err = grow(a)
	if closed := a.Close(); err == nil {
		err = closed
	}
	return err
}

// An Appended is a file that grows while a command runs, and in later runs: a state file says how
// much of it counts.
type Appended struct {
	file *os.File
	w    *bufio.Writer
	size int64
}

// OpenAppended opens a file. Call CutBack before the first Write.
func OpenAppended(path string) (*Appended, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file that can be cut back, as -state needs", path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Appended{file: file, w: bufio.NewWriter(file), size: info.Size()}, nil
}

// CutBack drops what comes after a size. There is a state if the file was written before.
func (a *Appended) CutBack(size int64, state bool) error {
	switch {
	case !state && a.size > 0:
		return fmt.Errorf("%s is not empty, and no state says how much of it counts: remove it, or choose another file", a.file.Name())
	case size > a.size:
		return fmt.Errorf("%s has %d bytes, but its state covers %d: it is another file, or parts are lost", a.file.Name(), a.size, size)
	}
	if err := a.file.Truncate(size); err != nil {
		return err
	}
	_, err := a.file.Seek(size, 0)
	a.size = size
	return err
}

func (a *Appended) Write(text []byte) (int, error) {
	n, err := a.w.Write(text)
	a.size += int64(n)
	return n, err
}

// Flush hands on what was written.
func (a *Appended) Flush() error { return a.w.Flush() }

// Sync puts what was written on the disk, and returns the size of the file.
func (a *Appended) Sync() (int64, error) {
	if err := a.w.Flush(); err != nil {
		return 0, err
	}
	return a.size, a.file.Sync()
}

// Close flushes and closes the file.
func (a *Appended) Close() error {
	err := a.w.Flush()
	if closed := a.file.Close(); err == nil {
		err = closed
	}
	return err
}
