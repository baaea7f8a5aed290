package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/people"
	"hdrkit/output"
)

// A Change is how the figures of a pair changed.
type Change struct {
	Percentiles map[float64]*FigureChange
	Rate        *FigureChange
	// Mean is nil if one run was compared with one: the mean of one run has no interval.
	Mean *FigureChange
	// Before and After are what each of several runs adds up to. They are nil if one was compared
	// with one.
	Before, After []*output.Summary

	level float64
	turns map[*output.Summary]int // nil if the runs of both sides took none
}

// A FigureChange is how a figure changed.
type FigureChange struct {
	confidence.Comparison
	// Significant is set if the change is proven, after Hochberg's correction over all changes.
	Significant bool
	// Least is the change, as a ratio above 1, that such runs mostly find.
	Least float64

	level    float64 // of the correction
	together int     // changes that were looked at
}

// leastOf returns Least of so many times as many runs, or of runs so many times as long.
func (c *FigureChange) leastOf(times float64) float64 {
	return c.Comparison.Least(c.level, c.together, times)
}

// beyond reports whether no change is not in the interval: the change would be proven if it were
// the only one.
func (c *FigureChange) beyond() bool { return c.Low > 1 || c.High < 1 }

// noEnd stands for the upper end of a change that may be of any size.
const noEnd = "no end"

// endless reports whether there are too few values to say how large a rise may be at most.
func (c *FigureChange) endless() bool { return math.IsInf(c.High, 1) }

// leastCompared is how long in seconds both of two runs are if a table says their change. Limits
// are less strict: of calm systems whose seconds have much in common, 7.5% of equal runs of a
// minute differ, and 5.4% of those of two (TestPairs in confidence).
const leastCompared = 2 * confidence.MinSeconds

// known reports whether there is an interval to print.
func (c *FigureChange) known() bool {
	return c != nil && !math.IsNaN(c.Low) && !math.IsNaN(c.High) && (c.Seconds == 0 || c.Seconds >= leastCompared)
}

// NewChange compares one run with another. Both have a confidence.
func NewChange(before, after *output.Summary) *Change {
	a, b := before.Confidence, after.Confidence
	c := &Change{Percentiles: make(map[float64]*FigureChange), level: a.Level}
	for p, e := range a.Percentiles {
		e, after := e.Times(before.Scale.Factor()), b.Percentiles[p].Times(after.Scale.Factor())
		c.Percentiles[p] = &FigureChange{Comparison: confidence.Compare(e, after, a.Level)}
	}
	c.Rate = &FigureChange{Comparison: confidence.Compare(a.Rate, b.Rate, a.Level)}
	return c
}

// NewRunsChange compares several runs with several others, by the figures of each. The pair is what
// they add up to.
func NewRunsChange(pair Pair, before, after []*output.Summary, percentiles []float64, level float64) *Change {
	c := &Change{
		Percentiles: make(map[float64]*FigureChange),
		Before:      before,
		After:       after,
		level:       level,
		turns:       turnsOf(before, after),
	}
	for _, s := range before {
		s.Scale = pair.Before.Scale
	}
	for _, s := range after {
		s.Scale = pair.After.Scale
	}
	of := func(f output.Figure) *FigureChange {
		if c.Few(f) {
			return &FigureChange{Comparison: confidence.CompareRuns(nil, nil, level)}
		}
		return &FigureChange{Comparison: c.Of(func(s *output.Summary) confidence.RunFigure { return commonFigure(s, f) })}
	}
	for _, p := range percentiles {
		c.Percentiles[p] = of(output.Figure{Percentile: p})
	}
	c.Mean, c.Rate = of(output.Figure{Name: output.Mean}), of(output.Figure{Name: output.Throughput})
	return c
}

// Few reports whether a figure is a percentile that is decided by few values in one of several
// runs. It takes part in nothing, unless it is the maximum or the minimum, which somebody asked
// for.
func (c *Change) Few(f output.Figure) bool {
	if f.Name != "" || f.Percentile <= 0 || f.Percentile >= 100 {
		return false
	}
	return above(slices.Concat(c.Before, c.After), f.Percentile) < counts.Few
}

// above returns the number of values that rank above a percentile in the run that has the fewest.
func above(runs []*output.Summary, percentile float64) int64 {
	least := int64(math.MaxInt64)
	for _, s := range runs {
		least = min(least, counts.Above(s.Counts(), percentile))
	}
	return least
}

// commonFigure returns a figure of a run in the unit that is common to all rows.
func commonFigure(s *output.Summary, f output.Figure) confidence.RunFigure {
	figure := RunFigureOf(s, f)
	if !f.Unitless() {
		figure.Value *= s.Scale.Factor()
	}
	return figure
}

// Of compares a figure of several runs.
func (c *Change) Of(figure func(*output.Summary) confidence.RunFigure) confidence.Comparison {
	var figures [2][]confidence.RunFigure
	for side, runs := range [][]*output.Summary{c.Before, c.After} {
		for _, s := range runs {
			f := figure(s)
			f.Turn = c.turns[s]
			figures[side] = append(figures[side], f)
		}
	}
	return confidence.CompareRuns(figures[0], figures[1], c.level)
}

