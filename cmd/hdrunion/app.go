package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/tempfile"
	"hdrkit/internal/union"
	"hdrkit/tags"
)

const examples = `examples:
   hdrunion -if 'node.*\.hdr' -of all.hdr              all logs whose name matches, by the rules of HdrLogProcessing
   hdrunion -if 'node.*\.hdr' -grid 10 -of all.hdr     one interval a tag and ten seconds, whatever the clocks differ
   hdrunion -tif READ=load-gen1.hdr -tif WRITE=load-gen3.hdr   with tags READ and WRITE, or READ::TAG where there is one
   hdrunion -if 'run.*\.hdr' -r -of runs.hdr           runs of different days, as if all had started at once
   hdrunion -if 'node.*\.hdr' -grid 10 | hdrsum -if - -st json
   zstdcat a.hdr.zst | hdrunion -if - -if b.hdr.gz -of c.hdr

exit status: 0, or 1 if nothing could be joined, 2 for a wrong command line, 3 if malformed lines were skipped`

func app() *urfave.App {
	flags := cli.InputFlags()
	flags = append(flags,
		&urfave.StringSliceFlag{Name: "tif", Aliases: []string{"taggedInputFile", "tagged-input-file"}, Usage: "`TAG=LOG`: a log as for -if, whose intervals get TAG, or TAG::OWN where they have one; repeatable"},
		&urfave.BoolFlag{Name: "it", Aliases: []string{"ignoreTag", "ignore-tags"}, Usage: "join all tags together"},
		&urfave.StringSliceFlag{Name: "incT", Aliases: []string{"includeTag", "include-tag"}, Usage: "join this `TAG` only, as -tif has it; the word default stands for the untagged intervals; repeatable"},
		&urfave.StringSliceFlag{Name: "excT", Aliases: []string{"excludeTag", "exclude-tag"}, Usage: "leave this `TAG` out, likewise"},
	)
	flags = append(flags, cli.RangeFlags()...)
	flags = append(flags, cli.OmissionFlag(),
		&urfave.BoolFlag{Name: "r", Aliases: []string{"relative"}, Usage: "let all logs start at the same time, 0"},
		&urfave.StringFlag{Name: "grid", Usage: "join what lies, by its middle, in the same window of `SECONDS`; such windows start at multiples of it; 0 is no grid"},
		&urfave.StringFlag{Name: "tus", Aliases: []string{"targetUnionSec", "target-union-seconds"}, Usage: "without -grid, join in intervals of `SECONDS` where they are shorter; 0 leaves them as they are"},
		&urfave.StringFlag{Name: "of", Aliases: []string{"outputFile", "output-file"}, Usage: "write to `FILE`, not to standard output"},
	)
	return &urfave.App{
		Name:        "hdrunion",
		Usage:       "put HdrHistogram logs together",
		UsageText:   "hdrunion [options] [log ...]",
		Description: examples,
		Flags:       append(flags, cli.RunFlags()...),
		Action:      run,
	}
}

// run is the command: it checks the options, joins the logs and writes the result.
func run(c *urfave.Context) error {
	diagnostics := cli.NewDiagnostics(c.App.ErrWriter, c.App.Name, c.Bool("strict"))
	options := union.Options{Relative: c.Bool("r"), IgnoreTags: c.Bool("it"), Warn: diagnostics.Warnf}
	var err error
	if options.Grid, err = milliseconds(c, "grid"); err != nil {
		return err
	}
	if options.Target, err = milliseconds(c, "tus"); err != nil {
		return err
	}
	if options.Grid > 0 && options.Target > 0 {
		return cli.Usagef("-tus is of no use with -grid")
	}
	if c.Bool("v") {
		options.Observe = func(name string, line int, tag []byte, start, end, windowStart, windowEnd int64) {
			fmt.Fprintf(c.App.ErrWriter, "%s:%d: %s (%s to %s) goes to (%s to %s)\n", name, line, tags.Text(tag),
				seconds(start), seconds(end), seconds(windowStart), seconds(windowEnd))
		}
	}
	s, err := cli.NewScan(c, diagnostics, c.StringSlice("incT"), c.StringSlice("excT"))
	if err != nil {
		return err
	}
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q"))
	err = write(c, func(w io.Writer) error {
		return cli.WriteFile(c.String("of"), w, s.Inputs, func(w io.Writer) error {
			count, err := union.Write(w, s, options)
			if err == nil && count == 0 {
				err = errNothing
			}
			return err
		})
	})
	stop()
	if err == errNothing {
		diagnostics.Close()
		return cli.NothingLeft(s)
	}
	if err != nil {
		return err
	}
	return diagnostics.Close()
}

var errNothing = errors.New("nothing to write")

// write calls f with standard output. If nothing may be written there before it is known that all can be read, that takes
// a detour.
func write(c *urfave.Context, f func(w io.Writer) error) error {
	if of := c.String("of"); !c.Bool("strict") || of != "" && of != "-" {
		return f(c.App.Writer)
	}
	scratch, err := tempfile.Scratch()
	if err != nil {
		return fmt.Errorf("-strict holds what goes to standard output in a temporary file (TMPDIR): %w", err)
	}
	defer tempfile.Remove(scratch.Name())
	defer scratch.Close()
	if err := f(scratch); err != nil {
		return err
	}
	if _, err := scratch.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(c.App.Writer, scratch)
	return err
}

// milliseconds returns the value of an option in seconds, which must be a whole number of milliseconds, or a duration. It
// is 0 if the option is not there, or 0 as it is in HdrLogProcessing by default.
func milliseconds(c *urfave.Context, name string) (int64, error) {
	text := c.String(name)
	if text == "" {
		return 0, nil
	}
	value, err := strconv.ParseFloat(text, 64)
	if duration, durationErr := time.ParseDuration(text); err != nil && durationErr == nil {
		value, err = duration.Seconds(), nil
	}
	if err == nil && value == 0 {
		return 0, nil
	}
	ms := math.Round(value * 1000)
	if err != nil || !(value > 0) || math.Abs(ms-value*1000) > 1e-6*ms || ms < 1 || ms > maxMillis {
		return 0, cli.Usagef("-%s %s: must be positive seconds, of whole milliseconds, or a duration such as 1m", name, text)
	}
	return int64(ms), nil
}

// maxMillis is a window of a thousand years, for which nobody asks.
const maxMillis = 1000 * 366 * 24 * 3600 * 1000

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
