package main

import (
	"fmt"
	"io"
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/table/report"
	"hdrkit/output"
)

var tableOptions = slices.Concat([]string{"p", "ci"}, arrangeOptions, valueOptions, periodOptions)

// tableFormat is a table for people. On a terminal it begins with a sentence, which has a time.
var tableFormat = format{
	name:     "table",
	what:     "for people",
	ending:   ".txt",
	others:   "text txt",
	uses:     slices.Concat([]string{"tz"}, tableOptions),
	readable: true,
	check:    checkWindows,
	all:      writeTable,
}

// markdown is the name of the table for issues and pages.
const markdown = "markdown"

// markdownFormat is the same table in Markdown.
var markdownFormat = format{
	name:     markdown,
	what:     "the table for pages",
	ending:   ".md",
	others:   "md",
	uses:     tableOptions,
	readable: true,
	check:    checkWindows,
	all:      writeTable,
}

func writeTable(w io.Writer, r *found) error {
	return writeFigures(w, r, func(w io.Writer) error {
		if line := output.HeadlineOf(r.shown, r.scale, r.Zone).String(); r.width > 0 && r.format.name != markdown && line != "" {
			fmt.Fprintf(w, "%s\n\n", line)
		}
		return r.table().Write(w, r.shown)
	})
}

// checkWindows refuses -agg if only -sla is there to use it: a table does not say when limits
// failed.
func checkWindows(o *options) error {
	if o.given.windows && o.given.kind && !o.given.level {
		return message.Usagef("-st %s uses -agg for the windows of -ci, which is not given", o.format.name)
	}
	return nil
}

// writeFigures writes the verdicts and what was found, which somebody asked for, and then the
// figures, unless figures is nil.
func writeFigures(w io.Writer, r *found, figures func(w io.Writer) error) error {
	var verdicts func(w io.Writer) error
	if figures == nil || len(r.verdicts) > 0 || r.finds() {
		verdicts = func(w io.Writer) error {
			if err := gate.Write(w, r.verdicts, r.colour()); err != nil {
				return err
			}
			return r.writeFindings(w, len(r.verdicts) > 0)
		}
	}
	if figures == nil || verdicts == nil || r.format.name == markdown {
		return report.Write(w, r.format.name == markdown, figures, verdicts)
	}
	return report.Write(w, false, verdicts, figures)
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
	return report.Table(r.scale, figures, r.format.name == markdown, r.width, r.colour())
}

// verdictsFormat has what -sla, -worst and -who find, without a table.
var verdictsFormat = format{
	bare: true,
	all:  func(w io.Writer, r *found) error { return writeFigures(w, r, nil) },
}

// listFor is verdictsFormat on a terminal, for people.
var listFor = format{readable: true, all: verdictsFormat.all}

// breachesFormat lists the times at which limits did not hold.
var breachesFormat = format{
	name: "breaches", what: "when limits failed", uses: slices.Concat([]string{"agg", "tz"}, valueOptions), breaches: true,
	check: func(o *options) error {
		if len(o.limits) == 0 {
			return message.Usagef("-st breaches is about the limits of -sla, which are not given")
		}
		return nil
	},
	all: func(w io.Writer, r *found) error {
		breaches := r.watch.Breaches()
		// A limit can fail although nothing breaks it at any time: it has no values, or it is a
		// count.
		other := slices.DeleteFunc(slices.Clone(r.verdicts), func(v gate.Verdict) bool {
			return v.Result != gate.Fails || slices.ContainsFunc(breaches, func(b output.Breach) bool { return b.Limit == v.Limit.Text && b.Tag == v.Tag })
		})
		if len(breaches) > 0 || len(other) == 0 {
			if err := output.WriteBreaches(w, breaches, r.Zone); err != nil {
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
