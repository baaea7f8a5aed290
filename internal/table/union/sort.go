package union

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/scan"
)

// runSize is how much is sorted at a time in bytes, of all inputs, and runMemory how much of what
// is sorted may stay in memory.
var runSize, runMemory = 32 << 20, 64 << 20

// sorter sorts inputs whose lines are in no order, or in one that is not known beforehand, as of a
// pipe. It makes runs of them: sources whose records are in order of their starts.
type sorter struct {
	union   *union
	sources []source

	mu      sync.Mutex // of all of the following, and what the union reports
	scratch *os.File   // nil as long as it is not needed
	written int64
	memory  int // bytes of runs in memory
}

// run is a run in the making.
type run struct {
	records []byte
	index   []indexed
}

// indexed is a record in records.
type indexed struct {
	start    int64
	line     int
	from, to int
}

// sort sorts an input. It may be called for several inputs at the same time.
func (s *sorter) sort(input int) error {
	u := s.union
	log, err := u.scan.Open(input, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	size := runSize / min(len(u.scan.Inputs), 64)
	var r run
	err = u.each(log, input, func(record *hdrlog.Record, start, base int64) error {
		u.startAt(base)
		from := len(r.records)
		r.records = appendRecord(r.records, record)
		r.index = append(r.index, indexed{start, record.Line, from, len(r.records)})
		if len(r.records) >= size {
			return s.end(&r, input, false)
		}
		return nil
	}, func(record *hdrlog.Record, err error) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if record.Kind == hdrlog.IntervalRecord {
			u.scan.Seen++
		}
		if syntax, ok := err.(*hdrlog.SyntaxError); ok {
			syntax.File, syntax.Line = log.Name(), record.Line
			return u.scan.Report(syntax, record.Kind != hdrlog.Notice)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.end(&r, input, true)
}

// end makes a run a source. The last one of an input stays in memory if there is room.
func (s *sorter) end(r *run, input int, last bool) error {
	if len(r.index) == 0 {
		return nil
	}
	slices.SortFunc(r.index, func(a, b indexed) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.line, b.line))
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	open := func() io.Reader { return nil }
	if last && s.memory+len(r.records) <= runMemory {
		data := make([]byte, 0, len(r.records))
		for _, i := range r.index {
			data = append(data, r.records[i.from:i.to]...)
		}
		s.memory += len(data)
		open = func() io.Reader { return bytes.NewReader(data) }
	} else {
		at := s.written
		if err := s.write(r); err != nil {
			return fmt.Errorf("sorting with a temporary file: %w", err)
		}
		size := s.written - at
		open = func() io.Reader { return io.NewSectionReader(s.scratch, at, size) }
	}
	s.sources = append(s.sources, source{part: scan.Part{Input: input, Open: func(batchSize int) (scan.Source, error) {
		return &runSource{records: bufio.NewReaderSize(open(), 64<<10), size: batchSize}, nil
	}}})
	r.records, r.index = r.records[:0], r.index[:0]
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
	for _, i := range r.index {
		w.Write(r.records[i.from:i.to])
	}
	s.written += int64(len(r.records))
	return w.Flush()
}

func (s *sorter) close() {
	if s.scratch != nil {
		s.scratch.Close()
		tempfile.Remove(s.scratch.Name())
	}
}

// runSource gives the records of a run.
type runSource struct {
	records *bufio.Reader
	size    int // of a batch, in bytes
	err     error
}

// ReadBatch fills b with the next records.
func (r *runSource) ReadBatch(b *hdrlog.Batch) bool {
	b.Records = b.Records[:0]
	for text := make([]byte, 0, r.size); r.err == nil && (len(b.Records) == 0 || len(text) < r.size); {
		var length [4]byte
		if _, r.err = io.ReadFull(r.records, length[:]); r.err != nil {
			break
		}
		begin, n := len(text), int(binary.LittleEndian.Uint32(length[:]))
		if begin > 0 && begin+n > cap(text) {
			text = make([]byte, 0, max(n, r.size-begin)) // views of the old text stay valid
			begin = 0
		}
		text = slices.Grow(text, n)[:begin+n]
		if _, r.err = io.ReadFull(r.records, text[begin:]); r.err != nil {
			break
		}
		b.Records = append(b.Records, parseRecord(text[begin:]))
	}
	return len(b.Records) > 0
}

// Err returns the error that ended the run before its end.
func (r *runSource) Err() error {
	if r.err == io.EOF {
		return nil
	}
	return fmt.Errorf("sorting with a temporary file: %w", r.err)
}

// Close does nothing: the sorter owns what is read.
func (r *runSource) Close() error { return nil }

// appendRecord appends the length of what parseRecord parses, and that.
func appendRecord(text []byte, r *hdrlog.Record) []byte {
	begin := len(text)
	i := &r.Interval
	text = append(text, 0, 0, 0, 0)
	text = binary.AppendVarint(text, int64(r.Line))
	for _, seconds := range []float64{i.Start, i.Length, i.LogStart, i.Base} {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(seconds))
	}
	size := int64(len(i.Tag))
	if i.Tag == nil {
		size = -1
	}
	text = append(binary.AppendVarint(text, size), i.Tag...)
	fields := len(text)
	text = append(text, 0, 0)
	text = append(hdrlog.AppendMax(append(text, "0,0,"...), i), ',')
	binary.LittleEndian.PutUint16(text[fields:], uint16(len(text)-fields-2))
	text = append(text, i.Payload...)
	binary.LittleEndian.PutUint32(text[begin:], uint32(len(text)-begin-4))
	return text
}

// parseRecord returns the record of an interval as it was read, but that its Fields have no times
// and the MAX of [hdrlog.AppendMax]. Its slices are views of text.
func parseRecord(text []byte) hdrlog.Record {
	number := func() int64 {
		n, size := binary.Varint(text)
		text = text[size:]
		return n
	}
	r := hdrlog.Record{Kind: hdrlog.IntervalRecord, Line: int(number())}
	i := &r.Interval
	for _, seconds := range []*float64{&i.Start, &i.Length, &i.LogStart, &i.Base} {
		*seconds = math.Float64frombits(binary.LittleEndian.Uint64(text))
		text = text[8:]
	}
	if n := number(); n >= 0 {
		i.Tag, text = text[:n:n], text[n:]
	}
	before := int(binary.LittleEndian.Uint16(text))
	i.Fields, i.Payload = text[2:], text[2+before:]
	return r
}
