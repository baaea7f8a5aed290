// Package summary adds up the intervals of logs by tag, and keeps what else is known of a run: its
// periods, its course over time, its intervals of confidence, and its worst moments.
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

// A Result is the sum of the intervals of some logs, by row.
type Result struct {
	// Summaries are the sums by tag, the untagged intervals first, the tags sorted.
	Summaries []*output.Summary
	// Lengths is the sum of the lengths of all intervals, in milliseconds.
	Lengths int64

	sums    []*flow.Row        // the sum of each summary, which the summary decodes
	ran     map[int]merge.Span // when each input or part of an input ran, see [scan.Visit]
	read    []bool             // of each input, whether it has intervals, see [flow.Rows.HasIntervals]
	options Options
	by      *tags.By
}

// Options say what to collect.
type Options struct {
	// Maxima keeps the maximum over time of each tag, in memory that does not grow with the log.
	Maxima bool
	// Runs, if set, gets the counts of each row in windows, for intervals of confidence.
	Runs *Runs
	// Histories, if set, gets the intervals of each tag of each input.
	Histories *Histories
	// Course, if set, gets the counts of each row over time, which show where levels change.
	Course *Course
}

// Collect runs a scan and adds up its intervals by row. A row is a tag unless the scan's By says
// otherwise. More are further flows that get the same intervals. A sum has the smallest lowest
// discernible value and the most significant digits of its intervals. The result depends neither on
// the number of workers nor on the order of the intervals.
func Collect(s *scan.Scan, o Options, more ...flow.Flow) (*Result, error) {
	found := make(map[string]*flow.Row)
	account := accountOf(s.Memory)
	rows := &flow.Rows{Maxima: o.Maxima, Account: account, Emit: func(r *flow.Row) error {
		found[o.keyOf(r, s.Rows.By)] = r
		return nil
	}}
	flows := append([]flow.Flow{rows}, more...)
	if o.Histories != nil {
		o.Histories.start(s)
		rows.ByInputAndTag = o.apart(s.Rows.By)
		rows.SplitAgain = o.Histories.Sums && s.Rows.By.Phases()
		if o.Histories.Times {
			flows = append(flows, &flow.Times{Emit: o.Histories.addInterval})
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
	return newResult(Result{options: o, by: s.Rows.By, ran: rows.Ran, read: rows.HasIntervals}, found, account)
}

// Idle returns the names of the inputs that have no interval, if another input has one. The
// machines of these logs are missing in all figures.
func (r *Result) Idle(inputs []scan.Input) (names []string) {
	if len(r.ran) == 0 {
		return nil
	}
	for n := range inputs {
		if !r.read[n] {
			names = append(names, inputs[n].Name)
		}
	}
	return names
}

// Release gives back the memory of the sums, so that other sums can use it. The summaries must not
// be used any more.
func (r *Result) Release() {
	for _, s := range r.sums {
		s.Release()
	}
	r.sums = nil
}

// Compact compresses the sums, to save memory while other logs are added up. A histogram of half a
// megabyte often becomes a kilobyte. [output.Summary.Counts] decodes it at each call.
func (r *Result) Compact(memory *ledger.Ledger) error {
	account := accountOf(memory)
	for _, s := range r.sums {
		if err := s.Pack(account); err != nil {
			return err
		}
	}
	return nil
}

// accountOf opens the account for the memory of rows.
func accountOf(memory *ledger.Ledger) *ledger.Account {
	return memory.Open("tags", "choose some with -incT, or add them up with -it")
}

// apart reports whether each tag of each input has a sum of its own. If rows are phases, each row
// has a sum instead.
func (o *Options) apart(by *tags.By) bool {
	return o.Histories != nil && o.Histories.Sums && !by.Phases()
}

// keyOf returns the key of a row, or of a history if histories have sums. Intervals that are also
// in another phase are a row of their own, whose key begins with a plus sign.
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

// inOrder returns the sums of rows in the order of rows. If a row has several histories, it adds up
// their sums.
func inOrder(rows map[string]*flow.Row, account *ledger.Account) ([]*flow.Row, error) {
	byRow := make(map[string]*flow.Row)
	added := make(map[string]bool) // rows whose sum is a copy, which other histories are added to
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

// combine adds up several results of different inputs. It does not change their counts.
func combine(results []*Result, memory *ledger.Ledger) (*Result, error) {
	all := Result{ran: make(map[int]merge.Span)}
	rows := make(map[string]*flow.Row)
	first := 0 // the number of the first input of a result among all
	for run, r := range results {
		all.options, all.by = r.options, r.by
		all.read = append(all.read, r.read...)
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

// A Loader decodes sums one after another into the same histogram. All sums together could take a
// thousand times the memory of the packed sums: hundreds of tags of 47 MB, from a log of 2 MB.
type Loader struct {
	loaded  *merge.Sum
	scratch histogram.Histogram
}

// Summary returns the summary of a sum, which decodes the counts when they are asked for. The error
// is that of [merge.Sum.Histogram]. The sum must not change afterwards.
func (l *Loader) Summary(tag []byte, s *merge.Sum) (*output.Summary, error) {
	if _, err := l.load(s); err != nil {
		return nil, err
	}
	load := func() *histogram.Histogram {
		h, _ := l.load(s) // cannot fail: the call above did not fail
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

// load returns the counts of a sum. They are valid until load is called for another sum.
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
