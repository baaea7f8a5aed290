package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/report"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// A comparison is two sides, and what is found out about them.
type comparison struct {
	*options
	std         *message.Streams
	diagnostics *logs.Diagnostics
	units       *logs.Units
	sides       report.Sides
	old, new    *side
	pairs       []output.Pair
	verdicts    []gate.Verdict
}

// A side is what the logs before or after add up to.
type side struct {
	*summary.Result
	scan *scan.Scan
	logs *logs.Logs
	runs []*summary.Result // what each log adds up to, if each is a run
}

// run compares the sides and writes the report. It returns a status if a limit does not hold.
func run(std *message.Streams, o *options) (err error) {
	c := &comparison{
		options:     o,
		std:         std,
		diagnostics: logs.NewDiagnostics(std, o.Strict),
		old:         new(side),
		new:         new(side),
	}
	if c.units, err = logs.NewUnits(std, o.unit); err != nil {
		return err
	}
	c.units.Headed = o.kind != "json" && o.kind != "junit"
	if c.sides, err = report.FindSides(std, c.diagnostics, &o.Options, o.old, o.new, o.sum); err != nil {
		return err
	}
	c.old.scan, c.new.scan = c.sides.Before, c.sides.After
	if err := c.read(c.old, c.options.old); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	if err := c.read(c.new, c.options.new); err != nil {
		return fmt.Errorf("after: %w", err)
	}
	if err := c.judge(); err != nil {
		return err
	}
	if err := c.write(); err != nil {
		return err
	}
	return report.Status(std, c.verdicts, o.undecided, "Run again: longer, or several times a side",
		c.diagnostics.Close())
}

// read adds up the logs of a side, together or each if each is a run, and finds intervals of
// confidence.
func (c *comparison) read(s *side, names []string) (err error) {
	s.logs = c.units.Watch(s.scan)
	stop := logs.ShowProgress(s.scan, c.std)
	defer stop()
	if !c.sides.Runs {
		s.Result, err = c.readRun(s.scan)
	} else {
		s.runs, s.Result, err = summary.CombineRuns(s.scan, c.readRun)
	}
	if err == nil && len(s.Summaries) == 0 {
		c.diagnostics.Close()
		err = fmt.Errorf("%s: %w", message.List(names), logs.NothingLeft(s.scan))
	}
	return err
}

// readRun adds up the logs of a run. Without runs, it finds its intervals, unless that takes too
// much memory and nobody asked for them.
func (c *comparison) readRun(s *scan.Scan) (*summary.Result, error) {
	if err := c.FindSteady(c.std, s); err != nil {
		return nil, err
	}
	wanted := summary.Options{Maxima: c.kind != "json"}
	if !c.sides.Runs {
		wanted.Runs = &summary.Runs{Optional: !c.levelGiven}
	}
	result, err := summary.Collect(s, wanted)
	if err == nil && wanted.Runs != nil {
		err = result.Believe(wanted.Runs, report.Believed(c.figures.Percentiles, c.limits), c.level, s.Workers)
	}
	return result, err
}

// saySame says which log is on both sides.
func (c *comparison) saySame() {
	names := make(map[string]bool)
	for _, after := range c.new.scan.Inputs {
		names[after.Name] = true
	}
	old := c.old.scan.Inputs
	single := len(old) == 1 && len(names) == 1
	for _, before := range old {
		same := names[before.Name] || single && sameFile(before.Name, c.new.scan.Inputs[0].Name)
		if same && !before.Once {
			c.std.Say("%s is on both sides: it is compared with itself", before.Name)
			return
		}
	}
}

// sameFile reports whether two names are of one file.
func sameFile(a, b string) bool {
	before, err := os.Stat(a)
	if err != nil {
		return false
	}
	after, err := os.Stat(b)
	return err == nil && os.SameFile(before, after)
}

// judge finds out how to print values, compares the sides and checks the limits.
func (c *comparison) judge() error {
	c.saySame()
	c.old.SetPeriods("covered")
	c.new.SetPeriods("covered")
	before := report.Side{Summaries: c.old.Summaries, Logs: c.old.logs}
	after := report.Side{Summaries: c.new.Summaries, Logs: c.new.logs}
	_, err := report.Fit(c.units, &c.figures, c.limits, c.kind != "json", before, after)
	if err != nil {
		return err
	}
	c.pair()
	hide := func() {
		for _, s := range slices.Concat(c.old.Summaries, c.new.Summaries) {
			s.Confidence = nil
		}
	}
	strict := c.undecided == "fail"
	if !c.levelGiven && !strict { // only the changes have intervals
		hide()
	}
	c.verdicts = gate.Judge(c.limits, gate.Figures{
		Summaries: c.new.Summaries,
		Baseline:  c.old.Summaries,
		Pairs:     c.pairs,
		Strict:    strict,
	})
	if !c.levelGiven {
		hide()
	}
	return nil
}

// pair compares the summaries of each tag.
func (c *comparison) pair() {
	compared := report.Comparison{
		Before:     c.old.Summaries,
		After:      c.new.Summaries,
		RunsBefore: c.old.runs,
		RunsAfter:  c.new.runs,
		Believed:   report.Believed(c.figures.Percentiles, c.limits),
		Printed:    c.figures.Percentiles,
		Level:      c.level,
	}
	c.pairs = compared.Pairs(c.diagnostics.Warnf)
}

// write writes the report.
func (c *comparison) write() error {
	inputs := slices.Concat(c.new.scan.Inputs, c.old.scan.Inputs)
	table := report.Table(c.figures, c.kind == "markdown", 0, false)
	table.Tests = c.tests
	headline := table.Headline(c.pairs)
	var rows []*output.Summary
	for _, p := range c.pairs {
		rows = append(rows, cmp.Or(p.After, p.Before))
	}
	found := finding.Compared(&finding.Run{
		Summaries: rows,
		Scale:     output.CommonScale(c.new.Summaries),
		Zone:      c.Zone,
		Verdicts:  c.verdicts,
	}, []output.Finding{headline})
	return logs.WriteFile(c.of, c.std.Out, inputs, func(w io.Writer) error {
		document := func(s *side) *output.Document {
			return report.Document(s.Summaries, s.scan.Inputs, c.figures, c.Zone, "covered", c.diagnostics)
		}
		if logs.ToStdout(c.of) {
			table.Width, table.Colour = logs.Width(c.std.Out), logs.Colour(c.std.Out)
		}
		switch c.kind {
		case "junit":
			return output.JUnit(w, "hdrdiff", found)
		case "json":
			doc := document(c.new)
			doc.Sentence = headline.Sentence
			doc.Findings = found
			doc.Compare(document(c.old), c.pairs, c.figures.Percentiles)
			doc.Limits = gate.Documents(c.verdicts)
			return output.JSON(w, doc)
		case "findings":
			return report.WriteList(w, found, table.Colour)
		}
		return report.Write(w, table, output.Top(found), found, func(w io.Writer) error { return table.WriteChanges(w, c.pairs) })
	})
}
