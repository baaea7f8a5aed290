package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/heap"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(string), error](&matchFn{})
	register.DoFn5x1[context.Context, string, func([]byte, []byte), func([]byte), func(string), error](&readFn{})
	register.Emitter2[[]byte, []byte]()
	register.Emitter1[[]byte]()
	register.Emitter1[string]()
}

// Options say which intervals are merged, and into which windows. They mean the same as the options
// of hdrunion.
type Options struct {
	// Grid is the size of windows in milliseconds, at least 1.
	Grid int64
	// Include and Exclude choose tags, see [tags.NewFilter].
	Include, Exclude []string
	// From and To choose intervals by their start, like -s and -e. An empty one is no limit.
	From, To string
	// Expected corrects each interval for coordinated omission, see
	// [histogram.Histogram.CorrectInto]. 0 corrects nothing.
	Expected float64
	// Local says that the runner works in this process, as Prism does. Then sums wait for the
	// shuffle in a temporary file and not in the memory of the runner.
	Local bool
}

// Check returns an error if an option is malformed, or cannot work in a pipeline.
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
	// Sums has the key of a tag and window, and an encoded [merge.Sum]. Several elements can have
	// the same key.
	Sums beam.PCollection // KV<[]byte, []byte>
	// Facts has a JSON document for each log: its name, its start, and the tags and times of its
	// intervals.
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

