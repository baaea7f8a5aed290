package cli

import (
	"slices"
	"strings"

	"hdrkit/internal/base/message"
)

// doubt says what is hardly meant so.
func (c *Command) doubt(o *Option) {
	if o.Doubt == nil {
		return
	}
	for _, text := range o.texts {
		if doubt := o.Doubt(text); doubt != "" {
			c.Say("-%s: %s", o.Name, doubt)
		}
	}
}

// fill gives all options their values, and refuses values that an option does not take, options
// without what they need, with what they do not go with, and those that the output does not use: no
// option is ignored silently.
func (c *Command) fill() error {
	for n := range c.Options { // first, since rules ask for the values
		if err := c.Options[n].parse(); err != nil {
			return err
		}
		c.doubt(&c.Options[n])
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
		if needs := strings.Fields(o.Needs); len(needs) > 0 && !slices.ContainsFunc(needs, given) {
			return message.Usagef("-%s needs -%s", o.Name, strings.Join(needs, " or -"))
		}
		for _, other := range strings.Fields(o.Not) {
			if given(other) {
				return message.Usagef("-%s and -%s do not go together%s", o.Name, other, because(o.Why))
			}
		}
		if o.Only == nil || slices.ContainsFunc(strings.Fields(o.Unless), given) {
			continue
		}
		outputs := c.Outputs()
		if !slices.ContainsFunc(outputs, func(output string) bool { return slices.Contains(o.Only, output) }) {
			if c.Implied != nil && c.Implied() != "" {
				return message.Usagef("-%s prints -%s, which does not use -%s: leave out -%[3]s, or add -%[4]s", c.Implied(),
					outputs[0], o.Name, c.listed(o)[0])
			}
			return message.Usagef("-%s does not use -%s, but %s%s", outputs[0], o.Name, c.users(o),
				because(o.Reasons[outputs[0]]))
		}
	}
	return nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// mostUsers is the number of outputs that a message names. The documents have them all.
const mostUsers = 3

// listed returns the outputs that use an option: those that help lists, or the others if it lists
// none.
func (c *Command) listed(o *Option) []string {
	others := slices.DeleteFunc(slices.Clone(o.Only), func(output string) bool { return output == o.Name })
	listed := slices.DeleteFunc(slices.Clone(others), c.hidden)
	if len(listed) > 0 {
		return listed
	}
	return others
}

// users says which outputs use an option, as they are typed: -st table, json and -lt do. Values of
// one option follow its name once.
func (c *Command) users(o *Option) string {
	others := c.listed(o)
	var names []string
	before := ""
	for _, output := range others[:min(len(others), mostUsers)] {
		option, value, _ := strings.Cut(output, " ")
		if option == before && value != "" {
			names = append(names, value)
		} else {
			names = append(names, "-"+output)
		}
		before = option
	}
	if len(others) > mostUsers {
		names = append(names, "others")
	}
	last := len(names) - 1
	if last == 0 {
		return names[0] + " does"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " do"
}

// hidden reports whether help does not list an output.
func (c *Command) hidden(output string) bool {
	name, value, _ := strings.Cut(output, " ")
	o := optionNamed(c.Options, name)
	return o != nil && (o.Hidden || slices.ContainsFunc(o.Types, func(t Type) bool { return t.Hidden && t.Name == value }))
}

// rules returns what help says of an option's rules, nothing if there are none. What an output uses
// is said where the output is described.
func (o *Option) rules() string {
	var all []string
	if o.Needs != "" {
		all = append(all, "with -"+strings.Join(strings.Fields(o.Needs), " or -"))
	}
	if o.Not != "" {
		all = append(all, "not with -"+strings.Join(strings.Fields(o.Not), ", -"))
	}
	return strings.Join(all, "; ")
}
