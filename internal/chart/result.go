package chart

import (
	"cmp"
	"slices"

	"hdrkit/output"
)

// Results are sentences about a picture that answers a question, the first of which is its title if
// it has no other. Only reports and charts of load have some.
func (p *Picture) Results() []string {
	switch p.Type {
	case Report:
		return output.Top(p.Findings)
	case Load:
		return p.LoadResults()
	}
	return nil
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
