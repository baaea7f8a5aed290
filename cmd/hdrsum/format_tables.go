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

// tableFormat is a table for people, below what the run shows.
var tableFormat = format{
	Type: cli.Type{
		Name:   "table",
		What:   "for people",
		Others: "text txt",
	},
	ending: ".txt",
	uses:   slices.Concat([]string{"tz"}, tableOptions),
	values: readable,
	finds:  true,
	check:  checkWindows,
	all:    writeTable,
}

// markdown is the name of the table for issues and pages.
const markdown = "markdown"

// markdownFormat is the same table in Markdown.
var markdownFormat = format{
	Type: cli.Type{
		Name:   markdown,
		What:   "the table for pages",
		Others: "md",
	},
	ending: ".md",
	uses:   slices.Concat([]string{"tz"}, tableOptions),
	values: readable,
	finds:  true,
	check:  checkWindows,
	all:    writeTable,
}

// writeTable writes the sentences at the top, the table, and then what else somebody asked for. In
// Markdown, all findings are at the top.
func writeTable(w io.Writer, q *question, a *answer) error {
	t := a.table(q)
	figures := func(w io.Writer) error { return t.Write(w, a.shown) }
	err := report.Write(w, t, report.Top(a.findings, q.std.Next), a.findings, figures)
	if err != nil || !t.Markdown {
		return cmp.Or(err, a.writeLists(w, q, true))
	}
	if q.lists.worst == 0 && !q.lists.who {
		return nil
	}
	fmt.Fprint(w, "\n```text\n") // otherwise lines become one paragraph
	if err := a.writeLists(w, q, false); err != nil {
		return err
	}
	_, err = io.WriteString(w, "```\n")
	return err
}

// checkWindows refuses -agg if only -sla is there to use it: a table does not say when limits
// failed.
func checkWindows(f *flags, of *format) error {
	if f.given.windows && f.given.kind && !f.given.level {
		return message.Usagef("-st %s uses -agg for the windows of -ci, which is not given", of.Name)
	}
	return nil
}

// table returns the table that the options ask for. On a terminal it fits the width, and has no
// percentile that nobody asked for and that is the maximum of all rows.
func (a *answer) table(q *question) *report.Table {
	figures := q.figures.printed
	if q.page.width > 0 && !q.figures.chosen {
		figures.Percentiles = slices.DeleteFunc(slices.Clone(figures.Percentiles), func(p float64) bool {
			return !slices.ContainsFunc(a.shown, func(s *output.Summary) bool { return counts.Above(s.Counts(), p) > 0 })
		})
	}
	t := &report.Table{
		Percentiles: figures.Percentiles,
		Shares:      figures.Shares,
		Markdown:    q.format.Name == markdown,
		Width:       q.page.width,
		Colour:      q.page.colour,
		Zone:        q.page.zone,
	}
	var inputs []string
	for _, s := range a.shown {
		inputs = append(inputs, s.Input)
	}
	t.Labels = logs.Labels(inputs)
	if q.source.scan.By.Phases() {
		t.Head = "phase"
		t.Notes = q.source.diagnostics.TakePhaseNotes()
	}
	return t
}

// findingsFormat has what the run shows, a sentence in each line.
var findingsFormat = format{
	Type: cli.Type{
		Name: "findings",
		What: "what the run shows",
	},
	uses:   slices.Concat([]string{"tz", "ci", "agg"}, valueOptions, periodOptions),
	values: readable,
	finds:  true,
	all: func(w io.Writer, q *question, a *answer) error {
		list := &report.Table{Width: q.page.width, Colour: q.page.colour}
		if err := list.WriteList(w, a.findings); err != nil {
			return err
		}
		return a.writeLists(w, q, true)
	},
}

// askedFormat has what -worst and -who list, without a table.
var askedFormat = format{
	values: readable,
	all: func(w io.Writer, q *question, a *answer) error {
		return a.writeLists(w, q, false)
	},
}

// rangesFormat has the times of the worst moments, for other tools.
var rangesFormat = format{
	Type: cli.Type{
		Name:   "ranges",
		What:   "times of -worst",
		Hidden: true,
	},
	uses: slices.Concat([]string{"tz"}, valueOptions),
	check: func(f *flags, _ *format) error {
		if f.lists.worst == 0 || f.lists.who {
			return message.Usagef("-st ranges has the times of -worst N, and nothing else")
		}
		return nil
	},
	all: func(w io.Writer, q *question, a *answer) error { return report.WriteRanges(w, a.moments, q.page.zone) },
}

// junitFormat has the limits as test cases.
var junitFormat = format{
	Type: cli.Type{
		Name: "junit",
		What: "limits as tests",
	},

	ending: ".xml",
	uses:   slices.Concat([]string{"tz", "ci", "agg"}, valueOptions, periodOptions),
	finds:  true,
	check:  needsLimits,
	all:    func(w io.Writer, q *question, a *answer) error { return report.JUnit(w, "hdrsum", a.findings) },
}

// needsLimits refuses a format that is about limits if there are none.
func needsLimits(f *flags, of *format) error {
	if len(f.limits) == 0 {
		return message.Usagef("-st %s is about the limits of -sla, which are not given", of.Name)
	}
	return nil
}

// breachesFormat lists the times at which limits did not hold.
var breachesFormat = format{
	Type: cli.Type{
		Name: "breaches",
		What: "when limits failed",
	},
	uses:     slices.Concat([]string{"agg", "tz"}, valueOptions),
	breaches: true,
	check:    needsLimits,
	all: func(w io.Writer, q *question, a *answer) error {
		breaches := a.watch.Breaches()
		// A limit can fail although nothing breaks it at any time: it has no values, or it is a
		// count.
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
