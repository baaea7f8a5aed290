package main

import (
	"io"
	"slices"

	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/output"
)

// breachesFormat lists the times at which limits did not hold.
var breachesFormat = format{
	name: "breaches", what: "when limits failed", uses: slices.Concat([]string{"agg", "tz"}, valueOptions), comparesAll: true, breaches: true,
	check: func(o *options) error {
		if !cli.Given(o.c, "sla") {
			return cli.Usagef("-st breaches is about the limits of -sla, which are not given")
		}
		if cli.Given(o.c, "baseline") {
			return cli.Usagef("-st breaches and -baseline do not go together: %s", oneRun)
		}
		return nil
	},
	compare: func(w io.Writer, r *report, c *comparison) error {
		breaches := c.gates.watch.Breaches()
		// A limit can fail although nothing breaks it at any time: it has no values, or it is a
		// count.
		other := slices.DeleteFunc(slices.Clone(c.verdicts), func(v gate.Verdict) bool {
			return v.Holds || v.Undecided || slices.ContainsFunc(breaches, func(b output.Breach) bool { return b.Limit == v.Limit.Text && b.Tag == v.Tag })
		})
		if len(breaches) > 0 || len(other) == 0 {
			if err := output.WriteBreaches(w, breaches, r.options.zone); err != nil {
				return err
			}
		}
		if len(breaches) > 0 && len(other) > 0 {
			io.WriteString(w, "\n")
		}
		if err := gate.Write(w, other, false); err != nil {
			return err
		}
		return c.gates.findings.write(w, r.options, true)
	},
}
