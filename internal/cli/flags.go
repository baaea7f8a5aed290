package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// Groups of options. Every option is in one of them, as its Category.
const (
	GroupInput  = "Input"
	GroupChoice = "Tags and times"
	GroupOutput = "Output"
	GroupValues = "Values"
	GroupSeries = "Time series"
	GroupLimits = "Limits and comparison"
	GroupLook   = "Look"
	GroupLive   = "While logs are written"
	GroupRun    = "Run"
	GroupRare   = "Rare"
	groupHelp   = "Help"
)

// InputFlags are the options that choose the inputs, in all commands.
func InputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "if", Aliases: []string{"inputFile", "input-file"}, Category: GroupInput,
			Usage: "read `LOG`, also as an argument: an existing file, or a regular expression that matches whole names in -ip; - is standard input; repeatable"},
		&cli.StringFlag{Name: "ip", Aliases: []string{"inputPath", "input-path"}, Value: ".", Category: GroupInput,
			Usage: "look for -if in `FOLDER`, or in all folders that match a pattern such as 'pods/*' or 'pods/**'"},
		&cli.StringSliceFlag{Name: "ifp", Aliases: []string{"inputFilePath", "input-file-path"}, Category: GroupInput, Hidden: true,
			Usage: "read the log at `PATH`; repeatable"},
		Option{Check: OneOf, Values: []string{"length", "end"}, Flag: &cli.StringFlag{Name: "second", Category: GroupRare, DefaultText: "end if a log proves it, else length",
			Usage: "the second number of an interval is its `MEANING`: length or end"}},
	}
}

// TaggedInputFlag is the option that reads logs and gives them tags.
func TaggedInputFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "tif", Aliases: []string{"taggedInputFile", "tagged-input-file"}, Category: GroupInput,
		Usage: "read `TAG=LOG`: a log as for -if; its intervals get TAG, or TAG::OWN if they have the tag OWN; repeatable"}
}

// Without returns flags without some.
func Without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}

// TagFlags are the options that choose tags, in all commands. The verb says what the command does
// to tags.
func TagFlags(verb string) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "incT", Aliases: []string{"includeTag", "include-tag"}, Category: GroupChoice,
			Usage: verb + " these `TAGS` only, a list of tags and regular expressions that match whole tags; default is the untagged intervals; repeatable"},
		&cli.StringSliceFlag{Name: "excT", Aliases: []string{"excludeTag", "exclude-tag"}, Category: GroupChoice,
			Usage: "leave these `TAGS` out, a list as for -incT; repeatable"},
	}
}

// IgnoreTagsFlag is the option that takes all tags together.
func IgnoreTagsFlag(verb string) cli.Flag {
	return &cli.BoolFlag{Name: "it", Aliases: []string{"ignoreTag", "ignore-tags"}, Category: GroupChoice,
		Usage: verb + " all tags together"}
}

// RowFlags are the options that say what makes a row. [Rows] reads them.
func RowFlags(verb string) []cli.Flag {
	return []cli.Flag{Option{Not: "by", Why: "it is -by all", Flag: IgnoreTagsFlag(verb)}, ByFlag()}
}

// ByFlag is the option that says what makes a row. [Rows] reads it.
func ByFlag() cli.Flag {
	return &cli.StringFlag{Name: "by", Value: "tag", Category: GroupChoice,
		Usage: "make a row of each `PART`: tag, input, both (input,tag), all, or the group of a regular expression: '.*-(rt|st)' adds up insert-rt and read-rt to rt"}
}

// Rows returns what makes a row. A command without -by has -it only.
func Rows(c *cli.Context) (*tags.By, error) {
	text := cmp.Or(c.String("by"), "tag")
	if c.Bool("it") {
		text = "all"
	}
	by, err := tags.ParseBy(text)
	if err != nil {
		return nil, Usagef("-by: %w", err)
	}
	for _, apart := range []string{"compare", "baseline"} {
		if by.Inputs() && Given(c, apart) {
			return nil, Usagef("-by %s and -%s do not go together: -%s looks at each log by itself", text, apart, apart)
		}
	}
	return by, nil
}

