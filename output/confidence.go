package output

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
)

// Confidence says how far the figures of a summary can be believed.
type Confidence struct {
	// Level is the probability in percent that an interval has the true figure in it.
	Level float64
	// Window is the length of the windows that the intervals come from, in milliseconds.
	Window int64
	// Percentiles, Mean and Rate are figures of the summary. Values are in the unit of the log.
	Percentiles map[float64]confidence.Estimate
	Mean, Rate  confidence.Estimate
	// Shift is where the level of a high percentile shifts for good, nil if it does not.
	Shift *Shift
}

// A Shift is where the level of a percentile shifts for good.
type Shift struct {
	Percentile float64
	// Start is when the new level starts, in milliseconds since the epoch.
	Start int64
	// Before and After are about the values on both sides, in the unit of the log.
	Before, After float64
}

// NewConfidence returns the confidence in the figures of a run.
func NewConfidence(run *confidence.Run, percentiles []float64, level float64, window int64) *Confidence {
	c := &Confidence{Level: level, Window: window, Percentiles: make(map[float64]confidence.Estimate)}
	for n, e := range run.Percentiles(percentiles, level) { // first, so that it looks at the windows once
		c.Percentiles[percentiles[n]] = e
	}
	c.Mean, c.Rate = run.Mean(level), run.Rate(level)
	return c
}

// throughput returns the limits of the throughput of a summary. The period may be another one than
// that of the windows.
func (c *Confidence) throughput(s *Summary) (low, high float64) {
	factor := s.Throughput() / c.Rate.Value
	return c.Rate.Low * factor, c.Rate.High * factor
}

// A Change is how the figures of a pair changed.
type Change struct {
	Percentiles map[float64]*PercentileChange
	Mean, Rate  confidence.Comparison
	// Runs are the numbers of runs before and after. They are 1 if one was compared with one.
	Runs [2]int
}

// A PercentileChange is how the value at a percentile changed.
type PercentileChange struct {
	confidence.Comparison
	// Significant is set if the change is not chance, after Holm's correction over all changes.
	Significant bool
	// Least is the least change, as a ratio above 1, that several runs would have shown. It is not
	// a number if one run was compared with one.
	Least float64
}

// NewChange compares one run with another. Both have a confidence.
func NewChange(before, after *Summary) *Change {
	c := &Change{Percentiles: make(map[float64]*PercentileChange), Runs: [2]int{1, 1}}
	a, b := before.Confidence, after.Confidence
	units := cmp.Or(after.Factor, 1) / cmp.Or(before.Factor, 1)
	for p, e := range a.Percentiles {
		c.Percentiles[p] = &PercentileChange{Comparison: confidence.Compare(e, b.Percentiles[p].Times(units), a.Level), Least: math.NaN()}
	}
	c.Mean = confidence.Compare(a.Mean, b.Mean.Times(units), a.Level)
	c.Rate = confidence.Compare(a.Rate, b.Rate, a.Level)
	return c
}

// NewRunsChange compares several runs with several others, by the figures of each. The pair is what
// they add up to.
func NewRunsChange(pair Pair, before, after []*Summary, percentiles []float64, level float64) *Change {
	c := &Change{Percentiles: make(map[float64]*PercentileChange), Runs: [2]int{len(before), len(after)}}
	compare := func(figure func(*Summary) float64, units float64) (confidence.Comparison, float64) {
		var a, b []float64
		for _, s := range before {
			a = append(a, figure(s))
		}
		for _, s := range after {
			b = append(b, figure(s)*units)
		}
		return confidence.CompareRuns(a, b, level)
	}
	units := cmp.Or(pair.After.Factor, 1) / cmp.Or(pair.Before.Factor, 1)
	for _, p := range percentiles {
		change := new(PercentileChange)
		change.Comparison, change.Least = compare(func(s *Summary) float64 {
			return s.Counts().Float(s.Counts().ValueAtPercentile(p))
		}, units)
		c.Percentiles[p] = change
	}
	c.Mean, _ = compare(func(s *Summary) float64 { return s.Counts().Mean() }, units)
	c.Rate, _ = compare((*Summary).Throughput, 1)
	return c
}

// Correct finds out which changes at percentiles are significant if they are looked at together.
func Correct(pairs []Pair, percentiles []float64, level float64) {
	var all []*PercentileChange
	var p []float64
	for n := range pairs {
		if pairs[n].Change == nil {
			continue
		}
		for _, percentile := range percentiles {
			change := pairs[n].Change.Percentiles[percentile]
			all, p = append(all, change), append(p, change.P)
		}
	}
	for n, significant := range confidence.Significant(p, level) {
		all[n].Significant = significant
	}
}

