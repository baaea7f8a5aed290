package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/scan"
)

// A Guide is what help and completion need of a command beyond its options. It is the Metadata of
// the command's App.
type Guide struct {
	// Common are the options that -h shows, by their first names.
	Common []string
	// Outputs returns what a command line prints, as [Option] names it. It is needed if an option
	// is for some outputs only.
	Outputs func(c *cli.Context) []string
	// Steady lets a scan begin where its logs are steady, for -s steady, and returns what to say.
	// It is nil if the command has no such start.
	Steady func(s *scan.Scan) (notice string, err error)
}

// Metadata returns the guide as the Metadata of an App.
func (g Guide) Metadata() map[string]any { return map[string]any{"guide": g} }

func guideOf(app *cli.App) Guide {
	g, _ := app.Metadata["guide"].(Guide)
	return g
}

// An option is an option as help shows it.
type option struct {
	names       []string
	placeholder string // what the value is called, empty if there is none
	usage       string
	value       string // the default
	rules       string // what it needs, and what it does not go with
	group       string
}

func newOption(flag cli.Flag) option {
	doc := flag.(cli.DocGenerationFlag)
	o := option{names: doc.Names(), usage: doc.GetUsage()}
	if before, rest, ok := strings.Cut(o.usage, "`"); ok {
		name, after, _ := strings.Cut(rest, "`")
		o.placeholder, o.usage = name, before+name+after
	}
	if value := doc.GetDefaultText(); doc.TakesValue() && value != "[]" {
		o.value = strings.Trim(value, `"`)
	}
	if categorized, ok := flag.(cli.CategorizableFlag); ok {
		o.group = categorized.GetCategory()
	}
	return o
}

// dashed returns a name with its dashes. One dash and two mean the same; this is the usual
// spelling.
func dashed(name string) string {
	if strings.Contains(name, "-") || name == "help" || name == "version" || name == "generate" {
		return "--" + name
	}
	return "-" + name
}

// A group is options that belong together.
type group struct {
	name    string
	options []option
}

// last orders the groups that come after the others.
func last(group string) int { return slices.Index([]string{GroupRun, GroupRare, groupHelp}, group) }

// groups returns the options of a command by groups, in the order in which the groups begin. Those
// of how to run, rare ones and those about help are last.
func groups(app *cli.App) []group {
	var all []group
	add := func(o option) {
		n := slices.IndexFunc(all, func(g group) bool { return g.name == o.group })
		if n < 0 {
			n, all = len(all), append(all, group{name: o.group})
		}
		all[n].options = append(all[n].options, o)
	}
	for _, flag := range app.Flags {
		if v, ok := flag.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		o := newOption(flag)
		o.rules = ruled(app, flag).rules()
		add(o)
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(last(a.name), last(b.name)) })
	add(option{group: groupHelp, names: []string{"h"}, usage: "print the most used options"})
	add(option{group: groupHelp, names: []string{"help"}, usage: "print all options"})
	add(option{group: groupHelp, names: []string{"version"}, usage: "print the version, the commit and its date"})
	return all
}

// examples splits the description of a command into its examples, one a line, and the rest.
func examples(app *cli.App) (examples []string, rest string) {
	text, rest, _ := strings.Cut(app.Description, "\n\n")
	for line := range strings.Lines(strings.TrimPrefix(text, "examples:\n")) {
		examples = append(examples, strings.TrimSpace(line))
	}
	return examples, rest
}
