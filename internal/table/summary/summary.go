// Package summary adds up the intervals of logs, by tag.
package summary

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Result is what the intervals of some logs add up to.
type Result struct {
	// Summaries are the sums by tag, the untagged intervals first, the tags sorted.
	Summaries []*output.Summary
	// Spans are when the intervals of each tag in each input began and ended.
	Spans []Span
	// Lengths is the sum of the lengths of all intervals, in milliseconds.
	Lengths int64

	sums    []*sum // what the summaries load
	options Options
	by      *tags.By
}

// Options say what to collect.
type Options struct {
	// Maxima keeps the maximum over time of each tag, in memory that does not grow with the log.
	Maxima bool
	// Runs, if set, keeps the counts of each row by windows, and Parts those of each tag of each
	// input.
	Runs  *Runs
	Parts *Parts
}

// Collect runs a scan and adds up its intervals by row, which is a tag unless the scan's By says
// otherwise. A sum has the lowest lowest discernible
// value and the most digits of its intervals. The result does not depend on the number of workers
// or the order of the intervals.
//
// If look is set, Collect calls it on several goroutines for each interval, with the histogram of
// that interval. Look must not keep the histogram. It writes its outcome to result, which may
// contain the outcome of an earlier interval. Then Collect calls take with the outcomes, in the
// order of the scan. If also is set, the sum that it returns gets the interval, too. Worker is the
// number of the goroutine, from 0. If whole is set, take gets the sum with the first of its
// intervals, which are all of the same row, and Collect adds it to the row then.
func Collect[R any](s *scan.Scan, o Options, look func(v scan.Visit, h *histogram.Histogram, result *R), take func(v scan.Visit, result *R) error, also func(worker int, v scan.Visit, result *R) (sum *merge.Sum, whole bool)) (*Result, error) {
	workers := make([]sums, s.Workers+1) // the last one has whole sums
	account := accountOf(s.Memory)
	if o.Runs != nil {
		o.Runs.charged(s.Memory)
	}
	if o.Parts != nil {
		o.Parts.start(s)
	}
	for n := range workers {
		workers[n] = sums{options: o, by: s.By, account: account, tags: make(map[string]*sum)}
	}
	decode := func(n int, v scan.Visit, i *interval[R]) error {
		want := scan.Want{Counts: look != nil, Max: o.Maxima || o.Parts != nil, Digits: windowDigits}
		if i.window.Reset(); o.Runs != nil {
			want.Coarse = &i.window
		}
		into, whole := make([]*merge.Sum, 0, 2), false
		if i.whole = nil; also != nil {
			var sum *merge.Sum
			if sum, whole = also(n, v, &i.result); whole && sum.Intervals() == 0 {
				i.whole = sum
			}
			into = append(into, sum)
		}
		took, err := workers[n].add(v, want, into, whole)
		if i.highest, i.count = took.Max, took.Count; err == nil && look != nil {
			look(v, took.Counts, &i.result)
		}
		return err
	}
	takeAll := func(v scan.Visit, i *interval[R]) error {
		if o.Runs != nil {
			o.Runs.add(v.StartMillis(), v.EndMillis(), v.Row, &i.window)
		}
		if o.Parts != nil {
			o.Parts.take(v, i.highest, i.count)
		}
		if i.whole != nil {
			if err := workers[s.Workers].addWhole(v, i.whole); err != nil {
				return err
			}
		}
		if take == nil {
			return nil
		}
		return take(v, &i.result)
	}
	if err := scan.Run(s, decode, takeAll); err != nil {
		return nil, err
	}
	for n := range workers {
		for _, s := range workers[n].tags {
			if err := workers[n].complete(s); err != nil {
				return nil, err
			}
		}
	}
	all := &workers[0]
	for n := range workers[1:] {
		if err := all.merge(&workers[1+n]); err != nil {
			return nil, err
		}
	}
	return all.result()
}

func accountOf(memory *ledger.Ledger) *ledger.Account {
	return memory.Open("tags", "choose some with -incT, or add them up with -it")
}

// interval is what a worker finds out about an interval.
type interval[R any] struct {
	result  R
	whole   *merge.Sum // of which this is the first interval
	window  merge.Sum  // for Runs, empty if the worker adds up windows
	highest float64
	count   int64
}

// sums are what a worker has added up, by tag.
type sums struct {
	options Options
	by      *tags.By
	account *ledger.Account
	bytes   int             // that the sums take
	tags    map[string]*sum // by row, or by part if there are parts with sums
	key     []byte
	scratch histogram.Histogram
}

// sum is what a worker has added up of a row, or of a part.
type sum struct {
	merge.Sum
	tag     []byte // of the row
	input   string // of the first interval, and its tag
	own     []byte
	kinds   scan.Kinds
	spans   []Span
	lengths int64 // of all intervals, in milliseconds
	maxima  Maxima
	window  merge.Sum // what is not in Sum yet: the last intervals, of one window of Runs
	charge  ledger.Charge
	// err is why some intervals do not add up. What is added up then depends on the order, but not
	// that there is such an error.
	err error
}

