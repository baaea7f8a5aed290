package compare

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/report"
	"hdrkit/internal/scan"
	"hdrkit/internal/sides"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// Options say which logs to compare, and what to print about them.
type Options struct {
	asked.Options
	Logs  *logs.Options // options of both sides, without names of logs
	Names Names
	// Level is the confidence of intervals in percent. PrintIntervals prints the intervals of
	// figures.
	Level          float64
	PrintIntervals bool
	// Tolerance says how much the figures of one version differ.
	Tolerance sides.Tolerance
	// Unpaired compares runs as if they had not run at the same time.
	Unpaired bool
	// Tests prints p= and n= behind each change.
	Tests bool
}

// A side is the logs before or after, with their sums.
type side struct {
	*summary.Result
	scan *scan.Scan
	logs *logs.Logs
	runs []*summary.Result // the sums of each run, nil if the side is one run
}

// A reading is the state of one call of [Logs].
type reading struct {
	options     *Options
	std         *message.Streams
	diagnostics *logs.Diagnostics
	units       *logs.Units
	byRun       bool
	before      side
	after       side
}

// Logs compares logs and writes the report. It returns a status if a limit fails or is undecided.
func Logs(std *message.Streams, o *Options) error {
	diagnostics := logs.NewDiagnostics(std, o.Logs.Run.Strict)
	units, err := logs.NewUnits(std, o.Units)
	if err != nil {
		return err
	}
	units.Headed = o.Kind != "json" && o.Kind != "junit"
	sides, err := FindSides(std, diagnostics, o.Logs, o.Names)
	if err != nil {
		return err
	}
	r := &reading{
		options:     o,
		std:         std,
		diagnostics: diagnostics,
		units:       units,
		byRun:       sides.Runs,
		before:      side{scan: sides.Before},
		after:       side{scan: sides.After},
	}
	if err := r.read(&r.before, o.Names.Before); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	if err := r.before.Compact(r.before.scan.Memory); err != nil {
		return err
	}
	if err := r.read(&r.after, o.Names.After); err != nil {
		return fmt.Errorf("after: %w", err)
	}
	result, table, err := r.compare()
	if err != nil {
		return err
	}
	inputs := slices.Concat(sides.After.Inputs, sides.Before.Inputs)
	err = logs.WriteFile(o.File, std.Out, inputs, func(w io.Writer) error { return r.write(w, result, table) })
	if err != nil {
		return err
	}
	return asked.Status(std, result.Verdicts, o.Undecided, "Run again: longer, or several times a side",
		diagnostics.Close())
}

// read adds up the logs of a side: all together, and also each run if the side has several.
func (r *reading) read(s *side, names []string) (err error) {
	s.logs = r.units.Watch(s.scan)
	stop := logs.ShowProgress(s.scan, r.std)
	defer stop()
	if s.runs, s.Result, err = summary.AddUp(s.scan, r.byRun, r.readRun); err != nil {
		return err
	}
	if len(s.Summaries) == 0 {
		r.diagnostics.Close()
		return fmt.Errorf("%s: %w", message.List(names), logs.Nothing(s.scan))
	}
	s.SetPeriods("covered")
	return nil
}

// readRun adds up the logs of a run. If the side is one run, it computes the intervals of figures,
// unless memory is too small and nobody asked for intervals.
func (r *reading) readRun(s *scan.Scan) (*summary.Result, error) {
	if err := r.options.Logs.Times.FindSteady(r.std, s); err != nil {
		return nil, err
	}
	wanted := summary.Options{Maxima: r.options.Kind != "json"}
	if !r.byRun {
		wanted.Runs = &summary.Runs{Optional: !r.options.PrintIntervals, Unpaired: r.options.Unpaired}
	}
	result, err := summary.Collect(s, wanted)
	if err == nil && wanted.Runs != nil {
		err = result.Believe(wanted.Runs, asked.Believed(r.options.Figures.Percentiles, r.options.Limits), r.options.Level, s.Workers)
	}
	return result, err
}

