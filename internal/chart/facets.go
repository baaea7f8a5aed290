package chart

import (
	"cmp"
	"slices"
)

// MaxTogether is the largest number of curves, or of lines with labels at their ends, in one
// chart. maxLines is the largest number of lines over time of several series, since such lines are
// often equally high. Nobody can distinguish more.
const MaxTogether, maxLines = 8, 4

// Crowded reports whether a single chart of all series would have too many lines or curves.
func (p *Picture) Crowded() bool {
	switch p.Type.Chart.Marks {
	case Cells:
		return false // a heat map adds up all series
	case Lines:
		lines := 0
		for n := range p.Series {
			lines += len(p.Series[n].Lines)
		}
		return len(p.Series) > 1 && lines > maxLines
	}
	return len(p.Series) > MaxTogether
}

// hasMixedTags reports whether a chart of lines compares runs with several tags. Then each tag gets
// a facet, so that the lines of a tag stand beside each other.
func (p *Picture) hasMixedTags() bool {
	if p.Type.Chart.Marks != Lines {
		return false
	}
	runs := make(map[string]bool)
	tags := make(map[string]bool)
	for n := range p.Series {
		runs[p.Series[n].Group] = true
		tags[p.Series[n].Tag()] = true
	}
	return len(runs) > 1 && len(tags) > 1
}

// A Facet is a small chart, such as the chart of one tag. Picture has only the series of the facet.
type Facet struct {
	Picture *Picture
	Tag     string
}

// FacetsOf returns a facet for each tag, in descending order of their highest values. Runs that are
// compared share the facets of their tags, unless a facet would have too many lines. FacetsOf
// returns nil if one chart shows all series.
func (p *Picture) FacetsOf() []Facet {
	if p.Type == Report || p.Type == Fleet || !p.Looks.Facets && !p.Crowded() && !p.hasMixedTags() {
		return nil
	}
	facets := p.facetsBy((*Series).Tag)
	most := MaxTogether
	if p.Type.Chart.Marks == Lines {
		most = maxLines
	}
	if slices.ContainsFunc(facets, func(f Facet) bool { return len(f.Picture.Series) > most }) {
		facets = p.facetsBy(func(s *Series) string { return s.Label })
	}
	slices.SortStableFunc(facets, func(a, b Facet) int { return cmp.Compare(b.Picture.Max(), a.Picture.Max()) })
	return facets
}

// facetsBy returns a facet for each key of series.
func (p *Picture) facetsBy(key func(s *Series) string) (facets []Facet) {
	pictures := map[string]*Picture{} // by key
	for _, series := range p.Series {
		k := key(&series)
		if pictures[k] == nil {
			facet := *p
			facet.Looks.Facets = true
			facet.Series = nil
			pictures[k] = &facet
			facets = append(facets, Facet{&facet, Named(k)})
		}
		pictures[k].Series = append(pictures[k].Series, series)
	}
	return facets
}

// Max returns the highest value of all series.
func (p *Picture) Max() (highest float64) {
	for i := range p.Series {
		highest = max(highest, p.Series[i].Max())
	}
	return highest
}

// HasSeries reports whether the picture has a series with a label.
func (p *Picture) HasSeries(label string) bool {
	return slices.ContainsFunc(p.Series, func(s Series) bool { return s.Label == label })
}

// HasLine reports whether the series with a label has a line with a name.
func (p *Picture) HasLine(label, name string) bool {
	return slices.ContainsFunc(p.Series, func(s Series) bool { return s.Label == label && s.hasLine(name) })
}

// hasLine reports whether a series has a line with a name.
func (s *Series) hasLine(name string) bool {
	return slices.ContainsFunc(s.Lines, func(line Line) bool { return line.Name == name })
}

// GroupsAndLines returns the group of each series, and the names of the lines of the series with
// the most lines.
func GroupsAndLines(series []Series) (groups, lines []string) {
	for _, s := range series {
		groups = append(groups, s.Group)
		for _, line := range s.Lines[min(len(lines), len(s.Lines)):] {
			lines = append(lines, line.Name)
		}
	}
	return groups, lines
}
