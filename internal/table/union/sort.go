package union

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
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

// sorted gives the records of a log with the intervals in order of their starts.
type sorted struct {
	scan.Source
	union   *union
	size    int // of a batch, in bytes
	account *ledger.Account
	charge  ledger.Charge
	read    bool
	records []hdrlog.Record
	err     error
}

// sorted returns an input in order.
func (u *union) sorted(input int) scan.Part {
	return scan.Part{Input: input, Open: func(batchSize int) (scan.Source, error) {
		log, err := u.scan.Open(input, batchSize)
		account := u.scan.Memory.Open("lines that are sorted", "put logs in order before")
		return &sorted{Source: log, union: u, size: batchSize, account: account}, err
	}}
}

// ReadBatch fills b with the next records. It reads the whole log first.
func (s *sorted) ReadBatch(b *hdrlog.Batch) bool {
	if !s.read {
		s.readAll()
	}
	b.Records = b.Records[:0]
	for size := 0; len(s.records) > 0 && size < s.size; s.records = s.records[1:] {
		b.Records = append(b.Records, s.records[0])
		size += len(s.records[0].Interval.Fields)
	}
	return len(b.Records) > 0 && s.err == nil
}

// recordBytes is about what a record takes beside its text.
const recordBytes = 300

func (s *sorted) readAll() {
	s.read = true
	bytes := 0
	for b := new(hdrlog.Batch); s.err == nil && s.Source.ReadBatch(b); b = new(hdrlog.Batch) {
		s.records = append(s.records, b.Records...)
		bytes += b.Size() + recordBytes*len(b.Records)
		s.err = s.charge.Set(s.account, len(s.records), bytes)
	}
	slices.SortStableFunc(s.records, func(a, b hdrlog.Record) int {
		return cmp.Compare(s.union.startOf(&a), s.union.startOf(&b))
	})
}

// startOf returns the start of an interval, and of another record the earliest time.
func (u *union) startOf(r *hdrlog.Record) int64 {
	if r.Kind != hdrlog.IntervalRecord {
		return -4 * maxTime
	}
	start, _ := u.times(&r.Interval)
	return start
}

// Err returns the error that ended the log before its end.
func (s *sorted) Err() error {
	if s.err != nil {
		return s.err
	}
	return s.Source.Err()
}

// Close closes the log.
func (s *sorted) Close() error {
	s.charge.Set(s.account, 0, 0)
	return s.Source.Close()
}