// of returns the sum of a row, and of a part if there are parts with sums.
func (w *sums) of(v scan.Visit) *sum {
	if w.key = w.key[:0]; w.options.Parts != nil && w.options.Parts.Sums {
		w.key = appendPart(w.key, v.Input, v.Tag)
	} else {
		w.key = merge.AppendKey(w.key, v.Row)
	}
	s := w.tags[string(w.key)]
	if s == nil {
		s = &sum{tag: bytes.Clone(v.Row), input: v.Name, own: bytes.Clone(v.Tag)}
		w.tags[string(w.key)] = s
	}
	s.Spare = merge.SpareFor(w.bytes)
	return s
}

// sumBytes is about what a sum takes beside its counts: with its tag, and where the sum is printed.
const sumBytes = 1 << 10

// believedBytes is about what intervals of confidence of a tag take, and its comparison with
// others.
const believedBytes = 4 << 10

// add adds an interval, also to other sums or only to these, and returns what is wanted of it. The
// error is that of its payload.
func (w *sums) add(v scan.Visit, want scan.Want, others []*merge.Sum, only bool) (scan.Taken, error) {
	s := w.of(v)
	if !only {
		// To decode the counts once more is quicker than to add all slots of one histogram to
		// another (BenchmarkHdrplot).
		own, err := w.gather(s, v, &want)
		if err != nil {
			return scan.Taken{}, err
		}
		others = append(others, own)
	}
	took, err := v.Take(want, others...)
	if err := s.failed(err); err != nil {
		return took, err
	}
	if err := w.charge(s); err != nil {
		return took, scan.Fatal{Err: err}
	}
	s.kinds.Add(took.Double, v.Place)
	start, end := v.StartMillis(), v.EndMillis()
	s.lengths += end - start
	if w.options.Maxima && took.Max > 0 {
		s.maxima.Add(start, end, took.Max)
	}
	s.include(Span{v.Input, s.tag, start, end})
	return took, nil
}

// addWhole adds what some intervals of a row add up to.
func (w *sums) addWhole(v scan.Visit, sum *merge.Sum) error {
	s := w.of(v)
	if err := s.failed(s.Merge(sum)); err != nil {
		return err
	}
	return w.charge(s)
}

// charge charges for a sum to which something was added.
func (w *sums) charge(s *sum) error {
	size := sumBytes + s.Size()
	if w.options.Runs != nil {
		size += believedBytes + s.window.Size()
	}
	w.bytes += size - s.charge.Bytes()
	return s.charge.Set(w.account, 1, size)
}

// gather returns what gets an interval: the sum of its row, or the last window, after it completed
// the one before. Of very many rows, windows would take too much memory.
func (w *sums) gather(s *sum, v scan.Visit, want *scan.Want) (*merge.Sum, error) {
	if want.Coarse == nil || w.options.Runs.doubled.Load() == 0 {
		return &s.Sum, nil
	}
	if s.Spare == 0 {
		err := w.complete(s)
		s.window = merge.Sum{}
		return &s.Sum, err
	}
	want.Coarse, s.window.Spare = nil, s.Spare
	size := w.options.Runs.doubled.Load()
	at := merge.WindowOf(v.StartMillis(), max(v.StartMillis(), v.EndMillis()), size)
	if at == merge.WindowOf(s.window.Start, s.window.End, size) {
		return &s.window, nil
	}
	return &s.window, w.complete(s)
}

// complete adds the last window of a sum to it, and to Runs. To coarsen the sum of intervals or
// each of them is the same (TestGather).
func (w *sums) complete(s *sum) error {
	if s.window.Intervals() == 0 {
		return nil
	}
	var coarse merge.Sum
	h, err := s.window.Histogram(&w.scratch)
	if err == nil {
		err = coarse.AddCoarse(s.window.Start, s.window.End, h, windowDigits)
	}
	if err == nil {
		w.options.Runs.mutex.Lock()
		w.options.Runs.merge(s.tag, &coarse)
		w.options.Runs.mutex.Unlock()
		err = s.Merge(&s.window)
	}
	s.window.Reset()
	return s.failed(err)
}

// failed keeps an error of intervals that do not add up, and returns another one.
func (s *sum) failed(err error) error {
	if err == nil {
		return nil
	}
	var sumErr *merge.SumError
	if errors.As(err, &sumErr) {
		s.err = sumErr.Err
		return nil
	}
	return err
}

// include takes in a span.
func (s *sum) include(span Span) {
	n := len(s.spans) - 1 // nearly always of the same input
	if n < 0 || s.spans[n].Input != span.Input {
		n = slices.IndexFunc(s.spans, func(own Span) bool { return own.Input == span.Input })
	}
	if n < 0 {
		s.spans = append(s.spans, span)
	} else {
		s.spans[n].include(span.Start, span.End)
	}
}

