// Package summary adds up the intervals of logs, by tag.
package summary

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/decode"
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
	// Lengths is how long all intervals together were, in milliseconds.
	Lengths int64
}

// Collect runs a scan and adds up its intervals by tag, or all together where ignoreTags is set. Sums have a lowest
// discernible value of 1, as those of HdrLogProcessing, and the most digits of any of their intervals. The result does not
// depend on how many workers the scan has.
//
// Look, if set, is called for each interval with its own histogram, which it must not keep, on several goroutines, and
// puts what is to be known of it in a result, which holds what an earlier interval left there. Tell is then called with
// that, in the order of the logs.
func Collect[R any](s *scan.Scan, ignoreTags bool, look func(v scan.Visit, h *histogram.Histogram, result *R), tell func(v scan.Visit, result *R) error) (*Result, error) {
	workers := make([]worker, s.Workers)
	for n := range workers {
		workers[n].sums = make(map[string]*sum)
		workers[n].ignoreTags = ignoreTags
		workers[n].corrector.Expected = s.Expected
	}
	work := func(n int, v scan.Visit, result *R) error {
		w := &workers[n]
		if s.Expected == 0 {
			p, err := w.decoder.Open(v.Payload)
			if err != nil {
				return err
			}
			if look != nil {
				w.own.Reset(p.Layout())
				if err := p.AddTo(&w.own); err != nil {
					return err
				}
				look(v, &w.own, result)
			}
			// To decode the counts once more is quicker than to add all slots of one histogram to another (BenchmarkHdrplot).
			return w.add(v, p.Layout(), p)
		}
		if err := w.corrector.Into(&w.own, v.Payload); err != nil {
			return err
		}
		if look != nil {
			look(v, &w.own, result)
		}
		return w.add(v, w.own.Layout(), whole{&w.own})
	}
	if err := scan.Run(s, work, tell); err != nil {
		return nil, err
	}
	return merge(workers)
}

// place is where an interval stands.
type place struct {
	input, line int
	name        string
}

func (p place) before(q place) bool {
	return p.input < q.input || p.input == q.input && p.line < q.line
}

// sum is what a worker has added up of a tag, integers and doubles apart, since which of them came first is known only at
// the end.
type sum struct {
	tag     []byte
	kinds   [2]kind // integer, double
	spans   []Span
	lengths int64 // of all intervals, in milliseconds
	// overflow is set once the counts exceed an int64.
	overflow bool
}

type kind struct {
	histogram *histogram.Histogram
	intervals int64
	first     place
}

type worker struct {
	decoder    histogram.Decoder // straight into a sum
	corrector  decode.Decoder    // into own
	own        histogram.Histogram
	sums       map[string]*sum
	untagged   *sum
	ignoreTags bool
}

// of returns the worker's sum for a tag.
func (w *worker) of(tag []byte) *sum {
	if tag == nil || w.ignoreTags {
		if w.untagged == nil {
			w.untagged = &sum{}
		}
		return w.untagged
	}
	s := w.sums[string(tag)]
	if s == nil {
		s = &sum{tag: bytes.Clone(tag)}
		w.sums[string(tag)] = s
	}
	return s
}

// counts are what an interval adds to a sum.
type counts interface {
	AddTo(sum *histogram.Histogram) error
}

// whole is the counts of a histogram.
type whole struct{ *histogram.Histogram }

func (h whole) AddTo(sum *histogram.Histogram) error { return sum.Add(h.Histogram) }

