package main

import (
	"cmp"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/logs"
	"hdrkit/output"
	"hdrkit/tags"
)

// formats are the formats of -st. Each is described in a file format_*.go.
var formats = []*format{
	&tableFormat, &markdownFormat, &findingsFormat, &rowsFormat,
	&percentilesFormat, &hgrmFormat, &binsFormat, &doublingFormat, &valuesFormat, &csvFormat, &jsonFormat,
	&breachesFormat, &rangesFormat, &junitFormat,
	&timelineFormat, &ndjsonFormat, &influxFormat, &openMetricsFormat,
}

// A format describes something that hdrsum prints: summaries, or rows over time. It sets only the
// fields in which it differs from others.
type format struct {
	// kind is the value of -st. Its name is empty if an option of its own asks for the format. It
	// is hidden if another format leads to it, or a name of HdrLogProcessing.
	kind   cli.Type
	ending string // ending of the output's name that chooses the format without -st
	// options are the options that change what the format prints, besides option. An option that
	// some formats use is refused for the formats that do not. Options that no format names are for
	// all formats.
	options []string
	// option returns the format's own option. It is nil if the format has none.
	option func(f *flags) cli.Option
	// replacement returns the format that takes the place of this one with other options, or nil.
	// It may be nil.
	replacement func(f *flags) *format
	// check returns an error for options that do not fit the format. It may be nil.
	check func(f *flags, of *format) error

	// writeSummary prints a summary, and writeAnswer the whole answer. A format of summaries has
	// one of the two, and a format of rows neither. extension is the extension of the files of
	// writeSummary if each summary has a file.
	writeSummary func(w io.Writer, q *question, s *output.Summary, first bool) error
	extension    string
	writeAnswer  func(w io.Writer, q *question, a *answer) error
	unitStyle    unitStyle
	// referencePeriods reports that rows have the periods that HdrLogProcessing computes.
	referencePeriods bool
	// printsFindings reports that the format prints findings. printsBreaches reports that it prints
	// when limits did not hold.
	printsFindings, printsBreaches bool

	// rows returns a writer of rows, and the scale of their values: scale itself for most formats.
	// rows is nil for formats of summaries.
	rows   func(w io.Writer, q *question, scale hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error)
	points pointRules
}

// A unitStyle says how a format prints the unit of values. 0 means that the output states the unit.
type unitStyle int

const (
	// readable values are for people: the unit is chosen so that numbers are short, and there are
	// sparklines.
	readable unitStyle = iota + 1
	// bare values have a unit that the output does not state. A message on standard error states
	// it.
	bare
)

// pointRules say what a monitoring system does with the points of a series.
type pointRules struct {
	// conflict returns an error if a point of this time cannot follow the last point of its tag. It
	// is nil for formats that are not for monitoring systems.
	conflict func(last, now int64) error
	// hasTotals reports that rows have totals since the start of the log.
	hasTotals bool
}

// These are lists of options that several formats use.
var (
	valueOptions  = []string{"ovr", "unit", "in"}
	periodOptions = []string{"period", "its"}
	// arrangeOptions are the options about the order of rows.
	arrangeOptions = []string{"sort", "top"}
	rowOptions     = slices.Concat([]string{"p", "agg", "mwp", "mwpl"}, valueOptions)
	metricOptions  = slices.Concat([]string{"metric"}, rowOptions)
)

// formatTypes returns the values of -st, for help.
func formatTypes() (all []cli.Type) {
	for _, f := range formats {
		all = append(all, f.kind)
	}
	return all
}

// formatOptions returns the formats' own options.
func (f *flags) formatOptions() (all []cli.Option) {
	for _, of := range formats {
		if of.option != nil {
			all = append(all, of.option(f))
		}
	}
	return all
}

// changesWith reports whether an option changes what the format prints.
func (f *format) changesWith(option string) bool {
	return slices.Contains(f.options, option) || f.option != nil && f.option(new(flags)).Name == option
}

