package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// gates are the comparison with a baseline, and the limits that must hold.
type gates struct {
	limits   []gate.Limit
	baseline []string // as in -if
	runs     bool     // each input is a run
	strict   bool     // an undecided limit fails
	findings findings
	watch    *gate.Watch // nil if no limit is checked over time
}

// collected is what the logs of one side add up to. Runs has what each of them adds up to, if each
// is a run.
type collected struct {
	*summary.Result
	logs  *cli.Logs
	runs  []*summary.Result
	parts []*summary.Parts // of all, or of each run
}

// wanted reports whether there is a baseline or a limit, or something to find.
func (g *gates) wanted() bool {
	return len(g.limits) > 0 || len(g.baseline) > 0 || g.findings.wanted()
}

// parseGates checks -sla and -baseline.
func parseGates(c *urfave.Context, o *options) (g gates, err error) {
	g.baseline = c.StringSlice("baseline")
	for _, list := range c.StringSlice("sla") {
		limits, err := gate.Parse(list)
		if err != nil {
			return g, cli.Usagef("-sla: %w", err)
		}
		g.limits = append(g.limits, limits...)
	}
	g.runs, g.strict = c.Bool("runs"), cli.Choice(c, "undecided") == "fail"
	if g.findings = newFindings(c); !g.wanted() {
		return g, nil
	}
	for _, l := range g.limits {
		switch {
		case l.Relative && len(g.baseline) == 0:
			return g, cli.Usagef("-sla: %q is relative to a -baseline, which is not given", l.Text)
		case l.Window > 0 && g.runs:
			return g, cli.Usagef("-sla: %q is about windows of one run, which does not go with -runs", l.Text)
		}
	}
	relative := slices.ContainsFunc(g.limits, func(l gate.Limit) bool { return l.Relative })
	if o.level == 0 && (relative || g.strict || len(g.baseline) > 0) {
		o.level = usualLevel
	}
	for _, l := range g.limits {
		if l.Statistic == "" && !slices.Contains(o.believed, l.Percentile) {
			o.believed = append(o.believed, l.Percentile)
		}
	}
	if slices.Contains(g.baseline, "-") && slices.Contains(append(c.StringSlice("if"), c.Args().Slice()...), "-") {
		return g, cli.Usagef("-baseline -: standard input is read as -if already")
	}
	return g, nil
}

// checkRuns finds out whether there are enough runs to compare.
func (g *gates) checkRuns(s, base *scan.Scan, d *cli.Diagnostics) error {
	const least = 3
	before, after := len(base.Inputs), len(s.Inputs)
	switch {
	case (before == 1) != (after == 1):
		return cli.Usagef("-compare: %d before and %d after: give a log each, or several runs each, as two folders or two patterns", before, after)
	case before == 1:
		g.runs = false
	case min(before, after) < least:
		d.Warnf("-compare: %d runs before and %d after are too few to tell how runs vary, which takes %d on each side: this compares their sums as one run with one", before, after, least)
		g.runs = false
	}
	return nil
}

// collect adds up the logs that are shown, and watches limits over time.
func (g *gates) collect(s *scan.Scan, d *cli.Diagnostics, o *options) (*collected, error) {
	o.logs = o.units.Watch(s)
	var look func(v scan.Visit, h *histogram.Histogram, r *seen)
	if o.c.Bool("v") {
		look = func(_ scan.Visit, h *histogram.Histogram, r *seen) { r.count = h.TotalCount() }
	}
	var also func(_ int, _ scan.Visit, r *seen) (*merge.Sum, bool)
	if g.watch = o.newWatch(g.limits, o.format.breaches && !g.runs); g.watch != nil {
		g.watch.Late = func(at scan.Place, why error) { d.LeaveOut(at.Name, at.Line, why) }
		s.ByTime = true
		also = func(_ int, _ scan.Visit, r *seen) (*merge.Sum, bool) { r.sum.Reset(); return &r.sum, false }
	}
	take := func(v scan.Visit, r *seen) error {
		sayInterval(o.c, v.Place, v.Tag, v.StartMillis(), v.EndMillis(), r.count)
		if g.watch == nil {
			return nil
		}
		return g.watch.Add(v, &r.sum)
	}
	var parts []*summary.Parts
	all, err := g.side(s, d, o, func(s *scan.Scan, wanted summary.Options) (*summary.Result, error) {
		if wanted.Parts = g.findings.parts(o.seeksOmission()); wanted.Parts != nil {
			parts = append(parts, wanted.Parts)
		}
		result, err := summary.Collect(s, wanted, look, take, also)
		if err == nil && g.watch != nil {
			err = g.watch.Close()
		}
		return result, err
	})
	if err == nil {
		all.logs, all.parts = o.logs, parts
	}
	return all, err
}

