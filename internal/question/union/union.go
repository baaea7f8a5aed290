// Package union joins the intervals of logs: intervals of one tag that were recorded at the same
// time become one interval.
//
// The work has several stages. Package scan reads each input on a goroutine of its own and decodes
// payloads on several cores. One goroutine merges the inputs in the order of time and puts
// intervals into windows by their times and tags: see joining and grid. Several cores add up and
// encode the windows that no further interval can join. The same goroutine writes the results in
// order. The results do not depend on the number of cores.
package union

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// Options say how to join intervals.
type Options struct {
	// Relative makes the times of each log relative to the start of the log.
	Relative bool
	// Grid is the length of the windows in milliseconds, see package merge. If it is 0, intervals
	// are joined by the rules of HdrLogProcessing, in windows of at least Target milliseconds.
	Grid, Target int64
	// Given, if set, returns the unit that the user gives a log.
	Given func(log string) (hdrlog.Unit, bool)
	// Warn, if set, is called for each warning.
	Warn func(format string, args ...any)
	// Observe, if set, is called for each interval in the order of time.
	Observe func(Member)
}

// A Member is an interval that was put into its window. Times are in milliseconds.
type Member struct {
	// Name and Line are the place of the interval in the inputs.
	Name       string
	Line       int
	Tag        []byte
	Start, End int64
	// WindowStart and WindowEnd are the times of the window as far as they are known.
	WindowStart, WindowEnd int64
}

// A union is the state of one call of [Write].
type union struct {
	scan      *scan.Scan
	options   Options
	account   *ledger.Account // memory of intervals and windows
	lookAhead int             // largest number of held intervals of an input that is nearly in order
	survey    survey
	unit      hdrlog.Unit // unit of the result, unknown if no log states one
	plan      plan
	kinds     map[string]*scan.Kinds // by tag, see [merge.AppendKey]
	key       []byte
	results   results
}

// A survey collects what several goroutines find when they look through the inputs.
type survey struct {
	mu      sync.Mutex
	base    int64            // the earliest start of an input, in milliseconds since the epoch
	units   unit.Finder      // finds the unit of all inputs
	scratch []*tempfile.File // temporary files for pipes
	copied  atomic.Int64     // number of bytes in these files
}

// results are complete windows on their way to the writer.
type results struct {
	batch   *batch      // the batch that windows are added to
	batches chan *batch // batches for the workers
	begun   []*batch    // batches that workers have, in the order of the result
	free    []*batch    // written batches, to be used again
	writer  *hdrlog.Writer
	count   int64 // number of intervals written
}

// A batch is some windows for a worker. Single windows would take longer to hand over than to
// encode.
type batch struct {
	windows []*window
	lines   [][]byte // START,LENGTH,MAX,PAYLOAD of each window
	ready   chan struct{}
}

const (
	// batchSize is the number of windows of a batch. The last batch may have fewer.
	batchSize = 16
	// foldAt is the number of intervals of a window that are added up together.
	foldAt = 32
)

// findUnits sets the unit of the result. It returns an error if logs have different units, since
// the result has one unit.
func (u *union) findUnits() error {
	found, err := unit.Find(&u.survey.units)
	if err = cmp.Or(err, found.Differ); err != nil {
		return fmt.Errorf("%w: a log has one unit; hdrsum and hdrplot read logs of several units", err)
	}
	u.unit = found.Unit
	if found.Unstated != nil {
		u.unit = 0 // the unit would be an assumption
	}
	if u.options.Warn == nil {
		return nil
	}
	for _, reason := range found.Reasons {
		u.options.Warn("%s", reason)
	}
	if found.Unstated != nil {
		in := found.TakenAs.String()
		if len(found.Unstated) == 1 {
			in = message.Quoted(filepath.Base(found.Unstated[0]) + "=" + in)
		}
		u.options.Warn("%s as others do, so the result states none: -in %s would", found.UnstatedText(), in)
	}
	if found.Doubt != nil {
		u.options.Warn("%v: they add up as if it were one", found.Doubt)
	}
	return nil
}

