// Package compare compares the logs before and after a change: two runs, or several runs a side.
package compare

import (
	"cmp"
	"slices"
	"time"

	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/sides"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// Sums are the sums of the logs of a side.
type Sums struct {
	Summaries []*output.Summary // of all runs together
	Runs      []*summary.Result // of each run, nil if the side is one run
	Added     int               // number of runs in Summaries
}

// A Comparison has the sums of two sides, and says how to compare them.
type Comparison struct {
	Before, After Sums
	Figures       asked.Figures
	Limits        []gate.Limit
	// Strict leaves a limit undecided if the bound lies within the interval of the figure.
	Strict bool
	// Phases says that rows are phases.
	Phases bool
	// Level is the confidence of intervals in percent.
	Level float64
	// Intervals keeps the intervals of the figures of summaries. Otherwise only changes have some.
	Intervals bool
	Zone      *time.Location
	// Tolerance says how much the figures of one version differ.
	Tolerance sides.Tolerance
	// Unknown is a log whose unit nothing states, empty if there is none.
	Unknown string
	// Partly is called for a tag that only some runs have.
	Partly func(format string, args ...any)
}

// A Result has the changes between two sides, and what is to say about them.
type Result struct {
	Pairs    []sides.Pair // in the order of tags
	Verdicts []gate.Verdict
	Headline output.Finding   // says what changed most
	Findings []output.Finding // the headline and the verdicts
}

// Compare compares the sums of two sides.
func (c *Comparison) Compare() *Result {
	r := &Result{Pairs: c.pairs()}
	c.dropIntervals(false)
	r.Verdicts = gate.Judge(c.Limits, gate.Measured{
		Summaries:  c.After.Summaries,
		Baseline:   c.Before.Summaries,
		Pairs:      r.Pairs,
		Runs:       c.After.Added,
		RunsBefore: c.Before.Added,
		Tolerance:  c.Tolerance,
		Strict:     c.Strict,
		Phases:     c.Phases,
	})
	c.dropIntervals(true)
	comparison := finding.Comparison{
		Pairs:       r.Pairs,
		Percentiles: c.Figures.Percentiles,
		Tolerance:   c.Tolerance,
		Unknown:     c.Unknown,
	}
	r.Headline = comparison.Conclusion()
	run := &finding.Run{
		Scale:    output.CommonScale(c.After.Summaries),
		Zone:     c.Zone,
		Verdicts: r.Verdicts,
	}
	for _, p := range r.Pairs {
		run.Summaries = append(run.Summaries, cmp.Or(p.After, p.Before))
	}
	r.Findings = finding.Compared(run, []output.Finding{r.Headline})
	return r
}

// pairs returns a pair for each tag, with the change of its figures.
func (c *Comparison) pairs() (pairs []sides.Pair) {
	for _, s := range c.Before.Summaries {
		pairs = append(pairs, sides.Pair{Tag: s.Tag, Before: s, After: summary.Find(c.After.Summaries, s.Tag)})
	}
	for _, s := range c.After.Summaries {
		if summary.Find(c.Before.Summaries, s.Tag) == nil {
			pairs = append(pairs, sides.Pair{Tag: s.Tag, After: s})
		}
	}
	slices.SortStableFunc(pairs, func(a, b sides.Pair) int { return tags.Compare(a.Tag, b.Tag) })
	for n := range pairs {
		p := &pairs[n]
		switch {
		case p.Before == nil || p.After == nil:
		case c.Before.Runs != nil:
			c.compareRuns(p)
		case p.Before.Confidence != nil && p.After.Confidence != nil:
			p.Change = sides.Compare(p.Before, p.After)
		}
	}
	sides.Correct(pairs, c.Figures.Percentiles)
	return pairs
}

// compareRuns sets the change of a pair from the runs of its tag.
func (c *Comparison) compareRuns(p *sides.Pair) {
	before, after := c.Before.Runs, c.After.Runs
	a, b := ofTag(before, p.Tag), ofTag(after, p.Tag)
	if len(a) < len(before) || len(b) < len(after) {
		c.Partly("%s is in %d of %d runs before and in %d of %d after", p.After.Name(), len(a), len(before),
			len(b), len(after))
	}
	p.Change = sides.CompareRuns(*p, a, b, asked.Believed(c.Figures.Percentiles, c.Limits), c.Level)
}

// ofTag returns the summary of a tag in each run that has values of the tag.
func ofTag(runs []*summary.Result, tag []byte) (all []*output.Summary) {
	for _, run := range runs {
		if s := summary.Find(run.Summaries, tag); s != nil && s.Counts().TotalCount() > 0 {
			all = append(all, s)
		}
	}
	return all
}

// dropIntervals drops the intervals of the figures of all summaries if nothing needs them from here
// on. They hold all windows, which take much memory. Judged is set if the limits have been checked:
// only strict limits look at them.
func (c *Comparison) dropIntervals(judged bool) {
	if c.Intervals || c.Strict && !judged {
		return
	}
	for _, s := range slices.Concat(c.Before.Summaries, c.After.Summaries) {
		s.Confidence = nil
	}
}
