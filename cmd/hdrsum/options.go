package main

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/series"
	"hdrkit/output"
)

// options are what the command line asks for, and what it is asked of.
type options struct {
	c           *urfave.Context
	diagnostics *cli.Diagnostics
	scan        *scan.Scan // of the logs that are shown
	format      *format
	mode        string // of the period
	units       *cli.Units
	logs        *cli.Logs    // of the logs that are shown
	scale       output.Scale // known when the logs have been read, see setScale
	series      series.Options
	// percentiles are for all formats that print values at percentiles.
	percentiles []float64
	// sort is the figure that rows are sorted by, nil for their names. At most top rows are shown,
	// 0 for all.
	sort *gate.Limit
	top  int
	// level is the confidence of intervals in percent, 0 for no intervals, and believed are the
	// percentiles that have them.
	level    float64
	believed []float64
	metric   string   // influx and openmetrics
	push     *url.URL // nil without -push
	zone     *time.Location
	memory   *ledger.Ledger

	limits   []gate.Limit
	strict   bool        // an undecided limit fails
	watch    *gate.Watch // nil if no limit is checked over time
	baseline bool
	runs     bool // each input is a run

	worst      int     // moments, 0 for none
	who        bool    // who has the values above percentile
	percentile float64 // of -who
	width      int     // of the terminal, 0 for a file
}

// parseOptions checks the options.
func parseOptions(c *urfave.Context) (*options, error) {
	f := chosen(c)
	o := &options{
		c: c, diagnostics: cli.NewDiagnostics(c.App.ErrWriter, c.App.Name, c.Bool("strict")), format: f,
		mode: cli.Choice(c, "period"), metric: c.String("metric"), top: c.Int("top"),
		strict: cli.Choice(c, "undecided") == "fail", baseline: cli.Given(c, "baseline"), runs: c.Bool("runs"),
		worst: c.Int("worst"), who: cli.Given(c, "who"), percentile: c.Float64("who"),
	}
	if toStdout(c) {
		o.width = cli.Width(c.App.Writer)
	}
	for _, parse := range []func() error{
		func() error { return parsePush(c, o) },
		func() (err error) { o.units, err = cli.NewUnits(c); return err },
		func() (err error) { o.zone, err = cli.Zone(c); return err },
		func() (err error) { o.memory, err = cli.Memory(c); return err },
		func() (err error) { o.percentiles, err = cli.Percentiles(c); return err },
		func() error { return o.parseSort(c) },
		func() (err error) { o.level, err = parseLevel(c); return err },
	} {
		if err := parse(); err != nil {
			return nil, err
		}
	}
	o.units.Headed = o.format.readable
	if c.Bool("its") {
		o.mode = "intervals"
	}
	o.series = series.Options{Window: cli.Millis(c, "agg"), MovingPercentile: c.Float64("mwp"), Percentiles: o.percentiles}
	if cli.Given(c, "mwp") || cli.Given(c, "mwpl") {
		o.series.Moving = cli.Millis(c, "mwpl")
	}
	if f.check != nil {
		if err := f.check(o); err != nil {
			return nil, err
		}
	}
	if o.push != nil && f.receiver != nil {
		return o, f.receiver(o)
	}
	return o, o.parseLimits(c)
}

// parseLimits checks -sla and -baseline, which need intervals of confidence.
func (o *options) parseLimits(c *urfave.Context) error {
	for _, list := range c.StringSlice("sla") {
		limits, err := gate.Parse(list)
		if err != nil {
			return cli.Usagef("-sla: %w", err)
		}
		o.limits = append(o.limits, limits...)
	}
	needed := o.strict || o.baseline
	o.believed = slices.Clone(o.percentiles)
	for _, l := range o.limits {
		switch {
		case l.Relative && !o.baseline:
			return cli.Usagef("-sla: %q is relative to a -baseline, which is not given", l.Text)
		case l.Window > 0 && o.runs:
			return cli.Usagef("-sla: %q is about windows of one run, which does not go with -runs", l.Text)
		}
		if l.Statistic == "" && !slices.Contains(o.believed, l.Percentile) {
			o.believed = append(o.believed, l.Percentile)
		}
	}
	if o.level == 0 && needed {
		o.level = usualLevel
	}
	if slices.Contains(c.StringSlice("baseline"), "-") && slices.Contains(append(c.StringSlice("if"), c.Args().Slice()...), "-") {
		return cli.Usagef("-baseline -: standard input is read as -if already")
	}
	return nil
}

