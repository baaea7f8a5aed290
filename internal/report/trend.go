package report

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/people"
	"hdrkit/output"
)

// A Trend is figures of runs in their order, with the runs at which their levels change.
type Trend struct {
	Scale   hdrlog.Scale // of the values, which are in printed units
	Runs    []TrendRun
	Figures []TrendFigure // by tag, in the order of tags
}

// A TrendRun is a run: a log, or the logs of a folder.
type TrendRun struct {
	Name   string
	Inputs []string // the names of its logs
	// Start is the start of its first interval, in milliseconds since the epoch.
	Start int64
}

// A TrendFigure is a figure of a tag in each run.
type TrendFigure struct {
	Tag     []byte
	AllTags bool // the figure is that of all tags together
	output.Figure
	// Points has a point for each run, in printed units. A value that is not a number is a gap: the
	// run does not have the tag, or no values of it.
	Points []confidence.RunFigure
	// Levels are the runs that have one level. Each begins where the one before ends, and the first
	// one at the first run. There is none if all points are gaps.
	Levels []TrendLevel
	// Deviation is that of the logarithm of a figure from one run to the next: 0.03 is about 3%.
	Deviation float64
}

// A TrendLevel is the level of the runs from From to before To: the geometric mean of their values.
// Runs is the number of those that have one.
type TrendLevel struct {
	From, To, Runs int
	Value          float64
	// Earliest and Latest are the range of the run at which the level really begins, with a
	// probability of 90%.
	Earliest, Latest int
}

// A TrendChange is where a level changes: at the first run of After.
type TrendChange struct {
	Of            *TrendFigure
	Before, After TrendLevel
}

// Ratio returns the level after divided by the level before.
func (c TrendChange) Ratio() float64 { return c.After.Value / c.Before.Value }

// Worse reports whether the change is one for the worse: lower values per second, or a higher
// value.
func (c TrendChange) Worse() bool { return (c.Ratio() < 1) == (c.Of.Name == output.Throughput) }

// Changes returns where the level of the figure changes, in the order of runs.
func (f *TrendFigure) Changes() (all []TrendChange) {
	for n := 1; n < len(f.Levels); n++ {
		all = append(all, TrendChange{f, f.Levels[n-1], f.Levels[n]})
	}
	return all
}

// TagName returns the text for the tag of the figure.
func (f *TrendFigure) TagName() string { return tagName(f.Tag, f.AllTags) }

// Changes returns all changes: those of p99, the median and the rate first, then those of other
// percentiles, and last those of what one value decides. Of these the one that is largest against
// its noise comes first.
func (t *Trend) Changes() (all []TrendChange) {
	for n := range t.Figures {
		all = append(all, t.Figures[n].Changes()...)
	}
	slices.SortStableFunc(all, func(a, b TrendChange) int {
		return cmp.Or(cmp.Compare(rankOf(a.Of.Figure), rankOf(b.Of.Figure)), cmp.Compare(b.noises(), a.noises()))
	})
	return all
}

// rankOf returns the place of changes of a figure among those of others: 2 if one value decides it.
func rankOf(f output.Figure) int {
	switch {
	case f.Name == output.Throughput || f.Name == "" && (f.Percentile == 50 || f.Percentile == 99):
		return 0
	case f.Name == "" && f.Percentile > 0 && f.Percentile < 100:
		return 1
	}
	return 2
}

// noises returns how many times as large as its noise the change is.
func (c TrendChange) noises() float64 {
	deviation := c.Of.Deviation * math.Sqrt(1/float64(c.Before.Runs)+1/float64(c.After.Runs))
	return math.Abs(math.Log(c.Ratio())) / max(deviation, 1e-12)
}

// Dated reports whether the run has a date: its logs say when it began. Otherwise times count from
// 0, and a run without intervals has none.
func (r TrendRun) Dated() bool { return people.Dated(r.Start) }
