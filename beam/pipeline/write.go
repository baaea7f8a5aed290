package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/union"
	"hdrkit/internal/unit"
)

func init() {
	register.DoFn3x1[[]byte, func(*[]byte) bool, func([]byte), error](&headerFn{})
	register.Function1x1(checkHeader)
	register.DoFn4x1[[]byte, []byte, []byte, func(int64, []byte), error](&lineFn{})
	register.DoFn5x1[context.Context, int64, func(*[]byte) bool, []byte, func(string), error](&logFn{})
	register.DoFn4x1[context.Context, []byte, func(*string) bool, func(string), error](&problemsFn{})
	register.Emitter2[int64, []byte]()
	register.Iter1[[]byte]()
	register.Iter1[string]()
}

// header is what opens each log of a union.
type header struct {
	Base    int64 // milliseconds since the epoch
	Sources []string
	Logs    []facts
	// Error is why the logs have no union, empty if they have one.
	Error string
}

// parseHeader returns a header, or its error.
func parseHeader(data []byte) (*header, error) {
	h := new(header)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, err
	}
	if h.Error != "" {
		return nil, errors.New(h.Error)
	}
	return h, nil
}

// readHeader waits for the facts of all logs. If these have no union, every step that uses the
// header fails with the same error, since runners report the error of any of them. One step uses it
// even if there are no intervals.
func readHeader(s beam.Scope, read Logs) beam.PCollection {
	headers := beam.ParDo(s, &headerFn{}, beam.Impulse(s), beam.SideInput{Input: read.Facts})
	// Without the shuffle, the check would be in one stage with headerFn. If it failed, there would
	// be no headers at all.
	beam.ParDo0(s, checkHeader, beam.Reshuffle(s, headers))
	return headers
}

func checkHeader(data []byte) error {
	_, err := parseHeader(data)
	return err
}

type headerFn struct{}

func (headerFn) ProcessElement(_ []byte, documents func(*[]byte) bool, emit func([]byte)) error {
	h := header{Base: math.MaxInt64}
	var document []byte
	var seen, intervals int64
	for documents(&document) {
		var f facts
		if err := json.Unmarshal(document, &f); err != nil {
			return err
		}
		if f.Intervals > 0 {
			h.Base = min(h.Base, f.Base)
		}
		seen, intervals = seen+f.Seen, intervals+f.Intervals
		h.Logs = append(h.Logs, f)
	}
	if err := checkKinds(h.Logs); err != nil {
		h.Error = err.Error()
	}
	if intervals == 0 {
		h.Error = "no intervals in the input"
		if seen > 0 {
			h.Error = fmt.Sprintf("none of the %d intervals in the input is chosen and readable", seen)
		}
	}
	slices.SortFunc(h.Logs, func(f, g facts) int { return cmp.Compare(f.File, g.File) })
	for _, f := range h.Logs {
		h.Sources = append(h.Sources, f.File)
	}
	data, err := json.Marshal(h)
	emit(data)
	return err
}

// Write writes a union as the log called name: its intervals sorted by window and tag. If shard is
// above 0, it writes one log for each span of shard milliseconds that has intervals: name, a hyphen
// and the start of the span. All of them have the same base time, that of the whole union.
//
// The result are the files that [Commit] must give their names.
func Write(s beam.Scope, read Logs, union beam.PCollection, name string, shard int64) beam.PCollection {
	s = s.Scope("hdrkit.Write")
	h := beam.SideInput{Input: readHeader(s, read)}
	lines := beam.ParDo(s, &lineFn{Shard: shard}, union, h)
	return beam.ParDo(s, &logFn{Name: name, Shard: shard}, beam.GroupByKey(s, lines), h)
}

// lineFn makes lines of sums.
type lineFn struct {
	Shard int64

	data   []byte // the header that is decoded
	header *header
	sum    merge.Sum
}

// ProcessElement emits the number of the log that an interval belongs to, and the key by which its
// lines are sorted, its tag and its fields, each of the first two behind its length.
func (fn *lineFn) ProcessElement(k, data, headerData []byte, emit func(int64, []byte)) error {
	if !bytes.Equal(fn.data, headerData) {
		h, err := parseHeader(headerData)
		if err != nil {
			return err
		}
		fn.data, fn.header = bytes.Clone(headerData), h
	}
	start, _, tag, err := parseKey(k)
	if err != nil {
		return err
	}
	if err := fn.sum.UnmarshalBinary(data); err != nil {
		return err
	}
	line := appendTag(binary.BigEndian.AppendUint64(nil, uint64(start)^1<<63), tag)
	line = append(binary.AppendUvarint(nil, uint64(len(line))), line...)
	if line, err = fn.sum.AppendFields(line, fn.header.Base); err != nil {
		return err
	}
	shard := int64(0)
	if fn.Shard > 0 {
		shard = merge.WindowOf(start, start, fn.Shard).Start
	}
	emit(shard, line)
	return nil
}

// cutLine returns the parts of what [lineFn] made.
func cutLine(line []byte) (sortKey, tag, fields []byte) {
	n, size := binary.Uvarint(line)
	sortKey, fields = line[size:size+int(n)], line[size+int(n):]
	if sortKey[8] == 1 {
		tag = sortKey[9:]
	}
	return sortKey, tag, fields
}

// logFn writes a log.
type logFn struct {
	Name  string
	Shard int64
}

func (fn *logFn) ProcessElement(ctx context.Context, shard int64, lines func(*[]byte) bool, headerData []byte, emit func(string)) error {
	h, err := parseHeader(headerData)
	if err != nil {
		return err
	}
	var all [][]byte
	var line []byte
	for lines(&line) {
		all = append(all, bytes.Clone(line))
	}
	slices.SortFunc(all, func(a, b []byte) int {
		x, _, _ := cutLine(a)
		y, _, _ := cutLine(b)
		return bytes.Compare(x, y)
	})
	file, err := create(ctx, shardName(fn.Name, shard, fn.Shard))
	if err != nil {
		return err
	}
	w := hdrlog.NewWriter(file)
	writeHeader(w, h)
	for _, line := range all {
		_, tag, fields := cutLine(line)
		w.Fields(tag, fields)
	}
	if err := w.Flush(); err != nil { // keeps the first error
		file.abandon(ctx)
		return err
	}
	return file.close(emit)
}

func writeHeader(w *hdrlog.Writer, h *header) {
	var units unit.Finder
	for _, log := range h.Logs {
		units.Comment(log.File, []byte("#"+log.Unit))
	}
	found, _ := units.Unit() // unknown if logs state different units
	union.WriteHeader(w, h.Sources, found, h.Base)
}

// WriteProblems writes the malformed lines of all logs to the file called name, sorted, each as a
// line of JSON. The file is empty if there are none. The result are the files that [Commit] must
// give their names.
func WriteProblems(s beam.Scope, read Logs, name string) beam.PCollection {
	s = s.Scope("hdrkit.WriteProblems")
	return beam.ParDo(s, &problemsFn{name}, beam.Impulse(s), beam.SideInput{Input: read.Problems})
}

type problemsFn struct{ Name string }

func (fn *problemsFn) ProcessElement(ctx context.Context, _ []byte, documents func(*string) bool, emit func(string)) error {
	var all []Problem
	var document string
	for documents(&document) {
		var p Problem
		if err := json.Unmarshal([]byte(document), &p); err != nil {
			return err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(p, q Problem) int {
		return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line))
	})
	file, err := create(ctx, fn.Name)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	for _, p := range all {
		if err := encoder.Encode(p); err != nil {
			file.abandon(ctx)
			return err
		}
	}
	return file.close(emit)
}
