package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// IntervalText returns an interval from low to high as text. Text formats its ends. An end that is
// NaN is unknown. Without both ends, the result is empty.
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

// hasInterval reports whether any figure of a summary has an interval.
func hasInterval(s *output.Summary) bool {
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

// notes returns the notes below a table of summaries: t.Notes, and what limits the intervals of the
// summaries.
func (t *Table) notes(summaries []*output.Summary, percentiles []float64) (lines []string) {
	lines = slices.Clone(t.Notes)
	for _, s := range summaries {
		c := s.Confidence
		if c == nil {
			continue
		}
		if len(lines) == len(t.Notes) && slices.ContainsFunc(summaries, hasInterval) {
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
			lines = append(lines, fmt.Sprintf("%s: too short for intervals of %s", s.Name(), joinNames(short)))
		}
	}
	return limitNotes(lines)
}

// maxNotes is the largest number of notes about tags below a table.
const maxNotes = 20

// limitNotes returns at most maxNotes notes. If there are more, the last one says how many are
// left out.
func limitNotes(notes []string) []string {
	if len(notes) <= maxNotes {
		return notes
	}
	return append(notes[:maxNotes-1:maxNotes-1], fmt.Sprintf("... and %d more notes "+
		"like these", len(notes)-maxNotes+1))
}

// joinNames returns names with commas between them. If there are more than maxNotes, it ends with
// how many are left out.
func joinNames(names []string) string { return message.ListFirst(names, maxNotes, maxNotes-1) }

// changeNotes returns the notes below a table of changes: what the runs of each pair can prove, and
// which changes have too little data.
func changeNotes(pairs []sides.Pair, percentiles []float64) (lines []string) {
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
			case !change.Known():
				short = append(short, name)
			case change.Least > 10:
				none = append(none, n)
			case change.Least > 0:
				least = append(least, fmt.Sprintf("%s by %s", name, people.Increase(change.Least)))
			}
		}
		before, after := len(c.RunsBefore), len(c.RunsAfter)
		switch {
		case c.HasRuns() && !confidence.Comparable(before, after):
			several = append(several, fmt.Sprintf("%s: %d of the runs before and %d after have it, "+
				"which is too few to compare", p.Name(), before, after))
			continue
		case len(short) == len(percentiles):
			never = append(never, p.Name())
			continue
		case !c.HasRuns() && c.Paired():
			together = true
		case !c.HasRuns():
			one = true
			untimed = untimed || c.Untimed()
		default:
			proven := "no change of a percentile"
			if len(least) > 0 {
				proven = "changes of " + joinNames(least)
			}
			several = append(several, fmt.Sprintf("%s: %d + %d runs like these prove %s%s",
				p.Name(), before, after, proven, unproven(none, percentiles)))
		}
		if len(short) > 0 {
			partly = append(partly, p.Name()+": too little data to compare "+joinNames(short))
		}
	}
	lines = limitNotes(several)
	if one {
		lines = append(lines, "one run against one says whether these runs differ, not whether "+
			"the versions do: give several runs a side, as two folders")
	}
	if untimed {
		lines = append(lines, "values without times: the intervals are right "+sides.Independence)
	}
	if together {
		lines = append(lines, "both runs ran at once, so they are compared second by second; "+
			"-unpaired compares each as a whole")
	}
	if len(lines) > 0 {
		lines = append(lines, Legend(pairs))
	}
	lines = append(lines, limitNotes(partly)...)
	if len(never) > 0 {
		lines = append(lines, "too little data to compare: "+joinNames(never))
	}
	return lines
}

// Legend returns a sentence that explains the marks of changes.
func Legend(pairs []sides.Pair) (text string) {
	for _, p := range pairs {
		if p.Change != nil {
			text = fmt.Sprintf("(a..b): the true change in %s%% of cases. ", people.Shortest(p.Change.Level))
		}
	}
	return text + "!: beyond 0, not proven. ~: within the noise. ?: too little data to judge"
}

// unproven returns a sentence that names percentiles of which runs prove no change. None is a list
// of indexes of percentiles.
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