// Above returns how many values rank above a percentile.
func Above(h *histogram.Histogram, percentile float64) int64 {
	rank := math.Ceil(math.Nextafter(percentile, 0) * float64(h.TotalCount()) / 100)
	return h.TotalCount() - int64(min(rank, float64(h.TotalCount())))
}

// intervalText returns an interval in printed units, or an empty text if there are no limits.
func intervalText(low, high float64, digits int) string {
	if math.IsNaN(low) && math.IsNaN(high) {
		return ""
	}
	text := func(v float64) string {
		if math.IsNaN(v) {
			return "-"
		}
		return significant(v, digits)
	}
	return " [" + text(low) + ", " + text(high) + "]"
}

// ChangeText returns a change with its interval in percent, or ~ if that includes no change. It
// returns false if there is no interval.
func ChangeText(c confidence.Comparison) (string, bool) {
	switch {
	case math.IsNaN(c.Low) || math.IsNaN(c.High):
		return "", false
	case c.Low <= 1 && c.High >= 1:
		return "~", true
	}
	decimals := 1
	if c.High-c.Low >= 0.05 {
		decimals = 0
	}
	percent := func(ratio float64) string {
		text := strconv.FormatFloat(100*(ratio-1), 'f', decimals, 64)
		if ratio > 1 {
			text = "+" + text
		}
		return text
	}
	return fmt.Sprintf("%s%% (%s..%s)", percent(c.Ratio), percent(c.Low), percent(c.High)), true
}

// precise is the part of a figure that the limits of a good interval are away.
const precise = 0.05

// longest is the longest run that is worth naming, in milliseconds.
const longest = 30 * 24 * 3600_000

// notes returns lines that say how far the figures of summaries can be believed, and how long the
// runs must be.
func (t *Table) notes(summaries []*Summary, percentiles []float64) (lines []string) {
	for _, s := range summaries {
		c := s.Confidence
		if c == nil {
			continue
		}
		if len(lines) == 0 {
			lines = append(lines, fmt.Sprintf("intervals of %s%% confidence, from windows of %s", shortest(c.Level), shortDuration(c.Window)))
		}
		if shift := c.Shift; shift != nil && len(percentiles) > 0 {
			value := func(v float64) string { return significant(t.Scale.By(s.Factor).of(v), 2) }
			lines = append(lines, fmt.Sprintf("%s: p%s shifts from about %s to %s at %s, %s after the start", s.Name(), shortest(shift.Percentile),
				value(shift.Before), value(shift.After), time.UnixMilli(shift.Start).UTC().Format(time.RFC3339), shortDuration(shift.Start-s.Start)))
		}
		var short, needed []string
		for _, p := range percentiles {
			e := c.Percentiles[p]
			if e.TooShort {
				short = append(short, "p"+shortest(p))
			}
			if n := e.NeededWindows(precise); n > e.Windows {
				text := shortDuration(min(int64(n)*c.Window, longest))
				if int64(n)*c.Window > longest {
					text = "more than " + text
				}
				needed = append(needed, "p"+shortest(p)+" "+text)
			}
		}
		line := s.Name() + ":"
		if len(short) > 0 {
			line += " too short for " + strings.Join(short, ", ") + ";"
		}
		if len(needed) > 0 {
			line += " ±5% takes about " + strings.Join(needed, ", ") + ";"
		}
		if len(short)+len(needed) > 0 {
			lines = append(lines, strings.TrimSuffix(line, ";"))
		}
	}
	return lines
}

// changeNotes returns lines that say how far the changes of pairs can be believed.
func changeNotes(pairs []Pair, percentiles []float64) (lines []string) {
	var one, several, partly, never []string
	for _, p := range pairs {
		c := p.Change
		if c == nil {
			continue
		}
		var short, least []string
		for _, percentile := range percentiles {
			change := c.Percentiles[percentile]
			if math.IsNaN(change.Low) {
				short = append(short, "p"+shortest(percentile))
			}
			if !math.IsNaN(change.Least) {
				least = append(least, fmt.Sprintf("p%s %.1f%%", shortest(percentile), 100*(change.Least-1)))
			}
		}
		switch {
		case c.Runs != [2]int{1, 1}:
			several = append(several, fmt.Sprintf("%s: %d runs before and %d after could have shown a change of %s", p.name(), c.Runs[0], c.Runs[1], strings.Join(least, ", ")))
			continue
		case len(short) == len(percentiles):
			never = append(never, p.name())
			continue
		case len(short) > 0:
			partly = append(partly, p.name()+": too short to compare "+strings.Join(short, ", "))
		}
		one = []string{"one run against one: the intervals know only what varies within a run. -runs compares several runs"}
	}
	if len(never) > 0 {
		partly = append(partly, "too short to compare, so changes may be chance: "+strings.Join(never, ", "))
	}
	return slices.Concat(several, one, partly)
}
