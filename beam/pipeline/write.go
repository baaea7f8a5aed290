package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	register.DoFn4x1[[]byte, []byte, func(int64, []byte), func(int64, bool), error](&shardFn{})
	register.Function3x3(headingOf)
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(string), error](&logFn{})
	register.DoFn4x1[context.Context, []byte, func(*string) bool, func(string), error](&problemsFn{})
	register.Emitter2[int64, []byte]()
	register.Emitter2[int64, bool]()
	register.Iter1[bool]()
	register.Iter1[[]byte]()
	register.Iter1[string]()
}

// header is what opens each log of a union.
type header struct {
	Base    int64 // milliseconds since the epoch
	Sources []string
	Unit    string // that of all logs, as in facts
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
	var units unit.Finder
	for _, f := range h.Logs {
		h.Sources = append(h.Sources, f.File)
		units.Comment(f.File, []byte("#"+f.Unit))
	}
	if found, err := units.Unit(); err == nil && found != (unit.Unit{}) { // no two states different ones
		h.Unit = found.Comment()
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
	sums, shards := beam.ParDo2(s, &shardFn{Shard: shard}, union)
	// The header comes as an element, and not as a side input of logFn: Prism takes a whole core
	// for the time that a step with side inputs works.
	headings := beam.ParDo(s, headingOf, beam.GroupByKey(s, shards), beam.SideInput{Input: readHeader(s, read)})
	return beam.ParDo(s, &logFn{Name: name, Shard: shard}, beam.GroupByKey(s, beam.Flatten(s, sums, headings)))
}

// The elements of a log begin with a byte that says what they are.
const (
	headingElement = 'h' // the header of the log
	sumElement     = 's' // a key, behind its length, and its encoded sum
)

// shardFn says to which log each sum belongs, and which logs there are.
type shardFn struct {
	Shard int64

	met map[int64]bool // logs of the bundle
}

func (fn *shardFn) StartBundle(func(int64, []byte), func(int64, bool)) { fn.met = make(map[int64]bool) }

func (fn *shardFn) ProcessElement(k, data []byte, emitSum func(int64, []byte), _ func(int64, bool)) error {
	start, _, _, err := parseKey(k)
	if err != nil {
		return err
	}
	shard := int64(0)
	if fn.Shard > 0 {
		shard = merge.WindowOf(start, start, fn.Shard).Start
	}
	fn.met[shard] = true
	element := binary.AppendUvarint([]byte{sumElement}, uint64(len(k)))
	emitSum(shard, append(append(element, k...), data...))
	return nil
}

func (fn *shardFn) FinishBundle(_ func(int64, []byte), emitShard func(int64, bool)) {
	for shard := range fn.met {
		emitShard(shard, true)
	}
}

// headingOf returns the header of a log as one of its elements.
func headingOf(shard int64, _ func(*bool) bool, headerData []byte) (int64, []byte, error) {
	h, err := parseHeader(headerData)
	if err != nil {
		return 0, nil, err
	}
	h.Logs = nil // a log does not need them
	data, err := json.Marshal(h)
	return shard, append([]byte{headingElement}, data...), err
}

// logFn writes a log.
type logFn struct {
	Name  string
	Shard int64
}

// A keyed sum is an interval of the log.
type keyedSum struct{ key, sum []byte }

func (fn *logFn) ProcessElement(ctx context.Context, shard int64, elements func(*[]byte) bool, emit func(string)) error {
	var h header
	var all []keyedSum
	var element []byte
	for elements(&element) {
		if element[0] == headingElement {
			if err := json.Unmarshal(element[1:], &h); err != nil {
				return err
			}
			continue
		}
		n, size := binary.Uvarint(element[1:])
		own := element[1+size:]
		all = append(all, keyedSum{own[:n], own[n:]})
	}
	// Integers and doubles of one tag and window do not occur together, see checkKinds.
	slices.SortFunc(all, func(a, b keyedSum) int {
		return cmp.Or(bytes.Compare(a.key[:8], b.key[:8]), bytes.Compare(a.key[9:], b.key[9:]))
	})
	file, err := create(ctx, shardName(fn.Name, shard, fn.Shard))
	if err != nil {
		return err
	}
	if err := writeLog(file, &h, all); err != nil {
		file.abandon(ctx)
		return err
	}
	return file.close(emit)
}

func writeLog(to io.Writer, h *header, sums []keyedSum) error {
	w := hdrlog.NewWriter(to)
	var found unit.Finder
	found.Comment("", []byte("#"+h.Unit))
	in, _ := found.Unit() // the zero Unit if logs state none, or different ones
	union.WriteHeader(w, h.Sources, in, h.Base)
	var fields []byte
	for _, s := range sums {
		_, _, tag, err := parseKey(s.key)
		if err == nil {
			fields, err = merge.AppendFieldsOf(fields[:0], s.sum, h.Base)
		}
		if err != nil {
			return err
		}
		w.Fields(tag, fields)
	}
	return w.Flush() // returns the first error
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
