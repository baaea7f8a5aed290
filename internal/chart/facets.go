package chart

import (
	"cmp"
	"slices"
)

// MostTogether is the number of curves, or lines with labels at their ends, that one chart has.
// mostLines is the number of lines over time of several series, which are often of like height.
// Nobody can distinguish more.
const MostTogether, mostLines = 8, 4

// Crowded reports whether one chart of all series would have too many lines or curves.
func (p *Picture) Crowded() bool {
	switch p.Type.Chart.Marks {
	case Cells:
		return false // a heat map adds them up
	case Lines:
		lines := 0
		for n := range p.Series {
			lines += len(p.Series[n].Lines)
		}
		return len(p.Series) > 1 && lines > mostLines
	}
	return len(p.Series) > MostTogether
}

// mixed reports whether a chart of lines has several tags of runs that are compared: lines of a tag
// belong beside each other, not among those of other tags. A page can hide some.
func (p *Picture) mixed() bool {
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

// A Facet is the picture of a tag.
type Facet struct {
	Picture *Picture
	Tag     string
}

// FacetsOf returns a picture for each tag, the highest first. Runs that are compared share the
// pictures of their tags, unless they are too many. It returns nil if p shows all in one chart.
func (p *Picture) FacetsOf() []Facet {
	if p.Type == Report || p.Type == Fleet || !p.Looks.Facets && !p.Crowded() && !p.mixed() {
		return nil
	}
	parts := p.allFacets((*Series).Tag)
	most := MostTogether
	if p.Type.Chart.Marks == Lines {
		most = mostLines
	}
	if slices.ContainsFunc(parts, func(part Facet) bool { return len(part.Picture.Series) > most }) {
		parts = p.allFacets(func(s *Series) string { return s.Label })
	}
	slices.SortStableFunc(parts, func(a, b Facet) int { return cmp.Compare(b.Picture.Max(), a.Picture.Max()) })
	return parts
}

// allFacets returns a picture for each key of series.
func (p *Picture) allFacets(key func(s *Series) string) (parts []Facet) {
	at := map[string]*Picture{}
	for _, series := range p.Series {
		tag := key(&series)
		if at[tag] == nil {
			part := *p
			part.Looks.Facets = true
			part.Series = nil
			at[tag] = &part
			parts = append(parts, Facet{&part, Named(tag)})
		}
		at[tag].Series = append(at[tag].Series, series)
	}
	return parts
}

// Max returns the highest value in a picture.
func (p *Picture) Max() (highest float64) {
	for i := range p.Series {
		highest = max(highest, p.Series[i].Max())
	}
	return highest
}

// Has reports whether a series has a label.
func (p *Picture) Has(label string) bool {
	return slices.ContainsFunc(p.Series, func(s Series) bool { return s.Label == label })
}

// HasLine reports whether a series with a label has a line with a name.
func (p *Picture) HasLine(label, name string) bool {
	return slices.ContainsFunc(p.Series, func(s Series) bool { return s.Label == label && s.hasLine(name) })
}

// hasLine reports whether a series has a line with a name.
func (s *Series) hasLine(name string) bool {
	return slices.ContainsFunc(s.Lines, func(line Line) bool { return line.Name == name })
}

// GroupsOf returns the group of each series, and the names of the lines that each has.
func GroupsOf(series []Series) (groups, lines []string) {
	for _, s := range series {
		groups = append(groups, s.Group)
		for _, line := range s.Lines[min(len(lines), len(s.Lines)):] {
			lines = append(lines, line.Name)
		}
	}
	return groups, lines
}
