package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/chart"
	"hdrkit/internal/finding"
	"hdrkit/internal/report"
	"hdrkit/internal/scan"
	"hdrkit/internal/sides"
	"hdrkit/output"
	"hdrkit/tags"
)

// dress makes the picture of the data that were read. It begins with the series, since all other
// parts depend on them.
func dress(std *message.Streams, p *plan, f *found) (*chart.Picture, error) {
	picture, err := seriesPicture(std, p, f)
	if err != nil {
		return nil, err
	}
	picture.Fleet = ratiosOf(picture, p, f.rows)
	picture.Ran = ranFrom(picture.Time.Origin, f.times.ran)
	picture.Inputs.Spans = f.times.spans
	picture.Inputs.SeriesWord = seriesWord(p, picture.Series)
	picture.Inputs.Overlap = p.judging.diagnostics.PhasesOverlap()
	picture.Texts.Summary = f.summaries
	picture.Texts.Findings = f.findings
	addNotes := func(notes ...string) { picture.Texts.Notes = append(picture.Texts.Notes, notes...) }
	addNotes(f.notes...)
	addNotes(unitNotes(p, f.unit)...)
	switch {
	case p.content.compares == comparesSides, p.content.compares == comparesOnPage:
		c := compareLogs(std, p, f, &picture.Inputs)
		picture.Comparison = c.Comparison
		picture.Texts.Findings = c.findings
		addNotes(c.notes...)
	case p.content.compares == comparesCurves && len(picture.Series) <= chart.MaxTogether:
		addNotes(changeNotes(f.rows)...)
	}
	if picture.Type.Chart.Marks == chart.Curves {
		addNotes(emptyNotes(picture.Series)...)
	}
	addNotes(bandNotes(picture.Series, len(f.runs) > 0)...)
	addNotes(sameNotes(p.content.same, f.findings)...)
	addNotes(phaseNotes(p)...)
	var phases []scan.NamedSpan
	if p.phases != nil {
		if phases, err = p.phases.In(float64(picture.Time.Origin) / 1000); err != nil {
			return nil, err
		}
	}
	picture.Events = chart.Events{
		Worst: worstFrom(picture.Time.Origin, f.worst[:min(len(f.worst), maxWorst(p, &picture.Looks))]),
		Marks: marksOf(f.shifts, picture),
	}
	if picture.Fleet == nil && !p.content.page { // each row of a fleet has phases of its own
		picture.Events.Phases = findingPhases(picture.Time.Origin, picture.Results(), f.findings)
	}
	picture.Events.Phases = append(picture.Events.Phases, phasesFrom(picture.Time.Origin, phases)...)
	if p.phases != nil && len(picture.Lanes()) == 0 {
		std.Notef("-phases: %s", cmp.Or(whereElse(picture, p.phases, phases), "no phase is in the time that is drawn"))
	}
	if !picture.Looks.Facets && p.content.added {
		if err := nameAdded(std, p, picture); err != nil {
			return nil, err
		}
	}
	return picture, nil
}

// seriesPicture returns a picture with the looks of the plan, and with series: curves, lines over
// time, or points of load.
func seriesPicture(std *message.Streams, p *plan, f *found) (*chart.Picture, error) {
	look := p.look
	picture := &look
	picture.Values.Unit = f.unit
	picture.Time.Fold = p.lines.Fold
	for _, row := range f.rows {
		picture.Series = append(picture.Series, row.Series)
	}
	if p.needs.overTime && len(p.parts) > 0 {
		origin := int64(0)
		if !p.lines.Relative && p.lines.Fold == 0 {
			origin = logline.Millis(f.times.start)
		}
		var err error
		if picture, err = f.lines.Picture(picture, origin, picture.Series); err != nil {
			return nil, err
		}
	}
	if p.needs.points.of != noPoints {
		picture.Series = loadSeries(std, p.needs.points, picture.Series, f.loads)
		picture.SortByRate()
	}
	for n := range picture.Series {
		s := &picture.Series[n]
		s.Runs = max(s.Runs, p.content.periods)
	}
	return picture, nil
}

