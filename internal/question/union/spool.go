package union

import (
	"bytes"
	"fmt"
	"io"

	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/scan"
)

// pipeMemory is the number of bytes of all pipes that stay in memory. More goes to a temporary
// file. Tests change it.
var pipeMemory = 64 << 20

// spool reads a pipe to its end, so that it can be read again.
func (u *union) spool(input *scan.Input) error {
	pipe, err := input.Open()
	if err != nil {
		return err
	}
	defer pipe.Close()
	var begin bytes.Buffer
	size, err := io.CopyN(&begin, pipe, int64(u.scan.Memory.AtMost(pipeMemory, 8)/len(u.scan.Inputs)))
	var text io.ReaderAt
	if err == nil {
		scratch, err := tempfile.Scratch()
		if err != nil {
			return fmt.Errorf("%s: a pipe needs a temporary file (TMPDIR): %w", input.Name, err)
		}
		u.mu.Lock()
		u.scratch = append(u.scratch, scratch)
		u.mu.Unlock()
		if size, err = io.Copy(scratch, io.MultiReader(&begin, pipe)); err != nil {
			return fmt.Errorf("%s: %w", input.Name, err)
		}
		text = scratch
	} else if err != io.EOF {
		return fmt.Errorf("%s: %w", input.Name, err)
	} else {
		kept := bytes.Clone(begin.Bytes()) // a buffer takes up to twice as much
		if err := u.scan.Memory.Open("pipes", "write them to files first").Add(1, len(kept)); err != nil {
			return err
		}
		text = bytes.NewReader(kept)
	}
	input.Size = size
	input.Open = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(text, 0, size)), nil }
	return nil
}
