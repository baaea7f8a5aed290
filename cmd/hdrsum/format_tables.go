package main

import (
	"fmt"
	"io"
	"slices"

	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/output"
)

// tableFormat is a table for people.
var tableFormat = format{
	name: "table", what: "for people", others: "text txt", uses: slices.Concat([]string{"p", "ci"}, arrangeOptions, valueOptions, periodOptions), readable: true, check: checkWindows,
	all: writeTable,
}

// markdown is the name of the table for issues and pages.
const markdown = "markdown"

// markdownFormat is the same table in Markdown.
var markdownFormat = format{
	name: markdown, what: "the table for pages", others: "md", uses: tableFormat.uses, readable: true, check: checkWindows,
	all: writeTable,
}

func writeTable(w io.Writer, r *report) error {
	return writeFigures(w, r, func(w io.Writer) error {
		if !r.baseline {
			return r.table().Write(w, r.shown)
		}
		return r.table().WriteChanges(w, r.pairs)
	})
}

// checkWindows refuses -agg if only -sla is there to use it: a table does not say when limits
// failed.
func checkWindows(o *options) error {
	if cli.Given(o.c, "agg") && cli.Given(o.c, "st") && !cli.Given(o.c, "ci") && !cli.Given(o.c, "baseline") {
		return cli.Usagef("-st %s uses -agg for the windows of -ci, which is not given", o.format.name)
	}
	return nil
}

// writeFigures writes the figures, unless figures is nil, the verdicts, and what was found. In
// Markdown the figures come last, since a comment is read from its start.
func writeFigures(w io.Writer, r *report, figures func(w io.Writer) error) error {
	verdicts := func(w io.Writer) error {
		if err := gate.Write(w, r.verdicts, toStdout(r.c) && cli.Colour(r.c.App.Writer)); err != nil {
			return err
		}
		return r.writeFindings(w, len(r.verdicts) > 0)
	}
	switch {
	case figures == nil:
		return verdicts(w)
	case len(r.verdicts) == 0 && !r.finds():
		return figures(w)
	case r.format.name == markdown:
		io.WriteString(w, "```text\n") // otherwise lines become one paragraph
		if err := verdicts(w); err != nil {
			return err
		}
		io.WriteString(w, "```\n\n")
		return figures(w)
	}
	if err := figures(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return verdicts(w)
}

// table returns the table that the options ask for, which always has the maximum. On a terminal it
// fits the width.
func (o *options) table() *output.Table {
	percentiles := slices.DeleteFunc(slices.Clone(o.percentiles), func(p float64) bool { return p == 100 })
	return &output.Table{Scale: o.scale, Percentiles: percentiles, Markdown: o.format.name == markdown,
		Width: o.width, Colour: toStdout(o.c) && cli.Colour(o.c.App.Writer)}
}

// verdictsFormat has what -sla, -worst and -who find, without a table.
var verdictsFormat = format{
	bare: true,
	all:  func(w io.Writer, r *report) error { return writeFigures(w, r, nil) },
}

// breachesFormat lists the times at which limits did not hold.
var breachesFormat = format{
	name: "breaches", what: "when limits failed", uses: slices.Concat([]string{"agg", "tz"}, valueOptions), breaches: true,
	check: func(o *options) error {
		if !cli.Given(o.c, "sla") {
			return cli.Usagef("-st breaches is about the limits of -sla, which are not given")
		}
		if cli.Given(o.c, "baseline") {
			return cli.Usagef("-st breaches and -baseline do not go together: %s", oneRun)
		}
		return nil
	},
	all: func(w io.Writer, r *report) error {
		breaches := r.watch.Breaches()
		// A limit can fail although nothing breaks it at any time: it has no values, or it is a
		// count.
		other := slices.DeleteFunc(slices.Clone(r.verdicts), func(v gate.Verdict) bool {
			return v.Result != gate.Fails || slices.ContainsFunc(breaches, func(b output.Breach) bool { return b.Limit == v.Limit.Text && b.Tag == v.Tag })
		})
		if len(breaches) > 0 || len(other) == 0 {
			if err := output.WriteBreaches(w, breaches, r.zone); err != nil {
				return err
			}
		}
		if len(breaches) > 0 && len(other) > 0 {
			io.WriteString(w, "\n")
		}
		if err := gate.Write(w, other, false); err != nil {
			return err
		}
		return r.writeFindings(w, true)
	},
}
