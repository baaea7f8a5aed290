package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/people"
	"hdrkit/output"
)

// MostSentences is the number of changes of a trend that have a sentence. Tables mark all.
const MostSentences = 5

// Trend says what has changed, in the order of [output.Trend.Changes], and last how many figures
// did. A figure that one value decides does not lead: what the others did stands before it.
func Trend(t *output.Trend, zone *time.Location) (all []output.Finding) {
	note := func(format string, args ...any) {
		all = append(all, output.Finding{Kind: "trend", Weight: output.Notes, Sentence: fmt.Sprintf(format, args...)})
	}
	changes := t.Changes()
	if names := steady(t); len(changes) > 0 && changes[0].Of.Rank() == 2 && names != nil {
		note("No level of %s changed.", strings.Join(names, ", "))
	}
	for n, c := range changes {
		if n == MostSentences {
			note("%d more changes have no sentence.", len(changes)-n)
			break
		}
		all = append(all, step(t, c, zone))
	}
	changed := 0
	for n := range t.Figures {
		if len(t.Figures[n].Levels) > 1 {
			changed++
		}
	}
	switch {
	case len(t.Runs) == 1:
		note("One run is too few to find a change, which takes %d.", output.FewestRuns)
	case len(t.Runs) < output.FewestRuns:
		note("%d runs are too few to find a change, which takes %d.", len(t.Runs), output.FewestRuns)
	case changed == 0:
		note("None of %s changed in %d runs.", people.Counted(int64(len(t.Figures)), "figure"), len(t.Runs))
	default:
		note("Of %s %d changed in %d runs.", people.Counted(int64(len(t.Figures)), "figure"), changed, len(t.Runs))
	}
	return all
}

// Sentences returns the sentences of findings.
func Sentences(findings []output.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, f.Sentence)
	}
	return all
}

// steady returns the names of the figures that lead, if none of them changed.
func steady(t *output.Trend) (names []string) {
	for n := range t.Figures {
		f := &t.Figures[n]
		if f.Rank() < 2 && !slices.Contains(names, f.String()) {
			names = append(names, f.String())
		}
	}
	return names
}

// step says how a level changed, and at which runs.
func step(t *output.Trend, c output.TrendChange, zone *time.Location) output.Finding {
	f := output.Finding{
		Kind:   "trend",
		Weight: output.Notes,
		Tag:    c.Of.TagName(),
		Figures: map[string]output.Number{
			"before": output.Number(c.Before.Value),
			"after":  output.Number(c.After.Value),
			"ratio":  output.Number(c.Ratio()),
		},
		Unit:   t.Scale.Unit,
		Option: "hdrplot -type trend",
	}
	unit := spaced(t.Scale.Unit)
	if c.Of.Unitless() {
		f.Unit = "/s"
		unit = "/s"
	}
	if c.Worse() {
		f.Weight = output.Warns
	}
	if r := t.Runs[c.After.From]; r.Dated() {
		f.Start = &r.Start
	}
	when := "from " + t.When(c.After.From, zone) + " on"
	if c.After.Earliest < c.After.Latest {
		when = "between " + t.Dates(c.After, " and ", zone)
	}
	name := c.Of.String()
	if slices.ContainsFunc(t.Figures, func(f output.TrendFigure) bool { return f.Tag != nil || f.AllTags }) {
		name += " of " + c.Of.TagName()
	}
	f.Sentence = fmt.Sprintf("%s %s by %s%% %s: %s to %s%s, %d runs before, %d after.", name, moved(c.Ratio()), c.Percent(), when,
		people.Digits(c.Before.Value, 3), people.Digits(c.After.Value, 3), unit, c.Before.Runs, c.After.Runs)
	return f
}
