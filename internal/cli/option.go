package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
)

// An Option is an option of a command: where its value goes, what help and completion say, and its
// rules. Names of options stand between spaces. [Run] fills and checks options before the command
// begins. Most options set a few fields.
type Option struct {
	Name    string
	Aliases string
	Group   string
	Usage   string // the name of the value stands in back quotes
	Value   Value
	// Default is the default in help, if the text of the default value is not enough.
	Default string
	Hidden  bool // neither help nor completion lists the option
	// Given, if it is not nil, becomes true if the option is on the command line.
	Given *bool
	// Doubt returns a message about a value that is right but hardly meant so, or an empty text. It
	// may be nil.
	Doubt func(text string) string
	Rules Rules

	// Values are values that completion offers, and Types values that help lists as well. Complete,
	// if it is not nil, returns the values that completion offers for a list. It is called when the
	// options before are set.
	Values   []string
	Types    []Type
	Complete func() []string
	// Elsewhere are values of other commands, each with a hint for users who type it here.
	Elsewhere map[string]string

	texts []string // values on the command line
}

// Rules say with which other options an option goes.
type Rules struct {
	// Needs are options. One of them must be given.
	Needs string
	// Not are options that do not go with this one. Why is the reason in the message.
	Not, Why string
	// Only are the outputs that use the option, as users type them without the dash: lt, st json.
	// All outputs use it if Only is empty. [Command.Outputs] returns the outputs of a command line.
	Only []string
	// Unless are options. If one of them is given, Only does not apply.
	Unless string
	// Reasons say why an output does not use the option, by output, where that is not clear.
	Reasons map[string]string
}

// A Type is a value of an option with a description of about three words. Others are further names
// that users type, between spaces.
type Type struct {
	Name, What, Others string
	Hidden             bool // neither help nor completion lists it
}

// A Value parses the text of an option and stores the result. Functions such as [Text] return a
// Value that stores the result in a variable.
type Value struct {
	defaultText string // the default
	isBool      bool
	isList      bool // the option may be repeated
	set         func(o *Option, text string) error
}

// Bool returns a Value for an option without a text: its variable becomes true if the option is
// given.
func Bool(to *bool) Value {
	return Value{isBool: true, set: func(o *Option, text string) (err error) {
		if *to, err = strconv.ParseBool(text); err != nil {
			return message.Usagef("-%s %q is neither true nor false", o.Name, text)
		}
		return nil
	}}
}

// Text returns a Value that accepts any text. The parameter text is the default.
func Text(to *string, text string) Value {
	return Value{defaultText: text, set: func(_ *Option, text string) error { *to = text; return nil }}
}

// List returns a Value that accepts any text and appends it. The option may be repeated.
func List(to *[]string) Value {
	return Value{isList: true, set: func(_ *Option, text string) error { *to = append(*to, text); return nil }}
}

// Parsed returns a Value that stores the result of parse. The parameter text is the default.
func Parsed[T any](to *T, text string, parse func(text string) (T, error)) Value {
	return Value{defaultText: text, set: func(o *Option, text string) (err error) { *to, err = parse(text); return o.withName(err) }}
}

// Each returns a Value that appends the results of parse. The option may be repeated.
func Each[T any](to *[]T, parse func(text string) ([]T, error)) Value {
	return Value{isList: true, set: func(o *Option, text string) error {
		some, err := parse(text)
		*to = append(*to, some...)
		return o.withName(err)
	}}
}

// withName adds the name of the option to an error, unless it is a [message.UsageError], which has
// the name already.
func (o *Option) withName(err error) error {
	if err == nil || errors.As(err, new(message.UsageError)) {
		return err
	}
	return message.Usagef("-%s: %w", o.Name, err)
}

// Choice returns a Value that accepts the option's Values and Types. The parameter text is the
// default.
func Choice(to *string, text string) Value {
	return Value{defaultText: text, set: func(o *Option, text string) error {
		value := strings.ToLower(text)
		for _, t := range o.Types {
			if slices.Contains(strings.Fields(t.Others), value) {
				value = t.Name
			}
		}
		all := o.values()
		hidden := slices.ContainsFunc(o.Types, func(t Type) bool { return t.Hidden && t.Name == value })
		if !hidden && !slices.Contains(all, value) {
			if hint, ok := o.Elsewhere[value]; ok {
				return message.Usagef("-%s %s: %s", o.Name, value, hint)
			}
			return message.Usagef("-%s %q is none of %s%s", o.Name, text, strings.Join(all, ", "),
				message.DidYouMean(value, all))
		}
		*to = value
		return nil
	}}
}

