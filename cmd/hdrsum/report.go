package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// A report is what hdrsum finds out about logs, for formats.
type report struct {
	*options
	after  *side             // the logs that are shown
	before *side             // the baseline, empty without
	inputs []scan.Input      // of the baseline
	shown  []*output.Summary // of after, in their order
	pairs  []output.Pair     // the comparison with the baseline
	// verdicts are about limits, moments and levels are what -worst finds, and shares are what -who
	// finds.
	verdicts []gate.Verdict
	moments  []output.Moment
	levels   []output.Level
	shares   *output.Shares
}

// A side is what the logs that are shown, or those of the baseline, add up to.
type side struct {
	*summary.Result
	logs  *cli.Logs
	runs  []*summary.Result // what each log adds up to, if each is a run
	parts []*summary.Parts  // of all, or of each run
}

// runSummary adds up the logs and writes the report. It returns a status if a limit does not hold.
func runSummary(o *options) error {
	d := o.diagnostics
	var base *scan.Scan
	var err error
	if o.runs { // otherwise later: the writer of a pipe may wait until the other logs are read
		if base, err = cli.ScanOf(o.c, "baseline", o.scan, d); err != nil {
			return err
		}
		if err = o.checkRuns(base); err != nil {
			return err
		}
	}
	r := &report{options: o, before: &side{Result: new(summary.Result)}}
	if r.after, err = o.add(o.scan, true); err != nil {
		return err
	}
	r.shown = r.after.Summaries
	if o.format == &listFormat {
		if err := r.write(); err != nil {
			return err
		}
		return d.Close()
	}
	if o.baseline {
		if base == nil {
			if base, err = cli.ScanOf(o.c, "baseline", o.scan, d); err != nil {
				return err
			}
		}
		if r.before, err = o.add(base, false); err != nil {
			return fmt.Errorf("-baseline: %w", err)
		}
		r.inputs = base.Inputs
	}
	if err := r.judge(); err != nil {
		return err
	}
	if err := r.write(); err != nil {
		return err
	}
	skipped := d.Close()
	failed, open := gate.Count(r.verdicts)
	if failed > 0 {
		fmt.Fprintf(o.c.App.ErrWriter, "%s: %d of %d limits do not hold\n", o.c.App.Name, failed, len(r.verdicts))
		return cli.Status(cli.Exceeded)
	}
	if open > 0 {
		fmt.Fprintf(o.c.App.ErrWriter, "%s: %d of %d limits are undecided. A longer run, or several a side, would decide\n", o.c.App.Name, open, len(r.verdicts))
		if o.strict {
			return cli.Status(cli.Undecided)
		}
	}
	return skipped
}

// checkRuns finds out whether there are enough runs to compare.
func (o *options) checkRuns(base *scan.Scan) error {
	const least = 3
	before, after := len(base.Inputs), len(o.scan.Inputs)
	switch {
	case (before == 1) != (after == 1):
		return cli.Usagef("-compare: %d before and %d after: give a log each, or several runs each, as two folders or two patterns", before, after)
	case before == 1:
		o.runs = false
	case min(before, after) < least:
		o.diagnostics.Warnf("-compare: %d runs before and %d after are too few to tell how runs vary, which takes %d on each side: this compares their sums as one run with one", before, after, least)
		o.runs = false
	}
	return nil
}

// add adds up logs, together or each of them if each is a run, and finds intervals of confidence.
// Those that are shown are also watched for limits over time, and searched for what else is asked.
func (o *options) add(s *scan.Scan, shown bool) (*side, error) {
	all := &side{logs: o.units.Watch(s)}
	var look func(v scan.Visit, h *histogram.Histogram, r *seen)
	var take func(v scan.Visit, r *seen) error
	var also func(_ int, _ scan.Visit, r *seen) (*merge.Sum, bool)
	if shown {
		o.logs = all.logs
		o.watch = o.newWatch()
		take = func(v scan.Visit, r *seen) error {
			sayInterval(o.c, v.Place, v.Tag, v.StartMillis(), v.EndMillis(), r.count)
			if o.watch == nil {
				return nil
			}
			return o.watch.Add(v, &r.sum)
		}
	}
	if shown && o.c.Bool("v") {
		look = func(_ scan.Visit, h *histogram.Histogram, r *seen) { r.count = h.TotalCount() }
	}
	if shown && o.watch != nil {
		s.ByTime = true
		also = func(_ int, _ scan.Visit, r *seen) (*merge.Sum, bool) { r.sum.Reset(); return &r.sum, false }
	}
	stop := cli.ShowProgress(s, o.c.App.ErrWriter, o.c.Bool("q"))
	defer stop()
	one := func(s *scan.Scan) (*summary.Result, error) {
		if err := cli.FindSteady(o.c, s); err != nil {
			return nil, err
		}
		wanted := summary.Options{Maxima: o.format.readable} // maxima over time are for sparklines only
		if o.level > 0 && !o.runs {
			wanted.Runs = &summary.Runs{Size: o.series.Window}
		}
		if shown {
			if wanted.Parts = o.parts(); wanted.Parts != nil {
				all.parts = append(all.parts, wanted.Parts)
			}
		}
		result, err := summary.Collect(s, wanted, look, take, also)
		if err == nil && shown && o.watch != nil {
			err = o.watch.Close()
		}
		if err == nil && wanted.Runs != nil {
			err = result.Believe(wanted.Runs, o.believed, o.level, s.Workers)
			if errors.As(err, new(*ledger.LimitError)) && !cli.Given(o.c, "ci") {
				err = nil // nobody asked for intervals
			}
		}
		return result, err
	}
	var err error
	if o.runs {
		for n := range s.Inputs {
			run := *s
			run.Inputs = s.Inputs[n : n+1]
			run.Comment = func(_ int, text []byte) error { return s.Comment(n, text) }
			run.Kept = func(_ int, tag []byte) { s.Kept(n, tag) }
			result, err := one(&run)
			if err != nil {
				return nil, err
			}
			s.Seen += run.Seen
			result.SetPeriods(o.mode)
			all.runs = append(all.runs, result)
		}
		all.Result, err = summary.Combine(all.runs, s.Memory)
	} else {
		all.Result, err = one(s)
	}
	if err == nil && len(all.Summaries) == 0 {
		o.diagnostics.Close()
		err = cli.NothingLeft(s)
	}
	return all, err
}

