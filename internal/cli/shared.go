package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/logs"
)

// These are the groups of options in help. Every option is in one of them.
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

// InputOptions returns the options that choose the inputs, for all commands.
func InputOptions(in *logs.Inputs) []Option {
	return []Option{
		{
			Name:    "if",
			Aliases: "inputFile input-file",
			Group:   GroupInput,
			Value:   List(&in.Names),
			Usage: "read `LOG`, also as an argument: an existing file, or a regular expression " +
				"that matches whole names in -ip; - is standard input; repeatable",
		},
		{
			Name:    "ip",
			Aliases: "inputPath input-path",
			Group:   GroupInput,
			Value:   Text(&in.Folder, "."),
			Usage:   "look for -if in `FOLDER`, or in all folders that match a pattern such as 'pods/*' or 'pods/**'",
		},
		{
			Name:    "ifp",
			Aliases: "inputFilePath input-file-path",
			Group:   GroupInput,
			Hidden:  true,
			Value:   List(&in.Paths),
			Usage:   "read the log at `PATH`; repeatable",
		},
		{
			Name:    "second",
			Group:   GroupRare,
			Hidden:  true,
			Default: "end if a log proves it, else length",
			Values:  []string{"length", "end"},
			Value:   Pick(&in.Second, "", secondField),
			Usage:   "the second number of an interval is its `MEANING`: length or end",
		},
	}
}

func secondField(name string) hdrlog.SecondField {
	return map[string]hdrlog.SecondField{"length": hdrlog.SecondLength, "end": hdrlog.SecondEnd}[name]
}

// Arguments returns a [Command.Args] that reads arguments as values of -if.
func Arguments(in *logs.Inputs) func([]string, int) error {
	return func(args []string, _ int) error { in.Names = append(in.Names, args...); return nil }
}

// TaggedInputOption returns -tif, which gives the intervals of a log a tag.
func TaggedInputOption(in *logs.Inputs) Option {
	return Option{
		Name:    "tif",
		Aliases: "taggedInputFile tagged-input-file",
		Group:   GroupInput,
		Value:   List(&in.Tagged),
		Usage: "read `TAG=LOG`: a log as for -if; its intervals get TAG, or TAG::OWN if they have " +
			"the tag OWN; repeatable",
	}
}

// Without returns the options whose names are not in names.
func Without(options []Option, names ...string) []Option {
	return slices.DeleteFunc(options, func(o Option) bool { return slices.Contains(names, o.Name) })
}

// TagOptions returns the options that choose tags. verb says what the command does to tags.
// Completion offers the tags of the inputs.
func TagOptions(t *logs.Tags, in *logs.Inputs, verb string) []Option {
	return []Option{
		{
			Name:     "incT",
			Aliases:  "includeTag include-tag",
			Group:    GroupChoice,
			Value:    List(&t.Include),
			Complete: in.TagPatterns,
			Usage: verb + " these `TAGS` only, a list of tags and regular expressions that match " +
				"whole tags; the name default means untagged intervals; repeatable",
		},
		{
			Name:     "excT",
			Aliases:  "excludeTag exclude-tag",
			Group:    GroupChoice,
			Value:    List(&t.Exclude),
			Complete: in.TagPatterns,
			Usage:    "leave these `TAGS` out, a list as for -incT; repeatable",
		},
	}
}

// IgnoreTagsOption returns -it, which ignores tags: all intervals of a time count together.
func IgnoreTagsOption(t *logs.Tags, verb string) Option {
	return Option{
		Name:    "it",
		Aliases: "ignoreTag ignore-tags",
		Group:   GroupChoice,
		Value:   Bool(&t.Together),
		Usage:   verb + " all tags together",
	}
}

// RowOptions returns the options that say which intervals make a row.
func RowOptions(t *logs.Tags, verb string) []Option {
	all := IgnoreTagsOption(t, verb)
	all.Rules = Rules{Not: "by", Why: "-by says what makes a row, so leave out -it"}
	return []Option{all, ByOption(t)}
}

