package cli

import (
	"cmp"
	"slices"
	"strings"

	"hdrkit/internal/base/unit"
)

// sharedChoices are the choices of options that all commands have.
var sharedChoices = map[string][]string{"second": {"length", "end"}, "times": {timesEach, timesAll}}

// unitOptions take the names of units, and words such as milliseconds.
var unitOptions = []string{"unit", "in", "time-in"}

// choices returns the values of an option that takes one of a few, nil if it takes others.
func choices(app *App, name string) []string {
	if all, ok := sharedChoices[name]; ok {
		return all
	}
	if slices.Contains(unitOptions, name) {
		return unit.Names
	}
	if name != app.TypeOption {
		return app.Choices[name]
	}
	var names []string
	for _, t := range app.Types {
		names = append(names, t.Name)
	}
	return names
}

// Choice returns the value of an option that takes one of a few.
func Choice(c *Context, name string) string {
	value := strings.ToLower(c.String(name))
	for _, t := range c.App.Types {
		if name == c.App.TypeOption && slices.Contains(strings.Fields(t.Others), value) {
			value = t.Name
		}
	}
	return value
}

// checkChoice refuses a value that is none of the few that an option takes.
func checkChoice(c *Context, name string) error {
	all, value := choices(c.App, name), Choice(c, name)
	if all == nil || slices.Contains(all, value) {
		return nil
	}
	return Usagef("-%s %q is none of %s%s", name, c.String(name), strings.Join(all, ", "), didYouMean(value, all))
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
	options []Option
}

// last orders the groups that come after the others.
func last(group string) int { return slices.Index([]string{GroupRun, GroupRare, groupHelp}, group) }

// groups returns the options of a command by groups, in the order in which the groups begin. Those
// of how to run, rare ones and those about help are last.
func groups(app *App) []group {
	var all []group
	add := func(o Option) {
		n := slices.IndexFunc(all, func(g group) bool { return g.name == o.Category })
		if n < 0 {
			n, all = len(all), append(all, group{name: o.Category})
		}
		all[n].options = append(all[n].options, o)
	}
	for _, o := range app.Options {
		if !o.Hidden {
			add(o)
		}
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(last(a.name), last(b.name)) })
	add(Option{Category: groupHelp, Kind: Bool, Name: "h", Usage: "print the most used options"})
	add(Option{Category: groupHelp, Kind: Bool, Name: "help", Usage: "print all options"})
	add(Option{Category: groupHelp, Kind: Bool, Name: "version", Usage: "print the version, the commit and its date"})
	return all
}

// examples splits the description of a command into its examples, one a line, and the rest.
func examples(app *App) (examples []string, rest string) {
	text, rest, _ := strings.Cut(app.Description, "\n\n")
	for line := range strings.Lines(strings.TrimPrefix(text, "examples:\n")) {
		examples = append(examples, strings.TrimSpace(line))
	}
	return examples, rest
}