// Pick returns a Value like that of [Choice], which stores the result of calling of with the chosen
// name.
func Pick[T any](to *T, text string, of func(name string) T) Value {
	var name string
	v := Choice(&name, text)
	choose := v.set
	v.set = func(o *Option, text string) error {
		err := choose(o, text)
		if err == nil {
			*to = of(name)
		}
		return err
	}
	return v
}

// Is returns a function for [Pick] that reports whether the chosen name is other.
func Is(other string) func(name string) bool { return func(name string) bool { return name == other } }

// A Range is a range of numbers that an option accepts. what describes the range in a message.
type Range struct {
	what string
	ok   func(v float64) bool
}

var (
	AnyNumber  = Range{"", func(float64) bool { return true }}
	Positive   = Range{"above 0", func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }}
	Percent    = Between(0, 100)
	AtLeastOne = Range{"of at least 1", func(v float64) bool { return v >= 1 }}
)

// Between returns the range from least to most, both included.
func Between(least, most float64) Range {
	return Range{fmt.Sprintf("from %v to %v", least, most), func(v float64) bool { return v >= least && v <= most }}
}

// Float returns a Value that accepts numbers. The parameter text is the default.
func Float(to *float64, text string, in Range) Value {
	return numberValue(to, text, in, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
}

// Int returns a Value that accepts whole numbers. The parameter text is the default.
func Int(to *int, text string, in Range) Value { return numberValue(to, text, in, strconv.Atoi) }

func numberValue[T int | float64](to *T, text string, in Range, parse func(string) (T, error)) Value {
	return Value{defaultText: text, set: func(o *Option, text string) (err error) {
		if *to, err = parse(text); err != nil {
			return message.Usagef("-%s %q is no number", o.Name, text)
		}
		if !in.ok(float64(*to)) {
			return message.Usagef("-%s %v: give a number %s", o.Name, *to, in.what)
		}
		return nil
	}}
}

// Length returns a Value that accepts a length of time and stores milliseconds: a number of
// seconds, or a number with a unit such as 10s, 1m30s or 500ms. An empty text is 0.
func Length(to *int64, text string) Value {
	return Value{defaultText: text, set: func(o *Option, text string) error {
		var err error
		if *to, err = scan.ParseLength(text); err != nil {
			return message.Usagef("-%s %w", o.Name, err)
		}
		return nil
	}}
}

// PositiveLength is a [Length] that must be at least a millisecond.
func PositiveLength(to *int64, text string) Value {
	v := Length(to, text)
	take := v.set
	v.set = func(o *Option, text string) error {
		err := take(o, text)
		if err == nil && *to == 0 {
			err = message.Usagef("-%s %s: it takes at least a millisecond", o.Name, text)
		}
		return err
	}
	return v
}

// names returns all names of an option, its Name first.
func (o *Option) names() []string { return append([]string{o.Name}, strings.Fields(o.Aliases)...) }

// values returns the values that completion offers: Values and the types that are not hidden.
func (o *Option) values() []string {
	all := slices.Clone(o.Values)
	for _, t := range o.Types {
		if !t.Hidden {
			all = append(all, t.Name)
		}
	}
	return all
}

// parse stores the value of the command line, or the default.
func (o *Option) parse() error {
	texts := o.texts
	if len(texts) == 0 && o.Value.defaultText != "" {
		texts = []string{o.Value.defaultText}
	}
	if len(texts) > 1 && !o.Value.isList && !o.Value.isBool {
		return message.Usagef("-%s takes one value, not %s", o.Name, strings.Join(texts, " and "))
	}
	for _, text := range texts {
		if err := o.Value.set(o, text); err != nil {
			return err
		}
	}
	if o.Given != nil {
		*o.Given = len(o.texts) > 0
	}
	return nil
}

// A setter lets the library set an option. It keeps the text, which parse parses when all options
// are known.
type setter struct{ option *Option }

func (s setter) Set(text string) error { s.option.texts = append(s.option.texts, text); return nil }
func (s setter) String() string        { return "" }
func (s setter) IsBoolFlag() bool      { return s.option != nil && s.option.Value.isBool }
