package cli

import (
	"cmp"
	"slices"
	"strings"
)

// placeholder returns what the value of an option is called, empty if it has none.
func (o *Option) placeholder() string {
	_, rest, _ := strings.Cut(o.Usage, "`")
	name, _, _ := strings.Cut(rest, "`")
	return name
}

// usage returns what an option does.
func (o *Option) usage() string { return strings.ReplaceAll(o.Usage, "`", "") }

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
	options []*Option
}

// last orders the groups that come after the others.
func last(group string) int { return slices.Index([]string{GroupRun, GroupRare, groupHelp}, group) }

// groups returns the options of a command by groups, in the order in which the groups begin. Those
// of how to run, rare ones and those about help are last.
func (c *Command) groups() []group {
	var all []group
	add := func(o *Option) {
		n := slices.IndexFunc(all, func(g group) bool { return g.name == o.Group })
		if n < 0 {
			n, all = len(all), append(all, group{name: o.Group})
		}
		all[n].options = append(all[n].options, o)
	}
	for n := range c.Options {
		if !c.Options[n].Hidden {
			add(&c.Options[n])
		}
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(last(a.name), last(b.name)) })
	add(&Option{Group: groupHelp, Name: "h", Usage: "print the most used options"})
	add(&Option{Group: groupHelp, Name: "help", Usage: "print all options"})
	add(&Option{Group: groupHelp, Name: "version", Usage: "print the version, the commit and its date"})
	return all
}

// examples splits the description of a command into its examples, one a line, and the rest.
func (c *Command) examples() (examples []string, rest string) {
	text, rest, _ := strings.Cut(c.Description, "\n\n")
	for line := range strings.Lines(strings.TrimPrefix(text, "examples:\n")) {
		examples = append(examples, strings.TrimSpace(line))
	}
	return examples, rest
}
