package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/finding"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/trend"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// trend returns the picture of a trend: a line over runs for each percentile, with its levels, and
// a number at each change that has a sentence.
func (o *Options) trend(std *message.Streams, units *logs.Units, in *Inputs) (*chart.Picture, error) {
	collecting := trend.Options{Logs: &o.Logs, Readable: true}
	for _, level := range o.linePercentiles() {
		collecting.Figures = append(collecting.Figures, output.AtPercentile(level))
	}
	t, err := trend.Collect(std, in.Scan, units, collecting)
	if err != nil {
		return nil, err
	}
	p := o.newPicture()
	if err := o.setUnit(p, t.Scale); err != nil {
		return nil, err
	}
	places := placesOf(t, p)
	for _, f := range t.Figures {
		p.Series = addTrend(p.Series, t, &f, places)
	}
	if o.Percentiles == nil {
		p.DropLines(false)
	}
	numberChanges(p, t, places, o.Logs.Times.Zone)
	return p, nil
}

// placesOf returns the places of runs on the horizontal axis: their starts, if all runs have
// different starts, and otherwise their numbers. It sets the time axis of the picture.
func placesOf(t *sides.Trend, p *chart.Picture) (places []float64) {
	p.Time.Absolute = true
	for n, run := range t.Runs {
		p.Time.Absolute = p.Time.Absolute && run.Dated() && (n == 0 || run.Start > t.Runs[n-1].Start)
	}
	p.Time.Origin = t.Runs[0].Start
	for n, run := range t.Runs {
		place := float64(n)
		if p.Time.Absolute {
			place = float64(run.Start - p.Time.Origin)
		}
		places = append(places, place)
	}
	return places
}

// addTrend adds the line of a figure to the series of its tag.
func addTrend(all []chart.Series, t *sides.Trend, f *sides.TrendFigure, places []float64) []chart.Series {
	label := labelOf("", f.Tag)
	if n := len(all); n == 0 || all[n-1].Label != label {
		all = append(all, chart.Series{Label: label})
		for n := range t.Runs {
			all[len(all)-1].Names = append(all[len(all)-1].Names, t.Short(n))
		}
	}
	line := chart.Line{Name: f.String()}
	for n, point := range f.Points {
		line.Points = append(line.Points, chart.Point{Start: places[n], End: places[n], Value: point.Value})
	}
	levels := f.Levels
	if len(t.Runs) < sides.FewestRuns { // too few runs for levels
		levels = nil
	}
	for _, level := range levels { // each from the first to the last run with a value
		first, last := level.From, level.To-1
		for math.IsNaN(f.Points[first].Value) {
			first++
		}
		for math.IsNaN(f.Points[last].Value) {
			last--
		}
		line.Levels = append(line.Levels, chart.Point{Start: places[first], End: places[last], Value: level.Value})
	}
	s := &all[len(all)-1]
	s.Lines = append(s.Lines, line)
	return all
}

// numberChanges adds a number for each change of a drawn line, and the sentences about changes.
func numberChanges(p *chart.Picture, t *sides.Trend, places []float64, zone *time.Location) {
	drawn := *t
	drawn.Figures = nil
	for _, f := range t.Figures {
		if p.HasLine(labelOf("", f.Tag), f.String()) {
			drawn.Figures = append(drawn.Figures, f)
		}
	}
	findings := finding.Trend(&drawn, zone)
	sentences := finding.Sentences(findings)
	isChange := func(f output.Finding) bool { return f.Figures != nil }
	first := slices.IndexFunc(findings, isChange)
	count := 0 // of changes that have a sentence
	for _, f := range findings {
		if isChange(f) {
			count++
		}
	}
	changes := drawn.Changes()[:count]
	if p.Looks.Title == "" {
		p.Looks.Title = strings.TrimSuffix(sentences[0], ".")
		if len(changes) == 0 { // the title says it all
			sentences = sentences[1:]
		}
	}
	for n, c := range changes {
		at := int64(math.Round(places[c.After.From]))
		p.Events.Worst = append(p.Events.Worst, chart.Moment{
			Start: at,
			End:   at,
			Peak:  at,
			Value: c.Of.Points[c.After.From].Value,
			Label: labelOf("", c.Of.Tag),
			Line:  c.Of.String(),
		})
		sentences[first+n] = fmt.Sprintf("%d  %s", n+1, sentences[first+n])
	}
	p.Texts.Notes = append(p.Texts.Notes, sentences...)
}
