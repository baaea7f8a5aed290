package plot

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/finding"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// Gather returns the picture of the logs and percentile distributions of a scan, or nil if nothing
// in them was asked for. Messages go to std. It reads each input once or twice.
func (o *Options) Gather(std *message.Streams, s *scan.Scan) (*chart.Picture, error) {
	d, err := o.newDecision(std, s)
	if err != nil {
		return nil, err
	}
	if err := o.checkRuns(len(s.Runs()), d.by); err != nil {
		return nil, err
	}
	if o.Type == chart.Trend {
		p, err := d.trend(s)
		if err == nil {
			d.finish(p, o.Marks)
		}
		return p, err
	}
	some, distributions, err := d.decide(s)
	if err != nil {
		return nil, err
	}
	r, err := d.read(s, some, distributions)
	if err != nil || len(r.rows)+len(r.loads) == 0 {
		return nil, err
	}
	return r.dress(s, some)
}

// A dressing makes a picture of what was read.
type dressing struct {
	*reading
	p *chart.Picture
}

// dress returns the picture of what was read, of logs and of all inputs of a scan.
func (r *reading) dress(s *scan.Scan, some []scan.Input) (*chart.Picture, error) {
	d := &dressing{reading: r}
	if err := d.fill(len(some) > 0); err != nil {
		return nil, err
	}
	d.addTimes()
	if d.plan.merged && len(some) > 1 {
		for _, log := range some {
			d.p.Logs = append(d.p.Logs, d.labels[log.Name])
		}
	}
	d.p.Findings = d.findings
	if d.same != nil {
		for _, f := range d.findings {
			if f.Kind == finding.Same {
				d.p.Notes = append(d.p.Notes, f.Sentence)
			}
		}
	}
	d.nameSources(s)
	if err := d.nameAdded(); err != nil {
		return nil, err
	}
	d.finish(d.p, slices.Concat(d.Marks, d.shifts))
	return d.p, nil
}

// addTimes adds when logs ran, and the worst moments, which count from the origin of the picture.
func (d *dressing) addTimes() {
	p := d.p
	p.Spans = d.spans
	p.Worst = d.worst[:min(len(d.worst), mostWorst(d.Page))]
	p.Ran = d.ran
	for _, times := range p.Ran {
		for n := range times {
			times[n] = [2]int64{times[n][0] - p.Origin, times[n][1] - p.Origin}
		}
	}
	for n := range p.Worst {
		m := &p.Worst[n]
		m.Start -= p.Origin
		m.End -= p.Origin
		m.Peak -= p.Origin
	}
}

// nameSources names the inputs, or their folders if these tell them apart.
func (d *dressing) nameSources(s *scan.Scan) {
	p := d.p
	var folders []string
	for _, input := range s.Inputs {
		name := filepath.Base(input.Name)
		if input.Name == "-" {
			name = "standard input"
		}
		p.Sources = append(p.Sources, name)
		folders = append(folders, filepath.ToSlash(filepath.Dir(input.Name))+"/")
	}
	if len(slices.Compact(slices.Sorted(slices.Values(p.Sources)))) < len(p.Sources) {
		p.Sources = slices.Compact(folders)
	}
}

// nameAdded sets the tags that the heat map of a picture adds up, and prints a notice if they count
// the same requests.
func (d *dressing) nameAdded() error {
	o, p := d.Options, d.p
	if o.Type == chart.Heatmap && !d.plan.paged && d.by.Inputs() {
		p.Facets = true // a map for each machine
	}
	if p.Facets || o.Type.Chart.Marks != chart.Cells && !d.plan.paged {
		return nil
	}
	groups := map[string]bool{}
	for _, s := range p.Series {
		if len(s.Windows) == 0 {
			continue // a distribution
		}
		groups[s.Group] = true
		if tag := s.Tag(); !slices.Contains(p.Added, tag) {
			p.Added = append(p.Added, tag)
		}
	}
	if o.Compare && !d.plan.paged && len(groups) < 2 {
		for _, label := range d.labels {
			if !groups[label] {
				return fmt.Errorf("-compare: %s has no intervals that are drawn", message.Printable(label))
			}
		}
	}
	if same, choice := writers.SameRequests(p.Added); same != "" {
		p.SameRequests = true
		if !d.plan.paged { // whose heat map and total are two charts of many
			d.std.Notef("-type %s adds up %s; choose %s", o.Type.Name, same, choice)
		}
	}
	return nil
}