// add adds an interval.
func (w *worker) add(v scan.Visit, layout histogram.Layout, own counts) error {
	s := w.of(v.Tag)
	k := &s.kinds[0]
	if layout.Ratio != 0 {
		k = &s.kinds[1]
	}
	if k.histogram == nil {
		sumLayout := layout
		sumLayout.Lowest = 1
		h, err := histogram.New(sumLayout)
		if err != nil {
			return err
		}
		k.histogram = h
	}
	if err := own.AddTo(k.histogram); err != nil {
		// Which interval is one too many depends on who adds up what, so it is the sum that is at fault, not it.
		alone, newErr := histogram.New(layout)
		if newErr == nil && errors.Is(err, histogram.ErrOverflow) && own.AddTo(alone) == nil {
			s.overflow = true
			return nil
		}
		return err
	}
	if k.intervals == 0 {
		k.first = place{v.Input, v.Line, v.Name}
	}
	k.intervals++
	start, end := v.StartMillis(), v.EndMillis()
	s.lengths += end - start
	if n := len(s.spans); n > 0 && s.spans[n-1].Input == v.Input {
		s.spans[n-1].include(start, end)
	} else {
		s.spans = append(s.spans, Span{v.Input, s.tag, start, end})
	}
	return nil
}

// merge adds up what the workers have.
func merge(workers []worker) (*Result, error) {
	var all worker
	all.sums = make(map[string]*sum)
	for n := range workers {
		for _, s := range workers[n].sums {
			if err := all.of(s.tag).merge(s); err != nil {
				return nil, err
			}
		}
		if s := workers[n].untagged; s != nil {
			if err := all.of(nil).merge(s); err != nil {
				return nil, err
			}
		}
	}
	var sums []*sum
	for _, s := range all.sums {
		sums = append(sums, s)
	}
	slices.SortFunc(sums, func(a, b *sum) int { return bytes.Compare(a.tag, b.tag) })
	if all.untagged != nil {
		sums = slices.Insert(sums, 0, all.untagged)
	}
	var r Result
	for _, s := range sums {
		if s.overflow {
			return nil, fmt.Errorf("tag %s: %w", tags.Text(s.tag), histogram.ErrOverflow)
		}
		if len(s.spans) == 0 {
			continue // none of its payloads could be read
		}
		summary, err := s.summary()
		if err != nil {
			return nil, err
		}
		r.Summaries = append(r.Summaries, summary)
		r.Spans = append(r.Spans, s.spans...)
		r.Lengths += s.lengths
	}
	return &r, nil
}

// merge adds t, which is another worker's sum for the same tag, to s.
func (s *sum) merge(t *sum) error {
	for n := range s.kinds {
		k, other := &s.kinds[n], t.kinds[n]
		switch {
		case other.intervals == 0:
			continue
		case k.intervals == 0:
			*k = other
			continue
		}
		if err := k.histogram.Add(other.histogram); err != nil {
			return fmt.Errorf("tag %s: %w", tags.Text(s.tag), err)
		}
		k.intervals += other.intervals
		if other.first.before(k.first) {
			k.first = other.first
		}
	}
	s.lengths += t.lengths
	s.overflow = s.overflow || t.overflow
	for _, span := range t.spans {
		n := slices.IndexFunc(s.spans, func(own Span) bool { return own.Input == span.Input })
		if n < 0 {
			s.spans = append(s.spans, span)
		} else {
			s.spans[n].include(span.Start, span.End)
		}
	}
	return nil
}

// summary returns what s adds up to. Integers and doubles do not.
func (s *sum) summary() (*output.Summary, error) {
	integer, double := s.kinds[0], s.kinds[1]
	if integer.intervals > 0 && double.intervals > 0 {
		return nil, fmt.Errorf("tag %s: %w: integers at %s:%d, doubles at %s:%d",
			tags.Text(s.tag), histogram.ErrKind, integer.first.name, integer.first.line, double.first.name, double.first.line)
	}
	k := integer
	if k.intervals == 0 {
		k = double
	}
	start, end := s.spans[0].Start, s.spans[0].End
	for _, span := range s.spans {
		start, end = min(start, span.Start), max(end, span.End)
	}
	return &output.Summary{Tag: s.tag, Histogram: k.histogram, Intervals: k.intervals, Start: start, End: end}, nil
}