// Write writes the union of a scan's inputs to w and returns how many intervals it has. It writes
// nothing if there are none.
func Write(w io.Writer, s *scan.Scan, o Options) (int64, error) {
	u := &union{
		scan:      s,
		options:   o,
		account:   s.Memory.Open("intervals", "choose some with -incT"),
		lookAhead: min(max(aheadOfAll/len(s.Inputs), minAhead), maxAhead),
		survey:    survey{base: math.MaxInt64},
		plan:      newJoining(o.Target),
		kinds:     make(map[string]*scan.Kinds),
		results:   results{batch: newBatch(), writer: hdrlog.NewWriter(w)},
	}
	if o.Grid > 0 {
		u.plan = &grid{merge.NewTable[window](o.Grid)}
	}
	err := u.run()
	return u.results.count, err
}

// run writes the union.
func (u *union) run() error {
	u.survey.units.Given = u.options.Given
	for _, input := range u.scan.Inputs {
		u.survey.units.Add(input.Name)
	}
	defer func() {
		u.survey.mu.Lock() // after an error, other pipes may still be read
		defer u.survey.mu.Unlock()
		for _, f := range u.survey.scratch {
			f.Remove()
		}
	}()
	lookAheads, err := u.prepare()
	if err != nil {
		return err
	}
	if err := u.findUnits(); err != nil {
		return err
	}
	u.results.batches = make(chan *batch, 2*u.scan.Workers+1) // room for all batches of workers
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(u.results.batches)
	for range u.scan.Workers {
		workers.Go(u.work)
	}
	if err := scan.RunSorted(u.scan, lookAheads, u.decode, before, u.merge); err != nil {
		return u.firstError(err)
	}
	if err := u.handOverBefore(math.MaxInt64); err != nil {
		return err
	}
	u.handOver()
	for len(u.results.begun) > 0 {
		if err := u.write(); err != nil {
			return err
		}
	}
	return u.results.writer.Flush()
}

// firstError returns the error of the first unwritten window that has one, or else err. The number
// of unwritten windows depends on the number of workers, but the error must not depend on it.
func (u *union) firstError(err error) error {
	for _, b := range u.results.begun {
		<-b.ready
		for _, w := range b.windows {
			if w.err != nil {
				return w.err
			}
		}
	}
	return err
}

// merge puts the next interval into its window.
func (u *union) merge(i *interval) error {
	u.key = merge.AppendKey(u.key[:0], i.tag)
	kinds := u.kinds[string(u.key)]
	if kinds == nil {
		kinds = new(scan.Kinds)
		u.kinds[string(u.key)] = kinds
	}
	kinds.Add(i.double, i.Place)
	if err := kinds.Err(); err != nil {
		return fmt.Errorf("tag %s: %w", tags.Text(i.tag), err)
	}
	if err := u.handOverBefore(i.start); err != nil {
		return err
	}
	w := u.plan.windowFor(i)
	w.members = append(w.members, i.sum)
	if u.options.Observe != nil {
		u.options.Observe(Member{
			Name:        i.Name,
			Line:        i.Line,
			Tag:         i.tag,
			Start:       i.start,
			End:         i.end,
			WindowStart: w.start,
			WindowEnd:   w.end,
		})
	}
	if len(w.members) == foldAt {
		before := 0
		if w.sum == nil {
			w.sum = new(merge.Sum)
		} else {
			before = w.sum.Size()
		}
		u.fold(w, w.sum)
		return u.charge(0, w.sum.Size()-before)
	}
	return nil
}

