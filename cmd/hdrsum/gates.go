package main

import (
	"fmt"
	"io"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/internal/sla"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// gates are the comparison with a baseline, and the limits that must hold.
type gates struct {
	limits   []sla.Limit
	baseline []string // as in -if
}

// wanted reports whether there is a baseline or a limit.
func (g *gates) wanted() bool { return len(g.limits) > 0 || len(g.baseline) > 0 }

// parseGates checks -sla and -baseline.
func parseGates(c *urfave.Context) (g gates, err error) {
	g.baseline = c.StringSlice("baseline")
	for _, list := range c.StringSlice("sla") {
		limits, err := sla.Parse(list)
		if err != nil {
			return g, cli.Usagef("-sla: %w", err)
		}
		g.limits = append(g.limits, limits...)
	}
	if !g.wanted() {
		return g, nil
	}
	if len(g.baseline) == 0 {
		for _, l := range g.limits {
			if l.Relative {
				return g, cli.Usagef("-sla: %q is relative to a -baseline, which is not given", l.Text)
			}
		}
	}
	if slices.Contains(g.baseline, "-") && slices.Contains(append(c.StringSlice("if"), c.Args().Slice()...), "-") {
		return g, cli.Usagef("-baseline -: standard input is read as -if already")
	}
	return g, nil
}

// collect adds up the logs of -baseline, chosen like the logs that they are compared with.
func (g *gates) collect(c *urfave.Context, before *scan.Scan, d *cli.Diagnostics, o *options) (*summary.Result, error) {
	o.units.Watch(before)
	stop := cli.ShowProgress(before, c.App.ErrWriter, c.Bool("q"))
	result, err := summary.Collect[struct{}](before, o.collecting(c), nil, nil)
	stop()
	if err != nil {
		return nil, err
	}
	if len(result.Summaries) == 0 {
		d.Close()
		return nil, fmt.Errorf("-baseline: %w", cli.NothingLeft(before))
	}
	return result, nil
}

// write writes the comparison and the verdicts. It returns a status if a limit does not hold.
func (g *gates) write(c *urfave.Context, s *scan.Scan, d *cli.Diagnostics, o *options, after *summary.Result) error {
	var before summary.Result
	var inputs []scan.Input
	if len(g.baseline) > 0 {
		base, err := cli.ScanOf(c, "baseline", s, d)
		if err != nil {
			return err
		}
		result, err := g.collect(c, base, d, o)
		if err != nil {
			return err
		}
		before, inputs = *result, base.Inputs
	}
	before.SetPeriods(o.mode)
	after.SetPeriods(o.mode)
	scale, err := o.units.Scale(sla.HasUnit(g.limits))
	if err != nil {
		return err
	}
	verdicts := sla.Judge(g.limits, after.Summaries, before.Summaries, scale)
	if o.format.name == "table" {
		err = o.setReadableScale(slices.Concat(before.Summaries, after.Summaries)...)
	} else {
		err = o.setScale()
	}
	if err != nil {
		return err
	}
	err = cli.WriteFile(c.String("of"), c.App.Writer, slices.Concat(s.Inputs, inputs), func(w io.Writer) error {
		if o.format.name == "json" {
			return g.json(w, &report{c, s, d, o, after.Summaries}, before.Summaries, inputs, verdicts)
		}
		return g.text(w, c, o, before.Summaries, after.Summaries, verdicts)
	})
	if err != nil {
		return err
	}
	skipped := d.Close()
	if failed := sla.Failed(verdicts); failed > 0 {
		fmt.Fprintf(c.App.ErrWriter, "%s: %d of %d limits do not hold\n", c.App.Name, failed, len(verdicts))
		return cli.Status(cli.Exceeded)
	}
	return skipped
}

// text writes the comparison, if there is a baseline, and the verdicts.
func (g *gates) text(w io.Writer, c *urfave.Context, o *options, before, after []*output.Summary, verdicts []sla.Verdict) error {
	if len(g.baseline) > 0 {
		pairs := pair(before, after)
		var err error
		if o.format.name == "table" {
			err = o.table(c).WriteChanges(w, pairs)
		} else {
			err = output.Compare(w, pairs, o.scale, o.percentiles)
		}
		if err != nil {
			return err
		}
		if len(verdicts) > 0 {
			fmt.Fprintln(w)
		}
	}
	return sla.Write(w, verdicts, toStdout(c) && cli.Colour(c.App.Writer))
}

// json writes all summaries with the comparison and the verdicts.
func (g *gates) json(w io.Writer, r *report, before []*output.Summary, inputs []scan.Input, verdicts []sla.Verdict) error {
	doc, err := r.document()
	if err != nil {
		return err
	}
	if len(g.baseline) > 0 {
		baseline, err := output.NewDocument(before, r.options.scale, r.options.percentiles, r.options.zone)
		if err != nil {
			return err
		}
		baseline.Inputs = inputNames(&scan.Scan{Inputs: inputs})
		doc.Compare(baseline)
	}
	if len(g.limits) > 0 {
		doc.Limits = sla.Document(verdicts)
	}
	return output.JSON(w, doc)
}

// pair puts the summaries of each tag together, in the order of tags.
func pair(before, after []*output.Summary) []output.Pair {
	var pairs []output.Pair
	for _, s := range before {
		pairs = append(pairs, output.Pair{Tag: s.Tag, Before: s, After: sla.Find(after, s.Tag)})
	}
	for _, s := range after {
		if sla.Find(before, s.Tag) == nil {
			pairs = append(pairs, output.Pair{Tag: s.Tag, After: s})
		}
	}
	slices.SortStableFunc(pairs, func(a, b output.Pair) int { return tags.Compare(a.Tag, b.Tag) })
	return pairs
}
