package main

import (
	"io"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/report"
	"hdrkit/internal/question/trend"
	"hdrkit/output"
)

// runTrend finds out how figures change over many runs. It returns a status if a limit does not
// hold for the newest.
func runTrend(std *message.Streams, o *options) error {
	diagnostics := logs.NewDiagnostics(std, o.Strict)
	units, err := logs.NewUnits(std, o.unit)
	if err != nil {
		return err
	}
	readable := o.kind == "table" || o.kind == "markdown" || o.kind == "findings"
	units.Headed = readable
	o.Names = o.new
	s, err := o.Scan(std, diagnostics)
	if err != nil {
		return err
	}
	stop := logs.ShowProgress(s, std)
	defer stop()
	printed := o.shown()
	figures := slices.Clone(printed)
	for _, l := range o.limits {
		if !slices.Contains(figures, l.Figure) {
			figures = append(figures, l.Figure)
		}
	}
	t, err := trend.Collect(std, s, units, trend.Options{
		Options:  &o.Options,
		Figures:  figures,
		Given:    o.order == "given",
		Readable: readable,
		Unit:     gate.HasUnit(o.limits),
	})
	if err != nil {
		return err
	}
	stop()
	judging := trend.Limits{
		Limits: o.limits,
		When:   func(run int) string { return t.When(run, o.Zone) },
		Name:   t.Short,
	}
	if judging.Accepted, err = o.accepted(t); err != nil {
		return err
	}
	verdicts := trend.Judge(t, judging)
	hidden := func(f output.TrendFigure) bool { return !slices.Contains(printed, f.Figure) }
	t.Figures = slices.DeleteFunc(t.Figures, hidden)
	written := &writtenTrend{options: o, Trend: t, verdicts: verdicts}
	write := func(w io.Writer) error { return written.write(w, std, diagnostics) }
	err = logs.WriteFile(o.of, std.Out, s.Inputs, write)
	if err != nil {
		return err
	}
	return report.Status(std, verdicts, o.undecided, "Run again", diagnostics.Close())
}

// A writtenTrend is a trend with the verdicts about it.
type writtenTrend struct {
	*options
	*output.Trend
	verdicts []gate.Verdict
}

// write writes the trend as the options say.
func (t *writtenTrend) write(w io.Writer, std *message.Streams, d *logs.Diagnostics) error {
	changes := t.Findings(t.Zone)
	found := finding.Compared(&finding.Run{Scale: t.Scale, Zone: t.Zone, Verdicts: t.verdicts}, changes)
	table := output.Table{Markdown: t.kind == "markdown"}
	if logs.ToStdout(t.of) {
		table.Width, table.Colour = logs.Width(std.Out), logs.Colour(std.Out)
	}
	switch t.kind {
	case "csv":
		return output.TrendCSV(w, t.Trend, t.Zone)
	case "junit":
		return output.JUnit(w, "hdrdiff", found)
	case "json":
		doc := output.NewTrendDocument(t.Trend, t.Zone)
		doc.Findings = found
		doc.SkippedLines, doc.Limits = d.Skipped(), gate.Documents(t.verdicts)
		return output.JSON(w, doc)
	case "findings":
		return report.WriteList(w, found, table.Colour)
	}
	var top []string
	for n, f := range found {
		if n == 0 || !f.Verdict() {
			top = append(top, f.Sentence)
		}
	}
	return report.Write(w, &table, top, found, func(w io.Writer) error { return table.WriteTrend(w, t.Trend, t.Zone) })
}

// accepted returns the number of the run of -accept.
func (o *options) accepted(t *output.Trend) (int, error) {
	if o.accept == "" {
		return 0, nil
	}
	for n, run := range t.Runs {
		if run.Name == o.accept || t.Short(n) == o.accept {
			return n, nil
		}
	}
	return 0, message.Usagef("-accept %s: no run has this name, as %s has", o.accept, t.Short(len(t.Runs)-1))
}

// shown returns those of -p, always with the maximum and the rate.
func (o *options) shown() (all []output.Figure) {
	percentiles := o.figures.Percentiles
	if !o.percentilesGiven {
		percentiles = []float64{50, 99}
	}
	for _, p := range percentiles {
		if f := (output.Figure{Percentile: p}); p != 100 && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return append(all, output.Figure{Name: output.Max}, output.Figure{Name: output.Throughput})
}