// UntaggedFlag is the option that leaves untagged intervals untagged. [Inputs] reads it.
func UntaggedFlag() cli.Flag {
	return &cli.BoolFlag{Name: "untagged", Category: GroupChoice,
		Usage: "keep untagged intervals untagged, although the logs name different operations: logs of YCSB, parts of hdrsplit"}
}

// RangeFlags are the options that choose a span of time, in all commands, with a rule for -tz.
func RangeFlags(zone Option) []cli.Flag {
	zone.Flag = &cli.StringFlag{Name: "tz", Aliases: []string{"time-zone"}, Value: "UTC", Category: GroupChoice,
		Usage: "the `ZONE` of times without a zone, and of printed and drawn times: Europe/Berlin, +02:00 or Local"}
	return []cli.Flag{
		&cli.StringFlag{Name: "s", Aliases: []string{"start", "from"}, Category: GroupChoice,
			Usage: "leave out intervals that start before `TIME`: from the start of the log (60, 90s, 1h5m), before its end (-30s), seconds since 1970, a time (2016-07-18 00:06:40, or 00:06:40 for the day of the log), or steady, where the warm-up ends"},
		&cli.StringFlag{Name: "e", Aliases: []string{"end"}, Category: GroupChoice,
			Usage: "leave out intervals that start after `TIME`, as for -s"},
		Option{Check: OneOf, Values: []string{timesEach, timesAll}, Flag: &cli.StringFlag{Name: "times", Category: GroupChoice, DefaultText: "each",
			Usage: "what -s and -e count from, a `MODE`: each, the start and the end of each log; or all, those of all logs together"}},
		zone,
	}
}

// OmissionFlag is the option that corrects for coordinated omission. [NewScan] reads it.
func OmissionFlag() cli.Flag {
	return Option{Check: Positive, Flag: &cli.Float64Flag{Name: "co", Aliases: []string{"correctLogWithKnownCoordinatedOmission", "coordinated-omission"}, Category: GroupValues,
		Usage:       "correct for coordinated omission: the recorder expected to record a value every `EXPECTED` units of the log",
		DefaultText: "no correction"}}
}

// RatioFlag is the option that divides values.
func RatioFlag() cli.Flag {
	return Option{Check: Positive, Flag: &cli.Float64Flag{Name: "ovr", Aliases: []string{"outputValueUnitRatio", "output-value-unit-ratio"}, Value: 1, Category: GroupValues,
		Usage: "divide values by `RATIO`"}}
}

// PercentilesFlag is the option that chooses percentiles. [Percentiles] reads it.
func PercentilesFlag(value, usage string) cli.Flag {
	return &cli.StringFlag{Name: "p", Aliases: []string{"percentiles"}, Value: value, Category: GroupValues, Usage: usage}
}

// AggregateFlag is the option that merges intervals by time, with a rule. [Millis] reads it.
func AggregateFlag(defaultText string, rule Option) cli.Flag {
	rule.Check, rule.Flag = Length, &cli.StringFlag{Name: "agg", Aliases: []string{"aggregate"}, Category: GroupSeries, DefaultText: defaultText,
		Usage: "merge the intervals of each window of `TIME`, such as 10s"}
	return rule
}

// MovingFlags are the options of moving windows. [Millis] reads the length.
func MovingFlags() []cli.Flag {
	return []cli.Flag{
		Option{Check: Percent, Flag: &cli.Float64Flag{Name: "mwp", Aliases: []string{"movingWindowPercentile", "moving-window-percentile"}, Value: 99, Category: GroupRare,
			Usage: "show this `PERCENTILE` of a moving window"}},
		Option{Check: SomeLength, Flag: &cli.StringFlag{Name: "mwpl", Aliases: []string{"movingWindowLength", "moving-window-length"}, Value: "60s", Category: GroupRare,
			Usage: "show a moving window of the last `TIME`"}},
	}
}

