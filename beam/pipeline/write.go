package pipeline

import (
	"bufio"
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
	"hdrkit/internal/base/heap"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/question/union"
)

func init() {
	register.DoFn4x1[context.Context, []byte, func(*[]byte) bool, func([]byte), error](&headerFn{})
	register.Function1x1(checkHeader)
	register.DoFn4x1[context.Context, []byte, []byte, func(int64, string), error](&sortFn{})
	register.DoFn5x1[context.Context, int64, func(*string) bool, []byte, func(string), error](&logFn{})
	register.DoFn4x1[context.Context, []byte, func(*string) bool, func(string), error](&problemsFn{})
	register.Emitter2[int64, string]()
	register.Iter1[[]byte]()
	register.Iter1[string]()
}

// A header has what the logs of a union have in common. Each written log begins with it.
type header struct {
	Base    int64    // milliseconds since the epoch
	Sources []string // names of the logs that were read
	Unit    string   // comment that states the unit of all logs, empty if it is unknown
	Logs    []facts
	// Error says why these logs have no union. It is empty if they have one.
	Error string
}

// unit returns the unit of all logs. It is unknown if the logs state no unit or different units.
func (h *header) unit() hdrlog.Unit {
	var found unit.Finder
	found.Comment("", []byte("#"+h.Unit))
	u, _ := found.Unit()
	return u
}

// parseHeader decodes a header. If the logs have no union, it returns [header.Error] as an error.
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

// readHeader returns a collection with the header, which is made of the facts of all logs. If the
// logs have no union, every step that uses the header fails with the same error, since a runner
// reports the error of any of them. checkHeader fails even if no other step runs, as without
// intervals.
func readHeader(s beam.Scope, read Logs) beam.PCollection {
	headers := beam.ParDo(s, &headerFn{}, beam.Impulse(s), beam.SideInput{Input: read.Facts})
	// Without the shuffle, checkHeader and headerFn are one stage. If checkHeader fails there, the
	// other steps get no header.
	beam.ParDo0(s, checkHeader, beam.Reshuffle(s, headers))
	return headers
}

func checkHeader(data []byte) error {
	_, err := parseHeader(data)
	return err
}

type headerFn struct{}

func (headerFn) ProcessElement(ctx context.Context, _ []byte, documents func(*[]byte) bool, emit func([]byte)) error {
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
	for _, f := range h.Logs {
		for _, s := range f.Spans {
			units.Uses(s.Tag, f.File)
		}
	}
	found, err := unit.Find(&units)
	switch {
	case err != nil:
		h.Error = err.Error() + ", and they have the same tag"
	case found.Differ == nil && found.Unstated == nil && found.Unit != 0:
		h.Unit = found.Unit.Comment()
	}
	data, err := json.Marshal(h)
	emit(data)
	return err
}

// Write writes a union as the log called name, with intervals sorted by window and tag. If shard is
// above 0, it writes a log for each span of shard milliseconds that has intervals. The name of such
// a log is name, a hyphen and the start of the span. All logs have the base time of the whole
// union.
//
// The result has the pending outputs for [Commit].
func Write(s beam.Scope, read Logs, union beam.PCollection, name string, shard int64) beam.PCollection {
	s = s.Scope("hdrkit.Write")
	parts := beam.ParDo(s, &sortFn{Name: name, Shard: shard}, union)
	return beam.ParDo(s, &logFn{Name: name, Shard: shard}, beam.GroupByKey(s, parts), beam.SideInput{Input: readHeader(s, read)})
}

// sortFn sorts the intervals of each log within a bundle, and writes them as parts, which logFn
// merges. So no worker holds a whole log, and sums need no second shuffle. A part is a file of
// records. A record is a key and an encoded sum, each after its length as a varint.
type sortFn struct {
	Name  string
	Shard int64

	sums map[int64][]keyedSum // by the start of the shard
	held int                  // bytes of keys and sums
}

// A keyedSum is an interval of a log: the key of a window and tag, and an encoded sum.
type keyedSum struct{ key, sum []byte }

// compare orders by window and tag. It skips the byte for the kind, since a tag has one kind of
// histogram, see checkKinds.
func (a keyedSum) compare(b keyedSum) int {
	return cmp.Or(bytes.Compare(a.key[:8], b.key[:8]), bytes.Compare(a.key[9:], b.key[9:]))
}