// fill fills the picture with series, their figures, and notes.
func (d *dressing) fill(logs bool) (err error) {
	look := d.look
	look.Unit = d.unit
	look.Notes = slices.Concat(look.Notes, d.notes)
	d.p = &look
	var series []chart.Series
	for _, row := range d.rows {
		series = append(series, row.Series)
	}
	if logs && d.plan.overTime {
		origin := int64(0)
		if !d.lines.Relative && d.lines.Fold == 0 {
			origin = logline.Millis(d.logStart)
		}
		if d.p, err = d.collector.Picture(&look, origin, series); err != nil {
			return err
		}
	} else {
		d.p.Series = series
	}
	p := d.p
	for n := range p.Series {
		p.Series[n].Runs = max(p.Series[n].Runs, d.periods)
	}
	p.Summary = d.summaries
	p.Each = d.each()
	d.addFleet()
	scale := d.scale
	scale.Unit = p.Unit
	if logs && (d.Page || d.Type == chart.Report) && (scale.Unit == "" || scale.Assumed) {
		p.Notes = append(p.Notes, scale.About())
	}
	if d.Type == chart.Load {
		d.drawLoads()
	}
	if d.compareReport() {
		d.compare()
	} else if d.plan.changes {
		d.comparePage()
	} else if len(p.Series) <= chart.MostTogether {
		p.Notes = append(p.Notes, d.changes()...)
	}
	d.nameEmpty()
	d.nameBands()
	return nil
}

// nameEmpty says which series have no curve, since they have no values.
func (d *dressing) nameEmpty() {
	if d.Type.Chart.Marks != chart.Curves || len(chart.WithValues(d.p.Series)) == 0 {
		return
	}
	var empty []string
	for _, s := range d.p.Series {
		if s.Curve.Count == 0 {
			empty = append(empty, chart.Named(s.Label))
		}
	}
	if empty != nil {
		d.p.Notes = append(d.p.Notes, "No values: "+strings.Join(empty, ", ")+".")
	}
}

// nameBands says what the bands of curves are.
func (d *dressing) nameBands() {
	if !slices.ContainsFunc(d.p.Series, func(s chart.Series) bool { return len(s.Curve.Band) > 0 }) {
		return
	}
	paler := fmt.Sprintf("It is paler where fewer than %d values lie above it", chart.FewAbove)
	note := fmt.Sprintf("The pale band has the true percentile in it with a probability of %d%%. "+
		"%s, and ends where too few are left.", confidenceLevel, paler)
	if d.sides.Runs {
		note = "The pale band reaches from the lowest to the highest run. " + paler + "."
	}
	d.p.Notes = append(d.p.Notes, note)
}

// compared are the percentiles whose changes a picture of several runs names.
var compared = []float64{99, 99.99}

// changes says how the higher percentiles of runs differ from those of the first, a line for each
// tag, as hdrdiff prints it.
func (d *dressing) changes() (notes []string) {
	table := output.Table{Percentiles: compared}
	var pairs []output.Pair
	for n, after := range d.rows {
		for _, before := range d.rows[:n] {
			same := before.Group == d.rows[0].Group && before.Group != after.Group && before.Tag() == after.Tag()
			if !same || !before.believed() || !after.believed() {
				continue
			}
			pair := output.Pair{Before: before.sum, After: after.sum, Change: output.NewChange(before.sum, after.sum)}
			output.Correct([]output.Pair{pair}, compared)
			pairs = append(pairs, pair)
			headings, rows := table.Changes(pair)
			var texts []string
			for _, p := range compared {
				name := chart.AtPercentile(p).Name
				texts = append(texts, name+" "+rows[2][slices.Index(headings, name)])
			}
			notes = append(notes, after.Label+" beside "+before.Group+": "+strings.Join(texts, ", "))
		}
	}
	if len(pairs) > 0 {
		notes = append(notes, output.Legend(pairs)+".")
	}
	return notes
}

// finish adds marks, drops lines that are too many, and chooses the axis of values.
func (d *decision) finish(p *chart.Picture, marks []Mark) {
	for _, m := range marks {
		at := m.When.Seconds * 1000
		switch m.When.Origin {
		case scan.Epoch:
			at -= float64(p.Origin)
		case scan.Midnight:
			at = m.When.Moment(float64(p.Origin)/1000)*1000 - float64(p.Origin)
		}
		p.Marks = append(p.Marks, chart.Mark{Time: int64(math.Round(at)), Text: m.Text})
	}
	if d.Percentiles == nil && (d.Page || d.Type == chart.Timeline) {
		p.KeepLines(d.Page)
	}
	d.nameUndrawn(p)
	p.LogValues = p.LogValues || !d.Linear && p.Steep()
	if d.Units.Unit != "" {
		p.Unit = axis.Fixed(p.Unit)
	}
}

// nameUndrawn says which limits a chart of lines does not draw, since none of its lines is for
// them.
func (d *decision) nameUndrawn(p *chart.Picture) {
	if d.Percentiles == nil || !d.Page && d.Type.Chart.Marks != chart.Lines && d.Type.Chart.Marks != chart.Dots {
		return
	}
	drawn := p.LineLimits()
	for _, l := range p.Limits {
		if !slices.ContainsFunc(drawn, func(one chart.Limit) bool { return one.Percentile == l.Percentile }) {
			d.std.Notef("no line shows %s, which -sla limits: -p %[1]s draws one", l.Name())
		}
	}
}
