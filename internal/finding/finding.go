// Package finding finds what a run shows, from what was added up of it: one sentence for each
// finding, the same wherever it stands.
package finding

import (
	"cmp"
	"slices"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Run holds what all kinds of findings ask for: the sums and figures of a run. A field that is
// not known is zero, and kinds that need it find nothing.
type Run struct {
	Summaries []*output.Summary
	By        *tags.By // what makes a row of Summaries
	Scale     hdrlog.Scale
	Zone      *time.Location
	// Verdicts are about limits.
	Verdicts []gate.Verdict
	// Histories have the times of all intervals.
	Histories *summary.Histories
	// Moments are the worst ones of Histories, if they are known.
	Moments []output.Moment
	// Course has the levels of rows over time.
	Course *summary.Course
	// Corrected says that the counts are corrected for coordinated omission already.
	Corrected bool
	// Same are tags that count the same requests, of which only the first one is shown, since
	// nobody chose.
	Same []string
	// Cut are the logs that are cut short, and Malformed counts a line for each of them.
	Cut []logs.Cut
	// Malformed is the number of lines that were skipped, and Late that of intervals and
	// measurements that came too late. Messages say where.
	Malformed, Late int
	// Failed are the requests that failed, by log.
	Failed []logs.Failed

	found
}

// found are results that several kinds need. They are nil before the first kind asks.
type found struct {
	looked    bool // for Moments
	omitted   *Omitted
	names     map[string]string // see called
	spanOf    *merge.Span
	apartOf   *apartOf
	figuresOf *figures
	coursesOf *courses
	tracksOf  []summary.Track
}

// row returns the row that a tag of an input in the histories belongs to, nil if there is none.
func (r *Run) row(input string, tag []byte) *output.Summary {
	if !r.Histories.Rows() {
		tag = r.By.Row(input, tag)
	}
	return gate.Find(r.Summaries, tag)
}

// scale returns the scale of the row that a tag of an input belongs to.
func (r *Run) scale(input string, tag []byte) hdrlog.Scale {
	if row := r.row(input, tag); row != nil {
		return row.Scale
	}
	return hdrlog.Scale{}
}

// Level is the kind of a time that is bad for so long that it is no moment.
const Level = "level"

// Same is the kind of tags that count the same requests.
const Same = "same"

// kinds are what can be found, in the order of importance of findings of equal weight. A new kind
// is a line here and its function.
var kinds = []struct {
	name string
	find func(r *Run) []output.Finding
}{
	{"limit", (*Run).limits},
	{"few", (*Run).few},
	{"failures", (*Run).failures},
	{"cut", (*Run).cut},
	{"malformed", (*Run).malformed},
	{"late", (*Run).late},
	{"clock", (*Run).disjoint},
	{"gap", (*Run).gaps},
	{"omission", (*Run).omission},
	{"outlier", (*Run).outlier},
	{"rhythm", (*Run).rhythm},
	{Level, (*Run).level},
	{"warmup", (*Run).warmup},
	{"shift", (*Run).shift},
	{"rate", (*Run).rate},
	{"figure", (*Run).figure},
	{"worst", (*Run).worst},
	{"groups", (*Run).groups},
	{Same, (*Run).same},
	{"unit", (*Run).unit},
}

// Limits returns the verdicts alone, as [Of] words them.
func Limits(r *Run) []output.Finding { return ofKind(r, "limit") }

// Omissions returns what is found of requests that waited, alone.
func Omissions(r *Run) []output.Finding { return ofKind(r, "omission") }

// every stands for all kinds.
const every = ""

// ofKind returns the findings of a kind.
func ofKind(r *Run, name string) (all []output.Finding) {
	for _, kind := range kinds {
		if name != every && name != kind.name {
			continue
		}
		for _, f := range kind.find(r) {
			f.Kind = kind.name
			all = append(all, f)
		}
	}
	return all
}

// Compared returns the findings of a comparison or a trend: verdicts about it, and what changed.
// What changed comes before limits that hold, but for the verdict that leads.
func Compared(r *Run, changes []output.Finding) []output.Finding {
	all := Limits(r)
	n := slices.IndexFunc(all, func(f output.Finding) bool { return f.Weight == output.Holds })
	switch n {
	case -1:
		n = len(all)
	case 0:
		n = 1
	}
	return slices.Insert(all, n, changes...)
}

// Of returns the findings of a run, the most important first. The verdict about the limit that is
// farthest from holding comes first, even if it holds. The others are ordered by weight.
func Of(r *Run) []output.Finding {
	all := ofKind(r, every)
	slices.SortStableFunc(all, func(a, b output.Finding) int { return cmp.Compare(a.Weight, b.Weight) })
	if n := slices.IndexFunc(all, func(f output.Finding) bool { return f.Verdict() }); n > 0 { // limits hold
		verdict := all[n]
		all = slices.Insert(slices.Delete(all, n, n+1), 0, verdict)
	}
	return all
}
