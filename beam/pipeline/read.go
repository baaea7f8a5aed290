package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/internal/unit"
	"hdrkit/tags"
)

func init() {
	register.Function1x2(pathOf)
	register.Function2x1(firstOf)
	register.DoFn5x1[context.Context, string, func([]byte, []byte), func([]byte), func(string), error](&readFn{})
	register.Emitter2[[]byte, []byte]()
	register.Emitter1[[]byte]()
	register.Emitter1[string]()
	register.Iter1[int64]()
}

// Options choose intervals and the windows that they are merged into. Its fields are those of
// hdrunion.
type Options struct {
	// Grid is the size of windows in milliseconds, at least 1.
	Grid int64
	// Include and Exclude are lists of tags, as package tags has them in a Filter.
	Include, Exclude []string
	// From and To choose the intervals that start between them, as -s and -e do. Empty is no limit.
	From, To string
	// Expected corrects each interval for coordinated omission, see
	// [histogram.Histogram.CorrectInto]. 0 corrects nothing.
	Expected float64
}

// Check returns an error if no pipeline can have these options.
func (o Options) Check() error {
	if o.Grid < 1 {
		return fmt.Errorf("windows of %d ms: they are at least 1 ms long", o.Grid)
	}
	if !(o.Expected >= 0) || math.IsInf(o.Expected, 1) {
		return fmt.Errorf("%w: %v", histogram.ErrExpected, o.Expected)
	}
	span, err := scan.ParseRange(o.From, o.To, time.UTC)
	if err == nil && span.FromEnd() {
		err = errors.New("a time cannot count from the end of a log, since parts of it are read at several places")
	}
	if err != nil {
		return err
	}
	_, err = tags.NewFilter(o.Include, o.Exclude)
	return err
}

// Logs is what [Read] found in logs.
type Logs struct {
	// Sums has the key and the encoded [merge.Sum] of tags and windows. A key can occur several
	// times.
	Sums beam.PCollection // KV<[]byte, []byte>
	// Facts has a JSON document for each log: its name, and what its intervals say of start, tags
	// and time.
	Facts beam.PCollection // []byte
	// Problems has a JSON document, see [Problem], for each malformed line.
	Problems beam.PCollection // string
}

// A Problem is a malformed line.
type Problem struct {
	File  string `json:"file"`
	Line  int    `json:"line"`
	Field string `json:"field"`
	Error string `json:"error"`
}

// facts are what the intervals of a log say, but for their counts. Times are milliseconds since the
// epoch.
type facts struct {
	File string
	// Seen is the number of intervals. Intervals is the number of those that are chosen, Lengths
	// the sum of their lengths.
	Seen, Intervals, Lengths int64
	// Base is the start of the log or of its first interval, whichever is earlier.
	Base int64
	// Spans are the start of the first and the end of the last interval, Firsts the first line, of
	// each tag.
	Spans  []span
	Firsts []first
	// Skipped is the number of malformed lines.
	Skipped int
	// Unit is the comment that states the unit of the log's values, empty if it is unknown.
	Unit string
}

type span struct {
	Tag        []byte // nil for none
	Start, End int64
}

type first struct {
	Tag    []byte // nil for none
	Double bool
	Line   int
}

// The name of the counter of malformed lines.
const metricNamespace, metricMalformed = "hdrkit", "malformed"

var malformed = beam.NewCounter(metricNamespace, metricMalformed)

// Match returns the names of the files that patterns match: local ones, or those of a file system
// that the program has registered, such as gs:// and s3://. Each name occurs once.
func Match(s beam.Scope, patterns ...string) beam.PCollection {
	s = s.Scope("hdrkit.Match")
	matched := fileio.MatchAll(s, beam.CreateList(s, patterns))
	// Grouping also spreads the names over all workers.
	return beam.ParDo(s, firstOf, beam.GroupByKey(s, beam.ParDo(s, pathOf, matched)))
}

func pathOf(file fileio.FileMetadata) (string, int64) { return file.Path, file.Size }

func firstOf(path string, _ func(*int64) bool) string { return path }

// Read reads the logs whose names are in files, and merges the intervals of each tag and window.
// One worker reads a log from its first line to its last, because comments and first lines say what
// the others mean. Logs can be compressed by gzip or zstd.
func Read(s beam.Scope, files beam.PCollection, o Options) Logs {
	sums, facts, problems := beam.ParDo3(s.Scope("hdrkit.Read"), &readFn{Options: o}, files)
	return Logs{sums, facts, problems}
}

