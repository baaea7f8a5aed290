// Package finding says what a run, a comparison of two sides, or a trend over many runs shows. Each
// finding is a sentence, which is the same wherever it stands.
package finding

import (
	"cmp"
	"slices"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/detect"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Run holds the sums and figures of a run, which all kinds of findings look at. A field that is
// not known is zero, and kinds that need it find nothing.
type Run struct {
	Summaries []*output.Summary
	By        *tags.By // says which intervals are a row of Summaries
	Scale     hdrlog.Scale
	Zone      *time.Location
	Verdicts  []gate.Verdict
	// Histories have the times of all intervals.
	Histories *summary.Histories
	// Moments are the worst moments of Histories, nil if they must still be found.
	Moments []output.Moment
	// Course has the levels of rows over time. Findings take from Histories when a level changes.
	Course *summary.Course
	// ShortPhases says that phases shorter than intervals have no values in their rows. Other rows
	// have these values, so figures of rows mislead.
	ShortPhases bool
	// Coincident are the phases that slow values come with.
	Coincident []summary.Coincident
	// Corrected says that the counts are corrected for coordinated omission.
	Corrected bool
	// Same are tags that count the same requests. Only the first tag is shown, since nobody chose.
	Same    []string
	Reading Reading
}

// A Reading is what the readers of logs had to skip, and the requests that failed.
type Reading struct {
	// Cut are the logs whose end is missing. Malformed counts a line for each of them.
	Cut []logs.Cut
	// Malformed is the number of lines that were skipped, and Late the number of intervals and
	// measurements that came too late. Messages say where.
	Malformed, Late int
	// Failed are the requests that failed, by log.
	Failed []logs.Failed
}

// ReadingOf returns what diagnostics have met.
func ReadingOf(d *logs.Diagnostics) Reading {
	return Reading{
		Cut:       d.Cut(),
		Malformed: d.Skipped(),
		Late:      d.TooLate(),
		Failed:    d.Failed,
	}
}

// row returns the row of a tag of an input of the histories, nil if there is none.
func (r *Run) row(input string, tag []byte) *output.Summary {
	if !r.Histories.Rows() {
		tag = r.By.Row(input, tag)
	}
	return summary.Find(r.Summaries, tag)
}

// scale returns the scale of the row of a tag of an input.
func (r *Run) scale(input string, tag []byte) hdrlog.Scale {
	if row := r.row(input, tag); row != nil {
		return row.Scale
	}
	return hdrlog.Scale{}
}

// Level is the kind of findings about times with high maxima that are longer than a moment.
const Level = "level"

// Same is the kind of findings about tags that count the same requests.
const Same = "same"

// An analysis is a run with what several kinds of findings need.
type analysis struct {
	run      *Run
	say      *words
	omission *omission       // nil if no requests were omitted
	tracks   []summary.Track // tracks of all tags of all logs
	apart    separateRuns
	figures  rowFigures
	courses  courses
}

// separateRuns are logs that do not overlap: their names, and when each log ran. They are nil if
// two logs overlap.
type separateRuns struct {
	names []string
	spans []merge.Span
}

// analyse looks at a run once for all kinds of findings.
func analyse(r *Run) *analysis {
	a := &analysis{
		run:      r,
		say:      newWords(r),
		omission: r.omission(),
		figures:  figuresOf(r.Summaries),
	}
	if r.Histories != nil {
		a.tracks = r.Histories.Tracks(r.scale)
		a.apart.names, a.apart.spans = r.Histories.Apart()
	}
	if a.apart.names == nil { // logs that do not overlap differ, but this is no change over time
		a.courses = a.findCourses()
	}
	return a
}

// intervalsOf returns the intervals of a row in the order of time. Their maxima have the unit in
// which logs are compared.
func (a *analysis) intervalsOf(row *output.Summary) []detect.Interval {
	var all []summary.Track
	for _, t := range a.tracks {
		if a.run.row(t.Input, t.Tag) == row {
			all = append(all, t)
		}
	}
	return summary.Together(all)
}

// kinds are the kinds of findings about a run. If findings have equal weights, the earlier kind
// comes first.
var kinds = []struct {
	name string
	find func(a *analysis) []output.Finding
}{
	{kindLimit, func(a *analysis) []output.Finding { return a.say.limits(a.run.Verdicts) }},
	{"few", (*analysis).few},
	{"failures", (*analysis).failures},
	{"cut", (*analysis).cut},
	{"malformed", (*analysis).malformed},
	{"late", (*analysis).late},
	{"clock", (*analysis).disjoint},
	{"gap", (*analysis).gaps},
	{kindOmission, (*analysis).waited},
	{"with", (*analysis).with},
	{"outlier", (*analysis).outlier},
	{"rhythm", (*analysis).rhythm},
	{Level, (*analysis).level},
	{"warmup", (*analysis).warmup},
	{"shift", (*analysis).shift},
	{"rate", (*analysis).rate},
	{"figure", (*analysis).figure},
	{"worst", (*analysis).worst},
	{"groups", (*analysis).groups},
	{Same, (*analysis).same},
	{"unit", (*analysis).unit},
}

// Names of kinds that are found alone: by [Limits], [Omissions], [Comparison.Conclusion] and
// [Trend].
const (
	kindLimit    = "limit"
	kindOmission = "omission"
	kindChange   = "change"
	kindTrend    = "trend"
)

// ofKind gives findings the name of their kind.
func ofKind(name string, all []output.Finding) []output.Finding {
	for n := range all {
		all[n].Kind = name
	}
	return all
}

// Limits returns only the findings about limits.
func Limits(r *Run) []output.Finding { return ofKind(kindLimit, newWords(r).limits(r.Verdicts)) }

// Omissions returns only the finding about requests that waited, and the values with these
// requests. Both are nil if no requests waited.
func Omissions(r *Run) ([]output.Finding, *Omitted) {
	a := analysis{run: r, say: newWords(r), omission: r.omission()}
	return ofKind(kindOmission, a.waited()), a.omitted()
}

// omitted returns the values with requests that waited, nil if no requests waited.
func (a *analysis) omitted() *Omitted {
	if a.omission == nil {
		return nil
	}
	return a.omission.Omitted
}

// Compared returns the findings of a comparison or a trend: its verdicts and its changes. The first
// finding is a verdict. The changes come before the other limits that hold.
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

// Of returns the findings of a run, the most important first. If there are limits, the first
// finding is the verdict about the limit that is farthest from holding. The others are ordered by
// weight. Of also returns the values with requests that waited, nil if no requests waited.
//
// If rows are phases, it looks at figures only. A phase covers only parts of the run, so its gaps
// and levels show nothing about the run.
func Of(r *Run) ([]output.Finding, *Omitted) {
	if r.By.Phases() {
		figures := *r
		figures.Histories = nil
		figures.Course = nil
		r = &figures
	}
	a := analyse(r)
	var all []output.Finding
	for _, kind := range kinds {
		all = append(all, ofKind(kind.name, kind.find(a))...)
	}
	slices.SortStableFunc(all, func(a, b output.Finding) int { return cmp.Compare(a.Weight, b.Weight) })
	if n := slices.IndexFunc(all, func(f output.Finding) bool { return f.Verdict() }); n > 0 { // all limits hold
		verdict := all[n]
		all = slices.Insert(slices.Delete(all, n, n+1), 0, verdict)
	}
	return all, a.omitted()
}
