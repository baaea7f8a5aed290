package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
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
	a, err := openAppended(path)
	if err != nil {
		return err
	}
	err = grow(a)
	return cmp.Or(err, a.Close())
}

// An Appended is a file that grows while a command runs, and in later runs: a state file says how
// much of it counts.
type Appended struct {
	file *os.File
	w    *bufio.Writer
	size int64
}

// openAppended opens a file. [LoadOutput] comes before the first Write.
func openAppended(path string) (*Appended, error) {
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

// cutBack drops what comes after a size. There is a state if the file was written before.
func (a *Appended) cutBack(size int64, state bool) error {
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

// SaveOutput returns the state of a [live.Saver] as JSON. If w is an [Appended], it puts what was
// written on the disk first, and the size of the file in the state.
func SaveOutput(w io.Writer, size *int64, state any) (own []byte, err error) {
	if a, ok := w.(*Appended); ok {
		if err := errors.Join(a.w.Flush(), a.file.Sync()); err != nil {
			return nil, err
		}
		*size = a.size
	}
	return json.Marshal(state)
}

// LoadOutput reads what SaveOutput returned, nil if there is none yet. If w is an [Appended], it
// drops what comes after the size in the state.
func LoadOutput(w io.Writer, own []byte, size *int64, state any) error {
	if own != nil {
		if err := json.Unmarshal(own, state); err != nil {
			return err
		}
	}
	if a, ok := w.(*Appended); ok {
		return a.cutBack(*size, own != nil)
	}
	return nil
}

// Close flushes and closes the file.
func (a *Appended) Close() error {
	err := a.w.Flush()
	return cmp.Or(err, a.file.Close())
}
