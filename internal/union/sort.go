package union

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/tempfile"
)

// runSize is how much of an input is sorted at a time, in bytes, and runMemory how much of all sorted ones may stay in memory.
var runSize, runMemory = 32 << 20, 64 << 20

// run is intervals of an input, in order of their starts.
type run struct {
	input int
	data  []byte // their records, nil if they are in the scratch file
	at    int64  // where they are there
	size  int64
}

// sorter makes runs of inputs whose lines are in no order, or in one that is not known beforehand, as of a pipe.
type sorter struct {
	union   *union
	scratch *os.File // nil as long as it is not needed
	written int64
	memory  int // bytes of runs in memory
	runs    []run

	records []byte
	index   []indexed
}

// indexed is an interval in records.
type indexed struct {
	start    int64
	line     int
	from, to int
}

// add sorts an input.
func (s *sorter) add(input int) (o order, err error) {
	u := s.union
	file, err := u.scan.Inputs[input].Open()
	if err != nil {
		return o, err
	}
	defer file.Close()
	r := u.scan.Inputs[input].NewReader(u.counted(file))
	var i interval
	var maxes []byte
	for r.Scan() {
		record := r.Record()
		switch record.Kind {
		case hdrlog.Malformed, hdrlog.Notice:
			if err := u.scan.Report(record.Err.(*hdrlog.SyntaxError), record.Kind == hdrlog.Malformed); err != nil {
				return o, err
			}
		case hdrlog.IntervalRecord:
			u.scan.Seen++
			if !u.wanted(&i, input, record) {
				continue
			}
			if i.err != nil {
				if err := u.scan.Report(i.err, true); err != nil {
					return o, err
				}
				continue
			}
			_, _, log := u.times.of(&record.Interval)
			o.include(min(i.start, log))
			maxes = i.take(&record.Interval, maxes[:0])
			from := len(s.records)
			s.records = i.appendRecord(s.records)
			s.index = append(s.index, indexed{i.start, i.line, from, len(s.records)})
			if len(s.records) >= runSize {
				if err := s.end(input, false); err != nil {
					return o, err
				}
			}
		}
	}
	if r.Err() != nil {
		return o, fmt.Errorf("%s: %w", r.Name(), r.Err())
	}
	return o, s.end(input, true)
}

// end makes a run of what has been read. The last one of an input stays in memory if there is room.
func (s *sorter) end(input int, last bool) error {
	if len(s.index) == 0 {
		return nil
	}
	slices.SortStableFunc(s.index, func(a, b indexed) int {
		return (&interval{start: a.start, line: a.line}).compare(&interval{start: b.start, line: b.line})
	})
	made := run{input: input, size: int64(len(s.records))}
	if last && s.memory+len(s.records) <= runMemory {
		made.data = make([]byte, 0, len(s.records))
		for _, i := range s.index {
			made.data = append(made.data, s.records[i.from:i.to]...)
		}
		s.memory += len(s.records)
	} else if err := s.write(&made); err != nil {
		return err
	}
	s.runs = append(s.runs, made)
	s.records, s.index = s.records[:0], s.index[:0]
	return nil
}

// write writes a run to the scratch file.
func (s *sorter) write(r *run) error {
	if s.scratch == nil {
		f, err := tempfile.Scratch()
		if err != nil {
			return err
		}
		s.scratch = f
	}
	w := bufio.NewWriterSize(s.scratch, 256<<10)
	for _, i := range s.index {
		w.Write(s.records[i.from:i.to])
	}
	r.at = s.written
	s.written += r.size
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sorting with a temporary file: %w", err)
	}
	return nil
}

func (s *sorter) close() {
	if s.scratch != nil {
		s.scratch.Close()
		tempfile.Remove(s.scratch.Name())
	}
}

// stream returns the intervals of a run.
func (s *sorter) stream(r run) *stream {
	var src io.Reader = bytes.NewReader(r.data)
	if r.data == nil {
		src = bufio.NewReaderSize(io.NewSectionReader(s.scratch, r.at, r.size), 64<<10)
	}
	fill := func(b *batch) bool {
		b.err = fillRun(b, src, r.input, s.union.batchSize)
		return len(b.intervals) > 0 || b.err != nil
	}
	return s.union.start(0, fill, func() {})
}

// fillRun reads the next records of a run into b.
func fillRun(b *batch, src io.Reader, input, size int) error {
	b.intervals, b.reports, b.seen, b.record = b.intervals[:0], b.reports[:0], 0, b.record[:0]
	for len(b.record) < size {
		var length [4]byte
		if _, err := io.ReadFull(src, length[:]); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		n := int(binary.LittleEndian.Uint32(length[:]))
		begin := len(b.record)
		b.record = slices.Grow(append(b.record, length[:]...), n)[:begin+4+n]
		if _, err := io.ReadFull(src, b.record[begin+4:]); err != nil {
			return err
		}
	}
	for rest := b.record; len(rest) > 0; {
		n := 4 + int(binary.LittleEndian.Uint32(rest))
		i := &interval{input: input}
		i.parseRecord(rest[4:n])
		b.intervals = append(b.intervals, i)
		rest = rest[n:]
	}
	return nil
}