// standalone are the options that choose what to print without -st, each with the options that its
// output uses: -lt has [listFormat], -sla [findingsFormat], -worst and -who [askedFormat]. With -st
// table, markdown or json, their output follows the summaries.
var standalone = map[string][]string{
	"lt":    nil,
	"sla":   slices.Concat([]string{"ci", "agg"}, valueOptions, periodOptions),
	"worst": slices.Concat([]string{"tz"}, valueOptions),
	"who":   valueOptions,
}

// chosenFormat returns the format of the command line.
func (f *flags) chosenFormat() *format {
	of := f.namedFormat()
	if of.replacement != nil {
		return cmp.Or(of.replacement(f), of)
	}
	return of
}

// namedFormat returns the format that -st or the ending of the output names, or the default.
// Without -st, -agg chooses rows, unless -ci, -sla or a list needs the windows.
func (f *flags) namedFormat() *format {
	o := &f.output
	terminal := logs.ToStdout(o.file) && message.Terminal(f.std.Out)
	lists := f.lists.worst > 0 || f.lists.who
	named, _ := o.byEnding() // checkEnding returns the error
	switch {
	case f.given.format:
	case o.list:
		return &listFormat
	case named != nil:
		return named
	case f.given.windows && !f.given.level && !lists && len(f.limits) == 0:
		if terminal {
			return &rowsFormat
		}
		return &csvRows
	case len(f.limits) > 0:
		return &findingsFormat
	case lists:
		return &askedFormat
	case logs.ToStdout(o.file):
		return &tableFormat
	}
	return formatNamed(o.kind)
}

// byEnding returns the format that the ending of the output's name chooses, nil if it chooses none.
func (o *outputFlags) byEnding() (*format, error) {
	endings := make(map[string]string)
	for _, f := range formats {
		if f.ending != "" {
			endings[f.ending] = f.kind.Name
		}
	}
	name, err := logs.ByEnding(o.file, endings)
	return formatNamed(name), err
}

// checkEnding returns an error if the ending of the output's name chooses no format, and no option
// does.
func (f *flags) checkEnding() error {
	if f.given.format || f.output.list {
		return nil
	}
	_, err := f.output.byEnding()
	return err
}

// formatNamed returns the format with a name, nil if there is none.
func formatNamed(name string) *format {
	for _, f := range formats {
		if f.kind.Name == name {
			return f
		}
	}
	return nil
}

// outputs returns what a command line prints, for [cli.Command.Outputs].
func (f *flags) outputs() (all []string) {
	if name := f.chosenFormat().kind.Name; name != "" {
		return []string{"st " + name}
	}
	for _, option := range []struct {
		name  string
		given bool
	}{
		{"lt", f.output.list},
		{"sla", len(f.limits) > 0},
		{"who", f.lists.who},
		{"worst", f.lists.worst > 0},
	} {
		if option.given {
			all = append(all, option.name)
		}
	}
	return all
}

// implied returns the option that asks for findings if neither -st nor an ending does, for
// [cli.Command.Implied].
func (f *flags) implied() string {
	if named, _ := f.output.byEnding(); f.given.format || named != nil || f.namedFormat() != &findingsFormat {
		return ""
	}
	return "sla"
}

// withRules adds to options for which formats they are. An option that no format names is for all.
func withRules(options []cli.Option) []cli.Option {
	for n := range options {
		o := &options[n]
		for _, f := range formats {
			if _, single := standalone[o.Name]; single && f.writeAnswer != nil || f.changesWith(o.Name) {
				o.Rules.Only = append(o.Rules.Only, "st "+f.kind.Name)
			}
		}
		if o.Rules.Only == nil {
			continue
		}
		for _, option := range slices.Sorted(maps.Keys(standalone)) {
			if option == o.Name || slices.Contains(standalone[option], o.Name) {
				o.Rules.Only = append(o.Rules.Only, option)
			}
		}
	}
	return options
}

// summaryPath returns the path of a tag's file: the tag stands before the extension. fold reports
// that the file system ignores case.
func summaryPath(of string, tag []byte, extension string, fold bool) string {
	folder, name := filepath.Split(of)
	if ext := filepath.Ext(name); strings.EqualFold(ext, extension) {
		name, extension = strings.TrimSuffix(name, ext), ext
	}
	if tag == nil {
		return folder + name + extension
	}
	return folder + tags.FileName(name+".", tag, extension, fold)
}
