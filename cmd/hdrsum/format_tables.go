package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/report"
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
func writeTable(w io.Writer, r *found) error {
	t := r.table()
	err := report.Write(w, t, output.Top(r.findings), r.findings, func(w io.Writer) error { return t.Write(w, r.shown) })
	if err != nil || !t.Markdown {
		return cmp.Or(err, r.writeAsked(w, true))
	}
	if r.worst == 0 && !r.who {
		return nil
	}
	fmt.Fprint(w, "\n```text\n") // otherwise lines become one paragraph
	if err := r.writeAsked(w, false); err != nil {
		return err
	}
	_, err = io.WriteString(w, "```\n")
	return err
}

// checkWindows refuses -agg if only -sla is there to use it: a table does not say when limits
// failed.
func checkWindows(o *options) error {
	if o.given.windows && o.given.kind && !o.given.level {
		return message.Usagef("-st %s uses -agg for the windows of -ci, which is not given", o.format.Name)
	}
	return nil
}

// colour reports whether the output takes colours.
func (o *options) colour() bool { return logs.ToStdout(o.of) && logs.Colour(o.std.Out) }

// table returns the table that the options ask for. On a terminal it fits the width, and has no
// percentile that nobody asked for and that is the maximum of all rows.
func (r *found) table() *output.Table {
	figures := r.figures
	if r.width > 0 && !r.given.percentiles {
		figures.Percentiles = slices.DeleteFunc(slices.Clone(figures.Percentiles), func(p float64) bool {
			return !slices.ContainsFunc(r.shown, func(s *output.Summary) bool { return output.Above(s.Counts(), p) > 0 })
		})
	}
	t := report.Table(figures, r.format.Name == markdown, r.width, r.colour())
	var inputs []string
	for _, s := range r.shown {
		inputs = append(inputs, s.Input)
	}
	t.Labels = logs.Labels(inputs)
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
	all: func(w io.Writer, r *found) error {
		if err := report.WriteList(w, r.findings, r.colour()); err != nil {
			return err
		}
		return r.writeAsked(w, true)
	},
}

// askedFormat has what -worst and -who list, without a table.
var askedFormat = format{
	values: readable,
	all: func(w io.Writer, r *found) error {
		return r.writeAsked(w, false)
	},
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
	all:    func(w io.Writer, r *found) error { return output.JUnit(w, "hdrsum", r.findings) },
}

// needsLimits refuses a format that is about limits if there are none.
func needsLimits(o *options) error {
	if len(o.limits) == 0 {
		return message.Usagef("-st %s is about the limits of -sla, which are not given", o.format.Name)
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
	all: func(w io.Writer, r *found) error {
		breaches := r.watch.Breaches()
		// A limit can fail although nothing breaks it at any time: it has no values, or it is a
		// count.
		other := slices.DeleteFunc(slices.Clone(r.findings),
			func(f output.Finding) bool { return f.Weight != output.Fails || f.Start != nil })
		if len(breaches) > 0 || len(other) == 0 {
			if err := output.WriteBreaches(w, breaches, r.Zone); err != nil {
				return err
			}
		}
		if len(breaches) > 0 && len(other) > 0 {
			io.WriteString(w, "\n")
		}
		for _, f := range other {
			fmt.Fprintln(w, f.Sentence)
		}
		return r.writeAsked(w, true)
	},
}
