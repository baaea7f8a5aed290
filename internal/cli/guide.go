package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
)

// A Guide is what help and completion need of a command beyond its options. It is the Metadata of
// the command's App.
type Guide struct {
	// Common are the options that -h shows, by their first names.
	Common []string
	// Choices are the values of the options that take one of a few. Others are refused.
	Choices map[string][]string
	// Types are the values of the option TypeOption.
	TypeOption string
	Types      []Type
	// Outputs returns what a command line prints, as [Option] names it. It is needed if an option
	// is for some outputs only.
	Outputs func(c *cli.Context) []string
	// Steady lets a scan begin where its logs are steady, for -s steady, and returns what to say.
	// It is nil if the command has no such start.
	Steady func(s *scan.Scan) (notice string, err error)
}

// A Type is a value of an option with a description of about three words. Other names of it,
// between spaces, are those that people type.
type Type struct{ Name, What, Others string }

// Metadata returns the guide as the Metadata of an App.
func (g Guide) Metadata() map[string]any { return map[string]any{"guide": g} }

func guideOf(app *cli.App) Guide {
	g, _ := app.Metadata["guide"].(Guide)
	return g
}

// sharedChoices are the choices of options that all commands have.
var sharedChoices = map[string][]string{"second": {"length", "end"}, "times": {timesEach, timesAll}}

// unitOptions take the names of units, and words such as milliseconds.
var unitOptions = []string{"unit", "in", "time-in"}

// choices returns the values of an option that takes one of a few, nil if it takes others.
func choices(app *cli.App, name string) []string {
	if all, ok := sharedChoices[name]; ok {
		return all
	}
	if slices.Contains(unitOptions, name) {
		return unit.Names
	}
	guide := guideOf(app)
	if name != guide.TypeOption {
		return guide.Choices[name]
	}
	var names []string
	for _, t := range guide.Types {
		names = append(names, t.Name)
	}
	return names
}

// Choice returns the value of an option that takes one of a few.
func Choice(c *cli.Context, name string) string {
	value := strings.ToLower(c.String(name))
	for _, t := range guideOf(c.App).Types {
		if name == guideOf(c.App).TypeOption && slices.Contains(strings.Fields(t.Others), value) {
			value = t.Name
		}
	}
	return value
}

// checkChoice refuses a value that is none of the few that an option takes.
func checkChoice(c *cli.Context, name string) error {
	all, value := choices(c.App, name), Choice(c, name)
	if all == nil || slices.Contains(all, value) {
		return nil
	}
	return Usagef("-%s %q is none of %s%s", name, c.String(name), strings.Join(all, ", "), didYouMean(value, all))
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
	rules, _ := app.Metadata[rulesKey].([]Option)
	for _, flag := range app.Flags {
		if v, ok := flag.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		o := newOption(flag)
		for _, r := range rules {
			if r.Flag == flag {
				o.rules = r.rules()
			}
		}
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
