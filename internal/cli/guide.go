package cli

import (
	"cmp"
	"slices"
	"strings"
)

// placeholder returns the name of an option's value, which stands in back quotes in Usage. It is
// empty for an option without a value.
func (o *Option) placeholder() string {
	_, rest, _ := strings.Cut(o.Usage, "`")
	name, _, _ := strings.Cut(rest, "`")
	return name
}

// usage returns Usage without back quotes.
func (o *Option) usage() string { return strings.ReplaceAll(o.Usage, "`", "") }

// withDashes returns the name of an option with one or two dashes, as help spells it. The command
// accepts both.
func withDashes(name string) string {
	if strings.Contains(name, "-") || name == "help" || name == "version" || name == "generate" {
		return "--" + name
	}
	return "-" + name
}

// An optionGroup is options under one heading of help.
type optionGroup struct {
	name    string
	options []*Option
}

// groupRank returns the rank of groups that come after all others, and -1 for the others.
func groupRank(group string) int {
	return slices.Index([]string{GroupRun, GroupRare, groupHelp}, group)
}

// groups returns the options of a command by groups, in the order of their first options. GroupRun,
// GroupRare and groupHelp are last. Hidden options are left out.
func (c *Command) groups() []optionGroup {
	var all []optionGroup
	add := func(o *Option) {
		n := slices.IndexFunc(all, func(g optionGroup) bool { return g.name == o.Group })
		if n < 0 {
			n, all = len(all), append(all, optionGroup{name: o.Group})
		}
		all[n].options = append(all[n].options, o)
	}
	for n := range c.Options {
		if !c.Options[n].Hidden {
			add(&c.Options[n])
		}
	}
	slices.SortStableFunc(all, func(a, b optionGroup) int { return cmp.Compare(groupRank(a.name), groupRank(b.name)) })
	add(&Option{Group: groupHelp, Name: "h", Usage: "print the most used options"})
	add(&Option{Group: groupHelp, Name: "help", Usage: "print all options"})
	add(&Option{Group: groupHelp, Name: "version", Usage: "print the version, the commit and its date"})
	return all
}

// examples splits the description of a command into its examples, one on each line, and the rest.
func (c *Command) examples() (examples []string, rest string) {
	text, rest, _ := strings.Cut(c.Description, "\n\n")
	for line := range strings.Lines(strings.TrimPrefix(text, "examples:\n")) {
		examples = append(examples, strings.TrimSpace(line))
	}
	return examples, rest
}
