package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A Type is a value of an option with a description of about three words. Other names of it,
// between spaces, are those that people type.
type Type struct{ Name, What, Others string }

// An Option is a flag with the values that it takes, what it needs and what it does not go with.
// Names of options stand between spaces. [Run] checks a command line before the command begins, and
// help says the same.
type Option struct {
	cli.Flag
	// Values are those that completion offers. Types are values that help lists.
	Values []string
	Types  []Type
	// Check returns an error if the value is none that the option takes. All are if it is nil.
	Check func(c *cli.Context, name string) error
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

// ruled returns the option of a flag, without rules if it has none.
func ruled(app *cli.App, flag cli.Flag) Option {
	options, _ := app.Metadata[rulesKey].([]Option)
	if n := slices.IndexFunc(options, func(o Option) bool { return o.Flag == flag }); n >= 0 {
		return options[n]
	}
	return Option{Flag: flag}
}

// values returns the values that completion offers.
func (o Option) values() []string {
	all := o.Values
	for _, t := range o.Types {
		all = append(all, t.Name)
	}
	return all
}

// rulesKey is where the Metadata of an app has its options with rules.
const rulesKey = "rules"

// unwrap replaces the options of an app by their flags, and keeps the options in its Metadata.
func unwrap(app *cli.App) {
	var options []Option
	for n, flag := range app.Flags {
		if o, ok := flag.(Option); ok {
			app.Flags[n] = o.Flag
			options = append(options, o)
		}
	}
	if app.Metadata == nil {
		app.Metadata = make(map[string]any)
	}
	app.Metadata[rulesKey] = options
}

// checkOptions refuses values that an option does not take, options without what they need, with
// what they do not go with, and those that the output does not use: no option is ignored silently.
func checkOptions(c *cli.Context) error {
	options, _ := c.App.Metadata[rulesKey].([]Option)
	given := func(name string) bool { return Given(c, name) }
	for _, o := range options { // first, since rules ask for the values
		if name := o.Names()[0]; given(name) && o.Check != nil {
			if err := o.Check(c, name); err != nil {
				return err
			}
		}
	}
	for _, o := range options {
		name := o.Names()[0]
		if !given(name) {
			continue
		}
		if needs := strings.Fields(o.Needs); len(needs) > 0 && !slices.ContainsFunc(needs, given) {
			return Usagef("-%s needs -%s", name, strings.Join(needs, " or -"))
		}
		for _, other := range strings.Fields(o.Not) {
			if given(other) {
				return Usagef("-%s and -%s do not go together%s", name, other, because(o.Why))
			}
		}
		if o.Only == nil || slices.ContainsFunc(strings.Fields(o.Unless), given) {
			continue
		}
		outputs := guideOf(c.App).Outputs(c)
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
func (o Option) rules() string {
	var all []string
	if o.Needs != "" {
		all = append(all, "with -"+strings.Join(strings.Fields(o.Needs), " or -"))
	}
	if o.Not != "" {
		all = append(all, "not with -"+strings.Join(strings.Fields(o.Not), ", -"))
	}
	return strings.Join(all, "; ")
}
