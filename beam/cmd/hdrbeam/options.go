package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"hdrkit/beam/pipeline"
	"hdrkit/internal/scan"
)

// options has the options of the command line.
type options struct {
	globs               list
	of, summary, errors string
	grid, shard         millis
	group               int
	runner              string
	verbose             bool
	pipeline            pipeline.Options
}

// define defines the options, without help: usage has that.
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
	flags.IntVar(&o.group, "group", 8, "")
	flags.StringVar(&o.runner, "runner", "prism", "")
	flags.BoolVar(&o.verbose, "v", false, "")
	return o
}

// check returns an error for options that are wrong alone or together. It sets the grid of the
// pipeline.
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
	case o.group < 1:
		return fmt.Errorf("-group %d: a group has at least one log", o.group)
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

// makeAbsolute makes local names absolute, since workers run in other folders.
func (o *options) makeAbsolute() error {
	names := []*string{&o.of, &o.summary, &o.errors}
	for n := range o.globs {
		names = append(names, &o.globs[n])
	}
	for _, name := range names {
		if *name == "" || strings.Contains(*name, "://") {
			continue
		}
		path, err := filepath.Abs(*name)
		if err != nil {
			return err
		}
		*name = path
	}
	return nil
}

// prepareRunner checks and completes the options of a remote runner. Without these checks, Beam
// waits minutes for an endpoint that is down, and its message for a missing worker binary is no
// help.
func (o *options) prepareRunner() error {
	if o.runner != "universal" {
		return nil
	}
	endpoint, err := jobopts.GetEndpoint()
	if err != nil {
		return errors.New("--runner=universal needs --endpoint=HOST:PORT, the address of a job server")
	}
	conn, err := net.DialTimeout("tcp", endpoint, 10*time.Second)
	if err != nil {
		return fmt.Errorf("--endpoint %s: no job server answers: %w", endpoint, err)
	}
	conn.Close()
	if jobopts.IsLoopback() {
		return nil
	}
	if err := o.makeAbsolute(); err != nil || *jobopts.WorkerBinary != "" {
		return err
	}
	own, err := os.Executable()
	if err != nil || runtime.GOOS != "linux" {
		return errors.New("--worker_binary is missing: hdrbeam, built for the system of the workers, unless --environment_type=LOOPBACK")
	}
	*jobopts.WorkerBinary = own
	return nil
}

// hint says where the user finds the malformed lines.
func (o *options) hint() string {
	if o.errors != "" {
		return ", see " + o.errors
	}
	return "; -errors FILE lists them"
}

// A list is the value of a repeatable option.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// millis is an option with a length of time, in milliseconds.
type millis int64

func (m millis) String() string { return time.Duration(int64(m) * int64(time.Millisecond)).String() }

// Set parses seconds, or a number with a unit such as 10s or 1h.
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
