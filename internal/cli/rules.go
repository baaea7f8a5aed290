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
			others := slices.DeleteFunc(slices.Clone(o.Only), func(output string) bool { return output == o.Name })
			return message.Usagef("-%s does not use -%s, but %s does%s", outputs[0], o.Name, listOutputs(others),
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

// listOutputs returns outputs as they are typed. Values of one option follow its name once.
func listOutputs(outputs []string) string {
	var b strings.Builder
	before := ""
	for n, output := range outputs {
		option, value, _ := strings.Cut(output, " ")
		if n > 0 {
			b.WriteString(", ")
		}
		if option != before || value == "" {
			b.WriteString("-" + output)
		} else {
			b.WriteString(value)
		}
		before = option
	}
	return b.String()
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