// unitNotes returns a note about the unit of values, if nobody has named the unit.
func unitNotes(p *plan, name string) []string {
	scale := p.scale
	scale.Unit = name
	if len(p.parts) == 0 || !p.content.about || scale.Unit != "" && !scale.Assumed {
		return nil
	}
	return []string{unit.About(scale)}
}

// seriesWord returns the word for a series in messages: log, row or tag.
func seriesWord(p *plan, series []chart.Series) string {
	tagged := slices.ContainsFunc(series, func(s chart.Series) bool { return s.Tag() != "" })
	switch {
	case p.by.Inputs() && p.by.AddsTags(), p.content.apart && !tagged:
		return "log"
	case p.by.Inputs() || p.by.AddsTags():
		return "row"
	}
	return "tag"
}

// The list of worst moments below a picture takes at most listShare of its height. A line of the
// list is momentLine pixels high.
const listShare, momentLine = 0.2, 16.2

// maxWorst returns the number of worst moments that a picture marks.
func maxWorst(p *plan, looks *chart.Looks) int {
	if p.look.Type == chart.Report || p.content.page {
		return p.needs.worst
	}
	return min(p.needs.worst, max(1, int(looks.Height*listShare/momentLine)))
}

// worstFrom returns moments whose times count from origin.
func worstFrom(origin int64, all []chart.Moment) (moments []chart.Moment) {
	for _, m := range all {
		m.Start -= origin
		m.End -= origin
		m.Peak -= origin
		moments = append(moments, m)
	}
	return moments
}

// ranFrom returns when the logs of each group ran, in times that count from origin.
func ranFrom(origin int64, all map[string][][2]int64) map[string][][2]int64 {
	ran := make(map[string][][2]int64, len(all))
	for group, times := range all {
		for _, t := range times {
			ran[group] = append(ran[group], [2]int64{t[0] - origin, t[1] - origin})
		}
	}
	return ran
}

// phasesFrom returns phases of -phases, in times that count from origin.
func phasesFrom(origin int64, spans []scan.NamedSpan) (phases []chart.Phase) {
	for _, s := range spans {
		phases = append(phases, chart.Phase{
			Start: s.Start - origin,
			End:   s.End - origin,
			Name:  tags.Text([]byte(s.Name)),
		})
	}
	return phases
}

// whereElse returns a text with the time of the phases and the time of the picture, if these do not
// overlap. Otherwise the text is empty.
func whereElse(p *chart.Picture, all *scan.Phases, spans []scan.NamedSpan) string {
	from, to, _ := p.TimeRange()
	drawn := merge.Span{Start: p.Time.Origin + int64(from), End: p.Time.Origin + int64(to)}
	return all.ElsewhereThan(drawn, spans)
}

// phaseNotes returns the notes of the diagnostics about phases, as sentences.
func phaseNotes(p *plan) (notes []string) {
	for _, note := range p.judging.diagnostics.TakePhaseNotes() {
		notes = append(notes, strings.ToUpper(note[:1])+note[1:]+".")
	}
	return notes
}

// laneNames maps the kind of a finding to the name of its phase above a picture.
var laneNames = map[string]string{"warmup": "warm-up", finding.Level: "higher"}

// findingPhases returns the phases of findings whose sentences stand above a picture, in times that
// count from origin.
func findingPhases(origin int64, sentences []string, findings []output.Finding) (phases []chart.Phase) {
	for _, f := range findings {
		name := laneNames[f.Kind]
		if name == "" || !slices.Contains(sentences, f.Sentence) {
			continue
		}
		if f.Tag != "" {
			name += " (" + f.Tag + ")"
		}
		phases = append(phases, chart.Phase{Start: *f.Start - origin, End: *f.End - origin, Name: name})
	}
	return phases
}