// merge adds what another worker has, which loses it, so that no sum is in memory twice.
func (w *sums) merge(other *sums) error {
	for key, t := range other.tags {
		if w.tags[key] == nil {
			w.tags[key] = t
		} else {
			t.charge.Set(w.account, 0, 0)
			if err := w.tags[key].merge(t, w.account); err != nil {
				return err
			}
		}
		delete(other.tags, key)
	}
	return nil
}

// rows returns the sums of rows, in order. It adds up parts, and leaves out sums of which no
// payload could be read.
func (w *sums) rows() ([]*sum, error) {
	byRow := make(map[string]*sum)
	added := make(map[string]bool) // a row of several parts has a sum of its own
	for _, key := range slices.Sorted(maps.Keys(w.tags)) {
		s := w.tags[key]
		row := string(merge.AppendKey(nil, s.tag))
		switch {
		case len(s.spans) == 0:
			delete(w.tags, key)
			continue
		case byRow[row] == nil:
			byRow[row] = s
			continue
		case !added[row]:
			own := &sum{tag: s.tag, input: s.input, own: s.own}
			if err := own.merge(byRow[row], w.account); err != nil {
				return nil, err
			}
			byRow[row], added[row] = own, true
		}
		if err := byRow[row].merge(s, w.account); err != nil {
			return nil, err
		}
	}
	var all []*sum
	for _, row := range slices.Sorted(maps.Keys(byRow)) {
		all = append(all, byRow[row])
	}
	return all, nil
}

// merge adds what t has.
func (s *sum) merge(t *sum, account *ledger.Account) error {
	if s.err == nil {
		s.err = t.err
	}
	s.Spare = 0 // tags may be many by now
	s.failed(s.Merge(&t.Sum))
	s.kinds.Merge(t.kinds)
	s.lengths += t.lengths
	s.maxima.merge(&t.maxima)
	for _, span := range t.spans {
		s.include(span)
	}
	return s.charge.Set(account, 1, sumBytes+s.Size())
}

// result returns what all sums come to.
func (w *sums) result() (*Result, error) {
	all, err := w.rows()
	if err != nil {
		return nil, err
	}
	if w.options.Parts != nil {
		w.options.Parts.sums = w.tags
	}
	r := Result{options: w.options}
	var l Loader
	for _, s := range all {
		summary, err := s.summary(&l)
		if err != nil {
			return nil, fmt.Errorf("tag %s: %w", tags.Text(s.tag), err)
		}
		if summary.AllTags = w.by.All(); w.by.Inputs() {
			if summary.Input = s.input; !w.by.AddsTags() {
				summary.InputTag = s.own
			}
		}
		r.Summaries, r.sums, r.by = append(r.Summaries, summary), append(r.sums, s), w.by
		r.Spans = append(r.Spans, s.spans...)
		r.Lengths += s.lengths
	}
	return &r, nil
}

// Combine returns what several results, each of one input, add up to. They stay as they are.
func Combine(results []*Result, memory *ledger.Ledger) (*Result, error) {
	all := sums{account: accountOf(memory), tags: make(map[string]*sum)}
	for input, r := range results {
		all.options, all.by = r.options, r.by
		for _, t := range r.sums {
			for n := range t.spans {
				t.spans[n].Input = input
			}
			all.tags[string(appendPart(nil, input, t.tag))] = t
		}
	}
	return all.result()
}

// A Loader decodes sums into one histogram. Each sum holds little, so all together may take a
// thousand times their memory: hundreds of tags of 47 MB, from a log of 2 MB.
type Loader struct {
	loaded  *merge.Sum
	scratch histogram.Histogram
}

// Summary returns what s adds up to, with counts that are decoded when they are asked for. The
// error is that of [merge.Sum.Histogram]. Afterwards s must not change.
func (l *Loader) Summary(tag []byte, s *merge.Sum) (*output.Summary, error) {
	if _, err := l.load(s); err != nil {
		return nil, err
	}
	load := func() *histogram.Histogram {
		h, _ := l.load(s) // cannot fail: it did not above
		return h
	}
	return &output.Summary{Tag: tag, Load: load, Intervals: s.Intervals(), Start: s.Start, End: s.End}, nil
}

// load returns the counts of s. They are valid until it is called for another sum.
func (l *Loader) load(s *merge.Sum) (h *histogram.Histogram, err error) {
	if l.loaded == s {
		return &l.scratch, nil
	}
	l.loaded = nil
	if h, err = s.Histogram(&l.scratch); h == &l.scratch {
		l.loaded = s
	}
	return h, err
}

// summary returns what s adds up to. The counts are decoded by l.
func (s *sum) summary(l *Loader) (*output.Summary, error) {
	if err := cmp.Or(s.kinds.Err(), s.err); err != nil {
		return nil, err
	}
	all, err := l.Summary(s.tag, &s.Sum)
	if err != nil {
		return nil, err
	}
	all.Maxima = s.maxima.Output()
	return all, nil
}
