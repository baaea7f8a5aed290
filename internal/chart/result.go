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

// ofKind returns the findings of a kind.
func (t *Texts) ofKind(kind string) (all []output.Finding) {
	for _, f := range t.Findings {
		if f.Kind == kind {
			all = append(all, f)
		}
	}
	return all
}

// Results are sentences about a picture that answers a question, the first of which is its title if
// it has no other.
func (p *Picture) Results() []string {
	switch p.Type {
	case Report:
		return report.Headline(p.Texts.Findings)
	case Timeline:
		return p.timed()
	case Percentiles:
		return p.omissions()
	case Fleet:
		return p.fleetSentences()
	case Load:
		return p.LoadResults()
	}
	return nil
}

// timed returns the first sentence that a picture over time shows: a verdict, what happens at a
// time, or what comes with the phases behind its lines.
func (p *Picture) timed() []string {
	for n := range p.Texts.Findings {
		f := &p.Texts.Findings[n]
		if f.Verdict() || f.Start != nil || f.Kind == with {
			return []string{f.Sentence}
		}
	}
	return nil
}

// omissions are the sentences about values that are missing in curves.
func (p *Picture) omissions() (all []string) {
	for _, f := range p.Texts.ofKind(omission) {
		all = append(all, f.Sentence)
	}
	return all
}

// fleetSentences says what a picture of many logs shows: the verdict, and the logs that differ from
// the others. If none differs, it says what hurts most.
func (p *Picture) fleetSentences() (all []string) {
	var others []string
	for n := range p.Texts.Findings {
		f := &p.Texts.Findings[n]
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

// Breaches returns the times in which a line is above a limit that holds for it, in order.
func Breaches(series []Series, limits []Limit) (all []Point) {
	var spans []Point
	for _, l := range limits {
		for _, s := range series {
			for _, line := range s.Lines {
				for _, point := range line.Points {
					// A limit for all values holds for each line of values.
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