// facts describe a log without its histograms. Times are milliseconds since the epoch.
type facts struct {
	File string
	// Seen is the number of all intervals, and Intervals the number of chosen intervals.
	Seen, Intervals int64
	// Base is the start of the log or of its first interval, whichever is earlier.
	Base int64
	// Ran is the time from the earliest start to the latest end of all intervals, chosen or not.
	Ran merge.Span
	// Spans has the earliest start and the latest end of each tag.
	Spans []span
	// Firsts has the first line of each tag and kind of histogram.
	Firsts []first
	// Skipped is the number of malformed lines.
	Skipped int
	// Unit is a comment that states the unit of the log's values, empty if the unit is unknown.
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

// Names of counters. Counters are all that reaches the program that started the pipeline from its
// workers. So a notice is a counter of noticeNamespace whose name is the text.
const (
	metricNamespace, metricMalformed = "hdrkit", "malformed"
	noticeNamespace                  = "hdrkit.notices"
)

var malformed = beam.NewCounter(metricNamespace, metricMalformed)

// notice sends a text to the program that started the pipeline, see [Notices].
func notice(ctx context.Context, text string) { beam.NewCounter(noticeNamespace, text).Inc(ctx, 1) }

// Match finds the logs that match the patterns: local files, or files of a file system that the
// program has registered, such as gs:// and s3://. It fails if a pattern matches no file. The result
// has a JSON list of at most size names for each group of logs, spread over all workers.
func Match(s beam.Scope, size int, patterns ...string) beam.PCollection {
	s = s.Scope("hdrkit.Match")
	return beam.Reshuffle(s, beam.ParDo(s, &matchFn{patterns, size}, beam.Impulse(s)))
}

type matchFn struct {
	Patterns []string
	Size     int
}

func (fn *matchFn) ProcessElement(ctx context.Context, _ []byte, emit func(string)) error {
	var names []string
	for _, pattern := range fn.Patterns {
		found, err := list(ctx, pattern)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("no files matching pattern %q", pattern)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	groups := (len(names) + fn.Size - 1) / fn.Size
	for n := range groups {
		data, err := json.Marshal(names[n*len(names)/groups : (n+1)*len(names)/groups])
		if err != nil {
			return err
		}
		emit(string(data))
	}
	return nil
}

// list returns the names of the files that match a pattern.
func list(ctx context.Context, pattern string) ([]string, error) {
	fs, err := filesystem.New(ctx, pattern)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	return fs.List(ctx, pattern)
}

// Read reads the groups of logs that [Match] found, and merges the intervals of each tag and window
// within a group. One worker reads a log from its first line to its last, because comments and the
// first lines decide what later lines mean. Logs can be compressed by gzip or zstd.
func Read(s beam.Scope, groups beam.PCollection, o Options) Logs {
	sums, facts, problems := beam.ParDo3(s.Scope("hdrkit.Read"), &readFn{Options: o}, groups)
	return Logs{sums, facts, problems}
}

// readBatch is the size of a batch of a reader in bytes. It is small, since a worker reads many
// logs at once.
const readBatch = 64 << 10

// readFn reads the logs of a group side by side, in order of time, and merges intervals of the same
// tag and window before the shuffle. Not all runners combine there.
type readFn struct {
	Options Options

	filter  *tags.Filter
	span    scan.Range
	windows [2]*merge.Windows // of integer and of double histograms
	spill   *spill            // nil without [Options.Local]

	decoder *scan.Decoder
	sum     merge.Sum // of one interval; logReader.add reuses it
}

func (fn *readFn) Setup() error {
	var err error
	if fn.filter, err = tags.NewFilter(fn.Options.Include, fn.Options.Exclude); err != nil {
		return err
	}
	if fn.Options.Local {
		if fn.spill, err = newSpill(); err != nil {
			return err
		}
	}
	fn.span, err = scan.ParseRange(fn.Options.From, fn.Options.To, time.UTC)
	fn.decoder = scan.NewDecoder(fn.Options.Expected, scan.NewPayloadLimits(nil))
	return err
}

func (fn *readFn) ProcessElement(ctx context.Context, group string, emitSum func([]byte, []byte), emitFacts func([]byte), emitProblem func(string)) error {
	var names []string
	if err := json.Unmarshal([]byte(group), &names); err != nil {
		return err
	}
	for n := range fn.windows {
		fn.windows[n] = merge.NewWindows(fn.Options.Grid)
	}
	var logs []*logReader
	for _, name := range names {
		l, err := fn.open(ctx, name, emitProblem)
		if err != nil {
			return err
		}
		defer l.close()
		l.facts = emitFacts
		logs = append(logs, l)
	}
	before := func(a, b *logReader) bool { return a.current.StartMillis() < b.current.StartMillis() }
	if err := heap.InOrder(logs, before, func(l *logReader) error {
		// Windows that end a grid before the current start are complete, unless lines are out of
		// order. A late line opens its window again, and Union merges the two sums.
		if err := fn.emit(l.current.StartMillis()-fn.Options.Grid, emitSum); err != nil {
			return err
		}
		return l.merge()
	}); err != nil {
		return err
	}
	return fn.emit(math.MaxInt64, emitSum)
}

// emit emits the sums of all windows that end at or before end, and drops these windows.
func (fn *readFn) emit(end int64, emitSum func([]byte, []byte)) error {
	for _, windows := range fn.windows {
		for m := range windows.Before(end) {
			data, err := fn.encode(&m.Sum)
			if err != nil {
				return fmt.Errorf("tag %s: %w", tags.Text(m.Tag), err)
			}
			emitSum(key(m.Window.Start, m.Layout().Ratio != 0, m.Tag), data)
		}
	}
	return nil
}

// encode encodes a sum for the shuffle. With a spill, it does not compress sums of several
// intervals, since compression takes a fifth of the time for windows of 1 s. Engines on several
// machines lose more time on the longer bytes than they save.
func (fn *readFn) encode(s *merge.Sum) ([]byte, error) {
	if fn.spill == nil {
		return s.MarshalBinary()
	}
	encode := func() ([]byte, error) { return s.AppendPacked([]byte{packed}) }
	if s.Intervals() == 1 {
		encode = s.MarshalBinary // has the original text of the interval
	}
	data, err := encode()
	if err != nil {
		return nil, err
	}
	return fn.spill.add(data)
}

// A logReader reads one log of a group, interval by interval.
type logReader struct {
	*readFn
	reader  *hdrlog.Reader
	found   finder
	problem func(line int, field string, cause error)
	notice  func(text string)
	facts   func(document []byte) // emits the facts at the end of the log
	close   func()

	current *hdrlog.Interval // valid until Next
	line    int
}

func (fn *readFn) open(ctx context.Context, name string, emitProblem func(string)) (*logReader, error) {
	file, err := openFile(ctx, name)
	if err != nil {
		return nil, err
	}
	l := &logReader{readFn: fn, found: finder{facts: facts{File: name}}, reader: hdrlog.ReaderOptions{BatchSize: readBatch}.NewReader(file, name)}
	l.close = func() {
		l.reader.Close()
		file.Close()
	}
	l.problem = func(line int, field string, cause error) {
		malformed.Inc(ctx, 1)
		l.found.Skipped++
		text, _ := json.Marshal(Problem{name, line, field, cause.Error()}) // strings and a number always encode
		emitProblem(string(text))
	}
	l.notice = func(text string) { notice(ctx, text) }
	return l, nil
}

// Next moves to the next chosen interval. It returns false at the end of the log.
func (l *logReader) Next() (bool, error) {
	for l.reader.Scan() {
		r := l.reader.Record()
		switch r.Kind {
		case hdrlog.Comment, hdrlog.BaseTime:
			l.found.units.Comment(l.reader.Name(), r.Text)
		case hdrlog.Notice:
			l.notice(r.Err.Error())
		case hdrlog.Malformed:
			err := r.Err.(*hdrlog.SyntaxError)
			l.problem(err.Line, err.Field, err.Err)
		case hdrlog.IntervalRecord:
			l.found.Seen++
			if !l.span.Contains(&r.Interval, 0) {
				continue
			}
			if !l.filter.Keeps(r.Interval.Tag) {
				l.found.addTime(&r.Interval)
			} else {
				l.current, l.line = &r.Interval, r.Line
				l.current.Tag = hdrlog.StandardTag(l.current.Tag)
				return true, nil
			}
		}
	}
	if err := l.reader.Err(); err != nil {
		return false, err
	}
	if found, err := l.found.units.Unit(); err == nil && found != 0 {
		l.found.Unit = found.Comment()
	}
	data, err := json.Marshal(l.found.facts)
	l.facts(data)
	return false, err
}

// merge merges the current interval into its window.
func (l *logReader) merge() error {
	double, _, _ := histogram.Peek(l.current.Payload)
	windows := l.windows[0]
	if double {
		windows = l.windows[1]
	}
	var sum *merge.SumError
	switch err := l.add(windows, l.current); {
	case errors.As(err, &sum):
		return fmt.Errorf("%s:%d: tag %s: %w", l.reader.Name(), l.line, tags.Text(l.current.Tag), err)
	case err != nil:
		l.problem(l.line, "payload", err)
		return nil
	}
	l.found.addInterval(l.current, double, l.line)
	return nil
}

// add decodes an interval and merges it into its window.
func (l *logReader) add(windows *merge.Windows, i *hdrlog.Interval) error {
	l.sum.Reset()
	if err := l.decoder.Open(i); err != nil {
		return err
	}
	if err := l.decoder.AddText(&l.sum); err != nil {
		return err
	}
	return windows.Merge(i.Tag, i.LogStart, &l.sum)
}

// A finder collects the facts of a log.
type finder struct {
	facts
	spans       map[string]int     // index into facts.Spans, by appendTag
	firsts      [2]map[string]bool // tags in facts.Firsts, by appendTag, of integers and doubles
	key         []byte             // buffer for appendTag
	units       unit.Finder
	hasInterval bool // facts.Ran has the time of an interval
}

// addTime extends facts.Ran by the time of an interval.
func (f *finder) addTime(i *hdrlog.Interval) {
	ran := merge.Span{Start: i.StartMillis(), End: i.EndMillis()}
	if f.hasInterval {
		ran.Start = min(ran.Start, f.Ran.Start)
		ran.End = max(ran.End, f.Ran.End)
	}
	f.Ran = ran
	f.hasInterval = true
}

// addInterval adds a chosen interval to the facts.
func (f *finder) addInterval(i *hdrlog.Interval, double bool, line int) {
	f.addTime(i)
	start, end := i.StartMillis(), i.EndMillis()
	base := min(logline.Millis(i.LogStart), start)
	if f.Intervals == 0 || base < f.Base {
		f.Base = base
	}
	f.Intervals++
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
	var n int64
	for _, c := range counters(result, metricNamespace) {
		n += max(c.Committed, 0)
		if c.Committed == 0 {
			n += c.Attempted // some runners report attempted counts only
		}
	}
	return n
}

// Notices returns the notices of all logs, sorted and without duplicates: which lines the reader
// takes differently from the reference, and which logs have other units.
func Notices(result beam.PipelineResult) []string {
	var texts []string
	for _, c := range counters(result, noticeNamespace) {
		texts = append(texts, c.Name())
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// counters returns the counters of a namespace, and none for a nil result.
func counters(result beam.PipelineResult, namespace string) []metrics.CounterResult {
	if result == nil {
		return nil
	}
	return result.Metrics().Query(func(m metrics.SingleResult) bool { return m.Namespace() == namespace }).Counters()
}
