package trend

import (
	"io"
	"slices"
	"strings"

	"hdrkit/internal/base/message"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/report"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// ReportOptions say which runs to read, and what to print about them.
type ReportOptions struct {
	asked.Options
	Logs *logs.Options
	// GivenOrder keeps the runs in the order in which they were given, as [Options] does.
	GivenOrder bool
	// Accept is the name of the run with which the history of limits begins, empty for the first.
	Accept string
}

// Report finds how figures change over many runs, and writes a report. It returns a status if a
// limit fails or is undecided.
func Report(std *message.Streams, o *ReportOptions) error {
	diagnostics := logs.NewDiagnostics(std, o.Logs.Run.Strict)
	units, err := logs.NewUnits(std, o.Units)
	if err != nil {
		return err
	}
	readable := o.Kind == "table" || o.Kind == "markdown" || o.Kind == "findings"
	units.Headed = readable
	s, err := o.Logs.Scan(std, diagnostics)
	if err != nil {
		return err
	}
	stop := logs.ShowProgress(s, std)
	defer stop()
	printed := o.printed()
	figures := slices.Clone(printed)
	for _, l := range o.Limits {
		if !slices.Contains(figures, l.Figure) {
			figures = append(figures, l.Figure)
		}
	}
	t, err := Collect(std, s, units, Options{
		Logs:       o.Logs,
		Figures:    figures,
		GivenOrder: o.GivenOrder,
		Readable:   readable,
		Judged:     gate.NeedsUnit(o.Limits, &o.Units),
	})
	if err != nil {
		return err
	}
	stop()
	judging := ChangeLimits{
		Limits: o.Limits,
		When:   func(run int) string { return t.When(run, o.Logs.Times.Zone) },
		Name:   t.Short,
	}
	if judging.Accepted, err = o.accepted(t); err != nil {
		return err
	}
	verdicts := Judge(t, judging)
	hidden := func(f sides.TrendFigure) bool { return !slices.Contains(printed, f.Figure) }
	t.Figures = slices.DeleteFunc(t.Figures, hidden)
	err = logs.WriteFile(o.File, std.Out, s.Inputs, func(w io.Writer) error {
		return o.write(w, std, diagnostics, t, verdicts)
	})
	if err != nil {
		return err
	}
	return asked.Status(std, verdicts, o.Undecided, "Run again", diagnostics.Close())
}

// write writes the report about a trend and its verdicts.
func (o *ReportOptions) write(w io.Writer, std *message.Streams, d *logs.Diagnostics, t *sides.Trend, verdicts []gate.Verdict) error {
	zone := o.Logs.Times.Zone
	changes := finding.Trend(t, zone)
	found := finding.Compared(&finding.Run{Scale: t.Scale, Zone: zone, Verdicts: verdicts}, changes)
	table := report.Table{Markdown: o.Kind == "markdown", Zone: zone}
	if logs.ToStdout(o.File) {
		table.Width, table.Colour = logs.Width(std.Out), logs.Colour(std.Out)
	}
	switch o.Kind {
	case "csv":
		return report.TrendCSV(w, t, zone)
	case "junit":
		return report.JUnit(w, "hdrdiff", found)
	case "json":
		doc := report.NewTrendDocument(t, zone)
		doc.Sentence = strings.Join(finding.Sentences(changes), " ")
		doc.Findings = found
		doc.SkippedLines, doc.Limits = d.Skipped(), gate.Documents(verdicts)
		return output.JSON(w, doc)
	case "findings":
		return table.WriteList(w, found)
	}
	var top []output.Finding
	for n, f := range found {
		if n == 0 || !f.Verdict() {
			top = append(top, f)
		}
	}
	figures := func(w io.Writer) error { return table.WriteTrend(w, t) }
	return report.Write(w, &table, report.WithNext(top, std.Next), found, figures)
}

// accepted returns the index of the run that -accept names, 0 if it names none.
func (o *ReportOptions) accepted(t *sides.Trend) (int, error) {
	if o.Accept == "" {
		return 0, nil
	}
	for n, run := range t.Runs {
		if run.Name == o.Accept || t.Short(n) == o.Accept {
			return n, nil
		}
	}
	return 0, message.Usagef("-accept %s: no run has this name, as %s has", o.Accept, t.Short(len(t.Runs)-1))
}

// printed returns the figures that the report shows: the percentiles of -p, the maximum and the
// rate.
func (o *ReportOptions) printed() (all []output.Figure) {
	for _, p := range o.Figures.Percentiles {
		if f := (output.Figure{Percentile: p}); p != 100 && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return append(all, output.Figure{Name: output.Max}, output.Figure{Name: output.Throughput})
}
