package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"time"

	"hdrkit/beam/pipeline"
	"hdrkit/internal/scan"
)

// options is the command line.
type options struct {
	globs               list
	of, summary, errors string
	grid, shard         millis
	runner              string
	verbose             bool
	pipeline            pipeline.Options
}

// define defines the options.
func define(flags *flag.FlagSet) *options {
	o := &options{grid: 10_000}
	flags.Var(&o.globs, "glob", "")
	flags.Var((*list)(&o.pipeline.Include), "incT", "")
	flags.Var((*list)(&o.pipeline.Exclude), "excT", "")
	flags.StringVar(&o.pipeline.From, "s", "", "")
	flags.StringVar(&o.pipeline.To, "e", "", "")
	flags.Float64Var(&o.pipeline.Expected, "co", 0, "")
	flags.Var(&o.grid, "grid", "")
	flags.Var(&o.shard, "shard", "")
	flags.StringVar(&o.of, "of", "", "")
	flags.StringVar(&o.summary, "summary", "", "")
	flags.StringVar(&o.errors, "errors", "", "")
	flags.StringVar(&o.runner, "runner", "prism", "")
	flags.BoolVar(&o.verbose, "v", false, "")
	return o
}

// check completes the options. It returns an error if they make no sense.
func (o *options) check() error {
	o.pipeline.Grid = int64(o.grid)
	outputs := make(map[string]string)
	for _, out := range []struct{ name, file string }{{"-of", o.of}, {"-summary", o.summary}, {"-errors", o.errors}} {
		if out.file == "" {
			continue
		}
		if other := outputs[out.file]; other != "" {
			return fmt.Errorf("%s and %s are both %q", other, out.name, out.file)
		}
		outputs[out.file] = out.name
	}
	switch {
	case len(o.globs) == 0:
		return errors.New("no input: -glob names logs")
	case o.of == "" && o.summary == "":
		return errors.New("no output: -of names the union, -summary the summaries")
	case o.shard > 0 && o.of == "":
		return errors.New("-shard makes sense with -of only")
	case o.grid > 0 && o.shard%o.grid != 0:
		return fmt.Errorf("-shard %s is no multiple of -grid %s", o.shard, o.grid)
	case o.runner != "prism" && o.runner != "universal":
		return fmt.Errorf("--runner %q is neither prism nor universal", o.runner)
	}
	for _, glob := range o.globs {
		if glob == "" {
			return errors.New("an empty -glob matches nothing")
		}
	}
	return o.pipeline.Check()
}

// hint returns how to see malformed lines.
func (o *options) hint() string {
	if o.errors != "" {
		return ", see " + o.errors
	}
	return "; -errors FILE lists them"
}

// list is an option that can be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// millis is a length of time in milliseconds.
type millis int64

func (m millis) String() string { return time.Duration(int64(m) * int64(time.Millisecond)).String() }

// Set reads seconds, or a number with a unit such as 10s or 1h.
func (m *millis) Set(text string) error {
	seconds, ok := scan.ParseSeconds(text)
	if !ok {
		return errors.New("neither seconds nor a duration such as 10s")
	}
	if !(seconds >= 0.001 && seconds <= 1e9) {
		return errors.New("it is from 0.001 to 1e9 seconds")
	}
	*m = millis(math.Round(seconds * 1000))
	return nil
}
