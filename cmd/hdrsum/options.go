package main

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/series"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// options are what the command line says of how to print.
type options struct {
	format format
	mode   string // of the period
	output output.Options
	series series.Options
}

// maxTicks is how many steps hgrm may have in each half: there are some thirty halves, and as many lines of all steps as
// are kept until they are written, 15 MB of 270,000 lines at this.
const maxTicks = 10_000

// parseOptions checks the options that say how to print.
func parseOptions(c *urfave.Context) (*options, error) {
	var o options
	var ok bool
	if o.format, ok = formats[strings.ToLower(c.String("st"))]; !ok {
		return nil, cli.Usagef("-st %q is none of %s", c.String("st"), strings.Join(types(), ", "))
	}
	o.mode = strings.ToLower(c.String("period"))
	if !slices.Contains(summary.Modes, o.mode) {
		return nil, cli.Usagef("-period %q is none of %s", o.mode, strings.Join(summary.Modes, ", "))
	}
	o.output = output.Options{Ratio: c.Float64("ovr"), Ticks: c.Int("tph"), BinSize: c.Float64("obs")}
	switch {
	case !(o.output.Ratio > 0) || math.IsInf(o.output.Ratio, 1):
		return nil, cli.Usagef("-ovr %v: values can only be divided by a positive number", o.output.Ratio)
	case o.output.Ticks < 1:
		return nil, cli.Usagef("-tph %d: at least one step is needed", o.output.Ticks)
	case o.output.Ticks > maxTicks:
		return nil, cli.Usagef("-tph %d: at most %d steps are printed in each half", o.output.Ticks, maxTicks)
	case !(o.output.BinSize > 0) || math.IsInf(o.output.BinSize, 1):
		return nil, cli.Usagef("-obs %v: a bin's size must be a positive number", o.output.BinSize)
	case cli.Given(c, "its") && cli.Given(c, "period") && o.mode != "intervals":
		return nil, cli.Usagef("-its is -period intervals, not -period %s: one of them only", o.mode)
	case c.Bool("lt") && cli.Given(c, "st"):
		return nil, cli.Usagef("-st makes no sense with -lt, which has its own output")
	}
	if c.Bool("its") {
		o.mode = "intervals"
	}
	var err error
	if o.output.Percentiles, err = parsePercentiles(c.String("p")); err != nil {
		return nil, err
	}
	return &o, parseStream(c, &o)
}

// streamOptions are the options of streams, and the types that take them, of which none means all streams.
var streamOptions = map[string][]string{
	"agg":       nil,
	"mwp":       nil,
	"mwpl":      nil,
	"metric":    {"influx", "openmetrics"},
	"precision": {"influx"},
	"buckets":   {"openmetrics"},
}

// parseStream checks the options of streams.
func parseStream(c *urfave.Context, o *options) error {
	for _, name := range slices.Sorted(maps.Keys(streamOptions)) {
		of := streamOptions[name]
		if of == nil {
			of = streams()
		}
		if cli.Given(c, name) && !slices.Contains(of, o.format.name) {
			return cli.Usagef("-%s makes no sense with -st %s, but with %s", name, o.format.name, strings.Join(of, ", "))
		}
	}
	aggregate, length := c.Float64("agg"), c.Float64("mwpl")
	o.output.Moving = cli.Given(c, "mwp") || cli.Given(c, "mwpl")
	o.output.MovingPercentile = c.Float64("mwp")
	o.output.Metric, o.output.Buckets = c.String("metric"), c.Bool("buckets")
	o.output.Precision = strings.ToLower(c.String("precision"))
	o.series = series.Options{
		Aggregate: aggregate, Moving: int64(math.Round(length * 1000)), IgnoreTags: c.Bool("it"), Output: &o.output,
	}
	switch {
	case cli.Given(c, "agg") && !(aggregate >= 0.001 && aggregate <= 1e9):
		return cli.Usagef("-agg %v: windows can be from 0.001 to 1e9 seconds long", aggregate)
	case !(o.output.MovingPercentile >= 0 && o.output.MovingPercentile <= 100):
		return cli.Usagef("-mwp %v is no percentile, which is a number from 0 to 100", o.output.MovingPercentile)
	case !(length >= 0.001 && length <= 1e9):
		return cli.Usagef("-mwpl %v: moving windows can be from 0.001 to 1e9 seconds long", length)
	case !slices.Contains(output.Precisions, o.output.Precision):
		return cli.Usagef("-precision %q is none of %s", o.output.Precision, strings.Join(output.Precisions, ", "))
	case o.output.Buckets && cli.Given(c, "p"):
		return cli.Usagef("-buckets has no percentiles that -p could choose")
	case o.output.Buckets && o.output.Moving:
		return cli.Usagef("-buckets has no percentiles that -mwp could show of a moving window")
	case o.format.rows != nil && c.Bool("it") && aggregate == 0:
		return cli.Usagef("-it makes one series of all tags, for which -agg must say what to merge")
	}
	var err error
	switch o.format.name {
	case "openmetrics":
		err = output.CheckMetric(o.output.Metric)
	case "influx":
		err = output.CheckMeasurement(o.output.Metric)
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