// collectBaseline adds up the logs of -baseline.
func (g *gates) collectBaseline(s *scan.Scan, d *cli.Diagnostics, o *options) (*collected, error) {
	logs := o.units.Watch(s)
	all, err := g.side(s, d, o, func(s *scan.Scan, wanted summary.Options) (*summary.Result, error) {
		return summary.Collect[seen](s, wanted, nil, nil, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("-baseline: %w", err)
	}
	all.logs = logs
	return all, nil
}

// side adds up the logs of a side, together or each of them if each is a run, and finds intervals
// of confidence.
func (g *gates) side(s *scan.Scan, d *cli.Diagnostics, o *options, collect func(s *scan.Scan, wanted summary.Options) (*summary.Result, error)) (*collected, error) {
	stop := cli.ShowProgress(s, o.c.App.ErrWriter, o.c.Bool("q"))
	defer stop()
	one := func(s *scan.Scan) (*summary.Result, error) {
		if err := cli.FindSteady(o.c, s); err != nil {
			return nil, err
		}
		wanted := summary.Options{Maxima: o.format.readable} // maxima over time are for sparklines only
		if o.level > 0 && !g.runs {
			wanted.Runs = &summary.Runs{Size: o.series.Window}
		}
		result, err := collect(s, wanted)
		if err == nil && wanted.Runs != nil {
			err = result.Believe(wanted.Runs, o.believed, o.level, s.Workers)
			if errors.As(err, new(*ledger.LimitError)) && !cli.Given(o.c, "ci") {
				err = nil // nobody asked for intervals
			}
		}
		return result, err
	}
	var all collected
	var err error
	if g.runs {
		all.Result, err = g.eachRun(s, o, &all, one)
	} else {
		all.Result, err = one(s)
	}
	if err == nil && len(all.Summaries) == 0 {
		d.Close()
		err = cli.NothingLeft(s)
	}
	return &all, err
}

// eachRun adds up each log, and all of them.
func (g *gates) eachRun(s *scan.Scan, o *options, all *collected, one func(s *scan.Scan) (*summary.Result, error)) (*summary.Result, error) {
	for n := range s.Inputs {
		run := *s
		run.Inputs = s.Inputs[n : n+1]
		run.Comment = func(_ int, text []byte) error { return s.Comment(n, text) }
		run.Kept = func(_ int, tag []byte) { s.Kept(n, tag) }
		result, err := one(&run)
		if err != nil {
			return nil, err
		}
		s.Seen += run.Seen
		result.SetPeriods(o.mode)
		all.runs = append(all.runs, result)
	}
	return summary.Combine(all.runs, s.Memory)
}

// write writes the comparison and the verdicts. It returns a status if a limit does not hold.
func (g *gates) write(c *urfave.Context, s, base *scan.Scan, d *cli.Diagnostics, o *options, after *collected) error {
	before := &collected{Result: new(summary.Result)}
	var inputs []scan.Input
	if len(g.baseline) > 0 {
		var err error
		if base == nil {
			if base, err = cli.ScanOf(c, "baseline", s, d); err != nil {
				return err
			}
		}
		if before, err = g.collectBaseline(base, d, o); err != nil {
			return err
		}
		inputs = base.Inputs
	}
	before.SetPeriods(o.mode)
	after.SetPeriods(o.mode)
	scale, err := o.fitScale(g.limits, before, after)
	if err != nil {
		return err
	}
	o.warnOmission(d, after, scale.In)
	var pairs []output.Pair
	if len(g.baseline) > 0 {
		pairs = o.pair(before, after, d)
	}
	if !cli.Given(c, "ci") && !g.strict {
		hideConfidence(before, after)
	}
	verdicts := gate.Judge(g.limits, gate.Figures{Summaries: after.Summaries, Baseline: before.Summaries, Pairs: pairs, Scale: scale, Watch: g.watch, Strict: g.strict})
	if !cli.Given(c, "ci") {
		hideConfidence(before, after)
	}
	if err := g.findings.find(o, d, after.parts, after.Summaries); err != nil {
		return err
	}
	r := &report{c, s, d, o, o.arrange(after.Summaries, scale)}
	if len(r.summaries) < len(after.Summaries) {
		d.Warnf("-top shows %d of %d rows", len(r.summaries), len(after.Summaries))
	}
	if o.format.compare == nil {
		err = o.format.write(r)
	} else {
		err = cli.WriteFile(c.String("of"), c.App.Writer, slices.Concat(s.Inputs, inputs), func(w io.Writer) error {
			return o.format.compare(w, r, &comparison{g, before.Summaries, pairs, inputs, verdicts})
		})
	}
	if err != nil {
		return err
	}
	skipped := d.Close()
	failed, open := gate.Count(verdicts)
	if failed > 0 {
		fmt.Fprintf(c.App.ErrWriter, "%s: %d of %d limits do not hold\n", c.App.Name, failed, len(verdicts))
		return cli.Status(cli.Exceeded)
	}
	if open > 0 {
		fmt.Fprintf(c.App.ErrWriter, "%s: %d of %d limits are undecided. A longer run, or several a side, would decide\n", c.App.Name, open, len(verdicts))
		if g.strict {
			return cli.Status(cli.Undecided)
		}
	}
	return skipped
}

// hideConfidence removes the intervals that only comparisons and limits needed.
func hideConfidence(sides ...*collected) {
	for _, side := range sides {
		for _, s := range side.Summaries {
			s.Confidence = nil
		}
	}
}

// pair puts the summaries of each tag together, in the order of tags, and compares them.
func (o *options) pair(before, after *collected, d *cli.Diagnostics) []output.Pair {
	var pairs []output.Pair
	for _, s := range before.Summaries {
		pairs = append(pairs, output.Pair{Tag: s.Tag, Before: s, After: gate.Find(after.Summaries, s.Tag)})
	}
	for _, s := range after.Summaries {
		if gate.Find(before.Summaries, s.Tag) == nil {
			pairs = append(pairs, output.Pair{Tag: s.Tag, After: s})
		}
	}
	slices.SortStableFunc(pairs, func(a, b output.Pair) int { return tags.Compare(a.Tag, b.Tag) })
	for n := range pairs {
		p := &pairs[n]
		switch {
		case p.Before == nil || p.After == nil:
		case before.runs != nil:
			a, b := ofTag(before.runs, p.Tag), ofTag(after.runs, p.Tag)
			if len(a) < len(before.runs) || len(b) < len(after.runs) {
				d.Warnf("-compare: %s is in %d of %d logs before and in %d of %d after", p.After.Name(), len(a), len(before.runs), len(b), len(after.runs))
			}
			p.Change = output.NewRunsChange(*p, a, b, o.believed, o.level)
		case p.Before.Confidence != nil && p.After.Confidence != nil:
			p.Change = output.NewChange(p.Before, p.After)
		}
	}
	output.Correct(pairs, o.percentiles)
	return pairs
}

// ofTag returns the summaries of a tag, without those that have no values.
func ofTag(runs []*summary.Result, tag []byte) (all []*output.Summary) {
	for _, run := range runs {
		if s := gate.Find(run.Summaries, tag); s != nil && s.Counts().TotalCount() > 0 {
			all = append(all, s)
		}
	}
	return all
}
