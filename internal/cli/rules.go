package cli

import (
	"slices"
	"strconv"
	"strings"
)

// A Kind is what values an option has.
type Kind int

// Kinds of options.
const (
	Text  Kind = iota
	List       // texts: the option may come several times
	Bool       // no value, or true or false
	Int        // a whole number
	Float      // a number
)

// An Option is an option with the values that it takes, what it needs and what it does not go with.
// Names of other options stand between spaces. [Run] checks a command line before the command
// begins, and help says the same.
type Option struct {
	Name    string
	Aliases []string
	Kind    Kind
	// Usage is a description. The name of the value stands between backquotes.
	Usage    string
	Category string // the group in help
	Hidden   bool   // help does not show it
	// Value is the default, and DefaultText what help says of it.
	Value, DefaultText string
	// Check returns an error if the value is none that the option takes. All are if it is nil.
	Check func(c *Context, name string) error
	// Needs are options, one of which must be given.
	Needs string
	// Not are options that do not go with it, and Why says why.
	Not, Why string
	// Only are the outputs that use it, as they are typed without the dash: lt, st json. All do if
	// there are none. The command's [Guide] says which it has.
	Only []string
	// Unless are options, one of which makes Only void.
	Unless string
}

// names returns the names of the option.
func (o *Option) names() []string { return append([]string{o.Name}, o.Aliases...) }

// checkKind refuses a value that is none of the option's kind.
func (o *Option) checkKind(value string) (err error) {
	what := ""
	switch o.Kind {
	case Bool:
		what = "neither true nor false"
		_, err = strconv.ParseBool(value)
	case Int:
		what = "no whole number"
		_, err = strconv.Atoi(value)
	case Float:
		what = "no number"
		_, err = strconv.ParseFloat(value, 64)
	}
	if err != nil {
		return Usagef("-%s %q is %s", o.Name, value, what)
	}
	return nil
}

// checkOptions refuses values that an option does not take, options without what they need, with
// what they do not go with, and those that the output does not use: no option is ignored silently.
func checkOptions(c *Context) error {
	for _, o := range c.App.Options {
		for _, value := range c.given[o.Name] {
			if err := o.checkKind(value); err != nil {
				return err
			}
		}
		if c.Given(o.Name) && !slices.Contains(unitOptions, o.Name) {
			if err := checkChoice(c, o.Name); err != nil {
				return err
			}
		}
	}
	for _, o := range c.App.Options {
		name := o.Name
		if !c.Given(name) {
			continue
		}
		if o.Check != nil {
			if err := o.Check(c, name); err != nil {
				return err
			}
		}
		if needs := strings.Fields(o.Needs); len(needs) > 0 && !slices.ContainsFunc(needs, c.Given) {
			return Usagef("-%s needs -%s", name, strings.Join(needs, " or -"))
		}
		for _, other := range strings.Fields(o.Not) {
			if c.Given(other) {
				return Usagef("-%s and -%s do not go together%s", name, other, because(o.Why))
			}
		}
		if o.Only == nil || slices.ContainsFunc(strings.Fields(o.Unless), c.Given) {
			continue
		}
		outputs := c.App.Outputs(c)
		if !slices.ContainsFunc(outputs, func(output string) bool { return slices.Contains(o.Only, output) }) {
			others := slices.DeleteFunc(slices.Clone(o.Only), func(output string) bool { return output == name })
			return Usagef("-%s does not use -%s, but %s does", outputs[0], name, listOutputs(others))
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
