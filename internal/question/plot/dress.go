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
	"hdrkit/internal/sides"
	"hdrkit/tags"
)

// A dressing makes a picture of what was read.
type dressing struct {
	std   *message.Streams
	plan  *plan
	found *found
	p     *chart.Picture
}

// dress returns the picture of what was found in the inputs of a plan.
func dress(std *message.Streams, p *plan, f *found) (*chart.Picture, error) {
	look := p.look
	look.Values.Unit = f.unit
	look.Texts.Notes = slices.Concat(look.Texts.Notes, f.notes)
	d := &dressing{std: std, plan: p, found: f, p: &look}
	if err := d.addSeries(); err != nil {
		return nil, err
	}
	d.addNotes()
	d.addTimes()
	if err := d.addPhases(); err != nil {
		return nil, err
	}
	if err := d.nameAdded(); err != nil {
		return nil, err
	}
	return d.p, nil
}

// addSeries fills the picture with series and their figures.
func (d *dressing) addSeries() (err error) {
	var series []chart.Series
	for _, row := range d.found.rows {
		series = append(series, row.Series)
	}
	d.p.Series = series
	if d.plan.takes.overTime && len(d.plan.parts) > 0 {
		origin := int64(0)
		if !d.plan.lines.Relative && d.plan.lines.Fold == 0 {
			origin = logline.Millis(d.found.times.start)
		}
		if d.p, err = d.found.lines.Picture(d.p, origin, series); err != nil {
			return err
		}
	}
	if d.plan.takes.points.of != noPoints {
		d.drawPoints()
	}
	for n := range d.p.Series {
		d.p.Series[n].Runs = max(d.p.Series[n].Runs, d.plan.shows.periods)
	}
	d.p.Texts.Summary = d.found.summaries
	d.p.Time.Fold = d.plan.lines.Fold
	d.p.Texts.Findings = d.found.findings
	d.p.Inputs.Each = d.each()
	d.addFleet()
	return nil
}

// addNotes adds notes about what the series do not show by themselves.
func (d *dressing) addNotes() {
	p := d.p
	scale := d.plan.scale
	scale.Unit = p.Values.Unit
	if len(d.plan.parts) > 0 && d.plan.shows.about && (scale.Unit == "" || scale.Assumed) {
		p.Texts.Notes = append(p.Texts.Notes, unit.About(scale))
	}
	switch {
	case d.plan.shows.compares == comparesSides:
		d.compareReport()
	case d.plan.shows.compares == comparesOnPage:
		d.comparePage()
	case d.plan.shows.compares == comparesCurves && len(p.Series) <= chart.MostTogether:
		p.Texts.Notes = append(p.Texts.Notes, d.changes()...)
	}
	d.nameEmpty()
	d.nameBands()
	for _, f := range d.found.findings {
		if d.plan.shows.same != nil && f.Kind == finding.Same {
			p.Texts.Notes = append(p.Texts.Notes, f.Sentence)
		}
	}
}

// each returns what messages call a series: log, row or tag.
func (d *dressing) each() string {
	by := d.plan.by
	tagged := slices.ContainsFunc(d.p.Series, func(s chart.Series) bool { return s.Tag() != "" })
	switch {
	case by.Inputs() && by.AddsTags(), d.plan.shows.apart && !tagged:
		return "log"
	case by.Inputs() || by.AddsTags():
		return "row"
	}
	return "tag"
}

// A list of moments below a picture takes listShare of its height, in lines of so many pixels.
const listShare, momentLine = 0.2, 16.2

// addTimes adds when logs ran, and the worst moments, which count from the origin of the picture.
func (d *dressing) addTimes() {
	p := d.p
	p.Events.Marks = marksOf(d.found.shifts, p)
	d.addSaid()
	p.Inputs.Spans = d.found.times.spans
	p.Ran = d.found.times.ran
	most := d.plan.takes.worst
	if d.p.Type != chart.Report && !d.plan.shows.page {
		most = min(most, max(1, int(p.Looks.Height*listShare/momentLine)))
	}
	p.Events.Worst = d.found.worst[:min(len(d.found.worst), most)]
	for _, times := range p.Ran {
		for n := range times {
			times[n] = [2]int64{times[n][0] - p.Time.Origin, times[n][1] - p.Time.Origin}
		}
	}
	for n := range p.Events.Worst {
		m := &p.Events.Worst[n]
		m.Start -= p.Time.Origin
		m.End -= p.Time.Origin
		m.Peak -= p.Time.Origin
	}
}

// addPhases adds the phases of -phases, and notes about them.
func (d *dressing) addPhases() error {
	p := d.p
	for _, note := range d.plan.judging.diagnostics.TakePhaseNotes() {
		p.Texts.Notes = append(p.Texts.Notes, strings.ToUpper(note[:1])+note[1:]+".")
	}
	p.Inputs.Overlap = d.plan.judging.diagnostics.PhasesOverlap()
	if d.plan.phases == nil {
		return nil
	}
	spans, err := d.plan.phases.In(float64(p.Time.Origin) / 1000)
	if err != nil {
		return err
	}
	for _, s := range spans {
		p.Events.Phases = append(p.Events.Phases, chart.Phase{
			Start: s.Start - p.Time.Origin,
			End:   s.End - p.Time.Origin,
			Name:  tags.Text([]byte(s.Name)),
		})
	}
	if len(p.Lanes()) == 0 {
		from, to, _ := p.TimeRange()
		drawn := merge.Span{Start: p.Time.Origin + int64(from), End: p.Time.Origin + int64(to)}
		elsewhere := d.plan.phases.ElsewhereThan(drawn, spans)
		d.std.Notef("-phases: %s", cmp.Or(elsewhere, "no phase is in the time that is drawn"))
	}
	return nil
}

