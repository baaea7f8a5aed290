package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/logs"
	"hdrkit/internal/report"
	"hdrkit/output"
)

var tableOptions = slices.Concat([]string{"p", "ci"}, arrangeOptions, valueOptions, periodOptions)

// tableFormat is a table for people, below the findings.
var tableFormat = format{
	kind: cli.Type{
		Name:   "table",
		What:   "for people",
		Others: "text txt",
	},
	ending:         ".txt",
	options:        slices.Concat([]string{"tz"}, tableOptions),
	unitStyle:      readable,
	printsFindings: true,
	check:          checkWindows,
	writeAnswer:    writeTable,
}

// markdown is the name of the format for issues and pages.
const markdown = "markdown"

// markdownFormat is the table in Markdown.
var markdownFormat = format{
	kind: cli.Type{
		Name:   markdown,
		What:   "the table for pages",
		Others: "md",
	},
	ending:         ".md",
	options:        slices.Concat([]string{"tz"}, tableOptions),
	unitStyle:      readable,
	printsFindings: true,
	check:          checkWindows,
	writeAnswer:    writeTable,
}

// writeTable writes findings, the table, and the lists of -worst and -who. On a page of Markdown
// all findings are at the top.
func writeTable(w io.Writer, q *question, a *answer) error {
	t := a.table(q)
	writeRows := func(w io.Writer) error { return t.Write(w, a.printed) }
	err := report.Write(w, t, report.Top(a.findings, q.std.Next), a.findings, writeRows)
	if err != nil || !t.Markdown {
		return cmp.Or(err, a.writeLists(w, q, true))
	}
	if q.lists.worst == 0 && !q.lists.who {
		return nil
	}
	fmt.Fprint(w, "\n```text\n") // without this, the lines become one paragraph
	if err := a.writeLists(w, q, false); err != nil {
		return err
	}
	_, err = io.WriteString(w, "```\n")
	return err
}

// checkWindows refuses -agg if only -sla could use it, since a table does not say when limits
// failed.
func checkWindows(f *flags, of *format) error {
	if f.given.windows && f.given.format && !f.given.level {
		return message.Usagef("-st %s uses -agg for the windows of -ci, which is not given", of.kind.Name)
	}
	return nil
}

// table returns the table of the options. On a terminal, it fits the width, and leaves out a
// default percentile that is the maximum in all rows.
func (a *answer) table(q *question) *report.Table {
	figures := q.figures.printed
	if q.page.width > 0 && !q.figures.percentilesGiven {
		figures.Percentiles = slices.DeleteFunc(slices.Clone(figures.Percentiles), func(p float64) bool {
			return !slices.ContainsFunc(a.printed, func(s *output.Summary) bool { return counts.Above(s.Counts(), p) > 0 })
		})
	}
	t := &report.Table{
		Percentiles: figures.Percentiles,
		Shares:      figures.Shares,
		Markdown:    q.format.kind.Name == markdown,
		Width:       q.page.width,
		Colour:      q.page.colour,
		Zone:        q.page.zone,
	}
	var inputs []string
	for _, s := range a.printed {
		inputs = append(inputs, s.Input)
	}
	t.Labels = logs.Labels(inputs)
	if q.source.scan.Rows.By.Phases() {
		t.Head = "phase"
		t.Notes = q.source.diagnostics.TakePhaseNotes()
	}
	return t
}

// findingsFormat is the findings, one sentence on each line.
var findingsFormat = format{
	kind: cli.Type{
		Name: "findings",
		What: "what the run shows",
	},
	options:        slices.Concat([]string{"tz", "ci", "agg"}, valueOptions, periodOptions),
	unitStyle:      readable,
	printsFindings: true,
	writeAnswer: func(w io.Writer, q *question, a *answer) error {
		list := &report.Table{Width: q.page.width, Colour: q.page.colour}
		if err := list.WriteList(w, a.findings); err != nil {
			return err
		}
		return a.writeLists(w, q, true)
	},
}

// askedFormat is the lists of -worst and -who without a table.
var askedFormat = format{
	unitStyle: readable,
	writeAnswer: func(w io.Writer, q *question, a *answer) error {
		return a.writeLists(w, q, false)
	},
}

// rangesFormat is the times of the worst moments, for other tools.
var rangesFormat = format{
	kind: cli.Type{
		Name:   "ranges",
		What:   "times of -worst",
		Hidden: true,
	},
	options: slices.Concat([]string{"tz"}, valueOptions),
	check: func(f *flags, _ *format) error {
		if f.lists.worst == 0 || f.lists.who {
			return message.Usagef("-st ranges has the times of -worst N, and nothing else")
		}
		return nil
	},
	writeAnswer: func(w io.Writer, q *question, a *answer) error { return report.WriteRanges(w, a.moments, q.page.zone) },
}

// junitFormat is the limits as test cases.
var junitFormat = format{
	kind: cli.Type{
		Name: "junit",
		What: "limits as tests",
	},

	ending:         ".xml",
	options:        slices.Concat([]string{"tz", "ci", "agg"}, valueOptions, periodOptions),
	printsFindings: true,
	check:          needsLimits,
	writeAnswer:    func(w io.Writer, q *question, a *answer) error { return report.JUnit(w, "hdrsum", a.findings) },
}

// needsLimits is the check of formats about limits: it returns an error without -sla.
func needsLimits(f *flags, of *format) error {
	if len(f.limits) == 0 {
		return message.Usagef("-st %s is about the limits of -sla, which are not given", of.kind.Name)
	}
	return nil
}

// breachesFormat is the times at which limits did not hold.
var breachesFormat = format{
	kind: cli.Type{
		Name: "breaches",
		What: "when limits failed",
	},
	options:        slices.Concat([]string{"agg", "tz"}, valueOptions),
	printsBreaches: true,
	check:          needsLimits,
	writeAnswer: func(w io.Writer, q *question, a *answer) error {
		breaches := a.watch.Breaches()
		// A limit without values, or of a count, can fail although no window breaks it.
		other := slices.DeleteFunc(slices.Clone(a.findings),
			func(f output.Finding) bool { return f.Weight != output.Fails || f.Start != nil })
		if len(breaches) > 0 || len(other) == 0 {
			if err := report.WriteBreaches(w, breaches, q.page.zone); err != nil {
				return err
			}
		}
		if len(breaches) > 0 && len(other) > 0 {
			io.WriteString(w, "\n")
		}
		for _, f := range other {
			fmt.Fprintln(w, f.Sentence)
		}
		return a.writeLists(w, q, true)
	},
}