// nameAdded sets the tags that a heat map adds up, and prints a notice if some of them count the
// same requests. It returns an error if a heat map of two logs has no intervals of one of them.
func nameAdded(std *message.Streams, p *plan, picture *chart.Picture) error {
	groups := map[string]bool{}
	in := &picture.Inputs
	for _, s := range picture.Series {
		if len(s.Windows) == 0 {
			continue // a distribution
		}
		groups[s.Group] = true
		if tag := s.Tag(); !slices.Contains(in.Added, tag) {
			in.Added = append(in.Added, tag)
		}
	}
	if p.content.compares == comparesCells && len(groups) < 2 {
		for _, label := range p.labels {
			if !groups[label] {
				return fmt.Errorf("-compare: %s has no intervals that are drawn", message.Printable(label))
			}
		}
	}
	same, choice := writers.SameRequests(in.Added)
	in.SameRequests = same != ""
	if in.SameRequests && !p.content.page { // only two of the many charts of a page add up tags
		std.Notef("-type %s adds up %s; choose %s", picture.Type.Name, same, choice)
	}
	return nil
}

// emptyNotes returns a note that names the series without values, unless no series has values.
func emptyNotes(series []chart.Series) []string {
	var empty []string
	for _, s := range series {
		if s.Curve.Count == 0 {
			empty = append(empty, chart.Named(s.Label))
		}
	}
	if len(empty) == 0 || len(empty) == len(series) {
		return nil
	}
	return []string{"No values: " + strings.Join(empty, ", ") + "."}
}

// bandNotes returns a note that explains the bands of curves, if there are any. The bands are
// ranges of runs, or else intervals of confidence.
func bandNotes(series []chart.Series, areRuns bool) []string {
	if !slices.ContainsFunc(series, func(s chart.Series) bool { return len(s.Curve.Band) > 0 }) {
		return nil
	}
	paler := fmt.Sprintf("It is paler where fewer than %d values lie above it", chart.FewAbove)
	if areRuns {
		return []string{"The pale band reaches from the lowest to the highest run. " + paler + "."}
	}
	return []string{fmt.Sprintf("The pale band has the true percentile in it with a probability of %d%%. "+
		"%s, and ends where too few are left.", confidenceLevel, paler)}
}

// sameNotes returns the sentences about tags that count the same requests, if the picture leaves
// out some of these tags.
func sameNotes(same []string, findings []output.Finding) (notes []string) {
	for _, f := range findings {
		if same != nil && f.Kind == finding.Same {
			notes = append(notes, f.Sentence)
		}
	}
	return notes
}

// changedPercentiles are the percentiles whose changes a picture of percentile curves names.
var changedPercentiles = []float64{99, 99.99}

// changeNotes says how the high percentiles of each later log differ from those of the first log, a
// line for each tag, in the words of hdrdiff.
func changeNotes(rows []row) (notes []string) {
	table := report.Table{Percentiles: changedPercentiles}
	var pairs []sides.Pair
	for n, after := range rows {
		for _, before := range rows[:n] {
			same := before.Group == rows[0].Group && before.Group != after.Group && before.Tag() == after.Tag()
			if !same || !before.hasConfidence() || !after.hasConfidence() {
				continue
			}
			pair := sides.Pair{Before: before.sum, After: after.sum, Change: sides.Compare(before.sum, after.sum)}
			sides.Correct([]sides.Pair{pair}, changedPercentiles)
			pairs = append(pairs, pair)
			headings, cells := table.Changes(pair)
			var texts []string
			for _, p := range changedPercentiles {
				name := chart.AtPercentile(p).Name
				texts = append(texts, name+" "+cells[changeRow][slices.Index(headings, name)])
			}
			notes = append(notes, after.Label+" beside "+before.Group+": "+strings.Join(texts, ", "))
		}
	}
	if len(pairs) > 0 {
		notes = append(notes, report.Legend(pairs)+".")
	}
	return notes
}
