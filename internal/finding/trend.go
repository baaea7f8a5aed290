package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/people"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// maxTrendSentences is the number of changes of a trend that have a sentence. Tables mark all.
const maxTrendSentences = 5

// Trend returns a finding for each of the first changes of [sides.Trend.Changes], and last how many
// figures changed. If neither the rate nor a percentile has changed, the first finding says so.
func Trend(t *sides.Trend, zone *time.Location) (all []output.Finding) {
	note := func(format string, args ...any) {
		all = append(all, output.Finding{Kind: kindTrend, Weight: output.Notes, Sentence: fmt.Sprintf(format, args...)})
	}
	changes := t.Changes()
	if names := t.Steady(); names != nil {
		note("No level of %s changed.", strings.Join(names, ", "))
	}
	for n, c := range changes {
		if n == maxTrendSentences {
			note("%d more changes have no sentence.", len(changes)-n)
			break
		}
		all = append(all, trendChange(t, c, zone))
	}
	changed := 0
	for n := range t.Figures {
		if len(t.Figures[n].Levels) > 1 {
			changed++
		}
	}
	switch {
	case len(t.Runs) == 1:
		note("One run is too few to find a change, which takes %d.", sides.FewestRuns)
	case len(t.Runs) < sides.FewestRuns:
		note("%d runs are too few to find a change, which takes %d.", len(t.Runs), sides.FewestRuns)
	case changed == 0:
		note("None of %s changed in %d runs.", people.Counted(int64(len(t.Figures)), "figure"), len(t.Runs))
	default:
		note("Of %s %d changed in %d runs.", people.Counted(int64(len(t.Figures)), "figure"), changed, len(t.Runs))
	}
	return all
}

// trendChange says how a level changed, and at which run.
func trendChange(t *sides.Trend, c sides.TrendChange, zone *time.Location) output.Finding {
	f := output.Finding{
		Kind:   kindTrend,
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
	unit := people.Spaced(t.Scale.Unit)
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
	if slices.ContainsFunc(t.Figures, func(f sides.TrendFigure) bool { return f.Tag != nil || f.AllTags }) {
		name += " of " + c.Of.TagName()
	}
	f.Sentence = fmt.Sprintf("%s %s by %s%% %s: %s to %s%s, %d runs before, %d after.", name, people.RoseOrFell(c.Ratio()),
		c.Percent(), when, people.Digits(c.Before.Value, 3), people.Digits(c.After.Value, 3), unit, c.Before.Runs, c.After.Runs)
	return f
}
