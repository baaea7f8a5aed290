package main

import (
	"fmt"
	"io"
	"path/filepath"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/report"
	"hdrkit/internal/question/summary"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A found is what hdrsum finds out about logs, for formats.
type found struct {
	*options
	*summary.Result
	course *summary.Course    // nil if no format asks for findings
	kept   *summary.Histories // nil if nothing is searched for
	shown  []*output.Summary  // in their order
	// verdicts are about limits, moments and levels are what -worst finds, and shares are what -who
	// finds.
	verdicts []gate.Verdict
	findings []output.Finding
	moments  []output.Moment
	shares   *output.Shares
}

// runSummary adds up the logs and writes the report. It returns a status if a limit does not hold.
func runSummary(o *options) error {
	r := &found{options: o}
	if err := r.add(); err != nil {
		return err
	}
	r.shown = r.Summaries
	if o.format != &listFormat {
		if err := r.judge(); err != nil {
			return err
		}
	}
	if err := r.write(); err != nil {
		return err
	}
	// HdrLogProcessing takes logs by this option only.
	if o.given.inputs && o.format == &tableFormat && !o.given.kind && !message.Terminal(o.std.Out) {
		o.std.Notef("-st %s has the lines of HdrLogProcessing", percentilesFormat.Name)
	}
	return report.Status(o.std, r.verdicts, o.undecided, "Run again, and longer", o.diagnostics.Close())
}

// add adds up the logs and finds intervals of confidence. It watches them for limits over time, and
// keeps what else is asked.
func (r *found) add() (err error) {
	o, s := r.options, r.scan
	o.logs = o.units.Watch(s)
	o.watch = o.newWatch()
	flows := o.watch.Flows()
	s.ByTime = s.ByTime || flows != nil
	if o.Verbose {
		flows = append(flows, &flow.Intervals{Emit: func(r *flow.Result) error {
			o.sayInterval(r.Visit.Place, r.Tag, r.Visit.StartMillis(), r.Visit.EndMillis(), r.Stats.Count)
			return nil
		}})
	}
	stop := logs.ShowProgress(s, o.std)
	defer stop()
	r.kept = o.histories()
	wanted := summary.Options{Maxima: o.format.values == readable, Histories: r.kept} // maxima over time are for sparklines only
	if o.format.finds {
		r.course = new(summary.Course)
		wanted.Course = r.course
	}
	if o.level > 0 {
		wanted.Runs = &summary.Runs{Size: o.series.Window, Optional: !o.given.level}
	}
	r.Result, err = summary.Collect(s, wanted, flows...)
	if err == nil && wanted.Runs != nil {
		err = r.Believe(wanted.Runs, o.believed, o.level, s.Workers)
	}
	if err == nil && s.Selection.Range == (scan.Range{}) {
		for _, name := range r.Idle(s.Inputs) {
			o.diagnostics.Idle(name)
		}
	}
	if err == nil && len(r.Summaries) == 0 {
		o.diagnostics.Close()
		err = logs.NothingLeft(s)
	}
	return err
}

// verdictBytes is about what a verdict takes, with the sentence that is made of it and its form in
// documents: 1.1 KB of 100,000.
const verdictBytes = 1200

// judge finds out how to print values, checks the limits and finds what else is asked.
func (r *found) judge() error {
	r.SetPeriods(r.mode)
	err := r.fitScale(r.Summaries)
	if err != nil {
		return err
	}
	r.verdicts = gate.Judge(r.limits, gate.Figures{
		Summaries: r.Summaries,
		Watch:     r.watch,
		Strict:    r.undecided == "fail",
	})
	verdicts := r.Ledger().Open("verdicts about limits", "give limits for fewer tags, or choose some with -incT")
	if err := verdicts.Add(len(r.verdicts), verdictBytes*len(r.verdicts)); err != nil {
		return err
	}
	if !r.given.level { // only the limits needed intervals
		for _, s := range r.Summaries {
			s.Confidence = nil
		}
	}
	if err := r.find(); err != nil {
		return err
	}
	if r.shown = r.arrange(r.Summaries); len(r.shown) < len(r.Summaries) {
		r.diagnostics.Warnf("-top shows %d of %d rows", len(r.shown), len(r.Summaries))
	}
	return nil
}

// write writes the report in its format.
func (r *found) write() error {
	f, of := r.format, r.of
	if f.reference {
		r.SetReferencePeriods(r.mode)
	}
	if f.extension != "" && !logs.ToStdout(r.of) {
		return r.writeApart(of)
	}
	return logs.WriteFile(of, r.std.Out, r.scan.Inputs, func(w io.Writer) error {
		if f.all != nil {
			return f.all(w, r)
		}
		for _, s := range r.shown {
			if f.extension != "" && len(r.shown) > 1 {
				fmt.Fprintf(w, "#[Tag: %s]\n", tags.Text(s.Tag))
			}
			if err := f.each(w, r, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeApart writes each summary to a file of its own.
func (r *found) writeApart(of string) error {
	fold := tempfile.FoldsCase(filepath.Dir(of))
	var files []logs.File
	var paths []string
	for _, s := range r.shown {
		path := summaryPath(of, s.Tag, r.format.extension, fold)
		paths = append(paths, path)
		files = append(files, logs.File{Path: path, Write: func(w io.Writer) error { return r.format.each(w, r, s) }})
	}
	err := logs.WriteFiles(r.std.Out, r.scan.Inputs, files...)
	if err == nil {
		logs.Wrote(r.std, paths)
	}
	return err
}
