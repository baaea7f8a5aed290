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

// An answer is the result of a question whose format prints summaries.
type answer struct {
	sums      *summary.Result
	course    *summary.Course    // how the run went over time, nil if the format prints no findings
	histories *summary.Histories // the intervals of each row, nil if nothing needs them
	watch     *gate.Watch        // nil if no limit is checked over time
	// coincident are the phases in which slow values occur more often than elsewhere.
	coincident []summary.Coincident
	scale      hdrlog.Scale      // scale of printed values
	printed    []*output.Summary // the summaries to print, in their order
	// verdicts are the results of limits, moments those of -worst, and shares those of -who.
	verdicts []gate.Verdict
	findings []output.Finding
	moments  []output.Moment
	shares   *summary.Shares
}

// writeSummaries answers the question and writes the answer. Its error is a status if a limit does
// not hold.
func writeSummaries(q *question) error {
	a := new(answer)
	if err := a.collect(q); err != nil {
		return err
	}
	a.printed = a.sums.Summaries
	if q.format != &listFormat {
		if err := a.evaluate(q); err != nil {
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

// collect reads the logs: it adds them up, computes intervals of confidence, checks limits over
// time, and keeps the intervals that -worst, -who and findings need.
func (a *answer) collect(q *question) (err error) {
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
			printInterval(q.std, v.Place, r.Tag, v.StartMillis(), v.EndMillis(), r.Stats.Count)
			return nil
		}})
	}
	stop := logs.ShowProgress(s, q.std)
	defer stop()
	a.histories = q.wantedHistories()
	// Only sparklines need maxima over time.
	wanted := summary.Options{Maxima: q.format.unitStyle == readable, Histories: a.histories}
	if q.format.printsFindings && !s.Rows.By.Phases() {
		a.course = new(summary.Course)
		wanted.Course = a.course
	}
	if f.level > 0 {
		wanted.Runs = &summary.Runs{Size: q.rows.Window, Optional: f.hidden}
	}
	a.sums, err = summary.Collect(s, wanted, flows...)
	if err == nil && wanted.Runs != nil {
		err = a.sums.Believe(wanted.Runs, f.withIntervals, f.level, s.Workers)
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

// wantedHistories returns histories that keep what -worst, -who and findings need, nil if nothing
// needs them.
func (q *question) wantedHistories() *summary.Histories {
	l := &q.lists
	switch {
	case l.worst > 0:
		return &summary.Histories{Times: true, Sums: l.who}
	case q.format.printsFindings && !q.source.scan.Rows.By.Phases():
		several := len(q.source.scan.Inputs) >= finding.MinLogs
		return &summary.Histories{Sums: l.who || several, Times: true, Most: maxTimesBytes}
	case l.who:
		return &summary.Histories{Sums: true}
	}
	return nil
}

// maxTimesBytes is the most memory, in bytes, for the times of intervals that only findings need.
// It is enough for eight hours of six tags with an interval a second.
const maxTimesBytes = 20 << 20

// verdictBytes is about the memory of a verdict with its sentence and its form in documents.
// Measured: 1.1 KB each for 100,000 verdicts.
const verdictBytes = 1200

// evaluate sets the scale, checks the limits, makes findings and lists, and chooses the summaries
// to print.
func (a *answer) evaluate(q *question) error {
	summaries := a.sums.Summaries
	a.sums.SetPeriods(q.figures.period)
	if err := a.setScale(q); err != nil {
		return err
	}
	a.verdicts = gate.Judge(q.limits.all, gate.Measured{
		Summaries: summaries,
		Watch:     a.watch,
		Strict:    q.limits.undecided == "fail",
		Phases:    q.source.scan.Rows.By.Phases(),
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
	if err := a.search(q); err != nil {
		return err
	}
	if a.printed = q.order.arrange(summaries); len(a.printed) < len(summaries) {
		q.source.diagnostics.Warnf("-top shows %d of %d rows", len(a.printed), len(summaries))
	}
	return nil
}

// setScale sets the scale in which summaries are printed and compared with limits.
func (a *answer) setScale(q *question) (err error) {
	limits := q.limits.all
	if by := q.order.by; by != nil && by.OfCounts() {
		limits = append(slices.Clone(limits), *by)
	}
	side := asked.Side{Summaries: a.sums.Summaries, Logs: q.source.logs}
	forPeople := q.format.unitStyle == readable
	a.scale, err = asked.Fit(q.source.units, &q.figures.printed, limits, forPeople, side)
	if err == nil {
		q.printUnit(a.scale)
	}
	return err
}

// An order says how to sort summaries: by a figure, the highest first, or by name if by is nil. If
// maxRows is not 0, only the first maxRows summaries are printed.
type order struct {
	by      *gate.Limit
	maxRows int
}

// arrange returns the summaries to print, sorted.
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
	if o.maxRows > 0 {
		summaries = summaries[:min(o.maxRows, len(summaries))]
	}
	return summaries
}

// search makes the findings and the lists of -worst and -who.
func (a *answer) search(q *question) (err error) {
	l, by := &q.lists, q.source.scan.Rows.By
	scale := summary.Scales(a.sums.Summaries, by)
	if by.Phases() {
		scale = func(input string, _ []byte) hdrlog.Scale { return a.scale.Times(q.source.logs.LogFactor(input)) }
	}
	if l.worst > 0 {
		if a.moments, err = a.histories.Worst(l.worst, scale); err != nil {
			return fmt.Errorf("-worst: %w", err)
		}
	}
	if q.format.printsFindings && by.Phases() {
		a.coincident, err = summary.Coincide(q.source.scan)
		if err == summary.ErrOnce {
			q.source.diagnostics.Warnf("-phases: %v", err)
		} else if err != nil {
			return err
		}
	}
	if f := q.format; f.printsFindings || f.printsBreaches || l.worst > 0 {
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
	q.source.diagnostics.WarnSameRequests("-who", slices.Sorted(maps.Keys(names)))
	return nil
}

// findingsOf returns the findings about the run.
func (a *answer) findingsOf(q *question) []output.Finding {
	from := &q.source
	all, _ := finding.Of(&finding.Run{
		Summaries:   a.sums.Summaries,
		By:          from.scan.Rows.By,
		Scale:       a.scale,
		Zone:        q.page.zone,
		Verdicts:    a.verdicts,
		Histories:   a.intervalTimes(),
		Moments:     a.moments,
		Course:      a.course,
		Corrected:   from.corrected,
		Coincident:  a.coincident,
		ShortPhases: from.diagnostics.ShortPhases(),
		Reading:     finding.ReadingOf(from.diagnostics),
	})
	return all
}

// intervalTimes returns the histories if they have the times of intervals, and otherwise nil.
func (a *answer) intervalTimes() *summary.Histories {
	if a.histories != nil && a.histories.Times {
		return a.histories
	}
	return nil
}

// write writes the answer in its format, to one file or to a file for each summary.
func (a *answer) write(q *question) error {
	f, file := q.format, q.page.file
	if f.referencePeriods {
		a.sums.SetReferencePeriods(q.figures.period)
	}
	if f.extension != "" && !logs.ToStdout(file) {
		return a.writeApart(q)
	}
	return logs.WriteFile(file, q.std.Out, q.source.scan.Inputs, func(w io.Writer) error {
		if f.writeAnswer != nil {
			return f.writeAnswer(w, q, a)
		}
		for n, s := range a.printed {
			if f.extension != "" && len(a.printed) > 1 {
				fmt.Fprintf(w, "#[Tag: %s]\n", tags.Text(s.Tag))
			}
			if err := f.writeSummary(w, q, s, n == 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeApart writes each summary to its own file.
func (a *answer) writeApart(q *question) error {
	file := q.page.file
	fold := tempfile.FoldsCase(filepath.Dir(file))
	var files []logs.File
	var paths []string
	for _, s := range a.printed {
		path := summaryPath(file, s.Tag, q.format.extension, fold)
		paths = append(paths, path)
		files = append(files, logs.File{
			Path:  path,
			Write: func(w io.Writer) error { return q.format.writeSummary(w, q, s, true) },
		})
	}
	err := logs.WriteFiles(q.std.Out, q.source.scan.Inputs, files...)
	if err == nil {
		logs.ReportFiles(q.std, paths)
	}
	return err
}

// writeLists writes the lists of -worst and -who. after reports that they follow other text.
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
