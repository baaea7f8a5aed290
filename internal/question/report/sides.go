package report

import (
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// Sides are the logs before and after a change.
type Sides struct {
	Before, After *scan.Scan
	// Runs is set if the runs of the sides are compared. Otherwise the logs of a side add up to one
	// run.
	Runs bool
}

// leastRuns is the number of runs a side that tell how runs vary.
const leastRuns = 3

// SplitSides returns the names of both sides: of two arguments, or of those before -- and behind
// it.
func SplitSides(names []string, before int) (old, new []string, err error) {
	if before == 0 && len(names) == 2 {
		before = 1
	}
	if before == 0 || before == len(names) {
		return nil, nil, message.Usagef("give two arguments, before and after: a log each, or a "+
			"folder or pattern of runs each; there are %d. OLD... -- NEW... takes several", len(names))
	}
	return names[:before], names[before:], nil
}

// FindSides finds the logs of both sides, and whether there are enough runs to compare. If sum is
// set, each side is one run.
func FindSides(std *message.Streams, d *logs.Diagnostics, o *logs.Options, old, new []string, sum bool) (s Sides, err error) {
	o.Names = new
	if s.After, err = o.Scan(std, d); err != nil {
		return s, err
	}
	if s.Before, err = o.Other(std, d, s.After, old); err != nil {
		return s, err
	}
	for n := range s.After.Inputs {
		in := &s.After.Inputs[n]
		if in.Once && slices.ContainsFunc(s.Before.Inputs, func(other scan.Input) bool { return other.Once && other.Same(in) }) {
			return s, message.Usagef("%s can be read only once, and is on both sides", in.Name)
		}
	}
	before, after := len(s.Before.Runs()), len(s.After.Runs())
	s.Runs = !sum && before+after > 2
	switch {
	case !s.Runs:
	case before == 1 || after == 1:
		return s, message.Usagef("%d before and %d after: give a log each, or several runs each, as "+
			"two folders or two patterns; hdrdiff -sum adds up the logs of a side", before, after)
	case min(before, after) < leastRuns:
		d.Warnf("%d runs before and %d after are too few to tell how runs vary, which takes %d on "+
			"each side: this compares their sums as one run with one", before, after, leastRuns)
		s.Runs = false
	}
	return s, nil
}

// All returns a scan of the logs of both sides.
func (s *Sides) All() *scan.Scan {
	all := *s.After
	all.Inputs = slices.Concat(s.Before.Inputs, s.After.Inputs)
	return &all
}

// A Comparison says how summaries before and after a change are compared.
type Comparison struct {
	Before, After []*output.Summary
	// RunsBefore and RunsAfter are the runs that these add up, nil if one run is compared with one.
	RunsBefore, RunsAfter []*summary.Result
	// Believed are the percentiles that have intervals of a level, and Printed those whose changes
	// are looked at together.
	Believed, Printed []float64
	Level             float64
}

// Pairs puts the summaries of each tag together, in the order of tags, and compares them. Partly is
// called for a tag that only some runs have.
func (c *Comparison) Pairs(partly func(format string, args ...any)) (pairs []output.Pair) {
	for _, s := range c.Before {
		pairs = append(pairs, output.Pair{Tag: s.Tag, Before: s, After: gate.Find(c.After, s.Tag)})
	}
	for _, s := range c.After {
		if gate.Find(c.Before, s.Tag) == nil {
			pairs = append(pairs, output.Pair{Tag: s.Tag, After: s})
		}
	}
	slices.SortStableFunc(pairs, func(a, b output.Pair) int { return tags.Compare(a.Tag, b.Tag) })
	for n := range pairs {
		p := &pairs[n]
		switch {
		case p.Before == nil || p.After == nil:
		case c.RunsBefore != nil:
			a, b := ofTag(c.RunsBefore, p.Tag), ofTag(c.RunsAfter, p.Tag)
			if len(a) < len(c.RunsBefore) || len(b) < len(c.RunsAfter) {
				partly("%s is in %d of %d runs before and in %d of %d after", p.After.Name(), len(a),
					len(c.RunsBefore), len(b), len(c.RunsAfter))
			}
			p.Change = output.NewRunsChange(*p, a, b, c.Believed, c.Level)
		case p.Before.Confidence != nil && p.After.Confidence != nil:
			p.Change = output.NewChange(p.Before, p.After)
		}
	}
	output.Correct(pairs, c.Printed)
	return pairs
}

// ofTag returns the summaries of a tag, without those that have no values.
func ofTag(runs []*summary.Result, tag []byte) (all []*output.Summary) {
	for _, run := range runs {
		if s := gate.Find(run.Summaries, tag); s != nil && s.Counts().TotalCount() > 0 {
			all = append(all, s)
		}
	}
	return all
}
