package main

import (
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/output"
	"hdrkit/tags"
)

// formats are the values of -st. Each is described in a file of its own.
var formats = []*format{
	&tableFormat, &markdownFormat, &rowsFormat, &percentilesFormat, &hgrmFormat, &csvFormat, &csveFormat, &csvrFormat, &jsonFormat, &breachesFormat,
	&timelineFormat, &ndjsonFormat, &influxFormat, &openMetricsFormat, &otlpFormat,
}

// A format is what hdrsum can print: a summary or rows.
type format struct {
	name, what string // no name if an option of its own asks for it
	others     string // other names that people type
	// uses are the options that the format reads, besides its flags. An option that any format
	// lists is refused by those that do not list it. The others are for all.
	uses []string
	// flag, if set, returns a new flag for an option of its own: parsing writes to it.
	flag func() urfave.Flag
	// check checks its options, if it is set.
	check func(o *options) error

	// each prints a summary, and all prints a report, with the comparison and the verdicts about
	// limits. Formats of rows have neither. If each tag has a file of its own, extension is what
	// its name ends in.
	each      func(w io.Writer, r *report, s *output.Summary) error
	extension string
	all       func(w io.Writer, r *report) error
	// readable is set if values are for people: in a unit that suits them, with sparklines.
	readable bool
	// bare is set if the unit of values is not in the output. A message says it.
	bare bool
	// breaches is set if all prints when limits did not hold.
	breaches bool

	// rows prints rows. It is nil for summaries.
	rows func(w io.Writer, o *options) (output.RowWriter, error)
	// clash is set for monitoring systems. It returns an error if a point cannot follow the last
	// one of its tag, by their times.
	clash func(last, now int64) error
	// totals reports that rows show totals since the log began.
	totals bool
	// receiver checks the options of the rows that -push sends, if it is set.
	receiver func(o *options) error
}

// Options that several formats use.
var (
	valueOptions  = []string{"ovr", "unit", "in"}
	periodOptions = []string{"period", "its"}
	// arrangeOptions are those of the order of rows.
	arrangeOptions = []string{"sort", "top"}
	rowOptions     = slices.Concat([]string{"p", "agg", "mwp", "mwpl"}, valueOptions)
	metricOptions  = slices.Concat([]string{"metric", "push"}, rowOptions)
)

// formatTypes returns the types of -st, for help.
func formatTypes() (all []cli.Type) {
	for _, f := range formats {
		all = append(all, cli.Type{Name: f.name, What: f.what, Others: f.others})
	}
	return all
}

// formatFlags returns the options of the formats.
func formatFlags() (all []urfave.Flag) {
	for _, f := range formats {
		if f.flag != nil {
			all = append(all, f.flag())
		}
	}
	return all
}

// reads reports whether a format uses an option.
func (f *format) reads(option string) bool {
	return slices.Contains(f.uses, option) || f.flag != nil && f.flag().Names()[0] == option
}

// alone are the options whose output needs no format, and the options that they use: -lt has
// [listFormat], the others [verdictsFormat]. With -st table, markdown or json they follow the
// summaries.
var alone = map[string][]string{
	"lt":    nil,
	"sla":   slices.Concat([]string{"ci", "agg"}, valueOptions, periodOptions),
	"worst": slices.Concat([]string{"tz"}, valueOptions),
	"who":   valueOptions,
}

// chosen returns the format that a command line asks for. Without -st, -agg asks for rows, unless
// something else needs its windows.
func chosen(c *urfave.Context) *format {
	name := cli.Choice(c, "st")
	if cli.Given(c, "st") {
		return find(name)
	}
	given := func(option string) bool { return cli.Given(c, option) }
	terminal := toStdout(c) && cli.Terminal(c.App.Writer)
	switch {
	case c.Bool("lt"):
		return &listFormat
	case given("push"):
		u, err := push.ParseURL(c.String("push"))
		if err != nil {
			return &influxFormat // [parsePush] says what is wrong
		}
		return find(prom.ReceiverOf(u))
	case given("agg") && !slices.ContainsFunc([]string{"ci", "baseline", "sla", "worst", "who"}, given):
		if terminal {
			return &rowsFormat
		}
		return &timelineFormat
	case terminal || given("baseline"):
		return &tableFormat
	case slices.ContainsFunc([]string{"sla", "worst", "who"}, given):
		return &verdictsFormat
	}
	return find(name)
}

// find returns the format with a name.
func find(name string) *format {
	for _, f := range formats {
		if f.name == name {
			return f
		}
	}
	return nil
}

// outputs returns what a command line prints, for the rules of options.
func outputs(c *urfave.Context) (all []string) {
	f := chosen(c)
	if f.name != "" {
		return []string{"st " + f.name}
	}
	for _, option := range slices.Sorted(maps.Keys(alone)) {
		if cli.Given(c, option) {
			all = append(all, option)
		}
	}
	return all
}

// withRules gives flags the rules that the formats say: which of them use an option. An option that
// none of them names is for all.
func withRules(flags []urfave.Flag) []urfave.Flag {
	for n, flag := range flags {
		name := flag.Names()[0]
		o, ok := flag.(cli.Option)
		if !ok {
			o.Flag = flag
		}
		for _, f := range formats {
			if _, own := alone[name]; (own || name == "baseline") && f.all != nil || f.reads(name) {
				o.Only = append(o.Only, "st "+f.name)
			}
		}
		if o.Only == nil {
			continue
		}
		for _, option := range slices.Sorted(maps.Keys(alone)) {
			if option == name || slices.Contains(alone[option], name) {
				o.Only = append(o.Only, option)
			}
		}
		flags[n] = o
	}
	return flags
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

// toStdout reports whether the output goes to standard output.
func toStdout(c *urfave.Context) bool { return c.String("of") == "" || c.String("of") == "-" }
