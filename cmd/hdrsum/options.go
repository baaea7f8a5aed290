package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/series"
	"hdrkit/output"
)

// options are the options that say what to print.
type options struct {
	format format
	mode   string // of the period
	units  *cli.Units
	scale  output.Scale // known when the logs have been read, see setScale
	series series.Options
	// percentiles are for all formats that print values at percentiles.
	percentiles []float64
	ticks       int     // hgrm
	binWidth    float64 // csv and csve
	metric      string  // influx and openmetrics
	precision   string  // influx
	live        liveOptions
	zone        *time.Location
}

// Outputs that -st does not choose, by the option that chooses each.
const (
	listing  = "lt"
	verdicts = "sla"
	compared = "baseline"
	follows  = "follow"
	listens  = "listen"
)

// Sets of outputs, for usedBy.
var (
	streams = []string{"timeline", "ndjson", "influx", "openmetrics"}
	figures = append([]string{"percentiles", "table", "json", compared, follows, listens}, streams...)
	values  = append([]string{"hgrm", "csv", "csve", "csvr", verdicts}, figures...)
	periods = []string{"percentiles", "table", "json", compared, verdicts}
)

// usedBy lists the outputs that use an option. All other outputs refuse it: no option is ignored
// silently. An option that is not listed is used by all outputs.
var usedBy = map[string][]string{
	"p":         figures,
	"tph":       {"hgrm"},
	"ovr":       values,
	"unit":      values,
	"in":        values,
	"obs":       {"csv", "csve"},
	"period":    periods,
	"its":       periods,
	"tz":        {"json", "timeline", "ndjson"},
	"agg":       append([]string{follows, listens}, streams...),
	"mwp":       streams,
	"mwpl":      streams,
	"metric":    {"influx", "openmetrics", listens},
	"precision": {"influx"},
	"buckets":   {"openmetrics"},
}

// conflicts lists pairs of options that do not go together, and why. If output is set, that is so
// for this output only.
var conflicts = []struct{ one, other, output, why string }{
	{"lt", "sla", "", "-lt has its own output"},
	{"lt", "baseline", "", "-lt has its own output"},
	{"buckets", "p", "", "a histogram has no percentiles"},
	{"buckets", "mwp", "", "a histogram has no percentiles"},
	{"buckets", "mwpl", "", "a histogram has no percentiles"},
	{"p", "mwp", "openmetrics", "the percentile of the moving window replaces those of -p"},
	{"p", "mwpl", "openmetrics", "the percentile of the moving window replaces those of -p"},
}

// checkTables refuses the options that the command line's output does not use, and those that do
// not go together.
func checkTables(c *urfave.Context, o *options) error {
	for _, pair := range conflicts {
		if cli.Given(c, pair.one) && cli.Given(c, pair.other) && (pair.output == "" || pair.output == o.format.name) {
			return cli.Usagef("-%s and -%s do not go together: %s", pair.one, pair.other, pair.why)
		}
	}
	kinds, chosenBy := []string{o.format.name}, "-st "+o.format.name
	for _, option := range []string{listing, compared, verdicts} {
		if cli.Given(c, option) {
			kind := o.format.name
			if cli.Given(c, "st") && kind != "json" && kind != "table" {
				return cli.Usagef("-%s and -st %s do not go together: -%s has its own output, or that of -st json or table", option, kind, option)
			}
			if kind != "json" || option == listing {
				kinds, chosenBy = []string{option}, "-"+option
			}
			break
		}
	}
	if c.Bool(follows) && o.format.rows == nil {
		kinds, chosenBy = append(kinds, follows), "-"+follows
	}
	if cli.Given(c, listens) {
		kinds = append(kinds, listens)
	}
	for _, flag := range c.App.Flags {
		name := flag.Names()[0]
		outputs, restricted := usedBy[name]
		if name == "tz" && (cli.Given(c, "s") || cli.Given(c, "e")) {
			continue // it is the zone of these
		}
		used := func(kind string) bool { return slices.Contains(outputs, kind) }
		if !restricted || slices.ContainsFunc(kinds, used) || !cli.Given(c, name) {
			continue
		}
		var types, others []string
		for _, output := range outputs {
			if _, ok := formats[output]; ok {
				types = append(types, output)
			} else if output != follows && output != listens {
				others = append(others, "-"+output)
			}
		}
		use := strings.Join(append([]string{"-st " + strings.Join(types, ", ")}, others...), " or ")
		return cli.Usagef("%s does not use -%s, but %s does", chosenBy, name, use)
	}
	return nil
}

