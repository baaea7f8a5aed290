package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/finding"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/report"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// An answer is what hdrsum finds out about logs, for formats of summaries.
type answer struct {
	sums      *summary.Result
	course    *summary.Course    // nil if no format asks for findings
	histories *summary.Histories // nil if nothing is searched for
	watch     *gate.Watch        // nil if no limit is checked over time
	// coincident are the phases that slow values come with, if there are phases.
	coincident []summary.Coincident
	scale      hdrlog.Scale      // of printed values
	shown      []*output.Summary // in their order
	// verdicts are about limits, moments are what -worst finds, and shares are what -who finds.
	verdicts []gate.Verdict
	findings []output.Finding
	moments  []output.Moment
	shares   *summary.Shares
}

// writeSummaries adds up the logs and writes the answer. It returns a status if a limit does not
// hold.
func writeSummaries(q *question) error {
	a := new(answer)
	if err := a.add(q); err != nil {
		return err
	}
	a.shown = a.sums.Summaries
	if q.format != &listFormat {
		if err := a.judge(q); err != nil {
			return err
		}
	}
	if err := a.write(q); err != nil {
		return err
	}
	if q.page.hint != "" {
		q.std.Notef("%s", q.page.hint)
	}
	otherwise := q.source.diagnostics.Close()
	return asked.Status(q.std, a.verdicts, q.limits.undecided, "Run again, and longer", otherwise)
}

// add adds up the logs and finds intervals of confidence. It watches them for limits over time, and
// keeps what else is asked.
func (a *answer) add(q *question) (err error) {
	s, f := q.source.scan, &q.figures
	a.watch = q.newWatch()
	flows := a.watch.Flows()
	s.ByTime = s.ByTime || flows != nil
	if q.source.verbose {
		flows = append(flows, &flow.Intervals{Emit: func(r *flow.Result) error {
			v := r.Visit
			if v.Again {
				return nil
			}
			sayInterval(q.std, v.Place, r.Tag, v.StartMillis(), v.EndMillis(), r.Stats.Count)
			return nil
		}})
	}
	stop := logs.ShowProgress(s, q.std)
	defer stop()
	a.histories = q.wantedHistories()
	// Maxima over time are for sparklines only.
	wanted := summary.Options{Maxima: q.format.values == readable, Histories: a.histories}
	if q.format.finds && !s.By.Phases() {
		a.course = new(summary.Course)
		wanted.Course = a.course
	}
	if f.level > 0 {
		wanted.Runs = &summary.Runs{Size: q.rows.Window, Optional: f.hidden}
	}
	a.sums, err = summary.Collect(s, wanted, flows...)
	if err == nil && wanted.Runs != nil {
		err = a.sums.Believe(wanted.Runs, f.believed, f.level, s.Workers)
	}
	if err == nil && s.Selection.Range == (scan.Range{}) {
		for _, name := range a.sums.Idle(s.Inputs) {
			q.source.diagnostics.Idle(name)
		}
	}
	if err == nil && len(a.sums.Summaries) == 0 {
		q.source.diagnostics.Close()
		err = logs.NothingLeft(s)
	}
	return err
}

// wantedHistories returns what keeps what is to be found, nil if nothing is.
func (q *question) wantedHistories() *summary.Histories {
	l := &q.lists
	switch {
	case l.worst > 0:
		return &summary.Histories{Times: true, Sums: l.who}
	case q.format.finds && !q.source.scan.By.Phases():
		several := len(q.source.scan.Inputs) >= finding.LeastLogs
		return &summary.Histories{Sums: l.who || several, Times: true, Most: mostTimes}
	case l.who:
		return &summary.Histories{Sums: true}
	}
	return nil
}

// mostTimes is the memory in bytes that the times of intervals may take if nobody asked for them:
// enough for eight hours of six tags with an interval a second.
const mostTimes = 20 << 20

// verdictBytes is about what a verdict takes, with the sentence that is made of it and its form in
// documents: 1.1 KB of 100,000.
const verdictBytes = 1200

// judge finds out how to print values, checks the limits and finds what else is asked.
func (a *answer) judge(q *question) error {
	summaries := a.sums.Summaries
	a.sums.SetPeriods(q.figures.period)
	if err := a.setScale(q); err != nil {
		return err
	}
	a.verdicts = gate.Judge(q.limits.all, gate.Figures{
		Summaries: summaries,
		Watch:     a.watch,
		Strict:    q.limits.undecided == "fail",
		Phases:    q.source.scan.By.Phases(),
	})
	memory := q.source.scan.Memory
	verdicts := memory.Open("verdicts about limits", "give limits for fewer tags, or choose some with -incT")
	if err := verdicts.Add(len(a.verdicts), verdictBytes*len(a.verdicts)); err != nil {
		return err
	}
	if q.figures.hidden {
		for _, s := range summaries {
			s.Confidence = nil
		}
	}
	if err := a.find(q); err != nil {
		return err
	}
	if a.shown = q.order.arrange(summaries); len(a.shown) < len(summaries) {
		q.source.diagnostics.Warnf("-top shows %d of %d rows", len(a.shown), len(summaries))
	}
	return nil
}

// setScale finds out how to print summaries and to compare them with limits.
func (a *answer) setScale(q *question) (err error) {
	limits := q.limits.all
	if by := q.order.by; by != nil && by.OfCounts() {
		limits = append(slices.Clone(limits), *by)
	}
	side := asked.Side{Summaries: a.sums.Summaries, Logs: q.source.logs}
	forPeople := q.format.values == readable
	a.scale, err = asked.Fit(q.source.units, &q.figures.printed, limits, forPeople, side)
	if err == nil {
		q.sayUnit(a.scale)
	}
	return err
}