// handOverBefore hands windows to the workers. It takes those that no interval from a time on can
// join.
func (u *union) handOverBefore(time int64) error {
	for w := range u.plan.before(time) {
		if u.results.batch.windows = append(u.results.batch.windows, w); len(u.results.batch.windows) < batchSize {
			continue
		}
		u.handOver()
		if len(u.results.begun) > 2*u.scan.Workers {
			if err := u.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

// handOver hands the current batch to the workers, and begins the next one.
func (u *union) handOver() {
	u.results.batches <- u.results.batch
	u.results.begun = append(u.results.begun, u.results.batch)
	if n := len(u.results.free) - 1; n >= 0 {
		u.results.batch, u.results.free = u.results.free[n], u.results.free[:n]
	} else {
		u.results.batch = newBatch()
	}
}

func newBatch() *batch {
	return &batch{lines: make([][]byte, batchSize), ready: make(chan struct{}, 1)}
}

// work encodes the windows of batches, until there are no more batches. It is one of the workers.
func (u *union) work() {
	var scratch merge.Sum
	for b := range u.results.batches {
		for n, w := range b.windows {
			b.lines[n] = u.encode(w, &scratch, b.lines[n][:0])
			if w.err != nil {
				w.err = fmt.Errorf("tag %s: the intervals joined with %s: %w", tags.Text(w.tag), w.first, w.err)
			}
		}
		b.ready <- struct{}{}
	}
}

// encode adds up a complete window, and appends its line.
func (u *union) encode(w *window, scratch *merge.Sum, line []byte) []byte {
	sum, size := w.sum, 0
	switch {
	case sum != nil:
		size = sum.Size()
		u.fold(w, sum)
	case len(w.members) == 1:
		sum = w.members[0]
		defer u.release(sum)
	default:
		scratch.Reset()
		sum = scratch
		u.fold(w, sum)
	}
	if w.err == nil {
		sum.Start, sum.End = w.start, w.end
		line, w.err = sum.AppendFields(line, u.survey.base)
	}
	u.charge(0, -size)
	w.sum, w.members = nil, nil
	return line
}

// fold adds the members of a window to a sum, and empties the window.
func (u *union) fold(w *window, sum *merge.Sum) {
	for _, m := range w.members {
		if w.err == nil {
			w.err = sum.MergeCounts(m)
		}
		u.release(m)
	}
	w.members = w.members[:0]
}

// write waits for the first batch that workers have, and writes its lines.
func (u *union) write() error {
	b := u.results.begun[0]
	u.results.begun = u.results.begun[1:]
	<-b.ready
	for n, w := range b.windows {
		if w.err != nil {
			return w.err
		}
		if err := u.writeLine(w.tag, b.lines[n]); err != nil {
			return err
		}
	}
	b.windows = b.windows[:0]
	u.results.free = append(u.results.free, b)
	return nil
}

func (u *union) writeLine(tag, fields []byte) error {
	if u.results.count == 0 {
		if err := u.writeHeader(); err != nil {
			return err
		}
	}
	u.results.count++
	return u.results.writer.WriteEncoded(tag, fields)
}

// writeHeader writes the head of the result, which does not depend on the order of the inputs.
func (u *union) writeHeader() error {
	var sources []string
	for _, input := range u.scan.Inputs {
		source := input.Name
		if input.Tag != "" {
			source = input.Tag + "=" + input.Name
		}
		sources = append(sources, source)
	}
	return WriteHeader(u.results.writer, sources, u.unit, u.survey.base)
}

// WriteHeader writes the head of a union: its sources, the unit of its values if it is known, and
// its base time in milliseconds since the epoch. Without sources, the head says that the logs were
// still written. WriteHeader sorts the sources.
func WriteHeader(w *hdrlog.Writer, sources []string, values hdrlog.Unit, base int64) error {
	comments := []string{fmt.Sprintf("[Union of %d logs]", len(sources))}
	switch len(sources) {
	case 0:
		comments[0] = "[Union of logs, written while they were]"
	case 1:
		comments[0] = "[Union of 1 log]"
	}
	slices.Sort(sources)
	for _, source := range sources {
		comments = append(comments, "[Source: "+tags.Printable(source)+"]")
	}
	if values != 0 {
		comments = append(comments, values.Comment())
	}
	seconds := float64(base) / 1000
	return cmp.Or(w.Version(), w.Comment(strings.Join(comments, "\n")), w.BaseTime(seconds), w.StartTime(seconds),
		w.Legend())
}
