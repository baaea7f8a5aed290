package cli

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// InputFlags are the options by which all commands choose their inputs.
func InputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "if", Aliases: []string{"inputFile", "input-file"},
			Usage: "a `LOG` to read: an existing file, or a regular expression that whole names in -ip match; - is standard input; repeatable"},
		&cli.StringFlag{Name: "ip", Aliases: []string{"inputPath", "input-path"}, Value: ".",
			Usage: "the `FOLDER` that -if looks in"},
		&cli.StringSliceFlag{Name: "ifp", Aliases: []string{"inputFilePath", "input-file-path"},
			Usage: "a log to read, by its `PATH`; repeatable"},
	}
}

// TagFlags are the options by which commands that do something to tags, the verb, choose them.
func TagFlags(verb string) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "it", Aliases: []string{"ignoreTag", "ignore-tags"}, Usage: verb + " all tags together"},
		&cli.StringSliceFlag{Name: "incT", Aliases: []string{"includeTag", "include-tag"},
			Usage: verb + " this `TAG` only; the word default stands for the untagged intervals; repeatable"},
		&cli.StringSliceFlag{Name: "excT", Aliases: []string{"excludeTag", "exclude-tag"},
			Usage: "leave this `TAG` out, likewise"},
	}
}

// RangeFlags are the options by which all commands choose a span of time.
func RangeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "s", Aliases: []string{"start"},
			Usage: "leave out intervals that start before `TIME`: seconds from the log's start, a duration (90s, 1h5m) or a time (2016-07-18T00:06:40Z)"},
		&cli.StringFlag{Name: "e", Aliases: []string{"end"},
			Usage: "leave out intervals that start after `TIME`, likewise"},
	}
}

// OmissionFlag is the option by which commands correct for coordinated omission. [NewScan] reads it.
func OmissionFlag() cli.Flag {
	return &cli.Float64Flag{Name: "co", Aliases: []string{"correctLogWithKnownCoordinatedOmission", "coordinated-omission"},
		Usage:       "correct for coordinated omission a log whose recorder expected to record a value every `EXPECTED` units, in those of the log",
		DefaultText: "no correction"}
}

// RunFlags are the options by which all commands are told how to run.
func RunFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "strict", Usage: "end at the first malformed line, with nothing written"},
		&cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Usage: "print a line for each interval on standard error"},
		&cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Usage: "print no progress"},
		&cli.IntFlag{Name: "j", Aliases: []string{"jobs"}, Value: runtime.GOMAXPROCS(0), DefaultText: "one a core",
			Usage: "decode on `N` cores"},
	}
}

// Given reports whether an option is on the command line. To find out that it is not, [cli.Context.IsSet] puts a regular
// expression to the name of each option that there is, which start-up would show.
func Given(c *cli.Context, name string) bool { return slices.Contains(c.LocalFlagNames(), name) }

// NewScan returns a scan as the options of [InputFlags], [RangeFlags], [OmissionFlag] and [RunFlags] ask for it, of the tags that include
// and exclude choose.
func NewScan(c *cli.Context, diagnostics *Diagnostics, include, exclude []string) (*scan.Scan, error) {
	span, err := scan.ParseRange(c.String("s"), c.String("e"))
	if err != nil {
		return nil, UsageError{err}
	}
	if c.Int("j") < 1 {
		return nil, Usagef("-j %d: at least one core must decode", c.Int("j"))
	}
	if expected := c.Float64("co"); Given(c, "co") && !(expected > 0 && !math.IsInf(expected, 1)) {
		return nil, Usagef("-co %v: the expected interval must be a positive number", expected)
	}
	inputs, err := Inputs(c)
	if err != nil {
		return nil, err
	}
	return &scan.Scan{
		Inputs:    inputs,
		Selection: scan.Selection{Tags: tags.NewFilter(include, exclude), Range: span},
		Workers:   c.Int("j"),
		Report:    diagnostics.Report,
		Expected:  c.Float64("co"),
	}, nil
}

// NothingLeft returns the error for a scan that found no interval that was wanted.
func NothingLeft(s *scan.Scan) error {
	switch {
	case s.Seen == 0:
		return errors.New("no intervals in the input")
	case s.Selection.Range.All() && s.Selection.Tags.All():
		return fmt.Errorf("none of the %d intervals in the input could be read", s.Seen)
	case s.Selection.Range.All():
		return fmt.Errorf("none of the %d intervals in the input has a tag that is wanted; hdrsum -lt lists their tags", s.Seen)
	case s.Selection.Tags.All():
		return fmt.Errorf("none of the %d intervals in the input starts in the range of -s and -e", s.Seen)
	}
	return fmt.Errorf("none of the %d intervals in the input has a tag that is wanted and starts in the range of -s and -e", s.Seen)
}
