// Package summary adds up the intervals of logs, by tag.
package summary

import (
	"fmt"
	"maps"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Result is what the intervals of some logs add up to.
type Result struct {
	// Summaries are the sums by tag, the untagged intervals first, the tags sorted.
	Summaries []*output.Summary
	// Lengths is the sum of the lengths of all intervals, in milliseconds.
	Lengths int64

	sums    []*flow.Row        // summaries load these, in the order of summaries
	ran     map[int]merge.Span // when each input or part of one ran, see [scan.Visit]
	inputs  int                // their number
	options Options
	by      *tags.By
}

// Options say what to collect.
type Options struct {
	// Maxima keeps the maximum over time of each tag, in memory that does not grow with the log.
	Maxima bool
	// Runs, if set, keeps the counts of each row by windows, and Histories those of each tag of
	// each input.
	Runs      *Runs
	Histories *Histories
	// Course, if set, keeps the counts of each row over time, to find where levels change.
	Course *Course
}

// Collect runs a scan and adds up its intervals by row, which is a tag unless the scan's By says
// otherwise. More are other flows of the same intervals. A sum has the lowest lowest discernible
// value and the most digits of its intervals. The result does not depend on the number of workers
// or the order of the intervals.
func Collect(s *scan.Scan, o Options, more ...flow.Flow) (*Result, error) {
	found := make(map[string]*flow.Row)
	account := accountOf(s.Memory)
	rows := &flow.Rows{Maxima: o.Maxima, Account: account, Emit: func(r *flow.Row) error {
		found[o.keyOf(r, s.By)] = r
		return nil
	}}
	flows := append([]flow.Flow{rows}, more...)
	if o.Histories != nil {
		o.Histories.start(s)
		rows.Apart = o.apart(s.By)
		rows.ApartAgain = o.Histories.Sums && s.By.Phases()
		if o.Histories.Times {
			flows = append(flows, &flow.Times{Emit: o.Histories.take})
		}
	}
	if o.Runs != nil {
		flows = append(flows, o.Runs.flow(s.Memory))
	}
	if o.Course != nil {
		flows = append(flows, o.Course.flow(s.Memory.Part(coursePart)))
	}
	if err := flow.Run(s, flows...); err != nil {
		return nil, err
	}
	if o.Course != nil && o.Course.doubling != nil {
		o.Course.windows = o.Course.doubling.Windows
	}
	return newResult(Result{options: o, by: s.By, ran: rows.Ran, inputs: len(s.Inputs)}, found, account)
}

// Idle returns the names of inputs without an interval, if others have some: a machine whose log is
// empty is missing in the figures.
func (r *Result) Idle(inputs []scan.Input) (names []string) {
	if len(r.ran) == 0 {
		return nil
	}
	some := make([]bool, len(inputs))
	for part := range r.ran {
		some[part%len(inputs)] = true
	}
	for n := range inputs {
		if !some[n] {
			names = append(names, inputs[n].Name)
		}
	}
	return names
}

// Release gives the memory of the sums back, to add up others in. The summaries must not be used
// any more.
func (r *Result) Release() {
	for _, s := range r.sums {
		s.Release()
	}
	r.sums = nil
}

// Compact makes the sums take little memory, while others are added up. A histogram of half a
// megabyte often becomes a kilobyte. [output.Summary.Counts] decodes it each time.
func (r *Result) Compact(memory *ledger.Ledger) error {
	account := accountOf(memory)
	for _, s := range r.sums {
		if err := s.Pack(account); err != nil {
			return err
		}
	}
	return nil
}

func accountOf(memory *ledger.Ledger) *ledger.Account {
	return memory.Open("tags", "choose some with -incT, or add them up with -it")
}

// apart reports whether there are sums of each tag of each input. Those of phases are of rows.
func (o *Options) apart(by *tags.By) bool {
	return o.Histories != nil && o.Histories.Sums && !by.Phases()
}

// keyOf returns the key of a row, or of a history if there are histories with sums. What another
// phase has as well is a row by itself.
func (o *Options) keyOf(r *flow.Row, by *tags.By) string {
	if o.apart(by) {
		return string(appendHistory(nil, r.Input, r.Tag))
	}
	var key []byte
	if r.Again {
		key = []byte{'+'}
	}
	return string(merge.AppendKey(key, r.Row))
}

// inOrder returns the sums of rows, in order. It adds up histories.
func inOrder(rows map[string]*flow.Row, account *ledger.Account) ([]*flow.Row, error) {
	byRow := make(map[string]*flow.Row)
	added := make(map[string]bool) // a row of several histories has a sum of its own
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		r := rows[key]
		row := string(merge.AppendKey(nil, r.Row))
		if byRow[row] == nil {
			byRow[row] = r
			continue
		}
		if !added[row] {
			whole := new(flow.Row)
			whole.Row = r.Row
			whole.Input = byRow[row].Input
			whole.Name = byRow[row].Name
			whole.Tag = byRow[row].Tag
			if err := whole.Add(byRow[row], account); err != nil {
				return nil, err
			}
			byRow[row], added[row] = whole, true
		}
		if err := byRow[row].Add(r, account); err != nil {
			return nil, err
		}
	}
	var all []*flow.Row
	for _, row := range slices.Sorted(maps.Keys(byRow)) {
		all = append(all, byRow[row])
	}
	return all, nil
}

// newResult fills a result with the sums of rows, which have the keys of [Options.keyOf].
func newResult(r Result, rows map[string]*flow.Row, account *ledger.Account) (*Result, error) {
	all, err := inOrder(rows, account)
	if err != nil {
		return nil, err
	}
	if hs := r.options.Histories; hs != nil {
		hs.sums = make(map[string]*flow.Row)
		for key, row := range rows {
			if !r.by.Phases() {
				key = string(appendHistory(nil, row.Input, row.Tag))
			}
			hs.sums[key] = row
		}
	}
	r.sums = all
	var l Loader
	for _, s := range all {
		if err := s.Err(); err != nil {
			return nil, err
		}
		summary, err := l.Summary(s.Row, &s.Sum)
		if err != nil {
			return nil, fmt.Errorf("tag %s: %w", tags.Text(s.Row), err)
		}
		summary.Maxima = s.Maxima.Output()
		summary.AllTags = r.by.All()
		if r.by.Inputs() {
			summary.Input = s.Name
			if !r.by.AddsTags() {
				summary.InputTag = s.Tag
			}
		}
		r.Summaries = append(r.Summaries, summary)
		r.Lengths += s.Lengths
	}
	return &r, nil
}

// combine returns what several results, each of other inputs, add up to. They stay as they are.
func combine(results []*Result, memory *ledger.Ledger) (*Result, error) {
	all := Result{ran: make(map[int]merge.Span)}
	rows := make(map[string]*flow.Row)
	first := 0 // the number of the first input of a result among all
	for run, r := range results {
		all.options, all.by = r.options, r.by
		all.inputs += r.inputs
		next := first
		for input, span := range r.ran {
			all.ran[first+input] = span
			next = max(next, first+input+1)
		}
		for _, t := range r.sums {
			for n := range t.Spans.All {
				t.Spans.All[n].Input += first
			}
			rows[string(appendHistory(nil, run, t.Row))] = t
		}
		first = next
	}
	return newResult(all, rows, accountOf(memory))
}

// A Loader decodes sums into one histogram, one after another. Decoded, all sums could take a
// thousand times their packed memory: hundreds of tags of 47 MB, from a log of 2 MB.
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
	return &output.Summary{
		Tag:       tag,
		Load:      load,
		Intervals: s.Intervals(),
		Start:     s.Start,
		End:       s.End,
	}, nil
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