// ByOption returns -by, which says which intervals make a row.
func ByOption(t *logs.Tags) Option {
	return Option{
		Name:    "by",
		Group:   GroupChoice,
		Value:   Text(&t.By, ""),
		Default: "tag",
		Usage: "make a row of each `PART`: tag, input, both (input,tag), all, or the group of a " +
			"regular expression: '.*-(rt|st)' adds up insert-rt and read-rt to rt",
	}
}

// PhasesOption returns -phases. usage says what the command does with phases.
func PhasesOption(t *logs.Tags, u *unit.Options, usage string) Option {
	t.Phases.Units = u
	return Option{
		Name:  "phases",
		Group: GroupChoice,
		Value: List(&t.Phases.Files),
		Usage: usage + " each of the phases in `FILE`: a table with the columns start, name, and end or duration; " +
			"measurements, such as pauses; or 'LOG>20ms', the intervals with a higher maximum; repeatable",
	}
}

// PhaseRows is the usage of -phases for commands that make a row of each phase.
const PhaseRows = "make a row (-by phase,tag, or -by phase with -it) of"

// UntaggedOption returns -untagged, which keeps untagged intervals untagged.
func UntaggedOption(in *logs.Inputs) Option {
	return Option{
		Name:   "untagged",
		Group:  GroupRare,
		Hidden: true,
		Value:  Bool(&in.Untagged),
		Usage: "keep untagged intervals untagged, although the logs name different operations: " +
			"logs of YCSB, parts of hdrsplit",
	}
}

// TimeOptions returns the options that choose a span of time. zone is the rules of -tz.
func TimeOptions(t *logs.Times, zone Rules) []Option {
	return []Option{
		{
			Name:    "s",
			Aliases: "start from",
			Group:   GroupChoice,
			Value:   Text(&t.From, ""),
			Usage: "leave out intervals that start before `TIME`: from the start of the log (60, " +
				"90s, 1h5m), before its end (-30s), seconds since 1970, a time (2016-07-18 " +
				"00:06:40, or 00:06:40 for the day of the log), or steady, where the warm-up ends",
		},
		{
			Name:    "e",
			Aliases: "end",
			Group:   GroupChoice,
			Value:   Text(&t.To, ""),
			Usage:   "leave out intervals that start after `TIME`, as for -s",
		},
		{
			Name:    "times",
			Group:   GroupChoice,
			Values:  []string{logs.EachLog, logs.AllLogs},
			Value:   Choice(&t.Mode, ""),
			Default: "each",
			Usage: "what -s and -e count from, a `MODE`: each, the start and the end of each log; " +
				"or all, those of all logs together",
		},
		{
			Name:    "tz",
			Aliases: "time-zone",
			Group:   GroupChoice,
			Value:   Parsed(&t.Zone, "UTC", logs.ParseZone),
			Rules:   zone,
			Usage:   "the `ZONE` of times without a zone, and of printed and drawn times: Europe/Berlin, +02:00 or Local",
		},
	}
}

// OmissionOption returns -co, which corrects for coordinated omission.
func OmissionOption(o *logs.Omission) Option {
	return Option{
		Name:    "co",
		Aliases: "correctLogWithKnownCoordinatedOmission coordinated-omission",
		Group:   GroupValues,
		Value: Value{set: func(option *Option, text string) (err error) {
			if text != "" {
				*o, err = logs.ParseOmission(text)
			}
			return option.withName(err)
		}},
		Usage: "correct for coordinated omission: the recorder expected to record a value every " +
			"`TIME`, such as 10ms; a number without a unit is in units of the log",
		Default: "no correction",
	}
}

// UnitOptions returns -unit, the unit to print, and -in, the unit of the logs.
func UnitOptions(u *unit.Options) []Option {
	return []Option{
		{
			Name:   "unit",
			Group:  GroupValues,
			Values: unit.Names,
			Value:  Text(&u.Unit, ""),
			Usage:  "print values in this `UNIT`: ns, us, ms or s",
		},
		{
			Name:    "in",
			Group:   GroupValues,
			Values:  unit.Names,
			Value:   In(u),
			Usage:   inUsage,
			Default: "the unit that the log states or its writer uses",
		},
	}
}

const inUsage = "the `UNIT` of values in the logs: ns, us, ms or s; run.hdr=us is that of one log; repeatable"