// maxTicks is the largest number of steps in each half of hgrm. There are about thirty halves, and
// all lines are kept until they are written: 270,000 lines, 15 MB.
const maxTicks = 10_000

// parseOptions checks the options that say what to print.
func parseOptions(c *urfave.Context) (*options, error) {
	name, err := cli.OneOf(c, "st")
	if err != nil {
		return nil, err
	}
	if !cli.Given(c, "st") && toStdout(c) && cli.Terminal(c.App.Writer) {
		name = "table"
	}
	o := &options{
		format: formats[name],
		ticks:  c.Int("tph"), binWidth: c.Float64("obs"), metric: c.String("metric"),
	}
	if err := parsePush(c, o); err != nil {
		return nil, err
	}
	if err := checkTables(c, o); err != nil {
		return nil, err
	}
	if o.units, err = cli.NewUnits(c); err != nil {
		return nil, err
	}
	if o.mode, err = cli.OneOf(c, "period"); err != nil {
		return nil, err
	}
	if c.Bool("its") {
		if cli.Given(c, "period") && o.mode != "intervals" {
			return nil, cli.Usagef("-its is -period intervals, not -period %s: one of them only", o.mode)
		}
		o.mode = "intervals"
	}
	if o.zone, err = cli.Zone(c); err != nil {
		return nil, err
	}
	if o.precision, err = cli.OneOf(c, "precision"); err != nil {
		return nil, err
	}
	aggregate, err := cli.Millis(c, "agg")
	if err != nil {
		return nil, err
	}
	moving, err := cli.Millis(c, "mwpl")
	if err != nil {
		return nil, err
	}
	if moving == 0 {
		return nil, cli.Usagef("-mwpl 0: a moving window has a length")
	}
	if !cli.Given(c, "mwp") && !cli.Given(c, "mwpl") {
		moving = 0
	}
	if o.percentiles, err = parsePercentiles(c.String("p")); err != nil {
		return nil, err
	}
	o.series = series.Options{
		Window: aggregate, Moving: moving, MovingPercentile: c.Float64("mwp"), IgnoreTags: c.Bool("it"),
		Percentiles: o.percentiles, Buckets: c.Bool("buckets"),
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return o, parseLive(c, o)
}

// check refuses values that are out of range.
func (o *options) check() error {
	switch mwp := o.series.MovingPercentile; {
	case o.ticks < 1:
		return cli.Usagef("-tph %d: at least one step is needed", o.ticks)
	case o.ticks > maxTicks:
		return cli.Usagef("-tph %d: at most %d steps are printed in each half", o.ticks, maxTicks)
	case !(o.binWidth > 0) || math.IsInf(o.binWidth, 1):
		return cli.Usagef("-obs %v: a bin's size must be a positive number", o.binWidth)
	case !(mwp >= 0 && mwp <= 100):
		return cli.Usagef("-mwp %v is no percentile, which is a number from 0 to 100", mwp)
	case o.format.rows != nil && o.series.IgnoreTags && o.series.Window == 0:
		return cli.Usagef("-it makes one series of all tags: -agg must say which intervals to merge")
	}
	var err error
	switch o.format.name {
	case "openmetrics":
		err = output.CheckMetric(o.metric)
	case "influx":
		err = output.CheckMeasurement(o.metric)
	}
	if err != nil {
		return cli.Usagef("-metric: %w", err)
	}
	return nil
}

func parsePercentiles(list string) ([]float64, error) {
	var percentiles []float64
	for text := range strings.SplitSeq(list, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return nil, cli.Usagef("-p: %q is no percentile, which is a number from 0 to 100", text)
		}
		percentiles = append(percentiles, p)
	}
	return percentiles, nil
}

// setScale finds out how to print values, by the comments of the logs that were read so far.
func (o *options) setScale() error {
	s, err := o.units.Scale(false)
	o.scale = output.Scale{Ratio: s.Ratio, Unit: s.Name}
	return err
}

// setReadableScale does that for a table of these summaries, whose typical value is the middle one
// of their medians.
func (o *options) setReadableScale(summaries ...*output.Summary) error {
	s, err := o.units.Scale(false)
	if err != nil {
		return err
	}
	var medians []float64
	for _, s := range summaries {
		if h := s.Counts(); h.TotalCount() > 0 {
			medians = append(medians, h.Float(h.ValueAtPercentile(50)))
		}
	}
	if len(medians) > 0 {
		slices.Sort(medians)
		s = s.Readable(&o.units.Options, medians[len(medians)/2])
	}
	o.scale = output.Scale{Ratio: s.Ratio, Unit: s.Name}
	return nil
}
