package chart

import (
	"cmp"
	"slices"
	"strings"
)

// MostTogether is the number of series, or lines with labels at their ends, that one chart has.
// Nobody can distinguish more.
const MostTogether = 8

// together returns the number of lines, or curves, that one chart would have for each measure.
func (p *Picture) together() int {
	switch p.Type.Chart.Marks {
	case Lines:
		return len(p.Series)
	case Curves:
		return len(p.Curves)
	}
	return 0 // a heat map adds them up
}

// A Facet is the picture of a tag.
type Facet struct {
	*Picture
	Tag string
}

// FacetsOf returns a picture for each tag, the highest first. Runs that are compared share the
// pictures of their tags, unless they are too many. It returns nil if p shows all in one chart.
func (p *Picture) FacetsOf() []Facet {
	if !p.Facets && p.together() <= MostTogether {
		return nil
	}
	parts := p.allFacets(tagOf)
	if slices.ContainsFunc(parts, func(part Facet) bool { return part.together() > MostTogether }) {
		parts = p.allFacets(func(label, _ string) string { return label })
	}
	slices.SortStableFunc(parts, func(a, b Facet) int { return cmp.Compare(b.Max(), a.Max()) })
	return parts
}

// allFacets returns a picture for each key of labels and groups.
func (p *Picture) allFacets(key func(label, group string) string) (parts []Facet) {
	at := map[string]*Picture{}
	part := func(label, group string) *Picture {
		tag := key(label, group)
		if at[tag] == nil {
			own := *p
			own.Facets = true
			own.Series, own.Curves, own.Windows = nil, nil, nil
			at[tag] = &own
			parts = append(parts, Facet{&own, Named(tag)})
		}
		return at[tag]
	}
	for _, series := range p.Series {
		own := part(series.Label, series.Group)
		own.Series = append(own.Series, series)
	}
	for _, ws := range p.Windows {
		own := part(ws.Label, ws.Group)
		own.Windows = append(own.Windows, ws)
	}
	for _, curve := range p.Curves {
		own := part(curve.Label, curve.Group)
		own.Curves = append(own.Curves, curve)
	}
	return parts
}

// Max returns the highest value in a picture.
func (p *Picture) Max() (highest float64) {
	for i := range p.Series {
		highest = max(highest, p.Series[i].Max())
	}
	for i := range p.Curves {
		highest = max(highest, p.Curves[i].Max())
	}
	for _, ws := range p.Windows {
		for _, w := range ws.Windows {
			highest = max(highest, w.Max)
		}
	}
	return highest
}

// Has reports whether a series has a label.
func (p *Picture) Has(label string) bool {
	return slices.ContainsFunc(p.Series, func(own Series) bool { return own.Label == label }) ||
		slices.ContainsFunc(p.Windows, func(own WindowSeries) bool { return own.Label == label })
}

// GroupsOf returns the group of each series, and the names of the lines that each has.
func GroupsOf(series []Series) (groups, lines []string) {
	for _, s := range series {
		groups = append(groups, s.Group)
		lines = lines[:0]
		for _, line := range s.Lines {
			lines = append(lines, line.Name)
		}
	}
	return groups, lines
}

// GroupsOfCurves returns the group of each curve.
func GroupsOfCurves(curves []Curve) (groups []string) {
	for _, curve := range curves {
		groups = append(groups, curve.Group)
	}
	return groups
}

// tagOf returns a series' label without the group before it.
func tagOf(label, group string) string {
	if group == "" {
		return label
	}
	return strings.TrimPrefix(strings.TrimPrefix(label, group), " ")
}
