package union

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/scan"
)

// pipeMemory is the largest number of bytes of all pipes in memory. A pipe that needs more goes to
// a temporary file. Tests change it.
var pipeMemory = 64 << 20

const (
	// beginBytes is the number of bytes of a pipe that are checked before the rest is read.
	beginBytes = 1 << 20
	// maxCopied is the largest ratio of the bytes of pipes on disk to those in memory: 16 GiB with
	// the usual -memory. Without it, a pipe that never ends would fill the disk.
	maxCopied = 256
)

// spool reads a pipe to its end, so that it can be read again.
func (u *union) spool(input *scan.Input) error {
	pipe, err := input.Open()
	if err != nil {
		return err
	}
	defer pipe.Close()
	var begin bytes.Buffer
	all := u.scan.Memory.AtMost(pipeMemory, 8)
	inMemory := int64(all / len(u.scan.Inputs))
	size, err := io.CopyN(&begin, pipe, min(inMemory, beginBytes))
	if err == nil {
		if err := checkBegin(input, begin.Bytes()); err != nil {
			return err
		}
		var more int64
		more, err = io.CopyN(&begin, pipe, inMemory-size)
		size += more
	}
	var text io.ReaderAt
	switch err {
	case nil:
		scratch, err := tempfile.Scratch()
		if err != nil {
			return fmt.Errorf("%s: a pipe needs a temporary file (TMPDIR): %w", input.Name, err)
		}
		u.survey.mu.Lock()
		u.survey.scratch = append(u.survey.scratch, scratch)
		u.survey.mu.Unlock()
		size, err = io.Copy(&limitedFile{scratch, &u.survey.copied, maxCopied * int64(all)}, io.MultiReader(&begin, pipe))
		if err != nil {
			return fmt.Errorf("%s: %w", input.Name, err)
		}
		text = scratch
	case io.EOF:
		kept := bytes.Clone(begin.Bytes()) // a buffer takes up to twice the memory
		if err := u.scan.Memory.Open("pipes", "write them to files first").Add(1, len(kept)); err != nil {
			return err
		}
		text = bytes.NewReader(kept)
	default:
		return fmt.Errorf("%s: %w", input.Name, err)
	}
	input.Size = size
	input.Open = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(text, 0, size)), nil }
	return nil
}

// checkBegin returns an error if the begin of a pipe has malformed lines and no interval. Then the
// pipe is no log.
func checkBegin(input *scan.Input, begin []byte) error {
	text := io.MultiReader(bytes.NewReader(begin), strings.NewReader("\n"))
	if end := bytes.LastIndexByte(begin, '\n') + 1; len(begin)-end < hdrlog.MaxTag {
		text = bytes.NewReader(begin[:end]) // the rest may be the begin of an interval
	}
	var malformed error
	for r := range input.NewReader(text, 0).All() {
		if r.Kind == hdrlog.IntervalRecord {
			return nil
		}
		if malformed == nil && r.Kind == hdrlog.Malformed && !errors.Is(r.Err, hdrlog.ErrCutShort) {
			malformed = r.Err
		}
	}
	if malformed == nil {
		return nil
	}
	return fmt.Errorf("%s is no log: its first %d KiB have no interval: %w", input.Name, len(begin)>>10, malformed)
}

// A limitedFile is a temporary file for a pipe. All such files together have at most most bytes.
type limitedFile struct {
	file  io.Writer
	bytes *atomic.Int64 // number of bytes of all files
	most  int64
}

// Write implements [io.Writer].
func (c *limitedFile) Write(text []byte) (int, error) {
	if c.bytes.Add(int64(len(text))) > c.most {
		return 0, fmt.Errorf("pipes have more than the %d MiB that are copied to a temporary file: write them to files first",
			c.most>>20)
	}
	return c.file.Write(text)
}
