package cli

import (
	"slices"
	"strings"

	"hdrkit/internal/base/message"
)

// printDoubts prints a message about values that are hardly meant so.
func (c *Command) printDoubts(o *Option) {
	if o.Doubt == nil {
		return
	}
	for _, text := range o.texts {
		if doubt := o.Doubt(text); doubt != "" {
			c.Streams.Say("-%s: %s", o.Name, doubt)
		}
	}
}

// setOptions stores the values of all options. It returns an error for a value that an option does
// not accept, for an option whose rules do not hold, and for an option that the output does not
// use: no option is ignored silently.
func (c *Command) setOptions() error {
	for n := range c.Options { // first, since Outputs needs the values
		if err := c.Options[n].parse(); err != nil {
			return err
		}
		c.printDoubts(&c.Options[n])
	}
	given := func(name string) bool {
		o := optionNamed(c.Options, name)
		return o != nil && len(o.texts) > 0
	}
	for n := range c.Options {
		o := &c.Options[n]
		if len(o.texts) == 0 {
			continue
		}
		if needs := strings.Fields(o.Rules.Needs); len(needs) > 0 && !slices.ContainsFunc(needs, given) {
			return message.Usagef("-%s needs -%s", o.Name, strings.Join(needs, " or -"))
		}
		for _, other := range strings.Fields(o.Rules.Not) {
			if given(other) {
				return message.Usagef("-%s and -%s do not go together%s", o.Name, other, reasonSuffix(o.Rules.Why))
			}
		}
		if o.Rules.Only == nil || slices.ContainsFunc(strings.Fields(o.Rules.Unless), given) {
			continue
		}
		outputs := c.Outputs()
		if !slices.ContainsFunc(outputs, func(output string) bool { return slices.Contains(o.Rules.Only, output) }) {
			if c.Implied != nil && c.Implied() != "" {
				return message.Usagef("-%s prints -%s, which does not use -%s: leave out -%[3]s, or add -%[4]s", c.Implied(),
					outputs[0], o.Name, c.listedOutputs(o)[0])
			}
			return message.Usagef("-%s does not use -%s, but %s%s", outputs[0], o.Name, c.usersOf(o),
				reasonSuffix(o.Rules.Reasons[outputs[0]]))
		}
	}
	return nil
}

func reasonSuffix(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// maxUsers is the largest number of outputs in a message. The documents name all.
const maxUsers = 3

// listedOutputs returns the outputs that use an option and that help lists. If help lists none, it
// returns all.
func (c *Command) listedOutputs(o *Option) []string {
	others := slices.DeleteFunc(slices.Clone(o.Rules.Only), func(output string) bool { return output == o.Name })
	listed := slices.DeleteFunc(slices.Clone(others), c.isHidden)
	if len(listed) > 0 {
		return listed
	}
	return others
}

// usersOf says which outputs use an option: "-st table, json and -lt do". Values of the same option
// follow its name once.
func (c *Command) usersOf(o *Option) string {
	others := c.listedOutputs(o)
	var names []string
	before := ""
	for _, output := range others[:min(len(others), maxUsers)] {
		option, value, _ := strings.Cut(output, " ")
		if option == before && value != "" {
			names = append(names, value)
		} else {
			names = append(names, "-"+output)
		}
		before = option
	}
	if len(others) > maxUsers {
		names = append(names, "others")
	}
	last := len(names) - 1
	if last == 0 {
		return names[0] + " does"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " do"
}

// isHidden reports whether help leaves an output out.
func (c *Command) isHidden(output string) bool {
	name, value, _ := strings.Cut(output, " ")
	o := optionNamed(c.Options, name)
	return o != nil && (o.Hidden || slices.ContainsFunc(o.Types, func(t Type) bool { return t.Hidden && t.Name == value }))
}

// rules returns the rules of an option for help. It leaves out which outputs use the option, since
// the descriptions of outputs say so.
func (o *Option) rules() string {
	var all []string
	if o.Rules.Needs != "" {
		all = append(all, "with -"+strings.Join(strings.Fields(o.Rules.Needs), " or -"))
	}
	if o.Rules.Not != "" {
		all = append(all, "not with -"+strings.Join(strings.Fields(o.Rules.Not), ", -"))
	}
	return strings.Join(all, "; ")
}