// An order is that of summaries: by the figure, nil for their names. At most some are shown, 0 for
// all.
type order struct {
	by   *gate.Limit
	most int
}

// arrange returns the summaries to show, in their order: the highest figure first.
func (o order) arrange(summaries []*output.Summary) []*output.Summary {
	if o.by != nil {
		figures := make(map[*output.Summary]float64)
		for _, s := range summaries {
			figures[s] = math.Inf(-1)
			if s.Counts().TotalCount() > 0 {
				figures[s] = o.by.Of(s)
			}
		}
		highest := func(a, b *output.Summary) int { return cmp.Compare(figures[b], figures[a]) }
		summaries = slices.SortedStableFunc(slices.Values(summaries), highest)
	}
	if o.most > 0 {
		summaries = summaries[:min(o.most, len(summaries))]
	}
	return summaries
}

// find finds what is asked, once the logs are read and the scale is known.
func (a *answer) find(q *question) (err error) {
	l, by := &q.lists, q.source.scan.By
	scale := gate.Scales(a.sums.Summaries, by)
	if by.Phases() {
		scale = func(input string, _ []byte) hdrlog.Scale { return a.scale.Times(q.source.logs.LogFactor(input)) }
	}
	if l.worst > 0 {
		if a.moments, err = a.histories.Worst(l.worst, scale); err != nil {
			return fmt.Errorf("-worst: %w", err)
		}
	}
	if q.format.finds && by.Phases() {
		a.coincident, err = summary.Coincide(q.source.scan)
		if err == summary.ErrOnce {
			q.source.diagnostics.Warnf("-phases: %v", err)
		} else if err != nil {
			return err
		}
	}
	if f := q.format; f.finds || f.breaches || l.worst > 0 {
		a.findings = a.findingsOf(q)
	}
	if !l.who {
		return nil
	}
	names := make(map[string]bool)
	a.shares, err = a.histories.Who(l.percentile, scale, func(input string, row, tag []byte) (string, []byte) {
		names[tags.Text(tag)] = true
		switch {
		case !l.byInput:
			return "", row
		case !l.byTag:
			return input, nil
		}
		return input, tag
	})
	if err != nil {
		return fmt.Errorf("-who: %w", err)
	}
	q.source.diagnostics.AddsUp("-who", slices.Sorted(maps.Keys(names)))
	return nil
}

// findingsOf returns what the run shows.
func (a *answer) findingsOf(q *question) []output.Finding {
	from := &q.source
	all, _ := finding.Of(&finding.Run{
		Summaries:   a.sums.Summaries,
		By:          from.scan.By,
		Scale:       a.scale,
		Zone:        q.page.zone,
		Verdicts:    a.verdicts,
		Histories:   a.times(),
		Moments:     a.moments,
		Course:      a.course,
		Corrected:   from.corrected,
		Coincident:  a.coincident,
		ShortPhases: from.diagnostics.ShortPhases(),
		Failed:      from.diagnostics.Failed,
		Cut:         from.diagnostics.Cut(),
		Malformed:   from.diagnostics.Skipped(),
		Late:        from.diagnostics.TooLate(),
	})
	return all
}

// times returns the histories if they have the times of intervals.
func (a *answer) times() *summary.Histories {
	if a.histories != nil && a.histories.Times {
		return a.histories
	}
	return nil
}

// write writes the answer in its format.
func (a *answer) write(q *question) error {
	f, file := q.format, q.page.file
	if f.reference {
		a.sums.SetReferencePeriods(q.figures.period)
	}
	if f.extension != "" && !logs.ToStdout(file) {
		return a.writeApart(q)
	}
	return logs.WriteFile(file, q.std.Out, q.source.scan.Inputs, func(w io.Writer) error {
		if f.all != nil {
			return f.all(w, q, a)
		}
		for n, s := range a.shown {
			if f.extension != "" && len(a.shown) > 1 {
				fmt.Fprintf(w, "#[Tag: %s]\n", tags.Text(s.Tag))
			}
			if err := f.each(w, q, s, n == 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeApart writes each summary to a file of its own.
func (a *answer) writeApart(q *question) error {
	file := q.page.file
	fold := tempfile.FoldsCase(filepath.Dir(file))
	var files []logs.File
	var paths []string
	for _, s := range a.shown {
		path := summaryPath(file, s.Tag, q.format.extension, fold)
		paths = append(paths, path)
		files = append(files, logs.File{
			Path:  path,
			Write: func(w io.Writer) error { return q.format.each(w, q, s, true) },
		})
	}
	err := logs.WriteFiles(q.std.Out, q.source.scan.Inputs, files...)
	if err == nil {
		logs.Wrote(q.std, paths)
	}
	return err
}

// writeLists writes what -worst and -who ask for, after something else if that is set.
func (a *answer) writeLists(w io.Writer, q *question, after bool) error {
	if q.lists.worst > 0 {
		if after {
			fmt.Fprintln(w)
		}
		after = true
		for n := range a.findings {
			if f := &a.findings[n]; f.Kind == finding.Level {
				fmt.Fprintf(w, "%s\n\n", f.Sentence)
			}
		}
		if err := report.WriteWorst(w, a.moments, q.page.zone, q.page.width); err != nil {
			return err
		}
	}
	if !q.lists.who {
		return nil
	}
	if after {
		fmt.Fprintln(w)
	}
	shares := report.Shares{
		Percentile: a.shares.Percentile,
		Value:      a.shares.Value,
		Count:      a.shares.Count,
		Scale:      a.shares.Scale,
		Tags:       q.lists.byTag,
		Inputs:     q.lists.byInput,
		Of:         a.shares.Of,
	}
	return report.WriteWho(w, &shares, q.page.width)
}
