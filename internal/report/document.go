package report

import (
	"math"
	"time"

	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// Compare adds a baseline to a document, and the changes of pairs. Both documents come from
// [output.NewDocument].
func Compare(d, baseline *output.Document, pairs []sides.Pair, percentiles []float64) {
	d.Baseline = &output.DocumentBaseline{
		PeriodMs:  baseline.PeriodMs,
		Inputs:    baseline.Inputs,
		Summaries: baseline.Summaries,
	}
	for _, pair := range pairs {
		if pair.Change == nil {
			continue
		}
		c := pair.Change
		change := output.DocumentChange{
			Tag:        pair.Tag,
			RunsBefore: max(len(c.RunsBefore), 1),
			RunsAfter:  max(len(c.RunsAfter), 1),
			Throughput: changeDocument(c.Rate, 1),
			Mean:       changeDocument(c.Mean, d.UnitRatio),
		}
		for _, p := range percentiles {
			change.Percentiles = append(change.Percentiles, output.DocumentPercentileChange{
				Percentile:           p,
				DocumentFigureChange: changeDocument(c.Percentiles[p], d.UnitRatio),
			})
		}
		d.Changes = append(d.Changes, change)
	}
}

// changeDocument returns a change as it stands in a document, or nil for nil. It divides the
// figures by ratio.
func changeDocument(c *sides.FigureChange, ratio float64) *output.DocumentFigureChange {
	if c == nil {
		return nil
	}
	d := &output.DocumentFigureChange{
		Before:      output.Number(unit.Divide(c.Before, ratio)),
		After:       output.Number(unit.Divide(c.After, ratio)),
		Ratio:       output.Number(c.Ratio),
		Low:         output.Number(c.Low),
		High:        output.Number(c.High),
		P:           output.Number(c.P),
		Significant: c.Significant,
		Paired:      c.Paired,
		Untimed:     c.Untimed,
	}
	if c.Least > 0 && !math.IsInf(c.Least, 1) {
		d.Least = output.Number(c.Least)
	}
	return d
}

// NewTrendDocument returns the document of a trend, without findings. Times are in a zone; nil is
// UTC.
func NewTrendDocument(t *sides.Trend, zone *time.Location) *output.TrendDocument {
	d := &output.TrendDocument{
		UnitRatio: t.Scale.Divisor(),
		Changes:   []output.DocumentStep{},
	}
	if t.Scale.Unit != "" {
		d.Unit = &t.Scale.Unit
	}
	for _, r := range t.Runs {
		run := output.DocumentRun{Name: r.Name, Inputs: r.Inputs}
		start, ms := people.RFC3339(r.Start, zone), r.Start
		if r.Dated() {
			run.Start, run.StartMs = &start, &ms
		}
		d.Runs = append(d.Runs, run)
	}
	for _, f := range t.Figures {
		figure := output.DocumentFigure{
			Tag:       f.Tag,
			Figure:    f.String(),
			Deviation: output.Number(f.Deviation),
			Levels:    []output.DocumentLevel{},
		}
		for _, p := range f.Points {
			figure.Values = append(figure.Values, output.Number(p.Value))
		}
		for _, l := range f.Levels {
			figure.Levels = append(figure.Levels, output.DocumentLevel{
				From:  l.From,
				To:    l.To,
				Runs:  l.Runs,
				Level: l.Value,
			})
		}
		d.Figures = append(d.Figures, figure)
	}
	for _, c := range t.Changes() {
		d.Changes = append(d.Changes, output.DocumentStep{
			Tag:        c.Of.Tag,
			Figure:     c.Of.String(),
			Run:        t.Runs[c.After.From].Name,
			Before:     c.Before.Value,
			After:      c.After.Value,
			Ratio:      c.Ratio(),
			RunsBefore: c.Before.Runs,
			RunsAfter:  c.After.Runs,
			Earliest:   t.Runs[c.After.Earliest].Name,
			Latest:     t.Runs[c.After.Latest].Name,
		})
	}
	return d
}