// usualLevel is the confidence where -ci does not say another one.
const usualLevel = 95

// parseLevel reads -ci.
func parseLevel(c *urfave.Context) (float64, error) {
	if !cli.Given(c, "ci") {
		return 0, nil
	}
	level, err := strconv.ParseFloat(strings.TrimSuffix(c.String("ci"), "%"), 64)
	if err != nil || !(level >= 50 && level <= 99.99) {
		return 0, cli.Usagef("-ci %q is no confidence, which is a percentage from 50 to 99.99", c.String("ci"))
	}
	return level, nil
}

// parseSort reads -sort and -top.
func (o *options) parseSort(c *urfave.Context) (err error) {
	by := c.String("sort")
	if cli.Given(c, "top") && !cli.Given(c, "sort") {
		by = "p99"
	}
	if by != "tag" {
		if o.sort, err = gate.ParseFigure(by); err != nil {
			return cli.Usagef("-sort: %w; tag sorts by name", err)
		}
	}
	return nil
}

// arrange returns the summaries to show, in their order: the highest figure first.
func (o *options) arrange(summaries []*output.Summary, scale unit.Scale) []*output.Summary {
	if o.sort != nil {
		figures := make(map[*output.Summary]float64)
		for _, s := range summaries {
			if figures[s] = math.Inf(-1); s.Counts().TotalCount() > 0 {
				figures[s] = o.sort.Of(s, scale)
			}
		}
		summaries = slices.SortedStableFunc(slices.Values(summaries), func(a, b *output.Summary) int { return cmp.Compare(figures[b], figures[a]) })
	}
	if o.top > 0 {
		summaries = summaries[:min(o.top, len(summaries))]
	}
	return summaries
}

// setScale finds out how to print values, by the comments of the logs that were read so far.
func (o *options) setScale() error {
	s, err := o.units.Scale(false)
	o.setPrinted(s)
	return err
}

// readable lets rows have the unit that suits a typical value.
func (o *options) readable(typical float64) error {
	s, err := o.units.Scale(true)
	o.setPrinted(s.Readable(&o.units.Options, typical))
	return err
}

// setPrinted sets how to print values. A message says their unit if the log states it and the
// output does not.
func (o *options) setPrinted(s unit.Scale) {
	o.scale = output.Scale{Ratio: s.Ratio, Unit: s.Name, Assumed: o.units.Assumed()}
	if asked := o.units.Options; o.format.bare && s.Name != "" && asked == (unit.Options{}) && !o.c.Bool("q") {
		o.units.Say("values are in %s; -unit converts them", s.Name)
	}
}

// newWatch returns what checks limits over time, nil if there are none.
func (o *options) newWatch() *gate.Watch {
	w := gate.NewWatch(o.limits, o.series.Window, o.format.breaches && !o.runs, o.memory)
	if w != nil {
		w.Scale = func() (unit.Scale, error) { return o.units.Scale(gate.HasUnit(o.limits)) }
		w.Factor, w.AllTags = o.logs.Factor, o.scan.By.All()
		w.Late = func(at scan.Place, why error) { o.diagnostics.LeaveOut(at.Name, at.Line, why) }
	}
	return w
}

// fitScale finds out how to print summaries and to compare them with limits. A table chooses its
// unit by the values, unless a limit is in printed units: what such a limit means must not depend
// on the values.
func (o *options) fitScale(all ...*side) (unit.Scale, error) {
	limits := o.limits
	if o.sort != nil && o.sort.Statistic == "over" {
		limits = append(slices.Clone(limits), *o.sort)
	}
	scale, err := o.units.Scale(gate.HasUnit(limits))
	if err != nil {
		return scale, err
	}
	var medians []float64
	highest := 0.0
	for _, group := range all {
		for _, s := range group.Summaries {
			if s.Factor, err = group.logs.Factor(s.Tag); err != nil {
				return scale, err
			}
			if h := s.Counts(); h.TotalCount() > 0 {
				medians = append(medians, h.Float(h.ValueAtPercentile(50))*s.Factor)
				highest = max(highest, h.MaxFloat()*s.Factor)
			}
		}
	}
	if o.format.readable && len(medians) > 0 && !gate.Bare(limits) {
		slices.Sort(medians)
		scale = scale.Readable(&o.units.Options, medians[len(medians)/2])
	}
	o.setPrinted(scale)
	o.units.Doubt(highest)
	return scale, nil
}
