package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/internal/sla"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// gates are what a pipeline asks: how do the logs compare with a baseline, and do limits hold.
type gates struct {
	limits   []sla.Limit
	baseline []string // as in -if
}

// wanted reports whether anything was asked.
func (g *gates) wanted() bool { return len(g.limits) > 0 || len(g.baseline) > 0 }

// parseGates checks the options that ask it.
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

// baselineInputs returns the logs of -baseline.
func (g *gates) baselineInputs(c *urfave.Context, s *scan.Scan) ([]scan.Input, error) {
	inputs, err := cli.InputsNamed(c, "baseline")
	if err != nil {
		return nil, err
	}
	for _, input := range inputs {
		if input.Once && slices.ContainsFunc(s.Inputs, func(other scan.Input) bool { return other.Once && other.Same(&input) }) {
			return nil, cli.Usagef("-baseline %s: it is read as -if already, and can be read only once", input.Name)
		}
	}
	return inputs, nil
}

// collect adds up the logs of -baseline, chosen as those that they are compared with.
func (g *gates) collect(c *urfave.Context, s *scan.Scan, inputs []scan.Input) (*summary.Result, error) {
	before := *s
	before.Inputs, before.Seen = inputs, 0
	stop := cli.ShowProgress(&before, c.App.ErrWriter, c.Bool("q"))
	result, err := summary.Collect[struct{}](&before, c.Bool("it"), nil, nil)
	stop()
	if err != nil {
		return nil, err
	}
	if len(result.Summaries) == 0 {
		return nil, fmt.Errorf("-baseline: %w", cli.NothingLeft(&before))
	}
	return result, nil
}

// write writes how the logs compare and what holds. It returns a status if something does not.
func (g *gates) write(c *urfave.Context, s *scan.Scan, d *cli.Diagnostics, o *options, after *summary.Result) error {
	var before summary.Result
	read := s.Inputs
	if len(g.baseline) > 0 {
		inputs, err := g.baselineInputs(c, s)
		if err != nil {
			return err
		}
		result, err := g.collect(c, s, inputs)
		if err != nil {
			return err
		}
		before, read = *result, slices.Concat(read, inputs)
	}
	if c.Bool("it") {
		for _, s := range slices.Concat(before.Summaries, after.Summaries) {
			s.Tag = []byte("all") // no tag means untagged intervals elsewhere
		}
	}
	before.SetPeriods(o.mode)
	after.SetPeriods(o.mode)
	verdicts := sla.Judge(g.limits, after.Summaries, before.Summaries, o.scale.Ratio)
	err := cli.WriteFile(c.String("of"), c.App.Writer, read, func(w io.Writer) error {
		if len(g.baseline) > 0 {
			pairs := pair(before.Summaries, after.Summaries)
			if err := output.Compare(w, pairs, o.scale, o.percentiles); err != nil {
				return err
			}
			if len(verdicts) > 0 {
				fmt.Fprintln(w)
			}
		}
		return sla.Write(w, verdicts)
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
	slices.SortStableFunc(pairs, func(a, b output.Pair) int {
		if (a.Tag == nil) != (b.Tag == nil) {
			return map[bool]int{true: -1, false: 1}[a.Tag == nil]
		}
		return bytes.Compare(a.Tag, b.Tag)
	})
	return pairs
}