// compare finds how to print values, and compares the sides. It returns the table that prints the
// changes.
func (r *reading) compare() (*Result, *report.Table, error) {
	r.saySame()
	before := asked.Side{Summaries: r.before.Summaries, Logs: r.before.logs}
	after := asked.Side{Summaries: r.after.Summaries, Logs: r.after.logs}
	_, err := asked.Fit(r.units, &r.options.Figures, r.options.Limits, r.options.Kind != "json", before, after)
	if err != nil {
		return nil, nil, err
	}
	table := &report.Table{
		Percentiles: r.options.Figures.Percentiles,
		Shares:      r.options.Figures.Shares,
		Markdown:    r.options.Kind == "markdown",
	}
	if r.after.scan.Rows.By.Phases() {
		table.Head = "phase"
		if r.options.Kind == "table" || r.options.Kind == "markdown" {
			table.Notes = r.diagnostics.TakePhaseNotes()
		}
	}
	table.Tests = r.options.Tests
	c := &Comparison{
		Before:    r.before.sums(r.options.Names.Sum),
		After:     r.after.sums(r.options.Names.Sum),
		Figures:   r.options.Figures,
		Limits:    r.options.Limits,
		Strict:    r.options.Undecided == "fail",
		Phases:    r.after.scan.Rows.By.Phases(),
		Level:     r.options.Level,
		Intervals: r.options.PrintIntervals,
		Zone:      r.options.Logs.Times.Zone,
		Tolerance: r.options.Tolerance,
		Unknown:   cmp.Or(r.after.logs.Unstated(), r.before.logs.Unstated()),
		Partly:    r.diagnostics.Warnf,
	}
	return c.Compare(), table, nil
}

// sums returns the sums of a side. If together is set, its logs are one run.
func (s *side) sums(together bool) Sums {
	sums := Sums{Summaries: s.Summaries, Runs: s.runs, Added: 1}
	if !together {
		sums.Added = len(s.scan.Runs())
	}
	return sums
}

// saySame warns if a log is on both sides.
func (r *reading) saySame() {
	names := make(map[string]bool)
	for _, after := range r.after.scan.Inputs {
		names[after.Name] = true
	}
	inputs := r.before.scan.Inputs
	single := len(inputs) == 1 && len(names) == 1
	for _, before := range inputs {
		same := names[before.Name] || single && sameFile(before.Name, r.after.scan.Inputs[0].Name)
		if same && !before.Once {
			r.std.Say("%s is on both sides: it is compared with itself", before.Name)
			return
		}
	}
}

// sameFile reports whether two names are names of one file.
func sameFile(a, b string) bool {
	before, err := os.Stat(a)
	if err != nil {
		return false
	}
	after, err := os.Stat(b)
	return err == nil && os.SameFile(before, after)
}

// write writes a result in the format of the options.
func (r *reading) write(w io.Writer, result *Result, table *report.Table) error {
	if logs.ToStdout(r.options.File) {
		table.Width, table.Colour = logs.Width(r.std.Out), logs.Colour(r.std.Out)
	}
	found := result.Findings
	switch r.options.Kind {
	case "junit":
		return report.JUnit(w, "hdrdiff", found)
	case "json":
		return output.JSON(w, r.document(result))
	case "findings":
		return table.WriteList(w, found)
	}
	changes := func(w io.Writer) error { return table.WriteChanges(w, result.Pairs) }
	return report.Write(w, table, report.Top(found, r.std.Next), found, changes)
}

// document returns the result for JSON.
func (r *reading) document(result *Result) *output.Document {
	figures, zone := &r.options.Figures, r.options.Logs.Times.Zone
	doc := output.StreamDocument(r.after.Summaries, figures.Percentiles, figures.Shares, zone)
	baseline := output.NewDocument(r.before.Summaries, figures.Percentiles, figures.Shares, zone)
	asked.Describe(doc, r.after.scan.Inputs, "covered", r.diagnostics)
	asked.Describe(baseline, r.before.scan.Inputs, "covered", r.diagnostics)
	doc.Sentence = result.Headline.Sentence
	doc.Findings = result.Findings
	report.Compare(doc, baseline, result.Pairs, figures.Percentiles)
	doc.Limits = gate.Documents(result.Verdicts)
	return doc
}