// Next says which change beyond a bound, which is a ratio, such runs prove, and which one twice as
// many would prove, or runs four times as long. It does not look at the change that was seen: that
// is too uncertain.
func (c *Change) Next(of confidence.Comparison, bound float64, atLeast bool) string {
	return c.prove(func(times float64) string {
		ratio := bound * of.Least(c.level, 1, times)
		if atLeast {
			ratio = bound / of.Least(c.level, 1, times)
		}
		return fmt.Sprintf("%+.3g%%", 100*(ratio-1))
	})
}

// prove spells what runs prove, and more or longer ones would. Proves spells what so many times as
// many do, or runs so many times as long.
func (c *Change) prove(proves func(times float64) string) string {
	switch {
	case c.untimed() && proves(1) == noChange:
		return "So few values cannot show a change of any size"
	case c.untimed():
		return fmt.Sprintf("As many values as these prove %s; four times as many, %s", proves(1), proves(4))
	case c.Before == nil && proves(1) == noChange:
		return "Runs this long cannot show a change of any size"
	case c.Before == nil:
		return fmt.Sprintf("Runs as long as these prove %s; four times as long, %s", proves(1), proves(4))
	}
	before, after := len(c.Before), len(c.After)
	if proves(1) == noChange {
		return fmt.Sprintf("%d + %d runs like these cannot show a change of any size", before, after)
	}
	return fmt.Sprintf("%d + %d runs like these prove %s; %d + %d would prove %s",
		before, after, proves(1), 2*before, 2*after, proves(2))
}

// Correct finds out which changes are significant if those of all pairs are looked at together.
func Correct(pairs []Pair, percentiles []float64) {
	var all []*FigureChange
	var p []float64
	level := 0.0
	for _, pair := range pairs {
		if pair.Change == nil {
			continue
		}
		level = pair.Change.level
		figures := []*FigureChange{pair.Change.Rate}
		if pair.Change.Mean != nil {
			figures = append(figures, pair.Change.Mean)
		}
		for _, percentile := range percentiles {
			figures = append(figures, pair.Change.Percentiles[percentile])
		}
		for _, f := range figures {
			if f.known() {
				all, p = append(all, f), append(p, f.P)
			}
		}
	}
	for n, significant := range confidence.Significant(p, level) {
		all[n].Significant = significant
		all[n].level, all[n].together = level, len(all)
		all[n].Least = all[n].leastOf(1)
	}
}

// IntervalText returns an interval, with its limits as text, or an empty text if it has none.
func IntervalText(low, high float64, text func(float64) string) string {
	switch {
	case math.IsNaN(low) && math.IsNaN(high):
		return ""
	case math.IsNaN(high) || math.IsInf(high, 1):
		return " [>= " + text(low) + "]"
	case math.IsNaN(low):
		return " [<= " + text(high) + "]"
	}
	return " [" + text(low) + ", " + text(high) + "]"
}

// decimals returns how many decimals the change and its interval have in percent.
func (c *FigureChange) decimals() int {
	usual := 1
	if c.High-c.Low >= 0.05 {
		usual = 0
	}
	return max(decimalsOf(c.Ratio, usual), decimalsOf(c.Low, usual))
}

// Text returns the change with its interval in percent, behind ~ if it is within the noise, and
// behind ! if it is beyond, but not proven. It returns false if there is no interval.
func (c *FigureChange) Text() (string, bool) {
	if !c.known() {
		return "", false
	}
	sign := "~"
	switch {
	case c.Significant:
		sign = ""
	case c.beyond():
		sign = "!"
	}
	decimals := c.decimals()
	percent := func(ratio float64) string {
		text := strconv.FormatFloat(100*(ratio-1), 'f', decimals, 64)
		if text = strings.TrimPrefix(text, "-"); ratio >= 1 || strings.Trim(text, "0.") == "" {
			return "+" + text
		}
		return "-" + text
	}
	high := noEnd
	if !c.endless() {
		high = percent(c.High)
	}
	return fmt.Sprintf("%s%s%% (%s..%s)", sign, percent(c.Ratio), percent(c.Low), high), true
}

// believed reports whether a figure of a summary has an interval.
func believed(s *output.Summary) bool {
	if s.Confidence == nil {
		return false
	}
	for _, e := range s.Confidence.Percentiles {
		if !math.IsNaN(e.Low) {
			return true
		}
	}
	return !math.IsNaN(s.Confidence.Rate.Low)
}