// saidPhases maps a kind of finding to the name of its lane.
var saidPhases = map[string]string{"warmup": "warm-up", finding.Level: "higher"}

// addSaid adds the phases that sentences above the picture are about. A row of a fleet shows its
// own.
func (d *dressing) addSaid() {
	p := d.p
	if p.Fleet != nil || d.plan.shows.page {
		return
	}
	results := p.Results()
	for _, f := range d.found.findings {
		name := saidPhases[f.Kind]
		if name == "" || !slices.Contains(results, f.Sentence) {
			continue
		}
		if f.Tag != "" {
			name += " (" + f.Tag + ")"
		}
		p.Events.Phases = append(p.Events.Phases, chart.Phase{Start: *f.Start - p.Time.Origin, End: *f.End - p.Time.Origin, Name: name})
	}
}

// nameAdded sets the tags that the heat map of a picture adds up, and prints a notice if they count
// the same requests.
func (d *dressing) nameAdded() error {
	p := d.p
	if p.Looks.Facets || !d.plan.shows.added {
		return nil
	}
	groups := map[string]bool{}
	for _, s := range p.Series {
		if len(s.Windows) == 0 {
			continue // a distribution
		}
		groups[s.Group] = true
		if tag := s.Tag(); !slices.Contains(p.Inputs.Added, tag) {
			p.Inputs.Added = append(p.Inputs.Added, tag)
		}
	}
	if d.plan.shows.compares == comparesCells && len(groups) < 2 {
		for _, label := range d.plan.labels {
			if !groups[label] {
				return fmt.Errorf("-compare: %s has no intervals that are drawn", message.Printable(label))
			}
		}
	}
	if same, choice := writers.SameRequests(p.Inputs.Added); same != "" {
		p.Inputs.SameRequests = true
		if !d.plan.shows.page { // whose heat map and total are two charts of many
			d.std.Notef("-type %s adds up %s; choose %s", p.Type.Name, same, choice)
		}
	}
	return nil
}

// nameEmpty says which series have no curve, since they have no values.
func (d *dressing) nameEmpty() {
	if d.p.Type.Chart.Marks != chart.Curves || len(chart.WithValues(d.p.Series)) == 0 {
		return
	}
	var empty []string
	for _, s := range d.p.Series {
		if s.Curve.Count == 0 {
			empty = append(empty, chart.Named(s.Label))
		}
	}
	if empty != nil {
		d.p.Texts.Notes = append(d.p.Texts.Notes, "No values: "+strings.Join(empty, ", ")+".")
	}
}

// nameBands adds a note about the bands of curves.
func (d *dressing) nameBands() {
	if !slices.ContainsFunc(d.p.Series, func(s chart.Series) bool { return len(s.Curve.Band) > 0 }) {
		return
	}
	paler := fmt.Sprintf("It is paler where fewer than %d values lie above it", chart.FewAbove)
	note := fmt.Sprintf("The pale band has the true percentile in it with a probability of %d%%. "+
		"%s, and ends where too few are left.", confidenceLevel, paler)
	if len(d.found.runs) > 0 {
		note = "The pale band reaches from the lowest to the highest run. " + paler + "."
	}
	d.p.Texts.Notes = append(d.p.Texts.Notes, note)
}

// changedPercentiles are those whose changes a picture of several runs names.
var changedPercentiles = []float64{99, 99.99}

// changes says how the higher percentiles of runs differ from those of the first, a line for each
// tag, as hdrdiff prints it.
func (d *dressing) changes() (notes []string) {
	table := report.Table{Percentiles: changedPercentiles}
	var pairs []sides.Pair
	for n, after := range d.found.rows {
		for _, before := range d.found.rows[:n] {
			same := before.Group == d.found.rows[0].Group && before.Group != after.Group && before.Tag() == after.Tag()
			if !same || !before.believed() || !after.believed() {
				continue
			}
			pair := sides.Pair{Before: before.sum, After: after.sum, Change: sides.New(before.sum, after.sum)}
			sides.Correct([]sides.Pair{pair}, changedPercentiles)
			pairs = append(pairs, pair)
			headings, rows := table.Changes(pair)
			var texts []string
			for _, p := range changedPercentiles {
				name := chart.AtPercentile(p).Name
				texts = append(texts, name+" "+rows[changeRow][slices.Index(headings, name)])
			}
			notes = append(notes, after.Label+" beside "+before.Group+": "+strings.Join(texts, ", "))
		}
	}
	if len(pairs) > 0 {
		notes = append(notes, report.Legend(pairs)+".")
	}
	return notes
}
