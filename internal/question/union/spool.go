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

// pipeMemory is the number of bytes of all pipes that stay in memory. More goes to a temporary
// file. Tests change it.
var pipeMemory = 64 << 20

const (
	// beginBytes is the size of the begin of a pipe that is read first.
	beginBytes = 1 << 20
	// mostCopied is the largest ratio of the text of pipes on disk to the part in memory: 16 GiB
	// with the usual -memory. A pipe that never ends would fill the disk.
	mostCopied = 256
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
		size, err = io.Copy(&copied{scratch, &u.survey.copied, mostCopied * int64(all)}, io.MultiReader(&begin, pipe))
		if err != nil {
			return fmt.Errorf("%s: %w", input.Name, err)
		}
		text = scratch
	case io.EOF:
		kept := bytes.Clone(begin.Bytes()) // a buffer takes up to twice as much
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

// checkBegin returns an error if a pipe that begins with a text is no log: the text has lines that
// are malformed, and no interval.
func checkBegin(input *scan.Input, begin []byte) error {
	text := io.MultiReader(bytes.NewReader(begin), strings.NewReader("\n"))
	if end := bytes.LastIndexByte(begin, '\n') + 1; len(begin)-end < hdrlog.MaxTag {
		text = bytes.NewReader(begin[:end]) // the rest may be the beginning of an interval
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

// copied writes a pipe to a file, as long as all pipes together do not have too much.
type copied struct {
	file  io.Writer
	bytes *atomic.Int64 // size of the text of all pipes
	most  int64
}

func (c *copied) Write(text []byte) (int, error) {
	if c.bytes.Add(int64(len(text))) > c.most {
		return 0, fmt.Errorf("pipes have more than the %d MiB that are copied to a temporary file: write them to files first",
			c.most>>20)
	}
	return c.file.Write(text)
}