// maxHeld is how many bytes of encoded sums a worker holds, to merge those of several logs before
// they are sent.
const maxHeld = 64 << 20

// readFn reads logs. It merges what the logs of a bundle have in common, since not all runners
// combine before they shuffle.
type readFn struct {
	Options Options

	filter  *tags.Filter
	span    scan.Range
	windows [2]*merge.Windows // of integer and of double histograms
	sums    map[string][]byte // encoded by [merge.Sum.AppendPlain]
	held    int               // bytes of sums

	decoder             histogram.Decoder
	recorded, corrected histogram.Histogram
}

func (fn *readFn) Setup() error {
	var err error
	if fn.filter, err = tags.NewFilter(fn.Options.Include, fn.Options.Exclude); err != nil {
		return err
	}
	fn.span, err = scan.ParseRange(fn.Options.From, fn.Options.To, time.UTC)
	for n := range fn.windows {
		fn.windows[n] = merge.NewWindows(fn.Options.Grid)
	}
	return err
}

func (fn *readFn) StartBundle(func([]byte, []byte), func([]byte), func(string)) {
	fn.sums, fn.held = make(map[string][]byte), 0
	for _, windows := range fn.windows {
		for range windows.All() { // of a bundle that failed
		}
	}
}

func (fn *readFn) FinishBundle(_ context.Context, emitSum func([]byte, []byte), _ func([]byte), _ func(string)) error {
	return fn.emit(emitSum)
}

// emit compresses the sums held and sends them.
func (fn *readFn) emit(emitSum func([]byte, []byte)) error {
	for k, plain := range fn.sums {
		data, err := merge.Compress(plain)
		if err != nil {
			return err
		}
		emitSum([]byte(k), data)
	}
	clear(fn.sums)
	fn.held = 0
	return nil
}

