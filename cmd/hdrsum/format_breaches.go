package main

import (
	"io"
	"slices"

	"hdrkit/internal/cli"
	"hdrkit/output"
)

// breachesFormat lists the times at which limits did not hold.
var breachesFormat = format{
	name: "breaches", uses: slices.Concat([]string{"agg", "tz"}, valueOptions), comparesAll: true, breaches: true,
	check: func(o *options) error {
		if !cli.Given(o.c, "sla") {
			return cli.Usagef("-st breaches is about the limits of -sla, which are not given")
		}
		return nil
	},
	conflicts: []conflict{{"st", "baseline", "it looks at one run"}, {"st", "follow", whole}},
	compare: func(w io.Writer, r *report, c *comparison) error {
		if err := output.WriteBreaches(w, c.gates.watch.Breaches(), r.options.zone); err != nil {
			return err
		}
		return c.gates.findings.write(w, r.options, true)
	},
}
