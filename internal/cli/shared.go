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

// Groups of options. Every option is in one of them.
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

// InputOptions are the options that choose the inputs, in all commands.
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

// Arguments takes arguments for more values of -if.
func Arguments(in *logs.Inputs) func([]string, int) error {
	return func(args []string, _ int) error { in.Names = append(in.Names, args...); return nil }
}

// TaggedInputOption is the option that reads logs and gives them tags.
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

// Without returns options without some.
func Without(options []Option, names ...string) []Option {
	return slices.DeleteFunc(options, func(o Option) bool { return slices.Contains(names, o.Name) })
}

// TagOptions are the options that choose tags, in all commands. The verb says what the command does
// to tags, and completion offers those of the inputs.
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

// IgnoreTagsOption is the option that takes all tags together.
func IgnoreTagsOption(t *logs.Tags, verb string) Option {
	return Option{
		Name:    "it",
		Aliases: "ignoreTag ignore-tags",
		Group:   GroupChoice,
		Value:   Bool(&t.Together),
		Usage:   verb + " all tags together",
	}
}

// RowOptions are the options that say what makes a row.
func RowOptions(t *logs.Tags, verb string) []Option {
	all := IgnoreTagsOption(t, verb)
	all.Not, all.Why = "by", "-by says what makes a row, so leave out -it"
	return []Option{all, ByOption(t)}
}

// ByOption is the option that says what makes a row.
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

// PhasesOption is the option that reads phases, with a usage that says what becomes of them.
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

// PhaseRows is the usage of phases that make rows.
const PhaseRows = "make a row (-by phase,tag, or -by phase with -it) of"

// UntaggedOption is the option that leaves untagged intervals untagged.
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

// TimeOptions are the options that choose a span of time, in all commands, with a rule for -tz.
func TimeOptions(t *logs.Times, zone Option) []Option {
	zone.Name = "tz"
	zone.Aliases = "time-zone"
	zone.Group = GroupChoice
	zone.Value = Parsed(&t.Zone, "UTC", logs.ParseZone)
	zone.Usage = "the `ZONE` of times without a zone, and of printed and drawn times: Europe/Berlin, +02:00 or Local"
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
		zone,
	}
}

// OmissionOption is the option that corrects for coordinated omission.
func OmissionOption(o *logs.Omission) Option {
	return Option{
		Name:    "co",
		Aliases: "correctLogWithKnownCoordinatedOmission coordinated-omission",
		Group:   GroupValues,
		Value: Value{take: func(option *Option, text string) (err error) {
			if text != "" {
				*o, err = logs.ParseOmission(text)
			}
			return option.named(err)
		}},
		Usage: "correct for coordinated omission: the recorder expected to record a value every " +
			"`TIME`, such as 10ms; a number without a unit is in units of the log",
		Default: "no correction",
	}
}

// UnitOptions are the options that say in which unit values are, and in which unit to print them.
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

// InOption is -in for commands that print no values.
func InOption(u *unit.Options) Option {
	option := UnitOptions(u)[1]
	option.Usage = inUsage + ". The result states it"
	return option
}

// In is the unit of the logs, or of some.
func In(u *unit.Options) Value {
	return Value{isList: true, take: func(o *Option, text string) error {
		if text == "" {
			return nil
		}
		return o.named(u.ParseIn(text))
	}}
}

// Unit is a unit of time. The empty text is none.
func Unit(to *hdrlog.Unit) Value {
	return Value{take: func(o *Option, text string) (err error) {
		if text == "" {
			return nil
		}
		if *to, err = unit.ParseOption(text); err != nil {
			return message.Usagef("-%s: %w", o.Name, err)
		}
		return nil
	}}
}

// RatioOption is the option that divides values.
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

// PercentilesOption is the option that chooses percentiles.
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

// DoubtPercentiles doubts percentiles between 0 and 1, which look like parts of 1, and 99,9, which
// looks like a number with a comma.
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

// AggregateOption is the option that merges intervals by time, with a rule.
func AggregateOption(millis *int64, rule Option) Option {
	rule.Name = "agg"
	rule.Aliases = "aggregate"
	rule.Group = GroupSeries
	rule.Value = Length(millis, "")
	rule.Usage = "merge the intervals of each window of `TIME`, such as 10s"
	return rule
}

// OutputOption is the option that names the output.
func OutputOption(of *string, usage string) Option {
	return Option{
		Name:    "of",
		Aliases: "outputFile output-file",
		Group:   GroupOutput,
		Value:   Text(of, ""),
		Usage:   usage,
	}
}

// RunOptions are the options that say how to run, in all commands.
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

// maxJobs is the largest -j. Each job has its own memory for decoding, and no machine has as many
// cores.
const maxJobs = 1024