// notes returns lines that say how far the figures of summaries can be believed.
func (t *Table) notes(summaries []*output.Summary, percentiles []float64) (lines []string) {
	for _, s := range summaries {
		c := s.Confidence
		if c == nil {
			continue
		}
		if len(lines) == 0 && slices.ContainsFunc(summaries, believed) {
			lines = append(lines, fmt.Sprintf("intervals of %s%% confidence, from "+
				"windows of %s", people.Shortest(c.Level), people.Duration(c.Window)))
		}
		if shift := c.Shift; shift != nil && len(percentiles) > 0 {
			value := func(v float64) string { return people.Digits(s.Scale.Of(v), 2) }
			at := time.UnixMilli(shift.Start).In(cmp.Or(t.Zone, time.UTC)).Format(time.RFC3339)
			lines = append(lines, fmt.Sprintf("%s: p%s shifts from about %s to %s at %s, %s after "+
				"the start", s.Name(), people.Shortest(shift.Percentile), value(shift.Before),
				value(shift.After), at, people.Duration(shift.Start-s.Start)))
		}
		var short []string
		for _, p := range percentiles {
			if c.Percentiles[p].TooShort {
				short = append(short, "p"+people.Shortest(p))
			}
		}
		if len(short) > 0 {
			lines = append(lines, fmt.Sprintf("%s: too short for intervals of %s", s.Name(), fewNames(short)))
		}
	}
	return fewer(lines)
}

// mostNotes is the number of notes about tags that stand below a table.
const mostNotes = 20

// fewer returns notes, and instead of the last of very many how many there are.
func fewer(notes []string) []string {
	if len(notes) <= mostNotes {
		return notes
	}
	return append(notes[:mostNotes-1:mostNotes-1], fmt.Sprintf("... and %d more notes "+
		"like these", len(notes)-mostNotes+1))
}

// fewNames returns names between commas, and only the first of very many.
func fewNames(names []string) string {
	if len(names) <= mostNotes {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, ... and %d more", strings.Join(names[:mostNotes-1], ", "), len(names)-mostNotes+1)
}

// paired reports whether both runs ran at the same time.
func (c *Change) paired() bool {
	for _, figure := range c.Percentiles {
		if figure.Paired {
			return true
		}
	}
	return false
}

// untimed reports whether the values of one run a side have no times.
func (c *Change) untimed() bool {
	for _, figure := range c.Percentiles {
		if figure.Untimed {
			return true
		}
	}
	return false
}

// changeNotes returns lines that say how far the changes of pairs can be believed.
func changeNotes(pairs []Pair, percentiles []float64) (lines []string) {
	var several, partly, never []string
	one := false
	together := false
	untimed := false
	for _, p := range pairs {
		c := p.Change
		if c == nil {
			continue
		}
		var short, least []string
		var none []int // of the percentiles
		for n, percentile := range percentiles {
			name, change := output.AtPercentile(percentile).String(), c.Percentiles[percentile]
			switch {
			case !change.known():
				short = append(short, name)
			case change.Least > 10:
				none = append(none, n)
			case change.Least > 0:
				least = append(least, fmt.Sprintf("%s by %s", name, people.UpTo(change.Least)))
			}
		}
		before, after := len(c.Before), len(c.After)
		switch {
		case c.Before != nil && !confidence.Comparable(before, after):
			several = append(several, fmt.Sprintf("%s: %d of the runs before and %d after have it, "+
				"which is too few to compare", p.Name(), before, after))
			continue
		case len(short) == len(percentiles):
			never = append(never, p.Name())
			continue
		case c.Before == nil && c.paired():
			together = true
		case c.Before == nil:
			one = true
			untimed = untimed || c.untimed()
		default:
			proven := "no change of a percentile"
			if len(least) > 0 {
				proven = "changes of " + fewNames(least)
			}
			several = append(several, fmt.Sprintf("%s: %d + %d runs like these prove %s%s",
				p.Name(), before, after, proven, unproven(none, percentiles)))
		}
		if len(short) > 0 {
			partly = append(partly, p.Name()+": too little data to compare "+fewNames(short))
		}
	}
	lines = fewer(several)
	if one {
		lines = append(lines, "one run against one says whether these runs differ, not whether "+
			"the versions do: give several runs a side, as two folders")
	}
	if untimed {
		lines = append(lines, "values without times: the intervals are right "+assumption)
	}
	if together {
		lines = append(lines, "both runs ran at once, so they are compared second by second; "+
			"-unpaired compares each as a whole")
	}
	if len(lines) > 0 {
		lines = append(lines, Legend(pairs))
	}
	lines = append(lines, fewer(partly)...)
	if len(never) > 0 {
		lines = append(lines, "too little data to compare: "+fewNames(never))
	}
	return lines
}

// Legend says how to read the changes of pairs.
func Legend(pairs []Pair) (text string) {
	for _, p := range pairs {
		if p.Change != nil {
			text = fmt.Sprintf("(a..b): the true change in %s%% of cases. ", people.Shortest(p.Change.level))
		}
	}
	return text + "!: beyond 0, not proven. ~: within the noise. ?: too little data to judge"
}

// unproven says why runs prove no change of some percentiles, whose indices are none.
func unproven(none []int, percentiles []float64) string {
	if none == nil {
		return ""
	}
	var names []string
	for _, n := range none {
		names = append(names, output.AtPercentile(percentiles[n]).String())
	}
	return ". None of " + strings.Join(names, ", ") + ", since the runs differ too much"
}