// maxHeld is the size in bytes at which a worker sorts and writes what it holds.
const maxHeld = 32 << 20

func (fn *sortFn) StartBundle(context.Context, func(int64, string)) {
	fn.sums, fn.held = make(map[int64][]keyedSum), 0
}

func (fn *sortFn) ProcessElement(ctx context.Context, k, sum []byte, emit func(int64, string)) error {
	start, _, _, err := parseKey(k)
	if err != nil {
		return err
	}
	shard := int64(0)
	if fn.Shard > 0 {
		shard = merge.WindowOf(start, start, fn.Shard).Start
	}
	fn.sums[shard] = append(fn.sums[shard], keyedSum{k, sum})
	if fn.held += len(k) + len(sum); fn.held > maxHeld {
		return fn.FinishBundle(ctx, emit)
	}
	return nil
}

func (fn *sortFn) FinishBundle(ctx context.Context, emit func(int64, string)) error {
	for shard, sums := range fn.sums {
		slices.SortFunc(sums, keyedSum.compare)
		file, err := create(ctx, shardName(fn.Name, shard, fn.Shard))
		if err != nil {
			return err
		}
		var length []byte
		for _, s := range sums {
			for _, field := range [][]byte{s.key, s.sum} {
				length = binary.AppendUvarint(length[:0], uint64(len(field)))
				file.Write(length)
				file.Write(field)
			}
		}
		if err := file.close(); err != nil { // returns errors of file.Write, too
			return err
		}
		emit(shard, file.pending.Temporary)
	}
	clear(fn.sums)
	fn.held = 0
	return nil
}

// A part is a file of sorted intervals that logFn reads.
type part struct {
	*bufio.Reader
	io.Closer
	name    string
	current keyedSum // valid until Next
}

func openPart(ctx context.Context, name string) (*part, error) {
	file, err := openFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return &part{Reader: bufio.NewReader(file), Closer: file, name: name}, nil
}

// Next moves to the next interval. It returns false at the end of the file.
func (p *part) Next() (bool, error) {
	if _, err := p.Peek(1); err == io.EOF {
		return false, nil
	}
	for _, field := range []*[]byte{&p.current.key, &p.current.sum} {
		length, err := binary.ReadUvarint(p)
		if err == nil {
			*field = slices.Grow((*field)[:0], int(length))[:length]
			_, err = io.ReadFull(p, *field)
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return true, nil
}

// logFn merges the parts of a log and writes it.
type logFn struct {
	Name  string
	Shard int64
}

func (fn *logFn) ProcessElement(ctx context.Context, shard int64, names func(*string) bool, headerData []byte, emit func(string)) error {
	h, err := parseHeader(headerData)
	if err != nil {
		return err
	}
	file, err := create(ctx, shardName(fn.Name, shard, fn.Shard))
	if err != nil {
		return err
	}
	var parts []*part
	var name string
	for names(&name) {
		file.pending.Parts = append(file.pending.Parts, name)
		p, err := openPart(ctx, name)
		if err != nil {
			file.abandon(ctx)
			return err
		}
		defer p.Close()
		parts = append(parts, p)
	}
	if err := writeLog(file, h, parts); err != nil {
		file.abandon(ctx)
		return err
	}
	return file.commit(emit)
}

func writeLog(to io.Writer, h *header, parts []*part) error {
	w := hdrlog.NewWriter(to)
	if err := union.WriteHeader(w, h.Sources, h.unit(), h.Base); err != nil {
		return err
	}
	var fields []byte
	before := func(a, b *part) bool { return a.current.compare(b.current) < 0 }
	if err := heap.InOrder(parts, before, func(p *part) error {
		_, _, tag, err := parseKey(p.current.key)
		if err == nil {
			fields, err = merge.AppendEncoded(fields[:0], p.current.sum, h.Base)
		}
		if err == nil {
			err = w.WriteEncoded(tag, fields)
		}
		return err
	}); err != nil {
		return err
	}
	return w.Flush() // returns the first error
}

// WriteProblems writes the problems of all logs to the file called name, sorted by file and line,
// one JSON object a line. The file is empty if there are none. The result is the pending output for
// [Commit].
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
	return file.commit(emit)
}