func (fn *readFn) ProcessElement(ctx context.Context, path string, emitSum func([]byte, []byte), emitFacts func([]byte), emitProblem func(string)) error {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	file, err := fs.OpenRead(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()

	log := logReader{readFn: fn, found: finder{facts: facts{File: path}}, reader: hdrlog.NewReader(file, path)}
	log.problem = func(line int, field string, cause error) {
		malformed.Inc(ctx, 1)
		log.found.facts.Skipped++
		text, _ := json.Marshal(Problem{path, line, field, cause.Error()}) // strings and a number always encode
		emitProblem(string(text))
	}
	if err := log.read(func() error { return fn.emit(emitSum) }); err != nil {
		return err
	}
	data, err := json.Marshal(log.found.facts)
	emitFacts(data)
	return err
}

// logReader reads one log.
type logReader struct {
	*readFn
	reader  *hdrlog.Reader
	found   finder
	problem func(line int, field string, cause error)
}

func (l *logReader) read(full func() error) error {
	for l.reader.Scan() {
		r := l.reader.Record()
		switch r.Kind {
		case hdrlog.Comment:
			l.found.units.Comment(l.reader.Name(), r.Text)
		case hdrlog.Malformed:
			l.malformed(r)
		case hdrlog.IntervalRecord:
			if err := l.interval(&r.Interval, r.Line); err != nil {
				return err
			}
		}
		if l.held > maxHeld {
			if err := full(); err != nil {
				return err
			}
		}
	}
	if err := l.reader.Err(); err != nil {
		return fmt.Errorf("%s: %w", l.reader.Name(), err)
	}
	if found, err := l.found.units.Unit(); err == nil && found != (unit.Unit{}) {
		l.found.Unit = found.Comment()
	}
	return l.keep(math.MaxInt64)
}

// malformed reports a line that is not an interval.
func (l *logReader) malformed(r *hdrlog.Record) {
	var syntax *hdrlog.SyntaxError
	if errors.As(r.Err, &syntax) {
		l.problem(syntax.Line, syntax.Field, syntax.Err)
		return
	}
	l.problem(r.Line, "", r.Err)
}

// interval merges an interval into its window if it is chosen.
func (l *logReader) interval(i *hdrlog.Interval, line int) error {
	l.found.Seen++
	if !l.span.Contains(i, 0) || !l.filter.Keeps(i.Tag) {
		return nil
	}
	// A window that ended a window ago is complete, but for lines that are out of order. These open
	// it again, and the two sums are merged later.
	if err := l.keep(i.StartMillis() - l.Options.Grid); err != nil {
		return err
	}
	double, _ := histogram.Peek(i.Payload)
	windows := l.windows[0]
	if double {
		windows = l.windows[1]
	}
	var sum *merge.SumError
	switch err := l.add(windows, i); {
	case errors.As(err, &sum):
		return fmt.Errorf("%s:%d: tag %s: %w", l.reader.Name(), line, tags.Text(i.Tag), err)
	case err != nil:
		l.problem(line, "payload", err)
		return nil
	}
	l.found.interval(i, double, line)
	return nil
}

func (l *logReader) add(windows *merge.Windows, i *hdrlog.Interval) error {
	if l.Options.Expected == 0 {
		return windows.Add(i)
	}
	p, err := l.decoder.Open(i.Payload)
	if err != nil {
		return err
	}
	if err := p.Decode(&l.recorded); err != nil {
		return err
	}
	if err := l.recorded.CorrectInto(&l.corrected, l.Options.Expected); err != nil {
		return fmt.Errorf("corrected for coordinated omission: %w", err)
	}
	var s merge.Sum
	if err := s.AddCorrected(i, p, l.Options.Expected, &l.corrected); err != nil {
		return err
	}
	return windows.Merge(i.Tag, i.LogStart, &s)
}

// keep encodes the windows that end at or before end, uncompressed. It merges them with those of
// other logs.
func (l *logReader) keep(end int64) error {
	for _, windows := range l.windows {
		for m := range windows.Before(end) {
			if err := l.keepSum(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *logReader) keepSum(m *merge.Merged) error {
	k := string(key(m.Window.Start, m.Layout().Ratio != 0, m.Tag))
	before, ok := l.sums[k]
	if ok {
		if err := m.MergeBinary(before); err != nil {
			return fmt.Errorf("tag %s: %s and other logs: %w", tags.Text(m.Tag), l.reader.Name(), err)
		}
	}
	data, err := m.AppendPlain(before[:0]) // what was before is merged
	if err != nil {
		return fmt.Errorf("tag %s: %s: %w", tags.Text(m.Tag), l.reader.Name(), err)
	}
	l.sums[k] = data
	l.held += len(data) - len(before)
	return nil
}

// finder finds the facts of a log.
type finder struct {
	facts
	spans  map[string]int // by appendTag
	firsts [2]map[string]bool
	key    []byte
	units  unit.Finder
}

func (f *finder) interval(i *hdrlog.Interval, double bool, line int) {
	start, end := i.StartMillis(), i.EndMillis()
	base := min(int64(math.Round(i.LogStart*1000)), start)
	if f.Intervals == 0 || base < f.Base {
		f.Base = base
	}
	f.Intervals++
	f.Lengths += end - start
	f.key = appendTag(f.key[:0], i.Tag)
	if n, ok := f.spans[string(f.key)]; ok {
		s := &f.Spans[n]
		s.Start, s.End = min(s.Start, start), max(s.End, end)
	} else {
		if f.spans == nil {
			f.spans = make(map[string]int)
		}
		f.spans[string(f.key)] = len(f.Spans)
		f.Spans = append(f.Spans, span{bytes.Clone(i.Tag), start, end})
	}
	firsts := &f.firsts[0]
	if double {
		firsts = &f.firsts[1]
	}
	if *firsts == nil {
		*firsts = make(map[string]bool)
	}
	if !(*firsts)[string(f.key)] {
		(*firsts)[string(f.key)] = true
		f.Firsts = append(f.Firsts, first{bytes.Clone(i.Tag), double, line})
	}
}

// Malformed returns the number of malformed lines that a pipeline with [Read] skipped.
func Malformed(result beam.PipelineResult) int64 {
	if result == nil {
		return 0
	}
	found := result.Metrics().Query(func(m metrics.SingleResult) bool {
		return m.Namespace() == metricNamespace && m.Name() == metricMalformed
	})
	var n int64
	for _, c := range found.Counters() {
		n += max(c.Committed, 0)
		if c.Committed == 0 {
			n += c.Attempted // some runners report no other
		}
	}
	return n
}
