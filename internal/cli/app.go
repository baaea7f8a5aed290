package cli

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
)

// An App is a command.
type App struct {
	Name, Usage, UsageText string
	// Description has examples, a line each, and the rest after an empty line.
	Description string
	Options     []Option
	Action      func(c *Context) error

	// Common are the options that -h shows, by their first names.
	Common []string
	// Choices are the values of the options that take one of a few. Others are refused.
	Choices map[string][]string
	// Types are the values of the option TypeOption.
	TypeOption string
	Types      []Type
	// Outputs returns what a command line prints, as [Option] names it. It is needed if an option
	// is for some outputs only.
	Outputs func(c *Context) []string
	// Steady lets a scan begin where its logs are steady, for -s steady, and returns what to say.
	// It is nil if the command has no such start.
	Steady func(s *scan.Scan) (notice string, err error)

	Reader            io.Reader
	Writer, ErrWriter io.Writer

	memory *ledger.Ledger
}

// A Type is a value of an option with a description of about three words. Other names of it,
// between spaces, are those that people type.
type Type struct{ Name, What, Others string }

// option returns the option with a name, nil if there is none.
func (app *App) option(name string) *Option {
	for n := range app.Options {
		if o := &app.Options[n]; o.Name == name || slices.Contains(o.Aliases, name) {
			return o
		}
	}
	return nil
}

// names returns all names of options.
func (app *App) names() []string {
	names := []string{"help", "version"}
	for _, o := range app.Options {
		names = append(names, o.names()...)
	}
	return names
}

// A Context is a command line.
type Context struct {
	App *App
	// Args are the arguments that are no options.
	Args  []string
	given map[string][]string // the values of options, by their first names
}

// Given reports whether an option is on the command line.
func (c *Context) Given(name string) bool { return c.given[name] != nil }

// List returns all values of an option.
func (c *Context) List(name string) []string { return c.given[name] }

// String returns the last value of an option, or its default. It is empty for an option that the
// command does not have, as the other values are zero.
func (c *Context) String(name string) string {
	if all := c.given[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	if o := c.App.option(name); o != nil {
		return o.Value
	}
	return ""
}

// Bool, Int and Float return the value of an option that has such a value.
func (c *Context) Bool(name string) bool { v, _ := strconv.ParseBool(c.String(name)); return v }

func (c *Context) Int(name string) int { v, _ := strconv.Atoi(c.String(name)); return v }

func (c *Context) Float(name string) float64 {
	v, _ := strconv.ParseFloat(c.String(name), 64)
	return v
}

// parse reads a command line. Options and arguments may come in any order. After -- there are no
// options. What -compare compares is a -baseline and a log, where there is such an option: two
// arguments, or those before -- and those after it.
func (app *App) parse(args []string) (*Context, error) {
	c := &Context{App: app, given: make(map[string][]string)}
	before := 0 // of the arguments, those before --
	for n := 0; n < len(args); n++ {
		arg := args[n]
		if arg == "--" {
			before = len(c.Args)
			c.Args = append(c.Args, args[n+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			c.Args = append(c.Args, arg)
			continue
		}
		dashed, value, hasValue := strings.Cut(arg, "=")
		name := strings.TrimPrefix(dashed[1:], "-")
		o := app.option(name)
		switch {
		case o != nil:
		case name == "h":
			return nil, errShortHelp
		case name == "help":
			return nil, errHelp
		case name == "version":
			return nil, errVersion
		default:
			return nil, Usagef("there is no option %s%s", dashed, hintFor(app, name))
		}
		switch {
		case hasValue:
		case o.Kind == Bool:
			value = "true"
		case n+1 == len(args):
			return nil, Usagef("-%s needs a value", name)
		default:
			n++
			value = args[n]
		}
		c.given[o.Name] = append(c.given[o.Name], value)
	}
	if c.Bool("compare") && app.option("baseline") != nil {
		if before == 0 && len(c.Args) == 2 {
			before = 1
		}
		if before == 0 || before == len(c.Args) {
			return nil, Usagef("-compare takes two arguments, before and after: a log each, or a folder or pattern of runs each; there are %d. OLD... -- NEW... takes several", len(c.Args))
		}
		delete(c.given, "compare")
		c.given["runs"] = []string{"true"}
		c.given["baseline"] = append(c.given["baseline"], c.Args[:before]...)
		c.Args = c.Args[before:]
	}
	return c, nil
}
