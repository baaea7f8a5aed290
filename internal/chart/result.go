package chart

import (
	"cmp"
	"slices"

	"hdrkit/internal/report"
	"hdrkit/output"
)

// The kinds of findings that pictures draw or choose.
const (
	outlier  = "outlier"  // a log differs from the others
	omission = "omission" // requests waited while nothing was recorded
	gap      = "gap"      // a time without values
	rhythm   = "rhythm"   // spikes come at even times
	with     = "with"     // slow values come with a phase
)

// ofKind returns the findings of one of the kinds above.
func (t *Texts) ofKind(kind string) (all []output.Finding) {
	for _, f := range t.Findings {
		if f.Kind == kind {
			all = append(all, f)
		}
	}
	return all
}

// Results returns the sentences that stand above a picture, and say what the picture shows. The
// first sentence becomes the title of a picture without a title.
func (p *Picture) Results() []string {
	switch p.Type {
	case Report:
		return report.Headline(p.Texts.Findings)
	case Timeline:
		return p.Texts.timelineResult()
	case Percentiles:
		return p.Texts.omissions()
	case Fleet:
		return p.Texts.fleetResults()
	case Load:
		return p.loadResults()
	}
	return nil
}

// timelineResult returns the first sentence about something that a timeline shows: a verdict, a
// finding at a time, or slow values that come with a phase.
func (t *Texts) timelineResult() []string {
	for n := range t.Findings {
		f := &t.Findings[n]
		if f.Verdict() || f.Start != nil || f.Kind == with {
			return []string{f.Sentence}
		}
	}
	return nil
}

// omissions returns the sentences about values that curves lack due to coordinated omission.
func (t *Texts) omissions() (all []string) {
	for _, f := range t.ofKind(omission) {
		all = append(all, f.Sentence)
	}
	return all
}

// fleetResults returns the sentences of a [Fleet] chart: the verdict, and the logs that differ from
// the others. If there are none, it returns the most important other finding.
func (t *Texts) fleetResults() (all []string) {
	var others []string
	for n := range t.Findings {
		f := &t.Findings[n]
		switch {
		case n == 0 && f.Verdict() || f.Kind == outlier:
			all = append(all, f.Sentence)
		case !f.Verdict():
			others = append(others, f.Sentence)
		}
	}
	if len(all) == 0 {
		return others[:min(len(others), 1)]
	}
	return all
}

// Breaches returns the times, in order, in which a line is above a limit for this line.
func Breaches(series []Series, limits []Limit) (all []Point) {
	var spans []Point
	for _, l := range limits {
		for _, s := range series {
			for _, line := range s.Lines {
				for _, point := range line.Points {
					// A limit of the maximum is a limit for each line of values.
					if (line.Name == l.Name() || l.Percentile == 0 && line.Name != RateName) && point.Value > l.Value {
						spans = append(spans, point)
					}
				}
			}
		}
	}
	slices.SortFunc(spans, func(a, b Point) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range spans {
		if n := len(all) - 1; n >= 0 && s.Start <= all[n].End+TypicalLength(spans[:1])/2 {
			all[n].End = max(all[n].End, s.End)
		} else {
			all = append(all, s)
		}
	}
	return all
}