// judge finds out how to print values, compares the sides, checks the limits and finds what else is
// asked.
func (r *report) judge() error {
	r.before.SetPeriods(r.mode)
	r.after.SetPeriods(r.mode)
	scale, err := r.fitScale(r.before, r.after)
	if err != nil {
		return err
	}
	r.warnOmission(r.after, scale.In)
	if r.baseline {
		r.pair()
	}
	if !cli.Given(r.c, "ci") && !r.strict {
		r.hideConfidence()
	}
	r.verdicts = gate.Judge(r.limits, gate.Figures{Summaries: r.after.Summaries, Baseline: r.before.Summaries, Pairs: r.pairs, Scale: scale, Watch: r.watch, Strict: r.strict})
	if !cli.Given(r.c, "ci") {
		r.hideConfidence()
	}
	if err := r.find(); err != nil {
		return err
	}
	if r.shown = r.arrange(r.after.Summaries, scale); len(r.shown) < len(r.after.Summaries) {
		r.diagnostics.Warnf("-top shows %d of %d rows", len(r.shown), len(r.after.Summaries))
	}
	return nil
}

// hideConfidence removes the intervals that only comparisons and limits needed.
func (r *report) hideConfidence() {
	for _, s := range slices.Concat(r.before.Summaries, r.after.Summaries) {
		s.Confidence = nil
	}
}

// pair puts the summaries of each tag together, in the order of tags, and compares them.
func (r *report) pair() {
	before, after := r.before, r.after
	var pairs []output.Pair
	for _, s := range before.Summaries {
		pairs = append(pairs, output.Pair{Tag: s.Tag, Before: s, After: gate.Find(after.Summaries, s.Tag)})
	}
	for _, s := range after.Summaries {
		if gate.Find(before.Summaries, s.Tag) == nil {
			pairs = append(pairs, output.Pair{Tag: s.Tag, After: s})
		}
	}
	slices.SortStableFunc(pairs, func(a, b output.Pair) int { return tags.Compare(a.Tag, b.Tag) })
	for n := range pairs {
		p := &pairs[n]
		switch {
		case p.Before == nil || p.After == nil:
		case before.runs != nil:
			a, b := ofTag(before.runs, p.Tag), ofTag(after.runs, p.Tag)
			if len(a) < len(before.runs) || len(b) < len(after.runs) {
				r.diagnostics.Warnf("-compare: %s is in %d of %d logs before and in %d of %d after", p.After.Name(), len(a), len(before.runs), len(b), len(after.runs))
			}
			p.Change = output.NewRunsChange(*p, a, b, r.believed, r.level)
		case p.Before.Confidence != nil && p.After.Confidence != nil:
			p.Change = output.NewChange(p.Before, p.After)
		}
	}
	output.Correct(pairs, r.percentiles)
	r.pairs = pairs
}

// ofTag returns the summaries of a tag, without those that have no values.
func ofTag(runs []*summary.Result, tag []byte) (all []*output.Summary) {
	for _, run := range runs {
		if s := gate.Find(run.Summaries, tag); s != nil && s.Counts().TotalCount() > 0 {
			all = append(all, s)
		}
	}
	return all
}

// write writes the report in its format.
func (r *report) write() error {
	f, of := r.format, r.c.String("of")
	if f.extension != "" && !toStdout(r.c) {
		return r.writeApart(of)
	}
	return cli.WriteFile(of, r.c.App.Writer, slices.Concat(r.scan.Inputs, r.inputs), func(w io.Writer) error {
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
func (r *report) writeApart(of string) error {
	fold := tempfile.FoldsCase(filepath.Dir(of))
	var files []cli.File
	var paths []string
	for _, s := range r.shown {
		path := summaryPath(of, s.Tag, r.format.extension, fold)
		paths = append(paths, path)
		files = append(files, cli.File{Path: path, Write: func(w io.Writer) error { return r.format.each(w, r, s) }})
	}
	err := cli.WriteFiles(r.c.App.Writer, r.scan.Inputs, files...)
	if err == nil {
		cli.Wrote(r.c, paths)
	}
	return err
}