// OutputFlag is the option that names the output.
func OutputFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "of", Aliases: []string{"outputFile", "output-file"}, Category: GroupOutput, Usage: usage}
}

// RunFlags are the options that say how to run, in all commands.
func RunFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "strict", Category: GroupRun, Usage: "end at the first malformed line, with nothing written"},
		&cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Category: GroupRun, Usage: "print a line for each interval on standard error"},
		&cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Category: GroupRun, Usage: "print no progress"},
		Option{Check: Between(1, maxJobs), Flag: &cli.IntFlag{Name: "j", Aliases: []string{"jobs"}, Value: runtime.GOMAXPROCS(0), DefaultText: "one a core", Category: GroupRun,
			Usage: "decode on `N` cores"}},
		&cli.StringFlag{Name: "memory", Value: "512MiB", Category: GroupRun,
			Usage: "end with an error instead of taking more memory than `SIZE`, such as 2GiB"},
	}
}

// maxJobs is the largest -j. Each job has its own memory for decoding, and no machine has as many
// cores.
const maxJobs = 1024

// Given reports whether an option is on the command line. [cli.Context.IsSet] is slower: where an
// option is not given, it runs a regular expression over the name of each option, which is
// noticeable at start-up.
func Given(c *cli.Context, name string) bool { return slices.Contains(c.LocalFlagNames(), name) }

// NewScan returns the scan that the options of [InputFlags], [RangeFlags], [OmissionFlag] and
// [RunFlags] ask for, of the tags that those of [TagFlags] choose.
func NewScan(c *cli.Context, diagnostics *Diagnostics) (*scan.Scan, error) {
	selection, err := selection(c)
	if err != nil {
		return nil, err
	}
	inputs, err := Inputs(c)
	if err != nil {
		return nil, err
	}
	diagnostics.filter = selection.Tags
	if diagnostics.by, err = Rows(c); err != nil {
		return nil, err
	}
	if diagnostics.byText = "-by " + c.String("by"); c.Bool("it") {
		diagnostics.byText = "-it"
	}
	memory, err := Memory(c)
	if err != nil {
		return nil, err
	}
	s := &scan.Scan{
		Inputs:    inputs,
		Memory:    memory,
		Selection: selection,
		By:        diagnostics.by,
		Workers:   c.Int("j"),
		Report:    diagnostics.Report,
		Expected:  c.Float64("co"),
	}
	diagnostics.quiet = c.Bool("q")
	diagnostics.lookAt(inputs, memory)
	return s, findTimes(c, s)
}

// selection returns the intervals that the options of [RangeFlags] and [TagFlags] choose.
func selection(c *cli.Context) (scan.Selection, error) {
	span, err := timeRange(c)
	if err != nil {
		return scan.Selection{}, err
	}
	filter, err := tags.NewFilter(c.StringSlice("incT"), c.StringSlice("excT"))
	if err != nil {
		hint := ""
		if strings.Contains(err.Error(), "missing argument to repetition") {
			hint = "; .* matches any text"
		}
		return scan.Selection{}, Usagef("-incT and -excT: %w%s", err, hint)
	}
	return scan.Selection{Tags: filter, Range: span}, nil
}

// NothingLeft returns the error of a scan that found no interval to use.
func NothingLeft(s *scan.Scan) error {
	all := fmt.Sprintf("none of the %d intervals in the input", s.Seen)
	switch {
	case s.Seen == 0 && len(s.Inputs) == 1 && s.Inputs[0].Name == "-":
		return errors.New("no intervals in standard input")
	case s.Seen == 0:
		return errors.New("no intervals in the input")
	case s.Selection.Range.All() && s.Selection.Tags.All():
		return fmt.Errorf("%s could be read", all)
	case s.Selection.Range.All():
		return fmt.Errorf("%s has a tag that -incT and -excT choose; hdrsum -lt lists their tags", all)
	case s.Selection.Tags.All():
		return fmt.Errorf("%s starts in the range of -s and -e", all)
	}
	return fmt.Errorf("%s has a tag that -incT and -excT choose and starts in the range of -s and -e", all)
}
