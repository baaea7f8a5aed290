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

// formats are the values of -st. Each is described in a file of its own.
var formats = []*format{
	&tableFormat, &markdownFormat, &findingsFormat, &rowsFormat,
	&percentilesFormat, &hgrmFormat, &binsFormat, &doublingFormat, &valuesFormat, &csvFormat, &jsonFormat,
	&breachesFormat, &rangesFormat, &junitFormat,
	&timelineFormat, &ndjsonFormat, &influxFormat, &openMetricsFormat,
}

// A format is what hdrsum can print: a summary or rows. It is a line of a table, and sets only the
// fields in which it differs from others.
type format struct {
	// Type is the value of -st, without a name if an option of its own asks for the format. It is
	// hidden if another format or HdrLogProcessing's documents lead to it.
	cli.Type
	ending string // of -of, which chooses the format without -st
	// uses are the options that the format reads, besides its flags. An option that any format
	// lists is refused by those that do not list it. The others are for all.
	uses []string
	// option, if set, returns an option of its own.
	option func(f *flags) cli.Option
	// instead, if set, returns the format that other options make of it, nil for none.
	instead func(f *flags) *format
	// check checks the options of a command line that chooses the format, if it is set.
	check func(f *flags, of *format) error

	// each prints a summary, and all prints a report, with the verdicts about limits. Formats of
	// rows have neither. If each tag has a file of its own, extension is what its name ends in.
	each      func(w io.Writer, q *question, s *output.Summary, first bool) error
	extension string
	all       func(w io.Writer, q *question, a *answer) error
	values    values
	// reference is set if the period of tags is that of HdrLogProcessing.
	reference bool
	// finds is set if it prints what the run shows, and breaches if it prints when limits did not
	// hold.
	finds, breaches bool

	// rows returns what prints rows, with the scale of their values: by itself that which suits all
	// formats. It is nil for summaries.
	rows   func(w io.Writer, q *question, scale hdrlog.Scale) (output.RowWriter, hdrlog.Scale, error)
	points points
}

// values say how a format prints values. At 0 the output says their unit.
type values int

const (
	// readable values are for people: in a unit that suits them, with sparklines.
	readable values = iota + 1
	// bare values are in a unit that the output does not say. A message says it.
	bare
)

// points say what a monitoring system makes of rows.
type points struct {
	// clash is set for monitoring systems. It returns an error if a point cannot follow the last
	// one of its tag, by their times.
	clash func(last, now int64) error
	// totals reports that rows show totals since the log began.
	totals bool
}

// Options that several formats use.
var (
	valueOptions  = []string{"ovr", "unit", "in"}
	periodOptions = []string{"period", "its"}
	// arrangeOptions are those of the order of rows.
	arrangeOptions = []string{"sort", "top"}
	rowOptions     = slices.Concat([]string{"p", "agg", "mwp", "mwpl"}, valueOptions)
	metricOptions  = slices.Concat([]string{"metric"}, rowOptions)
)

// formatTypes returns the types of -st, for help.
func formatTypes() (all []cli.Type) {
	for _, f := range formats {
		all = append(all, f.Type)
	}
	return all
}

// formatOptions returns the options of the formats.
func (f *flags) formatOptions() (all []cli.Option) {
	for _, of := range formats {
		if of.option != nil {
			all = append(all, of.option(f))
		}
	}
	return all
}

// reads reports whether a format uses an option.
func (f *format) reads(option string) bool {
	return slices.Contains(f.uses, option) || f.option != nil && f.option(new(flags)).Name == option
}

// alone are the options whose output needs no format, and the options that they use: -lt has
// [listFormat], -sla [findingsFormat], the others [askedFormat]. With -st table, markdown or json
// they follow the summaries.
var alone = map[string][]string{
	"lt":    nil,
	"sla":   slices.Concat([]string{"ci", "agg"}, valueOptions, periodOptions),
	"worst": slices.Concat([]string{"tz"}, valueOptions),
	"who":   valueOptions,
}

// chosen returns the format that a command line asks for.
func (f *flags) chosen() *format {
	of := f.asked()
	if of.instead != nil {
		return cmp.Or(of.instead(f), of)
	}
	return of
}

// asked returns the format that -st names, or the name of the output, or what else there is.
// Without -st, -agg asks for rows, unless something else needs its windows.
func (f *flags) asked() *format {
	o := &f.output
	terminal := logs.ToStdout(o.file) && message.Terminal(f.std.Out)
	lists := f.lists.worst > 0 || f.lists.who
	named, _ := o.byEnding() // checkEnding has the error
	switch {
	case f.given.kind:
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
	return find(o.kind)
}

// byEnding returns the format that the name of the output chooses, nil if it chooses none.
func (o *outputFlags) byEnding() (*format, error) {
	endings := make(map[string]string)
	for _, f := range formats {
		if f.ending != "" {
			endings[f.ending] = f.Name
		}
	}
	name, err := logs.ByEnding(o.file, endings)
	return find(name), err
}

// checkEnding refuses names that choose no format, unless an option chooses one.
func (f *flags) checkEnding() error {
	if f.given.kind || f.output.list {
		return nil
	}
	_, err := f.output.byEnding()
	return err
}

// find returns the format with a name.
func find(name string) *format {
	for _, f := range formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// outputs returns what a command line prints, for the rules of options.
func (f *flags) outputs() (all []string) {
	if name := f.chosen().Name; name != "" {
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

// implied returns the option that asks for findings if nothing names them.
func (f *flags) implied() string {
	if named, _ := f.output.byEnding(); f.given.kind || named != nil || f.asked() != &findingsFormat {
		return ""
	}
	return "sla"
}

// withRules gives options the rules that the formats say: which of them use it. An option that none
// of them names is for all.
func withRules(options []cli.Option) []cli.Option {
	for n := range options {
		o := &options[n]
		for _, f := range formats {
			if _, single := alone[o.Name]; single && f.all != nil || f.reads(o.Name) {
				o.Only = append(o.Only, "st "+f.Name)
			}
		}
		if o.Only == nil {
			continue
		}
		for _, option := range slices.Sorted(maps.Keys(alone)) {
			if option == o.Name || slices.Contains(alone[option], o.Name) {
				o.Only = append(o.Only, option)
			}
		}
	}
	return options
}

// summaryPath returns the path of a tag's file: the tag stands before the extension, which is added
// only where it is missing.
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
