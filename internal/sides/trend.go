package sides

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

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
func (f *TrendFigure) TagName() string {
	return (&output.Summary{Tag: f.Tag, AllTags: f.AllTags}).Name()
}

// Changes returns all changes. Those of p99, the median and the rate come first, then those of
// other percentiles, and last those of all other figures. Within each of these groups,
// the change that is largest against its noise comes first.
func (t *Trend) Changes() (all []TrendChange) {
	for n := range t.Figures {
		all = append(all, t.Figures[n].Changes()...)
	}
	slices.SortStableFunc(all, func(a, b TrendChange) int {
		return cmp.Or(cmp.Compare(trendRank(a.Of.Figure), trendRank(b.Of.Figure)), cmp.Compare(b.noises(), a.noises()))
	})
	return all
}

// Steady returns the names of p99, the median, the rate and other percentiles if none of them
// changed, but another figure did, such as the maximum. Otherwise it returns nil.
func (t *Trend) Steady() (names []string) {
	changes := t.Changes()
	if len(changes) == 0 || trendRank(changes[0].Of.Figure) < 2 {
		return nil
	}
	for n := range t.Figures {
		f := &t.Figures[n]
		if trendRank(f.Figure) < 2 && !slices.Contains(names, f.String()) {
			names = append(names, f.String())
		}
	}
	return names
}

// trendRank orders the changes of figures: 0 for p99, the median and the rate, 1 for other
// percentiles, and 2 for all other figures: the maximum and the minimum, which one value decides,
// and figures that only limits ask for, such as the mean.
func trendRank(f output.Figure) int {
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

// FewestRuns is the number of runs below which no change of a level can be found, however large it
// is: the variance between neighbours has a large step in it.
const FewestRuns = 6

// Dates names the run at which a level begins, or the range of runs in which it does.
func (t *Trend) Dates(l TrendLevel, between string, zone *time.Location) string {
	if l.Earliest == l.Latest {
		return t.When(l.From, zone)
	}
	first, last := t.When(l.Earliest, zone), t.When(l.Latest, zone)
	if t.Runs[l.Earliest].Dated() && t.Runs[l.Latest].Dated() && first[:5] == last[:5] { // the year
		last = last[5:]
	}
	return first + between + last
}

// Percent returns by how many percent the level changed, without sign.
func (c TrendChange) Percent() string {
	if decimals := people.ChangeDecimals(c.Ratio(), 0); decimals > 0 {
		return strconv.FormatFloat(100*(1-c.Ratio()), 'f', decimals, 64)
	}
	return people.Digits(math.Abs(100*(c.Ratio()-1)), 2)
}

// When names a run, with its date if it has one.
func (t *Trend) When(run int, zone *time.Location) string {
	name := t.Short(run)
	if date := t.Date(run, zone); date != "-" {
		return date + " (" + name + ")"
	}
	return name
}

// Short returns the name of a run without the folder of all.
func (t *Trend) Short(run int) string {
	folder := filepath.Dir(t.Runs[0].Name)
	for _, r := range t.Runs {
		if filepath.Dir(r.Name) != folder {
			return t.Runs[run].Name
		}
	}
	return filepath.Base(t.Runs[run].Name)
}

// Date returns the day on which a run began, with the time if two runs began on one day.
func (t *Trend) Date(run int, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	at := func(r TrendRun, layout string) string { return time.UnixMilli(r.Start).In(zone).Format(layout) }
	layout, days := time.DateOnly, make(map[string]bool)
	for _, r := range t.Runs {
		day := at(r, time.DateOnly)
		if r.Dated() && days[day] {
			layout = time.DateTime
		}
		days[day] = true
	}
	if !t.Runs[run].Dated() {
		return "-"
	}
	return at(t.Runs[run], layout)
}