// InOption returns -in for commands that print no values.
func InOption(u *unit.Options) Option {
	option := UnitOptions(u)[1]
	option.Usage = inUsage + ". The result states it"
	return option
}

// In returns a Value that accepts the unit of all logs, or LOG=UNIT for one log.
func In(u *unit.Options) Value {
	return Value{isList: true, set: func(o *Option, text string) error {
		if text == "" {
			return nil
		}
		return o.withName(u.ParseIn(text))
	}}
}

// Unit returns a Value that accepts a unit of time. An empty text is no unit.
func Unit(to *hdrlog.Unit) Value {
	return Value{set: func(o *Option, text string) (err error) {
		if text == "" {
			return nil
		}
		if *to, err = unit.ParseOption(text); err != nil {
			return message.Usagef("-%s: %w", o.Name, err)
		}
		return nil
	}}
}

// RatioOption returns -ovr, which divides values.
func RatioOption(u *unit.Options) Option {
	return Option{
		Name:    "ovr",
		Aliases: "outputValueUnitRatio output-value-unit-ratio",
		Group:   GroupRare,
		Hidden:  true,
		Value:   Float(&u.Ratio, "", Positive),
		Default: "1",
		Usage:   "divide values by `RATIO`",
	}
}

// PercentilesOption returns -p, which chooses percentiles.
func PercentilesOption(value Value, usage string) Option {
	return Option{
		Name:    "p",
		Aliases: "percentiles",
		Group:   GroupValues,
		Value:   value,
		Usage:   usage,
		Doubt:   DoubtPercentiles,
	}
}

// DoubtPercentiles is an [Option.Doubt] for percentiles. It doubts numbers between 0 and 1, which
// may be meant as shares of 1, and 99,9, which may be meant as 99.9.
func DoubtPercentiles(text string) string {
	before := ""
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "p")
		if p, err := strconv.ParseFloat(name, 64); err == nil && p > 0 && p < 1 {
			return people.BelowOne(name, p)
		}
		if before == "99" && name != "99" && strings.Trim(name, "9") == "" {
			return fmt.Sprintf("99,%s is p99 and p%s: did you mean 99.%s?", name, name, name)
		}
		before = name
	}
	return ""
}

// AggregateOption returns -agg, which merges intervals by time. The option o has its rules and its
// default, which differ between commands.
func AggregateOption(millis *int64, o Option) Option {
	o.Name = "agg"
	o.Aliases = "aggregate"
	o.Group = GroupSeries
	o.Value = Length(millis, "")
	o.Usage = "merge the intervals of each window of `TIME`, such as 10s"
	return o
}

// OutputOption returns -of, which names the output.
func OutputOption(of *string, usage string) Option {
	return Option{
		Name:    "of",
		Aliases: "outputFile output-file",
		Group:   GroupOutput,
		Value:   Text(of, ""),
		Usage:   usage,
	}
}

// RunOptions returns the options that say how to run, for all commands.
func RunOptions(std *message.Streams, r *logs.Run) []Option {
	return []Option{
		{
			Name:  "strict",
			Group: GroupRun,
			Value: Bool(&r.Strict),
			Usage: "end at the first malformed line, with nothing written",
		},
		{
			Name:    "v",
			Aliases: "verbose",
			Group:   GroupRun,
			Value:   Bool(&r.Verbose),
			Usage:   "print a line for each interval on standard error",
		},
		{
			Name:    "q",
			Aliases: "quiet",
			Group:   GroupRun,
			Value:   Bool(&std.Quiet),
			Usage:   "print no progress",
		},
		{
			Name:    "j",
			Aliases: "jobs",
			Group:   GroupRun,
			Value:   Int(&r.Workers, strconv.Itoa(logs.UsualWorkers()), Between(1, maxJobs)),
			Default: "one a core, at most 32",
			Usage:   "decode on `N` cores",
		},
		{
			Name:  "memory",
			Group: GroupRun,
			Value: Parsed(&r.Memory, "512MiB", logs.ParseMemory),
			Usage: "end with an error instead of taking more memory than `SIZE`, such as 2GiB",
		},
	}
}

// maxJobs is the largest value of -j. Each job has its own memory for decoding.
const maxJobs = 1024
