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

// An Option is an option of a command: where its value goes, what help says, and its rules. Names
// of options stand between spaces. [Run] fills and checks them before the command begins. All that
// is known of an option is in one value, of which most options set a few fields.
type Option struct {
	Name    string
	Aliases string
	Group   string
	Usage   string // the name of the value stands in back quotes
	Value   Value
	// Default is what help says of an option that is not given, if that is not the text of its
	// value.
	Default string
	Hidden  bool
	// Given is set if the option is on the command line.
	Given *bool
	// Doubt, if it is set, returns a message about a text that is right but hardly meant so, or
	// nothing.
	Doubt func(text string) string

	// Values are those that completion offers, Types values that help lists, and Complete returns
	// what completion offers of a list, by the options before.
	Values   []string
	Types    []Type
	Complete func() []string
	// Elsewhere are values that people type although other commands have them, with a hint.
	Elsewhere map[string]string
	// Needs are options, one of which must be given.
	Needs string
	// Reasons say why an output does not use it, where that is not clear.
	Reasons map[string]string
	// Not are options that do not go with it, and Why says why.
	Not, Why string
	// Only are the outputs that use it, as they are typed without the dash: lt, st json. All do if
	// there are none. [Command.Outputs] says which there are.
	Only []string
	// Unless are options, one of which makes Only void.
	Unless string

	texts []string // on the command line
}

// A Type is a value of an option with a description of about three words. Other names of it,
// between spaces, are those that people type.
type Type struct {
	Name, What, Others string
	Hidden             bool // neither help nor completion lists it
}

// A Value says where the text of an option goes. Functions such as [Text] make one of a pointer.
type Value struct {
	text   string // that of the option if it is not given
	isBool bool
	isList bool // the option may be repeated
	take   func(o *Option, text string) error
}

// Bool is an option without a value.
func Bool(to *bool) Value {
	return Value{isBool: true, take: func(o *Option, text string) (err error) {
		if *to, err = strconv.ParseBool(text); err != nil {
			return message.Usagef("-%s %q is neither true nor false", o.Name, text)
		}
		return nil
	}}
}

// Text is any text.
func Text(to *string, text string) Value {
	return Value{text: text, take: func(_ *Option, text string) error { *to = text; return nil }}
}

// List is a repeatable text.
func List(to *[]string) Value {
	return Value{isList: true, take: func(_ *Option, text string) error { *to = append(*to, text); return nil }}
}

// Parsed is what a function makes of a text.
func Parsed[T any](to *T, text string, parse func(text string) (T, error)) Value {
	return Value{text: text, take: func(o *Option, text string) (err error) { *to, err = parse(text); return o.named(err) }}
}

// Each is what a function makes of the texts of a repeatable option.
func Each[T any](to *[]T, parse func(text string) ([]T, error)) Value {
	return Value{isList: true, take: func(o *Option, text string) error {
		some, err := parse(text)
		*to = append(*to, some...)
		return o.named(err)
	}}
}

// named returns an error that names the option, as a [message.UsageError] does by itself.
func (o *Option) named(err error) error {
	if err == nil || errors.As(err, new(message.UsageError)) {
		return err
	}
	return message.Usagef("-%s: %w", o.Name, err)
}

// Choice is one of the values or types of an option.
func Choice(to *string, text string) Value {
	return Value{text: text, take: func(o *Option, text string) error {
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

// Pick is what one of the values or types of an option stands for.
func Pick[T any](to *T, text string, of func(name string) T) Value {
	var name string
	v := Choice(&name, text)
	choose := v.take
	v.take = func(o *Option, text string) error {
		err := choose(o, text)
		if err == nil {
			*to = of(name)
		}
		return err
	}
	return v
}

// Is returns a function for [Pick] that says whether a name is another one.
func Is(other string) func(name string) bool { return func(name string) bool { return name == other } }

// A Range is the numbers that an option takes.
type Range struct {
	what string
	ok   func(v float64) bool
}

// Ranges of numbers.
var (
	AnyNumber  = Range{"", func(float64) bool { return true }}
	Positive   = Range{"above 0", func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }}
	Percent    = Between(0, 100)
	AtLeastOne = Range{"of at least 1", func(v float64) bool { return v >= 1 }}
)

// Between returns the range from least to most.
func Between(least, most float64) Range {
	return Range{fmt.Sprintf("from %v to %v", least, most), func(v float64) bool { return v >= least && v <= most }}
}

// Float is a number.
func Float(to *float64, text string, in Range) Value {
	return number(to, text, in, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
}

// Int is a whole number.
func Int(to *int, text string, in Range) Value { return number(to, text, in, strconv.Atoi) }

func number[T int | float64](to *T, text string, in Range, parse func(string) (T, error)) Value {
	return Value{text: text, take: func(o *Option, text string) (err error) {
		if *to, err = parse(text); err != nil {
			return message.Usagef("-%s %q is no number", o.Name, text)
		}
		if !in.ok(float64(*to)) {
			return message.Usagef("-%s %v: give a number %s", o.Name, *to, in.what)
		}
		return nil
	}}
}

// Length is a length of time, in milliseconds: a number of seconds, or a number with a unit, such
// as 10s, 1m30s or 500ms. The empty text is 0.
func Length(to *int64, text string) Value {
	return Value{text: text, take: func(o *Option, text string) error {
		var err error
		if *to, err = scan.ParseLength(text); err != nil {
			return message.Usagef("-%s %w", o.Name, err)
		}
		return nil
	}}
}

// SomeLength is a length of time that is not 0.
func SomeLength(to *int64, text string) Value {
	v := Length(to, text)
	take := v.take
	v.take = func(o *Option, text string) error {
		err := take(o, text)
		if err == nil && *to == 0 {
			err = message.Usagef("-%s %s: it takes at least a millisecond", o.Name, text)
		}
		return err
	}
	return v
}

// names returns all names of an option, the first one first.
func (o *Option) names() []string { return append([]string{o.Name}, strings.Fields(o.Aliases)...) }

// values returns the values that completion offers.
func (o *Option) values() []string {
	all := slices.Clone(o.Values)
	for _, t := range o.Types {
		if !t.Hidden {
			all = append(all, t.Name)
		}
	}
	return all
}

// parse gives an option's value what the command line says.
func (o *Option) parse() error {
	texts := o.texts
	if len(texts) == 0 && o.Value.text != "" {
		texts = []string{o.Value.text}
	}
	if len(texts) > 1 && !o.Value.isList && !o.Value.isBool {
		return message.Usagef("-%s takes one value, not %s", o.Name, strings.Join(texts, " and "))
	}
	for _, text := range texts {
		if err := o.Value.take(o, text); err != nil {
			return err
		}
	}
	if o.Given != nil {
		*o.Given = len(o.texts) > 0
	}
	return nil
}

// A setter lets the library set an option. The text is parsed later, when all are known.
type setter struct{ option *Option }

func (s setter) Set(text string) error { s.option.texts = append(s.option.texts, text); return nil }
func (s setter) String() string        { return "" }
func (s setter) IsBoolFlag() bool      { return s.option != nil && s.option.Value.isBool }
